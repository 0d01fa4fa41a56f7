// SPDX-License-Identifier: GPL-2.0-or-later
#include "iio_buffer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <syslog.h>

#include "../../common/clock.h"
#include "rail.h"

void iio_device_name(const char *sysfs, const char *entry, char *buf, size_t size)
{
	char name[48];

	if (root_read(name, sizeof(name), "%s/bus/iio/devices/%s/name", sysfs, entry) <= 0)
		snprintf(name, sizeof(name), "iio");
	snprintf(buf, size, "%s-%s", name, entry + strcspn(entry, "0123456789"));
}

#ifdef HAVE_IIO
#include <iio.h>

#define DEVICES	 16
#define CHANNELS 8
/* Upper limit of the samples that the kernel gathers before it wakes us. */
#define SAMPLES_MAX 256

struct channel {
	struct iio_channel *chn;
	int rail;
	double scale, offset; /* to micro-units */
};

struct capture {
	struct source_context *context;
	struct iio_device *dev;
	struct iio_buffer *buffer;
	struct iio_channel *stamp;
	struct watch *watch;
	struct channel channel[CHANNELS];
	unsigned int nr;
	char name[96];
};

struct iio_buffers {
	struct iio_context *ctx;
	struct capture *capture[DEVICES];
	unsigned int nr;
};

static double channel_read_attr(struct iio_channel *chn, const char *name, double otherwise)
{
	double v;

	return iio_channel_attr_read_double(chn, name, &v) ? otherwise : v;
}

static bool channel_classify(const struct iio_channel *chn, enum rail_kind *kind, double *micro)
{
	switch (iio_channel_get_type(chn)) {
	case IIO_CURRENT:
		*kind = RAIL_CURRENT;
		*micro = 1e3;
		return true;
	case IIO_ENERGY:
		*kind = RAIL_ENERGY;
		*micro = 1e6;
		return true;
	case IIO_POWER:
		*kind = RAIL_POWER;
		*micro = 1e3;
		return true;
	case IIO_VOLTAGE:
		*kind = RAIL_VOLTAGE;
		*micro = 1e3;
		return true;
	default:
		return false;
	}
}

static void capture_free(struct capture *c)
{
	watch_free(c->watch);
	if (c->buffer)
		iio_buffer_destroy(c->buffer);
	free(c);
}

static void on_ready(void *data, uint32_t events)
{
	struct capture *c = data;
	ssize_t n = iio_buffer_refill(c->buffer);
	char *end;
	ptrdiff_t step;

	(void)events;
	if (n == -EAGAIN)
		return;
	if (n < 0) {
		context_note(c->context, LOG_WARNING, "iio",
			     "%s: buffer: %s: its values are unknown "
			     "from here",
			     c->name, strerror((int)-n));
		for (unsigned int i = 0; i < c->nr; i++) {
			const struct record r = {
				.t = clock_now(),
				.type = RECORD_SAMPLE,
				.sample = { .value = UNKNOWN_S64,
					    .rail = (uint32_t)c->channel[i].rail,
					    .error_ns = 0 },
			};

			context_record(c->context, &r);
		}
		watch_free(c->watch);
		c->watch = NULL;
		return;
	}
	step = iio_buffer_step(c->buffer);
	end = iio_buffer_end(c->buffer);
	for (char *p = iio_buffer_start(c->buffer); p < end; p += step) {
		int64_t t = 0;

		iio_channel_convert(c->stamp, &t,
				    (char *)iio_buffer_first(c->buffer, c->stamp) +
					    (p - (char *)iio_buffer_start(c->buffer)));
		for (unsigned int i = 0; i < c->nr; i++) {
			const struct channel *ch = &c->channel[i];
			const char *at = (char *)iio_buffer_first(c->buffer, ch->chn) +
					 (p - (char *)iio_buffer_start(c->buffer));
			struct record r = { .t = (uint64_t)t, .type = RECORD_SAMPLE };
			const struct iio_data_format *f = iio_channel_get_data_format(ch->chn);
			int64_t raw = 0;

			iio_channel_convert(ch->chn, &raw, at);
			/* libiio fills only the width of the storage; extend the sign by hand. */
			if (f->is_signed && f->length && f->length < 64)
				raw = (int64_t)((uint64_t)raw << (64 - f->length)) >>
				      (64 - f->length);
			r.sample = (struct record_sample){
				.value = llround(((double)raw + ch->offset) * ch->scale),
				.rail = (uint32_t)ch->rail,
				.error_ns = 1000
			};
			context_record(c->context, &r);
		}
	}
}

/* The default clock of the kernel's time stamps is CLOCK_REALTIME. */
static int device_set_monotonic(struct iio_device *dev)
{
	ssize_t n = iio_device_attr_write(dev, "current_timestamp_clock", "monotonic\n");

	return n < 0 ? (int)n : 0;
}

