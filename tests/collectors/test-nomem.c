// SPDX-License-Identifier: MIT
/*
 * Description: memory or address space run out at each place where a heap allocates: no heap is
 * created, the error says so, and everything is freed, as it is by gc_heap_destroy().
 */
#include "tap.h"

#include <errno.h>
#include <gchint/gc-listener.h>
#include <pthread.h>
#include <sys/mman.h>

static long left; /* calls until one fails, 0 never */
static bool no_more; /* tables do not grow */
static long blocks, bytes; /* what is held */

static bool fails(void)
{
	return left && !--left;
}

static void *taken(void *p)
{
	blocks += p != NULL;
	return p;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_posix_memalign(void **p, size_t align, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *p);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **p, size_t align, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : taken(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : taken(__real_calloc(count, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (no_more)
		return NULL;
	return p ? __real_realloc(p, size) : taken(__real_realloc(p, size));
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : taken(__real_aligned_alloc(align, size));
}

int __wrap_posix_memalign(void **p, size_t align, size_t size)
{
	int ret = fails() ? ENOMEM : __real_posix_memalign(p, align, size);

	blocks += !ret;
	return ret;
}

/* A type without a name is no fault of the heap's. */
char *__wrap_strdup(const char *text)
{
	return taken(__real_strdup(text));
}

void __wrap_free(void *p)
{
	blocks -= p != NULL;
	__real_free(p);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *p = fails() ? MAP_FAILED : __real_mmap(at, size, prot, flags, fd, offset);

	if (p != MAP_FAILED)
		bytes += (long)size;
	return p;
}

int __wrap_munmap(void *at, size_t size)
{
	bytes -= (long)size;
	return __real_munmap(at, size);
}

/* A lock counts as a block. */
int __real_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int __real_pthread_mutex_destroy(pthread_mutex_t *lock);
int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *lock);

int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *attr)
{
	blocks++;
	return __real_pthread_mutex_init(lock, attr);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *lock)
{
	blocks--;
	return __real_pthread_mutex_destroy(lock);
}

/* Threads of its own to copy with: fewer than hoped for are no fault. */
static bool spared;
int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return spared && fails() ? EAGAIN : __real_pthread_create(t, attr, fn, arg);
}

static bool says_so(const char *text)
{
	return !strcmp(text, "no memory for the heap's own state") ||
	       !strcmp(text, "no address space for max=268435456; lower max") ||
	       !strcmp(text, "no memory for the spaces' own state") ||
	       !strcmp(text, "no memory for profiler= or policy=adaptive");
}

/* @spare of its calls may fail. */
static void run_out(const char *options, int least, int spare)
{
	struct gc_error err;
	struct gc_heap *heap;
	bool good = true;
	int n, ret;

	blocks = bytes = 0;
	spared = spare;
	for (n = 1; n < 1000; n++) {
		memset(&err, 0xff, sizeof(err));
		err.text[0] = '\0';
		left = n;
		ret = gc_heap_create(&heap, options, NULL, &err);
		if (left) {
			left = 0;
			break;
		}
		if (!ret && spare) {
			spare--;
			gc_heap_destroy(heap);
		} else if (ret != -ENOMEM || err.code != -ENOMEM || !says_so(err.text)) {
			good = false;
		}
		if (!good || blocks || bytes) {
			printf("# the %dth: %d, '%s', %ld blocks and %ld bytes kept\n", n, ret,
			       err.text, blocks, bytes);
			good = false;
		}
		blocks = bytes = 0;
	}
	ok(good && n > least && !spare, "%s: heap creation makes %d calls that can fail", options,
	   n - 1);
	ok(!ret && !err.code && !err.text[0] && blocks && bytes,
	   "%s: creation without failures succeeds", options);
	if (!ret)
		gc_heap_destroy(heap);
	if (!ok(!blocks && !bytes, "%s: failed creation leaves nothing", options))
		printf("# %ld blocks, %ld bytes\n", blocks, bytes);
}

/* What it had when it ends: types, roots, weak references, what is to be finalized */
static void filled(const char *options)
{
	const struct gc_type_desc desc = { .name = "node", .size = 16, .refs = 2 };
	static void *slots[2][4];
	const struct gc_type *type;
	struct gc_mutator *m;
	struct gc_heap *heap;

	blocks = bytes = 0;
	if (gc_heap_create(&heap, options, NULL, NULL) || gc_mutator_attach(heap, &m)) {
		ok(false, "%s starts", options);
		return;
	}
	type = gc_type_register(heap, &desc, NULL);
	gc_roots_add(heap, slots[0], 4);
	gc_roots_add(heap, slots[1], 4);
	for (int i = 0; i < 4; i++) {
		slots[0][i] = gc_alloc(m, type);
		slots[1][i] = gc_weak_new(m, &slots[0][i]);
		gc_finalizer_add(m, slots[0][i]);
	}
	slots[0][0] = slots[0][1] = NULL;
	gc_collect_full(m);
	gc_finalizer_next(m);
	gc_mutator_detach(m);
	memset(slots, 0, sizeof(slots));
	gc_heap_destroy(heap);
	if (!ok(!blocks && !bytes, "%s: all memory is freed", options))
		printf("# %ld blocks, %ld bytes\n", blocks, bytes);
}

