// SPDX-License-Identifier: MIT
/*
 * An application known only by its figures: how much it allocates and keeps, how many
 * objects, how soon they die, how many threads. The Dalvik seed's Table 1 gives them for
 * six programs (profiles/). What the table leaves open is chosen to add nothing: sizes
 * follow the maximum-entropy distribution with their mean, objects that outlive
 * 512 KiB die evenly over the setting "tail". "work" is the computation of the program:
 * the profiles set it so that CMS takes about the table's share of CPU time.
 */
#include "lib/random.h"
#include "workloads/app-plan.h"
#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define IDLE_NS 20000000
#define END_NS	1000000

struct object {
	HEAP_HEADER
	struct object *next;
	uint64_t payload[];
};

struct app {
	struct app_plan plan;
	const struct heap_type *object[APP_SIZES], *refs;
	atomic_int active; /* threads still at work */
	uintptr_t lasting, churn, check; /* methods */
};

struct worker {
	const struct app *a;
	struct bench *b;
	struct heap_thread *t;
	struct {
		struct heap_frame head;
		struct heap_refs *wheel; /* lists of objects by the time they die */
		struct heap_refs *lasting;
	} f;
	struct random draw;
	struct totals totals;
	uint64_t clock; /* bytes this thread allocated */
	uint64_t hand; /* quanta of the wheel that are over */
};

static int app_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind refs = HEAP_KIND_REFS("Object[]");
	struct app *a = calloc(1, sizeof(*a));
	int code;

	b->state = a;
	if (!a)
		return -ENOMEM;
	code = app_plan(&a->plan, &b->settings, err);
	if (code)
		return code;
	for (int i = 0; i < APP_SIZES; i++) {
		const struct heap_kind object = {
			.name = "object",
			.size = APP_SIZE(i),
			.refs = HEAP_REF(struct object, next),
		};

		a->object[i] = workload_type(b, &object, err);
		if (!a->object[i])
			return -ENOMEM;
	}
	a->refs = workload_type(b, &refs, err);
	if (!a->refs)
		return -ENOMEM;
	a->lasting = workload_method("build_lasting (app.c)");
	a->churn = workload_method("worker_churn (app.c)");
	a->check = workload_method("worker_check (app.c)");
	b->threads = a->plan.threads;
	atomic_store(&a->active, a->plan.active);
	b->steps_total = (uint64_t)a->plan.active * 100;
	return 0;
}

static struct object *new_object(struct worker *w, const double *limit)
{
	unsigned int class = app_pick(limit, random_unit(&w->draw));
	struct object *o = heap_alloc(w->t, w->a->object[class], APP_SIZE(class));

	if (!o)
		return NULL;
	if (class)
		o->payload[0] = class;
	for (uint64_t i = 0; i < w->a->plan.work; i++)
		w->totals.checksum = w->totals.checksum * 6364136223846793005u + class;
	totals_add(&w->totals, APP_SIZE(class));
	w->clock += APP_SIZE(class);
	return o;
}

static void object_keep(struct worker *w, struct heap_refs *refs, uint64_t slot, struct object *o)
{
	heap_init(&o->next, refs->ref[slot]);
	heap_store(w->t, refs, &refs->ref[slot], o);
}

static int build_lasting(struct worker *w)
{
	const struct app_plan *plan = &w->a->plan;

	w->f.lasting = heap_array(w->t, w->a->refs, APP_LISTS);
	if (!w->f.lasting)
		return -ENOMEM;
	for (uint64_t i = 0; w->clock < plan->lasting_bytes; i++) {
		struct object *o = new_object(w, plan->lasting_limit);

		if (!o)
			return -ENOMEM;
		object_keep(w, w->f.lasting, i % APP_LISTS, o);
	}
	return 0;
}

/* All threads are idle for a while, so that the daemon finds the heap idle and trims it. */
static void worker_rest(struct worker *w)
{
	struct timespec t = { (time_t)(w->a->plan.idle_ms / 1000),
			      (long)(w->a->plan.idle_ms % 1000) * 1000000 };

	heap_park(w->t);
	nanosleep(&t, NULL);
	heap_unpark(w->t);
}

/* Did the progress from @before to @now cross one of @count even steps of @all? */
static bool share_passes(uint64_t before, uint64_t now, uint64_t all, uint64_t count)
{
	return now * count / all != before * count / all;
}

static int worker_churn(struct worker *w, int index)
{
	const struct app_plan *plan = &w->a->plan;
	uint64_t start = w->clock, all = plan->young_bytes;

	while (w->clock - start < all) {
		uint64_t before = w->clock - start, now, life;
		struct object *o = new_object(w, plan->young_limit);

		if (!o)
			return -ENOMEM;
		life = app_life(plan, random_unit(&w->draw));
		now = w->clock - start;
		object_keep(w, w->f.wheel, (now + life) / plan->quantum % plan->wheel, o);
		while (w->hand < now / plan->quantum) {
			heap_store(w->t, w->f.wheel, &w->f.wheel->ref[w->hand % plan->wheel], NULL);
			w->hand++;
		}
		if (now > all)
			now = all;
		for (uint64_t s = before * 100 / all; s < now * 100 / all; s++)
			bench_step(w->b);
		if (!index && share_passes(before, now, all, plan->explicit_collections))
			heap_collect(w->t);
		if (share_passes(before, now, all, plan->idle_gaps))
			worker_rest(w);
	}
	return 0;
}

/* An inactive thread of the application, as one that waits for a message or a timer. */
static void wait_for_end(struct worker *w, long nap_ns)
{
	const struct timespec t = { 0, nap_ns };

	while (atomic_load(&w->a->active)) {
		heap_park(w->t);
		nanosleep(&t, NULL);
		heap_unpark(w->t);
		heap_poll(w->t);
	}
}

/* Count the remaining objects. */
static int worker_check(struct worker *w)
{
	uint64_t bytes = 0;

	for (int i = 0; i < APP_LISTS; i++) {
		for (const struct object *o = w->f.lasting->ref[i]; o; o = o->next)
			bytes++;
	}
	w->totals.checksum += bytes;
	return !bytes && w->a->plan.lasting_bytes ? -EILSEQ : 0;
}

static int app_run(struct bench *b, struct heap_thread *t, int index)
{
	struct app *a = b->state;
	struct worker w = { .a = a, .b = b, .t = t };
	uintptr_t outer = gchint_method_enter(a->lasting);
	int code = 0;

	random_seed(&w.draw, (int64_t)a->plan.seed + index);
	HEAP_PUSH(t, w.f);
	if (index >= a->plan.active) {
		wait_for_end(&w, IDLE_NS);
	} else {
		w.f.wheel = heap_array(t, a->refs, (uint32_t)a->plan.wheel);
		code = w.f.wheel ? build_lasting(&w) : -ENOMEM;
		gchint_method_enter(a->churn);
		if (!code)
			code = worker_churn(&w, index);
		gchint_method_enter(a->check);
		if (!code)
			code = worker_check(&w);
		atomic_fetch_sub(&a->active, 1);
		/* The live set of the application includes that of this thread: keep it until all are done. */
		wait_for_end(&w, END_NS);
	}
	HEAP_POP(t, w.f);
	gchint_method_leave(outer);
	totals_merge(&w.totals, b);
	return code;
}

const struct workload workload_app = {
	.name = "app",
	.summary = "an application with the figures of Table 1; --profile selects one",
	.stresses =
		"what its profile says: live set, lifetimes, idle threads, explicit collections",
	.settings = app_settings,
	.prepare = app_prepare,
	.run = app_run,
};
