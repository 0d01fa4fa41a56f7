// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/attribution.h"
#include "../../analysis/cost.h"
#include "../../analysis/cpu-time.h"
#include "../../analysis/energy.h"
#include "../../analysis/pauses.h"
#include "../../analysis/reasons.h"
#include "../../common/amount.h"
#include "../../common/json.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/limits.h"
#include "../../recording/reader/processes.h"
#include "../../recording/reader/recording.h"
#include "../ctl.h"
#include "attributed.h"
#include "collector-cpu.h"
#include "summary.h"

static const char usage[] =
	"usage: gchintctl [--json] summary FILE [--watts [RAIL=]LOW:HIGH]...\n"
	"Prints what stopped the program and why, in one sentence; how long it was paused; what "
	"its\n"
	"collections took in CPU time and energy;\n"
	"then tables: phases (count, total, share of the time, mean, p50, p95, longest, mean\n"
	"frequency), energy by phase, process and rail with its bounds, by core if each core has\n"
	"its own rail, time at each frequency, decisions by reason, dropped events, and the cost\n"
	"of the recording itself. A pause is a time in which all mutators of a process are "
	"stopped.\n"
	"\n"
	"  -w, --watts [RAIL=]LOW:HIGH  lowest and highest power of the rail (or of any), from\n"
	"                               its data sheet: narrower bounds\n"
	"\n"
	"Energy is given twice. \"While open\" is that of the whole rail while a phase was open, "
	"also\n"
	"of what else ran then: \"share by time (lower to upper bound)\"; '?' means that it is "
	"not\n"
	"known, because the phases are shorter than the interval between two readings.\n"
	"\"Attributed\" is that of the threads in phases, by their CPU time, with bounds of its "
	"own.\n";

#define MS(ns) ((double)(ns) / 1e6)

#define HALF_PAUSES 10

static void answer_print_paused(const struct recording *rec, int32_t tgid, const char *name)
{
	const struct pauses_sum sum = pauses_sum(rec, tgid);
	char paused[AMOUNT_TEXT], all[AMOUNT_TEXT], share[AMOUNT_TEXT], longest[AMOUNT_TEXT];
	char p99[AMOUNT_TEXT], half[AMOUNT_TEXT];

	printf("%spaused %s of %s (%s), %zu pause%s, longest %s, p99 %s", name,
	       amount_length((double)sum.paused, paused),
	       amount_length((double)recording_duration(rec), all),
	       amount_share((double)sum.paused / (double)recording_duration(rec), share), sum.count,
	       sum.count == 1 ? "" : "s", amount_length((double)sum.longest, longest),
	       amount_length((double)sum.p99, p99));
	/* Of few pauses the longest says it. */
	if (sum.count >= HALF_PAUSES)
		printf(", half of the time in %zu of %s or more", sum.halves,
		       amount_length((double)sum.half, half));
	putchar('\n');
}

#define ANSWER_PROCESSES 4 /* the others are only counted */

/* Each process has a line, in the order of their first phase. */
static void answer_print_processes(const struct recording *rec, const struct processes *p,
				   size_t processes)
{
	size_t lines = 0;

	for (unsigned int g = 1; g <= p->nr; g++) {
		char name[48], prefix[64];

		if (lines == ANSWER_PROCESSES)
			break;
		if (!pauses_sum(rec, p->tgid[g]).count)
			continue;
		lines++;
		snprintf(prefix, sizeof(prefix), "%s: ", processes_name(p, g, name, sizeof(name)));
		answer_print_paused(rec, p->tgid[g], prefix);
	}
	if (processes > lines)
		printf("and %zu more process%s: gchintctl --json summary has them all\n",
		       processes - lines, processes - lines > 1 ? "es" : "");
}

