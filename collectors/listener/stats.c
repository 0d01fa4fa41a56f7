// SPDX-License-Identifier: MIT
/* Counts cycles, measures phases and pauses, and can record each pause (record_max). */
#include <errno.h>
#include <gchint/gc-listener.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Buckets 0-7 hold 0-7 ns; above, an octave has 8 buckets. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int octave, i;

	if (ns < 8)
		return (unsigned int)ns;
	octave = 63 - (unsigned int)__builtin_clzll(ns);
	i = (octave - 2) * 8 + (unsigned int)(ns >> (octave - 3) & 7);
	return i < GC_HIST_BUCKETS ? i : GC_HIST_BUCKETS - 1;
}

static uint64_t bucket_end(unsigned int i)
{
	if (i < 8)
		return i;
	return ((uint64_t)(i % 8 + 9) << (i / 8 - 1)) - 1;
}

void gc_histogram_add(struct gc_histogram *h, uint64_t ns)
{
	h->count++;
	h->sum_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->bucket[bucket_of(ns)]++;
}

uint64_t gc_histogram_quantile(const struct gc_histogram *h, double q)
{
	uint64_t want = (uint64_t)(q * (double)h->count + 0.5), seen = 0;

	if (want < 1)
		want = 1;
	for (unsigned int i = 0; i < GC_HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= want) {
			uint64_t end = bucket_end(i);

			return end < h->max_ns ? end : h->max_ns;
		}
	}
	return h->max_ns;
}

static struct gc_listener_stats *stats_of(struct gc_listener *self)
{
	return (struct gc_listener_stats *)self;
}

static void cycle_end(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_stats *s = stats_of(self);

	s->cycles[event->kind]++;
	s->by_cause[event->cause]++;
}

static void world_stopped(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_stats *s = stats_of(self);

	gc_histogram_add(&s->ttsp, event->duration_ns);
	s->phase_ns[GC_PHASE_STOP] += event->duration_ns;
	s->phase_count[GC_PHASE_STOP]++;
}

static void world_restarted(struct gc_listener *self, const struct gc_event *event)
{
	gc_histogram_add(&stats_of(self)->stw, event->duration_ns);
}

static void phase_end(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_stats *s = stats_of(self);

	s->phase_ns[event->phase] += event->duration_ns;
	s->phase_count[event->phase]++;
	s->trims += event->phase == GC_PHASE_TRIM;
}

static void mutator_resumed(struct gc_listener *self, const struct gc_event *event)
{
	struct gc_listener_stats *s = stats_of(self);

	/* Mutators resume at the same time: the records are shared. */
	while (__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	gc_histogram_add(&s->pause[event->pause], event->duration_ns);
	if (s->record_count < s->record_max)
		s->records[s->record_count++] = (struct gc_pause_record){
			event->time_ns - event->duration_ns,
			event->time_ns,
			event->mutator,
			event->pause,
		};
	else
		s->record_lost++;
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

static const struct gc_listener_ops ops = {
	.cycle_end = cycle_end,
	.stopped = world_stopped,
	.restarted = world_restarted,
	.mark_end = phase_end,
	.remark_end = phase_end,
	.copy_end = phase_end,
	.sweep_end = phase_end,
	.trim_end = phase_end,
	.mutator_resumed = mutator_resumed,
};

int gc_listener_stats_init(struct gc_listener_stats *stats, size_t record_max)
{
	memset(stats, 0, sizeof(*stats));
	stats->base.ops = &ops;
	if (record_max) {
		stats->records = calloc(record_max, sizeof(*stats->records));
		if (!stats->records)
			return -ENOMEM;
	}
	stats->record_max = record_max;
	return 0;
}

void gc_listener_stats_fini(struct gc_listener_stats *stats)
{
	free(stats->records);
	stats->records = NULL;
}
