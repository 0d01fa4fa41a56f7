// SPDX-License-Identifier: MIT
/*
 * Description: grants, counters, headroom and pacing while a cycle runs, on a heap that consists
 * only of these figures.
 */
#include "tap.h"

#include <gchint/gc.h>

#include "heap/budget.h"
#include "heap/headroom.h"
#include "heap/heap.h"
#include "policy/overhead.h"
#include "heap/pace.h"
#include "heap/plan.h"
#include "cycle/sizing.h"

static struct gc_plan plan;
static struct gc_heap heap;

static void fresh(void)
{
	memset(&plan, 0, sizeof(plan));
	memset(&heap, 0, sizeof(heap));
	heap.plan = &plan;
	heap.opt.max = 1000000;
	heap.budget.most = 1000000;
	heap.opt.policy = GC_POLICY_DEFAULT;
	heap.opt.sizing = GC_SIZING_HUSSEIN;
	heap.budget.soft_limit = 100000;
	heap.budget.concurrent_start = UINT64_MAX;
}

static void grants(void)
{
	fresh();
	ok(gc_budget_grant(&heap, 8) == 8192, "a grant is 8 KiB");
	ok(gc_budget_grant(&heap, 8192) == 8192 && gc_budget_grant(&heap, 8193) == 8193,
	   "a grant is at least the request");
	heap.opt.stress = 100;
	ok(gc_budget_grant(&heap, 8) == 100 && gc_budget_grant(&heap, 200) == 200,
	   "stress= limits a grant");
	heap.opt.stress = 8193;
	ok(gc_budget_grant(&heap, 8) == 8192, "a large stress= does not raise a grant");
	heap.opt.every_safepoint = true;
	ok(gc_budget_grant(&heap, 8) == 8, "safepoints=1 grants exactly the request");
}

static void takes(void)
{
	fresh();
	ok(gc_budget_take(&heap, 100000, false) && heap.budget.in_use == 100000 &&
		   heap.budget.granted == 100000,
	   "bytes are taken up to the limit");
	ok(!gc_budget_take(&heap, 1, false) && heap.budget.in_use == 100000 &&
		   heap.budget.granted == 100000,
	   "no byte is taken beyond the limit");
	ok(gc_budget_take(&heap, 1, true) && heap.budget.in_use == 100001 &&
		   heap.budget.granted == 100001,
	   "force takes bytes beyond the limit");
}

/* What the turn becomes when so much is taken of 50000 that may be used before a cycle. */
static enum gc_cycle_state ordered(size_t bytes, bool on, uint64_t passed_over)
{
	fresh();
	heap.budget.concurrent_start = 50000;
	heap.budget.passed_over = passed_over;
	heap.gc.daemon_up = true;
	heap.gc.daemon_on = on;
	gc_budget_take(&heap, bytes, false);
	return heap.gc.control.state;
}

static void orders(void)
{
	ok(ordered(50000, true, 0) == GC_CYCLE_IDLE,
	   "no cycle is ordered up to the concurrent start");
	ok(ordered(50001, true, 0) == GC_CYCLE_DUE,
	   "a cycle is ordered beyond the concurrent start");
	ok(ordered(50001, false, 0) == GC_CYCLE_IDLE,
	   "no cycle is ordered while the daemon is off");
	ok(ordered(40000, true, 10000) == GC_CYCLE_IDLE &&
		   ordered(40000, true, 10001) == GC_CYCLE_DUE,
	   "bytes that are passed over count as used");
	ok(ordered(100001, true, 0) == GC_CYCLE_IDLE && !heap.budget.in_use,
	   "a refused request orders no cycle");
}

static void spends(void)
{
	struct gc_thread t = { .heap = &heap };

	fresh();
	ok(gc_budget_spend(&t, 100, false) && t.credit == 8092 && heap.budget.in_use == 8192,
	   "the first request takes a grant");
	ok(gc_budget_spend(&t, 8092, false) && !t.credit && heap.budget.in_use == 8192,
	   "the next requests use the rest of the grant");
	heap.budget.in_use = 99000;
	ok(gc_budget_spend(&t, 600, false) && !t.credit && heap.budget.in_use == 99600,
	   "near the limit only the request is taken");
	t.credit = 300;
	ok(gc_budget_spend(&t, 700, false) && !t.credit && heap.budget.in_use == 100000,
	   "near the limit the credit is subtracted from the request");
	t.credit = 50;
	ok(!gc_budget_spend(&t, 51, false) && t.credit == 50 && heap.budget.in_use == 100000,
	   "at the limit the request fails and the credit stays");
	ok(gc_budget_spend(&t, 51, true) && !t.credit && heap.budget.in_use == 100001,
	   "force succeeds at the limit");
	heap.budget.granted = 5000;
	t.credit = 400;
	t.objects = 3;
	gc_budget_return(&t);
	ok(heap.budget.in_use == 99601 && heap.budget.granted == 4600 &&
		   heap.stats.allocated_objects == 3 && !t.credit && !t.objects,
	   "unused credit returns to the heap, and objects are counted");
	gc_budget_return(&t);
	ok(heap.budget.in_use == 99601 && heap.budget.granted == 4600 &&
		   heap.stats.allocated_objects == 3,
	   "credit returns only once");
}