/* What is printed where there is no pause: single threads that collect or wait themselves. */
static void answer_print_unpaused(const struct recording *rec)
{
	char length[AMOUNT_TEXT];
	uint64_t ns = 0;

	if (!rec->phases) {
		puts("no collection was recorded: gchintctl runtimes lists the programs that "
		     "report theirs");
		return;
	}
	for (size_t i = 0; i < rec->phases; i++)
		if (rec->phase[i].group % CLASS_NR == CLASS_FOREGROUND && !rec->phase[i].unsure)
			ns += rec->phase[i].t1 - rec->phase[i].t0;
	fputs("no pause: no phase stopped all mutators", stdout);
	if (ns)
		printf("; single threads collected or waited themselves for %s",
		       amount_length((double)ns, length));
	putchar('\n');
}

static void answer_print_cpu(const struct recording *rec)
{
	struct collector_cpu c;

	if (!collector_cpu_of(rec, &c))
		return;
	if (!c.known) {
		puts("collection's CPU time: unknown (no two readings of a thread's account in "
		     "sched around a phase: shorten [sched] period_ms)");
		return;
	}
	printf("collection used %s%s of CPU", c.at_most ? "at most " : "", c.amount);
	if (*c.share)
		printf(" (%s of one CPU)", c.share);
	if (*c.waited)
		printf(" and waited at least %s for a CPU", c.waited);
	if (c.wait_unknown)
		fputs("; whether it waited for a CPU is not known (record with [sched] period_ms = "
		      "5)",
		      stdout);
	putchar('\n');
}

/* Why no rail has a known energy. */
static void answer_print_no_energy(const struct recording *rec)
{
	sqlite3_stmt *s;

	for (size_t i = 0; i < rec->rails; i++) {
		const struct recording_rail *r = &rec->rail[i];
		const bool measures = r->kind == RAIL_POWER || r->kind == RAIL_ENERGY;
		const char *why = "it has no two known readings in succession";
		struct energy e;

		if (!measures || r->role >= RAIL_ROLE_MEMORY)
			continue;
		if (!energy_of(rec, i, NULL, &e) && energy_lack_text(&e))
			why = energy_lack_text(&e);
		printf("energy: unknown (%s: %s)\n", *r->label ? r->label : r->name, why);
		return;
	}
	fputs("energy: unknown (no power rail is readable", stdout);
	s = db_query(rec->db,
		     "SELECT name, CASE state WHEN 'off' THEN what ELSE remedy END FROM sources "
		     "WHERE state != 'running' AND name IN ('hwmon', 'iio', 'power', 'powercap') "
		     "AND (remedy != '' OR state = 'off') ORDER BY name");
	while (db_next(s))
		printf("; %s: %s", db_text(s, 0, "?"), db_text(s, 1, "?"));
	sqlite3_finalize(s);
	puts(")");
}

static void answer_print_energy(const struct recording *rec)
{
	size_t rail[ENERGY_HEADLINE], nr, known = 0;
	char source[64], length[AMOUNT_TEXT], all[AMOUNT_TEXT];
	struct energy e;

	for (size_t i = 0; i < rec->rails; i++)
		known += !*rec->rail[i].cpus && energy_of(rec, i, NULL, &e);
	nr = energy_headline(rec, rail, ENERGY_HEADLINE);
	if (nr) {
		struct energy_part in;

		energy_of_rails(rec, rail, nr, NULL, &e);
		in = energy_inside(&e);
		printf("energy: %s J of ", amount_digits(e.total, 3, AMOUNT_BUFFER));
		for (size_t i = 0; i < nr; i++) {
			const struct recording_rail *r = &rec->rail[rail[i]];

			printf("%s%s", i ? i + 1 < nr ? ", " : " and " : "",
			       *r->label ? r->label : r->name);
		}
		printf(" (%s)", recording_rail_how(&rec->rail[rail[0]]));
		if (in.ns && energy_resolved(&in))
			printf(", %s J of it in phases",
			       amount_digits(in.joules, 3, AMOUNT_BUFFER));
		else if (in.ns && isfinite(in.high))
			printf(", %s to %s J of it in phases",
			       amount_digits(in.low, 3, AMOUNT_BUFFER),
			       amount_digits(in.high, 3, AMOUNT_BUFFER));
		else if (in.ns)
			fputs(", that in phases is not known: they are too short", stdout);
		if (e.gaps_ns * 100 > e.gaps_ns + e.known_ns)
			printf("; not known for %s of %s", amount_length((double)e.gaps_ns, length),
			       amount_length((double)(e.gaps_ns + e.known_ns), all));
		if (known > nr)
			printf("; %zu more rail%s below", known - nr, known - nr > 1 ? "s" : "");
		putchar('\n');
	} else if (energy_of_cores(rec, NULL, &e)) {
		printf("energy: %s J of all cores\n", amount_digits(e.total, 3, AMOUNT_BUFFER));
	} else if (energy_modelled(rec, &e, source, sizeof(source)) && e.total > 0) {
		printf("energy: %s J in phases (modelled from %s)",
		       amount_digits(e.total, 3, AMOUNT_BUFFER), source);
		if (e.no_khz_ns)
			printf(", without %s of them at an unknown frequency",
			       amount_length((double)e.no_khz_ns, length));
		putchar('\n');
	} else {
		answer_print_no_energy(rec);
		if (*source && e.no_khz_ns)
			puts("energy is not modelled either: no frequency of a phase's CPU was "
			     "recorded");
	}
}

