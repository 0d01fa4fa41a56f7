// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: captures of IIO devices through their buffers. libiio's calls are replaced: a
 * machine whose devices are defined below.
 */
#include "unit.h"

#if __has_include(<iio.h>)
#include <iio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/context.h"
#include "../../daemon/source/sensor/iio_buffer.h"
#include "../../daemon/source/sensor/rail.h"
#include "place.h"
#include "records.h"

#define DEVICES 24
/* Number of the first: no machine has so many of its own. */
#define FIRST	 9900
#define CHANNELS 12
#define STEP	 32
/* Offset of the time stamp in a sample. */
#define STAMP 24

struct iio_channel {
	const char *id, *name;
	enum iio_chan_type type;
	bool output, unscanned;
	bool enabled;
	double scale, offset; /* 0: without this file */
	ptrdiff_t at;
	struct iio_data_format format;
};

struct iio_buffer {
	struct iio_device *dev;
	char data[4 * STEP];
};

struct iio_device {
	char id[16];
	struct iio_channel channel[CHANNELS];
	unsigned int nr;
	double in_hz, hz; /* 0: without this file */
	bool unstamped, unbuffered, unpolled;
	struct iio_buffer buffer;
	ssize_t refill; /* returned by the next call */
	size_t samples;
	int fd;
	bool cyclic, blocking, open;
	char stamp[16];
};

struct iio_context {
	struct iio_device dev[DEVICES];
	unsigned int nr;
	bool open;
};

static struct iio_context machine;
static bool none; /* libiio finds no machine */

struct iio_buffers *__real_iio_buffers_start(struct source_context *context);
void __real_iio_buffers_stop(struct iio_buffers *b);

struct iio_context *iio_create_local_context(void)
{
	machine.open = !none;
	return none ? NULL : &machine;
}

void iio_context_destroy(struct iio_context *ctx)
{
	ctx->open = false;
}

unsigned int iio_context_get_devices_count(const struct iio_context *ctx)
{
	return ctx->nr;
}

struct iio_device *iio_context_get_device(const struct iio_context *ctx, unsigned int index)
{
	return (struct iio_device *)&ctx->dev[index];
}

const char *iio_device_get_id(const struct iio_device *dev)
{
	return dev->id;
}

unsigned int iio_device_get_channels_count(const struct iio_device *dev)
{
	return dev->nr;
}

struct iio_channel *iio_device_get_channel(const struct iio_device *dev, unsigned int index)
{
	return (struct iio_channel *)&dev->channel[index];
}

int iio_device_attr_read_double(const struct iio_device *dev, const char *attr, double *val)
{
	*val = !strcmp(attr, "in_sampling_frequency") ? dev->in_hz :
	       !strcmp(attr, "sampling_frequency")    ? dev->hz :
							0;
	return *val ? 0 : -ENOENT;
}

ssize_t iio_device_attr_write(const struct iio_device *dev, const char *attr, const char *src)
{
	if (dev->unstamped || strcmp(attr, "current_timestamp_clock"))
		return -ENOENT;
	snprintf(((struct iio_device *)dev)->stamp, sizeof(dev->stamp), "%s", src);
	return (ssize_t)strlen(src);
}

struct iio_buffer *iio_device_create_buffer(const struct iio_device *dev, size_t samples,
					    bool cyclic)
{
	struct iio_device *d = (struct iio_device *)dev;

	if (d->unbuffered)
		return NULL;
	d->buffer.dev = d;
	d->samples = samples;
	d->cyclic = cyclic;
	d->blocking = true;
	d->open = true;
	return &d->buffer;
}

void iio_buffer_destroy(struct iio_buffer *buf)
{
	if (!buf->dev->unpolled)
		close(buf->dev->fd);
	buf->dev->open = false;
}

int iio_buffer_set_blocking_mode(struct iio_buffer *buf, bool blocking)
{
	buf->dev->blocking = blocking;
	return 0;
}

