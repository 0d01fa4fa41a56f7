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

#include "compat/exit_probe.h"
#include "event.h"
#include "governor.h"
#include "info.h"
#include "lease.h"
#include "probe.h"
#include "session.h"
#include "watch.h"

/* Probes stay this long after their last use: each costs a patch of code. */
#define LINGER (2 * HZ)

struct linux_binprm;

/**
 * struct probe - a function at a tracepoint
 * @name: name of the tracepoint
 * @func: prototype of the tracepoint with a leading void pointer
 * @tp: the tracepoint
 * @on: whether @func is registered
 */
struct probe {
	const char *name;
	void *func;
	struct tracepoint *tp;
	bool on;
};

/* Serialises turning probes on and off. Takes the CPU hotplug lock inside. */
static DEFINE_MUTEX(probes_lock);

static void at_exit(GCHINT_EXIT_PROBE_ARGS)
{
	gchint_lease_gone(task, GCHINT_LEASE_EXIT);
}

static void at_exec(void *data, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	gchint_lease_gone(task, GCHINT_LEASE_EXEC);
}

/* Those who end leases come before the one that makes use of them. */
enum { EXIT, EXEC, FREQUENCY, LIMITS, SWITCH, PROBES };

static struct probe probes[PROBES] = {
	[EXIT] = { "sched_process_exit", at_exit },
	[EXEC] = { "sched_process_exec", at_exec },
	[FREQUENCY] = { "cpu_frequency", gchint_info_probe_frequency },
	[LIMITS] = { "cpu_frequency_limits", gchint_info_probe_limits },
	[SWITCH] = { "sched_switch", gchint_watch_switch },
};

static bool wanted(int i)
{
	if (i != SWITCH)
		return gchint_session_count();
	return gchint_lease_count() &&
	       (gchint_governor_count() || gchint_event_recording());
}

static int turn_on(int i)
{
	int ret;

	if (probes[i].on)
		return 0;
	ret = tracepoint_probe_register(probes[i].tp, probes[i].func, NULL);
	if (ret)
		return ret;
	probes[i].on = true;
	if (i == SWITCH)
		gchint_watch_on();
	return 0;
}

/* Returns whether it was on. */
static bool turn_off(int i)
{
	if (!probes[i].on)
		return false;
	tracepoint_probe_unregister(probes[i].tp, probes[i].func, NULL);
	probes[i].on = false;
	return true;
}

/**
 * gchint_probe_need - listen to what has become needed
 *
 * After a session, lease, policy or recorder has been added. May sleep; must
 * not be called with a cpufreq policy's rwsem held, nor from CPU hotplug.
 *
 * Return: 0 or a negative errno.
 */
int gchint_probe_need(void)
{
	int i, ret = 0;

	mutex_lock(&probes_lock);
	for (i = 0; i < PROBES && !ret; i++)
		if (wanted(i))
			ret = turn_on(i);
	mutex_unlock(&probes_lock);
	return ret;
}

static void silence(bool all)
{
	bool off[PROBES] = { }, any = false;
	int i;

	mutex_lock(&probes_lock);
	for (i = 0; i < PROBES; i++) {
		if (all || !wanted(i))
			off[i] = turn_off(i);
		any |= off[i];
	}
	if (any)
		tracepoint_synchronize_unregister();
	if (off[SWITCH])
		gchint_watch_off();
	if (off[FREQUENCY])
		gchint_info_idle();
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
 * gchint_probe_changed - policies or recorders came or went
 *
 * For those who may not call gchint_probe_need() where they are.
 */
void gchint_probe_changed(void)
{
	queue_work(system_unbound_wq, &update_work);
}

static void match(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < PROBES; i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

int gchint_probe_init(void)
{
	int i;

	for_each_kernel_tracepoint(match, NULL);
	for (i = 0; i < PROBES; i++) {
		if (!probes[i].tp) {
			pr_err("this kernel has no tracepoint %s\n",
			       probes[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

/* Sessions and policies are gone, so nothing queues work any more. */
void gchint_probe_exit(void)
{
	cancel_work_sync(&update_work);
	cancel_delayed_work_sync(&relax_work);
	silence(true);
}