void summary_print_answer(const struct recording *rec)
{
	const size_t processes = pauses_sum(rec, PAUSES_ALL).processes;
	struct reasons reasons;
	struct processes p;

	if (!reasons_of(rec, &reasons) || !processes_of(rec, &p))
		return;
	if (*reasons.sentence)
		puts(reasons.sentence);
	for (size_t i = 0; i < reasons.nr; i++)
		if (reasons.found[i].remedy)
			printf("remedy: %s.\n", reasons.found[i].remedy);
	if (reasons.advised)
		printf("advice: %s.\n", reasons.advice.text);
	if (!rec->pauses)
		answer_print_unpaused(rec);
	else if (processes > 1)
		answer_print_processes(rec, &p, processes);
	else
		answer_print_paused(rec, PAUSES_ALL, "");
	processes_free(&p);
	if (rec->unsure_stops)
		printf("%zu stop-the-world phase%s of unknown end %s in none of these: events were "
		       "lost meanwhile, or the recording ended first\n",
		       rec->unsure_stops, rec->unsure_stops == 1 ? "" : "s",
		       rec->unsure_stops == 1 ? "is" : "are");
	answer_print_cpu(rec);
	answer_print_energy(rec);
}

static void summary_print_head(const struct recording *rec)
{
	char model[128], kernel[64], host[64];
	sqlite3_stmt *s;

	printf("%s: %s, %.3f s", rec->path, *rec->label ? rec->label : "no label",
	       (double)recording_duration(rec) / 1e9);
	if (rec->c1)
		printf(" (recorded: %.3f s)", (double)(rec->t1 - rec->t0) / 1e9);
	putchar('\n');
	db_meta(rec->db, "board.model", model, sizeof(model));
	db_meta(rec->db, "board.host", host, sizeof(host));
	db_meta(rec->db, "board.kernel", kernel, sizeof(kernel));
	printf("board  %s%s%s, Linux %s\n", *model ? model : "", *model ? ", " : "",
	       *host ? host : "host not known", *kernel ? kernel : "not known");
	s = db_query(rec->db,
		     "SELECT p.policy, p.cpus, p.driver, group_concat(DISTINCT s.governor), "
		     "(SELECT group_concat(DISTINCT actuator) FROM actuators a WHERE "
		     "a.policy = p.policy) "
		     "FROM policies p LEFT JOIN policy_states s USING(policy) "
		     "GROUP BY p.policy");
	while (db_next(s))
		printf("policy%lld  CPUs %s, driver %s, governor %s%s%s\n",
		       (long long)db_int(s, 0, 0), db_text(s, 1, "not known"),
		       db_text(s, 2, "not known"), db_text(s, 3, "not known"),
		       db_text(s, 4, NULL) ? ", actuator " : "", db_text(s, 4, ""));
	sqlite3_finalize(s);
}

