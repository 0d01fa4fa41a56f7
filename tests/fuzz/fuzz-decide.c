// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy of four CPUs whose table, limits, tunables, loads and hints come from the input: every
 * decision is within the limits, at an OPP, and slows no CPU without hints.
 */
#include "fuzz.h"

#include "../../kmod/model/budget.c"
#include "../../kmod/model/decide.c"
#include "../../kmod/model/learn.c"
#include "../../kmod/model/load.c"
#include "../../kmod/model/opp.c"
#include "../../kmod/model/pace.c"
#include "../../kmod/model/plan.c"

#define CPUS 4

struct row {
	size_t offset;
	u32 lo, hi;
};

#define ROW(field, def, lo, hi) { offsetof(struct gchint_tunables, field), lo, hi },

static const struct row rows[] = { GCHINT_TUNABLES(ROW) };

struct cpu {
	struct gchint_load load;
	struct gchint_hint hint;
	struct gchint_plan plan;
	struct gchint_demand demand;
	bool hinted;
	u64 idle_us;
};

struct world {
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_budget budget;
	struct gchint_rules rules;
	struct gchint_learn learn;
	struct gchint_state state;
	struct gchint_load_migrations migrations;
	struct cpu cpu[CPUS];
	u64 now;
};

static void tunable_set(struct bytes *b, struct world *w, const struct row *r)
{
	u32 value = take_in(b, r->lo, r->hi);

	memcpy((char *)&w->tun + r->offset, &value, sizeof(value));
}

static void set_any(struct bytes *b, struct world *w)
{
	u32 i = (u32)bytes_take(b, 1);

	if (i % 4 == 0)
		w->tun.mode = (i >> 2) % 3;
	else
		tunable_set(b, w, &rows[(i >> 2) % ARRAY_SIZE(rows)]);
	w->rules.epoch++;
}

static void limits_draw(struct bytes *b, struct world *w)
{
	u32 a = take_in(b, 0, w->opps.ref_khz + 1000);
	u32 z = take_in(b, 0, w->opps.ref_khz + 1000);

	w->rules.min_khz = min_t(u32, a, z);
	w->rules.max_khz = max_t(u32, a, z);
	gchint_rules_set_mutators(&w->rules);
	w->rules.epoch++;
}

static void hint_draw(struct bytes *b, struct world *w, struct cpu *c)
{
	struct gchint_hint *h = &c->hint;
	u32 bits_of = (u32)bytes_take(b, 2);

	memset(h, 0, sizeof(*h));
	c->hinted = bits_of & 1;
	h->may_raise = bits_of & 2;
	h->role = bits_of & 4;
	h->overdue = bits_of & 8;
	h->mutator = (u8)((bits_of >> 13) % GCHINT_MUTATORS);
	h->class = (bits_of >> 4) % GCHINT_CLASS_NR;
	h->phase = (bits_of >> 8) % GCHINT_PHASE_NR;
	h->instance = (u32)bytes_take(b, 1);
	h->revision = (u32)bytes_take(b, 1);
	h->begin_ns = h->role ? 0 : w->now - min_t(u64, bytes_take(b, 4), w->now);
	h->stall_ns = bits_of & 0x1000 ? w->now + bytes_take(b, 4) : 0;
	h->work_done = take_any(b) & (GCHINT_WORK_MAX - 1);
	h->work_left = take_any(b) & (GCHINT_WORK_MAX - 1);
	h->ran_ns = bytes_take(b, 4);
	h->mark_ns = h->begin_ns;
	h->work_ran_ns = h->ran_ns / (1 + (u32)bytes_take(b, 1));
	h->work_cycles = h->work_ran_ns * take_in(b, 0, 8000000);
}

static void sample_draw(struct bytes *b, struct world *w)
{
	struct gchint_sample s = {
		.valid = true,
		.ended = bytes_take(b, 1) & 1,
		.phase = (u8)(bytes_take(b, 1) % GCHINT_PHASE_NR),
		.class = (u8)(bytes_take(b, 1) % GCHINT_CLASS_NR),
		.core_type = (u8)(bytes_take(b, 1) % GCHINT_CORE_TYPES),
		.khz = (u32)take_any(b),
		.work = take_any(b),
		.ran_ns = take_any(b),
		.wall_ns = take_any(b),
	};

	gchint_learn_add(&w->learn, &s, w->opps.ref_khz);
}

static u64 window_ns(const struct world *w)
{
	return (u64)w->tun.window_us * NSEC_PER_USEC;
}

static u32 unhinted_khz(const struct world *w, u32 load)
{
	struct gchint_demand d;

	gchint_decide_cpu(&d, &w->rules, 0, load, NULL, NULL);
	return d.khz;
}

