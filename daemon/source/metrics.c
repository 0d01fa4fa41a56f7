// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../common/clock.h"
#include "../common/cpus.h"
#include "../common/escape.h"
#include "../common/names.h"
#include "../recording/schema.h"
#include "../recording/writer.h"
#include "../version.h"
#include "pauses.h"

#define RAILS (5 * RAILS_MAX + 1) /* of all sources, numbered from 1 */
#define DROPS 32

#define COARSE_NS (60 * NSEC_PER_SEC)

struct rail_metric {
	char name[96], label[64];
	int kind;
	bool defined, known;
	bool moved; /* a counter that never did does not count: it is not shown */
	bool seen;
	int64_t first, value; /* @first: the first value, once @seen */
	uint64_t t;
	double joules; /* integral of a power rail since the start */
	bool has_joules;
	bool everyones;
	double coarse; /* J, shown to clients that may not read the rail */
	uint64_t coarse_t; /* 0 none yet */
};

/*
 * Upper bounds of a phase's length, ns: three a decade from 100 us to 10 s, the range of
 * collectors' pauses. The last bucket has no bound.
 */
static const uint64_t buckets[] = {
	100000,	  250000,    500000,	1000000,   2500000,    5000000,	   10000000,   25000000,
	50000000, 100000000, 250000000, 500000000, 1000000000, 2500000000, 5000000000, 10000000000,
};

#define BUCKETS (sizeof(buckets) / sizeof(buckets[0]))

/* How many mutators wait for a phase. It is a label, so it has few values. */
enum waits {
	WAITS_NONE,
	WAITS_ONE,
	WAITS_ALL,
	WAITS_NR
};

struct histogram {
	uint64_t count[BUCKETS + 1], sum_ns;
};

/* A label with few values, too: a monitor keeps each series for weeks. */
#define SERVICES      64
#define SERVICE_LABEL (2 * METRICS_SERVICE + 16)
#define SERVICE_OTHER "other" /* all further ones */

struct service_metrics {
	char name[METRICS_SERVICE];
	struct histogram length[GCHINT_PHASE_NR][WAITS_NR];
	struct histogram pause;
	uint64_t phases[GCHINT_PHASE_NR], phase_ns[GCHINT_PHASE_NR];
};

/* Processes of equal number modulo SETS; a fifth one replaces the first. */
#define SETS 1024
#define WAYS 4

struct process_set {
	int32_t tgid[WAYS];
	struct service_metrics *service[WAYS];
	unsigned int next;
};

struct metrics {
	struct service_metrics *service[SERVICES + 1];
	size_t services;
	struct service_metrics unknown; /* of processes that are not known; has no name */
	struct process_set process[SETS];
	struct pauses pauses;
	uint64_t last_id; /* of a phase that has begun */
	uint64_t reasons[GCHINT_REASON_NR];
	uint64_t latency_ns, latencies;
	uint32_t khz[CPUS_MAX]; /* 0 not seen */
	uint64_t transitions[CPUS_MAX];
	struct rail_metric rail[RAILS];
	struct record_drop drop[DROPS];
	struct record_cost cost;
	bool has_cost;
};

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->services; i++)
		free(m->service[i]);
	free(m);
}

/* NULL without memory. */
static struct service_metrics *service_find(struct metrics *m, const char *name)
{
	struct service_metrics *s;

	for (size_t i = 0; i < m->services; i++)
		if (!strncmp(m->service[i]->name, name, sizeof(s->name) - 1))
			return m->service[i];
	if (m->services > SERVICES)
		return m->service[SERVICES];
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	snprintf(s->name, sizeof(s->name), "%s", m->services < SERVICES ? name : SERVICE_OTHER);
	m->service[m->services++] = s;
	return s;
}

void metrics_process(struct metrics *m, int32_t tgid, const char *service)
{
	struct process_set *set = &m->process[(uint32_t)tgid % SETS];
	unsigned int way = 0;

	while (way < WAYS && set->tgid[way] != tgid)
		way++;
	if (way == WAYS)
		way = set->next++ % WAYS;
	set->tgid[way] = tgid;
	set->service[way] = service_find(m, service);
}

static struct service_metrics *service_of(struct metrics *m, int32_t tgid)
{
	const struct process_set *set = &m->process[(uint32_t)tgid % SETS];

	for (unsigned int way = 0; way < WAYS; way++)
		if (set->tgid[way] == tgid && set->service[way])
			return set->service[way];
	return &m->unknown;
}