/* Returns whether it took longer than the recording, as phases of several threads can. */
static bool phases_print_row(const struct recording *rec, const char *name,
			     const struct recording_lengths *l)
{
	char mhz[24] = "?";

	if (!l->count) {
		printf("%-22s %7s %10s %7s %9s %9s %9s %9s %8s\n", name, "?", "?", "?", "?", "?",
		       "?", "?", "?");
		return false;
	}
	if (l->khz > 0)
		snprintf(mhz, sizeof(mhz), "%.0f", l->khz / 1000);
	printf("%-22s %7zu %10.3f %6.1f%% %9.3f %9.3f %9.3f %9.3f %8s\n", name, l->count,
	       MS(l->total), 100 * (double)l->total / (double)recording_duration(rec), MS(l->mean),
	       MS(l->p50), MS(l->p95), MS(l->max), mhz);
	return l->total > recording_duration(rec);
}

/* Pauses are no sum of the rows above: phases of several threads are one pause. */
static bool phases_print_pauses(const struct recording *rec)
{
	const struct pauses_sum sum = pauses_sum(rec, PAUSES_ALL);
	const struct recording_lengths l = { .count = sum.count,
					     .total = sum.paused,
					     .mean = sum.paused / sum.count,
					     .p50 = sum.p50,
					     .p95 = sum.p95,
					     .max = sum.longest };
	char name[48] = "pauses";

	if (sum.processes > 1)
		snprintf(name, sizeof(name), "pauses, %zu processes", sum.processes);
	return phases_print_row(rec, name, &l);
}

static void summary_print_phases(const struct recording *rec)
{
	bool longer = false;
	char name[48];

	printf("\n%-22s %7s %10s %7s %9s %9s %9s %9s %8s\n", "PHASE", "COUNT", "TOTAL ms", "SHARE",
	       "MEAN ms", "P50 ms", "P95 ms", "MAX ms", "MEAN MHz");
	if (!rec->phases)
		puts("none");
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		struct recording_lengths l;

		recording_lengths(rec, g, &l);
		if (l.count || l.unsure)
			longer |=
				phases_print_row(rec, phase_group_name(g, name, sizeof(name)), &l);
	}
	if (rec->pauses)
		longer |= phases_print_pauses(rec);
	if (longer)
		puts("SHARE is of the recording's length; phases at the same time, of several "
		     "threads or "
		     "processes, add up to more than 100 %");
	if (rec->open || rec->uncertain)
		printf("left out of this table, because their end is not known: %zu phases that "
		       "were still running at the end, %zu during which events were lost\n",
		       rec->open, rec->uncertain);
}

static void energy_part_print(const struct energy_part *p, const char *name)
{
	char joules[32] = "?";

	if (!p->ns && p->unknown_ns) {
		printf("  %-22s %12s  (rail not known for %.3f ms)\n", name, "?",
		       MS(p->unknown_ns));
		return;
	}
	if (!p->ns)
		return;
	if (energy_resolved(p))
		snprintf(joules, sizeof(joules), "%.6f", p->joules);
	printf("  %-22s %12s J  ", name, joules);
	if (isfinite(p->high))
		printf("(%.6f to %.6f)", p->low, p->high);
	else
		printf("(%.0f %% of its time in whole intervals)",
		       100 * (double)p->whole_ns / (double)p->ns);
	if (p->unknown_ns)
		printf(" and ? for %.3f ms", MS(p->unknown_ns));
	putchar('\n');
}

static void energy_part_print_modelled(const struct energy_part *p, const char *name)
{
	if (!p->ns && !p->unknown_ns)
		return;
	if (p->ns)
		printf("  %-22s %12.6f J (modelled)", name, p->joules);
	else
		printf("  %-22s %12s", name, "?");
	if (p->unknown_ns)
		printf("  (%.3f ms at OPPs whose power is not known)", MS(p->unknown_ns));
	putchar('\n');
}

static void energy_print_by_process(const struct processes *p, const struct energy *e)
{
	char name[48];

	puts("  while phases of a process were open:");
	for (unsigned int g = 1; g <= p->nr; g++)
		energy_part_print(&e->part[g], processes_name(p, g, name, sizeof(name)));
}

