// SPDX-License-Identifier: MIT
/* Slot blocks: the leases of threads, GCHINT_SLOTS to a block. */
#include <errno.h>
#include <sys/mman.h>

#include "block.h"
#include "device.h"

void block_clear(struct slot_block *block)
{
	store_relaxed(&block->slots, NULL);
	store_relaxed(&block->fd, -1);
}

int block_add(struct gchint_session *s, unsigned int n)
{
	struct slot_page **place = slot_page_place(s, n), *page, *before = NULL;
	int ret;

	if (!place)
		return -ENOSPC;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return -ENOMEM;
	block_clear(&page->block);
	ret = backend_of(s) == GCHINT_BACKEND_DEVICE ? device_open_block(s, n, &page->block) : 0;
	/*
	 * Publish the block only when it is complete. If another thread published one first,
	 * drop this one; the caller then uses the other.
	 */
	if (ret || !cmpxchg_seq(place, &before, page)) {
		device_close_block(&page->block);
		munmap(page, sizeof(*page));
	}
	return ret;
}

void blocks_open(struct gchint_session *s)
{
	struct slot_block *block;
	unsigned int n;

	if (backend_of(s) != GCHINT_BACKEND_DEVICE)
		return;
	for (n = 1; (block = block_at(s, n)); n++)
		if (device_open_block(s, n, block))
			block_clear(block);
}