void metrics_rail(struct metrics *m, uint32_t id, const char *name, const char *label, int kind,
		  bool everyones)
{
	struct rail_metric *r;

	if (id >= RAILS)
		return;
	r = &m->rail[id];
	snprintf(r->name, sizeof(r->name), "%s", name);
	snprintf(r->label, sizeof(r->label), "%s", label ? label : "");
	r->kind = kind;
	r->everyones = everyones;
	r->defined = true;
}

static void sample_observe(struct metrics *m, const struct record *r)
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
	if (r->sample.value != UNKNOWN_S64 && rail->seen && r->sample.value != rail->first)
		rail->moved = true;
	if (r->sample.value != UNKNOWN_S64 && !rail->seen) {
		rail->first = r->sample.value;
		rail->seen = true;
	}
	rail->known = r->sample.value != UNKNOWN_S64 && (rail->kind != RAIL_ENERGY || rail->moved);
	rail->value = r->sample.value;
	rail->t = r->t;
	if (rail->everyones || (rail->coarse_t && r->t - rail->coarse_t < COARSE_NS))
		return;
	if (rail->kind == RAIL_ENERGY && rail->known)
		rail->coarse = floor((double)rail->value / 1e6);
	else if (rail->kind == RAIL_POWER && rail->has_joules)
		rail->coarse = floor(rail->joules);
	else
		return;
	rail->coarse_t = r->t;
}

static void drop_observe(struct metrics *m, const struct record_drop *drop)
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

static enum waits waits_classify(uint32_t flags)
{
	if (flags == UNKNOWN_U32)
		return WAITS_NONE;
	return flags & GCHINT_F_STW	   ? WAITS_ALL :
	       flags & GCHINT_F_FOREGROUND ? WAITS_ONE :
					     WAITS_NONE;
}

static void histogram_observe(struct histogram *h, uint64_t ns)
{
	size_t i = 0;

	while (i < BUCKETS && ns > buckets[i])
		i++;
	h->count[i]++;
	h->sum_ns += ns;
}

static void pause_observe(void *data, int32_t tgid, uint64_t ns)
{
	histogram_observe(&service_of(data, tgid)->pause, ns);
}

struct metrics *metrics_new(void)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (m)
		m->pauses = (struct pauses){ .fn = pause_observe, .data = m };
	return m;
}

/* An open phase is recorded again when it makes progress. */
static void stop_observe(struct metrics *m, const struct record *r)
{
	const struct record_phase *p = &r->phase;
	const bool begins = p->how == PHASE_OPEN && p->id > m->last_id;

	if (begins)
		m->last_id = p->id;
	if (waits_classify(p->flags) != WAITS_ALL)
		return;
	if (begins)
		pauses_begin(&m->pauses, p->tgid);
	else if (p->how != PHASE_OPEN)
		pauses_end(&m->pauses, p->tgid, p->t0, r->t, p->id <= m->last_id,
			   !p->uncertain && r->t >= p->t0);
}

static void phase_observe(struct metrics *m, const struct record *r)
{
	const struct record_phase *p = &r->phase;
	struct service_metrics *s;

	stop_observe(m, r);
	if (p->how == PHASE_OPEN || p->phase >= GCHINT_PHASE_NR || r->t < p->t0)
		return;
	s = service_of(m, p->tgid);
	s->phases[p->phase]++;
	s->phase_ns[p->phase] += r->t - p->t0;
	histogram_observe(&s->length[p->phase][waits_classify(p->flags)], r->t - p->t0);
}

void metrics_observe(struct metrics *m, const struct record *r)
{
	switch (r->type) {
	case RECORD_PHASE:
		phase_observe(m, r);
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
		if (r->transition.cpu >= CPUS_MAX)
			break;
		if (r->transition.how != HOW_START && m->khz[r->transition.cpu])
			m->transitions[r->transition.cpu]++;
		m->khz[r->transition.cpu] = r->transition.khz;
		break;
	case RECORD_SAMPLE:
		sample_observe(m, r);
		break;
	case RECORD_DROP:
		drop_observe(m, &r->drop);
		break;
	case RECORD_COST:
		m->cost = r->cost;
		m->has_cost = true;
		break;
	default:
		break;
	}
}

void metrics_finish(struct metrics *m)
{
	pauses_settle(&m->pauses, UINT64_MAX);
}

/* A text that is being written. The two formats name counters differently. */
struct exposition {
	FILE *f;
	enum metrics_format format;
};

