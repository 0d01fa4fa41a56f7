// SPDX-License-Identifier: GPL-2.0-only
#include "phase.h"

static void sample_restart(struct gchint_track *t, u64 now_ns)
{
	t->mark_ns = now_ns;
	t->mark_work = t->work_done;
	t->ran_ns = 0;
	t->cycles = 0;
	t->mark_ran_ns = 0;
	t->mark_cycles = 0;
	t->mark_at_ns = 0;
	t->mark_khz = 0;
	t->mixed = false;
}

static void sample_note_work(struct gchint_track *t)
{
	t->mark_ran_ns = t->ran_ns;
	t->mark_cycles = t->cycles;
}

/*
 * Time per unit of work is linear in 1/f only at one frequency: most of the time at
 * one, or a mean close to it.
 */
static bool sample_is_clean(const struct gchint_track *t, u32 mean_khz)
{
	u32 off;

	if (t->mixed || !t->mark_khz)
		return false;
	if (t->mark_at_ns >= t->ran_ns - t->ran_ns / 4)
		return true;
	off = mean_khz > t->mark_khz ? mean_khz - t->mark_khz : t->mark_khz - mean_khz;
	return off <= t->mark_khz / 16;
}

/*
 * A leader's counter has the work of all its workers. A worker's own time per unit
 * of it is meaningful only if the worker ran all along. In a coordinator's own slot,
 * sleeping would be mistaken for waiting for memory.
 */
static bool sample_has_run(const struct gchint_track *t, u64 now_ns)
{
	u64 wall = now_ns - t->mark_ns;

	/* Between phases a program may sleep: its work was done while it ran. */
	if (t->phase == GCHINT_PHASE_NONE)
		return true;
	if (t->lead)
		return t->ran_ns >= wall - wall / 8;
	return t->ran_ns >= wall / 4;
}

static void sample_fill_head(const struct gchint_track *t, struct gchint_sample *out)
{
	out->phase = t->phase;
	out->class = t->class;
	out->core_type = t->core_type;
	out->work = 0;
}

/* Fill in the work since the last restart, unless it cannot be trusted. */
static void sample_fill_work(const struct gchint_track *t, struct gchint_sample *out, u64 now_ns)
{
	u32 mean_khz;

	if (!sample_has_run(t, now_ns))
		return;
	mean_khz = (u32)div64_u64(t->mark_cycles, t->mark_ran_ns);
	if (!sample_is_clean(t, mean_khz))
		return;
	out->khz = mean_khz;
	out->ran_ns = t->mark_ran_ns;
	out->work = t->work_done - t->mark_work;
}

/* What an ended phase leaves in the slot is its own last figure. */
static void phase_end(struct gchint_track *t, const struct gchint_snapshot *s,
		      struct gchint_sample *out, u64 now_ns)
{
	if (s->phase == GCHINT_PHASE_NONE && s->details && s->lead == t->lead &&
	    s->work_done > t->work_done) {
		t->work_done = s->work_done;
		sample_note_work(t);
	}
	sample_fill_head(t, out);
	if (t->mark_ran_ns)
		sample_fill_work(t, out, now_ns);
	out->ended = true;
	out->wall_ns = now_ns - t->begin_ns;
	out->valid = true;
}

static void own_work_begin(struct gchint_track *t, const struct gchint_snapshot *s, u64 now_ns)
{
	t->work_done = s->own_work;
	sample_restart(t, now_ns);
}

/* The thread's own work since own_work_begin(); a leader's slot does not contain it. */
static void own_work_sample(struct gchint_track *t, struct gchint_snapshot *s,
			    struct gchint_sample *out, u64 now_ns)
{
	if (t->lead || s->lead || !t->ran_ns)
		return;
	if (s->own_work < t->mark_work) {
		s->ignored |= (u32)BIT(GCHINT_IGNORED_BACKWARD);
		return;
	}
	if (s->own_work == t->mark_work)
		return;
	t->work_done = s->own_work;
	sample_note_work(t);
	sample_fill_head(t, out);
	sample_fill_work(t, out, now_ns);
	out->valid = out->work;
}

static void phase_clear(struct gchint_track *t, const struct gchint_snapshot *s, u64 now_ns)
{
	t->phase = GCHINT_PHASE_NONE;
	t->flags = 0;
	t->class = GCHINT_CLASS_NEUTRAL;
	t->pending = false;
	t->awaited = false;
	own_work_begin(t, s, now_ns);
}

static void track_take_stall(struct gchint_track *t, struct gchint_snapshot *s)
{
	if (s->stall_ns || !s->stall_raw) {
		t->stall_ns = s->stall_ns;
		t->overdue = false;
	} else if (s->stall_raw == t->stall_ns) {
		/* It was ahead when first seen, and has come. */
		s->ignored &= ~(u32)BIT(GCHINT_IGNORED_STALL_PAST);
		t->overdue = true;
	}
}

static void track_take_details(struct gchint_track *t, struct gchint_snapshot *s)
{
	t->pending = !s->details;
	if (!s->details)
		return;
	t->work_total = s->work_total;
	if (s->work_done >= t->work_done)
		t->work_done = s->work_done;
	else if (s->work_done)
		s->ignored |= (u32)BIT(GCHINT_IGNORED_BACKWARD);
	track_take_stall(t, s);
}

