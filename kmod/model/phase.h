/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread does, as its slot and its role say: edges between snapshots,
 * staleness, the class that decides, and the time and work of phases for the learner.
 */
#ifndef _GCHINT_PHASE_H
#define _GCHINT_PHASE_H

#include "rest.h"
#include "snapshot.h"

/* Which threads wait for the work, in rising order of urgency. */
enum gchint_class {
	GCHINT_CLASS_NEUTRAL, /* not known: frequency follows load */
	GCHINT_CLASS_BACKGROUND, /* none ever: trim, lazy sweep */
	GCHINT_CLASS_CONCURRENT, /* none yet: the mutators run */
	GCHINT_CLASS_FOREGROUND, /* the mutator that collects */
	GCHINT_CLASS_STW, /* all mutators */
	GCHINT_CLASS_URGENT, /* mutators are about to stall */
	GCHINT_CLASS_NR
};

static inline bool gchint_class_caps(u8 class)
{
	return class == GCHINT_CLASS_BACKGROUND || class == GCHINT_CLASS_CONCURRENT;
}

static inline bool gchint_class_boosts(u8 class)
{
	return class >= GCHINT_CLASS_FOREGROUND;
}

/*
 * Class of a phase: the first of urgent, stop-the-world, foreground, concurrent. A
 * concurrent sweep or trim is background work. It is neutral without a phase or
 * flags, and for a waiting thread: only the threads it waits for could be faster.
 */
