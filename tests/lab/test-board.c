// SPDX-License-Identifier: MIT
/* The lab's board files, their closed form, and energy from a log. TAP. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "board/points.h"
#include "energy/timeline.h"
#include "timed/timed.h"

static int count, failed;

static void tap_ok(int good, const char *name)
{
	printf("%sok %d board: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static int double_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (fabs(b) + 1e-9);
}

static const char whole[] =
	"name toy\ncores 2\nclock per-core\nl1_kib 16\nl1_ways 4\nl2_kib 1024\n"
	"l2_ways 8\ncpi 1\nl2_cycles 20\nmem_ns 100\nstream_ns 10\nmem_mbs 6400\n"
	"io_ns 50\nswitch_us 10\nlatency_us 10\ncoefficient 100\nstatic_share 0.5\n"
	"awake_mw 10\nline_nj 20\nstatic_ua 900 0 1000\nstatic_ua 2000 100 0\n"
	"opp 500000 800000\nopp 1000000 1000000 # the last\n";

static int read_text(struct board *b, const char *text, char *why)
{
	char copy[2048];
	FILE *in;
	int r;

	snprintf(copy, sizeof(copy), "%s", text);
	in = fmemopen(copy, strlen(copy), "r");
	r = board_read(b, in, why, 128);
	fclose(in);
	return r;
}

/* The text with @from replaced by @to must be refused, naming @name. */
static int board_refuses(const char *from, const char *to, const char *name)
{
	char text[2048], why[128] = "";
	const char *at = strstr(whole, from);
	struct board b;

	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
	return read_text(&b, text, why) && strstr(why, name);
}

static void parsing_check(void)
{
	struct board b;
	char why[128] = "";

	tap_ok(!read_text(&b, whole, why) && b.cluster[0].opps == 2 && b.cores == 2 &&
		       !b.cluster[0].shared && b.cluster[0].l2_bytes == 1024 * 1024 &&
		       double_near(b.cluster[0].static_share, 0.5),
	       "a whole file is read");
	tap_ok(board_refuses("cpi 1\n", "", "'cpi' is missing"), "a missing key is named");
	tap_ok(board_refuses("cpi 1\n", "cpi 1\ncpi 2\n", "line 9: 'cpi' a second time"),
	       "a key given twice is named with its line");
	tap_ok(board_refuses("cpi 1\n", "cpi one\n", "'cpi' wants one number"),
	       "a word in place of a number is refused");
	tap_ok(board_refuses("cpi 1\n", "cpu 1\n", "unknown key 'cpu'"), "an unknown key is named");
	tap_ok(board_refuses("cores 2", "cores 9", "must be 1..4"),
	       "a value out of bounds is refused");
	tap_ok(board_refuses("l1_ways 4", "l1_ways 3", "power of two"),
	       "odd cache sets are refused");
	tap_ok(board_refuses("opp 1000000", "opp 400000", "must ascend"), "OPPs must ascend");
	tap_ok(board_refuses("opp 500000 800000", "opp 500000 800000 50", "either every OPP"),
	       "a table power for some OPPs only is refused");
	tap_ok(board_refuses("clock per-core", "clock both", "'shared' or 'per-core'"),
	       "an unknown clock arrangement is refused");
}

static void closed_form(void)
{
	struct board b;
	char why[128];

	read_text(&b, whole, why);
	tap_ok(double_near(board_predict_ns(&b, b.cluster, BOARD_COMPUTE, 10, 500000, 1), 20),
	       "compute: instructions at the clock");
	tap_ok(double_near(board_predict_ns(&b, b.cluster, BOARD_CHASE, 3, 1000000, 1),
			   3 + 20 + 100),
	       "chase: instructions, L2 cycles, memory");
	tap_ok(double_near(board_predict_ns(&b, b.cluster, BOARD_CHASE, 3, 500000, 1),
			   6 + 40 + 100),
	       "chase: the clock does not change the memory");
	tap_ok(double_near(board_predict_ns(&b, b.cluster, BOARD_STREAM, 0, 1000000, 1),
			   20 + (100 + 63 * 10) / 64.0),
	       "stream: one latency a page, then the prefetcher's pace");
	b.mem_mbs = 1000;
	tap_ok(double_near(board_predict_ns(&b, b.cluster, BOARD_STREAM, 0, 1000000, 2), 128),
	       "stream: two cores share the memory's bandwidth");
	tap_ok(double_near(board_dynamic_mw(b.cluster, &b.cluster[0].opp[1], BOARD_POWER_CV2F),
			   100),
	       "dynamic power is C f V^2");
	tap_ok(double_near(board_dynamic_mw(b.cluster, &b.cluster[0].opp[1], BOARD_POWER_TABLE),
			   100),
	       "without a table the coefficient counts");
	tap_ok(double_near(board_static_mw(b.cluster, &b.cluster[0].opp[0]), 0.5 * 1000e-3 * 0.8) &&
		       double_near(board_static_mw(b.cluster, &b.cluster[0].opp[1]),
				   0.5 * 100000e-3 * 1.0),
	       "static power follows its piece and share");
	tap_ok(board_opp(b.cluster, 600000) == &b.cluster[0].opp[1] &&
		       board_opp(b.cluster, 5000000) == &b.cluster[0].opp[1] &&
		       board_opp(b.cluster, 1) == &b.cluster[0].opp[0],
	       "a rate between OPPs counts as the next one");
}

