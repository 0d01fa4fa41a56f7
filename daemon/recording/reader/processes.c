// SPDX-License-Identifier: GPL-2.0-or-later
#include "processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db.h"

#define OTHERS (PHASE_GROUPS - 1)

static unsigned int processes_group(struct processes *p, int32_t tgid)
{
	/* From the latest group on, because most phases follow one of the same process. */
	for (size_t g = p->nr; g; g--)
		if (g != OTHERS && p->tgid[g] == tgid)
			return (unsigned int)g;
	if (p->nr < OTHERS)
		p->nr++;
	p->tgid[p->nr] = p->nr == OTHERS ? 0 : tgid;
	return (unsigned int)p->nr;
}

static void processes_load_names(const struct recording *rec, struct processes *p)
{
	sqlite3_stmt *s = db_select(rec->db, processes, "WHERE tid = tgid ORDER BY t",
				    COLUMN(processes, tgid), COLUMN(processes, comm));

	while (db_next(s))
		for (size_t g = 1; g <= p->nr; g++)
			if (p->tgid[g] && p->tgid[g] == db_int(s, COLUMN(processes, tgid), 0))
				snprintf(p->name[g], sizeof(p->name[g]), "%s",
					 db_text(s, COLUMN(processes, comm), ""));
	sqlite3_finalize(s);
}

bool processes_of(const struct recording *rec, struct processes *p)
{
	memset(p, 0, sizeof(*p));
	p->group = calloc(rec->phases + 1, sizeof(*p->group));
	if (!p->group) {
		db_missing(rec->path, "no memory for its processes");
		return false;
	}
	for (size_t i = 0; i < rec->phases; i++)
		p->group[i] = (uint16_t)processes_group(p, rec->phase[i].tgid);
	processes_load_names(rec, p);
	return true;
}

void processes_free(struct processes *p)
{
	free(p->group);
	p->group = NULL;
}

const char *processes_name(const struct processes *p, unsigned int group, char *buf, size_t size)
{
	if (!group)
		snprintf(buf, size, "outside of phases");
	else if (group == OTHERS)
		snprintf(buf, size, "all others");
	else if (p->tgid[group] <= 0)
		snprintf(buf, size, "process not known");
	else
		snprintf(buf, size, "%.32s (%d)", *p->name[group] ? p->name[group] : "?",
			 p->tgid[group]);
	return buf;
}
