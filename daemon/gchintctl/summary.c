// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/escape.h"
#include "ctl.h"
#include "db.h"
#include "energy.h"
#include "run.h"

static const char usage[] =
	"usage: gchintctl [--json] summary FILE\n"
	"Prints a recording as tables: phases (count, total, mean, p50, p95, longest, mean\n"
	"frequency), energy by phase and rail with its uncertainty, time at each frequency,\n"
	"decisions by reason, what was dropped, what the recording itself cost.\n"
	"\n"
	"Energy is \"best estimate +- how far off it can be at most\". A phase much\n"
	"shorter than the rail's sampling period is marked '~': not resolved.\n";

#define MS(ns) ((double)(ns) / 1e6)

static void head(const struct run *run)
{
	char model[128], kernel[64], host[64];
	sqlite3_stmt *s;

	printf("%s: %s, %.3f s\n", run->path, *run->label ? run->label : "no label",
	       (double)(run->t1 - run->t0) / 1e9);
	db_meta(run->db, "board.model", model, sizeof(model));
	db_meta(run->db, "board.host", host, sizeof(host));
	db_meta(run->db, "board.kernel", kernel, sizeof(kernel));
	printf("board  %s%s%s, Linux %s\n", *model ? model : "", *model ? ", " : "",
	       *host ? host : "host not known", *kernel ? kernel : "not known");
	s = db_query(run->db,
		     "SELECT p.policy, p.cpus, p.driver, group_concat(DISTINCT s.governor) "
		     "FROM policies p LEFT JOIN policy_states s USING(policy) "
		     "GROUP BY p.policy");
	while (db_next(s))
		printf("policy%lld  CPUs %s, driver %s, governor %s\n", (long long)db_int(s, 0, 0),
		       db_text(s, 1, "not known"), db_text(s, 2, "not known"),
		       db_text(s, 3, "not known"));
	sqlite3_finalize(s);
}

static void phases(const struct run *run)
{
	printf("\n%-22s %7s %10s %9s %9s %9s %9s %8s\n", "PHASE", "COUNT", "TOTAL ms", "MEAN ms",
	       "P50 ms", "P95 ms", "MAX ms", "MEAN MHz");
	if (!run->phases)
		puts("none seen");
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		struct run_lengths l;
		char name[48], mhz[24] = "?";

		run_lengths(run, g, &l);
		if (!l.count)
			continue;
		if (l.khz > 0)
			snprintf(mhz, sizeof(mhz), "%.0f", l.khz / 1000);
		printf("%-22s %7zu %10.3f %9.3f %9.3f %9.3f %9.3f %8s\n",
		       run_group_name(g, name, sizeof(name)), l.count, MS(l.total), MS(l.mean),
		       MS(l.p50), MS(l.p95), MS(l.max), mhz);
	}
	if (run->open)
		printf("%zu phases were still running at the end\n", run->open);
	if (run->uncertain)
		printf("%zu phases have an uncertain end: events were lost meanwhile\n",
		       run->uncertain);
}

static void part(const struct energy_part *p, const char *name)
{
	if (!p->ns && p->unknown_ns)
		printf("  %-22s %12s  (rail not known for %.3f ms)\n", name, "?",
		       MS(p->unknown_ns));
	else if (p->ns)
		printf("  %-22s %12.6f +- %-10.6f J%s\n", name, p->joules, p->error,
		       p->error > p->joules / 2 ? "  ~" : "");
}

static void modelled(const struct energy_part *p, const char *name)
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