/* The limits of an energy counter: its update interval and its range. */
static void rail_print_counter(const struct recording_rail *r, const struct energy *e)
{
	if (r->limits.update_ns && r->kind == RAIL_POWER) {
		printf("  each reading is the mean of %.0f ms, which its bounds allow for\n",
		       MS(r->limits.update_ns));
		return;
	}
	if (r->limits.update_ns || r->limits.wraps > 0)
		fputs("  its counter", stdout);
	if (r->limits.update_ns)
		printf(" updates about every %.1f ms, which its bounds allow for%s",
		       MS(r->limits.update_ns), r->limits.wraps > 0 ? ", and" : "");
	if (r->limits.wraps > 0)
		printf(" wraps after %.0f J", r->limits.wraps);
	if (r->limits.wraps > 0 && e->mean_w > 0)
		printf(" (%.0f s at this mean)", r->limits.wraps / e->mean_w);
	if (r->limits.update_ns || r->limits.wraps > 0)
		putchar('\n');
	if (e->wrapped)
		printf("  %zu intervals are so long that it may have done so twice: not known\n",
		       e->wrapped);
}

/* What is not known of a rail whose energy is, and why. */
static void rail_print_gaps(const struct recording_series *s, const struct energy *e)
{
	if (e->gaps_ns)
		printf("  not known for %.3f ms of it, which is in none of these figures\n",
		       MS(e->gaps_ns));
	if (e->stopped)
		printf("  its counter stopped for %zu readings: they are taken as unknown\n",
		       e->stopped);
	if (s && s->negative)
		printf("  %zu readings are negative (a battery, or a shunt that is reversed): "
		       "unknown\n",
		       s->negative);
}

static void rail_print_core(const struct recording_rail *r, const struct energy *e)
{
	const struct energy_part in = energy_inside(e);
	char name[80];

	snprintf(name, sizeof(name), "CPU %s", r->cpus);
	printf("  %-22s %12.6f J, mean %.6f W; in phases %.6f J", name, e->total, e->mean_w,
	       in.joules);
	if (isfinite(in.high))
		printf(" (%.6f to %.6f)", in.low, in.high);
	if (e->unknown)
		fputs(", with gaps", stdout);
	putchar('\n');
}

/* "intel-rapl:0 (package-0)", "amdgpu:power1 (PPT), a GPU" */
static void rail_print_name(const struct recording_rail *r)
{
	const char *role = rail_role_text(r->role);

	printf("%s%s%s%s%s%s", r->name, *r->label ? " (" : "", r->label, *r->label ? ")" : "",
	       role ? ", " : "", role ? role : "");
}

static void rail_print_unknown(const struct recording_rail *r, const struct energy *e)
{
	fputs("\nENERGY  ", stdout);
	rail_print_name(r);
	printf(": ?  (%s, in %zu readings)\n", energy_lack_text(e), e->samples);
}

static size_t recording_count_unplaced(const struct recording *rec)
{
	size_t n = 0;

	for (size_t i = 0; i < rec->phases; i++)
		n += rec->phase[i].cpu < 0;
	return n;
}

/* One line for each rail of a single core, then the phases on all cores together. */
static void summary_print_cores(const struct recording *rec, const struct processes *p)
{
	const struct recording_rail *first = NULL;
	char name[48];
	struct energy e;
	size_t nr = energy_of_cores(rec, NULL, &e);

	for (size_t i = rec->rails; i--;)
		if (*rec->rail[i].cpus)
			first = &rec->rail[i];
	if (!nr || !first)
		return;
	printf("\nENERGY BY CORE  %zu rails: %.6f J, mean %.6f W (%s by %s, every %.1f ms)\n", nr,
	       e.total, e.mean_w, recording_rail_how(first), first->source, MS(e.interval_ns));
	rail_print_counter(first, &e);
	for (size_t i = 0; i < rec->rails; i++) {
		struct energy one;

		if (!*rec->rail[i].cpus)
			continue;
		if (energy_of(rec, i, NULL, &one))
			rail_print_core(&rec->rail[i], &one);
		else if (energy_lack_text(&one))
			rail_print_unknown(&rec->rail[i], &one);
	}
	puts("  all cores, each while phases that began on it were open:");
	for (unsigned int g = 0; g < PHASE_GROUPS; g++)
		energy_part_print(&e.part[g], phase_group_name(g, name, sizeof(name)));
	if (recording_count_unplaced(rec))
		printf("  %zu phases began on a CPU that is not known: they count as outside\n",
		       recording_count_unplaced(rec));
	if (p->nr > 1 && energy_of_cores(rec, p->group, &e))
		energy_print_by_process(p, &e);
	attributed_print(rec, ATTRIBUTED_CORES, p);
}

