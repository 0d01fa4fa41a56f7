// SPDX-License-Identifier: MIT
/*
 * Edges that are more than a store: nested, filtered, timed, with details, with a
 * doorbell, clamped, traced. Async-signal-safe. A handler that interrupts one of
 * these on the same thread and ends every phase that it begins leaves the record as it was.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clamp.h"
#include "device.h"
#include "doorbell.h"
#include "filter.h"
#include "names.h"
#include "owner.h"
#include "probe.h"
#include "record.h"
#include "slot.h"
#include "stream.h"
#include "thread.h"
#include "trace.h"

#define DEPTH_MAX 255

/* Which details slot_publish() stores. */
#define DETAIL_CAUSE  0x01u
#define DETAIL_WORK   0x02u
#define DETAIL_METHOD 0x04u
#define DETAIL_ALL    0x07u

/**
 * struct edge - the objects that one call works on
 * @s: the session
 * @t: the handle
 * @r: its record
 * @state: where its state word is
 * @saved: errno of the caller
 */
struct edge {
	struct gchint_session *s;
	struct gchint_thread *t;
	struct record *r;
	uint32_t *state;
	int saved;
};

static int edge_enter(struct edge *e, struct gchint_thread *t)
{
	struct gchint_session *s = &gchint_page.session;

	e->saved = errno;
	e->s = s;
	e->t = t;
	e->r = t == &__gchint_self ? self_record(s) : record_of(s, t);
	if (!e->r)
		goto out;
	/*
	 * The device itself ignores a forked child. With other backends the child must not
	 * publish phases for a thread of its parent.
	 */
	if ((backend_of(s) != GCHINT_BACKEND_DEVICE || trace_is_open(s)) && !owner_is_caller(s)) {
		handle_drop(s, t);
		goto out;
	}
	e->state = state_of(s, e->r);
	return 1;
out:
	errno = e->saved;
	return 0;
}

static uint32_t edge_word(const struct edge *e)
{
	return load_relaxed(e->state) & WORD_MASK;
}

static int edge_short(const struct edge *e)
{
	return e->r->since[0] & SINCE_SHORT;
}

static void edge_dirty(struct edge *e)
{
	if (!(record_flags(e->r) & RECORD_DIRTY))
		record_set_flags(e->r, RECORD_DIRTY);
}

/*
 * Publish an edge with details, or progress, cause or method alone: the values of @d (NULL: zero)
 * that @which selects. Without the device @slot is NULL, and details are dropped.
 */
static void slot_publish(struct gchint_slot *slot, uint32_t *state, uint32_t next,
			 unsigned int which, const struct gchint_detail *d)
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

/*
 * Publish the innermost phase. Details of the phase before must not be taken for those of
 * this one, except the cause if @keep_cause. The kernel needs only the store; ordering
 * matters for details alone.
 */
static void edge_publish(struct edge *e, uint32_t word, int keep_cause,
			 const struct gchint_detail *d)
{
	struct gchint_slot *slot = slot_of(e->s, e->r);
	uint32_t next = state_next(load_relaxed(e->state), word);

	if (!d && !(record_flags(e->r) & RECORD_DIRTY)) {
		store_relaxed(e->state, next);
	} else {
		slot_publish(slot, e->state, next, keep_cause ? ~DETAIL_CAUSE : DETAIL_ALL, d);
		if (d)
			edge_dirty(e);
		else if (!keep_cause)
			record_clear_flags(e->r, RECORD_DIRTY);
	}
}

/*
 * The outermost phase is over. Its last details stay, because the kernel learns from
 * them; the next edge of the thread clears them. Partner of the release: as in
 * slot_publish().
 */
static void edge_close(struct edge *e)
{
	store_release(e->state, state_next(load_relaxed(e->state), 0));
}

