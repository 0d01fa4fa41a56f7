// SPDX-License-Identifier: MIT
/*
 * Description: where stores are weakly ordered and the system refuses membarrier(2), cards are
 * left to the pause, and the call is not repeated; where it is granted, it is called each time.
 * Built with -DGC_STORES_ORDERED=0.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <errno.h>
#include <gchint/gc-listener.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define NODES 50000

struct node {
	struct gc_header header;
	struct node *next;
	long value;
};

enum system {
	AS_IT_IS,
	REFUSES,
	GRANTS, /* what is asked for as it must be */
	SYSTEMS
};

static enum system of;
static volatile sig_atomic_t asked, registered;

static long answer(long command, long flags)
{
	asked++;
	if (of == REFUSES)
		return -EPERM;
	if (flags)
		return -EINVAL;
	if (command == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
		registered++;
	else if (command != MEMBARRIER_CMD_PRIVATE_EXPEDITED || !registered)
		return -EINVAL;
	return 0;
}

static void on_call(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)info;
#if defined(__x86_64__)
	u->uc_mcontext.gregs[REG_RAX] =
		answer(u->uc_mcontext.gregs[REG_RDI], u->uc_mcontext.gregs[REG_RSI]);
#elif defined(__aarch64__)
	u->uc_mcontext.regs[0] = (unsigned long long)answer((long)u->uc_mcontext.regs[0],
							    (long)u->uc_mcontext.regs[1]);
#else
	(void)u;
	(void)answer;
#endif
}

static int answer_for_it(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	struct sigaction sa = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO };

	sigaction(SIGSYS, &sa, NULL);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

struct run {
	const char *options;
	enum system system;
};

/* 0; or 1 with a line on stderr */
static int collect(void *arg)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	const struct run *run = arg;
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;
	const struct gc_type *type;
	struct gc_heap_stats s;
	struct gc_mutator *m;
	struct gc_heap *heap;
	struct gc_error err;
	long seen = 0;

	of = run->system;
	if (of != AS_IT_IS && answer_for_it()) {
		fprintf(stderr, "no seccomp filter");
		return 1;
	}
	if (gc_heap_create(&heap, run->options, NULL, &err) || gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "%s", err.text);
		return 1;
	}
	type = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	for (int round = 0; round < 4; round++) {
		for (long i = 0; i < NODES; i++) {
			f.fresh = GC_NEW(m, type, struct node);
			f.fresh->value = 1;
			gc_write(m, f.fresh, &f.fresh->next, f.list);
			f.list = f.fresh;
		}
		gc_collect(m);
	}
	for (struct node *n = f.list; n; n = n->next)
		seen += n->value;
	gc_heap_stats(heap, &s);
	if (seen != 4 * NODES || gc_verify(m, &err) || !s.cards_scanned) {
		fprintf(stderr, "%ld nodes, %llu cards: %s", seen,
			(unsigned long long)s.cards_scanned, err.text);
		return 1;
	}
	/*
	 * Once registered, it is asked whenever cards are cleaned concurrently. In the
	 * foreground that is in each collection; otherwise a collection may find it done in
	 * its pause, as the threads happen to run.
	 */
	if (of == REFUSES ? asked != 1 :
			    of == GRANTS && (registered != 1 ||
					     (strstr(run->options, "policy=fg") && asked < 5))) {
		fprintf(stderr, "asked %d times, %d of them first", (int)asked, (int)registered);
		return 1;
	}
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(heap);
}

/*
 * Cards that are cleaned before anything on them is marked need the call as well: objects on them
 * may be marked and scanned later. Here a batch of such cards comes last, and then a small stack
 * that overflowed has all marked objects scanned again.
 */

#define DEAD 30000 /* nodes: some batches of cards */
#define MANY 3000 /* references, in one array: more than the stack has room for */

struct holder {
	struct gc_header header;
	void *array;
};

static struct gc_mutator *writer;
static struct node *root, *dead[DEAD];
static struct holder *hidden;
static int first_seen, last_seen; /* calls when the holder was scanned */
static bool paused;

