// SPDX-License-Identifier: GPL-2.0-only
/* Any slot, at any time: the copy is valid, and repeatable. */
#include "fuzz.h"

#include "../../kmod/model/snapshot.c"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct bytes b = { data, size };
	struct gchint_snapshot s, again;
	struct gchint_slot slot;
	u64 now = bytes_take(&b, 8);

	memset(&slot, 0, sizeof(slot));
	memcpy(&slot, b.at, b.left < sizeof(slot) ? b.left : sizeof(slot));
	memset(&s, 0xff, sizeof(s));
	memset(&again, 0, sizeof(again));
	gchint_snapshot_take(&s, &slot, now);
	gchint_snapshot_take(&again, &slot, now);
	must(!memcmp(&s, &again, sizeof(s)));
	must(gchint_snapshot_same(&slot, s.state));
	must(!(s.state & GCHINT_STATE_WRITING));
	must(s.phase < GCHINT_PHASE_NR);
	must(!(s.flags & ~GCHINT_F_ALL));
	must(s.cause < GCHINT_CAUSE_NR);
	must(s.ignored < BIT(GCHINT_IGNORED_NR));
	must(s.details == !(slot.state & GCHINT_STATE_WRITING));
	must(s.work_done <= GCHINT_WORK_MAX && s.work_total <= GCHINT_WORK_MAX);
	must(!s.work_total || s.work_done <= s.work_total);
	must(!s.stall_ns || (s.stall_ns > now && s.stall_ns - now <= GCHINT_STALL_HORIZON_NS));
	if (!s.details)
		must(!s.work_done && !s.work_total && !s.stall_ns && !s.method);
	if (!s.ignored && s.details && s.phase)
		must(s.work_done == slot.work_done && s.stall_ns == slot.stall_ns &&
		     s.cause == slot.cause);
	return 0;
}