/* Core 0 busy 0..4 ms, slows at 2 ms; core 1 busy 1..3 ms. */
static void energy_check(void)
{
	static const struct trace_record log[] = {
		{ .ns = 1000000, .type = TRACE_BUSY, .cpu = 1, .khz = 1000000 },
		{ .ns = 1000000, .type = TRACE_MARK, .cpu = 0, .arg = 0, .khz = 1000000 },
		{ .ns = 3000000, .type = TRACE_IDLE, .cpu = 1, .khz = 1000000 },
		{ .ns = 2000000, .type = TRACE_CLOCK, .cpu = 0, .khz = 500000 },
		{ .ns = 4000000, .type = TRACE_IDLE, .cpu = 0, .khz = 500000 },
		{ .ns = 5000000,
		  .type = TRACE_MARK,
		  .cpu = 0,
		  .arg = 1,
		  .khz = 500000,
		  .lines = 7 },
	};
	struct timeline t;
	struct usage u;
	struct board b;
	char why[128];
	FILE *in;

	read_text(&b, whole, why);
	in = fmemopen((void *)log, sizeof(log), "rb");
	tap_ok(!timeline_read(&t, &b, in) && t.marks == 2 && t.mark_lines[1] == 7, "a log is read");
	fclose(in);
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 0, 5000000, &u);
	/* 100 mW at 1 GHz, 32 mW at 0.5 GHz */
	tap_ok(double_near(u.dynamic_mj, 100 * 2e-3 + 32 * 2e-3 + 100 * 2e-3), "dynamic energy");
	tap_ok(double_near(u.static_mj, 50 * 2e-3 + 0.4 * 3e-3 + 50 * 5e-3),
	       "static energy, busy and idle");
	tap_ok(double_near(u.awake_mj, 10 * 4e-3), "the cluster is awake while any core is");
	tap_ok(double_near(u.wfi_mj, 50 * 1e-3 + 50 * 2e-3 + 0.4 * 1e-3),
	       "static energy of idle cores");
	tap_ok(u.transitions == 1, "one change of a clock");
	tap_ok(u.busy_ns[0] == 4000000 && u.busy_ns[1] == 2000000 && u.opp_ns[0][0] == 2000000,
	       "busy time by core and OPP");
	tap_ok(double_near(timeline_core_mj(&t, &b, BOARD_POWER_CV2F, 1, 500000, 1500000),
			   50e-3 + 100 * 0.5e-3),
	       "energy of a part of a core's time");
	tap_ok(!board_assume(&b, "wfi_share=0.1", why, sizeof(why)), "an assumption is taken");
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 0, 5000000, &u);
	tap_ok(double_near(u.static_mj,
			   50 * 2e-3 + 0.4 * 2e-3 + 50 * 2e-3 + 0.1 * (50 * 3e-3 + 0.4e-3)) &&
		       double_near(u.wfi_mj, 0.1 * (50 * 3e-3 + 0.4e-3)),
	       "an idle core keeps its share of the static power, a busy one all");
	board_assume(&b, "background_mw=7", why, sizeof(why));
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 1000000, 5000000, &u);
	tap_ok(double_near(u.background_mj, 7 * 4e-3),
	       "the memory's background whatever the cores do");
	timeline_free(&t);
	in = fmemopen((void *)whole, sizeof(whole) - 1, "rb");
	tap_ok(timeline_read(&t, &b, in) == -1, "a text file is refused as a log");
	fclose(in);
}