static int edge_ring(struct edge *e, const uint32_t *mask, uint32_t phase)
{
	const struct gchint_info *info = load_relaxed(&e->s->info);
	int ret;

	if (!doorbell_asked(mask, phase) ||
	    !doorbell_heard(e->s, info, phase, e->t == &__gchint_self))
		return 0;
	ret = device_ring(e->s, load_relaxed(&e->r->slot));
	if (!ret)
		return 1;
	if (ret == -ENOENT)
		store_relaxed(&e->r->slot, SLOT_NONE);
	else if (ret == -ESTALE)
		handle_drop(e->s, e->t);
	return 0;
}

/* Send the current phase to probes and recorder; @keep_cause: same collection as before. */
static void edge_stream(struct edge *e, int keep_cause, const struct gchint_detail *d)
{
	PROBE_PHASE(e->r->handle.tid, phase_of(edge_word(e)), flags_of(edge_word(e)),
		    d ? d->cause : 0);
	if (!stream_is_open(e->s))
		return;
	if (d && d->cause)
		e->r->cause = d->cause & 0x1f;
	else if (!keep_cause)
		e->r->cause = 0;
	stream_put(e->s, e->r, GCHINT_STREAM_PHASE, e->t == &__gchint_self, edge_word(e), d, 0);
}

static void edge_push(struct record *r, uint32_t word)
{
	r->nest = r->nest << 16 | word;
	if (r->depth < DEPTH_MAX)
		r->depth++;
}

static uint32_t edge_pop(struct record *r)
{
	uint32_t word = r->nest & WORD_MASK;

	if (!r->depth)
		return 0;
	r->nest >>= 16;
	r->depth--;
	return word;
}

static void since_push(struct record *r, uint32_t since)
{
	memmove(&r->since[1], &r->since[0], sizeof(r->since) - sizeof(r->since[0]));
	r->since[0] = since;
}

static void since_pop(struct record *r)
{
	memmove(&r->since[0], &r->since[1], sizeof(r->since) - sizeof(r->since[0]));
	r->since[NEST - 1] = 0;
}

static void edge_trace(struct edge *e, const char *event, uint32_t word, int is_short, int rang,
		       const struct gchint_detail *d)
{
	struct trace_line l;

	if (!trace_is_open(e->s))
		return;
	trace_event(&l, event, e->r->handle.tid);
	trace_phase(&l, word);
	if (phase_of(word) >= GCHINT_PHASE_NR)
		trace_number(&l, "invalid", phase_of(word));
	if (edge_word(e) != word && edge_word(e))
		trace_name(&l, "in", name_of_phase(phase_of(edge_word(e))));
	if (d)
		trace_detail(&l, d);
	if (is_short)
		trace_mark(&l, "short");
	if (rang)
		trace_mark(&l, "ring");
	if (record_flags(e->r) & RECORD_CAPPED)
		trace_mark(&l, "capped");
	trace_write(e->s, &l);
}

static int detail_any(const struct gchint_detail *d)
{
	return d->cause || d->work_done || d->work_total || d->stall_ns || d->method;
}

static int edge_is_clamping(const struct edge *e)
{
	return backend_of(e->s) == GCHINT_BACKEND_CLAMP;
}

/*
 * Clamps: is the thread to be capped in its innermost phase @word, or outside of phases?
 * Only the NEST innermost phases have flags in since; for those further out @word decides.
 */
static uint32_t edge_capped(const struct edge *e, uint32_t word)
{
	int capped = phase_of(word) ? clamp_wanted(word) : clamp_standing(e->r);

	if (e->r->since[0])
		return e->r->since[0] & SINCE_CAPPED;
	return capped ? SINCE_CAPPED : 0;
}

/* As edge_capped(), for the phase @word that is about to begin inside of @outer. */
static uint32_t edge_caps(const struct edge *e, uint32_t word, uint32_t outer, int is_short,
			  const struct gchint_detail *d)
{
	if (!edge_is_clamping(e))
		return 0;
	if (is_short || filter_brief(e->s, word, d ? d->expect_ns : 0))
		return edge_capped(e, outer);
	return clamp_wanted(word) && !(d && clamp_late(d->stall_ns)) ? SINCE_CAPPED : 0;
}

static void edge_clamp(const struct edge *e)
{
	if (edge_is_clamping(e))
		clamp_apply(e->s, e->r, edge_capped(e, edge_word(e)) != 0);
}

