// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"
#include "sim.h"
#include "hint.h"

#define TTL (1000 * MS)

static u64 window(const struct sim *s)
{
	return s->tun.window_us * US;
}

void sim_changed(struct sim *s)
{
	s->rules.epoch++;
}

void sim_init(struct sim *s, u32 latency_ns)
{
	gchint_tunables_init(&s->tun);
	s->rules.opps = &s->opps;
	s->rules.tun = &s->tun;
	s->rules.min_khz = s->opps.opp[0].khz;
	s->rules.max_khz = s->opps.opp[s->opps.nr - 1].khz;
	s->rules.latency_ns = latency_ns;
	s->rules.epoch = 1;
	s->rules.delay_cost = GCHINT_DELAY_COST_MAX;
	s->now = 1000 * S;
	s->last_ran = s->now;
	s->tick_ns = 4 * MS;
	s->seed = s->seed ? s->seed : 1;
	s->khz = s->rules.min_khz;
	s->may_raise = true;
	gchint_load_init(&s->load, NULL, 0, s->now, 0);
}

/* What the hook and the doorbell do. */
static void sim_call_hook(struct sim *s, bool running)
{
	struct gchint_snapshot snap;
	struct gchint_sample sample;
	struct gchint_hint hint;
	u32 load;

	gchint_load_account(&s->load, s->now, s->idle_us, gchint_scale(s->khz, s->opps.ref_khz),
			    gchint_demand_capped(&s->demand), window(s));
	if (running) {
		gchint_phase_account_time(&s->track, s->now - s->last_ran, s->khz, s->core_type);
		if (gchint_phase_due(&s->track, &s->slot, s->now, TTL)) {
			gchint_snapshot_take(&snap, &s->slot, s->now);
			gchint_phase_update(&s->track, &snap, &sample, s->now, TTL);
			s->ignored += !gchint_learn_add(&s->learn, &sample, s->opps.ref_khz);
		}
		gchint_phase_hint(&hint, &s->track, s->role, s->may_raise);
		if (hint.class != GCHINT_CLASS_NEUTRAL &&
		    !gchint_plan_valid(&s->plan, &hint, &s->rules, s->now)) {
			gchint_plan_make(&s->plan, &hint, &s->rules, &s->learn, s->core_type,
					 s->now);
			s->plans++;
		}
	}
	s->last_ran = s->now;
	load = gchint_decide_uses_all(&s->rules, running ? &hint : NULL) ?
		       gchint_load_all(&s->load) :
		       gchint_load_base(&s->load);
	gchint_decide_cpu(&s->demand, &s->rules, 0, load, running ? &hint : NULL, &s->plan);
	gchint_decide_policy(&s->last, &s->rules, &s->state, &s->demand, s->now);
	s->avoided += s->last.avoided;
}

static u32 power(const struct sim *s, bool busy)
{
	u32 awake = gchint_opps_awake(&s->opps, s->tun.awake_pct);

	if (!busy)
		return 0;
	return s->opps.opp[gchint_opp_at_least(&s->opps, s->khz)].power + awake;
}

static void pass(struct sim *s, u64 ns, bool busy)
{
	double energy = (double)power(s, busy) * (double)ns;

	s->now += ns;
	s->energy += energy;
	if (s->track.phase != GCHINT_PHASE_NONE)
		s->phase_energy += energy;
	if (!busy) {
		s->idle_rest += ns;
		s->idle_us += s->idle_rest / US;
		s->idle_rest %= US;
	}
}

static void apply(struct sim *s)
{
	if (!s->last.change)
		return;
	s->last.change = false;
	/* The CPU runs at the old frequency until the switch is done. */
	pass(s, s->rules.latency_ns, true);
	gchint_phase_account_time(&s->track, s->now - s->last_ran, s->khz, s->core_type);
	gchint_load_account(&s->load, s->now, s->idle_us, gchint_scale(s->khz, s->opps.ref_khz),
			    gchint_demand_capped(&s->demand), window(s));
	s->last_ran = s->now;
	s->khz = s->last.khz;
	s->switches++;
}

static void publish(struct sim *s, u32 phase, u32 flags)
{
	s->slot.state = GCHINT_STATE((s->slot.state & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE,
				     phase, flags);
}

void sim_edge(struct sim *s, u32 phase, u32 flags)
{
	publish(s, phase, flags);
	sim_call_hook(s, true);
	apply(s);
}

void sim_run(struct sim *s, u64 ns)
{
	u64 end = s->now + ns;

	while (s->now < end) {
		pass(s, min_t(u64, s->tick_ns, end - s->now), true);
		sim_call_hook(s, true);
		apply(s);
	}
}

void sim_idle(struct sim *s, u64 ns)
{
	pass(s, ns, false);
	/* The wakeup at the end calls the hook. */
	sim_call_hook(s, false);
	apply(s);
	s->last_ran = s->now;
}

u64 sim_phase(struct sim *s, const struct sim_work *w)
{
	double luck = 1 + s->noise * rnd_unit(&s->seed);
	double done = 0;
	u64 begin = s->now;

	s->slot.cause = GCHINT_CAUSE_THRESHOLD;
	s->slot.work_done = 0;
	s->slot.work_total = w->silent ? 0 : w->units;
	s->slot.stall_ns = w->stall_ns ? s->now + w->stall_ns : 0;
	publish(s, w->phase, w->flags);
	sim_call_hook(s, true);
	while (done < (double)w->units) {
		double slow = (double)s->opps.ref_khz / s->khz;
		double unit = (w->a_ns + w->b_ns * slow) * luck;
		double left = ((double)w->units - done) * unit;
		u64 step = s->tick_ns;

		if (s->last.change)
			step = min_t(u64, step, s->rules.latency_ns);
		if (left < (double)step)
			step = (u64)left + 1;
		if (s->last.change) {
			/* Work continues during the switch. */
			u64 before = s->now;

			apply(s);
			done += (double)(s->now - before) / unit;
			if (!(s->now - before))
				continue;
		} else {
			pass(s, step, true);
			done += (double)step / unit;
		}
		if (s->progress && !w->silent && done < (double)w->units) {
			s->slot.work_done = (u64)done;
			publish(s, w->phase, w->flags);
		}
		sim_call_hook(s, true);
	}
	s->slot.work_done = w->silent || s->wipe ? 0 : w->units;
	s->slot.work_total = w->silent || s->wipe ? 0 : w->units;
	sim_edge(s, GCHINT_PHASE_NONE, 0);
	return s->now - begin;
}
