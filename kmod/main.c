// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpufreq_gchint: a governor that knows when a runtime collects garbage.
 *
 * The ladder goes up from those who are called to those who call: nothing may
 * come in from user space or from cpufreq before all that it leads to stands.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>

#include "act/actuator.h"
#include "act/energy.h"
#include "act/governor.h"
#include "act/use.h"
#include "answer/debugfs.h"
#include "answer/netlink.h"
#include "compat/version.h"
#include "follow/probe.h"
#include "follow/watch.h"
#include "intake/info.h"
#include "intake/lease.h"
#include "intake/session.h"
#include "tell/event.h"

/* Up the ladder: what the lower floors tell the higher ones. */

static void wished(u32 phases)
{
	gchint_info_recorded(phases);
	gchint_probe_changed();
}

static void governed(u32 phases)
{
	gchint_info_governed(phases);
	gchint_info_stale();
	gchint_probe_changed();
}

static const struct gchint_actuator_told told = {
	.governed = governed,
	.limits = gchint_info_stale,
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
	ret = gchint_lease_init();
	if (ret)
		goto exit_watch;
	ret = gchint_info_init();
	if (ret)
		goto exit_lease;
	gchint_event_init(wished);
	ret = gchint_netlink_init();
	if (ret)
		goto exit_event;
	gchint_actuator_init(&told);
	ret = gchint_use_init();
	if (ret)
		goto exit_netlink;
	/*
	 * Either of the next two gives away references to the module, which its
	 * failure would not take back. Of them only the first can lack memory: the
	 * second fails if there is a governor of that name, as of a kernel that has
	 * this module built in, whose device has the name of the first.
	 */
	ret = gchint_session_init(gchint_use_groups());
	if (ret)
		goto exit_use;
	ret = gchint_governor_init();
	if (ret)
		goto exit_session;
	gchint_use_begin(gchint_session_kobj());
	gchint_debugfs_init();
	return 0;

exit_session:
	gchint_session_exit();
exit_use:
	gchint_use_exit();
exit_netlink:
	gchint_netlink_exit();
	gchint_energy_exit();
exit_event:
	gchint_event_exit();
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
	gchint_use_end();
	gchint_governor_exit();
	gchint_session_exit();
	gchint_use_exit();
	gchint_netlink_exit();
	gchint_energy_exit();
	gchint_event_exit();
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
