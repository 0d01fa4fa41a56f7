// SPDX-License-Identifier: MIT
/*
 * Description: the behaviour of each plan on one program with one thread equals that of the
 * ledger, to the byte: counters, the fields of every event in order, the address of each object.
 * A change that is meant to alter these copies the lines that this test prints to the table; any
 * other change has broken something.
 */
#include "tap.h"

#include <heap/heap.h>
#include <listener/phase.h>

#define STEPS 30000
#define SLOTS 96
#define YOUNG 32 /* slots that new objects go to; what is in the others lives longer */
#define ONE   ",policy=fg,workers=1,help=0,ahead=0,pace=0,remark-limit=0,trim=0,boost=off,stall=0"

struct ledger {
	uint64_t cycles, minors, live, footprint; /* to see at a glance what has changed */
	uint64_t counters, events, places;
};

static const struct row {
	const char *options;
	struct ledger kept;
} rows[] = {
#include "ledger.table"
};

struct pair {
	struct gc_header header;
	void *left, *right;
	uint64_t number;
};

/* References with a gap between: its header tells nothing of them */
struct gap {
	struct gc_header header;
	void *first;
	uint64_t number;
	void *last;
};

/* Its references are told by its own function. */
struct told {
	struct gc_header header;
	uint64_t count;
	void *slot[3];
};

static struct {
	struct gc_frame head;
	void *slot[SLOTS];
} f;

static struct gc_heap *heap;
static struct gc_mutator *m;
static void *global[4];
static const struct gc_type *pair, *gap, *told, *data, *refs, *big;
static uint64_t seed, events, places;

static uint64_t draw(uint64_t below)
{
	return gc_random(&seed) % below;
}

static void mix(uint64_t *sum, uint64_t value)
{
	*sum = (*sum ^ value) * 0x9e3779b97f4a7c15u;
	*sum ^= *sum >> 29;
}

/* ---- what a listener hears ---- */

#define EDGES (sizeof(struct gc_listener_ops) / sizeof(gc_listen_fn))

static uint64_t begun[EDGES];

static void hear(const struct gc_event *e, size_t edge, size_t since)
{
	uint64_t lasted = since == edge ? 0 : e->time_ns - begun[since];

	begun[edge] = e->time_ns;
	mix(&events, edge);
	mix(&events, e->cycle);
	mix(&events, e->phase);
	mix(&events, e->cause << 8 | e->kind << 4 | e->foreground << 2 | e->stw << 1 | e->daemon);
	mix(&events, e->pause);
	mix(&events, e->work_done);
	mix(&events, e->work_total);
	mix(&events, e->headroom);
	mix(&events, e->heap_bytes);
	mix(&events, e->mutator != NULL);
	mix(&events, e->duration_ns == lasted);
}

#define HEAR(name, since)                                                                          \
	static void name(struct gc_listener *self, const struct gc_event *e)                       \
	{                                                                                          \
		(void)self;                                                                        \
		hear(e, GC_EDGE(name) / sizeof(gc_listen_fn),                                      \
		     GC_EDGE(since) / sizeof(gc_listen_fn));                                       \
	}
HEAR(cycle_begin, cycle_begin)
HEAR(cycle_end, cycle_begin)
HEAR(requesting_stop, requesting_stop)
HEAR(stopped, requesting_stop)
HEAR(roots_done, roots_done)
HEAR(restarting, restarting)
HEAR(restarted, requesting_stop)
HEAR(mark_begin, mark_begin)
HEAR(mark_end, mark_begin)
HEAR(remark_begin, remark_begin)
HEAR(remark_end, remark_begin)
HEAR(copy_begin, copy_begin)
HEAR(copy_end, copy_begin)
HEAR(sweep_begin, sweep_begin)
HEAR(sweep_end, sweep_begin)
HEAR(progress, progress)
HEAR(mutator_attached, mutator_attached)
HEAR(mutator_detached, mutator_detached)
HEAR(mutator_paused, mutator_paused)
HEAR(mutator_resumed, mutator_paused)
#undef HEAR