static void summary_print_energy(const struct recording *rec)
{
	char name[48], source[64];
	struct processes p;
	struct energy e;

	if (!processes_of(rec, &p))
		return;
	for (size_t i = 0; i < rec->rails; i++) {
		const struct recording_rail *r = &rec->rail[i];

		if (*r->cpus)
			continue;
		if (!energy_of(rec, i, NULL, &e)) {
			if (energy_lack_text(&e))
				rail_print_unknown(r, &e);
			continue;
		}
		fputs("\nENERGY  ", stdout);
		rail_print_name(r);
		printf(": %.6f J, mean %.6f W (%s by %s%s%s, every %.1f ms%s)\n", e.total, e.mean_w,
		       recording_rail_how(r), r->source, *r->derived ? ", " : "", r->derived,
		       MS(e.interval_ns), e.unknown ? ", with gaps" : "");
		rail_print_gaps(recording_samples(rec, i), &e);
		if (e.beyond)
			printf("  %zu intervals are outside of the limits of --watts, which do not "
			       "bound them\n",
			       e.beyond);
		rail_print_counter(r, &e);
		puts("  while phases were open, with all that ran then:");
		for (unsigned int g = 0; g < PHASE_GROUPS; g++)
			energy_part_print(&e.part[g], phase_group_name(g, name, sizeof(name)));
		if (p.nr > 1 && energy_of(rec, i, p.group, &e))
			energy_print_by_process(&p, &e);
		attributed_print(rec, i, &p);
	}
	summary_print_cores(rec, &p);
	processes_free(&p);
	if (energy_modelled(rec, &e, source, sizeof(source))) {
		printf("\nENERGY  modelled from OPP table %s, a phase taken to keep its CPU busy\n",
		       source);
		for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++)
			energy_part_print_modelled(&e.part[g],
						   phase_group_name(g, name, sizeof(name)));
		if (e.no_khz_ns)
			printf("  not counted: %.3f ms of phases at an unknown frequency\n",
			       MS(e.no_khz_ns));
	}
}

/* Uses the samples in memory: a query would first sort all rows by rail. */
static void summary_print_readings(const struct recording *rec)
{
	if (rec->rails)
		printf("\n%-34s %-8s %14s %14s %14s %9s %8s\n", "RAIL", "UNIT", "LOWEST", "MEAN",
		       "HIGHEST", "SAMPLES", "UNKNOWN");
	for (size_t i = 0; i < rec->rails; i++) {
		const struct recording_series *s = recording_samples(rec, i);
		int64_t low = INT64_MAX, high = INT64_MIN;
		double sum = 0;
		size_t n = 0;

		if (!s)
			return;
		for (size_t k = 0; k < s->nr; k++) {
			int64_t v = s->sample[k].value;

			if (v == RECORDING_UNKNOWN)
				continue;
			low = v < low ? v : low;
			high = v > high ? v : high;
			sum += (double)v;
			n++;
		}
		printf("%-34s %-8s ", rec->rail[i].name, rail_kind_unit(rec->rail[i].kind));
		if (n)
			printf("%14lld %14.0f %14lld", (long long)low, sum / (double)n,
			       (long long)high);
		else
			printf("%14s %14s %14s", "?", "?", "?");
		printf(" %9zu %8zu\n", n + s->still, s->nr - n);
	}
}

