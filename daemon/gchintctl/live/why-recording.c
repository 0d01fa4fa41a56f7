// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reasons for the frequencies of an instant: the decision, the thread that asked for
 * it, and the limits. And the longest pauses: their cause, the mean frequency during each,
 * and how much shorter it could have been.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/names.h"
#include "../../common/text.h"
#include "../ctl.h"
#include "../recording/db.h"
#include "../recording/pauses.h"
#include "../recording/recording.h"
#include "../recording/threads.h"
#include "why.h"

#define CPUS 1024

struct policy {
	int64_t number;
	char cpus[64];
	uint32_t hw_max_khz; /* 0 not known */
};

static sqlite3_stmt *instant_query(const struct run *run, const char *sql, int64_t a, int64_t b)
{
	sqlite3_stmt *s = db_query(run->db, sql);

	if (s) {
		sqlite3_bind_int64(s, 1, a);
		if (sqlite3_bind_parameter_count(s) > 1)
			sqlite3_bind_int64(s, 2, b);
	}
	return s;
}

static const char *khz_format(uint32_t khz, char *buf, size_t size)
{
	if (khz)
		snprintf(buf, size, "%.0f MHz", khz / 1000.0);
	else
		snprintf(buf, size, "not known");
	return buf;
}

/* 0 is no valid thread number: the thread was not recorded. */
static void thread_print(int64_t tid)
{
	if (tid)
		printf("thread %" PRId64, tid);
	else
		fputs("thread not known", stdout);
}

static void thread_print_name(const struct threads *threads, int64_t tgid, int64_t tid, uint64_t t)
{
	const char *name = threads_name(threads, tgid, tid, t);

	if (name)
		printf("%s, ", name);
	thread_print(tid);
}

static void instant_print_decision(const struct run *run, const struct threads *threads,
				   int64_t policy, uint64_t t)
{
	sqlite3_stmt *s = instant_query(
		run,
		"SELECT t, khz_from, khz, reason, load, latency_ns, tgid, tid, phase "
		"FROM decisions WHERE policy = ?1 AND t <= ?2 ORDER BY t DESC LIMIT 1",
		policy, (int64_t)t);
	char from[24], to[24];

	if (!db_next(s)) {
		puts("  decided   not known: no decision of gchint's governor until then");
		sqlite3_finalize(s);
		return;
	}
	printf("  decided   %.3f ms before: %s to %s, reason %s",
	       ((double)t - (double)db_int(s, 0, 0)) / 1e6,
	       khz_format(db_u32(s, 1, 0), from, sizeof(from)),
	       khz_format(db_u32(s, 2, 0), to, sizeof(to)), name_reason(db_u32(s, 3, UINT32_MAX)));
	if (sqlite3_column_type(s, 4) == SQLITE_INTEGER)
		printf(", load %.0f %%", (double)db_int(s, 4, 0) / 10.24);
	putchar('\n');
	if (sqlite3_column_type(s, 7) == SQLITE_INTEGER) {
		fputs("  asked by  ", stdout);
		thread_print_name(threads, db_int(s, 6, 0), db_int(s, 7, 0), t);
		if (sqlite3_column_type(s, 8) == SQLITE_INTEGER)
			printf(", in %s", name_phase(db_u32(s, 8, UINT32_MAX)));
		if (sqlite3_column_type(s, 5) == SQLITE_INTEGER)
			printf(", %.3f ms from hint to request", (double)db_int(s, 5, 0) / 1e6);
		putchar('\n');
	} else {
		puts("  asked by  nobody: load alone");
	}
	sqlite3_finalize(s);
}

static void instant_print_bounds(const struct run *run, const struct policy *p, uint32_t khz,
				 uint64_t t)
{
	sqlite3_stmt *s =
		instant_query(run,
			      "SELECT governor, min_khz, max_khz FROM policy_states WHERE "
			      "policy = ?1 AND t <= ?2 ORDER BY t DESC LIMIT 1",
			      p->number, (int64_t)t);
	char low[24], high[24];

	if (db_next(s)) {
		uint32_t min = db_u32(s, 1, 0), max = db_u32(s, 2, 0);

		printf("  bounds    governor %s, %s to %s", db_text(s, 0, "not known"),
		       khz_format(min, low, sizeof(low)), khz_format(max, high, sizeof(high)));
		if (khz && max && khz >= max)
			printf(": at its upper limit%s",
			       p->hw_max_khz > max ? ", which is below the hardware's" : "");
		else if (khz && min && khz <= min)
			fputs(": at its lower limit", stdout);
		putchar('\n');
	} else {
		puts("  bounds    not known");
	}
	sqlite3_finalize(s);
}

static void instant_print_throttling(const struct run *run, uint64_t t)
{
	sqlite3_stmt *s = instant_query(
		run,
		"SELECT d.name, (SELECT value FROM thermal x WHERE x.sensor = d.id AND "
		"x.t <= ?1 ORDER BY x.t DESC LIMIT 1) AS v FROM thermal_sensors d "
		"WHERE d.kind = 'cooling' AND v > 0",
		(int64_t)t, 0);

	while (db_next(s))
		printf("throttled   %s in state %" PRId64 "\n", db_text(s, 0, "?"),
		       db_int(s, 1, 0));
	sqlite3_finalize(s);
}

