/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of a leased thread, packed for the time when it does not run. */
#ifndef _GCHINT_STOW_H
#define _GCHINT_STOW_H

#include "phase.h"
#include "plan.h"

/**
 * struct gchint_stow - a track and a plan in two thirds of their room
 * @moved_ns: of the track, as are the following
 * @work_done: exact
 * @work_total: exact
 * @mark_work: exact
 * @stall_ns: exact: it is compared with the slot's
 * @state: exact
 * @instance: exact
 * @revision: exact
 * @begin_us: before @moved_ns
 * @mark_us: before @moved_ns
 * @ran_us: in microseconds
 * @mean_khz: cycles over time run
 * @mark_ran_us: in microseconds
 * @mark_mean_khz: likewise
 * @mark_at_us: in microseconds
 * @mark_khz: exact
 * @khz: of the plan, as are the following
 * @until_us: after @moved_ns; U32_MAX for ever
 * @epoch: exact
 * @mem: exact
 * @step: exact
 * @bits: the flags of both
 * @phase: exact
 * @flags: exact
 * @reason: exact
 * @class: exact
 *
 * All zero is a valid initial state.
 */
struct gchint_stow {
	u64 moved_ns;
	u64 work_done;
	u64 work_total;
	u64 mark_work;
	u64 stall_ns;
	u32 state;
	u32 instance;
	u32 revision;
	u32 begin_us;
	u32 mark_us;
	u32 ran_us;
	u32 mean_khz;
	u32 mark_ran_us;
	u32 mark_mean_khz;
	u32 mark_at_us;
	u32 mark_khz;
	u32 khz;
	u32 until_us;
	u32 epoch;
	u16 mem;
	s16 step;
	u16 bits;
	u8 phase;
	u8 flags;
	u8 reason;
	u8 class;
};

void gchint_stow_in(struct gchint_stow *s, const struct gchint_track *t,
		    const struct gchint_plan *p);
void gchint_stow_out(const struct gchint_stow *s, struct gchint_track *t,
		     struct gchint_plan *p);

#endif /* _GCHINT_STOW_H */