static bool at_opp(const struct world *w, u32 khz)
{
	for (u32 i = 0; i < w->opps.nr; i++) {
		if (w->opps.opp[i].khz == khz)
			return true;
	}
	return !w->opps.nr;
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

/* Time of a hinting thread, at any frequency: the delay cost stays within its bounds. */
static void usage_check(struct world *w, const struct cpu *c, u64 ran_ns, u32 load)
{
	struct gchint_usage u = { .ran_ns = ran_ns };

	gchint_budget_set(&w->budget, w->tun.budget);
	gchint_decide_usage(&u, &w->rules, &c->hint, &c->plan, w->state.khz, load, w->state.hinted);
	must(u.weight <= 2 * GCHINT_WEIGHT_THREAD);
	gchint_budget_book(&w->budget, &u, w->now);
	must(w->budget.delay_cost <= GCHINT_DELAY_COST_MAX);
	if (!w->tun.budget)
		must(w->budget.delay_cost == GCHINT_DELAY_COST_MAX);
	w->rules.delay_cost = w->budget.delay_cost;
	gchint_rules_set_mutators(&w->rules);
}

static u32 demand_check(struct bytes *b, struct world *w, u32 nr)
{
	struct cpu *c = &w->cpu[nr];
	u32 base, all, io;
	u64 step = bytes_take(b, 3);
	u32 who = 1 + (u32)step / 2 % 7;

	w->now += step;
	c->idle_us += bytes_take(b, 2);
	gchint_load_account(&c->load, w->now, c->idle_us,
			    gchint_scale(w->state.khz, w->opps.ref_khz), c->demand.hinted,
			    window_ns(w));
	if (gchint_load_set_task(&c->load, who, (u32)bytes_take(b, 2)))
		gchint_load_attach_task(&c->load, who, (u32)bytes_take(b, 2), bytes_take(b, 4));
	gchint_load_iowait(&c->load, w->now, step & 1, 4 * NSEC_PER_MSEC);
	io = gchint_load_boost(&c->load);
	base = gchint_load_base(&c->load);
	all = gchint_load_all(&c->load);
	must(base <= all && all <= GCHINT_ONE && io <= GCHINT_ONE);
	if (c->hinted)
		usage_check(w, c, step, all);
	base = max_t(u32, base, io);
	all = max_t(u32, all, io);
	if (c->hinted && c->hint.class != GCHINT_CLASS_NEUTRAL &&
	    !gchint_plan_valid(&c->plan, &c->hint, &w->rules, w->now)) {
		gchint_plan_make(&c->plan, &c->hint, &w->rules, &w->learn, nr % GCHINT_CORE_TYPES,
				 w->now);
		must(gchint_plan_valid(&c->plan, &c->hint, &w->rules, w->now));
		must(c->plan.reason < GCHINT_REASON_NR);
	}
	gchint_decide_cpu(&c->demand, &w->rules, nr,
			  gchint_decide_uses_all(&w->rules, c->hinted ? &c->hint : NULL) ? all :
											   base,
			  c->hinted ? &c->hint : NULL, &c->plan);
	must(c->demand.khz && c->demand.reason < GCHINT_REASON_NR);
	if (!c->hinted || w->tun.mode == GCHINT_MODE_OFF)
		must(c->demand.khz == unhinted_khz(w, base));
	else if (!c->hint.may_raise && !w->tun.boost_unprivileged)
		must(c->demand.khz <= unhinted_khz(w, all));
	return c->hinted ? 0 : unhinted_khz(w, base);
}

static void decide_check(struct bytes *b, struct world *w)
{
	struct gchint_demand best = {};
	struct gchint_decision out;
	u32 before = w->state.khz, epoch = w->state.epoch;
	u32 least = 0;

	for (u32 i = 0; i < CPUS; i++) {
		least = max_t(u32, least, demand_check(b, w, i));
		gchint_decide_join(&best, &w->cpu[i].demand);
	}
	gchint_decide_policy(&out, &w->rules, &w->state, &best, w->now);
	must(out.cpu < CPUS && out.reason < GCHINT_REASON_NR);
	must(out.change == (out.khz != before || epoch != w->rules.epoch));
	must(out.khz == w->state.khz);
	must(at_opp(w, out.khz));
	if (inside_exists(w))
		must(out.khz >= w->rules.min_khz && out.khz <= w->rules.max_khz);
	/* Load may have to wait, as with schedutil; a hint does not make others wait. */
	if (least && out.reason != GCHINT_REASON_HOLD)
		must(out.khz >=
		     gchint_opps_resolve(&w->opps, least, w->rules.min_khz, w->rules.max_khz));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct world w;
	struct bytes b = { data, size };
	u32 nr;

	memset(&w, 0, sizeof(w));
	gchint_opps_init(&w.opps, (u32)bytes_take(&b, 3));
	nr = (u32)bytes_take(&b, 1) % 70;
	while (nr-- && b.left)
		gchint_opps_add(&w.opps, (u32)bytes_take(&b, 3), (u32)bytes_take(&b, 3),
				bytes_take(&b, 1) & 0x11 ? 0 : GCHINT_OPP_INEFFICIENT);
	gchint_opps_finish(&w.opps);
	gchint_tunables_init(&w.tun);
	w.now = bytes_take(&b, 6);
	w.rules.opps = &w.opps;
	w.rules.tun = &w.tun;
	w.rules.max_khz = w.opps.ref_khz;
	w.rules.latency_ns = (u32)take_any(&b);
	w.rules.epoch = 1;
	must(gchint_decide_delay_ns(&w.rules) <= 100 * NSEC_PER_MSEC);
	for (u32 i = 0; i < CPUS; i++)
		gchint_load_init(&w.cpu[i].load, &w.migrations, i, w.now, 0);
	while (b.left) {
		switch (bytes_take(&b, 1) % 6) {
		case 0:
			set_any(&b, &w);
			break;
		case 1:
			limits_draw(&b, &w);
			break;
		case 2:
			hint_draw(&b, &w, &w.cpu[bytes_take(&b, 1) % CPUS]);
			break;
		case 3:
			sample_draw(&b, &w);
			break;
		case 4:
			w.now += bytes_take(&b, 4);
			break;
		default:
			decide_check(&b, &w);
			break;
		}
	}
	return 0;
}