/*
 * Does announcing @word take a system call? The answer must not depend on the trace:
 * tracing must not change which phases reach the kernel.
 */
static int edge_costly(const struct edge *e, uint32_t word)
{
	const struct gchint_info *info = load_relaxed(&e->s->info);

	/* The cost of a clamp only decides about the clamp: a recorder gets all phases. */
	if (backend_of(e->s) == GCHINT_BACKEND_STREAM || edge_is_clamping(e))
		return 0;
	if (backend_of(e->s) != GCHINT_BACKEND_DEVICE || !info)
		return 1;
	return doorbell_asked(&info->doorbell_begin, phase_of(word)) ||
	       doorbell_asked(&info->doorbell_end, phase_of(word));
}

/*
 * The innermost phase becomes @word. A filtered phase leaves the outer one in the slot and
 * is itself pushed on the stack, so that its length can be learned when it ends.
 */
static void stack_begin(struct edge *e, uint32_t word, uint32_t outer, int is_short, int costly,
			uint32_t caps)
{
	int timed = costly || is_short || edge_is_clamping(e);

	if (is_short)
		edge_push(e->r, word);
	else if (outer || e->r->depth)
		edge_push(e->r, outer);
	since_push(e->r, timed ? filter_now() | (is_short ? SINCE_SHORT : 0) | caps : 0);
}

/* The innermost phase ends. Return: its word; *outer: the word of the phase around it. */
static uint32_t stack_end(struct edge *e, uint32_t *outer)
{
	uint32_t word = edge_word(e);

	if (edge_short(e)) {
		*outer = word;
		word = edge_pop(e->r);
	} else {
		*outer = edge_pop(e->r);
	}
	if (e->r->since[0] && word)
		filter_learn(e->s, word, e->r->since[0]);
	since_pop(e->r);
	return word;
}

/* Ring once if the end of phase @ended or the begin of @begun (0: none) asks for it. */
static int edge_bells(struct edge *e, uint32_t ended, uint32_t begun)
{
	const struct gchint_info *info = load_relaxed(&e->s->info);

	if (!info)
		return 0;
	if (ended && edge_ring(e, &info->doorbell_end, phase_of(ended)))
		return 1;
	return begun && edge_ring(e, &info->doorbell_begin, phase_of(begun));
}

static void edge_begin(struct gchint_thread *t, uint32_t word, const struct gchint_detail *d)
{
	int is_short, costly, rang = 0;
	uint32_t caps;
	struct edge e;

	if (!edge_enter(&e, t))
		return;
	word = filter_flags(e.s, word);
	costly = edge_costly(&e, word);
	is_short = filter_short(e.s, word, d ? d->expect_ns : 0, costly);
	caps = edge_caps(&e, word, edge_word(&e), is_short, d);
	stack_begin(&e, word, edge_word(&e), is_short, costly, caps);
	if (!is_short)
		edge_publish(&e, word, 0, d && detail_any(d) ? d : NULL);
	edge_clamp(&e);
	handle_settle(e.s, t, e.r);
	if (!is_short) {
		rang = edge_bells(&e, 0, word);
		edge_stream(&e, 0, d);
	}
	edge_trace(&e, "begin", word, is_short, rang, d);
	errno = e.saved;
}

static void edge_end(struct gchint_thread *t)
{
	uint32_t word, outer;
	int is_short, rang = 0;
	struct edge e;

	if (!edge_enter(&e, t))
		return;
	is_short = edge_short(&e);
	word = stack_end(&e, &outer);
	if (!is_short && outer)
		edge_publish(&e, outer, 0, NULL);
	else if (!is_short)
		edge_close(&e);
	edge_clamp(&e);
	handle_settle(e.s, t, e.r);
	if (!is_short) {
		rang = edge_bells(&e, word, outer);
		edge_stream(&e, !outer, NULL);
	}
	edge_trace(&e, "end", word, is_short, rang, NULL);
	errno = e.saved;
}

