// SPDX-License-Identifier: GPL-2.0-only
/* Invariants for any load, hint, table, limits and tunables. */
#include "unit.h"
#include "boards.h"
#include "decide.h"

#define CPUS 4

struct world {
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_rules rules;
	struct gchint_learn learn;
	u64 now;
	u64 seed;
};

static u32 any(struct world *w, u32 lo, u32 hi)
{
	return rnd_in(&w->seed, lo, hi);
}

static void any_opps(struct world *w)
{
	struct gchint_opps *t = &w->opps;
	u32 nr;

	if (any(w, 0, 2)) {
		boards[any(w, 0, nr_boards - 1)].fill(t);
		return;
	}
	gchint_opps_init(t, any(w, 1, 4000000));
	/* None, one, a few, the maximum. */
	nr = any(w, 0, 3) ? any(w, 0, 6) : any(w, 0, 70);
	while (nr--)
		gchint_opps_add(t, any(w, 1, 5000000), any(w, 0, 9) ? any(w, 1, 4000000) : 0,
				any(w, 0, 9) ? 0 : GCHINT_OPP_INEFFICIENT);
	gchint_opps_finish(t);
}

struct row {
	size_t offset;
	u32 lo, hi;
};

#define ROW(field, def, lo, hi) { offsetof(struct gchint_tunables, field), lo, hi },

static const struct row rows[] = { GCHINT_TUNABLES(ROW) };

static void any_value(struct world *w, const struct row *r)
{
	u32 value = any(w, r->lo, r->hi);

	memcpy((char *)&w->tun + r->offset, &value, sizeof(value));
}

static void any_tunables(struct world *w)
{
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		any_value(w, &rows[i]);
}

static void any_world(struct world *w, u64 seed)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed * 0x9e3779b97f4a7c15ULL + 1;
	w->now = 100 * S;
	any_opps(w);
	gchint_tunables_init(&w->tun);
	w->tun.mode = any(w, 0, 2);
	if (any(w, 0, 1))
		any_tunables(w);
	w->rules.opps = &w->opps;
	w->rules.tun = &w->tun;
	w->rules.epoch = 1;
	w->rules.latency_ns = any(w, 0, 3) ? any(w, 0, 1000000) : 0;
	w->rules.min_khz =
		any(w, 0, 1) && w->opps.nr ? w->opps.opp[0].khz : any(w, 0, w->opps.ref_khz);
	w->rules.max_khz =
		any(w, 0, 1) ? w->opps.ref_khz : any(w, w->rules.min_khz, w->opps.ref_khz + 1000);
	w->rules.max_khz = max_t(u32, w->rules.max_khz, w->rules.min_khz);
}

static void any_hint(struct world *w, struct gchint_hint *h)
{
	memset(h, 0, sizeof(*h));
	h->class = (u8)any(w, 0, GCHINT_CLASS_NR - 1);
	h->phase = (u8)any(w, 0, GCHINT_PHASE_NR - 1);
	h->role = !any(w, 0, 4);
	h->may_raise = any(w, 0, 1);
	h->overdue = !any(w, 0, 9);
	h->instance = any(w, 0, 5);
	h->revision = any(w, 0, 5);
	h->begin_ns = h->role ? 0 : w->now - any(w, 0, 100000000);
	h->stall_ns = any(w, 0, 2) ? 0 : w->now + any(w, 0, 200000000);
	h->work_done = (u64)any(w, 0, U32_MAX) << any(w, 0, 24);
	h->work_left = any(w, 0, 2) ? (u64)any(w, 0, U32_MAX) << any(w, 0, 24) : 0;
	h->ran_ns = any(w, 0, 100000000);
	h->mark_ns = h->begin_ns;
	h->work_ran_ns = h->ran_ns / any(w, 1, 9);
	h->work_cycles = h->work_ran_ns * any(w, 1, 5000000);
}

static void any_learning(struct world *w, u32 samples)
{
	while (samples--) {
		struct gchint_sample s = {
			.valid = true,
			.ended = any(w, 0, 1),
			.phase = (u8)any(w, 0, GCHINT_PHASE_NR - 1),
			.class = (u8)any(w, 0, GCHINT_CLASS_NR - 1),
			.core_type = (u8)any(w, 0, 1),
			.khz = any(w, 0, 5000000),
			.work = any(w, 0, 1) ? any(w, 1, 10000000) : (u64)any(w, 0, U32_MAX) << 20,
			.ran_ns = any(w, 0, 100000000),
			.wall_ns = any(w, 0, 100000000),
		};

		gchint_learn_add(&w->learn, &s, w->opps.ref_khz);
	}
}

static bool inside_exists(const struct world *w)
{
	for (u32 i = 0; i < w->opps.nr; i++) {
		if (w->opps.opp[i].khz >= w->rules.min_khz &&
		    w->opps.opp[i].khz <= w->rules.max_khz)
			return true;
	}
	return !w->opps.nr;
}