/*
 * Core 0, milliseconds: busy at one clock, repeated at 1 and 2; WFI from 3, state 1 from 4,
 * again from 5; busy at another clock from 6, at the first from 7 to 8.
 */
static void merged_check(void)
{
	static const struct trace_record log[] = {
		{ .ns = 1000000, .type = TRACE_CLOCK, .khz = 1000000, .stall_ns = 100000 },
		{ .ns = 2000000, .type = TRACE_BUSY, .khz = 1000000, .stall_ns = 300000 },
		{ .ns = 3000000, .type = TRACE_IDLE, .khz = 1000000, .stall_ns = 600000 },
		{ .ns = 4000000, .type = TRACE_IDLE, .arg = 1, .khz = 1000000, .stall_ns = 600000 },
		{ .ns = 5000000, .type = TRACE_IDLE, .arg = 1, .khz = 1000000, .stall_ns = 600000 },
		{ .ns = 6000000, .type = TRACE_BUSY, .khz = 500000, .stall_ns = 600000 },
		{ .ns = 7000000, .type = TRACE_CLOCK, .khz = 1000000, .stall_ns = 650000 },
		{ .ns = 8000000, .type = TRACE_MARK, .khz = 1000000, .stall_ns = 650000 },
	};
	static const struct span want[] = {
		{ .t0 = 0, .t1 = 3000000, .khz = 1000000, .busy = true, .stall_ns = 600000 },
		{ .t0 = 3000000, .t1 = 4000000, .khz = 1000000 },
		{ .t0 = 4000000, .t1 = 6000000, .khz = 1000000, .state = 1 },
		{ .t0 = 6000000, .t1 = 7000000, .khz = 500000, .busy = true, .stall_ns = 50000 },
		{ .t0 = 7000000, .t1 = 8000000, .khz = 1000000, .busy = true },
	};
	const size_t many = sizeof(want) / sizeof(want[0]);
	struct timeline t;
	struct board b;
	char why[128];
	bool same;
	FILE *in;

	read_text(&b, whole, why);
	in = fmemopen((void *)log, sizeof(log), "rb");
	tap_ok(!timeline_read(&t, &b, in), "a log with repeated records is read");
	fclose(in);
	same = t.spans[0] == many;
	for (size_t i = 0; same && i < many; i++) {
		const struct span *s = &t.span[0][i], *w = &want[i];

		same = s->t0 == w->t0 && s->t1 == w->t1 && s->khz == w->khz && s->busy == w->busy &&
		       s->state == w->state && s->stall_ns == w->stall_ns;
	}
	tap_ok(same,
	       "repeated records are one span, with all of its stalls; any change begins another");
	timeline_free(&t);
}

/* A core that waits for memory half of 0..2 ms, all of 2..3 ms, never in 3..4 ms. */
static void stalls_check(void)
{
	static const struct trace_record log[] = {
		{ .ns = 1000000, .type = TRACE_CLOCK, .khz = 1000000, .stall_ns = 400000 },
		{ .ns = 2000000, .type = TRACE_CLOCK, .khz = 500000, .stall_ns = 1000000 },
		{ .ns = 3000000, .type = TRACE_CLOCK, .khz = 1000000, .stall_ns = 2000300 },
		{ .ns = 4000000, .type = TRACE_IDLE, .khz = 1000000, .stall_ns = 2000300 },
		{ .ns = 5000000, .type = TRACE_BUSY, .khz = 1000000, .stall_ns = 2000300 },
	};
	struct timeline t;
	struct usage u;
	struct board b;
	char why[128];
	FILE *in;

	read_text(&b, whole, why);
	in = fmemopen((void *)log, sizeof(log), "rb");
	tap_ok(!timeline_read(&t, &b, in), "a log with stalls is read");
	fclose(in);
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 0, 5000000, &u);
	tap_ok(double_near(u.dynamic_mj, 100 * 2e-3 + 32 * 1e-3 + 100 * 1e-3) &&
		       double_near(u.stall_mj, 100 * 1e-3 + 32 * 1e-3),
	       "a stalled core draws full power by default");
	board_assume(&b, "stall_share=0.3", why, sizeof(why));
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 0, 5000000, &u);
	tap_ok(double_near(u.stall_mj, 0.3 * (100 * 1e-3 + 32 * 1e-3)) &&
		       double_near(u.dynamic_mj, 100 * 1e-3 + 100 * 1e-3 + u.stall_mj),
	       "at stall_share 0.3 only waiting is cheaper");
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 500000, 1000000, &u);
	tap_ok(double_near(u.dynamic_mj, 100 * 0.25e-3 + 0.3 * 100 * 0.25e-3),
	       "part of a span has the same share of waiting as all of it");
	timeline_free(&t);
}

