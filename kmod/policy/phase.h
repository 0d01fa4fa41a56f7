/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread is doing, as far as its slot and its role tell: edges between
 * looks, staleness, the class that decides, and the time and work of phases,
 * from which the learner learns.
 */
#ifndef _GCHINT_PHASE_H
#define _GCHINT_PHASE_H

#include "snapshot.h"

/**
 * enum gchint_class - who waits for the work, in rising order of urgency
 * @GCHINT_CLASS_NEUTRAL: nobody said: frequency follows load
 * @GCHINT_CLASS_BACKGROUND: nobody: trim, lazy sweep
 * @GCHINT_CLASS_CONCURRENT: nobody yet: the mutators run
 * @GCHINT_CLASS_FOREGROUND: a mutator collects itself
 * @GCHINT_CLASS_STW: all mutators
 * @GCHINT_CLASS_URGENT: a stall is near
 * @GCHINT_CLASS_NR: number of classes
 */
enum gchint_class {
	GCHINT_CLASS_NEUTRAL,
	GCHINT_CLASS_BACKGROUND,
	GCHINT_CLASS_CONCURRENT,
	GCHINT_CLASS_FOREGROUND,
	GCHINT_CLASS_STW,
	GCHINT_CLASS_URGENT,
	GCHINT_CLASS_NR
};

/**
 * gchint_class_caps() - is the class one that lowers?
 * @class: enum gchint_class
 */
static inline bool gchint_class_caps(u8 class)
{
	return class == GCHINT_CLASS_BACKGROUND || class == GCHINT_CLASS_CONCURRENT;
}

/**
 * gchint_class_boosts() - is the class one that raises?
 * @class: enum gchint_class
 */
static inline bool gchint_class_boosts(u8 class)
{
	return class >= GCHINT_CLASS_FOREGROUND;
}

/**
 * gchint_phase_class() - class of a phase
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 *
 * The first of urgent, stop-the-world, foreground, concurrent decides. A
 * concurrent sweep or trim is background work. Without flags, without a phase,
 * or while the thread itself waits, the class is neutral.
 */
static inline u8 gchint_phase_class(u8 phase, u8 flags)
{
	/* Who waits does nothing that could be faster; who works says so itself. */
	if (phase == GCHINT_PHASE_NONE || phase == GCHINT_PHASE_WAIT)
		return GCHINT_CLASS_NEUTRAL;
	if (flags & (GCHINT_F_URGENT | GCHINT_F_STW | GCHINT_F_FOREGROUND)) {
		if (flags & GCHINT_F_URGENT)
			return GCHINT_CLASS_URGENT;
		return flags & GCHINT_F_STW ? GCHINT_CLASS_STW : GCHINT_CLASS_FOREGROUND;
	}
	if (!(flags & GCHINT_F_CONCURRENT))
		return GCHINT_CLASS_NEUTRAL;
	if (phase == GCHINT_PHASE_SWEEP || phase == GCHINT_PHASE_TRIM)
		return GCHINT_CLASS_BACKGROUND;
	return GCHINT_CLASS_CONCURRENT;
}

/* Kinds of CPU that the learner tells apart; the caller numbers them. */
#define GCHINT_KINDS 4

/**
 * struct gchint_sample - time that a piece of a phase took
 * @valid: there is a sample; the rest is defined only then
 * @ended: the phase is over: @wall_ns and @class tell its whole length, also
 *	when @work is 0 (no usable work figures)
 * @phase: enum gchint_phase; none: the thread's own work
 * @class: enum gchint_class
 * @kind: kind of CPU it ran on
 * @work: work units done, 0 if unusable
 * @khz: frequency at which it ran; with @work
 * @ran_ns: time the thread ran meanwhile; with @work
 * @wall_ns: whole length of the phase; with @ended
 */
struct gchint_sample {
	bool valid;
	bool ended;
	u8 phase;
	u8 class;
	u8 kind;
	u32 khz;
	u64 work;
	u64 ran_ns;
	u64 wall_ns;
};

/**
 * struct gchint_track - the shadow of one lease's slot
 * @state: state word of the last look; compare with gchint_snapshot_same()
 * @primed: there was a look
 * @pending: the details of @state could not be read: look again
 * @stale: no progress for the TTL: counts as no phase
 * @lead: the last look was at the leader's slot
 * @phase: enum gchint_phase, GCHINT_PHASE_NONE while @stale
 * @flags: GCHINT_F_*
 * @kind: kind of CPU of the running sample
 * @mixed: the running sample spans two kinds of CPU
 * @overdue: the stall instant passed and the phase lasts
 * @class: gchint_phase_class() of @phase and @flags
 * @instance: counts phases begun: names this one
 * @revision: counts looks that changed anything: names what is known of it
 * @moved_ns: when the sequence last moved
 * @begin_ns: when the phase was first seen
 * @work_done: last credible value in this phase; in none, of the thread's own work
 * @work_total: likewise, 0 unknown
 * @stall_ns: likewise, 0 unknown
 * @ran_ns: time the thread ran since @mark_ns
 * @cycles: kHz * ns of it
 * @mark_ns: when the running sample began: with the phase, with its end, or after a
 *	long one
 * @mark_work: @work_done then
 * @mark_ran_ns: @ran_ns when @work_done was last seen to move; 0 not since
 *	@mark_ns. A figure stands for the time up to it and no more.
 * @mark_cycles: @cycles then
 * @mark_at_ns: by how much @mark_khz outweighs the other frequencies in @ran_ns
 * @mark_khz: frequency of most of it
 *
 * Owned by the lease; the caller serialises all calls for one track. All zero
 * is a valid initial state.
 */