/* The lowest frequency of the driver that satisfies a request. */
static u32 resolved(const struct world *w, u32 khz)
{
	return gchint_opps_resolve(&w->opps, khz, w->rules.min_khz, w->rules.max_khz);
}

struct cpu {
	struct gchint_hint hint;
	struct gchint_plan plan;
	struct gchint_demand demand;
	bool hinted;
	u32 base;
	u32 all;
};

static void any_cpu(struct world *w, struct cpu *c, u32 nr)
{
	memset(c, 0, sizeof(*c));
	c->base = any(w, 0, GCHINT_ONE);
	c->all = any(w, c->base, GCHINT_ONE);
	c->hinted = any(w, 0, 1);
	if (c->hinted) {
		any_hint(w, &c->hint);
		if (c->hint.class != GCHINT_CLASS_NEUTRAL)
			gchint_plan_make(&c->plan, &c->hint, &w->rules, &w->learn, (u8)any(w, 0, 1),
					 w->now);
	}
	gchint_decide_cpu(&c->demand, &w->rules, nr,
			  gchint_decide_uses_all(&w->rules, c->hinted ? &c->hint : NULL) ? c->all :
											   c->base,
			  c->hinted ? &c->hint : NULL, c->hinted ? &c->plan : NULL);
}

static u32 unhinted_khz(const struct world *w, u32 load)
{
	struct gchint_demand d;

	gchint_decide_cpu(&d, &w->rules, 0, load, NULL, NULL);
	return d.khz;
}

static void test_decisions_are_within_limits(void **state)
{
	(void)state;
	for (u32 n = 0; n < 3000; n++) {
		struct gchint_state st = {};
		struct world w;

		any_world(&w, n);
		for (u32 turn = 0; turn < 10; turn++) {
			struct gchint_demand best = {};
			struct gchint_decision out;

			any_learning(&w, 4);
			for (u32 i = 0; i < CPUS; i++) {
				struct cpu c;

				any_cpu(&w, &c, i);
				gchint_decide_join(&best, &c.demand);
			}
			gchint_decide_policy(&out, &w.rules, &st, &best, w.now);
			w.now += any(&w, 0, 5000000);
			assert_cmp(out.reason, <, GCHINT_REASON_NR);
			assert_cmp(out.cpu, <, CPUS);
			if (inside_exists(&w)) {
				assert_cmp(out.khz, >=, w.rules.min_khz);
				assert_cmp(out.khz, <=, w.rules.max_khz);
			}
			/* Lingering or not, no hint gets less than it requested. */
			if (best.hinted || out.reason != GCHINT_REASON_HOLD)
				assert_cmp(out.khz, >=, resolved(&w, best.khz));
		}
	}
}

/* A policy never goes below the request of an unhinted CPU. */
static void test_unhinted_neighbour_is_never_slowed(void **state)
{
	(void)state;
	for (u32 n = 0; n < 5000; n++) {
		struct gchint_demand best = {};
		struct gchint_decision out;
		struct gchint_state st = {};
		struct world w;
		u32 least = 0;

		any_world(&w, n);
		any_learning(&w, 40);
		for (u32 i = 0; i < CPUS; i++) {
			struct cpu c;

			any_cpu(&w, &c, i);
			gchint_decide_join(&best, &c.demand);
			if (!c.hinted)
				least = max_t(u32, least, unhinted_khz(&w, c.base));
		}
		gchint_decide_policy(&out, &w.rules, &st, &best, w.now);
		if (least)
			assert_cmp(out.khz, >=, resolved(&w, least));
	}
}

/* Without the privilege no hint requests more than load would. */
static void test_unprivileged_never_raises(void **state)
{
	(void)state;
	for (u32 n = 0; n < 20000; n++) {
		struct world w;
		struct cpu c;

		any_world(&w, n);
		w.tun.boost_unprivileged = 0;
		any_learning(&w, 40);
		any_cpu(&w, &c, 0);
		if (!c.hinted || c.hint.may_raise)
			continue;
		assert_cmp(c.demand.khz, <=, unhinted_khz(&w, c.all));
		/* And a pause is not slowed by announcing it. */
		if (gchint_class_boosts(c.hint.class))
			assert_cmp(c.demand.khz, >=, unhinted_khz(&w, c.base));
	}
}

