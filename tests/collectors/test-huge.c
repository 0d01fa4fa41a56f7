// SPDX-License-Identifier: MIT
/*
 * Description: an array in memory that was used before costs what is used of it: the system clears
 * its pages when they are touched. A collection, and a fork, do not wait for the thread that has
 * them cleared; nor does it lose them by that. Pages that are locked are cleared all the same.
 */
#include "alone.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#define MIB  (1u << 20)
#define HUGE (32 * MIB)

struct array {
	struct gc_header header;
	uint8_t byte[];
};

static const struct gc_type *type;
static struct {
	struct gc_frame head;
	struct array *array;
} f;

/* What the next madvise() for a region as long as an array does */
static enum {
	RETURN,
	REFUSE,
	WAIT
} system_does;
static sem_t clearing, go;

int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice)
{
	if (bytes < HUGE / 2 || advice != MADV_DONTNEED || system_does == RETURN)
		return __real_madvise(at, bytes, advice);
	if (system_does == REFUSE) {
		errno = EINVAL;
		return -1;
	}
	system_does = RETURN;
	sem_post(&clearing);
	sem_wait(&go);
	return __real_madvise(at, bytes, advice);
}

static long resident_mib(void)
{
	long size, pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm || fscanf(statm, "%ld %ld", &size, &pages) != 2)
		pages = -1;
	if (statm)
		fclose(statm);
	return pages * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}

static bool is_zero(const struct array *a)
{
	for (uint32_t i = 0; i < gc_length(a); i++)
		if (a->byte[i])
			return false;
	return true;
}

/* An array that was used has died. */
static int case_begin(const char *options)
{
	struct gc_type_desc d = { .name = "bytes",
				  .size = sizeof(struct gc_header),
				  .tail = GC_TAIL_DATA,
				  .elem_size = 1 };

	WANT(open_heap(options));
	type = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	f.array = gc_alloc_array(m, type, HUGE);
	WANT(f.array && is_zero(f.array));
	memset(f.array->byte, 1, HUGE);
	f.array = NULL;
	gc_collect_full(m);
	gc_collect_full(m);
	return 0;
}

static int case_end(void)
{
	struct gc_error err;

	WANT(!gc_verify(m, &err));
	GC_POP(m, f);
	stop();
	return 0;
}

static int untouched_run(void *arg)
{
	long resident;

	if (case_begin(arg))
		return 1;
	f.array = gc_alloc_array(m, type, HUGE + HUGE / 4);
	WANT(f.array);
	resident = resident_mib();
	WANT(resident > 0 && resident < HUGE / 2 / MIB);
	WANT(is_zero(f.array));
	return case_end();
}

static int locked_run(void *arg)
{
	if (case_begin(arg))
		return 1;
	system_does = REFUSE;
	f.array = gc_alloc_array(m, type, HUGE);
	WANT(f.array && is_zero(f.array));
	return case_end();
}

static void *clear_main(void *arg)
{
	struct {
		struct gc_frame head;
		struct array *array;
	} own;
	struct gc_mutator *mine;
	bool good;

	if (gc_mutator_attach(heap, &mine))
		return arg;
	GC_PUSH(mine, own);
	own.array = gc_alloc_array(mine, type, HUGE);
	good = own.array && stats().heap_bytes >= HUGE && is_zero(own.array);
	gc_collect_full(mine);
	good &= own.array && stats().live_bytes >= HUGE && is_zero(own.array);
	GC_POP(mine, own);
	gc_mutator_detach(mine);
	return good ? NULL : arg;
}

static int stop_run(void *arg)
{
	pthread_t thread;
	void *result;
	int status = -1;
	pid_t pid;

	WANT(!sem_init(&clearing, 0, 0) && !sem_init(&go, 0, 0));
	if (case_begin(arg))
		return 1;
	system_does = WAIT;
	WANT(!pthread_create(&thread, NULL, clear_main, arg));
	gc_park(m);
	sem_wait(&clearing);
	gc_unpark(m);
	/* The other thread is in the middle of it. */
	gc_collect_full(m);
	gc_collect_full(m);
	WANT(stats().heap_bytes < HUGE);
	pid = fork();
	if (!pid) {
		/* There is no other thread here, nor what it was about to have. */
		gc_collect_full(m);
		f.array = gc_alloc_array(m, type, HUGE + HUGE / 4);
		_exit(!f.array || !is_zero(f.array));
	}
	gc_park(m);
	WANT(waitpid(pid, &status, 0) == pid && !status);
	sem_post(&go);
	pthread_join(thread, &result);
	gc_unpark(m);
	WANT(!result);
	return case_end();
}

int main(void)
{
	static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss",
					     "immix", "marksweep", "semispace", "stickyimmix" };
	static const struct {
		const char *what;
		int (*run)(void *arg);
	} cases[] = {
		{ "pages of an array are resident when they are used", untouched_run },
		{ "pages that are locked are cleared", locked_run },
		{ "neither a collection nor a fork waits for an array that is cleared", stop_run },
	};
	static char text[4096];
	char options[160];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		/* Room for one array and a quarter */
		snprintf(options, sizeof(options), "plan=%s,trim=0,max=%s", plans[i],
			 !strcmp(plans[i], "semispace") ? "60M" : "48M");
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (!ok(!child(cases[k].run, options, text, sizeof(text)), "%s: %s",
				plans[i], cases[k].what))
				printf("# %s\n", text);
	}
	return done();
}
