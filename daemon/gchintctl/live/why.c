// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../../analysis/pauses.h"
#include "../../common/amount.h"
#include "../../common/cpus.h"
#include "../../common/json.h"
#include "../../common/names.h"
#include "../../common/text.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/frequency.h"
#include "../../recording/reader/recording.h"
#include "../../recording/reader/threads.h"
#include "../ctl.h"
#include "../machine/actuators.h"
#include "../machine/kernel.h"
#include "try.h"

static const char usage[] =
	"usage: gchintctl why\n"
	"       gchintctl why FILE [--at SECONDS] [-n N]\n"
	"       gchintctl why --try [-c SETTING] [-o NAME] -- PROGRAM [ARGUMENT]...\n"
	"For each frequency policy: the frequency in force, its governor, whether hints act on it\n"
	"and the reason of their last action, and what limits the frequency, as far as the kernel\n"
	"reports it. On heterogeneous cores also whether the scheduler places tasks by energy.\n"
	"\n"
	"For a recording: the longest pauses, and then the longest waits of single threads for a\n"
	"collection by others, each with its cause, the mean frequency of its CPU, its length at "
	"the highest frequency,\n"
	"how much earlier the collection had to begin to avoid the wait, and concurrent phases;\n"
	"the heap before and after, freed objects and the generation, where the runtime reports "
	"them;\n"
	"how long the process's threads waited for a CPU, and in a profile the method before it.\n"
	"With --at, for each policy at that instant: the frequency, the decision that chose it,\n"
	"the thread that requested it, the limits, and the phases under way.\n"
	"With --try, PROGRAM runs twice: as it is, and with the setting of its runtime that its\n"
	"recording advises. What was predicted and seen is printed; its output goes to stderr.\n"
	"\n"
	"  -a, --at SECONDS  since the start of the recording, as in lists and pictures\n"
	"  -c, --change SETTING\n"
	"                    with --try: this in place of the advice, such as -Xmx512m, GOGC=200 "
	"or\n"
	"                    -XX:+UseParallelGC; predicted where gchintctl knows what it does\n"
	"  -n, --lines N     pauses in the list, and waits (default: 10)\n"
	"  -o, --output NAME of the recordings NAME-now.db and NAME-then.db (default: why)\n"
	"  -t, --try         run PROGRAM, and again with the advised setting\n";

#define CPUFREQ "devices/system/cpu/cpufreq"

struct why {
	struct root root;
	struct kernel_policies kernel;
	unsigned int cooled;
	unsigned int policies; /* printed */
	char cooler[64];
};

/* A cooling device states its type, but not always which policy it limits. */
static int why_count_cooler(void *data, const char *name)
{
	struct why *w = data;
	char type[64];
	uint64_t state;

	if (root_read(type, sizeof(type), "%s/class/thermal/%s/type", w->root.sysfs, name) <= 0 ||
	    (!strstr(type, "cpufreq") && strcmp(type, "Processor")) ||
	    root_u64(&state, "%s/class/thermal/%s/cur_state", w->root.sysfs, name) || !state)
		return 0;
	if (!w->cooled++)
		snprintf(w->cooler, sizeof(w->cooler), "%s %s", name, type);
	return 0;
}

static bool policy_read_khz(const struct why *w, const char *policy, const char *file,
			    uint64_t *value)
{
	return !root_u64(value, "%s/" CPUFREQ "/%s/%s", w->root.sysfs, policy, file) && *value;
}

static void khz_print(const char *what, bool known, uint64_t value)
{
	if (known)
		printf("  %s %.1f MHz", what, (double)value / 1000);
	else
		printf("  %s ?", what);
}

