// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: long texts that t-rows.sh checks: metrics and rows of
 * records in which each field is a different number, unknown, or at a bound.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/recording/schema.h"
#include "../../daemon/recording/store.h"
#include "../../daemon/recording/writer.h"
#include "../../daemon/source/metrics.h"
#include "../../daemon/source/sensor/rail.h"

#define MS	 1000000ull
#define S	 1000000000ull
#define RAILS_OF 5 /* maximum per source in the metrics */

static void phases_observe(struct metrics *m)
{
	static const uint64_t lengths[] = { 0,	    100000, 100001, 250000,    3 * MS,
					    5 * MS, S,	    10 * S, 10 * S + 1 };
	static const uint32_t flags[] = { GCHINT_F_STW, GCHINT_F_FOREGROUND,
					  GCHINT_F_STW | GCHINT_F_FOREGROUND, GCHINT_F_CONCURRENT,
					  UNKNOWN_U32 };
	struct record r = { .type = RECORD_PHASE };

	for (uint32_t i = 0; i < 9; i++) {
		r.t = 7 * S + lengths[i];
		r.phase = (struct record_phase){
			.t0 = 7 * S, .phase = 1 + i % 3, .flags = flags[i % 5], .how = PHASE_EDGE
		};
		metrics_observe(m, &r);
	}
	/* Not ended, of unknown type, ended before it began; the last type. */
	r.t = 8 * S;
	r.phase.how = PHASE_OPEN;
	metrics_observe(m, &r);
	r.phase.how = PHASE_MODULE;
	r.phase.phase = GCHINT_PHASE_NR;
	metrics_observe(m, &r);
	r.phase.phase = GCHINT_PHASE_NR - 1;
	metrics_observe(m, &r);
	r.t = 7 * S - 1;
	metrics_observe(m, &r);
}

static void decisions_observe(struct metrics *m)
{
	struct record r = { .type = RECORD_DECISION };

	for (uint32_t i = 0; i < GCHINT_REASON_NR + 2; i++)
		for (uint32_t n = 0; n <= i % 4; n++) {
			r.decision = (struct record_decision){ .reason = i,
							       .latency_ns = 1000 * (i + 1),
							       .has_latency = n };
			metrics_observe(m, &r);
		}
}

static void transitions_observe(struct metrics *m)
{
	static const struct record_transition seen[] = {
		{ 0, 960000, HOW_START }, { 0, 300000, HOW_TRACE },   { 0, 2100000, HOW_SAMPLING },
		{ 1, 960000, HOW_POLL },  { 1, 300000, HOW_START },   { 511, 5000000, HOW_TRACE },
		{ 512, 1, HOW_TRACE },	  { 511, 4999999, HOW_POLL },
	};
	struct record r = { .type = RECORD_TRANSITION };

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		r.transition = seen[i];
		metrics_observe(m, &r);
	}
}

static void sample_observe(struct metrics *m, uint64_t t, uint32_t rail, int64_t value)
{
	const struct record r = { .t = t,
				  .type = RECORD_SAMPLE,
				  .sample = { .value = value, .rail = rail, .error_ns = 1 } };

	metrics_observe(m, &r);
}

static void rails_observe(struct metrics *m)
{
	const uint32_t last = RAILS_OF * RAILS_MAX;

	for (uint32_t everyones = 0; everyones < 2; everyones++) {
		const uint32_t at = 10 * everyones;
		char name[16];

		snprintf(name, sizeof(name), "rail \"%u\"", everyones);
		metrics_rail(m, at + 1, name, "of power", RAIL_POWER, everyones);
		metrics_rail(m, at + 2, name, NULL, RAIL_ENERGY, everyones);
		metrics_rail(m, at + 3, name, "of voltage", RAIL_VOLTAGE, everyones);
		metrics_rail(m, at + 4, name, "of current", RAIL_CURRENT, everyones);
		metrics_rail(m, at + 5, name, "not read", RAIL_POWER, everyones);
		metrics_rail(m, at + 6, name, "read once", RAIL_POWER, everyones);
		metrics_rail(m, at + 7, name, "gone", RAIL_POWER, everyones);
		/* A trapezium, a gap, a trapezium; the minute in which updates are suppressed. */
		sample_observe(m, S, at + 1, 1000000);
		sample_observe(m, 3 * S, at + 1, 2000000);
		sample_observe(m, 4 * S, at + 1, UNKNOWN_S64);
		sample_observe(m, 5 * S, at + 1, 8000000);
		sample_observe(m, 6 * S, at + 1, 8000000);
		sample_observe(m, 6 * S + 500 * MS, at + 1, 4500001);
		sample_observe(m, 10 * S, at + 2, 7900000);
		sample_observe(m, 70 * S - 1, at + 2, 9900000);
		sample_observe(m, S, at + 3, 975000);
		sample_observe(m, S, at + 4, -250000);
		sample_observe(m, S, at + 6, 3000000);
		sample_observe(m, S, at + 7, 3000000);
		sample_observe(m, 2 * S, at + 7, UNKNOWN_S64);
	}
	metrics_rail(m, 30, "after a minute", NULL, RAIL_ENERGY, false);
	sample_observe(m, 10 * S, 30, 7900000);
	sample_observe(m, 70 * S, 30, 9999999);
	metrics_rail(m, 31, "unknown", NULL, RAIL_ENERGY, false);
	sample_observe(m, 10 * S, 31, UNKNOWN_S64);
	metrics_rail(m, last, "the last", "", RAIL_POWER, true);
	metrics_rail(m, last + 1, "behind it", "", RAIL_POWER, true);
	sample_observe(m, S, last, 1);
	sample_observe(m, S, last + 1, 1);
	/* An undefined rail. */
	sample_observe(m, S, 32, 1);
}

