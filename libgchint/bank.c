// SPDX-License-Identifier: MIT
/* Slot blocks: the leases of threads, GCHINT_SLOTS to a block. */
#include <errno.h>
#include <sys/mman.h>

#include "bank.h"
#include "device.h"

void bank_clear(struct bank *bank)
{
	store_relaxed(&bank->slots, NULL);
	store_relaxed(&bank->fd, -1);
}

int bank_add(struct gchint_session *s, unsigned int n)
{
	struct more **place = more_place(s, n), *more, *before = NULL;
	int ret;

	if (!place)
		return -ENOSPC;
	more = mmap(NULL, sizeof(*more), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (more == MAP_FAILED)
		return -ENOMEM;
	bank_clear(&more->bank);
	ret = backend_of(s) == GCHINT_BACKEND_DEVICE ? device_open_more(s, n, &more->bank) : 0;
	/*
	 * Publish the block only when it is complete. If another thread published one first,
	 * drop this one; the caller then uses the other.
	 */
	if (ret || !cmpxchg_seq(place, &before, more)) {
		device_close_more(&more->bank, 0);
		munmap(more, sizeof(*more));
	}
	return ret;
}

void banks_open(struct gchint_session *s)
{
	struct bank *bank;
	unsigned int n;

	if (backend_of(s) != GCHINT_BACKEND_DEVICE)
		return;
	for (n = 1; (bank = bank_at(s, n)); n++)
		if (device_open_more(s, n, bank))
			bank_clear(bank);
}
