// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: pauses while they happen, compared with the view of a recording. */
#include "unit.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/recording/rows.h"
#include "../../daemon/recording/schema.h"
#include "../../daemon/source/pauses.h"

#define PHASES 60

struct stop {
	uint64_t t0, t1;
	int32_t tgid;
	bool certain;
};

/* A phase's begin or end, in order of time. */
struct edge {
	const struct stop *stop;
	bool end;
};

struct total {
	uint64_t count, ns, longest;
};

static void total_add(void *data, int32_t tgid, uint64_t ns)
{
	struct total *t = data;

	(void)tgid;
	t->count++;
	t->ns += ns;
	t->longest = ns > t->longest ? ns : t->longest;
}

static uint64_t edge_time(const struct edge *e)
{
	return e->end ? e->stop->t1 : e->stop->t0;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = edge_time(a), y = edge_time(b);

	return (x > y) - (x < y);
}

static struct total total_live(const struct stop *stop)
{
	static struct pauses p;
	struct edge edge[2 * PHASES];
	struct total t = { 0 };

	for (size_t i = 0; i < PHASES; i++) {
		edge[2 * i] = (struct edge){ &stop[i], false };
		edge[2 * i + 1] = (struct edge){ &stop[i], true };
	}
	qsort(edge, 2 * PHASES, sizeof(edge[0]), by_time);
	p = (struct pauses){ .fn = total_add, .data = &t };
	for (size_t i = 0; i < 2 * PHASES; i++) {
		const struct stop *s = edge[i].stop;

		if (edge[i].end)
			pauses_end(&p, s->tgid, s->t0, s->t1, true, s->certain);
		else
			pauses_begin(&p, s->tgid);
	}
	pauses_settle(&p, UINT64_MAX);
	return t;
}

static struct total total_recorded(sqlite3 *db, const struct stop *stop)
{
	struct total t = { 0 };
	sqlite3_stmt *s = NULL;
	char sql[4096];

	sqlite3_exec(db, "DELETE FROM phases", NULL, NULL, NULL);
	for (size_t i = 0; i < PHASES; i++) {
		snprintf(sql, sizeof(sql),
			 "INSERT INTO phases(id, t0, t1, tgid, phase, flags, how, uncertain) "
			 "VALUES(%zu, %llu, %llu, %d, 4, 1, 1, %d)",
			 i + 1, (unsigned long long)stop[i].t0, (unsigned long long)stop[i].t1,
			 stop[i].tgid, !stop[i].certain);
		sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	for (size_t i = 0; i < SCHEMA_VIEWS; i++)
		if (!strcmp(schema_views[i].name, "pauses"))
			snprintf(sql, sizeof(sql), "SELECT count(*), sum(ns), max(ns) FROM (%s)",
				 schema_views[i].select);
	if (!sqlite3_prepare_v2(db, sql, -1, &s, NULL) && sqlite3_step(s) == SQLITE_ROW)
		t = (struct total){ (uint64_t)sqlite3_column_int64(s, 0),
				    (uint64_t)sqlite3_column_int64(s, 1),
				    (uint64_t)sqlite3_column_int64(s, 2) };
	sqlite3_finalize(s);
	return t;
}

void unit_pauses(void)
{
	struct stop stop[PHASES];
	struct total live, recorded;
	sqlite3 *db = NULL;
	unsigned int seed = 1;
	bool good = true, many = true;

	if (sqlite3_open(":memory:", &db) || rows_create_tables(db)) {
		CHECK(false, "a recording for pauses");
		sqlite3_close(db);
		return;
	}
	for (int round = 0; round < 100; round++) {
		/* Three threads of each of two processes, whose phases are about the gap apart. */
		for (size_t i = 0; i < PHASES; i++) {
			const uint64_t after = i < 6 ? 1000 : stop[i - 6].t1;

			stop[i].t0 = after + (uint64_t)rand_r(&seed) % (i % 5 ? 12000 : 60000);
			stop[i].t1 = stop[i].t0 + (uint64_t)rand_r(&seed) % (i % 7 ? 9000 : 50000);
			stop[i].tgid = i % 2 ? 70 : 71;
			stop[i].certain = rand_r(&seed) % 9;
		}
		live = total_live(stop);
		recorded = total_recorded(db, stop);
		good = good && live.count == recorded.count && live.ns == recorded.ns &&
		       live.longest == recorded.longest;
		many = many && recorded.count > 3 && recorded.count < PHASES - 3;
	}
	CHECK(good, "pauses are those of the view, whatever their phases");
	CHECK(many, "of several phases each, and several");
	sqlite3_close(db);
}
