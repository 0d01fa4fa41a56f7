// SPDX-License-Identifier: GPL-2.0-or-later
#include "pauses.h"

#include <string.h>

#include "../common/clock.h"
#include "../recording/schema.h"

/* Events arrive later than they happened, by less than this. */
#define SETTLED_NS NSEC_PER_SEC

/* Reports the first @nr parts. */
static void process_report(struct pauses *p, struct pauses_process *of, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		p->fn(p->data, of->tgid, of->part[i].t1 - of->part[i].t0);
	of->parts -= nr;
	memmove(of->part, of->part + nr, of->parts * sizeof(of->part[0]));
}

static struct pauses_process *process_find(struct pauses *p, int32_t tgid)
{
	struct pauses_process *of = &p->process[(uint32_t)tgid % PAUSES_PROCESSES];

	if (of->tgid != tgid) {
		process_report(p, of, of->parts);
		*of = (struct pauses_process){ .tgid = tgid };
	}
	return of;
}

/* Joins it with all that it is no further apart from. */
static void process_add(struct pauses *p, struct pauses_process *of, struct pauses_part new)
{
	unsigned int from, to;

	if (of->parts == PAUSES_PARTS)
		process_report(p, of, 1);
	for (from = 0; from < of->parts; from++)
		if (of->part[from].t1 + SCHEMA_PAUSE_GAP_NS >= new.t0)
			break;
	for (to = from; to < of->parts && of->part[to].t0 <= new.t1 + SCHEMA_PAUSE_GAP_NS; to++) {
		new.t0 = of->part[to].t0 < new.t0 ? of->part[to].t0 : new.t0;
		new.t1 = of->part[to].t1 > new.t1 ? of->part[to].t1 : new.t1;
	}
	memmove(of->part + from + 1, of->part + to, (of->parts - to) * sizeof(of->part[0]));
	of->part[from] = new;
	of->parts = of->parts - (to - from) + 1;
}

void pauses_begin(struct pauses *p, int32_t tgid)
{
	process_find(p, tgid)->open++;
}

void pauses_end(struct pauses *p, int32_t tgid, uint64_t t0, uint64_t t1, bool begun, bool certain)
{
	struct pauses_process *of = process_find(p, tgid);

	if (begun && of->open)
		of->open--;
	if (certain)
		process_add(p, of, (struct pauses_part){ t0, t1 });
	/* An open phase may still join them. */
	if (!of->open && of->parts)
		process_report(p, of, of->parts - 1);
}

void pauses_settle(struct pauses *p, uint64_t now)
{
	for (unsigned int i = 0; i < PAUSES_PROCESSES; i++) {
		struct pauses_process *of = &p->process[i];

		if (of->parts && !of->open && of->part[of->parts - 1].t1 + SETTLED_NS < now)
			process_report(p, of, of->parts);
	}
}
