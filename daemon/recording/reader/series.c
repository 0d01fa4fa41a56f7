// SPDX-License-Identifier: GPL-2.0-or-later
#include "series.h"

#include <string.h>

#include "../../common/clock.h"

/* A counter has stopped if it stands still for this long, and for so many of its steps. */
#define STOPPED_NS    (250 * NSEC_PER_MSEC)
#define STOPPED_STEPS 5
/* The same where it is not known whether its rail can be off. */
#define STOPPED_OTHER_NS (10 * NSEC_PER_SEC)
/* With fewer steps the time between them is not known. */
#define STEPS_MIN 10
/* A meter may read this far below zero when nothing is drawn. */
#define NOISE_UW      10000
#define NOISE_DIVISOR 100 /* of the highest reading */

/*
 * Drops readings that repeat the previous value within two update periods: the counter had not
 * been updated yet. After two periods the value really has not changed, even if one update was
 * late.
 */
static void series_drop_stale(struct recording_series *s, uint64_t update_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct recording_sample *last = kept ? &s->sample[kept - 1] : NULL;

		if (last && last->value != RECORDING_UNKNOWN && s->sample[i].value == last->value &&
		    s->sample[i].t - last->t < 2 * update_ns)
			continue;
		s->sample[kept++] = s->sample[i];
	}
	s->still = s->nr - kept;
	s->nr = kept;
}

static void series_join_gaps(struct recording_series *s)
{
	size_t kept = 0, known = 0; /* @known: of those kept, after the last known one */

	for (size_t i = 0; i < s->nr; i++) {
		const struct recording_sample now = s->sample[i];

		if (now.value != RECORDING_UNKNOWN) {
			if (known && known < kept && now.value > s->sample[known - 1].value) {
				s->joined += kept - known;
				kept = known;
			}
			s->sample[kept++] = now;
			known = kept;
		} else {
			s->sample[kept++] = now;
		}
	}
	s->nr = kept;
}

/*
 * Readings of one instant: keeps the one that leaves no growth between them. That is the last one,
 * whose growth counts for the time before; at the begin, and after a reset, the first one, whose
 * growth counts for the time after.
 */
static void series_merge_instants(struct recording_series *s)
{
	size_t kept = 0, begin = 0; /* @begin: the first one kept of this instant */

	for (size_t i = 0; i < s->nr; i++) {
		const struct recording_sample now = s->sample[i];
		struct recording_sample *last = kept ? &s->sample[kept - 1] : NULL;

		if (!last || last->t != now.t)
			begin = kept;
		if (!last || last->t != now.t || last->value == RECORDING_UNKNOWN ||
		    now.value == RECORDING_UNKNOWN || now.value < last->value)
			s->sample[kept++] = now;
		else if (begin && begin == kept - 1)
			last->value = now.value;
	}
	s->nr = kept;
}

/* The end of the readings from @i on that show the same. */
static size_t series_find_end(const struct recording_series *s, size_t i)
{
	size_t end = i + 1;

	while (end < s->nr && s->sample[end].value == s->sample[i].value)
		end++;
	return end;
}

/* How long the counter may stand still, from its mean step without the longest one; 0: any time. */
static uint64_t series_longest_step(const struct recording_series *s, uint64_t least_ns)
{
	uint64_t sum = 0, longest = 0, mean;
	size_t steps = 0, end;

	for (size_t i = 0; i < s->nr; i = end) {
		uint64_t ns;

		end = series_find_end(s, i);
		if (s->sample[i].value == RECORDING_UNKNOWN)
			continue;
		ns = s->sample[end < s->nr ? end : end - 1].t - s->sample[i].t;
		longest = ns > longest ? ns : longest;
		sum += ns;
		steps++;
	}
	if (steps < STEPS_MIN)
		return 0;
	mean = (sum - longest) / (steps - 1);
	return STOPPED_STEPS * mean > least_ns ? STOPPED_STEPS * mean : least_ns;
}

static void series_drop_stopped(struct recording_series *s, uint64_t least_ns)
{
	const uint64_t longest = series_longest_step(s, least_ns);
	size_t end;

	for (size_t i = 0; longest && i < s->nr; i = end) {
		end = series_find_end(s, i);
		if (s->sample[i].value == RECORDING_UNKNOWN ||
		    s->sample[end - 1].t - s->sample[i].t <= longest)
			continue;
		/* When within it the counter stopped is not known, if it went on at all. */
		for (size_t k = i + 1; k < end; k++)
			s->sample[k].value = RECORDING_UNKNOWN;
		s->stopped += end - i - 1;
	}
}

static void series_drop_negative(struct recording_series *s)
{
	int64_t noise = NOISE_UW;

	for (size_t i = 0; i < s->nr; i++)
		if (s->sample[i].value / NOISE_DIVISOR > noise)
			noise = s->sample[i].value / NOISE_DIVISOR;
	for (size_t i = 0; i < s->nr; i++)
		if (s->sample[i].value != RECORDING_UNKNOWN && s->sample[i].value < -noise) {
			s->sample[i].value = RECORDING_UNKNOWN;
			s->negative++;
		}
}

static uint64_t rail_stopped_ns(const struct recording_rail *rail)
{
	if (*rail->cpus || rail->role == RAIL_ROLE_GPU || rail->role == RAIL_ROLE_DEVICE ||
	    rail->role == RAIL_ROLE_BATTERY)
		return 0;
	return rail->role == RAIL_ROLE_PACKAGE || rail->role == RAIL_ROLE_MACHINE ||
			       rail->role == RAIL_ROLE_MEMORY ?
		       STOPPED_NS :
		       STOPPED_OTHER_NS;
}

void series_settle(struct recording_series *s, const struct recording_rail *rail)
{
	if (rail->kind == RAIL_POWER)
		series_drop_negative(s);
	if (rail->kind != RAIL_ENERGY)
		return;
	if (rail->limits.update_ns)
		series_drop_stale(s, rail->limits.update_ns);
	series_join_gaps(s);
	series_merge_instants(s);
	if (rail_stopped_ns(rail))
		series_drop_stopped(s, rail_stopped_ns(rail));
}
