// SPDX-License-Identifier: MIT
/*
 * Description: the sharing of marking, step by step: which dirty cards are cleaned and scanned,
 * what is reachable from them, reported progress, and the counters of the helpers.
 */
#define _GNU_SOURCE
#include "alone.h"

#include <gchint/gc-listener.h>
#include <heap/heap.h>
#include <thread/help.h>
#include <trace/marker.h>
#include <trace/mark-share.h>
#include <trace/mark.h>
#include <listener/phase.h>
#include <pthread.h>
#include <space/lines.h>
#include <space/pages.h>

#define NODES	(64 * 1024) /* of 32 bytes, 4 on a card */
#define STRETCH 4096 /* of trace/mark-share.c */

struct node {
	struct gc_header header;
	struct node *child, *other;
	long pad;
};

struct weak {
	struct gc_header header;
	struct node *target;
};

static struct node *node[NODES], *leaf[NODES];
static struct weak *weak;
static const struct gc_type *type, *weak_type;

static bool begin(const char *options)
{
	const struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	const struct gc_type_desc w = { .name = "weak", .size = sizeof(struct weak), .weak = true };

	if (!open_heap(options))
		return false;
	type = gc_type_register(heap, &d, NULL);
	weak_type = gc_type_register(heap, &w, NULL);
	for (int i = 0; i < NODES; i++)
		node[i] = GC_NEW(m, type, struct node);
	for (int i = 0; i < NODES; i++)
		leaf[i] = GC_NEW(m, type, struct node);
	weak = GC_NEW(m, weak_type, struct weak);
	/* As if somebody waited, so that the work is shared. */
	heap->gc.waiting = 1;
	return true;
}

static void end(void)
{
	heap->gc.waiting = 0;
	heap->weak.weaks.count = 0;
	stop();
}

static bool is_marked(const void *obj)
{
	return gc_bit_test(heap->mark, (uintptr_t)obj);
}

/* ---- cards --------------------------------------------------------------- */

static uint8_t *low; /* the card of the node at the lowest address */
static size_t span; /* cards up to that of the highest */
static uint8_t was[NODES], marks[NODES]; /* of each card */

static size_t card_of(const void *obj)
{
	return (size_t)(gc_card(heap, (uintptr_t)obj) - low);
}

/* Up to three of the four on a card */
static bool marked_before(int i)
{
	return i % 7 == 0 || i % 3 == 0;
}

/* Every 9th card is dirty, as are those beside both ends. */
static void prepare(size_t first, size_t last)
{
	gc_mark_prepare(heap, false);
	memset(marks, 0, sizeof(marks));
	for (int i = 0; i < NODES; i++) {
		node[i]->child = leaf[i];
		if (!marked_before(i))
			continue;
		gc_bit_set(heap->mark, (uintptr_t)node[i]);
		marks[card_of(node[i])]++;
	}
	for (size_t i = 0; i < span; i++)
		low[i] = i % 9 == 0 || i + 1 == first || i == first || i + 1 == last || i == last ?
				 GC_CARD_DIRTY :
				 0;
	memcpy(was, low, span);
}

static void cards(size_t first, size_t count)
{
	size_t last = first + count, dirty = 0, scanned = 0, again = 0;
	struct gc_heap_stats before = stats(), now;
	bool clean = true, marked = true, shared;

	prepare(first, last);
	for (size_t i = first; i < last; i++) {
		if (!was[i])
			continue;
		dirty++;
		scanned += marks[i] > 0;
		again += marks[i];
	}
	shared = gc_mark_share_cards(heap, low + first, low + last);
	now = stats();
	for (size_t i = 0; i < span; i++)
		clean &= low[i] == (i >= first && i < last ? 0 : was[i]);
	for (int i = 0; i < NODES; i++) {
		size_t at = card_of(node[i]);

		marked &= is_marked(leaf[i]) ==
			  (marked_before(i) && at >= first && at < last && was[at]);
	}
	ok(shared && clean, "%zu cards: dirty ones are clean, others unchanged", count);
	ok(now.cards_dirty - before.cards_dirty == dirty &&
		   now.cards_scanned - before.cards_scanned == scanned &&
		   now.rescanned_objects - before.rescanned_objects == again,
	   "%zu cards: %zu were dirty, %zu with marked objects, %zu objects", count, dirty, scanned,
	   again);
	ok(marked && heap->cycle.marked_objects == again &&
		   heap->cycle.marked_bytes == again * sizeof(struct node),
	   "%zu cards: objects reachable from them are marked once", count);
}

