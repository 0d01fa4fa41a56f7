// SPDX-License-Identifier: MIT
/*
 * The answer of a thread to a recorder's sample: its method and phase. The kernel delivers
 * the signal at the sampled instruction, so both values belong to that instruction; another
 * process could only read them later.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"
#include "sample.h"
#include "slot.h"
#include "stream.h"

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

static void on_sample(int number, siginfo_t *info, void *context)
{
	struct gchint_session *s = &gchint_page.session;
	const int saved = errno;
	struct record *r;
	pid_t tid;

	(void)number;
	(void)context;
	/* Any other SIGURG is one that the program would have ignored. */
	if (info->si_code != POLL_IN || !stream_is_open(s))
		return;
	tid = (pid_t)syscall(SYS_gettid);
	r = record_mine(s, tid);
	stream_sample(s, tid, r ? load_relaxed(state_of(s, r)) : 0, load_relaxed(&__gchint_method));
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
