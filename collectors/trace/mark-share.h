/* SPDX-License-Identifier: MIT */
/*
 * Marking in place by the collecting thread and waiting mutators (thread/help.h): those of a stopped
 * world or, while others run, those that wait for the end of a late cycle. The first thread to
 * reach an object sets its mark bit; stores of running mutators dirty cards, as they do for a
 * single marker.
 */
#ifndef GC_MARK_SHARE_H
#define GC_MARK_SHARE_H

#include "../heap/heap.h"

/* Are there mutators that may help to mark, or may join during the stop? Not while objects move. */
bool gc_mark_shares(const struct gc_heap *heap);
/*
 * Call them, and trace with those that join until no object is grey, each with a stack of its
 * own. False, with nothing done, if no thread can help.
 */
bool gc_mark_share(struct gc_heap *heap);
/* The same for the dirty cards in [@card, @end), and for what their objects refer to */
bool gc_mark_share_cards(struct gc_heap *heap, uint8_t *card, uint8_t *end);

#endif
