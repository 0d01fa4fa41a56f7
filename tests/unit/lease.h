/* SPDX-License-Identifier: GPL-2.0-only */
/* A lease in user space: its slot, its shadow, and a clock. */
#ifndef TEST_LEASE_H
#define TEST_LEASE_H

#include "unit.h"
#include "hint.h"

#define TTL (1000 * MS)

struct lease {
	struct gchint_slot slot;
	struct gchint_track track;
	struct gchint_snapshot snap;
	struct gchint_sample sample;
	u64 now;
};

static inline void lease_init(struct lease *l)
{
	memset(l, 0, sizeof(*l));
	l->now = 10 * S;
}

/* An edge without details: one store. */
static inline void edge(struct gchint_slot *slot, u32 phase, u32 flags)
{
	slot->state = GCHINT_STATE((slot->state & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE, phase,
				   flags);
}

static inline void work(struct gchint_slot *slot, u64 done, u64 total)
{
	slot->work_done = done;
	slot->work_total = total;
	edge(slot, slot->state & 0xff, (slot->state >> 8) & 0xff);
}

static inline u32 lease_poll_slot(struct lease *l, const struct gchint_slot *slot, bool lead)
{
	gchint_snapshot_take(&l->snap, slot, l->now);
	l->snap.lead = lead;
	return gchint_phase_update(&l->track, &l->snap, &l->sample, l->now, TTL);
}

static inline u32 lease_poll(struct lease *l)
{
	return lease_poll_slot(l, &l->slot, false);
}

static inline void run(struct lease *l, u64 ns, u32 khz)
{
	l->now += ns;
	gchint_phase_account_time(&l->track, ns, khz, 1);
}

static inline u8 class_now(struct lease *l, u32 role)
{
	struct gchint_hint h;

	gchint_phase_hint(&h, &l->track, role, false);
	return h.class;
}

static inline void begin(struct lease *l, u64 total)
{
	lease_poll(l);
	l->slot.work_done = 0;
	l->slot.work_total = total;
	edge(&l->slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll(l);
}

#endif /* TEST_LEASE_H */
