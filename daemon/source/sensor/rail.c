// SPDX-License-Identifier: GPL-2.0-or-later
#include "rail.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/text.h"
#include "../metrics.h"
#include "../privilege.h"
#include "counter.h"
#include "reader.h"

#define RESCAN_NS    (2 * NSEC_PER_SEC)
#define LATE_SAMPLES 16 /* samples over budget in a row before the period grows */
/*
 * A rail whose reads take longer, twice in a row, is behind a slow bus: a register
 * over I2C at 100 kHz takes about 0.4 ms, sysfs of the CPU's own a few us.
 */
#define SLOW_NS	   (250 * NSEC_PER_USEC)
#define SLOW_READS 2
/* A jump or a reset that was not undone within this time is taken to be lasting. */
#define UNDO_NS (10 * NSEC_PER_SEC)
/* CLOCK_BOOTTIME gains this much on CLOCK_MONOTONIC in a suspend; less is a late reading. */
#define SUSPEND_NS (100 * NSEC_PER_MSEC)
/* A counter that has not moved for this long does not count. */
#define STILL_NS (10 * NSEC_PER_SEC)

struct rail {
	char *name, *path;
	uint32_t id;
	struct rail_desc desc; /* its strings are valid only during the scan */
	int fd, factor_fd, status_fd;
	bool gone;
	bool asleep; /* its device is suspended, and is not read */
	bool refused; /* the note that it has no value at times was emitted */
	unsigned int slow; /* reads over SLOW_NS in a row */
	bool apart; /* read by the reader thread */
	/* Of a counter. */
	int64_t last, total; /* as read; past its wraps */
	uint64_t last_t, still_t; /* @still_t: since when it shows the same */
	uint64_t changed_t; /* when @last was first seen */
	bool has_last; /* @last is of the reading before: nothing happened since */
	bool counted; /* @total is known */
	/* The last reading before a break, with its total: a later reading may go on from there. */
	int64_t sound, sound_total;
	uint64_t sound_t;
	bool has_sound;
	unsigned int breaks; /* resets and unclear gaps so far */
	bool moved, still; /* it has moved once; the note that it does not was emitted */
	int64_t recorded;
	uint64_t recorded_t;
};

struct rails {
	struct source_context *context;
	struct rails_count *count; /* set: a scan only counts */
	char counted[96]; /* the device counted last */
	void (*listed)(void *data, const struct rail_desc *desc); /* set: a scan only lists */
	void *listed_data;
	enum source_id id;
	rails_scan_fn scan;
	struct watch *timer;
	struct reader *reader; /* of the slow rails; NULL if there is none */
	uint64_t period_ns, rescan_at, used_ns; /* @used_ns: by the last read of the fast rails */
	uint64_t ahead_ns; /* CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC by this */
	struct rail *rail[RAILS_MAX];
	unsigned int nr, late;
	bool full; /* the note that there are too many was emitted */
};

const struct source_context *rails_context(const struct rails *rails)
{
	return rails->context;
}

/* Whether any user may read it. Only the mode says so: access(2) succeeds by our capability. */
static bool path_is_world_readable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && (st.st_mode & S_IROTH);
}

static void rail_define(struct source_context *context, enum source_id source, uint32_t id,
			const struct rail_desc *d, uint64_t period_ns)
{
	const int64_t numbers[] = { id, (int64_t)period_ns,
				    d->update_ns ? (int64_t)d->update_ns : UNKNOWN_S64,
				    d->range ? llround((double)d->range * d->scale) : UNKNOWN_S64 };
	const char *strings[] = { d->name,
				  d->label,
				  rail_kind_name(d->kind),
				  rail_kind_unit(d->kind),
				  config_source_name(source),
				  d->path,
				  d->derived,
				  d->cpus };

	context_define(context, definition_new(DEFINE_RAIL, clock_now(), numbers, 4, strings, 8));
	if (context->metrics)
		metrics_rail(context->metrics, id, d->name, d->label, (int)d->kind,
			     !d->event.type && path_is_world_readable(d->path) &&
				     (!d->factor || path_is_world_readable(d->factor)));
}

