// SPDX-License-Identifier: GPL-2.0-or-later
#include "board.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "../../common/clock.h"
#include "../../recording/schema.h"
#include "../../version.h"

static void board_add_number(struct host *host, const char *key, long long v)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", v);
	host_meta(host, key, text);
}

static void board_describe_model(struct host *host)
{
	char text[256];

	/* The model comes from the device tree, or else from the firmware. */
	if (root_read(text, sizeof(text), "%s/firmware/devicetree/base/model", host->root.sysfs) >
		    0 ||
	    root_read(text, sizeof(text), "%s/class/dmi/id/product_name", host->root.sysfs) > 0)
		host_meta(host, "board.model", text);
	if (root_read(text, sizeof(text), "%s/firmware/devicetree/base/compatible",
		      host->root.sysfs) > 0)
		host_meta(host, "board.compatible", text);
	if (root_read(text, sizeof(text), "%s/devices/system/cpu/possible", host->root.sysfs) > 0)
		host_meta(host, "board.cpus", text);
}

void board_describe(struct host *host)
{
	uint64_t error_ns;
	int64_t offset = clock_map(CLOCK_REALTIME, &error_ns);
	struct utsname u;
	char text[64];

	board_add_number(host, "schema", SCHEMA_VERSION);
	host_meta(host, "program", "gchintd " GCHINTD_VERSION);
	if (*host->config.label)
		host_meta(host, "label", host->config.label);
	if (host->command)
		host_meta(host, "command", host->command);
	board_add_number(host, "start_ns", (long long)clock_now());
	if (!uname(&u)) {
		host_meta(host, "board.host", u.nodename);
		host_meta(host, "board.machine", u.machine);
		host_meta(host, "board.kernel", u.release);
		host_meta(host, "board.kernel_version", u.version);
	}
	if (root_read(text, sizeof(text), "%s/sys/kernel/random/boot_id", host->root.procfs) > 0)
		host_meta(host, "board.boot_id", text);
	board_describe_model(host);
	host_clock(host, "realtime", "CLOCK_REALTIME", offset, error_ns,
		   "monotonic minus realtime at the start; steps of realtime change it later");
	host_clock(host, "recording", "CLOCK_MONOTONIC", 0, 0, "the clock of every instant");
}

void board_end(struct host *host)
{
	board_add_number(host, "end_ns", (long long)clock_now());
}
