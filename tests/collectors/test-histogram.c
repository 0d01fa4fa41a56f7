// SPDX-License-Identifier: MIT
/*
 * Description: the counters of the statistics listener, exactly, and that a chain passes each
 * event to both listeners.
 */
#include "tap.h"

#include <errno.h>
#include <gchint/gc-listener.h>

static struct gc_histogram one(uint64_t ns)
{
	struct gc_histogram h = { 0 };

	gc_histogram_add(&h, ns);
	return h;
}

/* In which bucket it is; -1 if not in one alone. */
static int bucket(uint64_t ns)
{
	struct gc_histogram h = one(ns);
	int at = -1;

	for (int i = 0; i < GC_HIST_BUCKETS; i++)
		if (h.bucket[i])
			at = at < 0 && h.bucket[i] == 1 ? i : -2;
	return at;
}

static void buckets(void)
{
	static const struct {
		uint64_t ns;
		int bucket;
	} rows[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ 7, 7 },
		{ 8, 8 },
		{ 15, 15 },
		{ 16, 16 },
		{ 17, 16 },
		{ 18, 17 },
		{ 31, 23 },
		{ 32, 24 },
		{ 35, 24 },
		{ 36, 25 },
		{ 1023, 63 },
		{ 1024, 64 },
		{ 1151, 64 },
		{ 1152, 65 },
		{ (1ull << 34) - 1, 255 },
		{ 1ull << 34, 255 },
		{ UINT64_MAX, 255 },
	};
	bool good = true;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int at = bucket(rows[i].ns);

		if (at == rows[i].bucket)
			continue;
		good = false;
		printf("# %llu ns in bucket %d, not %d\n", (unsigned long long)rows[i].ns, at,
		       rows[i].bucket);
	}
	ok(good, "there are eight buckets per octave, and the last one takes larger values");
}

static void quantiles(void)
{
	struct gc_histogram h = { 0 };

	ok(!gc_histogram_quantile(&h, .5), "the quantile of nothing is 0");
	for (uint64_t ns = 1; ns <= 7; ns++)
		gc_histogram_add(&h, ns);
	ok(h.count == 7 && h.sum_ns == 28 && h.max_ns == 7, "count, sum and maximum are right");
	ok(gc_histogram_quantile(&h, 0) == 1, "the 0 quantile is the minimum");
	ok(gc_histogram_quantile(&h, .5) == 4,
	   "the 0.5 quantile rounds 3.5 up to the fourth value");
	ok(gc_histogram_quantile(&h, .49) == 3,
	   "the quantile at 3.43 is the fourth value's predecessor");
	ok(gc_histogram_quantile(&h, 1) == 7, "the 1 quantile is the maximum");
	gc_histogram_add(&h, 1030);
	gc_histogram_add(&h, 2000);
	ok(gc_histogram_quantile(&h, 8. / 9) == 1151, "a quantile is the upper edge of its bucket");
	ok(gc_histogram_quantile(&h, 1) == 2000, "a quantile is at most the maximum");
	gc_histogram_add(&h, 3);
	ok(h.max_ns == 2000, "a smaller value does not change the maximum");
	h = one(7);
	gc_histogram_add(&h, 1000);
	ok(gc_histogram_quantile(&h, .5) == 7, "the last bucket of 1 ns is exact");
	h = one(UINT64_MAX / 2);
	ok(gc_histogram_quantile(&h, 1) == (1ull << 34) - 1,
	   "larger values are in the last bucket");
}