static void assumptions_check(void)
{
	struct board b, before;
	char why[128];

	read_text(&b, whole, why);
	tap_ok(double_near(b.cluster[0].em_coefficient, 100) &&
		       double_near(b.cluster[0].wfi_share, 1) &&
		       double_near(b.cluster[0].stall_share, 1) &&
		       double_near(b.background_mw, 0) && double_near(b.cluster[0].l2_ns, 0),
	       "missing keys have their default");
	before = b;
	tap_ok(board_assume(&b, "wfi_share", why, sizeof(why)) && strstr(why, "KEY=VALUE") &&
		       board_assume(&b, "wfi_share=2", why, sizeof(why)) && strstr(why, "0..1") &&
		       board_assume(&b, "wfi=1", why, sizeof(why)) && strstr(why, "unknown key") &&
		       !memcmp(&b, &before, sizeof(b)),
	       "an assumption equal to the board's value changes nothing");
	board_assume(&b, "l2_ns=14", why, sizeof(why));
	tap_ok(double_near(board_predict_ns(&b, b.cluster, BOARD_CHASE, 3, 500000, 1),
			   6 + 40 + 14 + 100),
	       "an L2 with a clock of its own costs time in addition to cycles");
}

/* Two core types: common keys, then one cluster after the other. */
static const char two_types[] =
	"name pair\nmem_mbs 6400\nio_ns 50\nline_nj 20\nsnoop_ns 80\n"
	"cluster big\ncores 2\nclock shared\nl1_kib 32\nl1_ways 2\nl2_kib 1024\nl2_ways 16\n"
	"cpi 1\nl2_cycles 20\nmem_ns 100\nstream_ns 10\nswitch_us 10\nlatency_us 10\n"
	"coefficient 100\nstatic_share 1\nawake_mw 10\nretained_mw 4\nstatic_ua 2000 0 10000\n"
	"wfi_share 0.5\ncapacity 1024\ntlb1_entries 32\ntlb1_cycles 5\ntlb2_entries 128\n"
	"walk_cycles 50\nwalk_ns 7\nopp 500000 800000\nopp 1000000 1000000\n"
	"idle sleep 100 500 0.25\nidle off 200 1000 0 cluster\n"
	"cluster little\ncores 1\nclock shared\nl1_kib 32\nl1_ways 4\nl2_kib 512\nl2_ways 16\n"
	"cpi 2\nl2_cycles 10\nmem_ns 100\nstream_ns 10\nswitch_us 10\nlatency_us 10\n"
	"coefficient 20\nstatic_share 1\nawake_mw 3\nstatic_ua 2000 0 1000\n"
	"opp 300000 800000\nopp 600000 1000000\n";

static int refuses_of(const char *text, const char *from, const char *to, const char *name)
{
	char changed[2048], why[128] = "";
	const char *at = strstr(text, from);
	struct board b;

	snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, to,
		 at + strlen(from));
	return read_text(&b, changed, why) && strstr(why, name);
}