static void instant_print_phases(const struct run *run, const struct threads *threads, uint64_t t)
{
	char name[48];
	bool any = false;

	for (size_t i = 0; i < run->phases; i++) {
		const struct run_phase *p = &run->phase[i];

		if (p->t0 > t || p->t1 <= t)
			continue;
		fputs(any ? "            " : "under way   ", stdout);
		printf("%s, for %.3f ms of %.3f, ", run_group_name(p->group, name, sizeof(name)),
		       (double)(t - p->t0) / 1e6, (double)(p->t1 - p->t0) / 1e6);
		thread_print_name(threads, p->tgid, p->tid, p->t0);
		if (p->cpu >= 0)
			printf(", cpu%d", p->cpu);
		putchar('\n');
		any = true;
	}
	if (!any)
		puts("under way   no phase");
}

static bool instant_print(const struct run *run, uint64_t t)
{
	struct threads *threads = threads_of(run);
	sqlite3_stmt *s;
	uint8_t set[CPUS];
	char text[24];
	bool any = false;

	if (!threads)
		return false;
	s = db_query(run->db, "SELECT policy, replace(cpus, ' ', ','), hw_max_khz FROM policies "
			      "ORDER BY policy");
	printf("%.6f s\n", run_seconds(run, t));
	while (db_next(s)) {
		struct policy p = { .number = db_int(s, 0, -1), .hw_max_khz = db_u32(s, 2, 0) };
		uint32_t khz = 0;

		any = true;
		snprintf(p.cpus, sizeof(p.cpus), "%s", db_text(s, 1, ""));
		if (text_cpulist(p.cpus, set, CPUS) > 0)
			for (int c = 0; c < CPUS && !khz; c++)
				khz = set[c] ? run_khz(run, c, t) : 0;
		printf("policy%" PRId64 "     CPUs %s: %s", p.number,
		       *p.cpus ? p.cpus : "not known", khz_format(khz, text, sizeof(text)));
		if (khz && p.hw_max_khz)
			printf(", %.0f %% of the highest", 100.0 * khz / p.hw_max_khz);
		putchar('\n');
		instant_print_decision(run, threads, p.number, t);
		instant_print_bounds(run, &p, khz, t);
	}
	sqlite3_finalize(s);
	if (!any)
		puts("no frequency policy was recorded");
	instant_print_throttling(run, t);
	instant_print_phases(run, threads, t);
	threads_free(threads);
	return true;
}

static void pause_print(const struct run *run, const struct pause *pause)
{
	const struct run_phase *p = pause->phase;
	char name[48];

	printf("%12.6f %10.3f  %-18s %-12s ", run_seconds(run, p->t0),
	       (double)(p->t1 - p->t0) / 1e6, run_group_name(p->group, name, sizeof(name)),
	       name_cause(p->cause));
	if (pause->khz > 0)
		printf("%7.0f", pause->khz / 1000);
	else
		printf("%7s", "?");
	if (isfinite(pause_at_top(pause)))
		printf(" %9.3f ", pause_at_top(pause));
	else
		printf(" %9s ", "?");
	if (isfinite(pause_earlier(pause)))
		printf("%10.3f  ", pause_earlier(pause));
	else
		printf("%10s  ", pause->phase->stw ? "-" : "?");
	if (*pause->comm)
		printf("%s, ", pause->comm);
	thread_print(p->tid);
	for (size_t i = 0; i < pause->besides; i++)
		printf("%s%s", i ? " and " : ", beside ",
		       run_group_name(pause->beside[i], name, sizeof(name)));
	putchar('\n');
}

static bool pauses_print(const struct run *run, uint64_t lines)
{
	size_t n;
	struct pause *pause = pauses_longest(run, lines < SIZE_MAX ? (size_t)lines : SIZE_MAX, &n);

	if (!pause)
		return false;
	if (n)
		printf("%12s %10s  %-18s %-12s %7s %9s %10s  %s\n", "AT s", "LENGTH ms", "PHASE",
		       "CAUSE", "MHz", "AT TOP ms", "EARLIER ms", "WHO");
	else
		puts("no pause was recorded");
	for (size_t i = 0; i < n; i++)
		pause_print(run, &pause[i]);
	if (n)
		puts("AT TOP: no shorter than this with the CPU at its highest frequency all the "
		     "while.\n"
		     "EARLIER: a wait is spared by a collection that begins so much earlier.");
	free(pause);
	return true;
}

int why_recording(const char *path, double seconds, uint64_t lines)
{
	struct run *run = run_open(path);
	int ret = CTL_OK;

	if (!run)
		return CTL_FILE;
	if (!isnan(seconds) && (seconds < 0 || seconds > run_seconds(run, run->t1))) {
		ctl_error("why: --at %g: the recording lasts %.3f s", seconds,
			  run_seconds(run, run->t1));
		ret = CTL_USAGE;
	} else if (!isnan(seconds)) {
		ret = instant_print(run, run->t0 + (uint64_t)(seconds * 1e9)) ? CTL_OK : CTL_FILE;
	} else if (!pauses_print(run, lines)) {
		ret = CTL_FILE;
	}
	run_close(run);
	return ret;
}