static uint64_t half(const struct gc_heap *h, uint64_t want, bool most)
{
	(void)h;
	return want / 2 + most;
}

static void headroom(void)
{
	fresh();
	heap.budget.in_use = 40000;
	ok(gc_headroom(&heap) == 60000, "headroom: up to the soft limit");
	heap.budget.soft_limit = 2000000;
	ok(gc_headroom(&heap) == 960000, "headroom: not more than max=");
	heap.budget.soft_limit = 100000;
	heap.opt.policy = GC_POLICY_BG;
	ok(gc_headroom(&heap) == 60000,
	   "headroom: policy=bg without a daemon, up to the soft limit");
	heap.gc.daemon_up = true;
	ok(gc_headroom(&heap) == 960000, "headroom: policy=bg with the daemon, up to max=");
	heap.opt.policy = GC_POLICY_DEFAULT;
	ok(gc_headroom(&heap) == 60000,
	   "headroom: another policy with a daemon, up to the soft limit");
	heap.budget.pace = (struct gc_pace){ .on = 1, .base = 30000, .room = 16000 };
	ok(gc_headroom(&heap) == 4000, "headroom: with pacing, seven eighths of the room");
	heap.budget.pace.tight = 1;
	ok(gc_headroom(&heap) == 60000, "headroom: a temporary bound does not count");
	heap.budget.pace.on = 0;
	heap.budget.in_use = 100000;
	ok(!gc_headroom(&heap), "headroom: none at the limit");
	heap.budget.in_use = 100001;
	ok(!gc_headroom(&heap), "headroom: none beyond the limit");
	heap.budget.in_use = 40000;
	plan.room = half;
	ok(gc_headroom(&heap) == 30000, "headroom: not more than the space has");

	fresh();
	heap.budget.in_use = 40000;
	ok(gc_headroom_most(&heap) == 960000, "maximum headroom: up to max=");
	heap.opt.sizing = GC_SIZING_FIXED;
	ok(gc_headroom_most(&heap) == 60000, "maximum headroom: up to the limit of a fixed size");
	heap.budget.in_use = 100001;
	ok(!gc_headroom_most(&heap), "maximum headroom: none beyond the limit");
	heap.budget.in_use = 40000;
	plan.room = half;
	ok(gc_headroom_most(&heap) == 30001, "maximum headroom: as much as max= allows the space");
}

static bool paced(uint64_t base, uint64_t room, uint64_t most, uint64_t work, uint64_t done_)
{
	const struct gc_pace *p = &heap.budget.pace;

	if (p->on && p->base == base && p->room == room && p->most == most && p->work == work &&
	    p->done == done_)
		return true;
	printf("# on %u base %llu room %llu most %llu work %llu done %llu\n", p->on,
	       (unsigned long long)p->base, (unsigned long long)p->room,
	       (unsigned long long)p->most, (unsigned long long)p->work,
	       (unsigned long long)p->done);
	return false;
}

static void paces(void)
{
	fresh();
	heap.budget.in_use = 60000;
	heap.budget.live_bytes = 20000;
	gc_pace_order(&heap);
	gc_pace_begin(&heap);
	gc_pace_tighten(&heap, 1400);
	ok(!heap.budget.pace.on && !heap.budget.pace.base, "pace=0: no mutator is paced");
	heap.opt.pace = 1000;
	heap.opt.policy = GC_POLICY_BG;
	heap.gc.daemon_up = true;
	gc_pace_begin(&heap);
	ok(!heap.budget.pace.on, "policy=bg with the daemon: no mutator is paced");
	heap.gc.daemon_up = false;
	gc_pace_begin(&heap);
	ok(heap.budget.pace.on, "policy=bg without a daemon: mutators are paced");

	fresh();
	heap.opt.pace = 1000;
	heap.budget.in_use = 60000;
	heap.budget.live_bytes = 20000;
	heap.budget.pace.tight = 1;
	heap.budget.pace.done = 5;
	gc_pace_order(&heap);
	ok(paced(60000, 40000, UINT64_MAX, UINT64_MAX, 0) && !heap.budget.pace.tight &&
		   gc_pace_allowed(&heap.budget.pace) == 62500,
	   "order: a sixteenth of the headroom until marking begins");
	heap.cycle.kind = GC_KIND_MAJOR;
	heap.budget.pace.tight = 1;
	heap.budget.pace.room = 5;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 25000, 0) && !heap.budget.pace.tight,
	   "begin: a quarter more than the live bytes is expected");
	heap.sizing.marked_of[GC_KIND_MAJOR] = 40000;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 50000, 0),
	   "begin: a quarter more than the last cycle marked is expected");
	heap.sizing.marked_of[GC_KIND_MAJOR] = 48000;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 60000, 0),
	   "begin: not more than the bytes in use is expected");
	heap.sizing.marked_of[GC_KIND_MAJOR] = 0;
	heap.cycle.kind = GC_KIND_MINOR;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 40000, 25000, 0),
	   "minor cycle: live bytes are not expected to be marked");
	heap.budget.live_bytes = 60000;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 60000, 0),
	   "minor cycle without new bytes: all bytes are expected");
	heap.budget.live_bytes = 0;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 60000, 0), "without measurements all bytes are expected");
	gc_pace_tighten(&heap, 1400);
	ok(paced(60000, 1600, 1, 1, 1) && heap.budget.pace.tight &&
		   gc_pace_allowed(&heap.budget.pace) == 61400,
	   "a temporary bound allows its number of bytes");
	gc_pace_end(&heap);
	ok(!heap.budget.pace.on, "pacing ends");
}

