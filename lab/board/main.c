// SPDX-License-Identifier: MIT
/* lab-board: what a board file says, for people and for the other tools. */
#include "board.h"

#include <stdlib.h>
#include <string.h>

static void show(const struct board *b)
{
	unsigned int i;

	printf("%s: %u cores, %s clock, CPI %g\n", b->name, b->cores, b->shared ? "one" : "own",
	       b->cpi);
	printf("%8s %8s %12s %12s %12s\n", "MHz", "mV", "C*f*V^2 mW", "table mW", "static mW");
	for (i = 0; i < b->opps; i++) {
		const struct board_opp *o = &b->opp[i];

		printf("%8.1f %8.1f %12.1f ", o->khz / 1e3, o->uv / 1e3,
		       board_dynamic_mw(b, o, BOARD_POWER_CV2F));
		if (o->table_mw > 0)
			printf("%12.1f ", o->table_mw);
		else
			printf("%12s ", "none");
		printf("%12.1f\n", board_static_mw(b, o));
	}
}

/* Overlay for the device tree of the Versatile Express A15 tile. */
static void device_tree(const struct board *b)
{
	unsigned int clocks = b->shared ? 1 : b->cores, i, o;

	puts("/dts-v1/;\n/plugin/;\n/ {\nfragment@0 { target-path = \"/\"; __overlay__ {");
	for (i = 0; i < clocks; i++) {
		printf("clock%u: core-clock-%u { compatible = \"gchint,timed-clock\";\n", i, i);
		printf("  gchint,oscillator = <%u>; #clock-cells = <0>;\n", i);
		printf("  freq-range = <%u000 %u000>; };\n", b->opp[0].khz,
		       b->opp[b->opps - 1].khz);
	}
	puts("}; };\nfragment@1 { target-path = \"/\"; __overlay__ {");
	for (i = 0; i < clocks; i++) {
		printf("opps%u: opp-table-cpu%u { compatible = \"operating-points-v2\";\n", i, i);
		if (b->shared)
			puts("  opp-shared;");
		for (o = 0; o < b->opps; o++)
			printf("  opp-%u000 { opp-hz = /bits/ 64 <%u000>; opp-microvolt = <%u>; "
			       "clock-latency-ns = <%.0f>; };\n",
			       b->opp[o].khz, b->opp[o].khz, b->opp[o].uv, b->latency_us * 1e3);
		puts("};");
	}
	puts("}; };\nfragment@2 { target-path = \"/cpus\"; __overlay__ {");
	for (i = 0; i < b->cores; i++) {
		unsigned int c = b->shared ? 0 : i;

		printf("cpu@%u { device_type = \"cpu\"; compatible = \"arm,cortex-a15\"; reg = "
		       "<%u>;\n",
		       i, i);
		printf("  clocks = <&clock%u>; operating-points-v2 = <&opps%u>;\n", c, c);
		printf("  dynamic-power-coefficient = <%.0f>; };\n", b->coefficient);
	}
	puts("}; };\n};");
}

struct measured {
	enum board_loop loop;
	unsigned int insns, streams, khz;
	double ns;
};

static int loop_of(const char *name)
{
	int loop;

	for (loop = 0; loop < BOARD_LOOPS; loop++)
		if (!strcmp(name, board_loop_name(loop)))
			return loop;
	return -1;
}

/*
 * Compare the calibration program's lines, "cal LOOP streams N insns N khz N
 * ns X", with the closed form. Prints a line each; returns the number of lines
 * that are off by more than @limit per cent, or -1 if there was none.
 */
static int compare(const struct board *b, FILE *in, double limit)
{
	char line[256], name[16];
	struct measured m;
	int off = 0, seen = 0, loop;

	while (fgets(line, sizeof(line), in)) {
		double want, error;

		if (sscanf(line, "cal %15s streams %u insns %u khz %u ns %lf", name, &m.streams,
			   &m.insns, &m.khz, &m.ns) != 5)
			continue;
		loop = loop_of(name);
		if (loop < 0 || m.streams < 1 || m.streams > b->cores || !m.khz)
			continue;
		want = board_predict_ns(b, (enum board_loop)loop, m.insns, m.khz, m.streams);
		error = 100 * (m.ns / want - 1);
		seen++;
		if (error > limit || error < -limit)
			off++;
		printf("%s x%u at %.1f MHz: %.2f ns, closed form %.2f ns, %+.2f %%\n", name,
		       m.streams, m.khz / 1e3, m.ns, want, error);
	}
	return seen ? off : -1;
}

static int usage(FILE *to)
{
	fputs("usage: lab-board show FILE.board\n"
	      "       lab-board dts FILE.board            device tree overlay\n"
	      "       lab-board compare FILE.board LIMIT  calibration from stdin against the\n"
	      "                                           closed form; LIMIT in per cent\n",
	      to);
	return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct board b;
	char why[128];
	FILE *in;
	int off;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(stdout);
	if (argc < 3)
		return usage(stderr);
	in = fopen(argv[2], "re");
	if (!in) {
		perror(argv[2]);
		return 1;
	}
	if (board_read(&b, in, why, sizeof(why))) {
		fprintf(stderr, "lab-board: %s: %s\n", argv[2], why);
		return 1;
	}
	fclose(in);
	if (!strcmp(argv[1], "show") && argc == 3) {
		show(&b);
		return 0;
	}
	if (!strcmp(argv[1], "dts") && argc == 3) {
		device_tree(&b);
		return 0;
	}
	if (!strcmp(argv[1], "compare") && argc == 4) {
		off = compare(&b, stdin, atof(argv[3]));
		if (off < 0)
			fprintf(stderr, "lab-board: no line of the calibration program\n");
		return off ? 1 : 0;
	}
	return usage(stderr);
}