/* Looks the number up by name: a rail keeps it over a reload or a rebind. */
static uint32_t rail_assign_number(struct source_context *context, const char *name)
{
	char **more;

	for (uint32_t i = 0; i < context->rails; i++)
		if (!strcmp(context->rail_name[i], name))
			return i + 1;
	more = realloc(context->rail_name, (context->rails + 1) * sizeof(*more));
	if (!more)
		return 0;
	context->rail_name = more;
	more[context->rails] = strdup(name);
	return more[context->rails] ? ++context->rails : 0;
}

int rails_define(struct source_context *context, enum source_id id, const struct rail_desc *desc,
		 uint64_t period_ns)
{
	uint32_t number;

	if (fnmatch(context->config.source[id].match, desc->name, 0))
		return -1;
	number = rail_assign_number(context, desc->name);
	if (!number)
		return -1;
	rail_define(context, id, number, desc, period_ns);
	return (int)number;
}

static void rail_close(struct rail *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->factor_fd >= 0)
		close(r->factor_fd);
	if (r->status_fd >= 0)
		close(r->status_fd);
	r->fd = r->factor_fd = r->status_fd = -1;
}

static int rail_open(struct rail *r, const struct rail_desc *d)
{
	r->fd = d->event.type ? pmu_open(&d->event) : open(d->path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		return d->event.type ? r->fd : -errno;
	if (d->factor) {
		r->factor_fd = open(d->factor, O_RDONLY | O_CLOEXEC);
		if (r->factor_fd < 0) {
			int ret = -errno;

			rail_close(r);
			return ret;
		}
	}
	/* Without this file the device never sleeps. */
	if (d->status)
		r->status_fd = open(d->status, O_RDONLY | O_CLOEXEC);
	return 0;
}

/* Reading the status wakes no device. */
static bool rail_is_suspended(const struct rail *r)
{
	char status[16];
	ssize_t n = r->status_fd < 0 ? 0 : pread(r->status_fd, status, sizeof(status), 0);

	return n >= 9 && !memcmp(status, "suspended", 9);
}

static void rail_free(struct rail *r)
{
	rail_close(r);
	free(r->name);
	free(r->path);
	free(r);
}

static struct reading rail_prepare_reading(struct rail *r)
{
	return (struct reading){
		.owner = r, .fd = r->fd, .factor_fd = r->factor_fd, .event = r->desc.event.type
	};
}

/* A missing rail is back once it can be read; that it can be opened is not enough. */
static void rail_restore(struct rails *rails, struct rail *r, const struct rail_desc *d)
{
	struct reading reading;
	int ret;

	if (!r->gone)
		return;
	privilege_raise();
	ret = rail_open(r, d);
	privilege_lower();
	if (ret)
		return;
	if (rail_is_suspended(r)) {
		rail_close(r);
		return;
	}
	reading = rail_prepare_reading(r);
	reading_take(&reading);
	if (reading.error) {
		rail_close(r);
		return;
	}
	r->gone = false;
	/* A counter in a file goes on where it was, unless it breaks; one of perf's begins anew. */
	r->has_last = r->has_last && !r->desc.event.type;
	context_note(rails->context, LOG_NOTICE, config_source_name(rails->id), "%s: back",
		     r->name);
}

static bool rail_is_denied(const struct rail_desc *d)
{
	int fd;

	if (!d->event.type)
		return root_access(d->path, R_OK);
	fd = pmu_open(&d->event);
	if (fd >= 0)
		close(fd);
	return fd == -EACCES || fd == -EPERM;
}

static void rails_count_one(struct rails *rails, const struct rail_desc *d)
{
	int device = (int)strcspn(d->name, ":");

	rails->count->channels++;
	rails->count->denied += rail_is_denied(d);
	rails->count->cores += d->cpus != NULL;
	/* Channels of one device come one after the other. */
	if (strncmp(rails->counted, d->name, (size_t)device) || rails->counted[device])
		rails->count->devices++;
	snprintf(rails->counted, sizeof(rails->counted), "%.*s", device, d->name);
}

struct rails_count rails_count(const struct source_context *context, rails_scan_fn scan)
{
	struct rails_count count = { 0 };
	/* The cast is safe: a scan only reads from its context, by rails_context(). */
	struct rails rails = { .context = (struct source_context *)context, .count = &count };

	scan(&rails);
	return count;
}

void rails_list(const struct source_context *context, rails_scan_fn scan,
		void (*fn)(void *data, const struct rail_desc *desc), void *data)
{
	struct rails rails = { .context = (struct source_context *)context,
			       .listed = fn,
			       .listed_data = data };

	scan(&rails);
}

void rails_add(struct rails *rails, const struct rail_desc *d)
{
	const char *source = config_source_name(rails->id);
	struct rail *r;
	int ret;

	if (rails->listed) {
		rails->listed(rails->listed_data, d);
		return;
	}
	if (rails->count) {
		rails_count_one(rails, d);
		return;
	}
	if (fnmatch(rails->context->config.source[rails->id].match, d->name, 0))
		return;
	for (unsigned int i = 0; i < rails->nr; i++)
		if (!strcmp(rails->rail[i]->name, d->name)) {
			rail_restore(rails, rails->rail[i], d);
			return;
		}
	if (rails->nr == RAILS_MAX) {
		if (!rails->full)
			context_note(
				rails->context, LOG_WARNING, source,
				"over %d rails: the rest is not sampled; choose some with match",
				RAILS_MAX);
		rails->full = true;
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	r->fd = r->factor_fd = r->status_fd = -1;
	r->name = strdup(d->name);
	r->path = strdup(d->path);
	r->id = rail_assign_number(rails->context, d->name);
	if (!r->name || !r->path || !r->id) {
		rail_free(r);
		return;
	}
	ret = rail_open(r, d);
	if (ret) {
		context_note(rails->context, LOG_WARNING, source, "%s: %s: %s", d->name, d->path,
			     strerror(-ret));
		r->gone = true;
	}
	r->desc = *d;
	rails->rail[rails->nr++] = r;
	rail_define(rails->context, rails->id, r->id, d, rails->period_ns);
}

static void rail_record(struct rails *rails, struct rail *r, uint64_t t, uint64_t error_ns,
			int64_t value)
{
	const struct record rec = {
		.t = t,
		.type = RECORD_SAMPLE,
		.sample = { .value = value,
			    .rail = r->id,
			    .error_ns = error_ns > UINT32_MAX - 1 ? UINT32_MAX - 1 :
								    (uint32_t)error_ns },
	};

	if (r->desc.slow && r->recorded_t && value == r->recorded &&
	    t - r->recorded_t < NSEC_PER_SEC)
		return;
	r->recorded = value;
	r->recorded_t = t;
	context_record(rails->context, &rec);
}

/* Energy from the reading before on is unknown; the counter goes on from there. */
static void rail_break(struct rails *rails, struct rail *r, uint64_t t)
{
	r->has_last = false;
	rail_record(rails, r, t, 0, UNKNOWN_S64);
}

/* A counter that never moves is not one that counts 0. */
static void rail_watch_still(struct rails *rails, struct rail *r, bool moved, uint64_t t)
{
	r->moved = r->moved || moved;
	if (r->moved || r->still || t - r->still_t < STILL_NS)
		return;
	r->still = true;
	context_note(rails->context, LOG_WARNING, config_source_name(rails->id),
		     "%s: its counter has not moved for %llu s: it does not count here, and its "
		     "energy is unknown",
		     r->name, (unsigned long long)(STILL_NS / NSEC_PER_SEC));
}

/* A counter that does so all the time is reported at the 1st, 2nd, 4th, 8th, ... */
static void rail_note_break(struct rails *rails, struct rail *r, enum counter_change change,
			    int64_t raw, double seconds)
{
	const char *source = config_source_name(rails->id);
	const bool noted = !(r->breaks & (r->breaks + 1));

	r->breaks++;
	if (noted && change == COUNTER_RESET)
		context_note(
			rails->context, LOG_WARNING, source,
			"%s: its counter went back from %lld to %lld in %.3f s, which is no wrap: "
			"it was reset, and its energy meanwhile is unknown",
			r->name, (long long)r->last, (long long)raw, seconds);
	if (noted && change == COUNTER_JUMPED)
		context_note(
			rails->context, LOG_WARNING, source,
			"%s: its counter jumped from %lld to %lld in %.3f s, which is more than "
			"the rail can draw: its energy meanwhile is unknown",
			r->name, (long long)r->last, (long long)raw, seconds);
	if (noted && change == COUNTER_UNCLEAR)
		context_note(
			rails->context, LOG_WARNING, source,
			"%s: not read for %.3f s, in which its counter may have wrapped twice: "
			"its energy meanwhile is unknown",
			r->name, seconds);
}

/*
 * After a jump or a reset that was undone (a garbled reading or a few) the counter goes on from the
 * reading before it, and the energy in between is known after all.
 */
static bool rail_undo_break(struct rail *r, const struct counter_limits *limits, int64_t raw,
			    uint64_t t)
{
	enum counter_change change;
	int64_t grown;

	if (!r->has_sound)
		return false;
	r->has_sound = false;
	change = counter_compare(limits, r->sound, raw, t - r->sound_t, &grown);
	if (t - r->sound_t > UNDO_NS || (change != COUNTER_GREW && change != COUNTER_WRAPPED) ||
	    r->sound_total + grown < r->total)
		return false;
	r->total = r->sound_total + grown;
	return true;
}

/*
 * Extends a counter to one that only grows. @t: of the reading. Where readings are missing or the
 * counter broke, the total around it shows whether the energy in between is known: it grew by it,
 * or else it repeats the value before (docs/recording.md, "When the energy of a rail is unknown").
 */
static int64_t rail_extend(struct rails *rails, struct rail *r, int64_t raw, uint64_t t)
{
	const struct counter_limits limits = { r->desc.range, r->desc.scale * 1e-6, r->desc.max_w,
					       r->desc.update_ns, r->last_t - r->changed_t };
	const double seconds = (double)(t - r->last_t) * 1e-9;
	enum counter_change change = COUNTER_GREW;
	int64_t grown = 0;
	bool broke;

	if (r->has_last)
		change = counter_compare(&limits, r->last, raw, t - r->last_t, &grown);
	broke = change != COUNTER_GREW && change != COUNTER_WRAPPED &&
		!rail_undo_break(r, &limits, raw, t);
	if (broke) {
		rail_note_break(rails, r, change, raw, seconds);
		rail_break(rails, r, t);
		r->sound = r->last;
		r->sound_total = r->total;
		r->sound_t = r->last_t;
		r->has_sound = change != COUNTER_UNCLEAR;
	}
	if (!r->counted)
		r->total = raw;
	r->total += grown;
	if (!r->counted)
		r->still_t = t;
	rail_watch_still(rails, r, r->counted && raw != r->last, t);
	if (!r->counted || raw != r->last)
		r->changed_t = t;
	r->counted = r->has_last = true;
	r->last = raw;
	r->last_t = t;
	return r->total;
}

static int64_t rail_convert(struct rails *rails, struct rail *r, const struct reading *reading)
{
	int64_t raw = reading->value, sum;

	if (r->desc.kind == RAIL_ENERGY)
		raw = rail_extend(rails, r, raw, reading->t0);
	/* Counters of 64 bits have more digits than a double. */
	if (r->desc.scale == 1 && reading->factor == 1 &&
	    !__builtin_add_overflow(raw, r->desc.offset, &sum))
		return sum;
	return llround(((double)raw + (double)r->desc.offset) * (double)reading->factor *
		       r->desc.scale);
}

static void rail_lose(struct rails *rails, struct rail *r, int error, uint64_t now)
{
	/* A perf counter has no data while its CPU is offline, and after that only if reopened. */
	const char *why =
		r->desc.event.type && error == -ENODATA ? "its CPU went offline" : strerror(-error);

	if (!r->gone)
		context_note(rails->context, LOG_WARNING, config_source_name(rails->id),
			     "%s: %s: its value is unknown from here", r->name, why);
	r->gone = true;
	rail_close(r);
	rail_record(rails, r, now, 0, UNKNOWN_S64);
}

/* Sampling must not slow what it measures: doubles the period while reads exceed the budget. */
static void rails_keep_budget(struct rails *rails, uint64_t used_ns)
{
	const struct config_source *config = &rails->context->config.source[rails->id];

	if (used_ns * 100 <= rails->period_ns * config->budget_percent) {
		rails->late = 0;
		return;
	}
	if (++rails->late < LATE_SAMPLES)
		return;
	rails->late = 0;
	rails->period_ns *= 2;
	watch_period(rails->timer, rails->period_ns);
	context_note(rails->context, LOG_NOTICE, config_source_name(rails->id),
		     "sampling %u rails takes %.1f ms, over %u %% of the period: now every %llu ms",
		     rails->nr, (double)used_ns / NSEC_PER_MSEC, config->budget_percent,
		     (unsigned long long)(rails->period_ns / NSEC_PER_MSEC));
}

/* No value now, but the device is there: EPERM is a GPU that is suspended or in reset. */
static bool reading_is_transient(const struct reading *reading)
{
	switch (reading->error) {
	case -EAGAIN:
	case -EBUSY:
	case -EPERM:
	case -ETIMEDOUT:
		return true;
	case -ENODATA:
		return !reading->event;
	default:
		return false;
	}
}

static void rail_miss(struct rails *rails, struct rail *r, int error, uint64_t now)
{
	if (error == -EPERM && !r->refused)
		context_note(rails->context, LOG_NOTICE, config_source_name(rails->id),
			     "%s: %s: its value is unknown while its device refuses to be read",
			     r->name, strerror(-error));
	r->refused = r->refused || error == -EPERM;
	rail_record(rails, r, now, 0, UNKNOWN_S64);
}

/* A read would wake the device and keep it awake: its value is unknown while it sleeps. */
static bool rail_let_sleep(struct rails *rails, struct rail *r)
{
	const bool asleep = rail_is_suspended(r);

	if (asleep && !r->asleep) {
		context_note(rails->context, LOG_INFO, config_source_name(rails->id),
			     "%s: its device sleeps and is not read: its value is unknown until it "
			     "wakes",
			     r->name);
		rail_break(rails, r, clock_now());
	}
	r->asleep = asleep;
	return asleep;
}

/*
 * CLOCK_MONOTONIC stands still in a suspend, and counters go on or begin anew: the energy of an
 * interval with one in it is not that of the time that the recording shows.
 */
static void rails_notice_suspend(struct rails *rails, uint64_t now)
{
	const uint64_t before = rails->ahead_ns, boot = clock_ns(CLOCK_BOOTTIME);
	uint64_t error_ns, slept;

	rails->ahead_ns = boot > now ? boot - now : 0;
	if (rails->ahead_ns < before + SUSPEND_NS)
		return;
	/* This thread may have waited for a CPU between the two clocks. */
	rails->ahead_ns = (uint64_t)-clock_map(CLOCK_BOOTTIME, &error_ns);
	if (rails->ahead_ns < before + SUSPEND_NS)
		return;
	slept = rails->ahead_ns - before;
	context_note(rails->context, LOG_NOTICE, config_source_name(rails->id),
		     "the machine was suspended for %.3f s: the energy meanwhile is unknown",
		     (double)slept * 1e-9);
	for (unsigned int i = 0; i < rails->nr; i++)
		if (rails->rail[i]->counted && !rails->rail[i]->gone)
			rail_break(rails, rails->rail[i], now);
}

static void rail_handle_reading(struct rails *rails, struct rail *r, const struct reading *reading)
{
	uint64_t half = (reading->t1 - reading->t0) / 2;
	int ret = reading->error;

	if (!ret)
		rail_record(rails, r, reading->t0 + half, half + 1,
			    rail_convert(rails, r, reading));
	else if (reading_is_transient(reading))
		rail_miss(rails, r, ret, reading->t1);
	else
		rail_lose(rails, r, ret, reading->t1);
	r->slow = reading->t1 - reading->t0 > SLOW_NS ? r->slow + 1 : 0;
}

/* The reader thread has read all slow rails. */
static void on_read(void *data, const struct reading *reading, size_t nr)
{
	struct rails *rails = data;

	for (size_t i = 0; i < nr; i++)
		rail_handle_reading(rails, reading[i].owner, &reading[i]);
	rails_keep_budget(rails, rails->used_ns + reading[nr - 1].t1 - reading[0].t0);
}

/* A slow bus stays slow: its rails leave the main loop for good. */
static void rail_move_to_thread(struct rails *rails, struct rail *r)
{
	if (!rails->reader) {
		rails->reader = reader_new(rails->context->loop, on_read, rails);
		if (!rails->reader)
			return;
		context_note(rails->context, LOG_INFO, config_source_name(rails->id),
			     "%s takes over %u us to read: slow rails are read by a thread",
			     r->name, (unsigned int)(SLOW_NS / NSEC_PER_USEC));
	}
	r->apart = true;
}

static void rails_on_timer(void *data, uint32_t events)
{
	struct rails *rails = data;
	struct reading apart[RAILS_MAX];
	uint64_t start = clock_now(), now;
	unsigned int nr = 0;
	bool gone = false;

	(void)events;
	rails_notice_suspend(rails, start);
	for (unsigned int i = 0; i < rails->nr; i++) {
		struct rail *r = rails->rail[i];
		struct reading reading = rail_prepare_reading(r);

		gone = gone || r->gone;
		if (r->gone || rail_let_sleep(rails, r))
			continue;
		if (r->apart) {
			apart[nr++] = reading;
			continue;
		}
		reading_take(&reading);
		rail_handle_reading(rails, r, &reading);
		if (r->slow >= SLOW_READS)
			rail_move_to_thread(rails, r);
	}
	now = clock_now();
	rails->used_ns = now - start;
	/* One list at a time: if the thread needs longer than a period, it skips periods. */
	if (nr && !reader_busy(rails->reader))
		reader_start(rails->reader, apart, nr);
	else if (!nr)
		rails_keep_budget(rails, rails->used_ns);
	if (gone && now >= rails->rescan_at) {
		rails->rescan_at = now + RESCAN_NS;
		rails->scan(rails);
	}
}

struct rails *rails_start(struct source_context *context, enum source_id id, rails_scan_fn scan)
{
	struct rails *rails = calloc(1, sizeof(*rails));

	if (!rails)
		return NULL;
	rails->context = context;
	rails->id = id;
	rails->scan = scan;
	rails->period_ns = context->config.source[id].period_ms * NSEC_PER_MSEC;
	rails->ahead_ns = UINT64_MAX - SUSPEND_NS;
	rails->timer = loop_timer(context->loop, rails->period_ns, rails_on_timer, rails);
	if (!rails->timer) {
		free(rails);
		return NULL;
	}
	scan(rails);
	context_clock(context, config_source_name(id), "CLOCK_MONOTONIC", 0, CLOCK_PER_SAMPLE,
		      "each read is between two readings of the clock: samples.error_ns");
	rails_on_timer(rails, 0);
	return rails;
}

void rails_stop(struct rails *rails)
{
	watch_free(rails->timer);
	/* Stop the thread first: it reads from the rails' descriptors. */
	reader_free(rails->reader);
	for (unsigned int i = 0; i < rails->nr; i++)
		rail_free(rails->rail[i]);
	free(rails);
}

void rails_forget(struct source_context *context)
{
	for (uint32_t i = 0; i < context->rails; i++)
		free(context->rail_name[i]);
	free(context->rail_name);
}