/* What limits a policy to less than the hardware's frequency range. */
static void why_print_bounds(const struct why *w, const char *policy,
			     const struct message_policy *p)
{
	uint64_t max, hw, bios, min, low;
	bool said = false;

	if (policy_read_khz(w, policy, "cpuinfo_max_freq", &hw) &&
	    policy_read_khz(w, policy, "scaling_max_freq", &max) && max < hw) {
		printf("  highest %.1f of %.1f MHz:", (double)max / 1000, (double)hw / 1000);
		if (p && p->has & HAS(GCHINT_POLICY_A_CAP_KHZ)) {
			printf(" gchint (limits, %s)", name_reason(p->reason));
			said = true;
		}
		if (policy_read_khz(w, policy, "bios_limit", &bios) && bios < hw) {
			fputs(" the firmware", stdout);
			said = true;
		}
		if (w->cooled) {
			printf(" maybe heat (%s)", w->cooler);
			said = true;
		}
		if (!said)
			fputs(" scaling_max_freq, by a user or a daemon", stdout);
		putchar('\n');
	}
	if (policy_read_khz(w, policy, "cpuinfo_min_freq", &low) &&
	    policy_read_khz(w, policy, "scaling_min_freq", &min) && min > low)
		printf("  lowest %.1f instead of %.1f MHz: %s\n", (double)min / 1000,
		       (double)low / 1000,
		       p && p->has & HAS(GCHINT_POLICY_A_FLOOR_KHZ) ?
			       "gchint (limits)" :
			       "scaling_min_freq, by a user or a daemon");
}

static int why_print_policy(void *data, const char *policy)
{
	struct why *w = data;
	const struct message_policy *p =
		kernel_policy(&w->kernel, strtoull(policy + strlen("policy"), NULL, 10));
	char governor[64], actuator[32];
	uint64_t value;
	bool known;

	if (root_read(governor, sizeof(governor), "%s/" CPUFREQ "/%s/scaling_governor",
		      w->root.sysfs, policy) <= 0)
		snprintf(governor, sizeof(governor), "?");
	known = policy_read_khz(w, policy, "scaling_cur_freq", &value);
	printf("%-10s", policy);
	khz_print("now", known, value);
	printf("  governor %s\n", governor);
	if (actuator_in_force(actuator, sizeof(actuator), &w->root, policy))
		puts("  hints: gchint is not loaded");
	else if (!strcmp(actuator, "off"))
		puts("  hints: recorded, without other effect (enable: gchintctl actuator auto)");
	else if (!p || !(p->has & HAS(GCHINT_POLICY_A_MODE)))
		printf("  hints: by %s\n", actuator);
	else if (p->mode == GCHINT_MODE_OFF)
		printf("  hints: by %s, but its mode is off\n", actuator);
	else
		printf("  hints: by %s, mode %s, last reason %s\n", actuator, name_mode(p->mode),
		       name_reason(p->reason));
	why_print_bounds(w, policy, p);
	w->policies++;
	return 0;
}

struct policy {
	int64_t number;
	char cpus[CPUS_TEXT];
	uint32_t hw_max_khz; /* 0 not known */
};