static void summary_print_residency(const struct recording *rec)
{
	uint64_t all = 0;

	for (size_t k = 0; k < rec->khzs; k++)
		for (unsigned int g = 0; g < PHASE_GROUPS; g++)
			all += rec->residency[k][g];
	if (!all)
		return;
	printf("\n%-14s %12s %10s %10s\n", "FREQUENCY", "TIME ms", "SHARE", "IN PHASES");
	for (size_t k = 0; k < rec->khzs; k++) {
		uint64_t ns = 0;

		for (unsigned int g = 0; g < PHASE_GROUPS; g++)
			ns += rec->residency[k][g];
		printf("%10.1f MHz %12.1f %9.1f%% %9.1f%%\n", rec->khz[k] / 1000.0, MS(ns),
		       100.0 * (double)ns / (double)all,
		       ns ? 100.0 * (double)(ns - rec->residency[k][0]) / (double)ns : 0);
	}
}

static void summary_print_query(const struct recording *rec, const char *title, const char *sql)
{
	sqlite3_stmt *s = db_query(rec->db, sql);
	bool first = true;

	while (db_next(s)) {
		if (first)
			printf("\n%s\n", title);
		first = false;
		printf("  %-28s %12lld%s%s\n", db_text(s, 0, "?"), (long long)db_int(s, 1, 0),
		       sqlite3_column_count(s) > 2 ? "  " : "",
		       sqlite3_column_count(s) > 2 ? db_text(s, 2, "") : "");
	}
	sqlite3_finalize(s);
}

static void summary_print_cost(const struct recording *rec)
{
	char words[128];

	if (cost_format(rec->db, words, sizeof(words)))
		printf("\nCOST  gchintd took %s\n", words);
}

static void summary_print(const struct recording *rec)
{
	summary_print_answer(rec);
	putchar('\n');
	summary_print_head(rec);
	summary_print_phases(rec);
	summary_print_energy(rec);
	summary_print_readings(rec);
	summary_print_residency(rec);
	summary_print_query(
		rec, "DECISIONS by reason",
		"SELECT n.name, count(*) FROM decisions d LEFT JOIN names n ON n.kind = 'reason' "
		"AND n.number = d.reason GROUP BY d.reason ORDER BY 2 DESC");
	summary_print_query(
		rec, "TRANSITIONS by CPU",
		"SELECT 'cpu' || cpu, count(*) FROM transitions WHERE how != 'start' GROUP BY cpu");
	summary_print_query(
		rec, "MEMORY of hinted processes, highest resident, KiB",
		"SELECT coalesce((SELECT comm FROM processes p WHERE p.tgid = s.tgid AND p.tid = "
		"s.tgid "
		"ORDER BY t DESC LIMIT 1), '?') || ' (' || tgid || ')', max(rss_kib) FROM sched s "
		"WHERE rss_kib IS NOT NULL GROUP BY tgid ORDER BY 2 DESC LIMIT 8");
	summary_print_query(
		rec, "DROPPED",
		"SELECT source, sum(count), why FROM drops GROUP BY source, why ORDER BY 2 DESC");
	summary_print_cost(rec);
}

int cmd_summary(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "watts", required_argument, NULL, 'w' },
		{ 0 },
	};
	struct recording *rec;
	int opt;

	while ((opt = getopt_long(argc, argv, "hw:", longs, NULL)) >= 0) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return CTL_OK;
		}
		if (opt != 'w')
			return ctl_usage("summary");
		if (!recording_limits_valid(optarg)) {
			ctl_error("summary: --watts takes [RAIL=]LOW:HIGH, such as 0.4:15, not %s",
				  optarg);
			return CTL_USAGE;
		}
	}
	if (optind + 1 != argc) {
		ctl_error("summary: name one recording; see gchintctl summary --help");
		return CTL_USAGE;
	}
	rec = recording_open(argv[optind]);
	if (!rec)
		return CTL_FILE;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "w:", longs, NULL)) >= 0)
		if (!recording_limit(rec, optarg))
			ctl_error("summary: --watts %s: there is no such rail", optarg);
	if (ctl->json)
		summary_print_json(rec);
	else
		summary_print(rec);
	recording_close(rec);
	return CTL_OK;
}
