/* SPDX-License-Identifier: GPL-2.0-only */
/* A slot, copied once out of memory that user space writes, and validated. */
#ifndef _GCHINT_SNAPSHOT_H
#define _GCHINT_SNAPSHOT_H

#include "pure.h"

/* A stall announced further ahead than this is taken for garbage. */
#define GCHINT_STALL_HORIZON_NS (600ULL * 1000 * 1000 * 1000)
/* More work units than this in one phase are taken for garbage. */
#define GCHINT_WORK_MAX BIT_ULL(56)

/**
 * enum gchint_ignored - what was not taken from a slot, and why
 * @GCHINT_IGNORED_WRITING: details were being written, or changed under us
 * @GCHINT_IGNORED_PHASE: unknown phase, counted as none
 * @GCHINT_IGNORED_FLAGS: unknown flags, masked
 * @GCHINT_IGNORED_CAUSE: unknown cause, counted as unknown
 * @GCHINT_IGNORED_WORK: more work than can be, or more done than the total
 * @GCHINT_IGNORED_STALL_PAST: stall instant in the past
 * @GCHINT_IGNORED_STALL_FAR: stall instant absurdly far ahead
 * @GCHINT_IGNORED_BACKWARD: work counter ran backwards within a phase
 * @GCHINT_IGNORED_SAMPLE: work sample that no frequency or rate explains
 * @GCHINT_IGNORED_NR: number of reasons
 */
enum gchint_ignored {
	GCHINT_IGNORED_WRITING,
	GCHINT_IGNORED_PHASE,
	GCHINT_IGNORED_FLAGS,
	GCHINT_IGNORED_CAUSE,
	GCHINT_IGNORED_WORK,
	GCHINT_IGNORED_STALL_PAST,
	GCHINT_IGNORED_STALL_FAR,
	GCHINT_IGNORED_BACKWARD,
	GCHINT_IGNORED_SAMPLE,
	GCHINT_IGNORED_NR
};

/**
 * struct gchint_snapshot - one consistent, validated copy of a slot
 * @state: the state word, GCHINT_STATE_WRITING cleared
 * @ignored: bit n: enum gchint_ignored n happened
 * @phase: enum gchint_phase, always a known one
 * @flags: GCHINT_F_*, only known ones
 * @cause: enum gchint_cause, always a known one
 * @details: the fields below belong to @state; when false they are zero
 * @lead: the slot is a leader's, not the thread's own. Set by the caller
 *	before gchint_phase_update(), false after gchint_snapshot_take().
 * @work_done: 0 if unknown
 * @work_total: 0 if unknown
 * @stall_ns: 0 if unknown or ignored
 * @stall_raw: the stall instant as it was written, for one comparison: an
 *	instant accepted earlier may pass while its phase lasts
 * @method: address for profilers, not validated, decides nothing
 * @own_work: of the thread itself; whatever @details says
 */
struct gchint_snapshot {
	u32 state;
	u32 ignored;
	u8 phase;
	u8 flags;
	u8 cause;
	bool details;
	bool lead;
	u64 work_done;
	u64 work_total;
	u64 stall_ns;
	u64 stall_raw;
	u64 method;
	u64 own_work;
};

/**
 * gchint_snapshot_take() - copy and validate a slot
 * @s: result; always filled completely
 * @slot: the shared slot; each field is read exactly once
 * @now_ns: current time
 *
 * Never waits: when a writer is at work, phase and flags are those of the word
 * before, which the writer preserves, and there are no details. Lock-free,
 * any context.
 */
void gchint_snapshot_take(struct gchint_snapshot *s, const struct gchint_slot *slot, u64 now_ns);

/**
 * gchint_snapshot_same() - has nothing been published since?
 * @slot: the shared slot
 * @state: &gchint_snapshot.state, or gchint_track.state, of the last look
 *
 * One relaxed load, so that a hook with nothing to see costs no cache miss on
 * the rest of the line.
 */
static inline bool gchint_snapshot_same(const struct gchint_slot *slot, u32 state)
{
	return (READ_ONCE(slot->state) & ~GCHINT_STATE_WRITING) == state;
}

#endif /* _GCHINT_SNAPSHOT_H */