static void clusters_check(void)
{
	uint32_t khz[BOARD_CORES] = { 500000, 500000, 600000 };
	const struct board_cluster *big, *little;
	struct board b, changed;
	char why[128] = "";

	tap_ok(!read_text(&b, two_types, why) && b.clusters == 2 && b.cores == 3,
	       "a board with two core types is read");
	big = &b.cluster[0];
	little = &b.cluster[1];
	tap_ok(board_of(&b, 0) == big && board_of(&b, 1) == big && board_of(&b, 2) == little &&
		       board_clock(&b, 1) == 0 && board_clock(&b, 2) == 2,
	       "each core has its cluster and its clock");
	tap_ok(double_near(big->cpi, 1) && double_near(little->cpi, 2) &&
		       double_near(b.mem_mbs, 6400) && big->capacity == 1024 && !little->capacity &&
		       double_near(little->wfi_share, 1),
	       "numbers are the cluster's or common to all; each has its defaults");
	tap_ok(double_near(board_predict_ns(&b, little, BOARD_COMPUTE, 3, 600000, 1), 10),
	       "each core type has its own closed form");
	changed = b;
	tap_ok(!board_assume(&changed, "wfi_share=0", why, sizeof(why)) &&
		       double_near(changed.cluster[0].wfi_share, 0) &&
		       double_near(changed.cluster[1].wfi_share, 0) &&
		       !board_assume(&changed, "line_nj=3", why, sizeof(why)) &&
		       double_near(changed.line_nj, 3),
	       "an assumption applies to all clusters, or to the board");
	tap_ok(refuses_of(two_types, "cores 1\n", "cores 3\n", "more than 4 cores in all"),
	       "more cores than the machine has are refused");
	tap_ok(refuses_of(two_types, "cluster big\n", "cpi 1\ncluster big\n", "common to all"),
	       "a cluster's key before the first cluster is refused");
	tap_ok(refuses_of(two_types, "coefficient 20\n", "", "'coefficient' is missing"),
	       "a number that the second cluster lacks is named");
	tap_ok(refuses_of(two_types, "cluster little\n", "cluster little\nio_ns 3\n",
			  "'io_ns' a second time"),
	       "a common key in a cluster is refused");
	tap_ok(refuses_of(two_types, "idle off 200 1000 0 cluster", "idle off 200 400 0",
			  "ever deeper") &&
		       refuses_of(two_types, "idle off 200 1000 0 cluster", "idle off 200 100 0 x",
				  "idle"),
	       "idle states that do not get deeper are refused");
	tap_ok(refuses_of(two_types, "tlb1_entries 32", "tlb1_entries 33", "power of two") &&
		       refuses_of(two_types, "tlb1_entries 32\n", "", "without a first"),
	       "impossible TLB sizes are refused");
	tap_ok(double_near(board_idle_share(big, 0), 0.5) &&
		       double_near(board_idle_share(big, 1), 0.25) &&
		       double_near(board_idle_share(big, 2), 0) &&
		       double_near(board_idle_share(big, 3), 0.5),
	       "leakage by idle state");
	/* The big ones are off with their cluster; the little one is in WFI at 1 mA, 1 V. */
	tap_ok(double_near(board_rest_mw(&b, khz), 1), "power at rest");
	changed = b;
	changed.background_mw = 3;
	changed.cluster[0].retained_mw = 70;
	changed.cluster[1].retained_mw = 5;
	tap_ok(double_near(board_rest_mw(&changed, khz), 1 + 3 + 5),
	       "power at rest includes what clusters retain and the memory's background");
	changed.cluster[0].idle[1].cluster = false;
	tap_ok(double_near(board_rest_mw(&changed, khz), 1 + 3 + 5 + 70),
	       "retained power counts once for each cluster");
	changed.cluster[0].idles = 0;
	tap_ok(double_near(board_rest_mw(&changed, khz),
			   1 + 3 + 5 + 70 + 2 * 0.5 * board_static_mw(big, &big->opp[0])),
	       "without idle states each core leaks as in WFI");
	tap_ok(double_near(board_tlb_ns(big, 1000000, 128 * 1024), 0) &&
		       double_near(board_tlb_ns(big, 1000000, 256 * 1024), 0.5 * 5) &&
		       double_near(board_tlb_ns(big, 500000, 1024 * 1024),
				   (1 - 32 / 256.0) * 10 + 0.5 * 107) &&
		       double_near(board_tlb_ns(little, 500000, 1 << 30), 0),
	       "translation by working set");
	tap_ok(double_near(board_predict_ns(&b, big, BOARD_CHASE, 0, 1000000, 1),
			   20 + 100 + board_tlb_ns(big, 1000000, BOARD_CHASE_BYTES)) &&
		       double_near(board_predict_ns(&b, big, BOARD_STREAM, 0, 1000000, 1),
				   20 + (100 + 63 * 10) / 64.0 + (5 + 57) / 64.0),
	       "both loops translate");
}

/* Big cores 0 and 1 and little core 2, milliseconds: 0 busy till 1, then in state 2; 1 busy
 * till 2, in state 2 till 4, busy; 2 in WFI, 3 ms at 300 MHz, then busy.
 */