struct gchint_track {
	u32 state;
	bool primed;
	bool pending;
	bool stale;
	bool lead;
	u8 phase;
	u8 flags;
	u8 kind;
	bool mixed;
	bool overdue;
	u8 class;
	u32 instance;
	u32 revision;
	u64 moved_ns;
	u64 begin_ns;
	u64 work_done;
	u64 work_total;
	u64 stall_ns;
	u64 ran_ns;
	u64 cycles;
	u64 mark_ns;
	u64 mark_work;
	u64 mark_ran_ns;
	u64 mark_cycles;
	u64 mark_at_ns;
	u32 mark_khz;
};

/* What gchint_phase_update() saw; a bit mask. */
#define GCHINT_SAW_END	    0x01 /* the phase of the last look is over */
#define GCHINT_SAW_BEGIN    0x02 /* another one began (also when nested) */
#define GCHINT_SAW_PROGRESS 0x04 /* same phase, the sequence moved */
#define GCHINT_SAW_STALE    0x08 /* it went stale now */
#define GCHINT_SAW_FRESH    0x10 /* a stale one moved again */
#define GCHINT_SAW_FLAGS    0x20 /* same phase, other flags: who waits for it changed */
#define GCHINT_SAW_EDGE	    (GCHINT_SAW_END | GCHINT_SAW_BEGIN)

/**
 * gchint_phase_update() - take note of a look at the slot
 * @t: the lease's track
 * @s: the look; with &gchint_snapshot.lead set if it is the leader's slot. Its
 *	&gchint_snapshot.ignored gains what is found to be incredible here, and
 *	loses a past stall instant that was still ahead when first seen
 * @out: a sample for gchint_learn_add(), or !valid
 * @now_ns: current time
 * @ttl_ns: hint TTL
 *
 * Call it for each doorbell, and when the hook sees the thread running and
 * gchint_phase_due() says so.
 *
 * Return: mask of GCHINT_SAW_*
 */
u32 gchint_phase_update(struct gchint_track *t, struct gchint_snapshot *s,
			struct gchint_sample *out, u64 now_ns, u64 ttl_ns);

/* So long a part of a phase, or of the time between two, is worth a sample of its own. */
#define GCHINT_SAMPLE_NS (50 * (u64)NSEC_PER_MSEC)

/**
 * gchint_phase_due() - is there anything for gchint_phase_update() to see?
 * @t: the lease's track
 * @slot: the slot the lease counts by now
 * @now_ns: current time
 * @ttl_ns: hint TTL
 */
static inline bool gchint_phase_due(const struct gchint_track *t, const struct gchint_slot *slot,
				    u64 now_ns, u64 ttl_ns)
{
	if (!gchint_snapshot_same(slot, t->state) || t->pending || !t->primed)
		return true;
	if (t->phase == GCHINT_PHASE_NONE)
		return t->ran_ns >= GCHINT_SAMPLE_NS && READ_ONCE(slot->own_work) != t->mark_work;
	return now_ns - t->moved_ns > ttl_ns ||
	       (t->stall_ns && now_ns >= t->stall_ns && !t->overdue);
}

/* Longer steps are a clock gone wrong, or a debugger: not counted. */
#define GCHINT_STEP_MAX_NS (10 * (u64)NSEC_PER_SEC)
/* kHz * ns of this much time fits 64 bits with any frequency below 16 GHz. */
#define GCHINT_RAN_MAX_NS BIT_ULL(39)

/**
 * gchint_phase_ran() - the thread ran for a while
 * @t: the lease's track
 * @ns: for so long
 * @khz: at this frequency, as far as known; 0 unknown
 * @kind: on a CPU of this kind, below GCHINT_KINDS
 *
 * Call it before gchint_phase_update() with the time since the last call. What runs
 * between two phases is the thread's own work.
 */