static void energies(const struct run *run)
{
	char name[48], source[64];
	struct energy e;

	for (size_t i = 0; i < run->rails; i++) {
		const struct run_rail *r = &run->rail[i];

		if (!energy_of(run, r, &e))
			continue;
		printf("\nENERGY  %s%s%s%s: %.6f J, mean %.6f W (%s by %s%s%s, every %.1f "
		       "ms%s)\n",
		       r->name, *r->label ? " (" : "", r->label, *r->label ? ")" : "", e.total,
		       e.mean_w, run_rail_how(r), r->source, *r->derived ? ", " : "", r->derived,
		       MS(e.interval_ns), e.unknown ? ", with gaps" : "");
		for (unsigned int g = 0; g < RUN_GROUPS; g++)
			part(&e.part[g], run_group_name(g, name, sizeof(name)));
	}
	if (energy_modelled(run, &e, source, sizeof(source))) {
		printf("\nENERGY  modelled from OPP table %s, a phase taken to keep its CPU busy\n",
		       source);
		for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++)
			modelled(&e.part[g], run_group_name(g, name, sizeof(name)));
	}
}

static void volts(const struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT r.name, r.label, r.kind, r.unit, min(s.value), "
					    "avg(s.value), max(s.value), count(s.value), "
					    "count(*) - count(s.value) FROM rails r "
					    "LEFT JOIN samples s ON s.rail = r.id "
					    "GROUP BY r.id ORDER BY r.id");
	bool first = true;

	while (db_next(s)) {
		if (first)
			printf("\n%-34s %-8s %14s %14s %14s %9s %8s\n", "RAIL", "UNIT", "LOWEST",
			       "MEAN", "HIGHEST", "SAMPLES", "UNKNOWN");
		first = false;
		printf("%-34s %-8s ", db_text(s, 0, "?"), db_text(s, 3, "?"));
		if (sqlite3_column_type(s, 4) == SQLITE_NULL)
			printf("%14s %14s %14s", "?", "?", "?");
		else
			printf("%14lld %14.0f %14lld", (long long)db_int(s, 4, 0),
			       sqlite3_column_double(s, 5), (long long)db_int(s, 6, 0));
		printf(" %9lld %8lld\n", (long long)db_int(s, 7, 0), (long long)db_int(s, 8, 0));
	}
	sqlite3_finalize(s);
}

static void residency(const struct run *run)
{
	uint64_t all = 0;

	for (size_t k = 0; k < run->khzs; k++)
		for (unsigned int g = 0; g < RUN_GROUPS; g++)
			all += run->residency[k][g];
	if (!all)
		return;
	printf("\n%-14s %12s %10s %10s\n", "FREQUENCY", "TIME ms", "SHARE", "IN PHASES");
	for (size_t k = 0; k < run->khzs; k++) {
		uint64_t ns = 0;

		for (unsigned int g = 0; g < RUN_GROUPS; g++)
			ns += run->residency[k][g];
		printf("%10.1f MHz %12.1f %9.1f%% %9.1f%%\n", run->khz[k] / 1000.0, MS(ns),
		       100.0 * (double)ns / (double)all,
		       ns ? 100.0 * (double)(ns - run->residency[k][0]) / (double)ns : 0);
	}
}

static void list(const struct run *run, const char *title, const char *sql)
{
	sqlite3_stmt *s = db_query(run->db, sql);
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

static void cost(const struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT max(cpu_ns) - min(cpu_ns), max(t) - min(t), "
					    "max(wakeups) - min(wakeups), max(rss_kib) FROM costs");

	if (db_next(s) && db_int(s, 1, 0) > 0) {
		double seconds = (double)db_int(s, 1, 0) / 1e9;

		printf("\nCOST  gchintd took %.2f %% of one CPU, %.1f wake-ups a second, %s KiB\n",
		       100.0 * (double)db_int(s, 0, 0) / (double)db_int(s, 1, 0),
		       (double)db_int(s, 2, 0) / seconds, db_text(s, 3, "?"));
	}
	sqlite3_finalize(s);
}

