// SPDX-License-Identifier: MIT
/*
 * Description: help is reported to the listener and to libgchint, also by threads that come
 * late, wait to collect or mark from a remembered set.
 */
#define _GNU_SOURCE
#include <gchint/gc-listener-gchint.h>

#include "company.h"

#define LATE_NODES 300000
#define LATE_BYTES (LATE_NODES / 2 * sizeof(struct node))

struct hearing {
	struct gc_listener base;
	pthread_t leader;
	bool wait_for_late;
	int begins, ends, minors, wrong, progress;
	uint64_t done;
};

static struct hearing *hearing_of(struct gc_listener *self)
{
	return (struct hearing *)self;
}

static void heard_mark(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	(void)e;
	h->leader = pthread_self();
	h->done = 0;
}

/* The collecting thread, in the middle of it: who is in native code comes back now. */
static void heard_progress(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	if (e->phase != GC_PHASE_MARK)
		return;
	h->progress++;
	if (!pthread_equal(pthread_self(), h->leader) || e->work_done < h->done)
		add(&h->wrong, 1);
	h->done = e->work_done;
	if (!h->wait_for_late || !get(&h->begins) || e->work_done > LATE_BYTES)
		return;
	h->wait_for_late = false;
	set(&under_way, 1);
	until(&h->begins, 2);
}

static void heard_help(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	if (!e->stw || e->phase != GC_PHASE_MARK || !e->mutator || e->mutator == m || !e->cycle ||
	    pthread_equal(pthread_self(), h->leader))
		add(&h->wrong, 1);
	add(&h->begins, 1);
	add(&h->minors, e->kind == GC_KIND_MINOR);
}

static void heard_end(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	if (!e->stw || e->phase != GC_PHASE_MARK)
		add(&h->wrong, 1);
	add(&h->ends, 1);
}

/* All helpers have left before the phase ends. */
static void heard_mark_end(struct gc_listener *self, const struct gc_event *e)
{
	struct hearing *h = hearing_of(self);

	(void)e;
	if (get(&h->begins) != get(&h->ends))
		add(&h->wrong, 1);
}

static const struct gc_listener_ops hearing_ops = {
	.mark_begin = heard_mark,
	.mark_end = heard_mark_end,
	.progress = heard_progress,
	.help_begin = heard_help,
	.help_end = heard_end,
};

/* Old objects, each on a dirty card, refer to what is new: the cards are shared as well. */
static void remembered(void)
{
	const uint32_t many = 60000;
	struct hearing h = { .base.ops = &hearing_ops };
	uint32_t right = 0;

	if (!open_heap("plan=stickyimmix,workers=3,heap=16M,minfree=8M,verify=card+post+trace",
		       &h.base))
		return;
	f.array = gc_alloc_array(m, array_type, many);
	for (uint32_t i = 0; i < many; i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		gc_write(m, f.array, &f.array->item[i], f.fresh);
	}
	gc_collect_full(m);
	join_company(AT_SAFEPOINTS);
	join_company(AT_SAFEPOINTS);
	for (int round = 0; round < TRIES && get(&h.minors) < 3; round++) {
		for (uint32_t i = 0; i < many; i++) {
			struct node *old;

			f.fresh = GC_NEW(m, node_type, struct node);
			f.fresh->pad = (long)i;
			old = f.array->item[i];
			gc_write(m, old, &old->child[round & 1], f.fresh);
		}
	}
	for (uint32_t i = 0; i < many; i++) {
		const struct node *old = f.array->item[i];

		right += old->child[0]->pad == (long)i;
	}
	ok(h.minors >= 3, "helpers share a remembered set: %d times", h.minors);
	ok(right == many, "objects that only old objects refer to are kept");
	close_heap();
}

static void take_turns(void)
{
	struct hearing h = { .base.ops = &hearing_ops };
	struct gc_heap_stats s;

	if (!open_heap("plan=marksweep,workers=2", &h.base))
		return;
	plant(120000);
	join_company(COLLECTING_TOO);
	for (int i = 0; i < TRIES && get(&h.begins) < 3; i++)
		gc_collect_full(m);
	part_company();
	s = stats();
	ok(h.begins >= 3 && s.helps == (uint64_t)h.begins,
	   "a thread that waits to collect helps: %d times", h.begins);
	ok(s.live_objects == 120000, "helping loses nothing");
	close_heap();
}

static void late(void)
{
	struct hearing h = { .base.ops = &hearing_ops };

	if (!open_heap("plan=marksweep,workers=3", &h.base))
		return;
	plant(LATE_NODES);
	join_company(AT_SAFEPOINTS);
	join_company(PARKED);
	for (int i = 0; i < TRIES && h.begins < 2; i++) {
		h.begins = h.ends = 0;
		set(&under_way, 0);
		h.wait_for_late = true;
		gc_collect_full(m);
	}
	ok(h.begins >= 2 && get(&come_late),
	   "a thread that returns late from native code helps with the rest");
	ok(stats().live_objects == LATE_NODES, "no object is marked twice");
	ok(!h.wrong && h.progress, "help is reported on the helper's thread within marking, "
				   "progress on the collecting thread");
	close_heap();
}

static long tally(const char *text, const char *word)
{
	long n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

/* The mutator's own slot says what it does, and nothing afterwards. */
static void hints(void)
{
	static char text[1 << 20];
	char path[] = "/tmp/gchint-help-XXXXXX";
	struct gc_listener_gchint l;
	int fd = mkstemp(path);
	long helps, begins, ends;
	char own[64];
	ssize_t n;

	setenv("GCHINT_TRACE", path, 1);
	if (gc_listener_gchint_open(&l, 0) || !open_heap("plan=marksweep,workers=2", &l.base)) {
		ok(false, "the session opens");
		return;
	}
	plant(100000);
	join_company(AT_SAFEPOINTS);
	ok(collect_until(1, 1), "with hints, mutators help");
	helps = (long)stats().helps;
	close_heap();
	gc_listener_gchint_close(&l);
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	unlink(path);
	begins = tally(text, " begin mark stw");
	ends = tally(text, " end mark stw");
	/* less those of who collects */
	snprintf(own, sizeof(own), " %ld begin mark stw", (long)getpid());
	begins -= tally(text, own);
	snprintf(own, sizeof(own), " %ld end mark stw", (long)getpid());
	ends -= tally(text, own);
	if (!ok(begins == helps && ends == helps && !tally(text, " role "),
		"each help is a phase of its own thread, whose role stays"))
		printf("# %ld begin and %ld end of %ld\n%.800s\n", begins, ends, helps, text);
}

int main(void)
{
	take_turns();
	remembered();
	late();
	hints();
	return done();
}