/* With the privilege to raise, a boost is below load only within the tolerated stretch. */
static void test_boosts_never_cost_more_than_the_tolerated_stretch(void **state)
{
	u32 lowered = 0;

	(void)state;
	for (u32 n = 0; n < 60000; n++) {
		struct gchint_fit fit;
		struct world w;
		struct cpu c;
		u32 top, i;

		any_world(&w, n);
		any_learning(&w, 300);
		w.rules.delay_cost = GCHINT_DELAY_COST_MAX;
		any_cpu(&w, &c, 0);
		if (!c.hinted || !gchint_class_boosts(c.hint.class) || !c.plan.lower)
			continue;
		lowered++;
		assert_true(c.hint.class != GCHINT_CLASS_URGENT);
		assert_int_equal(w.tun.mode, GCHINT_MODE_MODEL);
		gchint_learn_fit(&w.learn, c.hint.phase, 0, &fit);
		top = gchint_opp_at_least(&w.opps, resolved(&w, U32_MAX));
		i = gchint_opp_at_least(&w.opps, c.plan.khz);
		assert_true(gchint_opp_stretch(&w.opps.opp[i], c.plan.mem) * 100ULL <=
			    (gchint_opp_stretch(&w.opps.opp[top], c.plan.mem) + 1ULL) *
				    (100 + w.tun.pause_stretch_pct));
	}
	printf("# %u pauses ran below the highest frequency\n", lowered);
	assert_cmp(lowered, >, 0);
}

static void test_more_load_never_lowers_the_frequency(void **state)
{
	(void)state;
	for (u32 n = 0; n < 300; n++) {
		struct world w;
		struct cpu c;
		u32 before = 0;

		any_world(&w, n);
		any_learning(&w, 40);
		any_cpu(&w, &c, 0);
		for (u32 load = 0; load <= GCHINT_ONE; load += 8) {
			struct gchint_decision out;
			struct gchint_state st = {};
			struct gchint_demand d;

			gchint_decide_cpu(&d, &w.rules, 0, load, c.hinted ? &c.hint : NULL,
					  c.hinted ? &c.plan : NULL);
			gchint_decide_policy(&out, &w.rules, &st, &d, w.now);
			assert_cmp(out.khz, >=, before);
			before = out.khz;
		}
	}
}

static struct gchint_plan plan_for(struct world *w, const struct gchint_hint *h)
{
	struct gchint_plan p = {};

	gchint_plan_make(&p, h, &w->rules, &w->learn, 0, w->now);
	return p;
}

/* Classes in their order of urgency never request less, all else equal. */
static void test_more_urgent_is_never_slower(void **state)
{
	(void)state;
	for (u32 n = 0; n < 5000; n++) {
		struct gchint_hint h;
		struct world w;
		u32 before = 0;

		any_world(&w, n);
		w.tun.mode = GCHINT_MODE_TABLE;
		/* Lengths are known by class, and decide whether a switch pays off. */
		w.rules.latency_ns = 0;
		any_hint(&w, &h);
		h.may_raise = true;
		for (u8 class = GCHINT_CLASS_BACKGROUND; class < GCHINT_CLASS_NR; class ++) {
			struct gchint_demand d;
			struct gchint_plan p;

			h.class = class;
			p = plan_for(&w, &h);
			gchint_decide_cpu(&d, &w.rules, 0, 100, &h, &p);
			assert_cmp(resolved(&w, d.khz), >=, before);
			before = resolved(&w, d.khz);
		}
	}
}

/* A closer stall never lowers; a wider slowdown bound never raises. */
static void test_plans_are_monotonic(void **state)
{
	(void)state;
	for (u32 n = 0; n < 1500; n++) {
		struct gchint_hint h;
		struct world w;
		u32 before = 0;

		any_world(&w, n);
		any_learning(&w, 60);
		w.tun.mode = GCHINT_MODE_MODEL;
		w.tun.probe_every = 0;
		any_hint(&w, &h);
		h.class = GCHINT_CLASS_CONCURRENT;
		h.overdue = false;
		w.rules.latency_ns = 0;
		for (u64 ms = 200; ms; ms -= 10) {
			struct gchint_plan p;

			h.stall_ns = w.now + ms * MS;
			p = plan_for(&w, &h);
			assert_cmp(resolved(&w, p.khz), >=, before);
			before = resolved(&w, p.khz);
		}
		h.stall_ns = 0;
		before = U32_MAX;
		for (u32 pct = 0; pct <= 500; pct += 25) {
			struct gchint_plan p;

			w.tun.slowdown_pct = pct;
			p = plan_for(&w, &h);
			assert_cmp(resolved(&w, p.khz), <=, before);
			before = resolved(&w, p.khz);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions_are_within_limits),
		cmocka_unit_test(test_unhinted_neighbour_is_never_slowed),
		cmocka_unit_test(test_unprivileged_never_raises),
		cmocka_unit_test(test_boosts_never_cost_more_than_the_tolerated_stretch),
		cmocka_unit_test(test_more_load_never_lowers_the_frequency),
		cmocka_unit_test(test_more_urgent_is_never_slower),
		cmocka_unit_test(test_plans_are_monotonic),
	};

	return run_tap(tests);
}
