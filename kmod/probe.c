// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's tracepoints are not exported by name; walking the kernel's
 * own table is the way that is open to a module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/string.h>
#include <linux/tracepoint.h>

#include "probe.h"

struct search {
	struct gchint_probe *probes;
	unsigned int nr;
};

static void match(struct tracepoint *tp, void *priv)
{
	struct search *search = priv;
	unsigned int i;

	for (i = 0; i < search->nr; i++)
		if (!strcmp(tp->name, search->probes[i].name))
			search->probes[i].tp = tp;
}

/**
 * gchint_probe_find - look up the tracepoints of probes
 * @probes: the probes, @name and @func filled in
 * @nr: their number
 *
 * Return: 0, or -ENOENT if one of them is missing from this kernel.
 */
int gchint_probe_find(struct gchint_probe *probes, unsigned int nr)
{
	struct search search = { .probes = probes, .nr = nr };
	unsigned int i;

	for_each_kernel_tracepoint(match, &search);
	for (i = 0; i < nr; i++) {
		if (!probes[i].tp) {
			pr_err("this kernel has no tracepoint %s\n",
			       probes[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

/**
 * gchint_probe_on - register a probe
 * @probe: a found probe
 *
 * May sleep; takes the CPU hotplug lock. The caller serialises.
 *
 * Return: 0 or a negative errno.
 */
int gchint_probe_on(struct gchint_probe *probe)
{
	int ret;

	if (probe->on)
		return 0;
	ret = tracepoint_probe_register(probe->tp, probe->func, NULL);
	if (!ret)
		probe->on = true;
	return ret;
}

/**
 * gchint_probe_off - unregister a probe
 * @probe: a found probe
 *
 * A call may still be under way: tracepoint_synchronize_unregister() waits
 * for it. May sleep; takes the CPU hotplug lock. The caller serialises.
 *
 * Return: whether it was registered.
 */
bool gchint_probe_off(struct gchint_probe *probe)
{
	if (!probe->on)
		return false;
	tracepoint_probe_unregister(probe->tp, probe->func, NULL);
	probe->on = false;
	return true;
}