static void edge_next(struct gchint_thread *t, uint32_t word, const struct gchint_detail *d)
{
	int was_short, is_short, costly, rang = 0;
	uint32_t ended, outer;
	struct edge e;

	if (!edge_enter(&e, t))
		return;
	was_short = edge_short(&e);
	ended = stack_end(&e, &outer);
	if (ended)
		edge_trace(&e, "end", ended, was_short, 0, NULL);
	word = filter_flags(e.s, word);
	costly = edge_costly(&e, word);
	is_short = filter_short(e.s, word, d ? d->expect_ns : 0, costly);
	stack_begin(&e, word, outer, is_short, costly, edge_caps(&e, word, outer, is_short, d));
	edge_clamp(&e);
	/* After a short phase a short phase: the slot stays as it is. */
	if (!is_short || !was_short) {
		if (is_short && !outer)
			edge_close(&e);
		else
			edge_publish(&e, is_short ? outer : word, !d,
				     d && !is_short && detail_any(d) ? d : NULL);
		handle_settle(e.s, t, e.r);
		rang = edge_bells(&e, was_short ? 0 : ended, is_short ? outer : word);
		edge_stream(&e, !d, is_short ? NULL : d);
	}
	edge_trace(&e, "begin", word, is_short, rang, d);
	errno = e.saved;
}

void __gchint_begin(struct gchint_thread *t, uint32_t phase, uint32_t flags)
{
	edge_begin(t, (phase | flags) & WORD_MASK, NULL);
}

void __gchint_end(struct gchint_thread *t)
{
	edge_end(t);
}

void __gchint_self_begin(uint32_t phase, uint32_t flags)
{
	edge_begin(&__gchint_self, (phase | flags) & WORD_MASK, NULL);
}

void __gchint_self_end(void)
{
	edge_end(&__gchint_self);
}

void __gchint_next(struct gchint_thread *t, uint32_t phase, uint32_t flags)
{
	edge_next(t, (phase | flags) & WORD_MASK, NULL);
}

void __gchint_self_next(uint32_t phase, uint32_t flags)
{
	edge_next(&__gchint_self, (phase | flags) & WORD_MASK, NULL);
}

/* The structure of an older caller is shorter; the fields that it lacks become 0. */
static void detail_copy(struct gchint_detail *to, const struct gchint_detail *from)
{
	size_t size = from->size < sizeof(*to) ? from->size : sizeof(*to);

	memset(to, 0, sizeof(*to));
	memcpy(to, from, size);
}

void gchint_begin_detail(struct gchint_thread *t, enum gchint_phase phase, gchint_flags_t flags,
			 const struct gchint_detail *detail)
{
	struct gchint_detail d;

	if (detail)
		detail_copy(&d, detail);
	edge_begin(t, GCHINT_STATE(0, phase, flags) & WORD_MASK, detail ? &d : NULL);
}

void gchint_next_detail(struct gchint_thread *t, enum gchint_phase phase, gchint_flags_t flags,
			const struct gchint_detail *detail)
{
	struct gchint_detail d;

	if (detail)
		detail_copy(&d, detail);
	edge_next(t, GCHINT_STATE(0, phase, flags) & WORD_MASK, detail ? &d : NULL);
}

/* Store some details of the current phase. */
static void edge_detail(struct gchint_thread *t, const char *event, unsigned int which,
			const struct gchint_detail *d)
{
	struct edge e;
	uint32_t word;

	if (!edge_enter(&e, t))
		return;
	word = edge_word(&e);
	/* Work belongs to a phase; a cause or method may be set just after its end. */
	if (!edge_short(&e) && (word || which != DETAIL_WORK)) {
		slot_publish(slot_of(e.s, e.r), e.state, state_next(load_relaxed(e.state), word),
			     which, d);
		edge_dirty(&e);
		/* Mutators stall by now, so the cap was wrong. It is not set again. */
		if (edge_is_clamping(&e) && e.r->since[0] & SINCE_CAPPED &&
		    clamp_late(d->stall_ns)) {
			e.r->since[0] &= ~SINCE_CAPPED;
			edge_clamp(&e);
		}
		handle_settle(e.s, t, e.r);
		edge_stream(&e, 1, d);
	}
	edge_trace(&e, event, word, edge_short(&e), 0, d);
	errno = e.saved;
}

