// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU hotplug: the kernel's uevents tell when, the "online" list tells what.
 * Where uevents cannot be had the list is polled.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/text.h"
#include "source.h"

#define CPUS 512

struct hotplug {
	struct host *host;
	struct watch *timer, *watch;
	int fd;
	bool known;
	uint8_t online[CPUS];
};

static void look(struct hotplug *h)
{
	struct record r = { .t = clock_now(), .type = RECORD_HOTPLUG };
	uint8_t now[CPUS];
	char text[1024];

	if (root_read(text, sizeof(text), "%s/devices/system/cpu/online", h->host->root.sysfs) <=
		    0 ||
	    text_cpulist(text, now, CPUS) <= 0)
		return;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		if (h->known ? now[cpu] == h->online[cpu] : !now[cpu])
			continue;
		r.hotplug = (struct record_hotplug){ cpu, now[cpu] };
		host_record(h->host, &r);
	}
	memcpy(h->online, now, CPUS);
	h->known = true;
}

static void on_timer(void *data, uint32_t events)
{
	(void)events;
	look(data);
}

static void on_uevent(void *data, uint32_t events)
{
	struct hotplug *h = data;
	bool cpu = false;
	char buf[4096];
	ssize_t n;

	(void)events;
	while ((n = recv(h->fd, buf, sizeof(buf) - 1, MSG_DONTWAIT)) > 0) {
		buf[n] = '\0';
		/* "offline@/devices/system/cpu/cpu1" and more strings after it. */
		cpu = cpu || strstr(buf, "@/devices/system/cpu/cpu");
	}
	if (cpu)
		look(h);
}

static void stop(void *state)
{
	struct hotplug *h = state;

	look(h);
	watch_free(h->timer);
	watch_free(h->watch);
	if (h->fd >= 0)
		close(h->fd);
	free(h);
}

static int start(struct host *host, void **state)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	struct hotplug *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->host = host;
	h->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (h->fd >= 0 && !bind(h->fd, (struct sockaddr *)&addr, sizeof(addr)))
		h->watch = loop_fd(host->loop, h->fd, EPOLLIN, on_uevent, h);
	h->timer = loop_timer(host->loop,
			      host->config.source[SOURCE_hotplug].period_ms * NSEC_PER_MSEC,
			      on_timer, h);
	if (!h->timer) {
		watch_free(h->watch);
		if (h->fd >= 0)
			close(h->fd);
		free(h);
		return -ENOMEM;
	}
	look(h);
	host_clock(host, "hotplug", "CLOCK_MONOTONIC", 0,
		   h->watch ? NSEC_PER_MSEC :
			      host->config.source[SOURCE_hotplug].period_ms * NSEC_PER_MSEC,
		   h->watch ? "at the kernel's uevent, after the fact" : "polled");
	*state = h;
	return 0;
}

static int probe(const struct host *host, struct probe *p)
{
	char text[256];

	if (root_read(text, sizeof(text), "%s/devices/system/cpu/online", host->root.sysfs) <= 0)
		return probe_absent(p, -ENODEV, "", "no list of online CPUs");
	return probe_found(p, "CPUs %s online", text);
}

const struct source source_hotplug = { probe, start, stop };
