// SPDX-License-Identifier: MIT
/*
 * Description: what is granted, counted, left and allowed while a cycle runs, on a heap of
 * which only these figures exist.
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
	heap.opt.policy = GC_POLICY_DEFAULT;
	heap.opt.sizing = GC_SIZING_HUSSEIN;
	heap.soft_limit = 100000;
	heap.concurrent_start = UINT64_MAX;
}

static void grants(void)
{
	fresh();
	ok(gc_budget_grant(&heap, 8) == 8192, "a grant is 8 KiB");
	ok(gc_budget_grant(&heap, 8192) == 8192 && gc_budget_grant(&heap, 8193) == 8193,
	   "or what is wanted");
	heap.opt.stress = 100;
	ok(gc_budget_grant(&heap, 8) == 100 && gc_budget_grant(&heap, 200) == 200,
	   "stress=: no more than that");
	heap.opt.stress = 8193;
	ok(gc_budget_grant(&heap, 8) == 8192, "stress=: nor more than else");
	heap.opt.every_safepoint = true;
	ok(gc_budget_grant(&heap, 8) == 8, "at every safepoint: what is wanted");
}

static void takes(void)
{
	fresh();
	ok(gc_budget_take(&heap, 100000, false) && heap.in_use == 100000 && heap.granted == 100000,
	   "up to the limit");
	ok(!gc_budget_take(&heap, 1, false) && heap.in_use == 100000 && heap.granted == 100000,
	   "not a byte beyond");
	ok(gc_budget_take(&heap, 1, true) && heap.in_use == 100001 && heap.granted == 100001,
	   "unless it is forced");
}

/* What the turn becomes when so much is taken of 50000 that may be used before a cycle. */
static enum gc_cycle_state ordered(size_t bytes, bool on, uint64_t passed_over)
{
	fresh();
	heap.concurrent_start = 50000;
	heap.passed_over = passed_over;
	heap.gc.daemon_up = true;
	heap.gc.daemon_on = on;
	gc_budget_take(&heap, bytes, false);
	return heap.gc.control.state;
}

static void orders(void)
{
	ok(ordered(50000, true, 0) == GC_CYCLE_IDLE, "up to the start no cycle is ordered");
	ok(ordered(50001, true, 0) == GC_CYCLE_DUE, "beyond it one is");
	ok(ordered(50001, false, 0) == GC_CYCLE_IDLE, "not where the daemon is off");
	ok(ordered(40000, true, 10000) == GC_CYCLE_IDLE &&
		   ordered(40000, true, 10001) == GC_CYCLE_DUE,
	   "what is passed over counts as used");
	ok(ordered(100001, true, 0) == GC_CYCLE_IDLE && !heap.in_use,
	   "what is refused orders none");
}

static void spends(void)
{
	struct gc_thread t = { .heap = &heap };

	fresh();
	ok(gc_budget_spend(&t, 100, false) && t.credit == 8092 && heap.in_use == 8192,
	   "the first takes a grant");
	ok(gc_budget_spend(&t, 8092, false) && !t.credit && heap.in_use == 8192,
	   "the next lives on it, to its end");
	heap.in_use = 99000;
	ok(gc_budget_spend(&t, 600, false) && !t.credit && heap.in_use == 99600,
	   "near the limit what it needs and no more");
	t.credit = 300;
	ok(gc_budget_spend(&t, 700, false) && !t.credit && heap.in_use == 100000,
	   "less what it has");
	t.credit = 50;
	ok(!gc_budget_spend(&t, 51, false) && t.credit == 50 && heap.in_use == 100000,
	   "at the limit none, and what it has stays");
	ok(gc_budget_spend(&t, 51, true) && !t.credit && heap.in_use == 100001, "unless forced");
	heap.granted = 5000;
	t.credit = 400;
	t.objects = 3;
	gc_budget_return(&t);
	ok(heap.in_use == 99601 && heap.granted == 4600 && heap.stats.allocated_objects == 3 &&
		   !t.credit && !t.objects,
	   "what was not used comes back, what was allocated is counted");
	gc_budget_return(&t);
	ok(heap.in_use == 99601 && heap.granted == 4600 && heap.stats.allocated_objects == 3,
	   "once");
}

static uint64_t half(const struct gc_heap *h, uint64_t want, bool most)
{
	(void)h;
	return want / 2 + most;
}

static void headroom(void)
{
	fresh();
	heap.in_use = 40000;
	ok(gc_headroom(&heap) == 60000, "headroom: up to the soft limit");
	heap.soft_limit = 2000000;
	ok(gc_headroom(&heap) == 960000, "headroom: but no more than max=");
	heap.soft_limit = 100000;
	heap.opt.policy = GC_POLICY_BG;
	ok(gc_headroom(&heap) == 60000, "headroom: policy=bg without its daemon");
	heap.gc.daemon_up = true;
	ok(gc_headroom(&heap) == 960000, "headroom: with it up to max=");
	heap.opt.policy = GC_POLICY_DEFAULT;
	ok(gc_headroom(&heap) == 60000, "headroom: another policy with a daemon");
	heap.pace = (struct gc_pace){ .on = 1, .base = 30000, .room = 16000 };
	ok(gc_headroom(&heap) == 4000, "headroom: who is paced, seven eighths of the room");
	heap.pace.tight = 1;
	ok(gc_headroom(&heap) == 60000, "headroom: held to less for a while says nothing");
	heap.pace.on = 0;
	heap.in_use = 100000;
	ok(!gc_headroom(&heap), "headroom: none at the limit");
	heap.in_use = 100001;
	ok(!gc_headroom(&heap), "headroom: none beyond");
	heap.in_use = 40000;
	plan.room = half;
	ok(gc_headroom(&heap) == 30000, "headroom: as much as the space has");

	fresh();
	heap.in_use = 40000;
	ok(gc_headroom_most(&heap) == 960000, "at most: up to max=");
	heap.opt.sizing = GC_SIZING_FIXED;
	ok(gc_headroom_most(&heap) == 60000, "at most: a fixed size stays");
	heap.in_use = 100001;
	ok(!gc_headroom_most(&heap), "at most: none beyond");
	heap.in_use = 40000;
	plan.room = half;
	ok(gc_headroom_most(&heap) == 30001, "at most: as much as max= allows the space");
}