static void drops_observe(struct metrics *m)
{
	static const struct record_drop dropped[] = {
		{ .count = 3, .source = "genl", .why = "lost" },
		{ .count = 4, .source = "trace", .why = "lost" },
		{ .count = 5, .source = "genl", .why = "gap" },
		{ .count = 6, .source = "genl", .why = "lost" }
	};
	struct record r = { .type = RECORD_DROP };

	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
		r.drop = dropped[i];
		metrics_observe(m, &r);
	}
}

static void metrics_print(struct metrics *m, const struct metrics_around *around,
			  const struct writer_stats *writer, enum metrics_for whom,
			  enum metrics_format format)
{
	static const char *const audience[] = { "everyone", "the group", "the token" };
	size_t size = 0;
	char *text = metrics_text(m, around, writer, whom, format, &size);

	if (text && strlen(text) == size)
		printf("== for %s, format %u\n%s", audience[whom], format, text);
	free(text);
}

static void print_metrics(void)
{
	const struct metrics_around around = { 11, true, 12, 13 }, unknown = { 0, false, 12, 13 };
	const struct writer_stats stats = { 21, 22, 23, true }, none = { 0 };
	const struct record cost = { .type = RECORD_COST,
				     .cost = { .cpu_ns = 1500000000,
					       .wakeups = 32,
					       .records = 33,
					       .bytes = 34,
					       .rss_kib = 35 } };
	struct metrics *m = metrics_new();

	if (!m)
		return;
	metrics_print(m, NULL, NULL, METRICS_FOR_GROUP, METRICS_PROMETHEUS);
	phases_observe(m);
	decisions_observe(m);
	transitions_observe(m);
	rails_observe(m);
	drops_observe(m);
	metrics_print(m, &unknown, &none, METRICS_FOR_GROUP, METRICS_OPENMETRICS);
	metrics_observe(m, &cost);
	metrics_print(m, &around, &stats, METRICS_FOR_KNOWN, METRICS_PROMETHEUS);
	metrics_print(m, &around, &stats, METRICS_FOR_EVERYONE, METRICS_PROMETHEUS);
	metrics_free(m);
}

