// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>

#include "../../analysis/cost.h"
#include "../../analysis/cpu-time.h"
#include "../../analysis/energy.h"
#include "../../analysis/pauses.h"
#include "../../analysis/reasons.h"
#include "../../common/json.h"
#include "../../recording/reader/processes.h"
#include "attributed.h"
#include "summary.h"

static void summary_json_part(struct json *j, const struct energy_part *p, bool measured)
{
	json_uint(j, "ns", p->ns);
	json_real(j, "joules", !measured || energy_resolved(p) ? p->joules : NAN, 9);
	if (measured) {
		json_real(j, "low_joules", p->low, 9);
		json_real(j, "high_joules", p->high, 9);
		json_uint(j, "whole_ns", p->whole_ns);
	}
}

static void process_json_begin(struct json *j, const struct processes *p, unsigned int g)
{
	json_object(j, NULL);
	if (p->tgid[g] > 0)
		json_uint(j, "pid", (uint64_t)p->tgid[g]);
	else
		json_null(j, "pid");
	json_text(j, "name", p->name[g]);
}

static void summary_json_processes(struct json *j, const struct processes *p,
				   const struct energy *e)
{
	json_list(j, "by_process");
	for (unsigned int g = 1; g <= p->nr; g++) {
		if (!e->part[g].ns)
			continue;
		process_json_begin(j, p, g);
		summary_json_part(j, &e->part[g], true);
		json_end(j);
	}
	json_end(j);
}

static void summary_json_energy(struct json *j, const struct energy *e, bool measured)
{
	char name[48];

	json_list(j, "by_phase");
	for (unsigned int g = 0; g < PHASE_GROUPS; g++) {
		const struct energy_part *p = &e->part[g];

		if (!p->ns)
			continue;
		json_object(j, NULL);
		json_text(j, "phase", phase_group_name(g, name, sizeof(name)));
		summary_json_part(j, p, measured);
		json_end(j);
	}
	json_end(j);
}

/* Of phases that were all left out, no length is known. */
static void summary_json_ns(struct json *j, const char *key, size_t count, uint64_t ns)
{
	if (count)
		json_uint(j, key, ns);
	else
		json_null(j, key);
}

static void summary_json_phases(struct json *j, const struct recording *rec)
{
	char name[48];

	json_list(j, "phases");
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		struct recording_lengths l;

		recording_lengths(rec, g, &l);
		if (!l.count && !l.unsure)
			continue;
		json_object(j, NULL);
		json_text(j, "phase", phase_group_name(g, name, sizeof(name)));
		json_uint(j, "count", l.count);
		json_uint(j, "left_out", l.unsure);
		summary_json_ns(j, "total_ns", l.count, l.total);
		summary_json_ns(j, "mean_ns", l.count, l.mean);
		summary_json_ns(j, "p50_ns", l.count, l.p50);
		summary_json_ns(j, "p95_ns", l.count, l.p95);
		summary_json_ns(j, "max_ns", l.count, l.max);
		json_fixed(j, "mean_khz", l.count && l.khz > 0 ? l.khz : NAN, 0);
		json_end(j);
	}
	json_end(j);
}

