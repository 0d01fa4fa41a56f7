// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IIO: power, voltage, current and energy channels. A device with a buffer is
 * captured through it where libiio can (see iio_buffer.c); the others are read
 * from sysfs. Units after scale: mW, mV, mA, J (Documentation/ABI/testing/
 * sysfs-bus-iio).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/text.h"
#include "../source.h"
#include "iio_buffer.h"
#include "rail.h"
#include "scans.h"

static const struct {
	const char *prefix;
	enum rail_kind kind;
	double micro; /* from the unit after scale */
} types[] = {
	{ "in_current", RAIL_CURRENT, 1e3 },
	{ "in_energy", RAIL_ENERGY, 1e6 },
	{ "in_power", RAIL_POWER, 1e3 },
	{ "in_voltage", RAIL_VOLTAGE, 1e3 },
};

struct iio {
	struct source_context *context;
	struct rails *rails;
	struct iio_buffers *buffers;
};

struct device {
	struct rails *rails;
	char dir[256], name[96];
};

static double channel_read_number(const char *dir, const char *stem, const char *what,
				  double otherwise)
{
	char text[64], shared[64];
	size_t n = strcspn(stem, "0123456789");
	int64_t v;

	/* "in_power2_scale" takes precedence over the type's common "in_power_scale". */
	if (root_read(text, sizeof(text), "%s/%s_%s", dir, stem, what) > 0 &&
	    !text_fixed(text, 9, &v))
		return (double)v / 1e9;
	snprintf(shared, sizeof(shared), "%.*s", (int)n, stem);
	if (root_read(text, sizeof(text), "%s/%s_%s", dir, shared, what) > 0 &&
	    !text_fixed(text, 9, &v))
		return (double)v / 1e9;
	return otherwise;
}

static int iio_on_file(void *data, const char *file)
{
	struct device *d = data;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const char *end = strstr(file, "_raw");
		char stem[64], label[64], path[384], name[192];
		double scale = 1, offset = 0;
		bool raw = end && !end[4];

		if (!raw) {
			end = strstr(file, "_input");
			if (!end || end[6])
				continue;
		}
		if (strncmp(file, types[i].prefix, strlen(types[i].prefix)))
			continue;
		snprintf(stem, sizeof(stem), "%.*s", (int)(end - file), file);
		snprintf(path, sizeof(path), "%s/%s", d->dir, file);
		if (raw) {
			scale = channel_read_number(d->dir, stem, "scale", 1);
			offset = channel_read_number(d->dir, stem, "offset", 0);
		}
		if (root_read(label, sizeof(label), "%s/%s_label", d->dir, stem) <= 0)
			label[0] = '\0';
		snprintf(name, sizeof(name), "%s:%s", d->name, stem + strlen("in_"));
		rails_add(d->rails, &(struct rail_desc){
					    .name = name,
					    .label = *label ? label : NULL,
					    .kind = types[i].kind,
					    .path = path,
					    .scale = scale * types[i].micro,
					    .offset = (int64_t)offset,
				    });
		return 0;
	}
	return 0;
}

static int on_device(void *data, const char *entry)
{
	struct rails *rails = data;
	const struct source_context *context = rails_context(rails);
	struct device d = { .rails = rails };

	if (iio_buffers_has(context->iio_buffers, entry))
		return 0;
	snprintf(d.dir, sizeof(d.dir), "%.100s/bus/iio/devices/%.64s", context->root.sysfs, entry);
	iio_device_name(context->root.sysfs, entry, d.name, sizeof(d.name));
	root_list(d.dir, "in_", iio_on_file, &d);
	return 0;
}

void iio_scan(struct rails *rails)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/bus/iio/devices", rails_context(rails)->root.sysfs);
	root_list(dir, "iio:device", on_device, rails);
}

static int iio_probe(const struct source_context *context, struct probe *p)
{
	struct rails_count n = rails_count(context, iio_scan);

	if (!n.channels)
		return probe_absent(p, -ENODEV, "", "no power, energy, current or voltage channel");
	return probe_found(p, "%u channels on %u devices", n.channels, n.devices);
}

/* Clears the context's pointer, too: the next probe, after a reload, uses it. */
static void iio_free(struct iio *iio)
{
	iio->context->iio_buffers = NULL;
	iio_buffers_stop(iio->buffers);
	free(iio);
}

static void iio_stop(void *state)
{
	struct iio *iio = state;

	rails_stop(iio->rails);
	iio_free(iio);
}

static int iio_start(struct source_context *context, void **state)
{
	struct iio *iio = calloc(1, sizeof(*iio));

	if (!iio)
		return -ENOMEM;
	iio->context = context;
	/* Buffers first: sysfs reads of a captured device fail with EBUSY. */
	iio->buffers = context->config.iio_buffered ? iio_buffers_start(context) : NULL;
	context->iio_buffers = iio->buffers;
	iio->rails = rails_start(context, SOURCE_iio, iio_scan);
	if (!iio->rails) {
		iio_free(iio);
		return -ENOMEM;
	}
	*state = iio;
	return 0;
}

const struct source source_iio = { iio_probe, iio_start, iio_stop };