int iio_buffer_get_poll_fd(struct iio_buffer *buf)
{
	if (buf->dev->unpolled)
		return -EBADF;
	buf->dev->fd = eventfd(0, EFD_CLOEXEC);
	return buf->dev->fd;
}

ssize_t iio_buffer_refill(struct iio_buffer *buf)
{
	return buf->dev->refill;
}

void *iio_buffer_start(const struct iio_buffer *buf)
{
	return (void *)buf->data;
}

ptrdiff_t iio_buffer_step(const struct iio_buffer *buf)
{
	(void)buf;
	return STEP;
}

void *iio_buffer_end(const struct iio_buffer *buf)
{
	return (char *)buf->data + buf->dev->refill;
}

void *iio_buffer_first(const struct iio_buffer *buf, const struct iio_channel *chn)
{
	return (char *)buf->data + chn->at;
}

const char *iio_channel_get_id(const struct iio_channel *chn)
{
	return chn->id;
}

const char *iio_channel_get_name(const struct iio_channel *chn)
{
	return chn->name;
}

enum iio_chan_type iio_channel_get_type(const struct iio_channel *chn)
{
	return chn->type;
}

bool iio_channel_is_output(const struct iio_channel *chn)
{
	return chn->output;
}

bool iio_channel_is_scan_element(const struct iio_channel *chn)
{
	return !chn->unscanned;
}

void iio_channel_enable(struct iio_channel *chn)
{
	chn->enabled = true;
}

void iio_channel_disable(struct iio_channel *chn)
{
	chn->enabled = false;
}

int iio_channel_attr_read_double(const struct iio_channel *chn, const char *attr, double *val)
{
	*val = !strcmp(attr, "scale") ? chn->scale : !strcmp(attr, "offset") ? chn->offset : 0;
	return *val ? 0 : -ENOENT;
}

const struct iio_data_format *iio_channel_get_data_format(const struct iio_channel *chn)
{
	return &chn->format;
}

void iio_channel_convert(const struct iio_channel *chn, void *dst, const void *src)
{
	memcpy(dst, src, chn->format.length / 8);
}

/* A device with a time stamp, and no channel yet. */
static struct iio_device *device_add(void)
{
	struct iio_device *d = &machine.dev[machine.nr];

	snprintf(d->id, sizeof(d->id), "iio:device%u", FIRST + machine.nr++);
	d->channel[d->nr++] = (struct iio_channel){
		.id = "timestamp", .type = IIO_TIMESTAMP, .at = STAMP, .format = { .length = 64 }
	};
	return d;
}

static struct iio_channel *channel_add(struct iio_device *d, const char *id,
				       enum iio_chan_type type)
{
	d->channel[d->nr] = (struct iio_channel){ .id = id,
						  .type = type,
						  .enabled = true,
						  .format = { .length = 32, .is_signed = true } };
	return &d->channel[d->nr++];
}

/* A sample in the buffer of a device: its channels' values as stored. */
static void sample_store(struct iio_device *d, int i, int64_t t, int32_t a, int32_t b, int64_t c)
{
	char *at = d->buffer.data + i * STEP;

	memcpy(at, &a, sizeof(a));
	memcpy(at + 4, &b, sizeof(b));
	memcpy(at + 8, &c, sizeof(c));
	memcpy(at + STAMP, &t, sizeof(t));
	d->refill = (i + 1) * STEP;
}