static const struct gc_listener_ops ops = {
	.cycle_begin = cycle_begin,
	.cycle_end = cycle_end,
	.requesting_stop = requesting_stop,
	.stopped = stopped,
	.roots_done = roots_done,
	.restarting = restarting,
	.restarted = restarted,
	.mark_begin = mark_begin,
	.mark_end = mark_end,
	.remark_begin = remark_begin,
	.remark_end = remark_end,
	.copy_begin = copy_begin,
	.copy_end = copy_end,
	.sweep_begin = sweep_begin,
	.sweep_end = sweep_end,
	.progress = progress,
	.mutator_attached = mutator_attached,
	.mutator_detached = mutator_detached,
	.mutator_paused = mutator_paused,
	.mutator_resumed = mutator_resumed,
};
static struct gc_listener listener = { &ops };

/* ---- the program ---- */

static void visit_told(void *obj, gc_visit_fn visit, void *arg)
{
	struct told *t = obj;

	for (uint64_t i = 0; i < t->count; i++)
		visit(&t->slot[i], arg);
}

static const struct gc_type *type(const struct gc_type_desc *desc)
{
	return gc_type_register(heap, desc, NULL);
}

static void register_types(void)
{
	pair = type(
		&(struct gc_type_desc){ .name = "pair", .size = sizeof(struct pair), .refs = 6 });
	gap = type(&(struct gc_type_desc){ .name = "gap", .size = sizeof(struct gap), .refs = 10 });
	told = type(&(struct gc_type_desc){
		.name = "told", .size = sizeof(struct told), .trace = visit_told });
	data = type(&(struct gc_type_desc){
		.name = "data", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1 });
	refs = type(&(struct gc_type_desc){ .name = "refs", .size = 8, .tail = GC_TAIL_REFS });
	big = type(&(struct gc_type_desc){ .name = "big", .size = 600, .refs = 6 });
}

/* Small ones mostly, but all size classes, and now and then one with pages of its own. */
static uint32_t length(void)
{
	uint64_t kind = draw(100);

	if (kind < 60)
		return (uint32_t)draw(64);
	if (kind < 90)
		return (uint32_t)draw(512);
	if (kind < 99)
		return (uint32_t)draw(9000);
	return (uint32_t)draw(60000);
}