static inline void gchint_phase_ran(struct gchint_track *t, u64 ns, u32 khz, u8 kind)
{
	if (!ns)
		return;
	if (ns > GCHINT_STEP_MAX_NS || t->ran_ns > GCHINT_RAN_MAX_NS || !khz) {
		t->mixed = true;
		return;
	}
	if (!t->ran_ns)
		t->kind = kind;
	else if (t->kind != kind)
		t->mixed = true;
	t->ran_ns += ns;
	t->cycles += ns * khz;
	/* Majority vote: what is left over after others are set off. */
	if (khz == t->mark_khz) {
		t->mark_at_ns += ns;
	} else if (t->mark_at_ns >= ns) {
		t->mark_at_ns -= ns;
	} else {
		t->mark_at_ns = ns - t->mark_at_ns;
		t->mark_khz = khz;
	}
}

/**
 * struct gchint_hint - what a running thread's lease says, ready to decide
 * @class: enum gchint_class; GCHINT_CLASS_NEUTRAL: as if there were none
 * @phase: enum gchint_phase; GCHINT_PHASE_COLLECT for a bare role, and
 *	GCHINT_PHASE_TRIM for the role background
 * @flags: GCHINT_F_*; those implied by a bare role included
 * @role: the class comes from the role, not from a phase
 * @may_raise: the session was opened with CAP_SYS_NICE
 * @overdue: the stall instant passed and the phase lasts
 * @slowdown: by how much the session's mutators run slower now, because its
 *	collection is late: a stretch; 0 or GCHINT_ONE not at all. Set by the
 *	caller after gchint_phase_brief(), as is the next one.
 * @mutator: gchint_learn_mutator() of the session, on this kind of CPU
 * @instance: &gchint_track.instance
 * @revision: &gchint_track.revision
 * @begin_ns: when the phase began; 0 for a role
 * @stall_ns: when mutators will stall; 0 unknown. It and what follows is not
 *	filled by gchint_phase_brief().
 * @work_left: work units to go; 0 unknown
 * @work_done: work units done in the running sample, up to the last figure
 * @work_ran_ns: time the thread ran for them
 * @work_cycles: kHz * ns of it
 * @mark_ns: when the running sample began
 * @ran_ns: time the thread ran since, up to now
 */
struct gchint_hint {
	u8 class;
	u8 phase;
	u8 flags;
	bool role;
	bool may_raise;
	bool overdue;
	u8 mutator;
	u32 slowdown;
	u32 instance;
	u32 revision;
	u64 begin_ns;
	u64 stall_ns;
	u64 work_left;
	u64 work_done;
	u64 work_ran_ns;
	u64 work_cycles;
	u64 mark_ns;
	u64 ran_ns;
};

/**
 * gchint_phase_role() - what a role stands for when there is no phase
 * @h: hint of no phase; filled in, if the role says anything
 * @role: enum gchint_role
 */
void gchint_phase_role(struct gchint_hint *h, u32 role);

/**
 * gchint_phase_brief() - what the lease says now, as far as every look needs it
 * @h: result; filled up to &gchint_hint.begin_ns, which is all that a plan is
 *	compared with, all that a decision goes by, and all that a plan is made
 *	from in another mode than model
 * @t: the lease's track, updated from the thread's own slot, or from the
 *	leader's when the role is GCHINT_ROLE_FOLLOW and the own slot says
 *	GCHINT_PHASE_NONE
 * @role: enum gchint_role of the lease
 * @may_raise: the session's grant
 *
 * A phase goes before the role; a stale phase does not, the role then counts
 * again, for it needs no progress.
 */
static inline void gchint_phase_brief(struct gchint_hint *h, const struct gchint_track *t, u32 role,
				      bool may_raise)
{
	h->class = t->class;
	h->phase = t->phase;
	h->flags = t->flags;
	h->role = false;
	h->may_raise = may_raise;
	h->slowdown = 0;
	h->mutator = 0;
	if (t->phase != GCHINT_PHASE_NONE) {
		h->overdue = t->overdue;
		h->instance = t->instance;
		h->revision = t->revision;
		h->begin_ns = t->begin_ns;
		return;
	}
	h->overdue = false;
	h->instance = 0;
	h->revision = 0;
	h->begin_ns = 0;
	if (role != GCHINT_ROLE_NONE)
		gchint_phase_role(h, role);
}

/**
 * gchint_phase_detail() - the rest, by which a plan is made in mode model
 * @h: from gchint_phase_brief(); afterwards filled completely
 * @t: the same track
 */
static inline void gchint_phase_detail(struct gchint_hint *h, const struct gchint_track *t)
{
	if (t->phase == GCHINT_PHASE_NONE) {
		h->stall_ns = 0;
		h->work_left = 0;
		h->work_done = 0;
		h->work_ran_ns = 0;
		h->work_cycles = 0;
		h->mark_ns = 0;
		h->ran_ns = 0;
		return;
	}
	h->stall_ns = t->stall_ns;
	h->work_left = t->work_total > t->work_done ? t->work_total - t->work_done : 0;
	h->work_done = t->work_done - t->mark_work;
	h->work_ran_ns = t->mark_ran_ns;
	h->work_cycles = t->mark_cycles;
	h->mark_ns = t->mark_ns;
	h->ran_ns = t->ran_ns;
}

#endif /* _GCHINT_PHASE_H */