static void stretches(const char *options)
{
	static const size_t counts[] = { 1, STRETCH - 1, STRETCH, STRETCH + 1, 2 * STRETCH, 9000 };
	uint8_t *high;

	if (!begin(options))
		return;
	low = high = gc_card(heap, (uintptr_t)node[0]);
	for (int i = 0; i < NODES; i++) {
		uint8_t *card = gc_card(heap, (uintptr_t)node[i]);

		low = card < low ? card : low;
		high = card > high ? card : high;
	}
	span = (size_t)(high - low) + 1;
	if (ok(span > 9300 && span < NODES, "%s: nodes lie on %zu cards", options, span))
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			cards(90 + i, counts[i]);
	end();
}

/* A weak object on a dirty card, whose referent nobody else refers to */
static void weak_on_card(void)
{
	struct gc_vector real;
	uint8_t *card;

	if (!begin("plan=marksweep,trim=0,workers=3,max=64M"))
		return;
	card = gc_card(heap, (uintptr_t)weak);
	for (int memory = 1; memory >= 0; memory--) {
		gc_mark_prepare(heap, false);
		gc_bit_set(heap->mark, (uintptr_t)weak);
		weak->target = node[0];
		node[0]->child = NULL;
		*card = GC_CARD_DIRTY;
		real = heap->weak.weaks;
		if (!memory)
			heap->weak.weaks.count = heap->weak.weaks.room = SIZE_MAX / 64;
		gc_mark_share_cards(heap, card, card + 1);
		if (memory) {
			ok(heap->weak.weaks.count == 1 && heap->weak.weaks.items[0] == weak &&
				   !is_marked(node[0]),
			   "a weak object is noted and does not keep its referent");
		} else {
			heap->weak.weaks = real;
			ok(is_marked(node[0]), "without memory to note it, it keeps its referent");
		}
		heap->weak.weaks.count = 0;
	}
	end();
}

/* ---- progress, and what each adds ---------------------------------------- */

static struct gc_listener hearing;
static uint64_t heard[16], told_of;
static int hearings;
static pthread_t helping;

static void *help(void *arg)
{
	(void)arg;
	gc_help_join(heap, NULL);
	return NULL;
}

/* While this thread marks a helper comes that has something to do of its own. */
static void on_progress(struct gc_listener *self, const struct gc_event *e)
{
	struct gc_helper *k = gc_help_place(heap, 1);

	(void)self;
	if (hearings < 16)
		heard[hearings] = e->work_done;
	if (hearings++)
		return;
	for (int i = 0; i < NODES / 2; i++) {
		gc_bit_set(heap->mark, (uintptr_t)leaf[i]);
		if (k->own.top < k->own.limit)
			*k->own.top++ = leaf[i];
		else
			gc_mark_stack_full(heap, &k->own, leaf[i]);
	}
	k->own.dropped = k->own.lossy = true;
	pthread_create(&helping, NULL, help, NULL);
	for (int i = 0; i < 10000 && !told_of; i++) {
		usleep(1000);
		told_of = gc_help_reported(heap);
	}
}

static const struct gc_listener_ops hearing_ops = { .progress = on_progress };

