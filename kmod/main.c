// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpufreq_gchint: a governor that knows when a runtime collects garbage.
 *
 * Callees are initialised before their callers: no call may come from user
 * space or cpufreq before that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>

#include "compat/version.h"
#include "cpufreq/actuator.h"
#include "cpufreq/energy.h"
#include "event/event.h"
#include "interface/interface.h"
#include "session/info.h"
#include "session/lease.h"
#include "session/session.h"
#include "task/probe.h"
#include "task/watch.h"

/* Callbacks by which the directories below reach those above. */

static void events_phases_changed(u32 phases)
{
	gchint_info_set_recorded(phases);
	gchint_probe_queue_update();
}

static void actuator_phases_changed(u32 phases)
{
	gchint_info_set_governed(phases);
	gchint_info_queue_refresh();
	gchint_probe_queue_update();
}

static const struct gchint_actuator_listener actuator_listener = {
	.governed = actuator_phases_changed,
	.limits = gchint_info_queue_refresh,
};

static int __init gchint_init(void)
{
	int ret;

	ret = gchint_ring_init();
	if (ret)
		goto fail;
	ret = gchint_watch_init();
	if (ret)
		goto exit_ring;
	ret = gchint_wake_init();
	if (ret)
		goto exit_watch;
	ret = gchint_lease_init();
	if (ret)
		goto exit_watch;
	ret = gchint_info_init();
	if (ret)
		goto exit_lease;
	gchint_event_set_listener(events_phases_changed);
	ret = gchint_netlink_init();
	if (ret)
		goto exit_event;
	gchint_actuator_init(&actuator_listener);
	ret = gchint_site_init();
	if (ret)
		goto exit_netlink;
	/*
	 * Last, since both hand out references to the module, which an error
	 * would not take back. Only the first can lack memory. The second fails
	 * if the kernel has a governor of that name built in; then the first
	 * fails, too, since there is a device of that name.
	 */
	ret = gchint_session_init(gchint_site_groups());
	if (ret)
		goto exit_site;
	ret = gchint_governor_init();
	if (ret)
		goto exit_session;
	gchint_site_register(gchint_session_kobj());
	gchint_debugfs_init();
	return 0;

exit_session:
	gchint_session_exit();
exit_site:
	gchint_site_exit();
exit_netlink:
	gchint_netlink_exit();
	gchint_energy_exit();
exit_event:
	gchint_event_set_listener(NULL);
	gchint_probe_exit();
	gchint_info_exit();
exit_lease:
	gchint_lease_exit();
exit_watch:
	gchint_watch_exit();
exit_ring:
	gchint_ring_exit();
fail:
	pr_err("cannot start: %d\n", ret);
	return ret;
}

static void __exit gchint_exit(void)
{
	gchint_debugfs_exit();
	gchint_site_unregister();
	gchint_governor_exit();
	gchint_session_exit();
	gchint_site_exit();
	gchint_netlink_exit();
	gchint_energy_exit();
	gchint_event_set_listener(NULL);
	gchint_probe_exit();
	gchint_info_exit();
	gchint_lease_exit();
	gchint_watch_exit();
	gchint_ring_exit();
}

module_init(gchint_init);
module_exit(gchint_exit);

MODULE_AUTHOR("The gchint developers");
MODULE_DESCRIPTION("cpufreq governor that knows the phases of garbage collection");
MODULE_LICENSE("GPL");
MODULE_ALIAS("cpufreq_gchint");
