// SPDX-License-Identifier: MIT
/*
 * Description: a thread that does not reach a safepoint is reported to the listener and on
 * stderr.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <gchint/gc-listener.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#define GIVE_UP 250.0 /* seconds */

static struct gc_heap *heap;
static struct gc_mutator *m, *late;
static int tid, spinning, told, quit;
static const struct gc_mutator *named;
static uint64_t waited;

static void stalled(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	if (!told++) {
		named = event->mutator;
		waited = event->duration_ns;
	}
	/* Twice: it goes on until it is told that it took longer still. */
	__atomic_store_n(&quit, told > 1, __ATOMIC_SEQ_CST);
}

static const struct gc_listener_ops ops = { .stalled = stalled };
static struct gc_listener listener = { &ops };

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Spins without a safepoint until it was named, or @arg seconds. */
static void *spin(void *arg)
{
	double end = now() + *(double *)arg;

	if (gc_mutator_attach(heap, &late))
		return NULL;
	pthread_setname_np(pthread_self(), "laggard");
	tid = (int)syscall(SYS_gettid);
	__atomic_store_n(&spinning, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&quit, __ATOMIC_SEQ_CST) && now() < end)
		;
	gc_mutator_detach(late);
	return NULL;
}

/* One collection that waits for the laggard; what came on stderr */
static bool wait_for(const char *options, double seconds, char *text, size_t size)
{
	struct gc_error err = { .text = "no memory for a mutator" };
	FILE *file = tmpfile();
	int saved = dup(2);
	pthread_t thread;
	size_t used;

	spinning = told = quit = 0;
	named = NULL;
	if (!file || gc_heap_create(&heap, options, &listener, &err) || gc_mutator_attach(heap, &m))
		return ok(false, "%s starts: %s", options, err.text);
	dup2(fileno(file), 2);
	pthread_create(&thread, NULL, spin, &seconds);
	while (!__atomic_load_n(&spinning, __ATOMIC_SEQ_CST))
		gc_safepoint(m);
	gc_collect_full(m);
	gc_park(m);
	pthread_join(thread, NULL);
	gc_unpark(m);
	dup2(saved, 2);
	close(saved);
	rewind(file);
	used = fread(text, 1, size - 1, file);
	text[used] = '\0';
	fclose(file);
	return true;
}

static void end(void)
{
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

static void names(const char *plan)
{
	char options[64], text[2048], who[64];
	struct gc_heap_stats s;
	int lines = 0;

	snprintf(options, sizeof(options), "%s,trim=0,stall=50", plan);
	if (!wait_for(options, GIVE_UP, text, sizeof(text)))
		return;
	snprintf(who, sizeof(who), "thread %d (laggard)", tid);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	gc_heap_stats(heap, &s);
	if (!ok(told >= 2 && named == late && waited >= 50000000 && s.stalls == (uint64_t)told,
		"%s: the listener gets each report of a stalled thread", plan))
		printf("# told %d times, of %p\n", told, (const void *)named);
	if (!ok(strstr(text, who) && strstr(text, "gc_safepoint()") && lines == told,
		"%s: stderr has one line per report", plan))
		printf("# %s\n", text);
	end();
}

int main(void)
{
	char text[256];

	names("plan=marksweep");
	names("plan=marksweep,safepoint=sleep");
	names("plan=cmsfly");
	names("plan=semispace");
	if (wait_for("plan=marksweep,trim=0,stall=0", 0.3, text, sizeof(text))) {
		ok(!told && !text[0], "stall=0: nothing is reported");
		end();
	}
	if (wait_for("plan=marksweep,trim=0", 0.05, text, sizeof(text))) {
		/* A busy machine may take the second that is the default. */
		ok(!told == !text[0], "stderr and the listener have the same reports");
		end();
	}
	return done();
}