static sqlite3_stmt *instant_query(const struct recording *rec, const char *sql, int64_t a,
				   int64_t b)
{
	sqlite3_stmt *s = db_query(rec->db, sql);

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

static void instant_print_decision(const struct recording *rec, const struct threads *threads,
				   int64_t policy, uint64_t t)
{
	sqlite3_stmt *s = instant_query(
		rec,
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
		puts("  asked by  no thread: load alone");
	}
	sqlite3_finalize(s);
}

static void instant_print_bounds(const struct recording *rec, const struct policy *p, uint32_t khz,
				 uint64_t t)
{
	sqlite3_stmt *s =
		instant_query(rec,
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

static void instant_print_throttling(const struct recording *rec, uint64_t t)
{
	sqlite3_stmt *s = instant_query(
		rec,
		"SELECT d.name, (SELECT value FROM thermal x WHERE x.sensor = d.id AND "
		"x.t <= ?1 ORDER BY x.t DESC LIMIT 1) AS v FROM thermal_sensors d "
		"WHERE d.kind = 'cooling' AND v > 0",
		(int64_t)t, 0);

	while (db_next(s))
		printf("throttled   %s in state %" PRId64 "\n", db_text(s, 0, "?"),
		       db_int(s, 1, 0));
	sqlite3_finalize(s);
}

static void instant_print_phases(const struct recording *rec, const struct threads *threads,
				 uint64_t t)
{
	char name[48];
	bool any = false;

	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *p = &rec->phase[i];

		if (p->t0 > t || p->t1 <= t)
			continue;
		fputs(any ? "            " : "under way   ", stdout);
		printf("%s, for %.3f ms of %.3f, ", phase_group_name(p->group, name, sizeof(name)),
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

static bool instant_print(const struct recording *rec, uint64_t t)
{
	struct threads *threads = threads_of(rec);
	sqlite3_stmt *s;
	uint8_t set[CPUS_MAX];
	char text[24];
	bool any = false;

	if (!threads)
		return false;
	s = db_query(rec->db, "SELECT policy, replace(cpus, ' ', ','), hw_max_khz FROM policies "
			      "ORDER BY policy");
	printf("%.6f s\n", recording_seconds(rec, t));
	while (db_next(s)) {
		struct policy p = { .number = db_int(s, 0, -1), .hw_max_khz = db_u32(s, 2, 0) };
		uint32_t khz = 0;

		any = true;
		snprintf(p.cpus, sizeof(p.cpus), "%s", db_text(s, 1, ""));
		if (text_cpulist(p.cpus, set, CPUS_MAX) > 0)
			for (int c = 0; c < CPUS_MAX && !khz; c++)
				khz = set[c] ? recording_khz(rec, c, t) : 0;
		printf("policy%" PRId64 "     CPUs %s: %s", p.number,
		       *p.cpus ? p.cpus : "not known", khz_format(khz, text, sizeof(text)));
		if (khz && p.hw_max_khz)
			printf(", %.0f %% of the highest", 100.0 * khz / p.hw_max_khz);
		putchar('\n');
		instant_print_decision(rec, threads, p.number, t);
		instant_print_bounds(rec, &p, khz, t);
	}
	sqlite3_finalize(s);
	if (!any)
		puts("no frequency policy was recorded");
	instant_print_throttling(rec, t);
	instant_print_phases(rec, threads, t);
	threads_free(threads);
	return true;
}

#define METHOD_COLUMNS 30

/* Which columns of the list of pauses have a value in any line. */
struct pause_columns {
	bool khz, wait, waited, heap, freed, generation, method;
};

/* In use before and after, and the share of the limit in use after. */
static void pause_print_heap(const struct pause *pause)
{
	char before[AMOUNT_TEXT] = "?", after[AMOUNT_TEXT] = "?";

	if (pause->before != RECORDING_UNKNOWN)
		amount_bytes((double)pause->before, before);
	if (pause->after != RECORDING_UNKNOWN)
		amount_bytes((double)pause->after, after);
	printf("%10s %10s ", before, after);
	if (pause->after != RECORDING_UNKNOWN && pause->most > 0)
		printf("%3.0f%% ", 100 * (double)pause->after / (double)pause->most);
	else
		printf("%4s ", "?");
}

/* Accounts that are rarely read say little about a short pause. */
static bool pause_wait_is_known(const struct pause *pause)
{
	return pause->waited &&
	       pause->wait_most - pause->wait_least <= (double)(pause->t1 - pause->t0) / 2;
}

/* The bounds of the wait for a CPU: one number if they are the same to a hundredth of the pause. */
static void pause_print_wait(const struct pause *pause)
{
	const double ns = (double)(pause->t1 - pause->t0);
	char text[32] = "?";

	if (pause->waited && pause->wait_most - pause->wait_least <= ns / 100)
		snprintf(text, sizeof(text), "%.3f", (pause->wait_least + pause->wait_most) / 2e6);
	else if (pause_wait_is_known(pause))
		snprintf(text, sizeof(text), "%s-%s",
			 amount_digits(pause->wait_least / 1e6, 3, AMOUNT_BUFFER),
			 amount_digits(pause->wait_most / 1e6, 3, AMOUNT_BUFFER));
	printf("%11s  ", text);
}

/* Without the directories of its file, which JSON has. */
static void pause_print_method(const struct pause *pause)
{
	const char *path = strchr(pause->method, '/'), *base = strrchr(pause->method, '/');
	char text[sizeof(pause->method)];

	if (path && (path == pause->method || strchr(" (", path[-1])))
		snprintf(text, sizeof(text), "%.*s%s", (int)(path - pause->method), pause->method,
			 base + 1);
	else
		snprintf(text, sizeof(text), "%s", *pause->method ? pause->method : "?");
	printf("%-*.*s  ", METHOD_COLUMNS, METHOD_COLUMNS, text);
}

static void pause_print(const struct recording *rec, const struct pause *pause,
			const struct pause_columns *has)
{
	const struct recording_phase *p = pause->phase;
	char name[48];

	printf("%12.6f %10.3f  %-18s %-12s ", recording_seconds(rec, pause->t0),
	       (double)(pause->t1 - pause->t0) / 1e6,
	       phase_group_name(p->group, name, sizeof(name)), name_cause(p->cause));
	if (has->khz && pause->khz > 0)
		printf("%7.0f ", pause->khz / 1000);
	else if (has->khz)
		printf("%7s ", "?");
	if (has->khz && isfinite(pause_at_top(pause)))
		printf("%11.3f  ", pause_at_top(pause));
	else if (has->khz)
		printf("%11s  ", "?");
	if (has->wait && isfinite(pause_earlier(pause)))
		printf("%10.3f  ", pause_earlier(pause));
	else if (has->wait)
		printf("%10s  ", "?");
	if (has->waited)
		pause_print_wait(pause);
	if (has->generation && pause->generation != UINT32_MAX)
		printf("%3u ", pause->generation);
	else if (has->generation)
		printf("%3s ", "?");
	if (has->heap)
		pause_print_heap(pause);
	if (has->freed && pause->freed != RECORDING_UNKNOWN)
		printf("%9" PRId64 " ", pause->freed);
	else if (has->freed)
		printf("%9s ", "?");
	if (has->method)
		pause_print_method(pause);
	if (*pause->comm)
		printf("%s, ", pause->comm);
	thread_print(p->tid);
	for (size_t i = 0; i < pause->nr_concurrent; i++)
		printf("%s%s", i ? " and " : ", alongside ",
		       phase_group_name(pause->concurrent[i], name, sizeof(name)));
	putchar('\n');
}

static void stops_find_columns(const struct pause *stop, size_t n, struct pause_columns *has)
{
	for (size_t i = 0; i < n; i++) {
		has->khz = has->khz || stop[i].khz > 0;
		has->wait = has->wait || !stop[i].source;
		has->waited = has->waited || pause_wait_is_known(&stop[i]);
		has->heap = has->heap || stop[i].before != RECORDING_UNKNOWN ||
			    stop[i].after != RECORDING_UNKNOWN;
		has->freed = has->freed || stop[i].freed != RECORDING_UNKNOWN;
		has->method = has->method || *stop[i].method;
		has->generation = has->generation || stop[i].generation != UINT32_MAX;
	}
}

static void stops_print(const struct recording *rec, const struct pause *stop, size_t n,
			const struct pause_columns *has)
{
	printf("%12s %10s  %-18s %-12s %s%s%s%s%s%s%-*s%sTHREAD\n", "AT s", "LENGTH ms", "PHASE",
	       "CAUSE", has->khz ? "    MHz AT LEAST ms  " : "", has->wait ? "EARLIER ms  " : "",
	       has->waited ? "CPU WAIT ms  " : "", has->generation ? "GEN " : "",
	       has->heap ? "    BEFORE      AFTER FULL " : "", has->freed ? "    FREED " : "",
	       has->method ? METHOD_COLUMNS : 0, has->method ? "METHOD" : "",
	       has->method ? "  " : "");
	for (size_t i = 0; i < n; i++)
		pause_print(rec, &stop[i], has);
}

/* The columns of both tables that are not obvious. */
static void columns_explain(const struct pause_columns *pauses, const struct pause_columns *waits)
{
	if (pauses->khz || waits->khz)
		puts("AT LEAST: how long it takes at the highest frequency of its CPU, or longer "
		     "if "
		     "it waits for memory.");
	if (waits->wait)
		puts("EARLIER: by how much the collection had to begin earlier, so that the thread "
		     "had not waited.");
	if (pauses->waited)
		puts("CPU WAIT: how long threads of the process had no CPU in the pause, all of "
		     "them "
		     "together.");
	if (pauses->heap)
		puts("BEFORE, AFTER: bytes in use; FULL: the share of the limit in use "
		     "afterwards.");
	if (pauses->freed)
		puts("FREED: objects.");
	if (pauses->method)
		puts("METHOD: what the program ran at the last sample before it.");
	if (pauses->generation)
		puts("GEN: the oldest generation that was collected; 0 is the youngest.");
	if (!pauses->khz && !waits->khz)
		puts("No frequency is shown: none is known of these pauses.");
}

static bool pauses_print(const struct recording *rec, uint64_t lines)
{
	struct pause_columns pauses = {}, waits = {};
	struct pauses_list list;

	if (!pauses_longest(rec, lines < SIZE_MAX ? (size_t)lines : SIZE_MAX, &list))
		return false;
	stops_find_columns(list.pause, list.pauses, &pauses);
	stops_find_columns(list.wait, list.waits, &waits);
	if (list.pauses)
		stops_print(rec, list.pause, list.pauses, &pauses);
	else
		puts("no pause was recorded");
	if (list.waits) {
		puts("\nWAITS of single threads for a collection by others");
		stops_print(rec, list.wait, list.waits, &waits);
		putchar('\n');
	}
	if (list.pauses || list.waits)
		columns_explain(&pauses, &waits);
	if (rec->unsure_stops)
		printf("Left out: %zu stop-the-world phases whose end is not known.\n",
		       rec->unsure_stops);
	pauses_list_free(&list);
	return true;
}

static void json_number(struct json *j, const char *key, int64_t value)
{
	if (value == RECORDING_UNKNOWN)
		json_null(j, key);
	else
		json_int(j, key, value);
}

static void pause_print_json(struct json *j, const struct recording *rec, const struct pause *pause)
{
	const struct recording_phase *p = pause->phase;
	char name[48];

	json_object(j, NULL);
	json_uint(j, "t0", pause->t0);
	json_uint(j, "t1", pause->t1);
	json_real(j, "at", recording_seconds(rec, pause->t0), 9);
	json_text(j, "stop", pause->source ? "pause" : "wait");
	json_int(j, "pid", p->tgid);
	json_int(j, "tid", p->tid);
	json_text(j, "thread", *pause->comm ? pause->comm : NULL);
	json_text(j, "phase", phase_group_name(p->group, name, sizeof(name)));
	json_text(j, "cause", name_cause(p->cause));
	json_fixed(j, "mean_khz", pause->khz > 0 ? pause->khz : NAN, 0);
	json_real(j, "at_least_ms", pause_at_top(pause), 6);
	json_real(j, "earlier_ms", pause_earlier(pause), 6);
	json_fixed(j, "cpu_wait_at_least_ms", pause->waited ? pause->wait_least / 1e6 : NAN, 6);
	json_fixed(j, "cpu_wait_at_most_ms", pause->waited ? pause->wait_most / 1e6 : NAN, 6);
	json_number(j, "generation",
		    pause->generation == UINT32_MAX ? RECORDING_UNKNOWN : pause->generation);
	json_number(j, "before_bytes", pause->before);
	json_number(j, "after_bytes", pause->after);
	json_number(j, "limit_bytes", pause->most);
	json_number(j, "freed_objects", pause->freed);
	json_text(j, "method", *pause->method ? pause->method : NULL);
	json_list(j, "alongside");
	for (size_t i = 0; i < pause->nr_concurrent; i++)
		json_text(j, NULL, phase_group_name(pause->concurrent[i], name, sizeof(name)));
	json_end(j);
	json_end(j);
}

/* The lists of pauses_print(), whole. */
static bool pauses_print_json(const struct recording *rec, uint64_t lines)
{
	struct json j = { .f = stdout };
	struct pauses_list list;

	if (!pauses_longest(rec, lines < SIZE_MAX ? (size_t)lines : SIZE_MAX, &list))
		return false;
	json_object(&j, NULL);
	json_text(&j, "file", rec->path);
	json_uint(&j, "left_out", rec->unsure_stops);
	json_list(&j, "pauses");
	for (size_t i = 0; i < list.pauses; i++)
		pause_print_json(&j, rec, &list.pause[i]);
	json_end(&j);
	json_list(&j, "waits");
	for (size_t i = 0; i < list.waits; i++)
		pause_print_json(&j, rec, &list.wait[i]);
	json_end(&j);
	json_end(&j);
	pauses_list_free(&list);
	return true;
}

/*
 * Explains the frequencies of an instant, @seconds from the start of the recording, or the
 * longest pauses if it is NAN: @lines of them. Returns an exit code.
 */
static int why_recording(const char *path, double seconds, uint64_t lines, bool json)
{
	struct recording *rec = recording_open(path);
	int ret = CTL_OK;

	if (!rec)
		return CTL_FILE;
	if (!isnan(seconds) && (seconds < 0 || seconds > recording_seconds(rec, rec->t1))) {
		ctl_error("why: --at %g is outside of the recording, which lasts %.3f s", seconds,
			  recording_seconds(rec, rec->t1));
		ret = CTL_USAGE;
	} else if (!isnan(seconds)) {
		ret = instant_print(rec, rec->t0 + (uint64_t)(seconds * 1e9)) ? CTL_OK : CTL_FILE;
	} else if (!(json ? pauses_print_json(rec, lines) : pauses_print(rec, lines))) {
		ret = CTL_FILE;
	}
	recording_close(rec);
	return ret;
}

int cmd_why(const struct ctl *ctl, int argc, char **argv)
{
	char path[300];
	static const struct option longs[] = {
		{ "at", required_argument, NULL, 'a' },
		{ "change", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "lines", required_argument, NULL, 'n' },
		{ "output", required_argument, NULL, 'o' },
		{ "try", no_argument, NULL, 't' },
		{ 0 },
	};
	double seconds = NAN;
	struct try try = { .name = "why", .json = ctl->json };
	uint64_t lines = 10;
	bool tries = false;
	struct actuators machine;
	struct why *w;
	int opt, ret;
	char *rest;

	while ((opt = getopt_long(argc, argv, "a:c:hn:o:t", longs, NULL)) >= 0) {
		switch (opt) {
		case 'a':
			seconds = strtod(optarg, &rest);
			if (rest == optarg || *rest || !isfinite(seconds)) {
				ctl_error("why: --at takes the seconds since the start of the "
					  "recording, not %s",
					  optarg);
				return CTL_USAGE;
			}
			break;
		case 'c':
			try.change = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'n':
			if (text_u64(optarg, &lines) || !lines) {
				ctl_error("why: -n takes a number from 1, not %s", optarg);
				return CTL_USAGE;
			}
			break;
		case 'o':
			try.name = optarg;
			break;
		case 't':
			tries = true;
			break;
		default:
			return ctl_usage("why");
		}
	}
	if (tries && (optind == argc || strcmp(argv[optind - 1], "--") != 0)) {
		ctl_error("why: --try takes a program behind \"--\"");
		return CTL_USAGE;
	}
	if (tries)
		return try_change(&try, argv + optind);
	if (try.change) {
		ctl_error("why: --change is for --try");
		return CTL_USAGE;
	}
	if (optind + 1 < argc || (optind == argc && argc > 1)) {
		ctl_error("why: name one recording, or nothing at all for this machine now; see "
			  "gchintctl why --help");
		return CTL_USAGE;
	}
	if (ctl->json && (optind == argc || !isnan(seconds))) {
		ctl_error("why: --json is for the list of pauses of a recording");
		return CTL_USAGE;
	}
	if (optind < argc)
		return why_recording(argv[optind], seconds, lines, ctl->json);
	w = calloc(1, sizeof(*w));
	if (!w)
		return CTL_FAILED;
	root_init(&w->root);
	kernel_policies(&w->kernel);
	snprintf(path, sizeof(path), "%s/class/thermal", w->root.sysfs);
	root_list(path, "cooling_device", why_count_cooler, w);
	snprintf(path, sizeof(path), "%s/" CPUFREQ, w->root.sysfs);
	ret = root_list(path, "policy", why_print_policy, w);
	/* Kernels without a cpufreq driver have the directory all the same. */
	if (!w->policies && (!ret || ret == -ENOENT))
		puts("this machine has no cpufreq policy (a virtual machine?): hints are recorded "
		     "and have no other effect");
	actuators_read(&machine, &w->root);
	placement_print(&machine);
	free(w);
	return CTL_OK;
}