static void trace_holder(void *obj, gc_visit_fn visit, void *arg)
{
	struct holder *h = obj;

	visit(&h->array, arg);
	if (paused)
		return;
	if (!first_seen)
		first_seen = (int)asked;
	last_seen = (int)asked;
}

/* A mutator's stores, while the collector marks; the root was scanned already. */
static void on_progress(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	if (root->next == (void *)hidden)
		return;
	root->value = (long)(uintptr_t)root->next;
	gc_write(writer, root, &root->next, hidden);
	for (int i = 0; i < DEAD; i++)
		gc_write_barrier(writer, dead[i]);
}

static void on_remark(struct gc_listener *self, const struct gc_event *event)
{
	(void)self;
	(void)event;
	paused = true;
}

static int clean_unmarked(void *arg)
{
	static const struct gc_listener_ops ops = { .progress = on_progress,
						    .remark_begin = on_remark };
	static struct gc_listener listener = { &ops };
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	struct gc_type_desc h = { .name = "holder",
				  .size = sizeof(struct holder),
				  .trace = trace_holder };
	struct gc_type_desc a = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };
	const struct gc_type *node, *array;
	struct {
		struct gc_frame head;
		struct node *root, *list, *fresh;
	} f;
	struct gc_heap *heap;
	struct gc_error err;
	void **slot;

	of = GRANTS;
	if (answer_for_it() || gc_heap_create(&heap, arg, &listener, &err) ||
	    gc_mutator_attach(heap, &writer))
		return 1;
	node = gc_type_register(heap, &d, NULL);
	array = gc_type_register(heap, &a, NULL);
	GC_PUSH(writer, f);
	root = f.root = GC_NEW(writer, node, struct node);
	for (int i = 0; i < DEAD; i++)
		dead[i] = GC_NEW(writer, node, struct node);
	/* On the last card of these is no node that will be marked. */
	for (int i = 0; i < 16; i++)
		GC_NEW(writer, node, struct node);
	hidden = GC_NEW(writer, gc_type_register(heap, &h, NULL), struct holder);
	hidden->array = gc_alloc_array(writer, array, MANY);
	slot = (void **)((struct gc_header *)hidden->array + 1);
	for (int i = 0; i < MANY; i++)
		slot[i] = GC_NEW(writer, node, struct node);
	for (int i = 0; i < NODES; i++) {
		f.fresh = GC_NEW(writer, node, struct node);
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
	}
	gc_write(writer, f.root, &f.root->next, f.list);
	gc_collect(writer);
	if (!first_seen || last_seen <= first_seen) {
		fprintf(stderr, "called %d times when it was scanned first, %d later", first_seen,
			last_seen);
		return 1;
	}
	GC_POP(writer, f);
	gc_mutator_detach(writer);
	return gc_heap_destroy(heap);
}

int main(void)
{
	static const char *const rows[] = {
		"plan=gencms,policy=fg,verify=all",
		"plan=gencms,policy=fg,remark-limit=1,verify=all",
		"plan=gencms,overflow=card,markstack=4K,verify=all",
	};
	static const char *const said[] = { "as it is", "refused once", "granted" };
	static char text[1024];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (enum system system = AS_IT_IS; system < SYSTEMS; system++) {
			struct run run = { rows[i], system };
			int status;

#if !defined(__x86_64__) && !defined(__aarch64__)
			if (system != AS_IT_IS)
				continue;
#endif
			status = child(collect, &run, text, sizeof(text));
			if (!ok(!status, "%s, membarrier %s: no object is lost", rows[i],
				said[system]))
				printf("# status %#x: %s\n", status, text);
		}
	}
#if defined(__x86_64__) || defined(__aarch64__)
	{
		static char options[] = "plan=cms,policy=fg,trim=0,heap=32M,overflow=scan-all,"
					"markstack=4K";
		int status = child(clean_unmarked, options, text, sizeof(text));

		if (!ok(!status, "cards without marked objects are cleaned in order, too"))
			printf("# status %#x: %s\n", status, text);
	}
#endif
	return done();
}