static void text(const struct run *run)
{
	head(run);
	phases(run);
	energies(run);
	volts(run);
	residency(run);
	list(run, "DECISIONS by reason",
	     "SELECT n.name, count(*) FROM decisions d LEFT JOIN names n ON n.kind = 'reason' "
	     "AND n.number = d.reason GROUP BY d.reason ORDER BY 2 DESC");
	list(run, "TRANSITIONS by CPU",
	     "SELECT 'cpu' || cpu, count(*) FROM transitions WHERE how != 'start' GROUP BY cpu");
	list(run, "DROPPED",
	     "SELECT source, sum(count), why FROM drops GROUP BY source, why ORDER BY 2 DESC");
	cost(run);
}

static void json_energy(const struct energy *e, bool *first)
{
	char name[48];

	for (unsigned int g = 0; g < RUN_GROUPS; g++) {
		const struct energy_part *p = &e->part[g];

		if (!p->ns)
			continue;
		printf("%s{\"phase\":\"%s\",\"joules\":%.9g,\"error_joules\":%.9g,\"ns\":%llu}",
		       *first ? "" : ",", run_group_name(g, name, sizeof(name)), p->joules,
		       p->error, (unsigned long long)p->ns);
		*first = false;
	}
}

static void json(const struct run *run)
{
	char name[48], source[64];
	struct energy e;
	bool first = true, inner;

	fputs("{\"file\":\"", stdout);
	escape_json(stdout, run->path);
	fputs("\",\"label\":\"", stdout);
	escape_json(stdout, run->label);
	printf("\",\"start_ns\":%llu,\"end_ns\":%llu,\"phases\":[", (unsigned long long)run->t0,
	       (unsigned long long)run->t1);
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		struct run_lengths l;

		run_lengths(run, g, &l);
		if (!l.count)
			continue;
		printf("%s{\"phase\":\"%s\",\"count\":%zu,\"total_ns\":%llu,\"mean_ns\":%llu,"
		       "\"p50_ns\":%llu,\"p95_ns\":%llu,\"max_ns\":%llu,\"mean_khz\":",
		       first ? "" : ",", run_group_name(g, name, sizeof(name)), l.count,
		       (unsigned long long)l.total, (unsigned long long)l.mean,
		       (unsigned long long)l.p50, (unsigned long long)l.p95,
		       (unsigned long long)l.max);
		if (l.khz > 0)
			printf("%.0f}", l.khz);
		else
			fputs("null}", stdout);
		first = false;
	}
	fputs("],\"energy\":[", stdout);
	first = true;
	for (size_t i = 0; i < run->rails; i++) {
		if (!energy_of(run, &run->rail[i], &e))
			continue;
		printf("%s{\"rail\":\"", first ? "" : ",");
		escape_json(stdout, run->rail[i].name);
		fputs("\",\"label\":\"", stdout);
		escape_json(stdout, run->rail[i].label);
		printf("\",\"how\":\"%s\",\"source\":\"", run_rail_how(&run->rail[i]));
		escape_json(stdout, run->rail[i].source);
		printf("\",\"joules\":%.9g,\"interval_ns\":%llu,\"unknown_samples\":%zu,"
		       "\"by_phase\":[",
		       e.total, (unsigned long long)e.interval_ns, e.unknown);
		inner = true;
		json_energy(&e, &inner);
		fputs("]}", stdout);
		first = false;
	}
	if (energy_modelled(run, &e, source, sizeof(source))) {
		printf("%s{\"rail\":null,\"how\":\"modelled\",\"source\":\"", first ? "" : ",");
		escape_json(stdout, source);
		printf("\",\"joules\":%.9g,\"by_phase\":[", e.total);
		inner = true;
		json_energy(&e, &inner);
		fputs("]}", stdout);
	}
	fputs("]}\n", stdout);
}

int cmd_summary(const struct ctl *ctl, int argc, char **argv)
{
	struct run *run;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(usage, stdout);
		return CTL_OK;
	}
	if (argc != 2) {
		ctl_error("summary: name one recording; --help tells more");
		return CTL_USAGE;
	}
	run = run_open(argv[1]);
	if (!run)
		return CTL_FILE;
	if (ctl->json)
		json(run);
	else
		text(run);
	run_close(run);
	return CTL_OK;
}
