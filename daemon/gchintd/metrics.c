// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../common/escape.h"
#include "../common/names.h"
#include "../common/schema.h"
#include "host.h"
#include "rail.h"
#include "tracker.h"
#include "writer.h"

#define CPUS  512
#define RAILS (4 * RAILS_MAX + 1) /* of all sources, numbered from 1 */
#define DROPS 32

struct rail_metric {
	char name[96], label[64];
	int kind;
	bool defined, known;
	int64_t value;
	uint64_t t;
	double joules; /* integral of a power rail since the start */
	bool has_joules;
};

struct metrics {
	uint64_t phases[GCHINT_PHASE_NR], phase_ns[GCHINT_PHASE_NR];
	uint64_t reasons[GCHINT_REASON_NR];
	uint64_t latency_ns, latencies;
	uint32_t khz[CPUS]; /* 0 not seen */
	uint64_t transitions[CPUS];
	struct rail_metric rail[RAILS];
	struct record_drop drop[DROPS];
	struct record_cost cost;
	bool has_cost;
};

struct metrics *metrics_new(void)
{
	return calloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *m)
{
	free(m);
}

void metrics_rail(struct metrics *m, uint32_t id, const char *name, const char *label, int kind)
{
	struct rail_metric *r;

	if (id >= RAILS)
		return;
	r = &m->rail[id];
	snprintf(r->name, sizeof(r->name), "%s", name);
	snprintf(r->label, sizeof(r->label), "%s", label ? label : "");
	r->kind = kind;
	r->defined = true;
}

static void observe_sample(struct metrics *m, const struct record *r)
{
	struct rail_metric *rail;

	if (r->sample.rail >= RAILS)
		return;
	rail = &m->rail[r->sample.rail];
	if (rail->kind == RAIL_POWER && rail->known && r->sample.value != UNKNOWN_S64) {
		/* Trapezium between two known samples; uW x ns = 1e-15 J. */
		rail->joules += ((double)rail->value + (double)r->sample.value) / 2 *
				(double)(r->t - rail->t) * 1e-15;
		rail->has_joules = true;
	}
	rail->known = r->sample.value != UNKNOWN_S64;
	rail->value = r->sample.value;
	rail->t = r->t;
}

static void observe_drop(struct metrics *m, const struct record_drop *drop)
{
	for (int i = 0; i < DROPS; i++) {
		struct record_drop *d = &m->drop[i];

		if (d->source && (strcmp(d->source, drop->source) || strcmp(d->why, drop->why)))
			continue;
		d->source = drop->source;
		d->why = drop->why;
		d->count += drop->count;
		return;
	}
}

void metrics_observe(struct metrics *m, const struct record *r)
{
	switch (r->type) {
	case RECORD_PHASE:
		if (r->phase.how == PHASE_OPEN || r->phase.phase >= GCHINT_PHASE_NR)
			break;
		m->phases[r->phase.phase]++;
		m->phase_ns[r->phase.phase] += r->t - r->phase.t0;
		break;
	case RECORD_DECISION:
		if (r->decision.reason < GCHINT_REASON_NR)
			m->reasons[r->decision.reason]++;
		if (r->decision.has_latency) {
			m->latency_ns += r->decision.latency_ns;
			m->latencies++;
		}
		break;
	case RECORD_TRANSITION:
		if (r->transition.cpu >= CPUS)
			break;
		if (r->transition.how != HOW_START && m->khz[r->transition.cpu])
			m->transitions[r->transition.cpu]++;
		m->khz[r->transition.cpu] = r->transition.khz;
		break;
	case RECORD_SAMPLE:
		observe_sample(m, r);
		break;
	case RECORD_DROP:
		observe_drop(m, &r->drop);
		break;
	case RECORD_COST:
		m->cost = r->cost;
		m->has_cost = true;
		break;
	default:
		break;
	}
}

static void head(FILE *f, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(f, "# HELP gchint_%s %s\n# TYPE gchint_%s %s\n", name, help, name, type);
	if (unit)
		fprintf(f, "# UNIT gchint_%s %s\n", name, unit);
}

static void phases(FILE *f, const struct metrics *m)
{
	head(f, "phases", "counter", NULL, "Collection phases seen to their end.");
	for (int i = 1; i < GCHINT_PHASE_NR; i++)
		fprintf(f, "gchint_phases_total{phase=\"%s\"} %llu\n", name_phase((uint32_t)i),
			(unsigned long long)m->phases[i]);
	head(f, "phase_seconds", "counter", "seconds", "Time spent in collection phases.");
	for (int i = 1; i < GCHINT_PHASE_NR; i++)
		fprintf(f, "gchint_phase_seconds_total{phase=\"%s\"} %.9f\n",
			name_phase((uint32_t)i), (double)m->phase_ns[i] / 1e9);
}

