// SPDX-License-Identifier: GPL-2.0-only
#include "snapshot.h"

static void snapshot_ignore(struct gchint_snapshot *s, enum gchint_ignored why)
{
	s->ignored |= (u32)BIT(why);
}

static void snapshot_check_work(struct gchint_snapshot *s)
{
	if (s->work_total > GCHINT_WORK_MAX || s->work_done > GCHINT_WORK_MAX ||
	    (s->work_total && s->work_done > s->work_total)) {
		s->work_done = 0;
		s->work_total = 0;
		snapshot_ignore(s, GCHINT_IGNORED_WORK);
	}
}

static void snapshot_check_stall(struct gchint_snapshot *s, u64 now_ns)
{
	if (!s->stall_raw)
		return;
	if (s->stall_raw <= now_ns)
		snapshot_ignore(s, GCHINT_IGNORED_STALL_PAST);
	else if (s->stall_raw - now_ns > GCHINT_STALL_HORIZON_NS)
		snapshot_ignore(s, GCHINT_IGNORED_STALL_FAR);
	else
		s->stall_ns = s->stall_raw;
}

void gchint_snapshot_take(struct gchint_snapshot *s, const struct gchint_slot *slot, u64 now_ns)
{
	u32 phase, flags, cause;
	u32 state;

	/* All fields after these are assigned below; this also clears the padding. */
	memset(s, 0, offsetof(struct gchint_snapshot, work_done));
	s->stall_ns = 0;

	/* Pairs with the writer's store-release of the new word: details of it are visible. */
	state = smp_load_acquire(&slot->state);
	cause = READ_ONCE(slot->cause);
	s->work_done = READ_ONCE(slot->work_done);
	s->work_total = READ_ONCE(slot->work_total);
	s->stall_raw = READ_ONCE(slot->stall_ns);
	s->method = READ_ONCE(slot->method);
	/* Not a detail. A torn one is a sample that is not believed. */
	s->own_work = READ_ONCE(slot->own_work);
	/*
	 * Pairs with the writer's release fence after GCHINT_STATE_WRITING: if any
	 * detail is newer than the word that was read first, the second read of it
	 * differs. It also catches a 64-bit detail torn on a 32-bit machine.
	 */
	smp_rmb();
	s->details = !(state & GCHINT_STATE_WRITING) && READ_ONCE(slot->state) == state;

	s->state = state & ~GCHINT_STATE_WRITING;
	phase = (s->state >> GCHINT_STATE_PHASE_SHIFT) & 0xff;
	flags = (s->state >> GCHINT_STATE_FLAGS_SHIFT) & 0xff;
	if (phase >= GCHINT_PHASE_NR) {
		phase = GCHINT_PHASE_NONE;
		snapshot_ignore(s, GCHINT_IGNORED_PHASE);
	}
	/* It selects accounts and what was learned. */
	phase = array_index_nospec(phase, GCHINT_PHASE_NR);
	if (flags & ~GCHINT_F_ALL) {
		flags &= GCHINT_F_ALL;
		snapshot_ignore(s, GCHINT_IGNORED_FLAGS);
	}
	s->phase = (u8)phase;
	s->flags = (u8)flags;

	if (!s->details) {
		s->work_done = 0;
		s->work_total = 0;
		s->stall_raw = 0;
		s->method = 0;
		snapshot_ignore(s, GCHINT_IGNORED_WRITING);
		return;
	}
	if (cause >= GCHINT_CAUSE_NR) {
		cause = GCHINT_CAUSE_UNKNOWN;
		snapshot_ignore(s, GCHINT_IGNORED_CAUSE);
	}
	s->cause = (u8)cause;
	snapshot_check_work(s);
	/* Between phases the details are those of the phase that ended. */
	if (phase != GCHINT_PHASE_NONE)
		snapshot_check_stall(s, now_ns);
	else
		s->stall_raw = 0;
}
