/* SPDX-License-Identifier: GPL-2.0-only */
/* A validated copy of a slot, read once from memory that user space writes. */
#ifndef _GCHINT_SNAPSHOT_H
#define _GCHINT_SNAPSHOT_H

#include "pure.h"

/* A stall instant further ahead than this is garbage. */
#define GCHINT_STALL_HORIZON_NS (600ULL * 1000 * 1000 * 1000)
/* More work units than this in one phase are garbage. */
#define GCHINT_WORK_MAX BIT_ULL(56)

/* What was not taken from a slot, and why. */
enum gchint_ignored {
	GCHINT_IGNORED_WRITING, /* details written, or changed while they were read */
	GCHINT_IGNORED_PHASE, /* unknown phase, counted as none */
	GCHINT_IGNORED_FLAGS, /* unknown flags, masked */
	GCHINT_IGNORED_CAUSE, /* unknown cause, counted as unknown */
	GCHINT_IGNORED_WORK, /* more than GCHINT_WORK_MAX, or more done than the total */
	GCHINT_IGNORED_STALL_PAST,
	GCHINT_IGNORED_STALL_FAR, /* beyond GCHINT_STALL_HORIZON_NS */
	GCHINT_IGNORED_BACKWARD, /* work counter ran backwards within a phase */
	GCHINT_IGNORED_SAMPLE, /* work sample that no frequency or rate explains */
	GCHINT_IGNORED_NR
};

/* One consistent, validated copy of a slot. */
struct gchint_snapshot {
	u32 state; /* the state word, GCHINT_STATE_WRITING cleared */
	u32 ignored; /* mask of BIT(enum gchint_ignored) */
	u8 phase; /* as flags and cause, always a known one */
	u8 flags;
	u8 cause;
	bool details; /* all but @own_work belong to @state; if false they are zero */
	/* A leader's slot. Set by the caller between taking it and gchint_phase_update(). */
	bool lead;
	u64 work_done; /* 0 if unknown */
	u64 work_total; /* 0 if unknown */
	u64 stall_ns; /* 0 if unknown or ignored */
	/*
	 * The stall instant as written: one that was accepted earlier may pass while its
	 * phase lasts, and is recognised by this.
	 */
	u64 stall_raw;
	u64 method; /* address for profilers, not validated, never used to decide */
	u64 own_work; /* of the thread itself */
};

/**
 * gchint_snapshot_take() - copy and validate a slot
 * @s: result; always filled completely
 * @slot: the shared slot; each field is read exactly once
 * @now_ns: current time; a stall instant that is not after it is ignored
 *
 * Lock-free, any context, never waits: if a writer is at work, phase and flags are
 * those of the previous word, which the writer preserves, and there are no details.
 */
void gchint_snapshot_take(struct gchint_snapshot *s, const struct gchint_slot *slot, u64 now_ns);

/*
 * Is @state, of a snapshot or a track, still the slot's? One relaxed load, so that
 * the scheduler's hook usually touches nothing else of the slot.
 */
static inline bool gchint_snapshot_same(const struct gchint_slot *slot, u32 state)
{
	return (READ_ONCE(slot->state) & ~GCHINT_STATE_WRITING) == state;
}

#endif /* _GCHINT_SNAPSHOT_H */
