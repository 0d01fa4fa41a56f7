// SPDX-License-Identifier: MIT
/*
 * Description: after a store into an old array of a million references, a minor collection reads
 * the stored element's card and no other page of the array. The pages are made inaccessible: each
 * one that is read faults, and is counted.
 */
#include "alone.h"

#include <signal.h>
#include <sys/mman.h>

#define LENGTH	(1u << 20)
#define PAGE	4096u
#define PER	(PAGE / sizeof(void *)) /* elements on a page */
#define OLDS	64 /* elements that refer to old objects */
#define BEHIND	30 /* words before the reference of a long object that is not an array */
#define LONGEST 20000
/* The bit of a reference in gc_type_desc.refs */
#define WORD(type, field) (1ull << offsetof(type, field) / sizeof(void *))

struct node {
	struct gc_header header;
	struct node *next;
	long number;
};

struct mixed {
	struct gc_header header;
	void *word[BEHIND];
	struct node *node;
	char data[];
};

static const struct gc_type *node_type, *array_type;
static struct {
	struct gc_frame head;
	void *array, *fresh;
} f;
static volatile unsigned int touched;

static void **slots(void)
{
	return (void **)((struct gc_header *)f.array + 1);
}

/* The whole pages behind the array's first one */
static char *pages(void)
{
	return (char *)f.array + PAGE;
}

static size_t pages_bytes(void)
{
	return LENGTH * sizeof(void *) - PAGE;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	char *at = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	(void)context;
	if (at < pages() || at >= pages() + pages_bytes()) {
		signal(sig, SIG_DFL);
		return;
	}
	touched++;
	mprotect(at, PAGE, PROT_READ | PROT_WRITE);
}

/* Allocates garbage until two more cycles have run: one may be under way. */
static bool minor(void)
{
	struct gc_heap_stats before = stats(), now;

	do {
		GC_NEW(m, node_type, struct node);
		now = stats();
	} while (now.cycles < before.cycles + 2);
	return now.minors >= before.minors + 2;
}

/* Pages of the array that minor collections read, or -1: a major one ran instead. */
static int minor_touches(void)
{
	bool good;

	touched = 0;
	mprotect(pages(), pages_bytes(), PROT_NONE);
	good = minor();
	mprotect(pages(), pages_bytes(), PROT_READ | PROT_WRITE);
	return good ? (int)touched : -1;
}

static struct node *node_new(long number)
{
	f.fresh = GC_NEW(m, node_type, struct node);
	((struct node *)f.fresh)->number = number;
	return f.fresh;
}

static void element_set(size_t i)
{
	void *node = node_new((long)i);

	/* Both ways of storing */
	if (i & 1)
		gc_write_element(m, f.array, slots(), i, node);
	else
		gc_write(m, f.array, &slots()[i], node);
}

static bool element_is(size_t i)
{
	const struct node *n = slots()[i];

	return n && n->number == (long)i;
}

static void arrays(const char *options)
{
	struct gc_type_desc node = { .name = "node",
				     .size = sizeof(struct node),
				     .refs = WORD(struct node, next) };
	struct gc_type_desc array = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };
	static const size_t stored[] = { 5 * PER + 1, 700 * PER, 700 * PER + 40, LENGTH - 1024 };
	bool good = true;
	int few, all;

	if (!open_heap(options))
		return;
	node_type = gc_type_register(heap, &node, NULL);
	array_type = gc_type_register(heap, &array, NULL);
	GC_PUSH(m, f);
	f.array = gc_alloc_array(m, array_type, LENGTH);
	for (size_t i = 1; i < OLDS; i++)
		element_set(i * (LENGTH / OLDS));
	/* gss promotes at the second collection, and then needs one to clean the cards. */
	for (int i = 0; i < 3; i++)
		gc_collect_full(m);
	good &= minor() && minor();
	few = minor_touches();
	ok(good && !few, "%s: without a store no page of the array is read", options);
	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++)
		element_set(stored[i]);
	few = minor_touches();
	/* Two are on a page. */
	if (!ok(few == 3, "%s: after four stores the three pages of their elements are", options))
		printf("# %d pages of %zu\n", few, pages_bytes() / PAGE);
	for (int i = 0; i < 3; i++)
		good &= minor();
	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++)
		good &= element_is(stored[i]);
	for (size_t i = 1; i < OLDS; i++)
		good &= element_is(i * (LENGTH / OLDS));
	ok(good, "%s: and what they refer to is kept", options);
	slots()[stored[0]] = node_new((long)stored[0]);
	gc_write_barrier(m, f.array);
	all = minor_touches();
	if (!ok(all == (int)(pages_bytes() / PAGE) && element_is(stored[0]),
		"%s: after gc_write_barrier() of the array all are", options))
		printf("# %d pages of %zu\n", all, pages_bytes() / PAGE);
	GC_POP(m, f);
	stop();
}

/* A reference on another card than the header of an object whose elements are data */
static void others(const char *options)
{
	struct gc_type_desc node = { .name = "node",
				     .size = sizeof(struct node),
				     .refs = WORD(struct node, next) };
	struct gc_type_desc mixed = { .name = "mixed",
				      .size = sizeof(struct mixed),
				      .refs = WORD(struct mixed, node),
				      .tail = GC_TAIL_DATA,
				      .elem_size = 1 };
	char verified[128];
	struct mixed *o;
	bool good;

	snprintf(verified, sizeof(verified), "%s,verify=all", options);
	if (!open_heap(verified))
		return;
	node_type = gc_type_register(heap, &node, NULL);
	GC_PUSH(m, f);
	f.array = gc_alloc_array(m, gc_type_register(heap, &mixed, NULL), LONGEST);
	for (int i = 0; i < 3; i++)
		gc_collect_full(m);
	good = minor();
	node_new(7);
	o = f.array;
	gc_write(m, o, &o->node, f.fresh);
	f.fresh = NULL;
	good &= minor() && minor();
	o = f.array;
	ok(good && o->node && o->node->number == 7,
	   "%s: a store into a long object that is no array is found", options);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	static const char *const rows[] = {
		"plan=gss,nursery=512K,heap=64M,trim=0",
		"plan=stickyimmix,sizing=fixed,heap=24M,trim=0,workers=1",
		"plan=stickyimmix,sizing=fixed,heap=24M,trim=0,workers=3",
		"plan=gencms,policy=fg,heap=64M,trim=0",
	};
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	if (sysconf(_SC_PAGESIZE) != PAGE) {
		ok(true, "pages that are read # SKIP this system's are larger than 4 KiB");
		return done();
	}
	sigaction(SIGSEGV, &sa, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		arrays(rows[i]);
		others(rows[i]);
	}
	return done();
}
