// SPDX-License-Identifier: MIT
/*
 * Description: a mark stack that is full where only weak references, finalizers or the second
 * pause lead to objects loses none of them, under any plan and with any way to recover; also not
 * if it should grow and the system refuses that.
 */
#define _GNU_SOURCE
#include "alone.h"

#include <errno.h>
#include <sys/mman.h>

#define SAMPLE 16 /* one object in so many is referred to weakly, and has its identity noted */

struct refs {
	struct gc_header header;
	void *first; /* a field, too: such an array is not marked in parts */
	void *element[];
};

struct node {
	struct gc_header header;
	struct node *kid;
	uint64_t id;
};

static const struct gc_type *refs_type, *node_type;
static struct {
	struct gc_frame head;
	struct refs *all, *weak;
	struct node *key, *fresh;
	void *ephemeron;
} f;
static struct refs *late;
static unsigned int calls;
static uint32_t count;
static uint64_t *hash;

/* A system that refuses to let a stack grow */
static bool refuses;
void *__real_mremap(void *old, size_t old_size, size_t new_size, int flags, ...);
void *__wrap_mremap(void *old, size_t old_size, size_t new_size, int flags, ...);
void *__wrap_mremap(void *old, size_t old_size, size_t new_size, int flags, ...)
{
	if (!refuses)
		return __real_mremap(old, old_size, new_size, flags);
	errno = ENOMEM;
	return MAP_FAILED;
}

/* An array of nodes, each with a kid; some of the kids are known in other ways. */
static void crowd_make(void)
{
	f.all = gc_alloc_array(m, refs_type, count);
	f.weak = gc_alloc_array(m, refs_type, count / SAMPLE);
	for (uint32_t i = 0; i < count; i++) {
		f.fresh = GC_NEW(m, node_type, struct node);
		f.fresh->id = 2 * i;
		gc_write(m, f.all, &f.all->element[i], f.fresh);
		f.fresh = GC_NEW(m, node_type, struct node);
		f.fresh->id = 2 * i + 1;
		gc_write(m, f.all->element[i], &((struct node *)f.all->element[i])->kid, f.fresh);
	}
	for (uint32_t i = 0; i < count / SAMPLE; i++) {
		f.fresh = ((struct node *)f.all->element[i * SAMPLE])->kid;
		hash[i] = gc_identity_hash(m, f.fresh);
		f.ephemeron = gc_weak_new(m, (void **)&f.fresh);
		gc_write(m, f.weak, &f.weak->element[i], f.ephemeron);
	}
	f.fresh = NULL;
	f.ephemeron = NULL;
}

/* Memory that was freed by mistake gets other contents. */
static void memory_reuse(void)
{
	for (uint32_t i = 0; i < 4 * count; i++) {
		struct node *n = GC_NEW(m, node_type, struct node);

		if (n)
			n->id = UINT64_MAX;
	}
}

/* Is all of it there, with its identity; are weak references to it there or not, as @weak says? */
static int crowd_check(struct refs *all, bool weak)
{
	for (uint32_t i = 0; i < count; i++) {
		struct node *n = all->element[i];

		WANT(n && n->id == 2 * i && n->kid && n->kid->id == 2 * i + 1);
		if (i % SAMPLE || i / SAMPLE >= count / SAMPLE)
			continue;
		WANT(gc_identity_hash(m, n->kid) == hash[i / SAMPLE]);
		WANT(gc_weak_get(m, f.weak->element[i / SAMPLE]) == (weak ? n->kid : NULL));
	}
	return 0;
}

static int finalizer_case(void)
{
	f.key = GC_NEW(m, node_type, struct node);
	gc_write(m, f.key, (void **)&f.key->kid, f.all);
	WANT(!gc_finalizer_add(m, f.key));
	f.key = NULL;
	f.all = NULL;
	gc_collect_full(m);
	f.key = gc_finalizer_next(m);
	WANT(f.key && !gc_finalizer_next(m));
	memory_reuse();
	return crowd_check((struct refs *)f.key->kid, false);
}

