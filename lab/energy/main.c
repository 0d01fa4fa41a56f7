// SPDX-License-Identifier: MIT
/* lab-energy: what each measured run of a log cost, one line of CSV each. */
#include "timeline.h"

#include <string.h>

#include "../guest/mark.h"

static void header(const struct board *b)
{
	unsigned int i;

	printf("run,power,ms,mj,dynamic_mj,static_mj,awake_mj,memory_mj,edp_mj_s,transitions");
	for (i = 0; i < b->cores; i++)
		printf(",core%u_mj,core%u_busy_ms", i, i);
	for (i = 0; i < b->opps; i++)
		printf(",busy_ms_%u", b->opp[i].khz);
	putchar('\n');
}

static void row(const struct board *b, unsigned int run, const char *power, const struct usage *u,
		double memory_mj)
{
	double mj = u->dynamic_mj + u->static_mj + u->awake_mj + memory_mj;
	unsigned int c, o;

	printf("%u,%s,%.3f,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f,%u", run, power, (double)u->ns / 1e6, mj,
	       u->dynamic_mj, u->static_mj, u->awake_mj, memory_mj, mj * (double)u->ns / 1e9,
	       u->transitions);
	for (c = 0; c < b->cores; c++)
		printf(",%.4f,%.3f", u->core_mj[c], (double)u->busy_ns[c] / 1e6);
	for (o = 0; o < b->opps; o++) {
		uint64_t ns = 0;

		for (c = 0; c < b->cores; c++)
			ns += u->opp_ns[c][o];
		printf(",%.3f", (double)ns / 1e6);
	}
	putchar('\n');
}

/* Every span, for lab/record. */
static void spans(const struct board *b, const struct timeline *t)
{
	unsigned int c;
	size_t i;

	puts("cpu,t0,t1,khz,busy,dynamic_mw,static_mw");
	for (c = 0; c < b->cores; c++)
		for (i = 0; i < t->spans[c]; i++) {
			const struct span *s = &t->span[c][i];
			const struct board_opp *o = board_opp(b, s->khz);

			printf("%u,%llu,%llu,%u,%d,%.3f,%.3f\n", c, (unsigned long long)s->t0,
			       (unsigned long long)s->t1, s->khz, s->busy,
			       s->busy ? board_dynamic_mw(b, o, BOARD_POWER_CV2F) : 0,
			       board_static_mw(b, o));
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
	size_t i, begin = 0;
	unsigned int run = 0;
	bool open = false;
	FILE *in;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		puts("usage: lab-energy FILE.board LOG [spans]\n"
		     "One line of CSV for each run between two marks and each power model;\n"
		     "with spans, one for each stretch of a core's constant power.");
		return 0;
	}
	if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "spans"))) {
		fputs("usage: lab-energy FILE.board LOG [spans]\n", stderr);
		return 2;
	}
	in = fopen(argv[1], "re");
	if (!in || board_read(&b, in, why, sizeof(why))) {
		fprintf(stderr, "lab-energy: %s: %s\n", argv[1], in ? why : "cannot open it");
		return 1;
	}
	fclose(in);
	in = fopen(argv[2], "rbe");
	if (!in || timeline_read(&t, &b, in)) {
		fprintf(stderr, "lab-energy: %s: no log of the timed board\n", argv[2]);
		return 1;
	}
	fclose(in);
	if (argc == 4) {
		spans(&b, &t);
		timeline_free(&t);
		return 0;
	}
	header(&b);
	for (i = 0; i < t.marks; i++) {
		double memory;

		if (t.mark[i] == MARK_BEGIN) {
			begin = i;
			open = true;
		}
		if (t.mark[i] == MARK_WARM)
			begin = i;
		if (t.mark[i] != MARK_END || !open)
			continue;
		open = false;
		run++;
		memory = b.line_nj * (double)(t.mark_lines[i] - t.mark_lines[begin]) / 1e6;
		timeline_usage(&t, &b, BOARD_POWER_CV2F, t.mark_ns[begin], t.mark_ns[i], &u);
		row(&b, run, "cv2f", &u, memory);
		if (b.opp[0].table_mw <= 0)
			continue;
		timeline_usage(&t, &b, BOARD_POWER_TABLE, t.mark_ns[begin], t.mark_ns[i], &u);
		row(&b, run, "table", &u, memory);
	}
	timeline_free(&t);
	return run ? 0 : 1;
}