static void sizes(void)
{
	fresh();
	heap.opt.heap = 80000;
	heap.opt.delta = 5000;
	gc_sizing_init(&heap);
	ok(heap.budget.soft_limit == 80000 && heap.budget.concurrent_start == 75000,
	   "initially: heap= and delta=");
	plan.reserve = true;
	gc_sizing_init(&heap);
	ok(heap.budget.soft_limit == 80000, "initially, copying plan with a growing heap: heap=");
	heap.opt.sizing = GC_SIZING_FIXED;
	gc_sizing_init(&heap);
	ok(heap.budget.soft_limit == 40000 && heap.budget.concurrent_start == 75000,
	   "initially, copying plan with a fixed size: half of heap=");
	heap.opt.ahead = 2;
	gc_sizing_init(&heap);
	ok(heap.budget.soft_limit == 40000 && heap.budget.concurrent_start == 20000,
	   "initially, ahead=: the cycle starts at half of the limit");

	fresh();
	heap.budget.in_use = 90000;
	ok(gc_sizing_grow(&heap, 10000) && heap.budget.soft_limit == 100000,
	   "growth: none where the request fits");
	ok(gc_sizing_grow(&heap, 10001) && heap.budget.soft_limit == 100001,
	   "growth: by the request");
	ok(gc_sizing_grow(&heap, 910000) && heap.budget.soft_limit == 1000000,
	   "growth: up to max=");
	ok(!gc_sizing_grow(&heap, 910001) && heap.budget.soft_limit == 1000000,
	   "growth: not beyond max=");
	heap.opt.sizing = GC_SIZING_FIXED;
	heap.budget.soft_limit = 100000;
	ok(gc_sizing_grow(&heap, 10000), "growth: a fixed size serves what fits");
	ok(!gc_sizing_grow(&heap, 10001) && heap.budget.soft_limit == 100000,
	   "growth: a fixed size does not grow");
}

/* Two mutators, 1000 ns: 2000 in all, of which so many stood still. */
static uint32_t strikes(uint64_t stood, uint64_t granted, bool needed)
{
	struct gc_overhead o = { .since = { .now = 500, .paused_ns = 70, .granted = 9000 },
				 .strikes = 4 };
	struct gc_overhead_in in = { .now = 1500,
				     .paused_ns = 70 + stood,
				     .granted = 9000 + granted,
				     .limit = 100000,
				     .threads = 2 };

	gc_overhead_sample(&o, &in, needed);
	if (o.since.now != 1500 || o.since.granted != in.granted)
		return 99;
	return o.strikes;
}

static void overhead(void)
{
	struct gc_overhead o = { .since = { .limit = 100000 }, .strikes = GC_OVERHEAD_STRIKES - 1 };

	ok(strikes(1961, 1999, true) == 5,
	   "strike: more than 98 %% paused, less than 2 %% granted");
	ok(!strikes(1960, 1999, true), "no strike: exactly 98 %% paused");
	ok(!strikes(1961, 2000, true), "no strike: exactly 2 %% granted");
	ok(!strikes(1961, 1999, false), "no strike: no mutator needed the collection");
	ok(strikes(2000, (uint64_t)-5000, true) == 5,
	   "strike: more bytes returned than granted count as none");
	ok(!gc_overhead_refuses(&o, 0) && o.strikes == GC_OVERHEAD_STRIKES - 1,
	   "seven strikes do not refuse");
	o.strikes++;
	ok(!gc_overhead_refuses(&o, 2000) && o.strikes == GC_OVERHEAD_STRIKES,
	   "eight strikes with 2 %% free do not refuse");
	ok(gc_overhead_refuses(&o, 1999) && o.strikes == GC_OVERHEAD_STRIKES - 1,
	   "eight strikes with less than 2 %% free refuse");
	ok(!gc_overhead_refuses(&o, 0), "after a refusal the next strike refuses again");
}

int main(void)
{
	grants();
	takes();
	orders();
	spends();
	headroom();
	paces();
	sizes();
	overhead();
	return done();
}