static void *make(void)
{
	struct told *t;

	switch (draw(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return gc_alloc(m, pair);
	case 4:
	case 5:
		return gc_alloc(m, gap);
	case 6:
		t = gc_alloc(m, told);
		if (t)
			t->count = draw(4);
		return t;
	case 7:
	case 8:
		return gc_alloc_array(m, data, length());
	case 9:
		return gc_alloc_array(m, refs, (uint32_t)draw(draw(50) ? 40 : 3000));
	case 10:
		return gc_alloc(m, big);
	default:
		return gc_weak_new(m, &f.slot[draw(SLOTS)]);
	}
}

static bool is(const void *obj, const struct gc_type *t)
{
	return gc_type_index(gc_word(obj)) == gc_type_index(t->word);
}

static void link_up(void *obj, void *to)
{
	struct pair *p = obj;
	struct gap *g = obj;
	struct told *t = obj;

	if (is(obj, pair) || is(obj, big))
		gc_write(m, obj, draw(2) ? &p->left : &p->right, to);
	else if (is(obj, gap))
		gc_write(m, obj, draw(2) ? &g->first : &g->last, to);
	else if (is(obj, told) && t->count)
		gc_write(m, obj, &t->slot[draw(t->count)], to);
	else if (is(obj, refs) && gc_length(obj))
		gc_write(m, obj, (void **)obj + 1 + draw(gc_length(obj)), to);
}

static void place(const void *obj)
{
	mix(&places, obj ? (uintptr_t)obj - heap->base : 1);
}

/* An array of many, which a mark stack of 4 KiB cannot hold. */
static void bush(void **slot)
{
	uint32_t n = (uint32_t)draw(1500);
	void *obj = gc_alloc_array(m, refs, n);

	*slot = obj;
	for (uint32_t i = 0; obj && i < n; i++) {
		obj = gc_alloc(m, draw(3) ? pair : gap);
		if (obj)
			gc_write(m, *slot, (void **)*slot + 1 + i, obj);
	}
}

static void step(void)
{
	void **slot = &f.slot[draw(SLOTS)], *obj;

	switch (draw(20)) {
	case 0:
	case 1:
	case 2:
		if (*slot)
			link_up(*slot, f.slot[draw(SLOTS)]);
		break;
	case 3:
		if (!draw(8))
			bush(slot);
		else if (!draw(4))
			*slot = NULL;
		break;
	case 4:
		global[draw(4)] = *slot;
		break;
	case 5:
		if (*slot && !draw(8))
			gc_finalizer_add(m, *slot);
		*slot = gc_finalizer_next(m);
		break;
	case 6:
		gc_safepoint(m);
		break;
	case 7:
		if (!draw(200))
			gc_collect(m);
		else if (!draw(400))
			gc_collect_full(m);
		break;
	case 8:
		/* Most of what lives dies at once. */
		if (!draw(200))
			memset(f.slot, 0, sizeof(f.slot));
		break;
	case 9:
		*slot = f.slot[draw(YOUNG)];
		break;
	default:
		slot = &f.slot[draw(YOUNG)];
		obj = make();
		place(obj);
		if (!obj)
			mix(&places, gc_refused(m));
		else if (draw(8))
			link_up(obj, *slot);
		*slot = obj;
	}
}

static uint64_t count(const struct gc_heap_stats *s)
{
	const uint64_t counters[] = {
		s->allocated_bytes,
		s->allocated_objects,
		s->live_bytes,
		s->live_objects,
		s->peak_live_bytes,
		s->heap_bytes,
		s->footprint_bytes,
		s->peak_footprint_bytes,
		s->soft_limit,
		s->concurrent_start,
		s->side_bytes,
		s->mark_stack_bytes,
		s->mark_stack_peak,
		s->cycles,
		s->minors,
		s->majors,
		s->foreground_cycles,
		s->trims,
		s->trimmed_bytes,
		s->contentions,
		s->marked_objects,
		s->marked_bytes,
		s->copied_bytes,
		s->promoted_bytes,
		s->promoted_objects,
		s->premature_bytes,
		s->cards_dirty,
		s->cards_scanned,
		s->overflows,
		s->overflow_rounds,
		s->rescanned_objects,
		s->remark_timeouts,
		s->weak_cleared,
		s->finalized,
		s->boosts,
		s->boosts_refused,
		s->helps,
		s->helped_objects,
		s->daemon_switches,
		s->grown_instead,
		s->lifetime_bytes,
		s->lifetime_128k,
		s->lifetime_256k,
		s->lifetime_512k,
		s->threads_total,
		s->verifications,
		s->stalls,
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		mix(&sum, counters[i]);
	for (int i = 0; i < GC_CAUSE_COUNT; i++)
		mix(&sum, s->by_cause[i]);
	return sum;
}

static bool run(const char *options, struct ledger *now)
{
	struct gc_error err = { .text = "no memory for a mutator" };
	uint64_t counters = 0;
	struct gc_heap_stats s;
	char all[320];

	seed = 1;
	events = places = 0;
	snprintf(all, sizeof(all), "%s" ONE, options);
	if (gc_heap_create(&heap, all, &listener, &err) || gc_mutator_attach(heap, &m)) {
		printf("# %s\n", err.text);
		return false;
	}
	register_types();
	memset(global, 0, sizeof(global));
	gc_roots_add(heap, global, 4);
	GC_PUSH(m, f);
	for (int i = 0; i < STEPS; i++) {
		step();
		if (i % 100 == 0) {
			for (int k = 0; k < SLOTS; k++)
				place(f.slot[k]);
			gc_heap_stats(heap, &s);
			mix(&counters, count(&s));
		}
	}
	gc_collect_full(m);
	gc_heap_stats(heap, &s);
	mix(&counters, count(&s));
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	*now = (struct ledger){ s.cycles, s.minors, s.live_objects, s.footprint_bytes,
				counters, events,   places };
	return true;
}

/* As a line of the table. LEDGER=1 prints all: | sed -n 's/^# now//p' >ledger.table */
static void print(const char *options, const struct ledger *l)
{
	printf("# now{ \"%s\",\n# now  { %llu, %llu, %llu, %llu, 0x%llx, 0x%llx, 0x%llx } },\n",
	       options, (unsigned long long)l->cycles, (unsigned long long)l->minors,
	       (unsigned long long)l->live, (unsigned long long)l->footprint,
	       (unsigned long long)l->counters, (unsigned long long)l->events,
	       (unsigned long long)l->places);
}

int main(void)
{
	if (sizeof(void *) != 8) {
		ok(true, "the ledger # SKIP was written with references of 8 bytes");
		return done();
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ledger now = { 0 };

		if (!ok(run(rows[i].options, &now) && !memcmp(&now, &rows[i].kept, sizeof(now)),
			"%s: equal to the ledger", rows[i].options) ||
		    getenv("LEDGER"))
			print(rows[i].options, &now);
	}
	return done();
}