static void idle_states(void)
{
	static const struct trace_record log[] = {
		{ .ns = 0, .type = TRACE_BUSY, .cpu = 1, .khz = 1000000 },
		{ .ns = 0, .type = TRACE_IDLE, .cpu = 2, .khz = 300000 },
		{ .ns = 1000000, .type = TRACE_IDLE, .cpu = 0, .arg = 2, .khz = 1000000 },
		{ .ns = 2000000, .type = TRACE_IDLE, .cpu = 1, .arg = 2, .khz = 1000000 },
		{ .ns = 3000000, .type = TRACE_BUSY, .cpu = 2, .khz = 300000 },
		{ .ns = 4000000, .type = TRACE_BUSY, .cpu = 1, .khz = 1000000 },
		{ .ns = 5000000, .type = TRACE_IDLE, .cpu = 1, .arg = 1, .khz = 1000000 },
		{ .ns = 6000000, .type = TRACE_BUSY, .cpu = 1, .khz = 1000000 },
	};
	struct timeline t;
	struct usage u;
	struct board b;
	char why[128];
	FILE *in;

	read_text(&b, two_types, why);
	in = fmemopen((void *)log, sizeof(log), "rb");
	tap_ok(!timeline_read(&t, &b, in), "a log with idle states is read");
	fclose(in);
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 0, 5000000, &u);
	tap_ok(u.off_ns == 2000000, "a cluster is off while all its cores allow it");
	/* Big awake 0..2 and 4..5, off 2..4; little awake 3..5, in between nothing of its own. */
	tap_ok(double_near(u.awake_mj, 10 * 3e-3 + 3 * 2e-3),
	       "clusters are awake, retained or off");
	/* Busy: 10 mA at 1 V for 1 + 2 + 1 ms; little: .8 mW all the time. */
	tap_ok(double_near(u.static_mj, 10 * 4e-3 + 0.8 * 5e-3) &&
		       double_near(u.wfi_mj, 0.8 * 3e-3),
	       "static energy by state");
	tap_ok(u.state_ns[0] == 3000000 && u.state_ns[2] == 6000000, "idle time by state");
	tap_ok(double_near(u.dynamic_mj, 100 * 4e-3 + 20 * 0.3 * 0.64 * 2e-3),
	       "dynamic energy of each core type");
	tap_ok(u.opp_ns[2][0] == 2000000 && u.opp_ns[0][1] == 1000000,
	       "busy time by the cluster's OPPs");
	tap_ok(double_near(u.rest_mw, 0.8), "power at rest after the end");
	/* State 1 leaves a quarter; one core in it and one in 2 keep the cluster. */
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 5000000, 6000000, &u);
	tap_ok(double_near(u.awake_mj, (4 + 3) * 1e-3) &&
		       double_near(u.static_mj, (2.5 + 0.8) * 1e-3) && !u.off_ns,
	       "one core in a lighter state keeps the cluster");
	timeline_free(&t);
}

/* Core 0: in state 2 from 1 ms, leaves it in 4..5 ms and is busy then; core 1 is in state 2. */
static void leaving_check(void)
{
	static const struct trace_record log[] = {
		{ .ns = 1000000, .type = TRACE_IDLE, .cpu = 0, .arg = 2, .khz = 1000000 },
		{ .ns = 1000000, .type = TRACE_IDLE, .cpu = 1, .arg = 2, .khz = 1000000 },
		{ .ns = 1000000, .type = TRACE_IDLE, .cpu = 2, .khz = 300000 },
		{ .ns = 4000000, .type = TRACE_LEAVE, .cpu = 0, .arg = 2, .khz = 1000000 },
		{ .ns = 5000000,
		  .type = TRACE_BUSY,
		  .cpu = 0,
		  .khz = 1000000,
		  .stall_ns = 1000000 },
		{ .ns = 6000000, .type = TRACE_MARK, .cpu = 0, .khz = 1000000 },
	};
	struct timeline t;
	struct usage u;
	struct board b;
	double left;
	char why[128];
	FILE *in;

	read_text(&b, two_types, why);
	/* Over its residency of 500 us, WFI takes a half, state 1 a quarter for 400 us. */
	left = 0.5 * 500 - 0.25 * 400;
	tap_ok(double_near(board_leave_share(b.cluster, 1), left / 100),
	       "what a state saves until its residency is paid while a core leaves it");
	/* State 2 takes nothing; state 1 would take a quarter for 900 us, and left for 100. */
	left += 0.25 * 900;
	tap_ok(double_near(board_leave_share(b.cluster, 2), left / 200),
	       "of the second state, compared with the first");
	in = fmemopen((void *)log, sizeof(log), "rb");
	tap_ok(!timeline_read(&t, &b, in), "a log with an exit is read");
	fclose(in);
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 4000000, 5000000, &u);
	/* 10 mW are static, of the little core .8. */
	tap_ok(double_near(u.static_mj, (10 * left / 200 + 0.8) * 1e-3) &&
		       double_near(u.wfi_mj, u.static_mj) && u.dynamic_mj == 0,
	       "a core that leaves a state executes nothing and takes no dynamic power");
	tap_ok(u.leave_ns == 1000000 && !u.busy_ns[0] && u.state_ns[2] == 1000000,
	       "it is neither idle nor busy meanwhile");
	tap_ok(double_near(u.awake_mj, 10e-3), "its cluster is awake");
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 5000000, 6000000, &u);
	tap_ok(double_near(u.dynamic_mj, 100e-3) && u.stall_mj == 0,
	       "and it is busy afterwards, without the stalls of before");
	timeline_free(&t);
}