static void statistics(void)
{
	struct gc_listener_stats s;
	struct gc_event e = { .kind = GC_KIND_MINOR, .cause = GC_CAUSE_EXPLICIT };
	const struct gc_listener_ops *ops;

	ok(!gc_listener_stats_init(&s, 2), "statistics with two pause records are created");
	ops = s.base.ops;
	ops->cycle_end(&s.base, &e);
	ops->cycle_end(&s.base, &e);
	e.kind = GC_KIND_MAJOR;
	ops->cycle_end(&s.base, &e);
	ok(s.cycles[GC_KIND_MINOR] == 2 && s.cycles[GC_KIND_MAJOR] == 1,
	   "cycles are counted by kind");
	ok(s.by_cause[GC_CAUSE_EXPLICIT] == 3, "cycles are counted by cause");
	e.duration_ns = 5;
	ops->stopped(&s.base, &e);
	ops->stopped(&s.base, &e);
	ok(s.ttsp.count == 2 && s.ttsp.sum_ns == 10 && s.phase_ns[GC_PHASE_STOP] == 10 &&
		   s.phase_count[GC_PHASE_STOP] == 2,
	   "time to safepoint is recorded, also as a phase");
	e.duration_ns = 7;
	ops->restarted(&s.base, &e);
	ok(s.stw.count == 1 && s.stw.sum_ns == 7 && !s.ttsp.bucket[7],
	   "the time of the stop is recorded");
	e.phase = GC_PHASE_MARK;
	ops->mark_end(&s.base, &e);
	ops->mark_end(&s.base, &e);
	ok(s.phase_ns[GC_PHASE_MARK] == 14 && s.phase_count[GC_PHASE_MARK] == 2 && !s.trims,
	   "time and number of a phase are recorded");
	e.phase = GC_PHASE_TRIM;
	ops->trim_end(&s.base, &e);
	ok(s.phase_ns[GC_PHASE_TRIM] == 7 && s.trims == 1, "trims are counted");
	e.pause = GC_PAUSE_WAIT;
	for (int i = 0; i < 3; i++) {
		e.time_ns = 100 + (uint64_t)i;
		ops->mutator_resumed(&s.base, &e);
	}
	ok(s.pause[GC_PAUSE_WAIT].count == 3 && s.pause[GC_PAUSE_WAIT].sum_ns == 21 &&
		   !s.pause[GC_PAUSE_SAFEPOINT].count,
	   "pauses are recorded by class");
	ok(s.record_count == 2 && s.record_lost == 1 && s.records[0].begin_ns == 93 &&
		   s.records[0].end_ns == 100 && s.records[1].end_ns == 101 &&
		   s.records[1].pause == GC_PAUSE_WAIT,
	   "two pauses are kept, the third is counted as lost");
	ok(!s.lock, "the lock is free again");
	gc_listener_stats_fini(&s);
	ok(!s.records, "statistics are freed");
	ok(gc_listener_stats_init(&s, SIZE_MAX / 2) == -ENOMEM && !s.record_max,
	   "too many records fail with -ENOMEM");
	ok(!gc_listener_stats_init(&s, 0) && !s.records, "without records statistics are created");
	s.base.ops->mutator_resumed(&s.base, &e);
	ok(!s.record_count && s.record_lost == 1, "without records all pauses are counted as lost");
	gc_listener_stats_fini(&s);
}

struct ear {
	struct gc_listener base;
	unsigned int heard, at;
	const struct gc_event *event;
};
static unsigned int now;

static void hear(struct gc_listener *self, const struct gc_event *event)
{
	struct ear *ear = (struct ear *)self;

	ear->heard++;
	ear->at = ++now;
	ear->event = event;
}

/* Each member of the table as one of an array */
#define MEMBERS (sizeof(struct gc_listener_ops) / sizeof(gc_listen_fn))

static void chain(void)
{
	struct gc_listener_chain c;
	struct gc_event e = { 0 };
	bool both = true, none = true;

	for (unsigned int i = 0; i < MEMBERS; i++) {
		union {
			struct gc_listener_ops ops;
			gc_listen_fn fn[MEMBERS];
		} only = { .fn = { 0 } }, through;
		struct ear a = { .base = { &only.ops } }, b = { .base = { &only.ops } };

		only.fn[i] = hear;
		gc_listener_chain_init(&c, &a.base, &b.base);
		through.ops = *c.base.ops;
		through.fn[i](&c.base, &e);
		both &= a.heard == 1 && b.heard == 1 && a.event == &e && b.event == &e &&
			a.at < b.at;
		for (unsigned int k = 0; k < MEMBERS; k++)
			if (k != i)
				through.fn[k](&c.base, &e);
		none &= a.heard == 1 && b.heard == 1;
	}
	ok(both, "chain: each of %zu events reaches both listeners in order", MEMBERS);
	ok(none, "chain: events without a listener are ignored");
}

int main(void)
{
	buckets();
	quantiles();
	statistics();
	chain();
	return done();
}
