// SPDX-License-Identifier: MIT
/* lab-board: prints a board file in readable form, and in formats for other tools. */
#include "board.h"
#include "points.h"

#include <stdlib.h>
#include <string.h>

static void cluster_print(const struct board_cluster *k)
{
	unsigned int i;

	printf("%8s %8s %12s %12s %12s\n", "MHz", "mV", "C*f*V^2 mW", "table mW", "static mW");
	for (i = 0; i < k->opps; i++) {
		const struct board_opp *o = &k->opp[i];

		printf("%8.1f %8.1f %12.1f ", o->khz / 1e3, o->uv / 1e3,
		       board_dynamic_mw(k, o, BOARD_POWER_CV2F));
		if (o->table_mw > 0)
			printf("%12.1f ", o->table_mw);
		else
			printf("%12s ", "none");
		printf("%12.1f\n", board_static_mw(k, o));
	}
}

static void board_print(const struct board *b)
{
	unsigned int c;

	for (c = 0; c < b->clusters; c++) {
		const struct board_cluster *k = &b->cluster[c];

		printf("%s%s%s: %u cores, %s clock, CPI %g\n", b->name, k->name[0] ? " " : "",
		       k->name, k->cores, k->shared ? "one" : "own", k->cpi);
		cluster_print(k);
	}
}

static void idle_states_print(const struct board_cluster *k)
{
	unsigned int i;

	for (i = 0; i < k->idles; i++)
		printf("idle%u_%u: idle-state-%u-%u { compatible = \"gchint,timed-idle\";\n"
		       "  idle-state-name = \"%s\"; exit-latency-us = <%.0f>; min-residency-us = "
		       "<%.0f>; };\n",
		       k->first, i + 1, k->first, i + 1, k->idle[i].name, k->idle[i].exit_us,
		       k->idle[i].residency_us);
}

static void opp_table_print(const struct board_cluster *k, unsigned int clock)
{
	unsigned int o;

	printf("opps%u: opp-table-cpu%u { compatible = \"operating-points-v2\";\n", clock, clock);
	if (k->shared)
		puts("  opp-shared;");
	for (o = 0; o < k->opps; o++)
		printf("  opp-%u000 { opp-hz = /bits/ 64 <%u000>; opp-microvolt = <%u>; "
		       "clock-latency-ns = <%.0f>; };\n",
		       k->opp[o].khz, k->opp[o].khz, k->opp[o].uv, k->latency_us * 1e3);
	puts("};");
}

static void core_print(const struct board *b, const struct board_cluster *k, unsigned int cpu)
{
	unsigned int clock = board_clock(b, cpu), i;

	printf("cpu@%u { device_type = \"cpu\"; compatible = \"arm,cortex-a15\"; reg = <%u>;\n",
	       cpu, cpu);
	printf("  clocks = <&clock%u>; operating-points-v2 = <&opps%u>;\n", clock, clock);
	if (k->capacity)
		printf("  capacity-dmips-mhz = <%u>;\n", k->capacity);
	if (k->idles) {
		printf("  cpu-idle-states = <");
		for (i = 0; i < k->idles; i++)
			printf("%s&idle%u_%u", i ? " " : "", k->first, i + 1);
		puts(">;");
	}
	printf("  dynamic-power-coefficient = <%.0f>; };\n", k->em_coefficient);
}

/* Prints an overlay for the device tree of the Versatile Express A15 tile. */
static void device_tree_print(const struct board *b)
{
	unsigned int cpu;

	puts("/dts-v1/;\n/plugin/;\n/ {\nfragment@0 { target-path = \"/\"; __overlay__ {");
	for (cpu = 0; cpu < b->cores; cpu++) {
		const struct board_cluster *k = board_of(b, cpu);

		if (board_clock(b, cpu) != cpu)
			continue;
		printf("clock%u: core-clock-%u { compatible = \"gchint,timed-clock\";\n", cpu, cpu);
		printf("  gchint,oscillator = <%u>; #clock-cells = <0>;\n", cpu);
		printf("  freq-range = <%u000 %u000>; };\n", k->opp[0].khz, board_top(k)->khz);
		opp_table_print(k, cpu);
		if (cpu == k->first)
			idle_states_print(k);
	}
	puts("}; };\nfragment@1 { target-path = \"/cpus\"; __overlay__ {");
	for (cpu = 0; cpu < b->cores; cpu++)
		core_print(b, board_of(b, cpu), cpu);
	puts("}; };\n};");
}