static void summary_json_pauses(struct json *j, const struct recording *rec,
				const struct processes *p)
{
	const struct pauses_sum all = pauses_sum(rec, PAUSES_ALL);

	json_object(j, "pauses");
	json_uint(j, "count", all.count);
	json_uint(j, "left_out", rec->unsure_stops);
	json_uint(j, "total_ns", all.paused);
	json_uint(j, "p50_ns", all.p50);
	json_uint(j, "p95_ns", all.p95);
	json_uint(j, "p99_ns", all.p99);
	json_uint(j, "half_ns", all.half);
	json_uint(j, "max_ns", all.longest);
	json_list(j, "by_process");
	for (unsigned int g = 1; g <= p->nr; g++) {
		const struct pauses_sum sum = pauses_sum(rec, p->tgid[g]);

		if (!sum.count)
			continue;
		process_json_begin(j, p, g);
		json_uint(j, "count", sum.count);
		json_uint(j, "total_ns", sum.paused);
		json_uint(j, "p99_ns", sum.p99);
		json_uint(j, "half_ns", sum.half);
		json_uint(j, "max_ns", sum.longest);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void summary_json_cpu(struct json *j, const struct recording *rec)
{
	struct cpu_time_sum c;

	if (!cpu_times_sum_of(rec, &c) || (!c.known && !c.workers)) {
		json_null(j, "cpu");
		return;
	}
	json_object(j, "cpu");
	json_uint(j, "run_ns", c.run);
	json_uint(j, "low_ns", c.low);
	json_uint(j, "high_ns", c.high);
	json_uint(j, "wait_low_ns", c.wait_low);
	json_uint(j, "wait_high_ns", c.wait_high);
	json_uint(j, "known_ns", c.known);
	json_uint(j, "unknown_ns", c.unknown);
	json_uint(j, "workers", c.workers);
	json_end(j);
}

static void summary_json_advice(struct json *j, const struct reasons *reasons)
{
	const struct advice *a = &reasons->advice;

	if (!reasons->advised) {
		json_null(j, "advice");
		return;
	}
	json_object(j, "advice");
	json_text(j, "setting", a->setting);
	json_bool(j, "bound", a->bound);
	if (a->limit)
		json_int(j, "limit_bytes", a->limit);
	else
		json_null(j, "limit_bytes");
	json_int(j, "limit_bytes_now", a->now);
	json_int(j, "live_bytes", a->live);
	json_uint(j, "collections", a->collections);
	json_real(j, "collections_then", a->collections_then, 6);
	json_uint(j, "full_collections", a->full);
	json_real(j, "full_collections_then", a->full_then, 6);
	json_uint(j, "full_paused_ns", a->full_paused);
	json_fixed(j, "full_paused_ns_then", a->full_paused_then, 0);
	json_uint(j, "paused_ns", a->paused);
	json_fixed(j, "paused_ns_then", a->paused_then, 0);
	json_text(j, "text", a->text);
	json_end(j);
}

/* What summary's first line says, and each finding with its figure. */
static void summary_json_findings(struct json *j, const struct recording *rec)
{
	struct reasons reasons;

	if (!reasons_of(rec, &reasons))
		return;
	json_object(j, "findings");
	if (reasons.tgid > 0)
		json_uint(j, "pid", (uint64_t)reasons.tgid);
	else
		json_null(j, "pid");
	json_text(j, "sentence", reasons.sentence);
	json_list(j, "list");
	for (size_t i = 0; i < reasons.nr; i++) {
		const struct finding *f = &reasons.found[i];

		json_object(j, NULL);
		json_text(j, "finding", finding_name(f->type));
		json_real(j, "value", f->value, 9);
		if (f->count)
			json_uint(j, "count", f->count);
		else
			json_null(j, "count");
		json_text(j, "text", f->text);
		json_end(j);
	}
	json_end(j);
	summary_json_advice(j, &reasons);
	json_end(j);
}

void summary_print_json(const struct recording *rec)
{
	struct json j = { .f = stdout };
	struct processes p;
	struct energy e;
	char source[64];

	if (!processes_of(rec, &p))
		return;
	json_object(&j, NULL);
	json_text(&j, "file", rec->path);
	json_text(&j, "label", rec->label);
	json_uint(&j, "start_ns", rec->t0);
	json_uint(&j, "end_ns", rec->t1);
	json_uint(&j, "duration_ns", recording_duration(rec));
	summary_json_findings(&j, rec);
	summary_json_pauses(&j, rec, &p);
	summary_json_cpu(&j, rec);
	summary_json_phases(&j, rec);
	json_list(&j, "energy");
	for (size_t i = 0; i < rec->rails; i++) {
		const struct recording_rail *r = &rec->rail[i];

		const char *lack = energy_of(rec, i, NULL, &e) ? NULL : energy_lack_text(&e);

		if (!e.known_ns && !lack)
			continue;
		json_object(&j, NULL);
		json_text(&j, "rail", r->name);
		json_text(&j, "label", r->label);
		json_text(&j, "how", recording_rail_how(r));
		json_text(&j, "source", r->source);
		if (rail_role_text(r->role))
			json_text(&j, "feeds", rail_role_text(r->role));
		if (lack) {
			json_null(&j, "joules");
			json_text(&j, "unknown", lack);
			json_end(&j);
			continue;
		}
		json_real(&j, "joules", e.total, 9);
		json_uint(&j, "interval_ns", e.interval_ns);
		json_uint(&j, "unknown_samples", e.unknown);
		json_uint(&j, "unknown_ns", e.gaps_ns);
		if (*r->cpus)
			json_text(&j, "cpus", r->cpus);
		if (r->limits.update_ns)
			json_uint(&j, "update_ns", r->limits.update_ns);
		if (r->limits.wraps > 0)
			json_real(&j, "wraps_at_joules", r->limits.wraps, 9);
		summary_json_energy(&j, &e, true);
		if (energy_of(rec, i, p.group, &e))
			summary_json_processes(&j, &p, &e);
		attributed_print_json(&j, rec, i, &p);
		json_end(&j);
	}
	processes_free(&p);
	if (energy_modelled(rec, &e, source, sizeof(source))) {
		json_object(&j, NULL);
		json_null(&j, "rail");
		json_text(&j, "how", "modelled");
		json_text(&j, "source", source);
		if (e.total > 0)
			json_real(&j, "joules", e.total, 9);
		else
			json_null(&j, "joules");
		json_uint(&j, "unknown_frequency_ns", e.no_khz_ns);
		summary_json_energy(&j, &e, false);
		json_end(&j);
	}
	json_end(&j);
	cost_print_json(rec->db, &j);
	json_end(&j);
}
