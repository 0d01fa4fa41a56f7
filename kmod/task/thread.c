// SPDX-License-Identifier: GPL-2.0-only
/* The hash of all threads with a lease. */
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "clock.h"
#include "event/event.h"
#include "thread.h"

struct gchint_threads gchint_threads __read_mostly;

static unsigned int nr_threads;

/* As many chains as leases, so that a chain is nearly always empty or short. */
int gchint_thread_init(unsigned int max)
{
	gchint_threads.bits = ilog2(roundup_pow_of_two(max));
	gchint_threads.chain = kvcalloc(1U << gchint_threads.bits,
					sizeof(*gchint_threads.chain),
					GFP_KERNEL | __GFP_NOWARN);
	return gchint_threads.chain ? 0 : -ENOMEM;
}

/* The switch probe is unregistered, and no lease is left. */
void gchint_thread_exit(void)
{
	kvfree(gchint_threads.chain);
}

/* Under the lease lock, as gchint_thread_remove(). The thread is complete. */
void gchint_thread_add(struct gchint_thread *thread)
{
	struct gchint_thread __rcu **chain = gchint_thread_chain(thread->task);

	RCU_INIT_POINTER(thread->next, rcu_access_pointer(*chain));
	rcu_assign_pointer(*chain, thread);
	WRITE_ONCE(nr_threads, nr_threads + 1);
}

/* Its own link stays: a reader that has reached it goes on from there. */
void gchint_thread_remove(struct gchint_thread *thread)
{
	struct gchint_thread __rcu **link = gchint_thread_chain(thread->task);

	while (rcu_access_pointer(*link) != thread)
		link = &rcu_dereference_protected(*link, true)->next;
	rcu_assign_pointer(*link, rcu_access_pointer(thread->next));
	WRITE_ONCE(nr_threads, nr_threads - 1);
}

unsigned int gchint_thread_count(void)
{
	return READ_ONCE(nr_threads);
}

/* Any context; under RCU if the lease may end meanwhile. */
void gchint_thread_report(const struct gchint_thread *thread,
			  enum gchint_lease what)
{
	struct gchint_event_data record = {
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

	if (!gchint_event_wanted(lease))
		return;
	local_irq_save(flags);
	record.time = gchint_now();
	/* Another CPU of its policy may have read the slot. */
	cpu = READ_ONCE(thread->cpu);
	record.cpu = cpu >= 0 ? cpu : smp_processor_id();
	gchint_event_emit(&record);
	local_irq_restore(flags);
}