struct measured {
	enum board_loop loop;
	unsigned int cpu, insns, streams, khz;
	double ns;
};

static int loop_find(const char *name)
{
	int loop;

	for (loop = 0; loop < BOARD_LOOPS; loop++)
		if (!strcmp(name, board_loop_name(loop)))
			return loop;
	return -1;
}

/*
 * Compares the calibration program's lines, "cal LOOP cpu N streams N insns N khz N ns X",
 * with the closed form. Prints one line for each; returns the number of lines that differ by
 * more than @limit per cent, or -1 if there was no such line.
 */
static int calibration_compare(const struct board *b, FILE *in, double limit)
{
	char line[256], name[16];
	struct measured m;
	int off = 0, seen = 0, loop;

	while (fgets(line, sizeof(line), in)) {
		double want, error;

		if (sscanf(line, "cal %15s cpu %u streams %u insns %u khz %u ns %lf", name, &m.cpu,
			   &m.streams, &m.insns, &m.khz, &m.ns) != 6)
			continue;
		loop = loop_find(name);
		if (loop < 0 || m.cpu >= b->cores || m.streams < 1 || m.streams > b->cores ||
		    !m.khz)
			continue;
		want = board_predict_ns(b, board_of(b, m.cpu), (enum board_loop)loop, m.insns,
					m.khz, m.streams);
		error = 100 * (m.ns / want - 1);
		seen++;
		if (error > limit || error < -limit)
			off++;
		printf("%s%s%s x%u at %.1f MHz: %.2f ns, closed form %.2f ns, %+.2f %%\n", name,
		       b->clusters > 1 ? " " : "", board_of(b, m.cpu)->name, m.streams, m.khz / 1e3,
		       m.ns, want, error);
	}
	return seen ? off : -1;
}

/* Prints the section of a board for the page of boards. Returns the exit status. */
static int section_print(const struct board *b, const char *path)
{
	struct points_count n = { 0, 0 };
	FILE *in = fopen(path, "re");
	char why[128];
	int r;

	if (!in) {
		perror(path);
		return 1;
	}
	printf("## %s\n\n", b->name);
	r = points_print(b, in, stdout, &n, why, sizeof(why));
	fclose(in);
	if (r) {
		fprintf(stderr, "lab-board: %s: %s\n", path, why);
		return 1;
	}
	printf("\n%u of %u points are within their goal.\n", n.met, n.points);
	return 0;
}

static int usage(FILE *to)
{
	fputs("usage: lab-board show FILE.board\n"
	      "       lab-board dts FILE.board            device tree overlay\n"
	      "       lab-board compare FILE.board LIMIT  calibration from stdin against the\n"
	      "                                           closed form; LIMIT in per cent\n"
	      "       lab-board points FILE.board FILE.points  what others measured, and this\n",
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
		board_print(&b);
		return 0;
	}
	if (!strcmp(argv[1], "dts") && argc == 3) {
		device_tree_print(&b);
		return 0;
	}
	if (!strcmp(argv[1], "compare") && argc == 4) {
		off = calibration_compare(&b, stdin, atof(argv[3]));
		if (off < 0)
			fprintf(stderr, "lab-board: no line of the calibration program\n");
		return off ? 1 : 0;
	}
	if (!strcmp(argv[1], "points") && argc == 4)
		return section_print(&b, argv[3]);
	return usage(stderr);
}
