// SPDX-License-Identifier: MIT
/*
 * Reads a file of points, one per line; '#' starts a comment:
 *	source TEXT                       source of the points that follow
 *	rail KHZ MILLIWATT                one busy core, its cluster and idle neighbours
 *	core KHZ MILLIWATT                one busy core alone
 *	dynamic KHZ MILLIWATT             dynamic power of one busy core
 *	wfi KHZ MILLIWATT                 one idle core
 *	latency KHZ KIB NANOSECONDS       random dependent loads, in addition to a hit in L1
 *	huge KHZ KIB NANOSECONDS          the same with pages that the TLB covers
 *	cluster NAME                      cluster of the points that follow
 *	program SLOW FAST TIME ENERGY NAME  ratios between two frequencies
 */
#include "points.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

struct reader {
	const struct board *b;
	const struct board_cluster *k;
	FILE *out;
	struct points_count *n;
	char source[160];
	char last[16]; /* quantity of the previous power point; with its values, for the slope */
	uint32_t last_khz;
	double last_published, last_modelled;
};

static double busy_mw(const struct board_cluster *k, uint32_t khz, double waiting)
{
	const struct board_opp *o = board_opp(k, khz);
	double dynamic = board_dynamic_mw(k, o, BOARD_POWER_CV2F);

	return dynamic * (1 - waiting + waiting * k->stall_share) + board_static_mw(k, o);
}

static double neighbours_mw(const struct board_cluster *k, uint32_t khz)
{
	const struct board_opp *o = board_opp(k, khz);

	return (k->cores - 1) * k->wfi_share * board_static_mw(k, o) + k->awake_mw;
}

double points_core_mw(const struct board_cluster *k, uint32_t khz)
{
	return busy_mw(k, khz, 0);
}

double points_rail_mw(const struct board_cluster *k, uint32_t khz)
{
	return busy_mw(k, khz, 0) + neighbours_mw(k, khz);
}

double points_latency_ns(const struct board_cluster *k, uint32_t khz, double bytes)
{
	double ns = 0;

	if (bytes > k->l1_bytes)
		ns += (1 - k->l1_bytes / bytes) * (k->l2_cycles * 1e6 / khz + k->l2_ns);
	if (bytes > k->l2_bytes)
		ns += (1 - k->l2_bytes / bytes) * k->mem_ns;
	return ns;
}

double points_energy_ratio(const struct board_cluster *k, uint32_t slow, uint32_t fast, double time)
{
	double clocks = (double)fast / slow;
	/* The part of the time at the fast clock that does not depend on the clock. */
	double waiting = (clocks - time) / (clocks - 1);

	if (waiting < 0)
		waiting = 0;
	return time * (busy_mw(k, slow, waiting / time) + neighbours_mw(k, slow)) /
	       (busy_mw(k, fast, waiting) + neighbours_mw(k, fast));
}