static size_t device_buffer_samples(struct iio_device *dev, const struct source_context *context)
{
	double hz, period = context->config.source[SOURCE_iio].period_ms / 1000.0;

	if (iio_device_attr_read_double(dev, "in_sampling_frequency", &hz) &&
	    iio_device_attr_read_double(dev, "sampling_frequency", &hz))
		hz = 100;
	/* Wake up about once a period. */
	hz = hz * (period < 0.1 ? 0.1 : period);
	return hz < 1 ? 1 : hz > SAMPLES_MAX ? SAMPLES_MAX : (size_t)hz;
}

static struct capture *capture_start(struct source_context *context, struct iio_device *dev)
{
	struct capture *c = calloc(1, sizeof(*c));
	int fd;

	if (!c)
		return NULL;
	c->context = context;
	c->dev = dev;
	iio_device_name(context->root.sysfs, iio_device_get_id(dev), c->name, sizeof(c->name));
	for (unsigned int i = 0; i < iio_device_get_channels_count(dev); i++) {
		struct iio_channel *chn = iio_device_get_channel(dev, i);
		struct channel *ch = &c->channel[c->nr];
		enum rail_kind kind;
		char name[192];

		iio_channel_disable(chn);
		if (iio_channel_is_output(chn) || !iio_channel_is_scan_element(chn))
			continue;
		if (iio_channel_get_type(chn) == IIO_TIMESTAMP) {
			c->stamp = chn;
			iio_channel_enable(chn);
			continue;
		}
		if (c->nr == CHANNELS || !channel_classify(chn, &kind, &ch->scale))
			continue;
		ch->chn = chn;
		ch->scale *= channel_read_attr(chn, "scale", 1);
		ch->offset = channel_read_attr(chn, "offset", 0);
		snprintf(name, sizeof(name), "%s:%s", c->name, iio_channel_get_id(chn));
		ch->rail =
			rails_define(context, SOURCE_iio,
				     &(struct rail_desc){
					     .name = name,
					     .label = iio_channel_get_name(chn),
					     .kind = kind,
					     .path = iio_device_get_id(dev),
					     .derived = "buffered capture",
				     },
				     context->config.source[SOURCE_iio].period_ms * NSEC_PER_MSEC);
		if (ch->rail < 0)
			continue;
		iio_channel_enable(chn);
		c->nr++;
	}
	if (!c->nr || !c->stamp || device_set_monotonic(dev))
		goto free_it;
	c->buffer = iio_device_create_buffer(dev, device_buffer_samples(dev, context), false);
	if (!c->buffer)
		goto free_it; /* needs a trigger, or permission */
	iio_buffer_set_blocking_mode(c->buffer, false);
	fd = iio_buffer_get_poll_fd(c->buffer);
	if (fd < 0)
		goto free_it;
	c->watch = loop_fd(context->loop, fd, EPOLLIN, on_ready, c);
	if (!c->watch)
		goto free_it;
	context_note(context, LOG_INFO, "iio", "%s: %u channels captured through its buffer",
		     c->name, c->nr);
	return c;

free_it:
	capture_free(c);
	return NULL;
}

struct iio_buffers *iio_buffers_start(struct source_context *context)
{
	struct iio_buffers *b;

	/* libiio knows only the machine's own /sys. */
	if (strcmp(context->root.sysfs, "/sys"))
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->ctx = iio_create_local_context();
	for (unsigned int i = 0; b->ctx && i < iio_context_get_devices_count(b->ctx); i++) {
		struct capture *c;

		if (b->nr == DEVICES)
			break;
		c = capture_start(context, iio_context_get_device(b->ctx, i));
		if (c)
			b->capture[b->nr++] = c;
	}
	if (!b->nr) {
		iio_buffers_stop(b);
		return NULL;
	}
	context_clock(context, "iio_buffer", "CLOCK_MONOTONIC", 0, NSEC_PER_USEC,
		      "stamped by the kernel at the conversion's end");
	return b;
}

void iio_buffers_stop(struct iio_buffers *b)
{
	if (!b)
		return;
	for (unsigned int i = 0; i < b->nr; i++)
		capture_free(b->capture[i]);
	if (b->ctx)
		iio_context_destroy(b->ctx);
	free(b);
}

bool iio_buffers_has(const struct iio_buffers *b, const char *entry)
{
	for (unsigned int i = 0; b && i < b->nr; i++)
		if (!strcmp(iio_device_get_id(b->capture[i]->dev), entry))
			return true;
	return false;
}

#else

struct iio_buffers *iio_buffers_start(struct source_context *context)
{
	(void)context;
	return NULL;
}

void iio_buffers_stop(struct iio_buffers *b)
{
	(void)b;
}

bool iio_buffers_has(const struct iio_buffers *b, const char *entry)
{
	(void)b;
	(void)entry;
	return false;
}

#endif
