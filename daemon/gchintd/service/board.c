// SPDX-License-Identifier: GPL-2.0-or-later
#include "board.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "../../common/clock.h"
#include "../../recording/schema.h"
#include "../../version.h"

static void board_add_number(struct source_context *context, const char *key, long long v)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", v);
	context_meta(context, key, text);
}

static void board_describe_model(struct source_context *context)
{
	char text[256];

	/* The model comes from the device tree, or else from the firmware. */
	if (root_read(text, sizeof(text), "%s/firmware/devicetree/base/model",
		      context->root.sysfs) > 0 ||
	    root_read(text, sizeof(text), "%s/class/dmi/id/product_name", context->root.sysfs) > 0)
		context_meta(context, "board.model", text);
	if (root_read(text, sizeof(text), "%s/firmware/devicetree/base/compatible",
		      context->root.sysfs) > 0)
		context_meta(context, "board.compatible", text);
	if (root_read(text, sizeof(text), "%s/devices/system/cpu/possible", context->root.sysfs) >
	    0)
		context_meta(context, "board.cpus", text);
}

void board_describe(struct source_context *context)
{
	uint64_t error_ns;
	int64_t offset = clock_map(CLOCK_REALTIME, &error_ns);
	struct utsname u;
	char text[64];

	board_add_number(context, "schema", SCHEMA_VERSION);
	context_meta(context, "program", "gchintd " GCHINTD_VERSION);
	if (*context->config.label)
		context_meta(context, "label", context->config.label);
	if (context->command)
		context_meta(context, "command", context->command);
	board_add_number(context, "start_ns", (long long)clock_now());
	if (!uname(&u)) {
		context_meta(context, "board.host", u.nodename);
		context_meta(context, "board.machine", u.machine);
		context_meta(context, "board.kernel", u.release);
		context_meta(context, "board.kernel_version", u.version);
	}
	if (root_read(text, sizeof(text), "%s/sys/kernel/random/boot_id", context->root.procfs) > 0)
		context_meta(context, "board.boot_id", text);
	board_describe_model(context);
	context_clock(context, "realtime", "CLOCK_REALTIME", offset, error_ns,
		      "monotonic minus realtime at the start; steps of realtime change it later");
	context_clock(context, "recording", "CLOCK_MONOTONIC", 0, 0, "the clock of every instant");
}

void board_end(struct source_context *context)
{
	board_add_number(context, "end_ns", (long long)clock_now());
}