void gchint_progress(struct gchint_thread *t, uint64_t work_done, uint64_t work_total,
		     uint64_t stall_ns)
{
	const struct gchint_detail d = {
		.work_done = work_done,
		.work_total = work_total,
		.stall_ns = stall_ns,
	};

	edge_detail(t, "progress", DETAIL_WORK, &d);
}

void gchint_own_work(struct gchint_thread *t, uint64_t work)
{
	struct gchint_slot *slot;
	struct edge e;

	if (!edge_enter(&e, t))
		return;
	slot = slot_of(e.s, e.r);
	/* A value torn on a 32-bit machine is implausible, and the kernel discards it. */
	if (slot)
		store_detail(&slot->own_work, work);
	errno = e.saved;
}

void gchint_set_cause(struct gchint_thread *t, unsigned int cause)
{
	const struct gchint_detail d = { .cause = cause };

	edge_detail(t, "cause", DETAIL_CAUSE, &d);
}

void gchint_set_method(struct gchint_thread *t, uint64_t method)
{
	const struct gchint_detail d = { .method = method };

	edge_detail(t, "method", DETAIL_METHOD, &d);
}

void gchint_abandon(struct gchint_thread *t)
{
	struct edge e;
	uint32_t word;
	int rang = 0;

	if (!edge_enter(&e, t))
		return;
	word = edge_word(&e);
	e.r->nest = 0;
	e.r->depth = 0;
	memset(e.r->since, 0, sizeof(e.r->since));
	edge_publish(&e, 0, 0, NULL);
	edge_clamp(&e);
	handle_settle(e.s, t, e.r);
	if (word && e.s->info)
		rang = edge_ring(&e, &e.s->info->doorbell_end, phase_of(word));
	edge_stream(&e, 0, NULL);
	edge_trace(&e, "abandon", word, 0, rang, NULL);
	errno = e.saved;
}

/* The structure of an older caller is shorter; what it lacks is unknown. */
static void heap_copy(struct gchint_heap *to, const struct gchint_heap *from)
{
	static const struct gchint_heap unknown = GCHINT_HEAP_INIT;

	*to = unknown;
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
}

static void heap_trace_number(struct trace_line *l, const char *key, uint64_t value)
{
	if (value != GCHINT_HEAP_UNKNOWN)
		trace_number(l, key, value);
}

static void heap_trace(const struct edge *e, const struct gchint_heap *h)
{
	struct trace_line l;

	trace_event(&l, "heap", e->r->handle.tid);
	trace_name(&l, "when", h->when == GCHINT_HEAP_BEFORE ? "before" : "after");
	if (h->time_ns)
		trace_number(&l, "at", h->time_ns);
	heap_trace_number(&l, "used", h->used);
	heap_trace_number(&l, "committed", h->committed);
	heap_trace_number(&l, "limit", h->limit);
	heap_trace_number(&l, "allocated", h->allocated);
	heap_trace_number(&l, "freed", h->freed);
	if (h->generation != GCHINT_HEAP_UNKNOWN_GENERATION)
		trace_number(&l, "generation", h->generation);
	trace_write(e->s, &l);
}

void gchint_heap(struct gchint_thread *t, const struct gchint_heap *heap)
{
	struct gchint_session *s = &gchint_page.session;
	struct gchint_heap h;
	struct edge e;

	if ((!stream_is_open(s) && !trace_is_open(s)) || !edge_enter(&e, t))
		return;
	/* With the device edge_enter() lets a forked child pass, whose ring is its parent's. */
	if (!owner_is_caller(s))
		goto out;
	heap_copy(&h, heap);
	if (h.when != GCHINT_HEAP_BEFORE && h.when != GCHINT_HEAP_AFTER)
		goto out;
	stream_heap(s, e.r, &h);
	if (trace_is_open(s))
		heap_trace(&e, &h);
out:
	errno = e.saved;
}