static void head_print(const struct exposition *x, const char *name, const char *type,
		       const char *unit, const char *help)
{
	const bool prometheus = x->format == METRICS_PROMETHEUS;
	const char *suffix = prometheus && !strcmp(type, "counter") ? "_total" : "";

	fprintf(x->f, "# HELP gchint_%s%s %s\n# TYPE gchint_%s%s %s\n", name, suffix, help, name,
		suffix, type);
	if (unit && !prometheus)
		fprintf(x->f, "# UNIT gchint_%s %s\n", name, unit);
}

/* service="NAME", as the first labels of a series: with a comma at the end. "" if not known. */
static void service_label(const struct service_metrics *s, char *label, size_t size)
{
	FILE *f = *s->name ? fmemopen(label, size, "w") : NULL;

	*label = '\0';
	if (!f)
		return;
	fputs("service=\"", f);
	escape_c(f, s->name);
	fputs("\",", f);
	fclose(f);
}

/* The services, the unknown one at the end if anything is observed of it; NULL behind them. */
static const struct service_metrics *service_at(const struct metrics *m, size_t n)
{
	if (n < m->services)
		return m->service[n];
	if (n > m->services)
		return NULL;
	for (int i = 1; i < GCHINT_PHASE_NR; i++)
		if (m->unknown.phases[i])
			return &m->unknown;
	return NULL;
}

static void phases_print(const struct exposition *x, const struct metrics *m)
{
	const struct service_metrics *s;
	char label[SERVICE_LABEL];

	head_print(x, "phases", "counter", NULL, "Collection phases seen to their end.");
	for (size_t n = 0; (s = service_at(m, n)); n++) {
		service_label(s, label, sizeof(label));
		for (int i = 1; i < GCHINT_PHASE_NR; i++)
			fprintf(x->f, "gchint_phases_total{%sphase=\"%s\"} %llu\n", label,
				name_phase((uint32_t)i), (unsigned long long)s->phases[i]);
	}
	head_print(x, "phase_seconds", "counter", "seconds", "Time spent in collection phases.");
	for (size_t n = 0; (s = service_at(m, n)); n++) {
		service_label(s, label, sizeof(label));
		for (int i = 1; i < GCHINT_PHASE_NR; i++)
			fprintf(x->f, "gchint_phase_seconds_total{%sphase=\"%s\"} %.9f\n", label,
				name_phase((uint32_t)i), (double)s->phase_ns[i] / 1e9);
	}
}

/* @labels: "" or with a comma at the end. */
static void histogram_print(FILE *f, const char *name, const struct histogram *h,
			    const char *labels)
{
	const int length = (int)strlen(labels) - 1; /* without the comma */
	uint64_t count = 0;

	for (size_t i = 0; i <= BUCKETS; i++) {
		count += h->count[i];
		fprintf(f, "gchint_%s_bucket{%sle=\"", name, labels);
		if (i < BUCKETS)
			fprintf(f, "%g", (double)buckets[i] / 1e9);
		else
			fputs("+Inf", f);
		fprintf(f, "\"} %llu\n", (unsigned long long)count);
	}
	if (*labels) {
		fprintf(f, "gchint_%s_sum{%.*s} %.9f\n", name, length, labels,
			(double)h->sum_ns / 1e9);
		fprintf(f, "gchint_%s_count{%.*s} %llu\n", name, length, labels,
			(unsigned long long)count);
	} else {
		fprintf(f, "gchint_%s_sum %.9f\ngchint_%s_count %llu\n", name,
			(double)h->sum_ns / 1e9, name, (unsigned long long)count);
	}
}

/* Prints only combinations that occurred: a series that stays 0 carries no information. */
static void lengths_print_service(const struct exposition *x, const struct service_metrics *s,
				  const char *label)
{
	static const char *const names[WAITS_NR] = { "none", "one", "all" };
	char labels[SERVICE_LABEL + 64];

	for (uint32_t i = 1; i < GCHINT_PHASE_NR; i++)
		for (int w = 0; w < WAITS_NR; w++) {
			const struct histogram *h = &s->length[i][w];
			bool any = false;

			for (size_t b = 0; b <= BUCKETS; b++)
				any = any || h->count[b];
			snprintf(labels, sizeof(labels), "%sphase=\"%s\",waits=\"%s\",", label,
				 name_phase(i), names[w]);
			if (any)
				histogram_print(x->f, "phase_length_seconds", h, labels);
		}
}