static inline u8 gchint_phase_class(u8 phase, u8 flags)
{
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

/* Core types that the learner distinguishes, see gchint_core_type_find(). */
#define GCHINT_CORE_TYPES 4

/* Time that a part of a phase took, or of a thread's own work in no phase. */
struct gchint_sample {
	bool valid; /* the rest is defined only then */
	bool ended; /* the phase is over: @class and @wall_ns are those of all of it */
	u8 phase;
	u8 class;
	u8 core_type; /* core type it ran on */
	u32 khz; /* frequency at which it ran; with @work */
	u64 work; /* work units done, 0 if unusable */
	u64 ran_ns; /* time the thread ran meanwhile; with @work */
	u64 wall_ns; /* whole length of the phase; with @ended */
};

/*
 * What is known of the slot of one lease. A sample is the part of a phase, or of
 * the time between two, from @mark_ns on. Owned by the lease; the caller serialises
 * all calls for one track. All zero is a valid initial state.
 */
struct gchint_track {
	u32 state; /* of the last snapshot; see gchint_snapshot_same() */
	bool primed; /* there was a snapshot */
	bool pending; /* the details of @state could not be read: read again */
	bool stale; /* no progress for the TTL: counts as no phase */
	bool lead; /* the last snapshot was of the leader's slot */
	u8 phase; /* GCHINT_PHASE_NONE while @stale */
	u8 flags;
	u8 core_type; /* core type of the running sample */
	bool mixed; /* the running sample spans two core types */
	bool overdue; /* the stall instant passed and the phase lasts */
	bool awaited; /* a phase since the last time in none was urgent */
	u8 class; /* gchint_phase_class() of @phase and @flags */
	u32 instance; /* number of the phase */
	u32 revision; /* number of the last snapshot that changed anything */
	u64 moved_ns; /* when the sequence last moved */
	u64 begin_ns; /* when the phase was first seen */
	u64 work_done; /* last credible value; in no phase, of the thread's own work */
	u64 work_total; /* 0 unknown, as @stall_ns */
	u64 stall_ns;
	u64 ran_ns; /* time the thread ran since @mark_ns */
	u64 cycles; /* kHz * ns of it */
	u64 mark_ns;
	u64 mark_work; /* @work_done at @mark_ns */
	/* @ran_ns and @cycles when @work_done last moved, the end of what it covers; 0 never */
	u64 mark_ran_ns;
	u64 mark_cycles;
	u64 mark_at_ns; /* by how much @mark_khz outweighs other frequencies in @ran_ns */
	u32 mark_khz; /* frequency of most of it */
};

/* What gchint_phase_update() saw; a bit mask. */
#define GCHINT_SAW_END	    0x01 /* the phase of the last snapshot is over */
#define GCHINT_SAW_BEGIN    0x02 /* another one began (also when nested) */
#define GCHINT_SAW_PROGRESS 0x04 /* same phase, the sequence moved */
#define GCHINT_SAW_STALE    0x08 /* it went stale now */
#define GCHINT_SAW_FRESH    0x10 /* a stale one moved again */
#define GCHINT_SAW_FLAGS    0x20 /* same phase, other flags: its urgency may have changed */
#define GCHINT_SAW_EDGE	    (GCHINT_SAW_END | GCHINT_SAW_BEGIN)

/**
 * gchint_phase_update() - update a track with a snapshot of its slot
 * @t: the lease's track
 * @s: the snapshot. Its &gchint_snapshot.ignored gains what is not credible in
 *	context, and loses a past stall instant that was still ahead when first seen
 * @out: a sample for gchint_learn_add(), or one that is not valid
 * @now_ns: current time, not before &gchint_track.moved_ns
 * @ttl_ns: a phase without progress for longer becomes stale
 *
 * To be called for each doorbell, and if the thread runs and gchint_phase_due().
 *
 * Return: mask of GCHINT_SAW_*
 */
u32 gchint_phase_update(struct gchint_track *t, struct gchint_snapshot *s,
			struct gchint_sample *out, u64 now_ns, u64 ttl_ns);

/* A longer part of a phase, or of the time between two, becomes a sample of its own. */
#define GCHINT_SAMPLE_NS (50 * (u64)NSEC_PER_MSEC)

/* Would gchint_phase_update() find anything new? @slot is the one the lease counts by. */
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

/* A longer step is a clock error or a debugger: it is not counted. */
#define GCHINT_STEP_MAX_NS (10 * (u64)NSEC_PER_SEC)
/* kHz * ns of this much time fits 64 bits with any frequency below 16 GHz. */
#define GCHINT_RAN_MAX_NS BIT_ULL(39)

/*
 * Account for @ns that the thread ran at @khz (0: unknown) on @core_type, before
 * gchint_phase_update(). Time between two phases is the thread's own work.
 */
static inline void gchint_phase_account_time(struct gchint_track *t, u64 ns, u32 khz, u8 core_type)
{
	if (!ns)
		return;
	if (ns > GCHINT_STEP_MAX_NS || t->ran_ns > GCHINT_RAN_MAX_NS || !khz) {
		t->mixed = true;
		return;
	}
	if (!t->ran_ns)
		t->core_type = core_type;
	else if (t->core_type != core_type)
		t->mixed = true;
	t->ran_ns += ns;
	t->cycles += ns * khz;
	/* Majority vote: the remainder when other frequencies are set off. */
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
 * struct gchint_hint - what the lease of a running thread says, ready to decide
 * @class: enum gchint_class; GCHINT_CLASS_NEUTRAL: as if there were none
 * @phase: enum gchint_phase; for a bare role GCHINT_PHASE_COLLECT, or
 *	GCHINT_PHASE_TRIM for the role background
 * @flags: GCHINT_F_*, including those implied by a bare role
 * @role: the class comes from the role, not from a phase
 * @may_raise: the session was opened with CAP_SYS_NICE
 * @overdue: the stall instant passed and the phase lasts
 * @awaited: mutators have waited for this collection, and may go on waiting at times
 * @keeping: gchint_rest_keeping() of the thread. Set by the caller after
 *	gchint_hint_fill_brief(), as the next four
 * @rests: a mutator of the session rests between its work, as a server's does
 * @bucket: which of GCHINT_BUCKETS its switches are counted in: the user's
 * @mutator: gchint_learn_mutator() of the session, on this core type
 * @slowdown: how much slower the session's mutators run now because its collection
 *	is late: a stretch; 0 or GCHINT_ONE not at all
 * @instance: &gchint_track.instance
 * @revision: &gchint_track.revision
 * @begin_ns: when the phase began; 0 for a role
 * @stall_ns: when mutators will stall; 0 unknown. This and the following fields are
 *	filled by gchint_hint_fill_detail()
 * @work_left: work units left; 0 unknown
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
	bool awaited;
	u8 keeping;
	bool rests;
	u8 mutator;
	u8 bucket;
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

/*
 * Users without privilege share this many budgets of switches, so that one who
 * spends all of a budget does not spend those of most others.
 */
#define GCHINT_BUCKETS 4

/* Fill in what @role implies, in a hint without a phase. */
void gchint_hint_fill_role(struct gchint_hint *h, u32 role);

/**
 * gchint_hint_fill_brief() - the part of a hint that is needed at every poll
 * @h: result; filled up to &gchint_hint.begin_ns, which is all that plans are compared
 *	with and decisions use, and all that a plan is made from but in mode model
 * @t: the lease's track, updated from the thread's own slot, or from the leader's if
 *	the role is GCHINT_ROLE_FOLLOW and the own slot has GCHINT_PHASE_NONE
 * @role: enum gchint_role of the lease
 * @may_raise: the session has GCHINT_GRANT_RAISE
 *
 * A phase overrides the role, but a stale phase does not: a role needs no progress.
 */
static inline void gchint_hint_fill_brief(struct gchint_hint *h, const struct gchint_track *t,
					  u32 role, bool may_raise)
{
	h->class = t->class;
	h->phase = t->phase;
	h->flags = t->flags;
	h->role = false;
	h->may_raise = may_raise;
	h->keeping = 0;
	h->rests = false;
	h->slowdown = 0;
	h->mutator = 0;
	if (t->phase != GCHINT_PHASE_NONE) {
		h->overdue = t->overdue;
		h->awaited = t->awaited;
		h->instance = t->instance;
		h->revision = t->revision;
		h->begin_ns = t->begin_ns;
		return;
	}
	h->overdue = false;
	h->awaited = false;
	h->instance = 0;
	h->revision = 0;
	h->begin_ns = 0;
	if (role != GCHINT_ROLE_NONE)
		gchint_hint_fill_role(h, role);
}

/* Fill in the remaining fields, which a plan in mode model needs, after the brief ones. */
static inline void gchint_hint_fill_detail(struct gchint_hint *h, const struct gchint_track *t)
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
