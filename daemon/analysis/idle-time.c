// SPDX-License-Identifier: GPL-2.0-or-later
#include "idle-time.h"

#include <stdlib.h>
#include <sys/types.h>

#include "../recording/reader/db.h"
#include "../recording/reader/memory.h"
#include "../recording/reader/recording.h"

/* The idle states of a CPU are read one after the other: rows closer than this are one reading. */
#define READING_NS 5000000

/* Total idle time of a CPU, over all its idle states, since its first reading. */
struct point {
	uint32_t cpu;
	uint64_t t;
	double ns;
};

struct asleep {
	struct point *point; /* by CPU, then by time */
	size_t nr;
};

/*
 * A state's total is recorded only when it changed, which happens as the CPU leaves the state.
 * Its increase since the state's previous row therefore belongs to the time since the previous
 * row of any state of that CPU.
 */
static bool asleep_add_reading(struct asleep *a, uint32_t cpu, uint64_t t, double ns)
{
	struct point *last = a->nr ? &a->point[a->nr - 1] : NULL;
	const bool same = last && last->cpu == cpu;

	if (same && t - last->t < READING_NS) {
		last->ns += ns;
		return true;
	}
	ns += same ? last->ns : 0;
	if (!recording_grow(&a->point, a->nr, sizeof(*a->point)))
		return false;
	a->point[a->nr++] = (struct point){ cpu, t, ns };
	return true;
}

struct asleep *asleep_of(sqlite3 *db)
{
	struct asleep *a = calloc(1, sizeof(*a));
	sqlite3_stmt *s = db_query(
		db, "SELECT cpu, t, 1000 * (total_us - coalesce(lag(total_us) OVER "
		    "(PARTITION BY cpu, state ORDER BY t), total_us)) FROM idle ORDER BY cpu, t");
	bool good = a;

	while (good && db_next(s))
		good = asleep_add_reading(a, db_u32(s, 0, 0), (uint64_t)db_int(s, 1, 0),
					  (double)db_int(s, 2, 0));
	sqlite3_finalize(s);
	if (!good) {
		asleep_free(a);
		return NULL;
	}
	return a;
}

void asleep_free(struct asleep *a)
{
	if (a)
		free(a->point);
	free(a);
}

/* Index of the last reading of @cpu at or before @t, or -1. */
static ssize_t point_before(const struct asleep *a, uint32_t cpu, uint64_t t)
{
	size_t lo = 0, hi = a->nr;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const struct point *p = &a->point[mid];

		if (p->cpu < cpu || (p->cpu == cpu && p->t <= t))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && a->point[lo - 1].cpu == cpu ? (ssize_t)lo - 1 : -1;
}

/* Idle ns of a CPU from its first reading to @t, interpolated; below 0 outside of the readings. */
static double asleep_until(const struct asleep *a, uint32_t cpu, uint64_t t)
{
	const ssize_t i = point_before(a, cpu, t);
	const struct point *p;
	double part;

	if (i < 0)
		return -1;
	p = &a->point[i];
	if (p->t == t)
		return p->ns;
	if ((size_t)i + 1 == a->nr || p[1].cpu != cpu)
		return -1;
	part = (double)(t - p->t) / (double)(p[1].t - p->t);
	return p->ns + (p[1].ns - p->ns) * part;
}

double asleep_ns(const struct asleep *a, uint32_t cpu, uint64_t t0, uint64_t t1)
{
	const double from = asleep_until(a, cpu, t0), to = asleep_until(a, cpu, t1);
	const double length = (double)(t1 - t0);

	if (from < 0 || to < from)
		return -1;
	return to - from < length ? to - from : length;
}

bool asleep_windows(const struct asleep *a, uint32_t cpu, uint64_t t0, uint64_t t1,
		    asleep_window_fn fn, void *data)
{
	ssize_t i = point_before(a, cpu, t0);

	if (i < 0)
		return false;
	for (; a->point[i].t < t1; i++) {
		const struct point *p = &a->point[i];
		double idle, length;

		if ((size_t)i + 1 >= a->nr || p[1].cpu != cpu)
			return false;
		idle = p[1].ns - p->ns;
		length = (double)(p[1].t - p->t);
		fn(data, p->t, p[1].t, idle < 0 ? 0 : idle < length ? idle : length);
	}
	return true;
}

uint64_t asleep_period(const struct asleep *a)
{
	uint64_t sum = 0, nr = 0;

	for (size_t i = 0; i + 1 < a->nr; i++)
		if (a->point[i].cpu == a->point[i + 1].cpu) {
			sum += a->point[i + 1].t - a->point[i].t;
			nr++;
		}
	return nr ? sum / nr : 0;
}
