// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU hotplug: a uevent of the kernel says when to read the "online" list, and the list
 * which CPUs changed. Without uevents the list is polled.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/text.h"
#include "../source.h"

#ifdef HAVE_UDEV
#include <libudev.h>
#endif

struct hotplug {
	struct source_context *context;
	struct watch *timer, *watch;
	struct udev_monitor *monitor; /* NULL: polled */
	bool known;
	uint8_t online[CPUS_MAX];
};

static void hotplug_sample(struct hotplug *h)
{
	struct record r = { .t = clock_now(), .type = RECORD_HOTPLUG };
	uint8_t now[CPUS_MAX];
	char text[CPUS_TEXT];

	root_read(text, sizeof(text), "%s/devices/system/cpu/online", h->context->root.sysfs);
	if (text_cpulist(text, now, CPUS_MAX) <= 0)
		return;
	for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (h->known ? now[cpu] == h->online[cpu] : !now[cpu])
			continue;
		r.hotplug = (struct record_hotplug){ .cpu = cpu, .online = now[cpu] };
		context_record(h->context, &r);
	}
	memcpy(h->online, now, CPUS_MAX);
	h->known = true;
}

static void hotplug_on_timer(void *data, uint32_t events)
{
	(void)events;
	hotplug_sample(data);
}

#ifdef HAVE_UDEV
static void on_uevent(void *data, uint32_t events)
{
	struct hotplug *h = data;
	struct udev_device *device;
	bool any = false;

	(void)events;
	while ((device = udev_monitor_receive_device(h->monitor))) {
		udev_device_unref(device);
		any = true;
	}
	if (any)
		hotplug_sample(h);
}

/* Uses the kernel's own group: it needs no udevd and has none of its delay. */
static void uevents_start(struct hotplug *h)
{
	struct udev *udev = udev_new();

	h->monitor = udev ? udev_monitor_new_from_netlink(udev, "kernel") : NULL;
	udev_unref(udev);
	if (h->monitor &&
	    udev_monitor_filter_add_match_subsystem_devtype(h->monitor, "cpu", NULL) >= 0 &&
	    udev_monitor_enable_receiving(h->monitor) >= 0)
		h->watch = loop_fd(h->context->loop, udev_monitor_get_fd(h->monitor), EPOLLIN,
				   on_uevent, h);
}

static void uevents_stop(struct hotplug *h)
{
	watch_free(h->watch);
	udev_monitor_unref(h->monitor);
}
#else
static void uevents_start(struct hotplug *h)
{
	(void)h;
}

static void uevents_stop(struct hotplug *h)
{
	(void)h;
}
#endif

static void hotplug_stop(void *state)
{
	struct hotplug *h = state;

	hotplug_sample(h);
	watch_free(h->timer);
	uevents_stop(h);
	free(h);
}

static int hotplug_start(struct source_context *context, void **state)
{
	struct hotplug *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->context = context;
	uevents_start(h);
	h->timer = loop_timer(context->loop,
			      context->config.source[SOURCE_hotplug].period_ms * NSEC_PER_MSEC,
			      hotplug_on_timer, h);
	if (!h->timer) {
		uevents_stop(h);
		free(h);
		return -ENOMEM;
	}
	hotplug_sample(h);
	context_clock(context, "hotplug", "CLOCK_MONOTONIC", 0,
		      h->watch ? NSEC_PER_MSEC :
				 context->config.source[SOURCE_hotplug].period_ms * NSEC_PER_MSEC,
		      h->watch ? "at the kernel's uevent, after the fact" : "polled");
	*state = h;
	return 0;
}

static int hotplug_probe(const struct source_context *context, struct probe *p)
{
	char text[256];

	if (root_read(text, sizeof(text), "%s/devices/system/cpu/online", context->root.sysfs) <= 0)
		return probe_absent(p, -ENODEV, "", "no list of online CPUs");
	return probe_found(p, "CPUs %s online", text);
}

const struct source source_hotplug = { hotplug_probe, hotplug_start, hotplug_stop };