static void added_up(void)
{
	const uint64_t before = 12345 * 32, most = before + (NODES + NODES / 2) * 32;
	struct gc_heap_stats was_told, now;
	struct gc_helper *k;
	bool rises = true;

	if (!begin("plan=marksweep,trim=0,workers=3,max=64M"))
		return;
	k = gc_help_place(heap, 1);
	gc_mark_prepare(heap, false);
	for (int i = 0; i < NODES; i++) {
		node[i]->child = i + 1 < NODES ? node[i + 1] : NULL;
		leaf[i]->child = NULL;
	}
	gc_bit_set(heap->mark, (uintptr_t)node[0]);
	*heap->stack.top++ = node[0];
	hearing.ops = &hearing_ops;
	heap->listener = &hearing;
	gc_phase_begin(heap, GC_PHASE_MARK, most);
	heap->cycle.marked_bytes = before;
	heap->cycle.marked_objects = 12345;
	was_told = stats();
	ok(gc_mark_share(heap), "the marking can be shared");
	now = stats();
	pthread_join(helping, NULL);
	heap->listener = NULL;
	heap->cycle.phase = GC_PHASE_IDLE;
	ok(told_of && told_of % (16 * 32) == 0 && told_of <= most,
	   "a helper reports its marked bytes meanwhile");
	for (int i = 1; i < hearings && i < 16; i++)
		rises &= heard[i] > heard[i - 1] && heard[i] <= most;
	ok(rises && hearings > 2 && heard[0] > before && heard[1] >= heard[0] + told_of,
	   "progress is the sum of earlier marking and of all helpers");
	ok(heap->cycle.done == most && heap->cycle.marked_bytes == most &&
		   heap->cycle.marked_objects == 12345 + NODES + NODES / 2,
	   "progress is complete at the end");
	ok(now.helps == was_told.helps + 1 &&
		   now.helped_objects - was_told.helped_objects == k->mark.objects &&
		   k->mark.objects > 0,
	   "one helper is counted with the objects that it marked");
	ok(now.mark_stack_peak >= NODES / 2 * sizeof(void *),
	   "the peak is that of the deepest stack");
	ok(k->own.top == k->own.base && k->own.limit == k->own.base + GC_PAGE / sizeof(void *),
	   "the helper's stack is reset");
	ok(heap->stack.dropped && heap->stack.lossy && !k->own.dropped && !k->own.lossy,
	   "an overflow of the helper's stack is reported to the collecting thread once");
	end();
}

/* ---- whether there is anybody -------------------------------------------- */

static void shares(void)
{
	static const struct {
		const char *options;
		bool stopping, waiting, want;
	} rows[] = {
		{ "plan=marksweep,trim=0,workers=3", true, false, true },
		{ "plan=marksweep,trim=0,workers=3", false, false, false },
		{ "plan=marksweep,trim=0,workers=3", false, true, true },
		{ "plan=marksweep,trim=0,workers=1", true, true, false },
		{ "plan=immix,trim=0,workers=3", true, true, true },
		{ "plan=gss,trim=0,workers=3,help=0", false, true, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!open_heap(rows[i].options))
			continue;
		heap->mutators.stopping = rows[i].stopping;
		heap->gc.waiting = rows[i].waiting;
		ok(gc_mark_shares(heap) == rows[i].want, "%s, %s, %s: %s", rows[i].options,
		   rows[i].stopping ? "a stop" : "mutators run",
		   rows[i].waiting ? "one mutator waits" : "no mutator waits",
		   rows[i].want ? "shared" : "alone");
		if (heap->lines) {
			heap->lines->moving = true;
			ok(!gc_mark_shares(heap), "%s: marking is not shared while objects move",
			   rows[i].options);
			heap->lines->moving = false;
		}
		heap->mutators.stopping = false;
		heap->gc.waiting = 0;
		if (heap->help && !heap->workers)
			ok(!gc_mark_share(heap) && !gc_mark_share_cards(heap, NULL, NULL) &&
				   !heap->help_range,
			   "%s: without helpers nothing is done", rows[i].options);
		stop();
	}
}

int main(void)
{
	alarm(CHILD_S);
	shares();
	stretches("plan=marksweep,trim=0,workers=3,max=64M");
	stretches("plan=stickyimmix,trim=0,workers=3,max=64M");
	weak_on_card();
	added_up();
	return done();
}
