// SPDX-License-Identifier: GPL-2.0-only
/* The hash of all threads with a lease: what every context switch asks. */
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "clock.h"
#include "tell/event.h"
#include "thread.h"

struct gchint_threads gchint_threads __read_mostly;

static unsigned int nr_threads;

/**
 * gchint_thread_init - make room to find threads
 * @max: how many there may be at once, at least 2
 *
 * A chain for each: however many there are, to find that a thread has no lease
 * takes one load, nearly always.
 *
 * Return: 0 or -ENOMEM.
 */
int gchint_thread_init(unsigned int max)
{
	gchint_threads.bits = ilog2(roundup_pow_of_two(max));
	gchint_threads.chain = kvcalloc(1U << gchint_threads.bits,
					sizeof(*gchint_threads.chain),
					GFP_KERNEL | __GFP_NOWARN);
	return gchint_threads.chain ? 0 : -ENOMEM;
}

/* The switch probe is gone, and no lease is left. */
void gchint_thread_exit(void)
{
	kvfree(gchint_threads.chain);
}

/**
 * gchint_thread_add - let a thread be found
 * @thread: complete; the caller serialises it with all others
 */
void gchint_thread_add(struct gchint_thread *thread)
{
	struct gchint_thread __rcu **chain = gchint_thread_chain(thread->task);

	RCU_INIT_POINTER(thread->next, rcu_access_pointer(*chain));
	rcu_assign_pointer(*chain, thread);
	WRITE_ONCE(nr_threads, nr_threads + 1);
}

/**
 * gchint_thread_remove - let a thread be found no more
 * @thread: in the hash; the caller serialises it with all others
 *
 * Its own link stays: a reader that stands on it goes on from there.
 */
void gchint_thread_remove(struct gchint_thread *thread)
{
	struct gchint_thread __rcu **link = gchint_thread_chain(thread->task);

	while (rcu_access_pointer(*link) != thread)
		link = &rcu_dereference_protected(*link, true)->next;
	rcu_assign_pointer(*link, rcu_access_pointer(thread->next));
	WRITE_ONCE(nr_threads, nr_threads - 1);
}

/**
 * gchint_thread_count - how many threads have a lease
 *
 * Return: the number, all sessions together.
 */
unsigned int gchint_thread_count(void)
{
	return READ_ONCE(nr_threads);
}

/**
 * gchint_thread_tell - a lease began, changed or ended
 * @thread: whose
 * @what: enum gchint_lease
 *
 * Any context; under RCU if the lease may end meanwhile.
 */
void gchint_thread_tell(const struct gchint_thread *thread,
			enum gchint_lease what)
{
	struct gchint_record record = {
		.type = GCHINT_EVENT_LEASE,
		.session = thread->session->id,
		.tgid = thread->session->tgid_nr,
		.tid = thread->tid,
		.slot = thread->slot,
		.lease = {
			.role = READ_ONCE(thread->role),
			.what = what,
		},
	};
	unsigned long flags;
	int cpu;

	if (!gchint_event_wants_lease())
		return;
	local_irq_save(flags);
	record.time = gchint_now();
	/* Who looked may be another CPU of its policy. */
	cpu = READ_ONCE(thread->cpu);
	record.cpu = cpu >= 0 ? cpu : smp_processor_id();
	gchint_event_tell(&record);
	local_irq_restore(flags);
}