static void fill_machine(void)
{
	struct iio_channel *c;
	struct iio_device *d;

	memset(&machine, 0, sizeof(machine));
	/* 0: every channel type, and unknown ones. */
	d = device_add();
	d->in_hz = 1000;
	channel_add(d, "temp", IIO_TEMP);
	channel_add(d, "voltage9", IIO_VOLTAGE)->output = true;
	channel_add(d, "voltage8", IIO_VOLTAGE)->unscanned = true;
	c = channel_add(d, "voltage0", IIO_VOLTAGE);
	c->name = "vdd";
	c->scale = 1.25;
	c->offset = -8;
	c->format.length = 16;
	channel_add(d, "current4", IIO_CURRENT)->scale = 1;
	c = channel_add(d, "power1", IIO_POWER);
	c->at = 4;
	c->scale = 25;
	c->format.is_signed = false;
	c = channel_add(d, "energy2", IIO_ENERGY);
	c->at = 8;
	c->format.length = 64;
	c = channel_add(d, "current3", IIO_CURRENT);
	c->at = 4;
	c->scale = .5;
	/*
	 * 1 to 4: without a time stamp, with that of another clock, without a buffer, a descriptor.
	 */
	d = device_add();
	d->nr = 0;
	channel_add(d, "voltage0", IIO_VOLTAGE);
	d = device_add();
	channel_add(d, "voltage0", IIO_VOLTAGE);
	d->unstamped = true;
	d = device_add();
	channel_add(d, "voltage0", IIO_VOLTAGE);
	d->unbuffered = true;
	d = device_add();
	channel_add(d, "voltage0", IIO_VOLTAGE);
	d->unpolled = true;
	/* 5: without a channel to capture. */
	d = device_add();
	channel_add(d, "temp", IIO_TEMP);
	/* 6: more channels than the maximum. */
	d = device_add();
	d->hz = 5;
	for (int i = 0; i < 9; i++)
		channel_add(d, "voltage", IIO_VOLTAGE);
	/* And more devices. */
	while (machine.nr < DEVICES) {
		d = device_add();
		channel_add(d, "power1", IIO_POWER);
		d->hz = machine.nr % 2 ? 1e6 : 0;
	}
}

static void samples_check(struct source_context *context)
{
	const struct watched *w = watched_at(0);
	struct iio_device *d = machine.dev;

	sample_store(d, 0, 1000, 800 << 8 | 0xff, 40, 7);
	sample_store(d, 1, 2000, 0xfff0, -1, -7);
	w->fn(w->data, EPOLLIN);
	records_are(context->queue,
		    "sample 1000: rail 1 10548750 +- 1000\n"
		    "sample 1000: rail 2 1000000 +- 1000\n"
		    "sample 1000: rail 3 7000000 +- 1000\n"
		    "sample 1000: rail 4 20000 +- 1000\n"
		    "sample 2000: rail 1 -30000 +- 1000\n"
		    "sample 2000: rail 2 107374182375000 +- 1000\n"
		    "sample 2000: rail 3 -7000000 +- 1000\n"
		    "sample 2000: rail 4 -500 +- 1000\n",
		    "samples are in micro-units, each with its own time");
	d->refill = -EAGAIN;
	w->fn(w->data, EPOLLIN);
	records_are(context->queue, "", "an empty buffer gives no sample");
	d->refill = 0;
	w->fn(w->data, EPOLLIN);
	records_are(context->queue, "", "a buffer of zero bytes gives no sample");
	d->refill = -EIO;
	w->fn(w->data, EPOLLIN);
	records_are(context->queue,
		    "note 4 'iio' 'iio-9900: buffer: Input/output error: its values are unknown "
		    "from here'\n"
		    "sample -: rail 1 ? +- 0\n"
		    "sample -: rail 2 ? +- 0\n"
		    "sample -: rail 3 ? +- 0\n"
		    "sample -: rail 4 ? +- 0\n",
		    "a buffer that fails gives unknown values");
}

/* A captured channel has no second rail; other channels in files have one. */
static void files_check(const struct source_context *context, struct iio_buffers *b)
{
	struct source_context other = *context;
	struct place place;

	if (!place_enter(&place))
		return;
	place_file("bus/iio/devices/iio:device9900/in_power1_raw", "1\n");
	place_file("bus/iio/devices/iio:device9901/in_power1_raw", "1\n");
	other.root.sysfs = ".";
	other.iio_buffers = b;
	text_is(place_probe(source_table[SOURCE_iio], &other), "0 '1 channels on 1 devices' ''",
		"a captured channel is not counted as a file");
	place_leave(&place);
}

