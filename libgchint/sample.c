// SPDX-License-Identifier: MIT
/*
 * The answer of a thread to a recorder's sample: its method and phase. The kernel delivers
 * the signal at the sampled instruction, so both values belong to that instruction; another
 * process could only read them later. The signal is that of a perf event, or, after the
 * recorder has asked for it, of a timer of the thread's own CPU time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "record.h"
#include "sample.h"
#include "slot.h"
#include "stream.h"
#include "timer.h"

_Static_assert(GCHINT_STREAM_SIGNAL == SIGURG, "of <gchint-stream.h>");

__thread uintptr_t __gchint_method;

/* The thread's own record, or one that another thread holds for it. */
static struct record *record_mine(struct gchint_session *s, pid_t tid)
{
	const struct gchint_thread *t = &__gchint_self;

	if (t->index && t->epoch == load_relaxed(&s->epoch))
		return record_at(t->index);
	return record_find(tid);
}

/* The instruction that a signal interrupted; 0 unknown. */
static uintptr_t interrupted_at(const ucontext_t *c)
{
#if defined(__x86_64__)
	return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
	return (uintptr_t)c->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
	return (uintptr_t)c->uc_mcontext.pc;
#elif defined(__arm__)
	return (uintptr_t)c->uc_mcontext.arm_pc;
#elif defined(__riscv)
	return (uintptr_t)c->uc_mcontext.__gregs[REG_PC];
#else
	(void)c;
	return 0;
#endif
}

static void answer(struct gchint_session *s, pid_t tid, uintptr_t ip, unsigned int missed)
{
	struct record *r = record_mine(s, tid);

	stream_sample(s, tid, r ? load_relaxed(state_of(s, r)) : 0, load_relaxed(&__gchint_method),
		      ip, missed);
}

static void on_sample(int number, siginfo_t *info, void *context)
{
	struct gchint_session *s = &gchint_page.session;
	const int saved = errno;
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	/* In this order: if the ring has been sent, it is in place. Partner: stream_open(). */
	const int sending = load_acquire(&s->sending), open = stream_is_open(s);

	(void)number;
	/* Any other SIGURG is one that the program would have ignored. */
	if (info->si_code == POLL_IN && open)
		answer(s, tid, 0, 0);
	/*
	 * The recorder may be faster than stream_open(). Samples before the ring is in place are
	 * lost, the timer is not. A timer that outlives the ring removes itself.
	 */
	else if (info->si_code == SI_QUEUE)
		timer_start(tid, (unsigned int)info->si_value.sival_int);
	else if (info->si_code == SI_TIMER && timer_owns(info->si_value.sival_ptr) && open)
		answer(s, tid, interrupted_at(context), (unsigned int)info->si_overrun);
	else if (info->si_code == SI_TIMER && timer_owns(info->si_value.sival_ptr) && !sending)
		timer_start(tid, 0);
	errno = saved;
}

int sample_listen(void)
{
	struct sigaction now, ours = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	ours.sa_sigaction = on_sample;
	if (sigaction(GCHINT_STREAM_SIGNAL, NULL, &now))
		return 0;
	if (now.sa_flags & SA_SIGINFO)
		return now.sa_sigaction == on_sample;
	if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
		return 0;
	return !sigaction(GCHINT_STREAM_SIGNAL, &ours, NULL);
}

/* The offset is the same in all threads: the variable is in static TLS. */
long long sample_place(void)
{
#if defined(__x86_64__) && defined(__LP64__)
	uintptr_t self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
#elif defined(__aarch64__) && defined(__LP64__)
	uintptr_t self;

	__asm__("mrs %0, tpidr_el0" : "=r"(self));
#endif
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__)
	return (long long)((uintptr_t)&__gchint_method - self);
#else
	return 0;
#endif
}
