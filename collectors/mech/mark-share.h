/* SPDX-License-Identifier: MIT */
/*
 * Marking in place by the collecting thread and mutators that wait (mech/help.h): stopped with
 * the world, or, beside the others, for the end of a cycle that is late. Mark bits are set by
 * whoever comes first; what a mutator writes beside them its card tells, as when one marks alone.
 */
#ifndef GC_MARK_SHARE_H
#define GC_MARK_SHARE_H

#include "heap.h"

/* Are there mutators that may help to mark, or a stop in which some may come? Not while objects move. */
bool gc_mark_shares(const struct gc_heap *heap);
/*
 * Call them, and trace with those that come until nothing is grey, each with a stack of its
 * own. False, and nothing done: there is none.
 */
bool gc_mark_share(struct gc_heap *heap);
/* The same for the dirty cards from @card on below @end, and what hangs on them */
bool gc_mark_share_cards(struct gc_heap *heap, uint8_t *card, uint8_t *end);

#endif
