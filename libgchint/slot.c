// SPDX-License-Identifier: MIT
/* The writer's side of struct gchint_slot. */
#include "slot.h"

void slot_publish(struct gchint_slot *slot, uint32_t *state, uint32_t next, unsigned int which,
		  const struct gchint_detail *d)
{
	static const struct gchint_detail none;

	if (!d)
		d = &none;
	if (slot) {
		store_relaxed(state, load_relaxed(state) | GCHINT_STATE_WRITING);
		fence_release();
		if (which & DETAIL_CAUSE)
			store_relaxed(&slot->cause, d->cause);
		if (which & DETAIL_WORK) {
			store_detail(&slot->work_done, d->work_done);
			store_detail(&slot->work_total, d->work_total);
			store_detail(&slot->stall_ns, d->stall_ns);
		}
		if (which & DETAIL_METHOD)
			store_detail(&slot->method, d->method);
	}
	/* Partner: the reader's acquire of the state, before it reads the details. */
	store_release(state, next);
}