static int ephemeron_case(void)
{
	f.key = GC_NEW(m, node_type, struct node);
	f.ephemeron = gc_ephemeron_new(m, (void **)&f.key, (void **)&f.all);
	f.all = NULL;
	gc_collect_full(m);
	memory_reuse();
	WANT(gc_ephemeron_key(m, f.ephemeron) == f.key);
	return crowd_check(gc_ephemeron_value(m, f.ephemeron), true);
}

/* From the second call on, as if a thread had found it while the collector was marking */
static void late_roots(gc_visit_fn visit, void *visit_arg, void *arg)
{
	(void)arg;
	if (calls++)
		visit((void **)&late, visit_arg);
}

static int second_pause_case(void)
{
	late = f.all;
	f.all = NULL;
	gc_roots_callback(heap, late_roots, NULL);
	gc_collect_full(m);
	memory_reuse();
	return crowd_check(late, true);
}

struct run {
	const char *options;
	bool refuses;
	int (*check)(void);
};

static int run_case(void *arg)
{
	const struct run *r = arg;
	struct gc_type_desc a = { .name = "refs", .size = 16, .refs = 2, .tail = GC_TAIL_REFS };
	struct gc_type_desc n = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_error err;
	int ret;

	/* On 32-bit hosts the header takes two words. */
	if (sizeof(void *) == 4) {
		a.size = 12;
		a.refs = n.refs = 4;
	}
	refuses = r->refuses;
	hash = calloc(count / SAMPLE, sizeof(*hash));
	WANT(hash && open_heap(r->options));
	refs_type = gc_type_register(heap, &a, &err);
	node_type = gc_type_register(heap, &n, &err);
	WANT(refs_type && node_type);
	GC_PUSH(m, f);
	crowd_make();
	ret = r->check();
	WANT(ret || stats().overflows || !strstr(r->options, "markstack=4K") ||
	     (!refuses && (strstr(r->options, "=grow") || strstr(r->options, "=reserve"))));
	GC_POP(m, f);
	stop();
	free(hash);
	return ret;
}

int main(void)
{
	static const char *const plans[] = { "cms",
					     "cms,remark-limit=0",
					     "cms,foreground=stw",
					     "cmsfly",
					     "cmsfly,remark-limit=0",
					     "gencms",
					     "gencms,remark-limit=0",
					     "gss",
					     "immix",
					     "immix,defrag=always",
					     "marksweep",
					     "semispace",
					     "stickyimmix" };
	static const char *const modes[] = { "card", "card+clear", "card+filter",
					     "grow", "reserve",	   "scan-all" };
	static const struct {
		const char *what;
		int (*check)(void);
	} cases[] = {
		{ "behind a finalizable object", finalizer_case },
		{ "behind an ephemeron", ephemeron_case },
		{ "found by the second pause", second_pause_case },
	};
	static char text[4096];
	const char *gate = getenv("GCHINT_CHECK");

	count = gate && !strcmp(gate, "gate") ? 2000 : 100000;
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		bool copies = !strcmp(plans[i], "gss") || !strcmp(plans[i], "semispace");

		/* Once more with the first mode: a stack that cannot grow */
		for (size_t k = 0; k < 7; k++) {
			const char *mode = k < 6 ? modes[k] : "grow";

			if (copies && !strncmp(mode, "card", 4))
				continue;
			for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
				char options[200];
				struct run r = { options, k == 6, cases[c].check };
				int status;

				if (cases[c].check == second_pause_case &&
				    strncmp(plans[i], "cms", 3) && strncmp(plans[i], "gencms", 6))
					continue;
				snprintf(options, sizeof(options),
					 "plan=%s,heap=64M,max=64M,sizing=fixed,trim=0,workers=1,"
					 "verify=post+trace,markstack=4K,overflow=%s",
					 plans[i], mode);
				status = child(run_case, &r, text, sizeof(text));
				if (!ok(!status, "plan=%s, overflow=%s%s: all are kept %s",
					plans[i], mode, k == 6 ? " refused" : "", cases[c].what))
					printf("# status %#x: %s\n", status, text);
			}
		}
	}
	return done();
}