static void none(gc_visit_fn visit, void *visit_arg, void *arg)
{
	(void)visit;
	(void)visit_arg;
	(void)arg;
}

struct node {
	struct gc_header header;
	void *next;
	uint64_t value;
};

static struct node *new_node(struct gc_mutator *m, const struct gc_type *type, uint64_t value)
{
	struct node *node = GC_NEW(m, type, struct node);

	node->value = value;
	return node;
}

/* What is asked for later fails by itself: the heap is as it was, and serves again. */
static void later(const char *options)
{
	const struct gc_type_desc desc = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_listener_stats listener;
	static void *slots[3];
	const struct gc_type *type;
	struct gc_mutator *m;
	struct gc_heap *heap;
	const struct node *dead;
	bool kept, later;

	blocks = bytes = 0;
	if (gc_heap_create(&heap, options, NULL, NULL)) {
		ok(false, "%s starts", options);
		return;
	}
	left = 1;
	ok(gc_mutator_attach(heap, &m) == -ENOMEM && !gc_mutator_attach(heap, &m),
	   "%s: attaching a thread fails without memory", options);
	left = 1;
	ok(gc_roots_add(heap, slots, 3) == -ENOMEM && gc_roots_remove(heap, slots) == -ENOENT &&
		   !gc_roots_add(heap, slots, 3),
	   "%s: adding roots fails without memory", options);
	type = gc_type_register(heap, &desc, NULL);
	slots[0] = new_node(m, type, 1);
	no_more = true;
	ok(gc_roots_callback_add(heap, none, NULL) == -ENOMEM &&
		   gc_roots_callback_remove(heap, none, NULL) == -ENOENT &&
		   gc_finalizer_add(m, slots[0]) == -ENOMEM,
	   "%s: adding a callback or a finalizer fails without memory", options);
	no_more = false;
	ok(!gc_roots_callback_add(heap, none, NULL) && !gc_finalizer_add(m, slots[0]),
	   "%s: with memory the same calls succeed", options);
	slots[1] = new_node(m, type, 2);
	slots[2] = gc_weak_new(m, &slots[1]);
	slots[0] = slots[1] = NULL;
	/* Nothing is lost for want of memory to note it: it stays as it is until there is some. */
	no_more = true;
	gc_collect_full(m);
	no_more = false;
	for (int i = 0; i < 1000; i++)
		new_node(m, type, 3);
	dead = gc_weak_get(m, slots[2]);
	kept = dead && dead->value == 2 && !gc_finalizer_next(m);
	gc_collect_full(m);
	dead = gc_finalizer_next(m);
	later = dead && dead->value == 1 && !gc_weak_get(m, slots[2]) && !gc_finalizer_next(m);
	if (!ok(kept && later, "%s: an object that dies without memory is finalized later",
		options))
		printf("# kept: %d, told of: %d\n", kept, later);
	gc_mutator_detach(m);
	memset(slots, 0, sizeof(slots));
	gc_heap_destroy(heap);
	if (!ok(!blocks && !bytes, "%s: all memory is freed", options))
		printf("# %ld blocks, %ld bytes\n", blocks, bytes);
	left = 1;
	ok(gc_listener_stats_init(&listener, 8) == -ENOMEM, "%s: pause records fail without memory",
	   options);
	left = 0;
}

int main(void)
{
	static const char *const rows[] = {
		"plan=cms,policy=fg",
		"plan=cms,policy=adaptive",
		"plan=gencms,policy=fg,profiler=64K",
		"plan=gss,trim=0,workers=3",
		"plan=immix,trim=0,workers=2",
		"plan=marksweep,trim=0,workers=4,overflow=reserve",
		"plan=semispace,trim=0,workers=2",
		"plan=stickyimmix,trim=0,workers=1",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* One list of threads, and each of them */
		run_out(rows[i], 6,
			strstr(rows[i], "gss")	     ? 1 + 2 :
			strstr(rows[i], "semispace") ? 1 + 1 :
						       0);
		filled(rows[i]);
		later(rows[i]);
	}
	return done();
}