static void phase_begin(struct gchint_track *t, const struct gchint_snapshot *s, u64 now_ns)
{
	t->phase = s->phase;
	t->flags = s->flags;
	t->class = gchint_phase_class(s->phase, s->flags);
	t->instance++;
	t->begin_ns = now_ns;
	/* Without details these are zero. */
	t->pending = !s->details;
	t->work_done = s->work_done;
	t->work_total = s->work_total;
	t->stall_ns = s->stall_ns;
	t->overdue = false;
	sample_restart(t, now_ns);
}

/* Number of edges since the last snapshot. */
static u32 track_count_edges(const struct gchint_track *t, const struct gchint_snapshot *s)
{
	return (u16)((s->state >> GCHINT_STATE_SEQ_SHIFT) - (t->state >> GCHINT_STATE_SEQ_SHIFT)) >>
	       1;
}

/* Still the same phase, even if it became more or less urgent? */
static bool track_same_phase(const struct gchint_track *t, const struct gchint_snapshot *s)
{
	u8 core_type = GCHINT_F_STW | GCHINT_F_CONCURRENT;

	if (t->phase != s->phase || t->lead != s->lead || ((t->flags ^ s->flags) & core_type))
		return false;
	/* Its end and another begin may both have been missed. */
	return track_count_edges(t, s) < 2 || !s->details || s->work_done >= t->work_done;
}

static u32 phase_progress(struct gchint_track *t, struct gchint_snapshot *s,
			  struct gchint_sample *out, u64 now_ns)
{
	u64 before = t->work_done;

	track_take_details(t, s);
	if (t->work_done > before) {
		sample_note_work(t);
		if (t->ran_ns >= GCHINT_SAMPLE_NS) {
			sample_fill_head(t, out);
			sample_fill_work(t, out, now_ns);
			out->valid = out->work;
			sample_restart(t, now_ns);
		}
	}
	if (t->flags == s->flags)
		return GCHINT_SAW_PROGRESS;
	t->flags = s->flags;
	t->class = gchint_phase_class(s->phase, s->flags);
	return GCHINT_SAW_PROGRESS | GCHINT_SAW_FLAGS;
}

static u32 phase_moved(struct gchint_track *t, struct gchint_snapshot *s, struct gchint_sample *out,
		       u64 now_ns)
{
	u32 saw = 0;

	if (t->stale) {
		t->stale = false;
		saw |= GCHINT_SAW_FRESH;
	}
	if (t->phase != GCHINT_PHASE_NONE && track_same_phase(t, s)) {
		saw |= phase_progress(t, s, out, now_ns);
	} else {
		if (t->phase != GCHINT_PHASE_NONE) {
			phase_end(t, s, out, now_ns);
			saw |= GCHINT_SAW_END;
		} else if (t->primed && track_count_edges(t, s) == 1) {
			own_work_sample(t, s, out, now_ns);
		}
		t->lead = s->lead;
		if (s->phase != GCHINT_PHASE_NONE) {
			phase_begin(t, s, now_ns);
			saw |= GCHINT_SAW_BEGIN;
		} else {
			phase_clear(t, s, now_ns);
		}
	}
	t->awaited |= t->class == GCHINT_CLASS_URGENT;
	t->state = s->state;
	t->primed = true;
	t->moved_ns = now_ns;
	t->revision++;
	return saw;
}

u32 gchint_phase_update(struct gchint_track *t, struct gchint_snapshot *s,
			struct gchint_sample *out, u64 now_ns, u64 ttl_ns)
{
	out->valid = false;
	out->ended = false;

	if (!t->primed || s->state != t->state || s->lead != t->lead)
		return phase_moved(t, s, out, now_ns);
	if (t->phase == GCHINT_PHASE_NONE) {
		if (t->ran_ns >= GCHINT_SAMPLE_NS) {
			own_work_sample(t, s, out, now_ns);
			own_work_begin(t, s, now_ns);
		}
		return 0;
	}
	if (now_ns - t->moved_ns > ttl_ns) {
		/* No sample: a writer that died is not a long phase. */
		phase_clear(t, s, now_ns);
		t->stale = true;
		t->revision++;
		return GCHINT_SAW_END | GCHINT_SAW_STALE;
	}
	if (t->pending) {
		track_take_details(t, s);
		t->revision++;
	} else if (t->stall_ns && now_ns >= t->stall_ns && !t->overdue) {
		t->overdue = true;
		t->revision++;
	}
	if (s->stall_raw == t->stall_ns)
		s->ignored &= ~(u32)BIT(GCHINT_IGNORED_STALL_PAST);
	return 0;
}

void gchint_hint_fill_role(struct gchint_hint *h, u32 role)
{
	switch (role) {
	case GCHINT_ROLE_CONCURRENT:
		h->phase = GCHINT_PHASE_COLLECT;
		h->flags = GCHINT_F_CONCURRENT;
		break;
	case GCHINT_ROLE_STW:
		h->phase = GCHINT_PHASE_COLLECT;
		h->flags = GCHINT_F_STW;
		break;
	case GCHINT_ROLE_BACKGROUND:
		h->phase = GCHINT_PHASE_TRIM;
		h->flags = GCHINT_F_CONCURRENT;
		break;
	default:
		return;
	}
	h->role = true;
	h->class = gchint_phase_class(h->phase, h->flags);
}