/* Every record with each field a different number, and with as little known as possible. */
static void put_records(struct store *s)
{
	static const struct record all[] = {
		{ .t = 100,
		  .type = RECORD_PHASE,
		  .phase = { .id = 1,
			     .t0 = 11,
			     .session = 12,
			     .work_done = 13,
			     .work_total = 14,
			     .stall_ns = 15,
			     .tgid = 16,
			     .tid = 17,
			     .cpu = 18,
			     .slot = 19,
			     .phase = 20,
			     .flags = 21,
			     .cause = 22,
			     .seq = 23,
			     .how = PHASE_STALE,
			     .hinted = true,
			     .has_work = true,
			     .uncertain = true } },
		{ .t = 101,
		  .type = RECORD_PHASE,
		  .phase = { .id = 2,
			     .t0 = 11,
			     .session = 12,
			     .work_done = 13,
			     .cpu = UNKNOWN_U32,
			     .slot = 19,
			     .phase = 20,
			     .flags = UNKNOWN_U32,
			     .cause = UNKNOWN_U32,
			     .seq = UNKNOWN_U32,
			     .how = PHASE_OPEN } },
		{ .t = 102,
		  .type = RECORD_PHASE,
		  .phase = { .id = 3, .how = PHASE_EDGE, .hinted = true, .has_work = true } },
		{ .t = 103,
		  .type = RECORD_DECISION,
		  .decision = { .latency_ns = 31,
				.tgid = 32,
				.tid = 33,
				.cpu = 34,
				.policy = 35,
				.khz_from = 36,
				.khz = 37,
				.reason = 38,
				.load = 39,
				.slot = 40,
				.phase = 41,
				.flags = 42,
				.hinted = true,
				.has_latency = true } },
		{ .t = 104,
		  .type = RECORD_DECISION,
		  .decision = { .latency_ns = 31,
				.tgid = 32,
				.tid = 33,
				.cpu = 34,
				.policy = UNKNOWN_U32,
				.khz_from = UNKNOWN_U32,
				.khz = UNKNOWN_U32,
				.reason = UNKNOWN_U32,
				.load = UNKNOWN_U32,
				.slot = 40,
				.phase = UNKNOWN_U32,
				.flags = UNKNOWN_U32,
				.hinted = false,
				.has_latency = false } },
		{ .t = 105,
		  .type = RECORD_LEASE,
		  .lease = { .session = 51,
			     .tgid = 52,
			     .tid = 53,
			     .slot = 54,
			     .role = 55,
			     .lease = 56 } },
		{ .t = 106,
		  .type = RECORD_LEASE,
		  .lease = { .session = 51,
			     .tgid = 0,
			     .tid = 0,
			     .slot = 54,
			     .role = UNKNOWN_U32,
			     .lease = 56 } },
		{ .t = 107,
		  .type = RECORD_TRANSITION,
		  .transition = { .cpu = 61, .khz = 62, .how = HOW_START } },
		{ .t = 108,
		  .type = RECORD_TRANSITION,
		  .transition = { .cpu = 61, .khz = 62, .how = HOW_TRACE } },
		{ .t = 109,
		  .type = RECORD_TRANSITION,
		  .transition = { .cpu = 61, .khz = 62, .how = HOW_POLL } },
		{ .t = 110,
		  .type = RECORD_TRANSITION,
		  .transition = { .cpu = 61, .khz = 62, .how = HOW_SAMPLING } },
		{ .t = 111,
		  .type = RECORD_RESIDENCY,
		  .residency = { .total_ns = 71, .policy = 72, .khz = 73 } },
		{ .t = 112,
		  .type = RECORD_IDLE,
		  .idle = { .total_us = 81, .usage = 82, .cpu = 83, .state = 84 } },
		{ .t = 113,
		  .type = RECORD_SAMPLE,
		  .sample = { .value = -91, .rail = 92, .error_ns = 93 } },
		{ .t = 114,
		  .type = RECORD_SAMPLE,
		  .sample = { .value = UNKNOWN_S64, .rail = 92, .error_ns = UNKNOWN_U32 } },
		{ .t = 115, .type = RECORD_HOTPLUG, .hotplug = { .cpu = 101, .online = true } },
		{ .t = 116, .type = RECORD_HOTPLUG, .hotplug = { .cpu = 102, .online = false } },
		{ .t = 117,
		  .type = RECORD_THERMAL,
		  .thermal = { .value = -111, .sensor = 112, .kind = THERMAL_COOLING } },
		{ .t = 118,
		  .type = RECORD_THERMAL,
		  .thermal = { .value = UNKNOWN_S64, .sensor = 112, .kind = THERMAL_THROTTLE } },
		{ .t = 119,
		  .type = RECORD_SCHED,
		  .sched = { .run_ns = 121,
			     .wait_ns = 122,
			     .slices = 123,
			     .utime_ns = 124,
			     .stime_ns = 125,
			     .migrations = 126,
			     .tgid = 127,
			     .tid = 128,
			     .rss_kib = 129 } },
		{ .t = 120,
		  .type = RECORD_SCHED,
		  .sched = { .run_ns = 121,
			     .wait_ns = 122,
			     .slices = 123,
			     .utime_ns = UNKNOWN_S64,
			     .stime_ns = UNKNOWN_S64,
			     .migrations = UNKNOWN_S64,
			     .tgid = 127,
			     .tid = 128,
			     .rss_kib = UNKNOWN_U32 } },
		{ .t = 121,
		  .type = RECORD_PERF,
		  .perf = { .enabled_ns = 131,
			    .running_ns = 132,
			    .cycles = 133,
			    .instructions = 134,
			    .misses = 135,
			    .tgid = 136,
			    .tid = 137 } },
		{ .t = 122,
		  .type = RECORD_PERF,
		  .perf = { .enabled_ns = 131,
			    .running_ns = 132,
			    .cycles = UNKNOWN_S64,
			    .instructions = UNKNOWN_S64,
			    .misses = UNKNOWN_S64,
			    .tgid = 136,
			    .tid = 137 } },
		{ .t = 123,
		  .type = RECORD_HOTSPOT,
		  .hotspot = { .ip = 141,
			       .kernel = 142,
			       .method = 143,
			       .tgid = 144,
			       .tid = 145,
			       .cpu = 146,
			       .stack = 147,
			       .phase = 148,
			       .flags = 149,
			       .known = HOTSPOT_METHOD | HOTSPOT_PHASE } },
		{ .t = 124,
		  .type = RECORD_HOTSPOT,
		  .hotspot = { .ip = 0,
			       .kernel = 0,
			       .method = 143,
			       .tgid = 144,
			       .tid = 145,
			       .cpu = UNKNOWN_U32,
			       .stack = 0,
			       .phase = 148,
			       .flags = 149,
			       .known = 0 } },
		{ .t = 124,
		  .type = RECORD_HOTSPOT,
		  .hotspot = { .ip = 141,
			       .kernel = 142,
			       .method = 143,
			       .tgid = 144,
			       .tid = 145,
			       .cpu = 146,
			       .stack = 147,
			       .phase = 148,
			       .flags = 149,
			       .known = HOTSPOT_METHOD } },
		{ .t = 125,
		  .type = RECORD_POLICY_STATE,
		  .policy_state = { .governor = "word",
				    .policy = 151,
				    .min_khz = 152,
				    .max_khz = 153 } },
		{ .t = 126,
		  .type = RECORD_POLICY_STATE,
		  .policy_state = { .governor = "",
				    .policy = 151,
				    .min_khz = UNKNOWN_U32,
				    .max_khz = UNKNOWN_U32 } },
		{ .t = 127,
		  .type = RECORD_DROP,
		  .drop = { .count = 161, .source = "source", .why = "why" } },
		{ .t = 128,
		  .type = RECORD_COST,
		  .cost = { .cpu_ns = 171,
			    .wakeups = 172,
			    .records = 173,
			    .bytes = 174,
			    .rss_kib = 175 } },
		{ .t = 129,
		  .type = RECORD_COST,
		  .cost = { .cpu_ns = 171,
			    .wakeups = 172,
			    .records = 173,
			    .bytes = 174,
			    .rss_kib = UNKNOWN_U32 } },
	};
	int ret = store_begin(s);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ret |= store_record(s, &all[i]);
	printf("records: %d\n", ret | store_commit(s));
}

