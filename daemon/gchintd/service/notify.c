// SPDX-License-Identifier: GPL-2.0-or-later
#include "notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "../../common/clock.h"

static int (*is_healthy)(void *data);
static void *health_data;

void notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void notify_reloading(void)
{
	char state[64];

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)(clock_now() / NSEC_PER_USEC));
	sd_notify(0, state);
}

void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void notify_status(const char *fmt, ...)
{
	char status[256] = "STATUS=";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(status + 7, sizeof(status) - 7, fmt, ap);
	va_end(ap);
	sd_notify(0, status);
}

/* A main loop that still runs must not hide a writer thread that hangs. */
static void watchdog_feed(void *data, uint32_t events)
{
	(void)data;
	(void)events;
	if (is_healthy(health_data))
		sd_notify(0, "WATCHDOG=1");
}

int notify_watchdog(struct loop *loop, int (*healthy)(void *data), void *data)
{
	uint64_t usec;

	if (sd_watchdog_enabled(0, &usec) <= 0)
		return 0;
	is_healthy = healthy;
	health_data = data;
	return loop_timer(loop, usec * NSEC_PER_USEC / 2, watchdog_feed, NULL) ? 0 : -ENOMEM;
}