static void lengths_print(const struct exposition *x, const struct metrics *m)
{
	const struct service_metrics *s;
	char label[SERVICE_LABEL];

	head_print(x, "phase_length_seconds", "histogram", "seconds",
		   "Length of phases by waiting mutators: all, one, or none. They overlap.");
	for (size_t n = 0; (s = service_at(m, n)); n++) {
		service_label(s, label, sizeof(label));
		lengths_print_service(x, s, label);
	}
	head_print(x, "pause_seconds", "histogram", "seconds",
		   "Length of pauses: times in which all mutators of a process are stopped.");
	for (size_t n = 0; (s = service_at(m, n)); n++) {
		service_label(s, label, sizeof(label));
		histogram_print(x->f, "pause_seconds", &s->pause, label);
	}
}

static void decisions_print(const struct exposition *x, const struct metrics *m)
{
	head_print(x, "decisions", "counter", NULL,
		   "Frequency requests of the governor, by reason.");
	for (uint32_t i = 0; i < GCHINT_REASON_NR; i++)
		fprintf(x->f, "gchint_decisions_total{reason=\"%s\"} %llu\n", name_reason(i),
			(unsigned long long)m->reasons[i]);
	head_print(x, "hint_latency_seconds", "summary", "seconds",
		   "From a hint to the request it caused.");
	fprintf(x->f,
		"gchint_hint_latency_seconds_sum %.9f\ngchint_hint_latency_seconds_count %llu\n",
		(double)m->latency_ns / 1e9, (unsigned long long)m->latencies);
	head_print(x, "cpu_frequency_hertz", "gauge", "hertz", "Frequency last seen.");
	for (int i = 0; i < CPUS_MAX; i++)
		if (m->khz[i])
			fprintf(x->f, "gchint_cpu_frequency_hertz{cpu=\"%d\"} %llu\n", i,
				(unsigned long long)m->khz[i] * 1000);
	head_print(x, "cpu_transitions", "counter", NULL, "Changes of frequency seen.");
	for (int i = 0; i < CPUS_MAX; i++)
		if (m->khz[i])
			fprintf(x->f, "gchint_cpu_transitions_total{cpu=\"%d\"} %llu\n", i,
				(unsigned long long)m->transitions[i]);
}

static void rail_print(FILE *f, const char *name, const struct rail_metric *r, double value,
		       int digits)
{
	fprintf(f, "gchint_%s{rail=\"", name);
	escape_c(f, r->name);
	fputs("\",label=\"", f);
	escape_c(f, r->label);
	fprintf(f, "\"} %.*f\n", digits, value);
}

static void rails_print_values(const struct exposition *x, const struct metrics *m, int kind,
			       const char *name, enum metrics_for whom)
{
	for (int i = 0; i < RAILS; i++) {
		const struct rail_metric *r = &m->rail[i];

		if (r->defined && r->known && r->kind == kind &&
		    (r->everyones || whom == METRICS_FOR_KNOWN))
			rail_print(x->f, name, r, (double)r->value / 1e6, 6);
	}
}

static void joules_print(const struct exposition *x, const struct metrics *m, enum metrics_for whom)
{
	rails_print_values(x, m, RAIL_ENERGY, "rail_joules_total", whom);
	for (int i = 0; i < RAILS; i++) {
		const struct rail_metric *r = &m->rail[i];

		if (!r->defined || (r->kind != RAIL_POWER && r->kind != RAIL_ENERGY))
			continue;
		if (whom != METRICS_FOR_KNOWN && !r->everyones) {
			if (r->coarse_t)
				rail_print(x->f, "rail_joules_total", r, r->coarse, 0);
		} else if (r->kind == RAIL_POWER && r->has_joules) {
			rail_print(x->f, "rail_joules_total", r, r->joules, 6);
		}
	}
}

static void rails_print(const struct exposition *x, const struct metrics *m, enum metrics_for whom)
{
	head_print(x, "rail_watts", "gauge", "watts",
		   "Measured power; a rail not readable is absent.");
	rails_print_values(x, m, RAIL_POWER, "rail_watts", whom);
	head_print(x, "rail_volts", "gauge", "volts", "Measured or set voltage.");
	rails_print_values(x, m, RAIL_VOLTAGE, "rail_volts", whom);
	head_print(x, "rail_amperes", "gauge", "amperes", "Measured current.");
	rails_print_values(x, m, RAIL_CURRENT, "rail_amperes", whom);
	head_print(x, "rail_joules", "counter", "joules",
		   "Measured energy: a counter's value, or power integrated since the start.");
	joules_print(x, m, whom);
}

