// SPDX-License-Identifier: MIT
/* The lab's board files, their closed form, and energy from a log. TAP. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "energy/timeline.h"
#include "timed/timed.h"

static int count, failed;

static void ok(int good, const char *name)
{
	printf("%sok %d board: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static int near(double a, double b)
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
static int refuses(const char *from, const char *to, const char *name)
{
	char text[2048], why[128] = "";
	const char *at = strstr(whole, from);
	struct board b;

	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
	return read_text(&b, text, why) && strstr(why, name);
}

static void parsing(void)
{
	struct board b;
	char why[128] = "";

	ok(!read_text(&b, whole, why) && b.opps == 2 && b.cores == 2 && !b.shared &&
		   b.l2_bytes == 1024 * 1024 && near(b.static_share, 0.5),
	   "a whole file is read");
	ok(refuses("cpi 1\n", "", "'cpi' is missing"), "a missing key is named");
	ok(refuses("cpi 1\n", "cpi 1\ncpi 2\n", "line 9: 'cpi' a second time"),
	   "a key given twice is named with its line");
	ok(refuses("cpi 1\n", "cpi one\n", "'cpi' wants one number"), "a word is no number");
	ok(refuses("cpi 1\n", "cpu 1\n", "unknown key 'cpu'"), "an unknown key is named");
	ok(refuses("cores 2", "cores 9", "must be 1..4"), "a value out of bounds is refused");
	ok(refuses("l1_ways 4", "l1_ways 3", "power of two"), "odd cache sets are refused");
	ok(refuses("opp 1000000", "opp 400000", "must ascend"), "OPPs must ascend");
	ok(refuses("opp 500000 800000", "opp 500000 800000 50", "either every OPP"),
	   "a table power for some OPPs only is refused");
	ok(refuses("clock per-core", "clock both", "'shared' or 'per-core'"),
	   "a clock of no kind is refused");
}

static void closed_form(void)
{
	struct board b;
	char why[128];

	read_text(&b, whole, why);
	ok(near(board_predict_ns(&b, BOARD_COMPUTE, 10, 500000, 1), 20),
	   "compute: instructions at the clock");
	ok(near(board_predict_ns(&b, BOARD_CHASE, 3, 1000000, 1), 3 + 20 + 100),
	   "chase: instructions, L2 cycles, memory");
	ok(near(board_predict_ns(&b, BOARD_CHASE, 3, 500000, 1), 6 + 40 + 100),
	   "chase: the clock does not change the memory");
	ok(near(board_predict_ns(&b, BOARD_STREAM, 0, 1000000, 1), 20 + (100 + 63 * 10) / 64.0),
	   "stream: one latency a page, then the prefetcher's pace");
	b.mem_mbs = 1000;
	ok(near(board_predict_ns(&b, BOARD_STREAM, 0, 1000000, 2), 128),
	   "stream: two cores share the memory's bandwidth");
	ok(near(board_dynamic_mw(&b, &b.opp[1], BOARD_POWER_CV2F), 100),
	   "dynamic power is C f V^2");
	ok(near(board_dynamic_mw(&b, &b.opp[1], BOARD_POWER_TABLE), 100),
	   "without a table the coefficient counts");
	ok(near(board_static_mw(&b, &b.opp[0]), 0.5 * 1000e-3 * 0.8) &&
		   near(board_static_mw(&b, &b.opp[1]), 0.5 * 100000e-3 * 1.0),
	   "static power follows its piece and share");
	ok(board_opp(&b, 600000) == &b.opp[1] && board_opp(&b, 5000000) == &b.opp[1] &&
		   board_opp(&b, 1) == &b.opp[0],
	   "a rate between OPPs counts as the next one");
}

/* Core 0 busy 0..4 ms, slows at 2 ms; core 1 busy 1..3 ms. */
static void energy(void)
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
	ok(!timeline_read(&t, &b, in) && t.marks == 2 && t.mark_lines[1] == 7, "a log is read");
	fclose(in);
	timeline_usage(&t, &b, BOARD_POWER_CV2F, 0, 5000000, &u);
	/* 100 mW at 1 GHz, 32 mW at 0.5 GHz */
	ok(near(u.dynamic_mj, 100 * 2e-3 + 32 * 2e-3 + 100 * 2e-3), "dynamic energy");
	ok(near(u.static_mj, 50 * 2e-3 + 0.4 * 3e-3 + 50 * 5e-3), "static energy, busy and idle");
	ok(near(u.awake_mj, 10 * 4e-3), "the cluster is awake while any core is");
	ok(u.transitions == 1, "one change of a clock");
	ok(u.busy_ns[0] == 4000000 && u.busy_ns[1] == 2000000 && u.opp_ns[0][0] == 2000000,
	   "busy time by core and OPP");
	ok(near(timeline_core_mj(&t, &b, BOARD_POWER_CV2F, 1, 500000, 1500000),
		50e-3 + 100 * 0.5e-3),
	   "energy of a part of a core's time");
	timeline_free(&t);
	in = fmemopen((void *)whole, sizeof(whole) - 1, "rb");
	ok(timeline_read(&t, &b, in) == -1, "a text is no log");
	fclose(in);
}

int main(void)
{
	parsing();
	closed_form();
	energy();
	printf("1..%d\n", count);
	return failed ? 1 : 0;
}
