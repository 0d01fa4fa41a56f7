// SPDX-License-Identifier: MIT
/*
 * Two levels of data TLB, indexed by physical page, so that they stay valid when the guest changes
 * its page tables. The guest kernel's memory is mapped in sections. An access to a line that is
 * known to be in L1 skips the TLBs, because its page is one of the last few.
 */
#include "timed.h"

#define WAYS	     4
#define KERNEL	     0xc0000000u /* from this address on: sections of 1 MiB */
#define SECTION_MARK (1u << 24)

int tlb_init(void)
{
	unsigned int i;

	for (i = 0; i < timed.board.cores; i++) {
		struct timed_core *c = &timed.core[i];

		if (c->k->tlb1_entries && lines_init(&c->tlb1, c->k->tlb1_entries, WAYS))
			return -1;
		if (c->k->tlb2_entries && lines_init(&c->tlb2, c->k->tlb2_entries, WAYS))
			return -1;
	}
	return 0;
}

void tlb_access(struct timed_core *c, uint64_t virt, uint64_t phys)
{
	uint32_t page = virt >= KERNEL ? (uint32_t)(phys >> 20) | SECTION_MARK :
					 (uint32_t)(phys / BOARD_PAGE);
	uint32_t gone;

	if (page == c->last_page || !c->tlb1.entry)
		return;
	c->last_page = page;
	if (lines_hit(&c->tlb1, page, LINES_USED, &gone))
		return;
	c->count.tlb_miss++;
	timed_stall(c, c->k->tlb1_cycles * c->cycle_ns);
	if (!c->tlb2.entry || lines_hit(&c->tlb2, page, LINES_USED, &gone))
		return;
	c->count.walk++;
	timed_stall(c, c->k->walk_cycles * c->cycle_ns + c->k->walk_ns);
}

static void lines_clear(struct lines *l)
{
	uint32_t i;

	for (i = 0; l->entry && i < (l->mask + 1) * l->ways; i++)
		lines_put(&l->entry[i], 0);
}

void tlb_lose(struct timed_core *c)
{
	lines_clear(&c->tlb1);
	lines_clear(&c->tlb2);
	c->last_page = 0;
}
