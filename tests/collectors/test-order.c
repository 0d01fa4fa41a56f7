// SPDX-License-Identifier: MIT
/*
 * Description: where stores are weakly ordered and the system refuses membarrier(2), cards are
 * left to the pause, and the call is not repeated; where it is granted, it is called each time.
 * Built with -DGC_STORES_ORDERED=0.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <errno.h>
#include <gchint/gc.h>
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
	return done();
}
