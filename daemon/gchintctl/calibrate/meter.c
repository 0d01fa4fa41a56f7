// SPDX-License-Identifier: GPL-2.0-or-later
#include "meter.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../source/sensor/counter.h"
#include "../../source/sensor/rapl.h"
#include "../../source/sensor/scans.h"
#include "../ctl.h"

/* How long to wait for an energy counter to change; those of RAPL change each millisecond. */
#define EDGE_NS (50 * NSEC_PER_MSEC)
#define POLL_NS 100000
/*
 * A reading that took longer, since the thread was preempted, is repeated: its time is
 * uncertain.
 */
#define WIDE_NS 50000
#define TRIES	5

/* The zone of the whole platform is named as a package is, and differs by its label. */
static bool label_is_platform(const char *label)
{
	return label && !strcmp(label, "psys");
}

/* "intel-rapl:0:1" is a part of "intel-rapl:0". */
static bool name_is_part(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && !strncmp(name, "intel-rapl", strlen("intel-rapl")) &&
	       strchr(colon + 1, ':');
}

static void on_rail(void *data, const struct rail_desc *d)
{
	struct meter *m = data;
	struct meter_rail *r;

	if (d->kind != RAIL_POWER && d->kind != RAIL_ENERGY)
		return;
	if (m->nr == METER_RAILS) {
		if (!m->left++)
			ctl_error("over %d rails: the rest, from %s on, is not used", METER_RAILS,
				  d->name);
		return;
	}
	r = &m->rail[m->nr];
	*r = (struct meter_rail){ .energy = d->kind == RAIL_ENERGY,
				  .part = name_is_part(d->name),
				  .platform = label_is_platform(d->label),
				  .scale = d->scale,
				  .offset = d->offset,
				  .range = d->range };
	snprintf(r->name, sizeof(r->name), "%s", d->name);
	r->reading.fd = open(d->path, O_RDONLY | O_CLOEXEC);
	r->reading.factor_fd = d->factor ? open(d->factor, O_RDONLY | O_CLOEXEC) : -1;
	if (r->reading.fd >= 0 && (!d->factor || r->reading.factor_fd >= 0)) {
		m->nr++;
		return;
	}
	m->denied += errno == EACCES || errno == EPERM;
	if (r->reading.fd >= 0)
		close(r->reading.fd);
}

void meter_find(struct meter *m, const struct root *root)
{
	const struct source_context context = { .root = *root };

	*m = (struct meter){ 0 };
	rails_list(&context, powercap_scan, on_rail, m);
	rails_list(&context, hwmon_scan, on_rail, m);
	rails_list(&context, iio_scan, on_rail, m);
}

void meter_close(struct meter *m)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		close(m->rail[i].reading.fd);
		if (m->rail[i].reading.factor_fd >= 0)
			close(m->rail[i].reading.factor_fd);
	}
	m->nr = 0;
}

bool meter_take(struct meter *m, const char *name)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		if (!strcmp(m->rail[i].name, name)) {
			m->rail[i].taken = true;
			return true;
		}
	}
	return false;
}

bool meter_choose(struct meter *m)
{
	unsigned int packages = 0;

	for (unsigned int i = 0; i < m->nr; i++) {
		struct meter_rail *r = &m->rail[i];

		/* intel-rapl-mmio and psys would count the packages a second time. */
		r->taken = !r->part && !r->platform &&
			   !strncmp(r->name, "intel-rapl:", strlen("intel-rapl:"));
		packages += r->taken;
	}
	if (!packages && m->nr == 1)
		m->rail[0].taken = true;
	return packages || m->nr == 1;
}

/*
 * Continues a counter that shows less than before past its range, if a wrap is possible in the time
 * since then. Returns 0, or -ENODATA if it was reset: the energy is not known.
 */
static int rail_unwrap(const struct meter_rail *r, double last, uint64_t last_ns, double *value)
{
	const double seconds = (double)(r->reading.t1 - last_ns + RAPL_UPDATE_NS) * 1e-9;

	if (*value >= last)
		return 0;
	*value += (double)r->range;
	return r->range && (*value - last) * 1e-6 <= COUNTER_MAX_W * seconds ? 0 : -ENODATA;
}