static void daemon_print(const struct exposition *x, const struct metrics *m,
			 const struct metrics_around *around, const struct writer_stats *writer,
			 enum metrics_for whom)
{
	head_print(x, "dropped", "counter", NULL, "What was missed, by source and cause.");
	for (int i = 0; i < DROPS && m->drop[i].source; i++)
		fprintf(x->f, "gchint_dropped_total{source=\"%s\",why=\"%s\"} %llu\n",
			m->drop[i].source, m->drop[i].why, (unsigned long long)m->drop[i].count);
	/* Printed even while it is 0: a rate does not see the loss with which a series begins. */
	if (around)
		fprintf(x->f, "gchint_dropped_total{source=\"queue\",why=\"full\"} %llu\n",
			(unsigned long long)around->lost);
	if (around && around->known && whom != METRICS_FOR_EVERYONE) {
		head_print(x, "slots", "gauge", NULL, "Leased slots seen.");
		fprintf(x->f, "gchint_slots %u\n", around->slots);
		head_print(x, "slots_in_phase", "gauge", NULL, "Slots in a collection phase now.");
		fprintf(x->f, "gchint_slots_in_phase %u\n", around->in_phase);
	}
	if (m->has_cost) {
		head_print(x, "daemon_cpu_seconds", "counter", "seconds",
			   "The daemon's own CPU time.");
		fprintf(x->f, "gchint_daemon_cpu_seconds_total %.6f\n",
			(double)m->cost.cpu_ns / 1e9);
		head_print(x, "daemon_wakeups", "counter", NULL, "The daemon's own wake-ups.");
		fprintf(x->f, "gchint_daemon_wakeups_total %llu\n",
			(unsigned long long)m->cost.wakeups);
	}
	if (m->has_cost && m->cost.rss_kib != UNKNOWN_U32) {
		head_print(x, "daemon_resident_bytes", "gauge", "bytes",
			   "The daemon's own memory.");
		fprintf(x->f, "gchint_daemon_resident_bytes %llu\n",
			(unsigned long long)m->cost.rss_kib * 1024);
	}
	if (writer) {
		head_print(x, "recording_bytes", "gauge", "bytes", "Size of the recording.");
		fprintf(x->f, "gchint_recording_bytes %llu\n", (unsigned long long)writer->bytes);
		head_print(x, "recording_records", "counter", NULL, "Records committed.");
		fprintf(x->f, "gchint_recording_records_total %llu\n",
			(unsigned long long)writer->records);
		head_print(x, "recording_stopped", "gauge", NULL,
			   "1 while nothing is written: disk full or size limit.");
		fprintf(x->f, "gchint_recording_stopped %d\n", writer->stopped);
	}
}

/* Why there is little. Prometheus ignores such lines; OpenMetrics knows no comments. */
static void reasons_print(const struct exposition *x, const struct metrics *m,
			  enum metrics_for whom)
{
	bool rails = false;

	if (x->format != METRICS_PROMETHEUS)
		return;
	for (int i = 0; i < RAILS; i++)
		rails = rails || m->rail[i].known;
	if (whom == METRICS_FOR_EVERYONE)
		fputs("# No phases, pauses and decisions: they are for clients that send the "
		      "content of [metrics] token_file as \"Authorization: Bearer ...\".\n",
		      x->f);
	else if (!service_at(m, 0))
		fputs("# No program has given a hint yet: start one by gchintctl run, or see "
		      "gchintctl status.\n",
		      x->f);
	if (!rails)
		fputs("# No power rail is known: gchintctl status says what is missing.\n", x->f);
}

char *metrics_text(struct metrics *m, const struct metrics_around *around,
		   const struct writer_stats *writer, enum metrics_for whom,
		   enum metrics_format format, size_t *size)
{
	char *text = NULL;
	struct exposition x = { open_memstream(&text, size), format };

	if (!x.f)
		return NULL;
	pauses_settle(&m->pauses, clock_now());
	reasons_print(&x, m, whom);
	if (format == METRICS_OPENMETRICS)
		head_print(&x, "build", "info", NULL, "The gchintd that exports these metrics.");
	else
		head_print(&x, "build_info", "gauge", NULL,
			   "The gchintd that exports these metrics.");
	fputs("gchint_build_info{version=\"" GCHINTD_VERSION "\"} 1\n", x.f);
	if (whom != METRICS_FOR_EVERYONE) {
		phases_print(&x, m);
		lengths_print(&x, m);
		decisions_print(&x, m);
	}
	rails_print(&x, m, whom);
	daemon_print(&x, m, around, writer, whom);
	if (format == METRICS_OPENMETRICS)
		fputs("# EOF\n", x.f);
	if (fclose(x.f)) {
		free(text);
		return NULL;
	}
	return text;
}