static void decisions(FILE *f, const struct metrics *m)
{
	head(f, "decisions", "counter", NULL, "Frequency requests of the governor, by reason.");
	for (uint32_t i = 0; i < GCHINT_REASON_NR; i++)
		fprintf(f, "gchint_decisions_total{reason=\"%s\"} %llu\n", name_reason(i),
			(unsigned long long)m->reasons[i]);
	head(f, "hint_latency_seconds", "summary", "seconds",
	     "From a hint to the request it caused.");
	fprintf(f, "gchint_hint_latency_seconds_sum %.9f\ngchint_hint_latency_seconds_count %llu\n",
		(double)m->latency_ns / 1e9, (unsigned long long)m->latencies);
	head(f, "cpu_frequency_hertz", "gauge", "hertz", "Frequency last seen.");
	for (int i = 0; i < CPUS; i++)
		if (m->khz[i])
			fprintf(f, "gchint_cpu_frequency_hertz{cpu=\"%d\"} %llu\n", i,
				(unsigned long long)m->khz[i] * 1000);
	head(f, "cpu_transitions", "counter", NULL, "Changes of frequency seen.");
	for (int i = 0; i < CPUS; i++)
		if (m->khz[i])
			fprintf(f, "gchint_cpu_transitions_total{cpu=\"%d\"} %llu\n", i,
				(unsigned long long)m->transitions[i]);
}

static void rails_of(FILE *f, const struct metrics *m, int kind, const char *name)
{
	for (int i = 0; i < RAILS; i++) {
		const struct rail_metric *r = &m->rail[i];

		if (!r->defined || !r->known || r->kind != kind)
			continue;
		fprintf(f, "gchint_%s{rail=\"", name);
		escape_c(f, r->name);
		fputs("\",label=\"", f);
		escape_c(f, r->label);
		fprintf(f, "\"} %.6f\n", (double)r->value / 1e6);
	}
}

static void rails(FILE *f, const struct metrics *m)
{
	head(f, "rail_watts", "gauge", "watts", "Measured power; a rail not readable is absent.");
	rails_of(f, m, RAIL_POWER, "rail_watts");
	head(f, "rail_volts", "gauge", "volts", "Measured or set voltage.");
	rails_of(f, m, RAIL_VOLTAGE, "rail_volts");
	head(f, "rail_amperes", "gauge", "amperes", "Measured current.");
	rails_of(f, m, RAIL_CURRENT, "rail_amperes");
	head(f, "rail_joules", "counter", "joules",
	     "Measured energy: a counter's value, or power integrated since the start.");
	rails_of(f, m, RAIL_ENERGY, "rail_joules_total");
	for (int i = 0; i < RAILS; i++) {
		const struct rail_metric *r = &m->rail[i];

		if (!r->defined || r->kind != RAIL_POWER || !r->has_joules)
			continue;
		fputs("gchint_rail_joules_total{rail=\"", f);
		escape_c(f, r->name);
		fputs("\",label=\"", f);
		escape_c(f, r->label);
		fprintf(f, "\"} %.6f\n", r->joules);
	}
}

static void self(FILE *f, const struct metrics *m, const struct host *host,
		 const struct writer_stats *writer)
{
	head(f, "dropped", "counter", NULL, "What was missed, by source and cause.");
	for (int i = 0; i < DROPS && m->drop[i].source; i++)
		fprintf(f, "gchint_dropped_total{source=\"%s\",why=\"%s\"} %llu\n",
			m->drop[i].source, m->drop[i].why, (unsigned long long)m->drop[i].count);
	if (host && host->lost_total)
		fprintf(f, "gchint_dropped_total{source=\"queue\",why=\"full\"} %llu\n",
			(unsigned long long)host->lost_total);
	if (host && host->tracker) {
		unsigned int slots, in_phase;

		tracker_count(host->tracker, &slots, &in_phase);
		head(f, "slots", "gauge", NULL, "Leased slots seen.");
		fprintf(f, "gchint_slots %u\n", slots);
		head(f, "slots_in_phase", "gauge", NULL, "Slots in a collection phase now.");
		fprintf(f, "gchint_slots_in_phase %u\n", in_phase);
	}
	if (m->has_cost) {
		head(f, "daemon_cpu_seconds", "counter", "seconds", "The daemon's own CPU time.");
		fprintf(f, "gchint_daemon_cpu_seconds_total %.6f\n", (double)m->cost.cpu_ns / 1e9);
		head(f, "daemon_wakeups", "counter", NULL, "The daemon's own wake-ups.");
		fprintf(f, "gchint_daemon_wakeups_total %llu\n",
			(unsigned long long)m->cost.wakeups);
	}
	if (m->has_cost && m->cost.rss_kib != UNKNOWN_U32) {
		head(f, "daemon_resident_bytes", "gauge", "bytes", "The daemon's own memory.");
		fprintf(f, "gchint_daemon_resident_bytes %llu\n",
			(unsigned long long)m->cost.rss_kib * 1024);
	}
	if (writer) {
		head(f, "recording_bytes", "gauge", "bytes", "Size of the recording.");
		fprintf(f, "gchint_recording_bytes %llu\n", (unsigned long long)writer->bytes);
		head(f, "recording_records", "counter", NULL, "Records committed.");
		fprintf(f, "gchint_recording_records_total %llu\n",
			(unsigned long long)writer->records);
		head(f, "recording_stopped", "gauge", NULL,
		     "1 while nothing is written: disk full or size limit.");
		fprintf(f, "gchint_recording_stopped %d\n", writer->stopped);
	}
}

char *metrics_text(const struct metrics *m, const struct host *host,
		   const struct writer_stats *writer, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	if (!f)
		return NULL;
	phases(f, m);
	decisions(f, m);
	rails(f, m);
	self(f, m, host, writer);
	fputs("# EOF\n", f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
