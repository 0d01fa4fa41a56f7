// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lease whose slot, leader, role, clock and scheduler follow the input: the track stays valid,
 * samples add up, and what is learned stays in range.
 */
#include "fuzz.h"

#include "../../kmod/model/learn.c"
#include "../../kmod/model/phase.c"
#include "../../kmod/model/snapshot.c"
#include "hint.h"

struct lease {
	struct gchint_slot slot[2];
	struct gchint_track track;
	struct gchint_learn learn;
	u64 now;
	u64 ran;
	u64 ttl;
};

static void poll_lease(struct lease *l, bool lead)
{
	struct gchint_track before = l->track;
	struct gchint_snapshot s;
	struct gchint_sample sample;
	bool due = gchint_phase_due(&l->track, &l->slot[lead], l->now, l->ttl);
	u32 saw;

	gchint_snapshot_take(&s, &l->slot[lead], l->now);
	s.lead = lead;
	saw = gchint_phase_update(&l->track, &s, &sample, l->now, l->ttl);

	must(s.ignored < BIT(GCHINT_IGNORED_NR));
	must(l->track.primed);
	must(l->track.phase < GCHINT_PHASE_NR);
	must(!(l->track.flags & ~GCHINT_F_ALL));
	must(!l->track.stale || l->track.phase == GCHINT_PHASE_NONE);
	must(l->track.phase == GCHINT_PHASE_NONE || l->track.begin_ns <= l->now);
	/* An end belongs to a phase, a beginning starts one, and each is a new instance. */
	must(!(saw & GCHINT_SAW_END) || before.phase != GCHINT_PHASE_NONE);
	must(!(saw & GCHINT_SAW_BEGIN) || l->track.phase != GCHINT_PHASE_NONE);
	must((l->track.instance != before.instance) == !!(saw & GCHINT_SAW_BEGIN));
	/* What gchint_phase_due() does not announce need not be read. */
	if (!due && lead == before.lead)
		must(!saw && l->track.phase == before.phase && l->track.flags == before.flags);
	if (sample.valid) {
		must(before.phase != GCHINT_PHASE_NONE && sample.phase == before.phase);
		must(sample.core_type < GCHINT_CORE_TYPES && sample.class < GCHINT_CLASS_NR);
		must(!sample.work || (sample.khz && sample.ran_ns <= l->ran));
		must(!sample.ended || saw & GCHINT_SAW_END);
	}
	gchint_learn_add(&l->learn, &sample, 2000000);
	if (saw & GCHINT_SAW_BEGIN)
		l->ran = 0;
}

static void lease_check(const struct lease *l, u32 role)
{
	struct gchint_hint h;
	struct gchint_fit fit;

	gchint_phase_hint(&h, &l->track, role, true);
	must(h.class < GCHINT_CLASS_NR && h.phase < GCHINT_PHASE_NR);
	must(h.class == gchint_phase_class(h.phase, h.flags));
	must(!h.role || l->track.phase == GCHINT_PHASE_NONE);
	must(h.begin_ns <= l->now);
	for (u8 kind = 0; kind < GCHINT_CORE_TYPES; kind++) {
		gchint_learn_fit(&l->learn, h.phase, kind, &fit);
		must(fit.mem <= GCHINT_ONE && fit.error <= GCHINT_ONE);
		must(!fit.known || fit.samples);
	}
	gchint_learn_left_ns(&l->learn, h.phase, h.class, l->now - h.begin_ns);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct bytes b = { data, size };
	struct lease l;
	u32 role = 0;

	memset(&l, 0, sizeof(l));
	l.ttl = bytes_take(&b, 4);
	l.now = bytes_take(&b, 6);
	while (b.left) {
		u32 op = (u32)bytes_take(&b, 1);
		struct gchint_slot *slot = &l.slot[op >> 7];
		u64 ns;

		switch (op % 10) {
		case 0:
			slot->state = (u32)bytes_take(&b, 4);
			break;
		case 1:
			slot->state = GCHINT_STATE((slot->state + GCHINT_STATE_EDGE) &
							   ~GCHINT_STATE_WRITING,
						   bytes_take(&b, 1) % GCHINT_PHASE_NR,
						   bytes_take(&b, 1) & GCHINT_F_ALL);
			break;
		case 2:
			slot->work_done = take_any(&b);
			break;
		case 3:
			slot->work_total = take_any(&b);
			break;
		case 4:
			slot->stall_ns = l.now + take_any(&b) - 1000;
			break;
		case 5:
			ns = bytes_take(&b, 4);
			l.now += ns;
			gchint_phase_account_time(&l.track, ns, take_in(&b, 0, 5000000),
						  bytes_take(&b, 1) % GCHINT_CORE_TYPES);
			l.ran += ns;
			break;
		case 6:
			l.now += take_any(&b) >> 16;
			break;
		case 7:
			role = (u32)bytes_take(&b, 1);
			break;
		case 8:
			slot->cause = (u32)take_any(&b);
			slot->state += GCHINT_STATE_EDGE;
			slot->work_done += bytes_take(&b, 2);
			break;
		default:
			poll_lease(&l, op >> 7);
			lease_check(&l, role);
			break;
		}
	}
	return 0;
}