static void points_check(void)
{
	static const char text[] = "source one\nrail 500000 43.2\nrail 1000000 200 # half\n"
				   "latency 1000000 32 10\nprogram 500000 1000000 1.5 0.30 loop\n";
	struct points_count n = { 0, 0 };
	char why[128], page[2048] = "";
	struct board b;
	FILE *in, *out;

	read_text(&b, whole, why);
	board_assume(&b, "wfi_share=0.5", why, sizeof(why));
	tap_ok(double_near(points_core_mw(b.cluster, 1000000), 100 + 50) &&
		       double_near(points_rail_mw(b.cluster, 1000000), 100 + 50 + 25 + 10),
	       "a rail's power is that of a busy core, of the other one in WFI, and of the "
	       "cluster");
	tap_ok(double_near(points_latency_ns(b.cluster, 1000000, b.cluster[0].l1_bytes), 0) &&
		       double_near(
			       points_latency_ns(b.cluster, 1000000, 2.0 * b.cluster[0].l1_bytes),
			       10) &&
		       double_near(
			       points_latency_ns(b.cluster, 500000, 2.0 * b.cluster[0].l2_bytes),
			       (1 - b.cluster[0].l1_bytes / (2.0 * b.cluster[0].l2_bytes)) * 40 +
				       50),
	       "latency by working set: accesses beyond a cache's size miss");
	/* All of it waits, none of it does: energy goes by power alone, or by time as well. */
	tap_ok(double_near(points_energy_ratio(b.cluster, 500000, 1000000, 1),
			   (32 + 0.4 + 0.2 + 10) / 185) &&
		       double_near(points_energy_ratio(b.cluster, 500000, 1000000, 2),
				   2 * (32 + 0.4 + 0.2 + 10) / 185),
	       "energy between two clocks of a program by its times");
	board_assume(&b, "stall_share=0", why, sizeof(why));
	/* Half of the fast time waits, a third of the slow. */
	tap_ok(double_near(points_energy_ratio(b.cluster, 500000, 1000000, 1.5),
			   1.5 * (32 * 2.0 / 3 + 0.4 + 0.2 + 10) / (50 + 50 + 25 + 10)),
	       "at stall_share 0 waiting is left out at both clocks");
	in = fmemopen((void *)text, sizeof(text) - 1, "r");
	out = fmemopen(page, sizeof(page), "w");
	tap_ok(!points_print(&b, in, out, &n, why, sizeof(why)) && n.points == 5 && n.met == 4,
	       "points are counted, and those within their goal");
	fclose(in);
	fclose(out);
	tap_ok(strstr(page, "slope from 500 to 1000 MHz") && strstr(page, "| **no** | one |"),
	       "a slope between two powers; a value outside its goal is marked");
}

int main(void)
{
	points_check();
	parsing_check();
	closed_form();
	energy_check();
	merged_check();
	stalls_check();
	assumptions_check();
	clusters_check();
	idle_states();
	leaving_check();
	printf("1..%d\n", count);
	return failed ? 1 : 0;
}
