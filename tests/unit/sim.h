/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU under the real policy files, in virtual time. The simulation does what the kernel part of
 * the module does around them: a thread runs, announces phases and progress in a real slot;
 * doorbells ring at edges and the hook is called on ticks; frequency changes take their latency;
 * energy is integrated over the OPP table's power.
 */
#ifndef TESTS_UNIT_SIM_H
#define TESTS_UNIT_SIM_H

#include "decide.h"
#include "load.h"

/**
 * struct sim - a CPU, its policy and one leased thread
 * @opps: its OPPs; fill before sim_init()
 * @tun: tunables; change them after sim_init(), then call sim_changed()
 * @may_raise: the session may raise the frequency
 * @role: the lease's role
 * @progress: the thread publishes its progress on each tick
 * @wipe: the thread clears the work counts of its slot at a phase's end
 * @plans: plans made
 * @core_type: core type of the CPU
 * @tick_ns: tick length
 * @noise: relative deviation of each phase's time, uniform, 0 none
 * @seed: of the noise
 * @now: virtual time
 * @khz: frequency in force
 * @last: last decision
 * @switches: frequency changes
 * @avoided: switches avoided
 * @ignored: samples and details that were rejected
 * @energy: power units times nanoseconds, busy and awake time
 * @phase_energy: part of it in phases
 */
struct sim {
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_rules rules;
	struct gchint_state state;
	struct gchint_slot slot;
	struct gchint_track track;
	struct gchint_plan plan;
	struct gchint_learn learn;
	struct gchint_load load;
	struct gchint_demand demand;
	struct gchint_decision last;
	bool may_raise;
	u32 role;
	bool progress;
	bool wipe;
	u32 plans;
	u8 core_type;
	u64 tick_ns;
	double noise;
	u64 seed;
	u64 now;
	u64 last_ran;
	u64 idle_us;
	u64 idle_rest;
	u32 khz;
	u32 switches;
	u32 avoided;
	u32 ignored;
	double energy;
	double phase_energy;
};

/**
 * struct sim_work - a phase to run
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 * @units: work in it
 * @a_ns: time per unit that waits for memory
 * @b_ns: time per unit that computes, at the highest frequency
 * @stall_ns: announce that mutators stall this long after the beginning; 0: do not
 * @silent: publish no work counts
 */
struct sim_work {
	u32 phase;
	u32 flags;
	u64 units;
	double a_ns;
	double b_ns;
	u64 stall_ns;
	bool silent;
};

/* Start at the lowest OPP with default tunables. */
void sim_init(struct sim *s, u32 latency_ns);

/* Tunables or limits changed. */
void sim_changed(struct sim *s);

/* Run a phase to its end. Return its length. */
u64 sim_phase(struct sim *s, const struct sim_work *w);

/* Run for a while without a phase, or with the slot's current state. */
void sim_run(struct sim *s, u64 ns);

/* Sleep for a while. */
void sim_idle(struct sim *s, u64 ns);

/* A plain edge and its doorbell. */
void sim_edge(struct sim *s, u32 phase, u32 flags);

#endif
