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

#include "compat/version.h"
#include "debugfs.h"
#include "event.h"
#include "governor.h"
#include "info.h"
#include "lease.h"
#include "netlink.h"
#include "param.h"
#include "probe.h"
#include "ring.h"
#include "session.h"
#include "watch.h"

static int __init gchint_init(void)
{
	int ret;

	ret = gchint_info_init();
	if (ret)
		goto fail;
	ret = gchint_lease_init();
	if (ret)
		goto exit_info;
	ret = gchint_ring_init(gchint_param_event_ring);
	if (ret)
		goto exit_lease;
	ret = gchint_watch_init();
	if (ret)
		goto exit_ring;
	ret = gchint_probe_init();
	if (ret)
		goto exit_watch;
	gchint_event_init();
	ret = gchint_netlink_init();
	if (ret)
		goto exit_event;
	ret = gchint_governor_init();
	if (ret)
		goto exit_netlink;
	ret = gchint_session_init();
	if (ret)
		goto exit_governor;
	gchint_debugfs_init();
	return 0;

exit_governor:
	gchint_governor_exit();
exit_netlink:
	gchint_netlink_exit();
exit_event:
	gchint_event_exit();
	gchint_probe_exit();
exit_watch:
	gchint_watch_exit();
exit_ring:
	gchint_ring_exit();
exit_lease:
	gchint_lease_exit();
exit_info:
	gchint_info_exit();
fail:
	pr_err("cannot start: %d\n", ret);
	return ret;
}

static void __exit gchint_exit(void)
{
	gchint_debugfs_exit();
	gchint_session_exit();
	gchint_governor_exit();
	gchint_netlink_exit();
	gchint_event_exit();
	gchint_probe_exit();
	gchint_watch_exit();
	gchint_ring_exit();
	gchint_lease_exit();
	gchint_info_exit();
}

module_init(gchint_init);
module_exit(gchint_exit);

MODULE_AUTHOR("The gchint developers");
MODULE_DESCRIPTION("cpufreq governor that knows the phases of garbage collection");
MODULE_LICENSE("GPL");
MODULE_ALIAS("cpufreq_gchint");
