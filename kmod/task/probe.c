// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>

#include "compat/tracepoint.h"
#include "compat/workqueue.h"
#include "probe.h"

/*
 * Registering a probe patches code and interrupts every CPU, so unused ones stay
 * for a while: for longer each time that one was needed again soon after it was
 * unregistered, so that a program which opens and closes sessions in a loop
 * causes that once a minute.
 */
#define LINGER_MIN (2 * HZ)
#define LINGER_MAX (64 * HZ)
#define LINGER_FORGET (2 * LINGER_MAX)

/* Serialises the list and registration; the CPU hotplug lock nests inside. */
static DEFINE_MUTEX(probes_lock);
static LIST_HEAD(probes);
/* Under probes_lock; read without it. */
static unsigned long linger = LINGER_MIN;
static unsigned long unregistered_at; /* jiffies */
static bool was_unregistered;

static void linger_adapt(void)
{
	bool soon = time_before(jiffies, unregistered_at + LINGER_FORGET);
	unsigned long next = min_t(unsigned long, 2 * linger, LINGER_MAX);

	WRITE_ONCE(linger, soon ? next : LINGER_MIN);
	/* Of several probes that are registered at a time only the first counts. */
	was_unregistered = false;
}

static int probe_register(struct gchint_probe *probe)
{
	int ret;

	if (probe->on)
		return 0;
	ret = tracepoint_probe_register(probe->tp, probe->func, NULL);
	if (ret)
		return ret;
	probe->on = true;
	if (was_unregistered)
		linger_adapt();
	if (probe->begun)
		probe->begun();
	return 0;
}

/**
 * gchint_probe_register_wanted - register all probes that are wanted now
 *
 * After a session, lease, policy or recorder was added; updates the information
 * page, too. May sleep; not under a policy's rwsem, nor from CPU hotplug.
 *
 * Return: 0 or a negative errno.
 */
int gchint_probe_register_wanted(void)
{
	struct gchint_probe *probe;
	int ret = 0;

	mutex_lock(&probes_lock);
	list_for_each_entry(probe, &probes, node) {
		if (probe->wanted())
			ret = probe_register(probe);
		if (ret)
			break;
	}
	mutex_unlock(&probes_lock);
	return ret;
}

static void probes_unregister(bool all)
{
	struct gchint_probe *probe, *next;
	LIST_HEAD(removed);

	mutex_lock(&probes_lock);
	list_for_each_entry_safe(probe, next, &probes, node) {
		if (!probe->on || (!all && probe->wanted()))
			continue;
		tracepoint_probe_unregister(probe->tp, probe->func, NULL);
		probe->on = false;
		list_move_tail(&probe->node, &removed);
	}
	if (!list_empty(&removed)) {
		tracepoint_synchronize_unregister();
		unregistered_at = jiffies;
		was_unregistered = true;
	}
	list_for_each_entry(probe, &removed, node)
		if (probe->ended)
			probe->ended();
	list_splice_tail(&removed, &probes);
	mutex_unlock(&probes_lock);
}

static void probes_relax_work(struct work_struct *work)
{
	probes_unregister(false);
}

static DECLARE_DELAYED_WORK(relax_work, probes_relax_work);

/* Later: see LINGER_MIN. Any context that may queue work. */
void gchint_probe_queue_unregister(void)
{
	queue_delayed_work(system_dfl_wq, &relax_work,
			   READ_ONCE(linger));
}

static void probes_update_work(struct work_struct *work)
{
	int ret = gchint_probe_register_wanted();

	if (ret)
		pr_warn_ratelimited("cannot follow the scheduler: %d\n", ret);
	gchint_probe_queue_unregister();
}

static DECLARE_WORK(update_work, probes_update_work);

/* For callers whose context does not allow gchint_probe_register_wanted(). */
void gchint_probe_queue_update(void)
{
	queue_work(system_dfl_wq, &update_work);
}

/* @probe is of static storage. -ENOENT: the kernel has no such tracepoint. */
int gchint_probe_add(struct gchint_probe *probe)
{
	probe->tp = gchint_tracepoint_find(probe->name);
	if (!probe->tp) {
		pr_err("this kernel has no tracepoint %s\n", probe->name);
		return -ENOENT;
	}
	mutex_lock(&probes_lock);
	list_add_tail(&probe->node, &probes);
	mutex_unlock(&probes_lock);
	return 0;
}

/* No session or policy is left that could queue work. */
void gchint_probe_exit(void)
{
	cancel_work_sync(&update_work);
	cancel_delayed_work_sync(&relax_work);
	probes_unregister(true);
}
