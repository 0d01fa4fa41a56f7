// SPDX-License-Identifier: MIT
/* lab-energy: prints the energy of each measured run of a log, one line of CSV per run. */
#include "timeline.h"

#include <string.h>

#include "../guest/mark.h"

/* Collects the frequencies of all clusters, ascending and without duplicates. */
static unsigned int frequencies_collect(const struct board *b, uint32_t *khz)
{
	unsigned int n = 0, c, o, i;

	for (c = 0; c < b->clusters; c++)
		for (o = 0; o < b->cluster[c].opps; o++) {
			uint32_t v = b->cluster[c].opp[o].khz;

			for (i = 0; i < n && khz[i] < v; i++)
				;
			if (i < n && khz[i] == v)
				continue;
			memmove(&khz[i + 1], &khz[i], (n - i) * sizeof(*khz));
			khz[i] = v;
			n++;
		}
	return n;
}

static void header_print(const struct board *b)
{
	uint32_t khz[BOARD_CLUSTERS * BOARD_OPPS + 1];
	unsigned int i, n = frequencies_collect(b, khz);

	printf("run,power,ms,mj,dynamic_mj,static_mj,awake_mj,memory_mj,edp_mj_s,transitions,"
	       "stall_mj,wfi_mj,background_mj,rest_mw,off_ms,leave_ms");
	for (i = 0; i <= BOARD_IDLES; i++)
		printf(",idle%u_ms", i);
	for (i = 0; i < b->cores; i++)
		printf(",core%u_mj,core%u_busy_ms", i, i);
	for (i = 0; i < n; i++)
		printf(",busy_ms_%u", khz[i]);
	putchar('\n');
}

static void busy_print(const struct board *b, const struct usage *u, uint32_t khz)
{
	uint64_t ns = 0;
	unsigned int c;

	for (c = 0; c < b->cores; c++) {
		const struct board_cluster *k = board_of(b, c);
		const struct board_opp *o = board_opp(k, khz);

		if (o->khz == khz)
			ns += u->opp_ns[c][o - k->opp];
	}
	printf(",%.3f", (double)ns / 1e6);
}

static void row_print(const struct board *b, unsigned int run, const char *power,
		      const struct usage *u, double memory_mj)
{
	double mj = u->dynamic_mj + u->static_mj + u->awake_mj + u->background_mj + memory_mj;
	uint32_t khz[BOARD_CLUSTERS * BOARD_OPPS + 1];
	unsigned int c, i, n = frequencies_collect(b, khz);

	printf("%u,%s,%.3f,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f,%u,%.4f,%.4f,%.4f,%.4f,%.3f,%.3f", run,
	       power, (double)u->ns / 1e6, mj, u->dynamic_mj, u->static_mj, u->awake_mj, memory_mj,
	       mj * (double)u->ns / 1e9, u->transitions, u->stall_mj, u->wfi_mj, u->background_mj,
	       u->rest_mw, (double)u->off_ns / 1e6, (double)u->leave_ns / 1e6);
	for (i = 0; i <= BOARD_IDLES; i++)
		printf(",%.3f", (double)u->state_ns[i] / 1e6);
	for (c = 0; c < b->cores; c++)
		printf(",%.4f,%.3f", u->core_mj[c], (double)u->busy_ns[c] / 1e6);
	for (i = 0; i < n; i++)
		busy_print(b, u, khz[i]);
	putchar('\n');
}

/* Prints every span, for lab/record. */
static void spans_print(const struct board *b, const struct timeline *t)
{
	unsigned int c;
	size_t i;

	puts("cpu,t0,t1,khz,busy,dynamic_mw,static_mw");
	for (c = 0; c < b->cores; c++)
		for (i = 0; i < t->spans[c]; i++) {
			const struct span *s = &t->span[c][i];
			double dynamic, stall, leak;

			timeline_powers(board_of(b, c), BOARD_POWER_CV2F, s, &dynamic, &stall,
					&leak);
			printf("%u,%llu,%llu,%u,%d,%.3f,%.3f\n", c, (unsigned long long)s->t0,
			       (unsigned long long)s->t1, s->khz, s->busy, dynamic, leak);
		}
	puts("mark,ns,number");
	for (i = 0; i < t->marks; i++)
		printf("mark,%llu,%u\n", (unsigned long long)t->mark_ns[i], t->mark[i]);
}

int main(int argc, char **argv)
{
	struct board b;
	struct timeline t;
	struct usage u;
	char why[128];
	size_t i, begin = 0, over = 0;
	unsigned int run = 0;
	bool open = false, whole = false;
	FILE *in;
	int arg;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		puts("usage: lab-energy FILE.board LOG [spans] [KEY=VALUE...]\n"
		     "One line of CSV for each run (between two marks) and each power model;\n"
		     "with spans, one for each stretch of a core's constant power. KEY=VALUE:\n"
		     "a number of the board file, assumed otherwise. Times are those of the log.");
		return 0;
	}
	if (argc < 3) {
		fputs("usage: lab-energy FILE.board LOG [spans] [KEY=VALUE...]\n", stderr);
		return 2;
	}
	in = fopen(argv[1], "re");
	if (!in || board_read(&b, in, why, sizeof(why))) {
		fprintf(stderr, "lab-energy: %s: %s\n", argv[1], in ? why : "cannot open it");
		return 1;
	}
	fclose(in);
	for (arg = 3; arg < argc; arg++) {
		if (!strcmp(argv[arg], "spans")) {
			whole = true;
		} else if (board_assume(&b, argv[arg], why, sizeof(why))) {
			fprintf(stderr, "lab-energy: %s: %s\n", argv[arg], why);
			return 2;
		}
	}
	in = fopen(argv[2], "rbe");
	if (!in || timeline_read(&t, &b, in)) {
		fprintf(stderr, "lab-energy: %s: no log of the timed board\n", argv[2]);
		return 1;
	}
	fclose(in);
	if (whole) {
		spans_print(&b, &t);
		timeline_free(&t);
		return 0;
	}
	header_print(&b);
	for (i = 0; i < t.marks; i++) {
		double memory;
		size_t end;

		if (t.mark[i] == MARK_BEGIN) {
			begin = i;
			over = 0;
			open = true;
		}
		if (t.mark[i] == MARK_WARM)
			begin = i;
		if (t.mark[i] == MARK_OVER)
			over = i;
		if (t.mark[i] != MARK_END || !open)
			continue;
		open = false;
		run++;
		end = over > begin ? over : i;
		memory = b.line_nj * (double)(t.mark_lines[end] - t.mark_lines[begin]) / 1e6;
		timeline_usage(&t, &b, BOARD_POWER_CV2F, t.mark_ns[begin], t.mark_ns[end], &u);
		row_print(&b, run, "cv2f", &u, memory);
		if (b.cluster[0].opp[0].table_mw <= 0)
			continue;
		timeline_usage(&t, &b, BOARD_POWER_TABLE, t.mark_ns[begin], t.mark_ns[end], &u);
		row_print(&b, run, "table", &u, memory);
	}
	timeline_free(&t);
	return run ? 0 : 1;
}
