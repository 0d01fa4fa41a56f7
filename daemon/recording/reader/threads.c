// SPDX-License-Identifier: GPL-2.0-or-later
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>

#include "db.h"
#include "memory.h"
#include "recording.h"

struct name {
	int64_t tgid, tid, t;
	char comm[32];
};

struct threads {
	struct name *name; /* by thread, then by time */
	size_t nr;
};

static int by_thread(const struct name *a, const struct name *b)
{
	return a->tgid != b->tgid ? (a->tgid > b->tgid ? 1 : -1) :
				    (a->tid > b->tid) - (a->tid < b->tid);
}

static int by_time(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	const int order = by_thread(x, y);

	return order ? order : (x->t > y->t) - (x->t < y->t);
}

struct threads *threads_of(const struct recording *rec)
{
	struct threads *threads = calloc(1, sizeof(*threads));
	sqlite3_stmt *s =
		db_select(rec->db, processes, "", COLUMN(processes, tgid), COLUMN(processes, tid),
			  COLUMN(processes, t), COLUMN(processes, comm));
	bool good = threads;

	while (good && db_next(s)) {
		struct name *n;

		good = recording_grow(&threads->name, threads->nr, sizeof(*n));
		if (!good)
			break;
		n = &threads->name[threads->nr++];
		*n = (struct name){ db_int(s, COLUMN(processes, tgid), 0),
				    db_int(s, COLUMN(processes, tid), 0),
				    db_int(s, COLUMN(processes, t), 0), "" };
		snprintf(n->comm, sizeof(n->comm), "%s", db_text(s, COLUMN(processes, comm), "?"));
	}
	sqlite3_finalize(s);
	if (!good) {
		threads_free(threads);
		recording_no_memory(rec);
		return NULL;
	}
	if (threads->nr)
		qsort(threads->name, threads->nr, sizeof(*threads->name), by_time);
	return threads;
}

void threads_free(struct threads *t)
{
	if (t)
		free(t->name);
	free(t);
}

const char *threads_name(const struct threads *threads, int64_t tgid, int64_t tid, uint64_t t)
{
	const struct name key = { tgid, tid, (int64_t)t, "" };
	size_t lo = 0, hi = threads->nr;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (by_time(&threads->name[mid], &key) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && !by_thread(&threads->name[lo - 1], &key))
		return threads->name[lo - 1].comm;
	return lo < threads->nr && !by_thread(&threads->name[lo], &key) ? threads->name[lo].comm :
									  NULL;
}