static void capture_check(struct source_context *context)
{
	struct config_source *c = &context->config.source[SOURCE_iio];
	const struct iio_device *d = machine.dev;
	const struct watched *w = watched_at(0);
	unsigned int enabled = 0, open = 0;
	struct iio_buffers *b;
	char text[400];

	snprintf(c->match, sizeof(c->match), "*[!4]");
	b = __real_iio_buffers_start(context);
	CHECK(b && watched_count() == 16 && w->fd == d->fd && w->events == EPOLLIN,
	      "sixteen devices are captured, each watched for its buffer");
	records_are(
		context->queue,
		"rail 1 50000000 'iio-9900:voltage0' 'vdd' 'voltage' 'uV' 'iio' 'iio:device9900' "
		"'buffered capture'\n"
		"rail 2 50000000 'iio-9900:power1' 'power' 'uW' 'iio' 'iio:device9900' 'buffered "
		"capture'\n"
		"rail 3 50000000 'iio-9900:energy2' 'energy' 'uJ' 'iio' 'iio:device9900' 'buffered "
		"capture'\n"
		"rail 4 50000000 'iio-9900:current3' 'current' 'uA' 'iio' 'iio:device9900' "
		"'buffered capture'\n"
		"note 6 'iio' 'iio-9900: 4 channels captured through its buffer'\n"
		"rail 5 50000000 'iio-9901:voltage0' 'voltage' 'uV' 'iio' 'iio:device9901' "
		"'buffered capture'\n"
		"rail 6 50000000 'iio-9902:voltage0' 'voltage' 'uV' 'iio' 'iio:device9902' "
		"'buffered capture'\n"
		"rail 7 50000000 'iio-9903:voltage0' 'voltage' 'uV' 'iio' 'iio:device9903' "
		"'buffered capture'\n"
		"rail 8 50000000 'iio-9904:voltage0' 'voltage' 'uV' 'iio' 'iio:device9904' "
		"'buffered capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"rail 9 50000000 'iio-9906:voltage' 'voltage' 'uV' 'iio' 'iio:device9906' "
		"'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9906: 8 channels captured through its buffer'\n"
		"rail 10 50000000 'iio-9907:power1' 'power' 'uW' 'iio' 'iio:device9907' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9907: 1 channels captured through its buffer'\n"
		"rail 11 50000000 'iio-9908:power1' 'power' 'uW' 'iio' 'iio:device9908' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9908: 1 channels captured through its buffer'\n"
		"rail 12 50000000 'iio-9909:power1' 'power' 'uW' 'iio' 'iio:device9909' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9909: 1 channels captured through its buffer'\n"
		"rail 13 50000000 'iio-9910:power1' 'power' 'uW' 'iio' 'iio:device9910' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9910: 1 channels captured through its buffer'\n"
		"rail 14 50000000 'iio-9911:power1' 'power' 'uW' 'iio' 'iio:device9911' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9911: 1 channels captured through its buffer'\n"
		"rail 15 50000000 'iio-9912:power1' 'power' 'uW' 'iio' 'iio:device9912' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9912: 1 channels captured through its buffer'\n"
		"rail 16 50000000 'iio-9913:power1' 'power' 'uW' 'iio' 'iio:device9913' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9913: 1 channels captured through its buffer'\n"
		"rail 17 50000000 'iio-9914:power1' 'power' 'uW' 'iio' 'iio:device9914' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9914: 1 channels captured through its buffer'\n"
		"rail 18 50000000 'iio-9915:power1' 'power' 'uW' 'iio' 'iio:device9915' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9915: 1 channels captured through its buffer'\n"
		"rail 19 50000000 'iio-9916:power1' 'power' 'uW' 'iio' 'iio:device9916' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9916: 1 channels captured through its buffer'\n"
		"rail 20 50000000 'iio-9917:power1' 'power' 'uW' 'iio' 'iio:device9917' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9917: 1 channels captured through its buffer'\n"
		"rail 21 50000000 'iio-9918:power1' 'power' 'uW' 'iio' 'iio:device9918' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9918: 1 channels captured through its buffer'\n"
		"rail 22 50000000 'iio-9919:power1' 'power' 'uW' 'iio' 'iio:device9919' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9919: 1 channels captured through its buffer'\n"
		"rail 23 50000000 'iio-9920:power1' 'power' 'uW' 'iio' 'iio:device9920' 'buffered "
		"capture'\n"
		"note 6 'iio' 'iio-9920: 1 channels captured through its buffer'\n"
		"clock 0 1000 'iio_buffer' 'CLOCK_MONOTONIC' 'stamped by the kernel at the "
		"conversion's end'\n",
		"channels and their clock are defined");
	for (unsigned int i = 0; i < machine.nr; i++) {
		open += d[i].open;
		for (unsigned int n = 0; n < d[i].nr; n++)
			enabled += d[i].channel[n].enabled;
	}
	snprintf(text, sizeof(text), "%u open, %u channels; %zu %zu %zu %zu; %d %d %s", open,
		 enabled, d[0].samples, d[6].samples, d[7].samples, d[8].samples, d[0].cyclic,
		 d[0].blocking, d[0].stamp);
	text_is(text, "16 open, 53 channels; 100 1 10 256; 0 0 monotonic\n",
		"a buffer holds the samples of a tenth of a second");
	CHECK(iio_buffers_has(b, "iio:device9900") && iio_buffers_has(b, "iio:device9906") &&
		      !iio_buffers_has(b, "iio:device9901") &&
		      !iio_buffers_has(b, "iio:device9905") &&
		      !iio_buffers_has(NULL, "iio:device9900"),
	      "a captured channel is not read from sysfs, the others are");
	samples_check(context);
	files_check(context, b);
	__real_iio_buffers_stop(b);
	open = machine.open;
	for (unsigned int i = 0; i < machine.nr; i++)
		open += d[i].open;
	CHECK(!open, "no buffer stays open");
	c->period_ms = 2000;
	b = __real_iio_buffers_start(context);
	CHECK(d[0].samples == 256 && d[6].samples == 10 && d[7].samples == 200,
	      "buffers grow with the period up to a maximum");
	__real_iio_buffers_stop(b);
	/* Definitions are repeated; another test checks that. */
	for (size_t i = 0; i < queue_fill(context->queue); i++)
		if (queue_peek(context->queue, i)->type == RECORD_DEFINE)
			definition_free(queue_peek(context->queue, i)->define);
	queue_consume(context->queue, queue_fill(context->queue));
}

static void absence_check(struct source_context *context)
{
	none = true;
	CHECK(!__real_iio_buffers_start(context), "without a libiio context there is no capture");
	none = false;
	machine.nr = 0;
	CHECK(!__real_iio_buffers_start(context) && !machine.open,
	      "without a device there is no capture");
	fill_machine();
	context->root.sysfs = "/absent";
	CHECK(!__real_iio_buffers_start(context) && !machine.open,
	      "devices of another sysfs root are not captured");
	records_are(context->queue, "", "a failed start records nothing");
	__real_iio_buffers_stop(NULL);
}

void unit_capture(void)
{
	struct source_context context = { .root = { "/sys", "/absent", "/absent", "/absent",
						    "/absent" } };

	context.loop = loop_new();
	context.queue = queue_new(4096);
	config_defaults(&context.config);
	watched_forget();
	fill_machine();
	capture_check(&context);
	absence_check(&context);
	watched_forget();
	rails_forget(&context);
	queue_free(context.queue);
	loop_free(context.loop);
}

#else

void unit_capture(void)
{
}
#endif