/* Reads a rail in uJ or uW. A counter that wrapped is continued past its range. */
static int rail_read(struct meter_rail *r, double *value)
{
	double v, off;
	int ret;

	*value = 0;
	for (unsigned int i = 0; i < TRIES; i++) {
		reading_take(&r->reading);
		if (r->reading.error)
			return r->reading.error;
		if (r->reading.t1 - r->reading.t0 < WIDE_NS)
			break;
	}
	v = ((double)r->reading.value + (double)r->offset) * (double)r->reading.factor * r->scale;
	ret = r->samples && r->energy ? rail_unwrap(r, r->last, r->read_ns, &v) : 0;
	if (ret)
		return ret;
	r->read_ns = r->reading.t0;
	off = r->samples ? fabs(v - r->last) : 0;
	if (off > 0 && (r->step <= 0 || off < r->step))
		r->step = off;
	*value = v;
	return 0;
}

/*
 * Waits for the counter to change: only then is the time of its value known exactly. Without a
 * change the last reading is used.
 */
static int rail_wait_edge(struct meter_rail *r, double *value)
{
	const struct timespec wait = { 0, POLL_NS };
	const uint64_t end = clock_now() + EDGE_NS;
	int ret;

	r->samples = 0;
	ret = rail_read(r, value);
	r->last = *value;
	r->samples = 1;
	while (!ret && *value == r->last && clock_now() < end) {
		nanosleep(&wait, NULL);
		ret = rail_read(r, value);
	}
	return ret;
}

/* Returns the time of the last reading, and keeps the largest uncertainty. */
static uint64_t rail_note_instant(struct meter_rail *r)
{
	const uint64_t width = r->reading.t1 - r->reading.t0;

	if (width > r->unsure_ns)
		r->unsure_ns = width;
	return r->reading.t0 + width / 2;
}

static int rail_begin(struct meter_rail *r)
{
	double value;
	int ret;

	r->samples = 0;
	ret = r->energy ? rail_wait_edge(r, &value) : rail_read(r, &value);
	if (ret)
		return ret;
	r->samples = 1;
	r->last = value;
	r->sum = r->energy ? 0 : value;
	/*
	 * After a wrap rail_read() added the range to the value; the next raw value is without it.
	 */
	if (r->energy && r->range && r->last >= (double)r->range)
		r->last -= (double)r->range;
	r->unsure_ns = 0;
	r->first_ns = r->last_ns = rail_note_instant(r);
	return 0;
}

static int rail_sample(struct meter_rail *r)
{
	double value;
	int ret = rail_read(r, &value);

	if (ret)
		return ret;
	r->sum += r->energy ? value - r->last : value;
	r->last = r->energy && r->range && value >= (double)r->range ? value - (double)r->range :
								       value;
	r->last_ns = r->reading.t0 + (r->reading.t1 - r->reading.t0) / 2;
	r->samples++;
	return 0;
}

static int rails_each_taken(struct meter *m, int (*fn)(struct meter_rail *r))
{
	int ret = 0;

	for (unsigned int i = 0; i < m->nr && !ret; i++)
		if (m->rail[i].taken)
			ret = fn(&m->rail[i]);
	return ret;
}

int meter_begin(struct meter *m)
{
	return rails_each_taken(m, rail_begin);
}

int meter_sample(struct meter *m)
{
	return rails_each_taken(m, rail_sample);
}

/* An energy counter's window ends as it began, at a change of the counter. */
static int rail_end(struct meter_rail *r)
{
	const struct meter_rail before = *r;
	double value;
	int ret;

	if (!r->energy)
		return rail_sample(r);
	ret = rail_wait_edge(r, &value);
	if (ret)
		return ret;
	ret = rail_unwrap(r, before.last, before.read_ns, &value);
	if (ret)
		return ret;
	r->sum = before.sum + value - before.last;
	r->last_ns = rail_note_instant(r);
	return 0;
}

int meter_end(struct meter *m, double *microwatts, double *resolution)
{
	int ret = rails_each_taken(m, rail_end);
	double squares = 0;

	*microwatts = 0;
	for (unsigned int i = 0; i < m->nr && !ret; i++) {
		const struct meter_rail *r = &m->rail[i];
		const double seconds = (double)(r->last_ns - r->first_ns) / 1e9;
		/* The resolution of a rail that never changed is its least significant digit. */
		const double step = r->step > 0 ? r->step : fabs(r->scale);

		if (!r->taken)
			continue;
		if (r->energy && r->last_ns <= r->first_ns)
			return -ENODATA;
		*microwatts += r->energy ? r->sum / seconds : r->sum / r->samples;
		squares += pow(r->energy ? step / seconds : step / sqrt(12), 2);
		if (r->energy)
			squares += pow(r->sum / seconds * (double)r->unsure_ns / 1e9 / seconds, 2);
	}
	*resolution = sqrt(squares);
	return ret;
}
