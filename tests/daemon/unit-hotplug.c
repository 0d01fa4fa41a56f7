// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: CPUs that go offline and come back, by the kernel's uevents and its list. The calls
 * of libudev are replaced.
 */
#include "unit.h"

#if __has_include(<libudev.h>)
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/context.h"
#include "../../daemon/source/source.h"
#include "records.h"

/* Only their addresses matter. */
static char udev_context, monitor, device;
static int refused; /* the call that fails, from 1 */
static int uevents, held, fd = -1;
static char asked[64];

#define OF(it) ((void *)&(it))

struct udev *udev_new(void)
{
	held += refused != 1;
	return refused == 1 ? NULL : OF(udev_context);
}

struct udev *udev_unref(struct udev *udev)
{
	held -= !!udev;
	return NULL;
}

struct udev_monitor *udev_monitor_new_from_netlink(struct udev *udev, const char *name)
{
	snprintf(asked, sizeof(asked), "%d %s", udev == OF(udev_context), name);
	held += refused != 2;
	return refused == 2 ? NULL : OF(monitor);
}

struct udev_monitor *udev_monitor_unref(struct udev_monitor *m)
{
	held -= !!m;
	return NULL;
}

int udev_monitor_filter_add_match_subsystem_devtype(struct udev_monitor *m, const char *subsystem,
						    const char *type)
{
	(void)m;
	snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), " %s%s", subsystem,
		 type ? type : "");
	return refused == 3 ? -EINVAL : 0;
}

int udev_monitor_enable_receiving(struct udev_monitor *m)
{
	(void)m;
	return refused == 4 ? -EPERM : 0;
}

int udev_monitor_get_fd(struct udev_monitor *m)
{
	(void)m;
	return fd;
}

struct udev_device *udev_monitor_receive_device(struct udev_monitor *m)
{
	(void)m;
	if (!uevents)
		return NULL;
	uevents--;
	held++;
	return OF(device);
}

struct udev_device *udev_device_unref(struct udev_device *d)
{
	held -= !!d;
	return NULL;
}

static void list_write(const char *dir, const char *list)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/online", dir);
	f = fopen(path, "w");
	if (f) {
		fputs(list, f);
		fclose(f);
	}
}

static void uevents_check(struct source_context *context, const char *dir)
{
	const struct source *hotplug = source_table[SOURCE_hotplug];
	struct watched *uevent = watched_at(0), *timer = watched_at(1);
	void *state = NULL;

	list_write(dir, "0-2,8191\n");
	watched_forget();
	CHECK(!hotplug->start(context, &state) && watched_count() == 2 && uevent->fd == fd &&
		      uevent->events == EPOLLIN && timer->period_ns == 700000000,
	      "uevents and a timer are watched");
	text_is(asked, "1 kernel cpu", "the kernel's uevents of CPUs are monitored");
	records_are(
		context->queue,
		"cpu 0 on\n"
		"cpu 1 on\n"
		"cpu 2 on\n"
		"cpu 8191 on\n"
		"clock 0 1000000 'hotplug' 'CLOCK_MONOTONIC' 'at the kernel's uevent, after the "
		"fact'\n",
		"the initial CPUs are recorded");
	list_write(dir, "0,2-3\n");
	uevent->fn(uevent->data, EPOLLIN);
	records_are(context->queue, "", "without a uevent nothing is read");
	uevents = 2;
	uevent->fn(uevent->data, EPOLLIN);
	records_are(context->queue,
		    "cpu 1 off\n"
		    "cpu 3 on\n"
		    "cpu 8191 off\n",
		    "changes after a uevent are recorded once");
	list_write(dir, "what");
	timer->fn(timer->data, 0);
	list_write(dir, "");
	timer->fn(timer->data, 0);
	records_are(context->queue, "", "a malformed list changes nothing");
	list_write(dir, "0-3\n");
	timer->fn(timer->data, 0);
	records_are(context->queue, "cpu 1 on\n", "the timer reads the list without uevents");
	list_write(dir, "0\n");
	hotplug->stop(state);
	records_are(context->queue,
		    "cpu 1 off\n"
		    "cpu 2 off\n"
		    "cpu 3 off\n",
		    "the list is read at the end");
	CHECK(!held && !uevents, "libudev's objects are freed");
	for (refused = 1; refused <= 4; refused++) {
		watched_forget();
		if (hotplug->start(context, &state))
			break;
		CHECK(watched_count() == 1 && watched_at(0)->fd < 0,
		      "without uevents the list is polled");
		hotplug->stop(state);
		records_are(context->queue,
			    "cpu 0 on\n"
			    "clock 0 700000000 'hotplug' 'CLOCK_MONOTONIC' 'polled'\n",
			    "polling is recorded as such");
	}
	CHECK(refused == 5 && !held, "any failure of libudev falls back to polling");
	refused = 0;
}

static void probe_check(const struct source_context *context, const char *dir)
{
	char text[512] = "";

	for (int i = 0; i < 3; i++) {
		struct probe p = { "", "" };
		const size_t at = strlen(text);
		int ret;

		list_write(dir, i == 1 ? "" : "0-7\n");
		if (i == 2) {
			struct source_context other = *context;

			other.root.sysfs = "/absent";
			ret = source_table[SOURCE_hotplug]->probe(&other, &p);
		} else {
			ret = source_table[SOURCE_hotplug]->probe(context, &p);
		}
		snprintf(text + at, sizeof(text) - at, "%d '%s' '%s'\n", ret, p.what, p.remedy);
	}
	text_is(text,
		"0 'CPUs 0-7 online' ''\n"
		"-19 'no list of online CPUs' ''\n"
		"-19 'no list of online CPUs' ''\n",
		"the online CPUs are found");
}

void unit_hotplug(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX", command[120];
	struct source_context context = { .root = { dir, "/absent", "/absent", "/absent",
						    "/absent" } };

	if (!mkdtemp(dir)) {
		CHECK(false, "a temporary directory");
		return;
	}
	snprintf(command, sizeof(command), "mkdir -p '%s/devices/system/cpu'", dir);
	fd = eventfd(0, EFD_CLOEXEC);
	context.loop = loop_new();
	context.queue = queue_new(4096);
	config_defaults(&context.config);
	context.config.source[SOURCE_hotplug].period_ms = 700;
	if (!system(command)) {
		probe_check(&context, dir);
		uevents_check(&context, dir);
	}
	watched_forget();
	queue_free(context.queue);
	loop_free(context.loop);
	close(fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		printf("# %s is left\n", dir);
}

#else

void unit_hotplug(void)
{
}
#endif
