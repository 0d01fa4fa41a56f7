// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's tracepoints are not exported by name; walking the kernel's
 * own table is the way that is open to a module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "probe.h"

/* Probes stay this long after their last use: each costs a patch of code. */
#define LINGER (2 * HZ)

/*
 * Serialises the list, and turning probes on and off. Takes the CPU hotplug
 * lock inside.
 */
static DEFINE_MUTEX(probes_lock);
static LIST_HEAD(probes);

static int turn_on(struct gchint_probe *probe)
{
	int ret;

	if (probe->on)
		return 0;
	ret = tracepoint_probe_register(probe->tp, probe->func, NULL);
	if (ret)
		return ret;
	probe->on = true;
	if (probe->begun)
		probe->begun();
	return 0;
}

static void turn_off(struct gchint_probe *probe)
{
	tracepoint_probe_unregister(probe->tp, probe->func, NULL);
	probe->on = false;
}

/**
 * gchint_probe_need - listen to what has become needed
 *
 * After a session, lease, policy or recorder has been added; then it is
 * listened to, and the information page is true. May sleep; must not be called
 * with a cpufreq policy's rwsem held, nor from CPU hotplug.
 *
 * Return: 0 or a negative errno.
 */
int gchint_probe_need(void)
{
	struct gchint_probe *probe;
	int ret = 0;

	mutex_lock(&probes_lock);
	list_for_each_entry(probe, &probes, node) {
		if (probe->wanted())
			ret = turn_on(probe);
		if (ret)
			break;
	}
	mutex_unlock(&probes_lock);
	return ret;
}

static void silence(bool all)
{
	struct gchint_probe *probe, *next;
	LIST_HEAD(silent);

	mutex_lock(&probes_lock);
	list_for_each_entry_safe(probe, next, &probes, node) {
		if (!probe->on || (!all && probe->wanted()))
			continue;
		turn_off(probe);
		list_move_tail(&probe->node, &silent);
	}
	if (!list_empty(&silent))
		tracepoint_synchronize_unregister();
	list_for_each_entry(probe, &silent, node)
		if (probe->ended)
			probe->ended();
	list_splice_tail(&silent, &probes);
	mutex_unlock(&probes_lock);
}

static void relax(struct work_struct *work)
{
	silence(false);
}

static DECLARE_DELAYED_WORK(relax_work, relax);

/**
 * gchint_probe_relax - something is no longer needed, maybe
 *
 * Any context that may queue work. A runtime that opens and closes in a loop
 * must not make the kernel patch itself each time, so it happens later.
 */
void gchint_probe_relax(void)
{
	queue_delayed_work(system_unbound_wq, &relax_work, LINGER);
}

static void update(struct work_struct *work)
{
	int ret = gchint_probe_need();

	if (ret)
		pr_warn_ratelimited("cannot follow the scheduler: %d\n", ret);
	gchint_probe_relax();
}

static DECLARE_WORK(update_work, update);

/**
 * gchint_probe_changed - sessions, policies or recorders came or went
 *
 * For those who may not call gchint_probe_need() where they are.
 */
void gchint_probe_changed(void)
{
	queue_work(system_unbound_wq, &update_work);
}

static void match(struct tracepoint *tp, void *priv)
{
	struct gchint_probe *probe = priv;

	if (!strcmp(tp->name, probe->name))
		probe->tp = tp;
}

/**
 * gchint_probe_add - let a probe be turned on when it is needed
 * @probe: the probe, of static storage
 *
 * Return: 0; -ENOENT, the kernel has no such tracepoint.
 */
int gchint_probe_add(struct gchint_probe *probe)
{
	for_each_kernel_tracepoint(match, probe);
	if (!probe->tp) {
		pr_err("this kernel has no tracepoint %s\n", probe->name);
		return -ENOENT;
	}
	mutex_lock(&probes_lock);
	list_add_tail(&probe->node, &probes);
	mutex_unlock(&probes_lock);
	return 0;
}

/* Sessions and policies are gone, so nothing queues work any more. */
void gchint_probe_exit(void)
{
	cancel_work_sync(&update_work);
	cancel_delayed_work_sync(&relax_work);
	silence(true);
}
