// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that wakes on an idle CPU. The scheduler calls the governor's hook
 * before it says which thread that is, and next at the tick. Schedutil knows the
 * run queue, and has decided by then. The tracepoint sched_wakeup names the
 * thread, right after the hook, while the run queue is still locked.
 */
/* Needed by trace/events/sched.h of Linux 6.12. */
#include <linux/mm_types.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <trace/events/sched.h>

#include "cpufreq/actuator.h"
#include "cpufreq/policy.h"
#include "probe.h"
#include "thread.h"
#include "watch.h"

/*
 * Every wakeup of the machine pays for the first lines. Threads with a lease, and
 * CPUs where one's hint lingers, are the switch probe's.
 */
static void wake_thread(void *data, struct task_struct *task)
{
	struct gchint_cpu *c;

	if (likely(!is_idle_task(current)) ||
	    task_cpu(task) != smp_processor_id())
		return;
	c = this_cpu_ptr(&gchint_cpus);
	if (c->thread || c->parked || gchint_thread_find(task))
		return;
	gchint_policy_wake(c, task);
}

/*
 * A new thread. Its parent runs, and goes on or sleeps before the next decision;
 * the scheduler has added what it assumes of the new one to the CPU's utilisation.
 */
static void wake_new_thread(void *data, struct task_struct *task)
{
	struct gchint_cpu *c;

	if (task_cpu(task) != smp_processor_id())
		return;
	c = this_cpu_ptr(&gchint_cpus);
	if (!c->thread && !c->parked)
		gchint_policy_wake(c, task);
}

static bool wake_is_wanted(void)
{
	return gchint_actuator_governs();
}

static struct gchint_probe wake_probe = {
	.name = "sched_wakeup",
	.func = wake_thread,
	.wanted = wake_is_wanted,
};

static struct gchint_probe wake_new_probe = {
	.name = "sched_wakeup_new",
	.func = wake_new_thread,
	.wanted = wake_is_wanted,
};

int gchint_wake_init(void)
{
	check_trace_callback_type_sched_wakeup(wake_thread);
	check_trace_callback_type_sched_wakeup_new(wake_new_thread);
	return gchint_probe_add(&wake_probe) ?: gchint_probe_add(&wake_new_probe);
}