static void row_print(struct reader *r, double goal, double published, double modelled,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

static void row_print(struct reader *r, double goal, double published, double modelled,
		      const char *format, ...)
{
	double off = 100 * (modelled / published - 1);
	bool met = fabs(off) <= goal;
	va_list ap;

	fputs("| ", r->out);
	va_start(ap, format);
	vfprintf(r->out, format, ap);
	va_end(ap);
	fprintf(r->out, " | %.3g | %.3g | %+.0f %% | %s | %s |\n", published, modelled, off,
		met ? "yes" : "**no**", r->source);
	r->n->points++;
	r->n->met += met;
}

/* Prints a power, and the slope from the previous point of the same quantity. */
static void power_print(struct reader *r, const char *quantity, const char *text, uint32_t khz,
			double published, double modelled)
{
	row_print(r, POINTS_POWER_PERCENT, published, modelled, "%s, %.0f MHz, mW", text,
		  khz / 1e3);
	if (!strcmp(r->last, quantity) && khz > r->last_khz)
		row_print(r, POINTS_SLOPE_PERCENT, published / r->last_published,
			  modelled / r->last_modelled, "slope from %.0f to %.0f MHz, x",
			  r->last_khz / 1e3, khz / 1e3);
	snprintf(r->last, sizeof(r->last), "%s", quantity);
	r->last_khz = khz;
	r->last_published = published;
	r->last_modelled = modelled;
}

/* The model has values only at the frequencies of the board's OPPs. */
static bool frequency_exists(const struct board_cluster *k, uint32_t khz)
{
	return board_opp(k, khz)->khz == khz;
}

static int cluster_select(struct reader *r, const char *name)
{
	unsigned int c;

	for (c = 0; c < r->b->clusters; c++) {
		if (strcmp(r->b->cluster[c].name, name))
			continue;
		r->k = &r->b->cluster[c];
		r->last[0] = '\0';
		return 0;
	}
	return -1;
}

static int point_parse(struct reader *r, const char *line)
{
	const struct board_cluster *b = r->k;
	char quantity[16], name[64];
	unsigned int khz, fast;
	double x, y;

	if (sscanf(line, "source %159[^\n]", r->source) == 1)
		return 0;
	if (sscanf(line, "cluster %15s", quantity) == 1)
		return cluster_select(r, quantity);
	if (sscanf(line, "latency %u %lf %lf", &khz, &x, &y) == 3 && frequency_exists(b, khz) &&
	    y > 0) {
		row_print(r, POINTS_LATENCY_PERCENT, y,
			  points_latency_ns(b, khz, x * 1024) + board_tlb_ns(b, khz, x * 1024),
			  "load from %.0f KiB, %.0f MHz, ns", x, khz / 1e3);
		return 0;
	}
	if (sscanf(line, "huge %u %lf %lf", &khz, &x, &y) == 3 && frequency_exists(b, khz) &&
	    y > 0) {
		row_print(r, POINTS_LATENCY_PERCENT, y, points_latency_ns(b, khz, x * 1024),
			  "load from %.0f KiB in huge pages, %.0f MHz, ns", x, khz / 1e3);
		return 0;
	}
	if (sscanf(line, "program %u %u %lf %lf %63[^\n]", &khz, &fast, &x, &y, name) == 5 &&
	    frequency_exists(b, khz) && frequency_exists(b, fast) && khz < fast && x >= 1 &&
	    y > 0) {
		row_print(r, POINTS_POWER_PERCENT, y, points_energy_ratio(b, khz, fast, x),
			  "energy of %s at %.0f of that at %.0f MHz in %.2f of the time, x", name,
			  khz / 1e3, fast / 1e3, x);
		return 0;
	}
	if (sscanf(line, "%15s %u %lf", quantity, &khz, &y) != 3 || !frequency_exists(b, khz) ||
	    y <= 0)
		return -1;
	if (!strcmp(quantity, "rail"))
		power_print(r, quantity, "rail, one core busy", khz, y, points_rail_mw(b, khz));
	else if (!strcmp(quantity, "core"))
		power_print(r, quantity, "a busy core", khz, y, points_core_mw(b, khz));
	else if (!strcmp(quantity, "dynamic"))
		power_print(r, quantity, "a busy core, dynamic", khz, y,
			    board_dynamic_mw(b, board_opp(b, khz), BOARD_POWER_CV2F));
	else if (!strcmp(quantity, "wfi"))
		row_print(r, POINTS_POWER_PERCENT, y,
			  b->wfi_share * board_static_mw(b, board_opp(b, khz)),
			  "a core in WFI, %.0f MHz, mW", khz / 1e3);
	else
		return -1;
	return 0;
}

int points_print(const struct board *b, FILE *in, FILE *out, struct points_count *n, char *why,
		 size_t size)
{
	struct reader r = { .b = b, .k = b->cluster, .out = out, .n = n, .source = "?" };
	unsigned int number = 0;
	char line[256];

	fputs("| point | published | modelled | off | within its goal | source |\n"
	      "|---|---|---|---|---|---|\n",
	      out);
	while (fgets(line, sizeof(line), in)) {
		number++;
		line[strcspn(line, "#\n")] = '\0';
		if (!line[strspn(line, " \t")])
			continue;
		if (point_parse(&r, line)) {
			snprintf(why, size, "line %u: no point of this board", number);
			return -1;
		}
	}
	return 0;
}