static void put_definitions(struct store *s)
{
	static const char *const kinds[] = { "power", "energy", "voltage", "current" };
	static const char *const units[] = { "uW", "uJ", "uV", "uA" };
	int ret = store_begin(s);

	for (int kind = 0; kind < DEFINE_NR; kind++) {
		const int64_t number[DEFINITION_NUMBERS] = { 10 * kind + 1, 10 * kind + 2,
							     10 * kind + 3, 10 * kind + 4 };
		const char *string[] = { "first", "second", "third",   "fourth",
					 "fifth", "sixth",  "seventh", "eighth" };
		struct definition *d =
			definition_new((enum definition_kind)kind, 200, number, 8, string, 8);

		ret |= d ? store_define(s, d) : 1;
		definition_free(d);
	}
	for (int64_t i = 0; i < 4; i++) {
		const char *string[] = { kinds[i], NULL, kinds[i], units[i], "source" };
		struct definition *d =
			definition_new(DEFINE_RAIL, 201, (int64_t[]){ i, 2 }, 2, string, 5);

		ret |= d ? store_define(s, d) : 1;
		definition_free(d);
	}
	printf("definitions: %d\n", ret | store_commit(s));
}

static void print_rows(const char *path)
{
	char error[300];
	struct store *s = store_open(path, false, error, sizeof(error));

	if (!s) {
		puts(error);
		return;
	}
	put_records(s);
	put_definitions(s);
	store_finish(s);
}

/* The tables of docs/recording.md. */
static void print_schema(void)
{
	const struct schema_line *table, *c;

	puts("\n| table | a row is |\n|---|---|");
	for (table = schema_lines; table->line != SCHEMA_END; table = schema_next_table(table))
		printf("| `%s` | %s |\n", table->name, table->meaning);
	puts("\n| table | column | unit | is | NULL |\n|---|---|---|---|---|");
	for (table = schema_lines; table->line != SCHEMA_END; table = schema_next_table(table))
		for (c = table + 1; c < schema_next_table(table); c++)
			printf("| `%s` | `%s` | %s | %s | %s |\n", table->name, c->name,
			       c->line == SCHEMA_TEXT ? "text" : c->unit, c->meaning, c->null);
	puts("");
}

bool unit_print(const char *what, const char *path)
{
	if (!strcmp(what, "metrics"))
		print_metrics();
	else if (!strcmp(what, "rows"))
		print_rows(path);
	else if (!strcmp(what, "schema"))
		print_schema();
	else
		return false;
	return true;
}