static bool paced(uint64_t base, uint64_t room, uint64_t most, uint64_t work, uint64_t done_)
{
	const struct gc_pace *p = &heap.pace;

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
	heap.in_use = 60000;
	heap.live_bytes = 20000;
	gc_pace_order(&heap);
	gc_pace_begin(&heap);
	gc_pace_tighten(&heap, 1400);
	ok(!heap.pace.on && !heap.pace.base, "pace=0: nobody is held up");
	heap.opt.pace = 1000;
	heap.opt.policy = GC_POLICY_BG;
	heap.gc.daemon_up = true;
	gc_pace_begin(&heap);
	ok(!heap.pace.on, "the daemon alone collects: nobody is held up");
	heap.gc.daemon_up = false;
	gc_pace_begin(&heap);
	ok(heap.pace.on, "policy=bg without its daemon: paced");

	fresh();
	heap.opt.pace = 1000;
	heap.in_use = 60000;
	heap.live_bytes = 20000;
	heap.pace.tight = 1;
	heap.pace.done = 5;
	gc_pace_order(&heap);
	ok(paced(60000, 40000, UINT64_MAX, UINT64_MAX, 0) && !heap.pace.tight &&
		   gc_pace_allowed(&heap.pace) == 62500,
	   "ordered: a sixteenth of the headroom until it begins");
	heap.cycle.kind = GC_KIND_MAJOR;
	heap.pace.tight = 1;
	heap.pace.room = 5;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 25000, 0) && !heap.pace.tight,
	   "begun: a quarter more than what lived is expected");
	heap.marked_of[GC_KIND_MAJOR] = 40000;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 50000, 0), "or than what was marked");
	heap.marked_of[GC_KIND_MAJOR] = 48000;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 60000, 0), "no more than there is");
	heap.marked_of[GC_KIND_MAJOR] = 0;
	heap.cycle.kind = GC_KIND_MINOR;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 40000, 25000, 0), "minor: what lived is not marked");
	heap.live_bytes = 60000;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 60000, 0), "minor: nothing new, all of it");
	heap.live_bytes = 0;
	gc_pace_begin(&heap);
	ok(paced(60000, 40000, 60000, 60000, 0), "nothing known: all of it");
	gc_pace_tighten(&heap, 1400);
	ok(paced(60000, 1600, 1, 1, 1) && heap.pace.tight && gc_pace_allowed(&heap.pace) == 61400,
	   "tightened: to so many bytes");
	gc_pace_end(&heap);
	ok(!heap.pace.on, "ended");
}

static void sizes(void)
{
	fresh();
	heap.opt.heap = 80000;
	heap.opt.delta = 5000;
	gc_sizing_init(&heap);
	ok(heap.soft_limit == 80000 && heap.concurrent_start == 75000,
	   "at first: heap= and delta=");
	plan.reserve = true;
	gc_sizing_init(&heap);
	ok(heap.soft_limit == 80000, "at first: copying, a size that grows");
	heap.opt.sizing = GC_SIZING_FIXED;
	gc_sizing_init(&heap);
	ok(heap.soft_limit == 40000 && heap.concurrent_start == 75000,
	   "at first: copying, a fixed size: the half");
	heap.opt.ahead = 2;
	gc_sizing_init(&heap);
	ok(heap.soft_limit == 40000 && heap.concurrent_start == 20000,
	   "at first: ahead=: at half of it");

	fresh();
	heap.in_use = 90000;
	ok(gc_sizing_grow(&heap, 10000) && heap.soft_limit == 100000, "grow: not where it fits");
	ok(gc_sizing_grow(&heap, 10001) && heap.soft_limit == 100001, "grow: by what is wanted");
	ok(gc_sizing_grow(&heap, 910000) && heap.soft_limit == 1000000, "grow: up to max=");
	ok(!gc_sizing_grow(&heap, 910001) && heap.soft_limit == 1000000, "grow: not beyond");
	heap.opt.sizing = GC_SIZING_FIXED;
	heap.soft_limit = 100000;
	ok(gc_sizing_grow(&heap, 10000), "grow: a fixed size has what it has");
	ok(!gc_sizing_grow(&heap, 10001) && heap.soft_limit == 100000, "grow: and no more");
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
	   "in vain: more than 98 %% stood, less than 2 %% granted");
	ok(!strikes(1960, 1999, true), "98 %% are not more");
	ok(!strikes(1961, 2000, true), "2 %% are not less");
	ok(!strikes(1961, 1999, false), "nobody needed it");
	ok(strikes(2000, (uint64_t)-5000, true) == 5,
	   "more came back than was granted: nothing was");
	ok(!gc_overhead_refuses(&o, 0) && o.strikes == GC_OVERHEAD_STRIKES - 1,
	   "seven do not refuse");
	o.strikes++;
	ok(!gc_overhead_refuses(&o, 2000) && o.strikes == GC_OVERHEAD_STRIKES, "2 %% left: not");
	ok(gc_overhead_refuses(&o, 1999) && o.strikes == GC_OVERHEAD_STRIKES - 1, "less: refused");
	ok(!gc_overhead_refuses(&o, 0), "and the next one that is in vain, not before");
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
