// SPDX-License-Identifier: MIT
/* Description: a destroyed heap leaves no thread, mapping, descriptor or memory. */
#define _GNU_SOURCE
#include "tap.h"

#include <dirent.h>
#include <gchint/gc.h>
#include <malloc.h>
#include <pthread.h>

#define ROUNDS 4
#define STEPS  20000

struct node {
	struct gc_header header;
	struct node *next;
	void *other;
};

/* What a process has */
struct holding {
	int threads, descriptors;
	size_t mappings, memory;
};

static struct gc_heap *heap;
static const struct gc_type *type, *bytes;

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int count = 0;

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

/* Address space but for what the C library keeps for its next allocation or thread */
static size_t mappings(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4096;
}

static struct holding held(void)
{
	struct holding h = { .memory = mallinfo2().uordblks };

	/* One that was joined may be seen a moment longer. */
	for (int i = 0; i < 1000 && (h.threads = entries("/proc/self/task")) > 3; i++)
		usleep(1000);
	h.descriptors = entries("/proc/self/fd");
	h.mappings = mappings();
	return h;
}

static void churn(struct gc_mutator *m)
{
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
		void *array;
	} f;

	GC_PUSH(m, f);
	for (int i = 0; i < STEPS; i++) {
		f.fresh = GC_NEW(m, type, struct node);
		if (f.fresh) {
			gc_init(&f.fresh->next, i % 4000 ? f.list : NULL);
			f.list = f.fresh;
		}
		if (i % 500 == 0)
			f.array = gc_alloc_array(m, bytes, 20000);
		if (i % 4999 == 0)
			gc_collect(m);
	}
	GC_POP(m, f);
}

static void *work(void *arg)
{
	struct gc_mutator *m;

	(void)arg;
	if (gc_mutator_attach(heap, &m))
		return NULL;
	churn(m);
	gc_mutator_detach(m);
	return NULL;
}

static bool live_and_die(const char *options)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc b = {
		.name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1
	};
	pthread_t other;
	struct gc_error err;
	void *root = NULL;

	if (gc_heap_create(&heap, options, NULL, &err)) {
		ok(false, "%s starts: %s", options, err.text);
		return false;
	}
	type = gc_type_register(heap, &d, NULL);
	bytes = gc_type_register(heap, &b, NULL);
	gc_roots_add(heap, &root, 1);
	pthread_create(&other, NULL, work, NULL);
	work(NULL);
	pthread_join(other, NULL);
	return !gc_heap_destroy(heap);
}

static void leaves_nothing(const char *options)
{
	struct holding first, last;

	/* The first heap makes the C library's own holdings. */
	if (!live_and_die(options) || !live_and_die(options)) {
		ok(false, "%s is destroyed", options);
		return;
	}
	first = held();
	for (int i = 0; i < ROUNDS; i++)
		live_and_die(options);
	last = held();
	if (!ok(last.threads == first.threads && last.descriptors == first.descriptors &&
			last.mappings < first.mappings + ROUNDS * 4096 &&
			last.memory < first.memory + ROUNDS * 16,
		"%s: no memory and no thread is left", options))
		printf("# threads %d then %d, descriptors %d then %d, mapped %zu then %zu, "
		       "allocated %zu then %zu\n",
		       first.threads, last.threads, first.descriptors, last.descriptors,
		       first.mappings, last.mappings, first.memory, last.memory);
}

/* One that cannot be made is gone as well. */
static void refused(const char *options)
{
	struct holding first, last;
	struct gc_error err;
	int made = 0;

	made += !gc_heap_create(&heap, options, NULL, &err);
	first = held();
	for (int i = 0; i < ROUNDS; i++)
		made += !gc_heap_create(&heap, options, NULL, &err);
	last = held();
	ok(!made && last.threads == first.threads && last.descriptors == first.descriptors &&
		   last.mappings == first.mappings && last.memory == first.memory,
	   "%s: creation fails and leaves nothing", options);
}

int main(int argc, char **argv)
{
	(void)argc;
	/* What the C library keeps for a thread's next allocation counts as allocated. */
	if (!getenv("GLIBC_TUNABLES") &&
	    !setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1))
		execv("/proc/self/exe", argv);
	leaves_nothing("plan=cms,heap=2M,max=16M");
	leaves_nothing("plan=cms,policy=adaptive,heap=2M,max=16M");
	leaves_nothing("plan=cmsfly,policy=bg,heap=2M,max=16M");
	leaves_nothing("plan=gencms,heap=2M,max=16M,overflow=card,markstack=4K");
	leaves_nothing("plan=gss,nursery=1M,heap=2M,max=16M,workers=4,promote=tuned");
	leaves_nothing("plan=immix,heap=2M,max=16M,defrag=always");
	leaves_nothing("plan=marksweep,heap=2M,max=16M,workers=4");
	leaves_nothing("plan=marksweep,heap=2M,max=16M,profiler=64K");
	leaves_nothing("plan=semispace,heap=2M,max=16M,workers=4");
	leaves_nothing("plan=stickyimmix,heap=2M,max=16M");
	refused("plan=semispace,max=9000P");
	return done();
}
