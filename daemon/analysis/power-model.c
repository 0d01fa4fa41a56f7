// SPDX-License-Identifier: GPL-2.0-or-later
#include "power-model.h"

#include <stdio.h>
#include <stdlib.h>

#include "../common/cpus.h"
#include "../common/text.h"
#include "../recording/reader/db.h"

/* An OPP with a known power, and the cpufreq policy that has it. */
struct opp {
	int64_t policy;
	uint32_t khz;
	double uw;
};

struct powers {
	struct opp *opp;
	size_t opps;
	int64_t policy[CPUS_MAX]; /* cpufreq policy of each CPU; -1 not known */
	char source[64];
};

static void load_opps(struct powers *p, sqlite3 *db)
{
	sqlite3_stmt *s =
		db_select(db, opps, "WHERE power_uw > 0", COLUMN(opps, policy), COLUMN(opps, khz),
			  COLUMN(opps, power_uw), COLUMN(opps, source));

	while (db_next(s)) {
		struct opp *more = realloc(p->opp, (p->opps + 1) * sizeof(*more));

		if (!more) {
			db_missing("opps", "no memory");
			break;
		}
		p->opp = more;
		p->opp[p->opps++] = (struct opp){ db_int(s, COLUMN(opps, policy), -1),
						  db_u32(s, COLUMN(opps, khz), 0),
						  (double)db_int(s, COLUMN(opps, power_uw), 0) };
		snprintf(p->source, sizeof(p->source), "%s",
			 db_text(s, COLUMN(opps, source), "opps"));
	}
	sqlite3_finalize(s);
}

static void load_policies(struct powers *p, sqlite3 *db)
{
	sqlite3_stmt *s = db_query(db, "SELECT policy, replace(cpus, ' ', ',') FROM policies");
	uint8_t cpus[CPUS_MAX];

	for (size_t i = 0; i < CPUS_MAX; i++)
		p->policy[i] = -1;
	while (db_next(s)) {
		if (text_cpulist(db_text(s, 1, ""), cpus, CPUS_MAX) <= 0)
			continue;
		for (size_t i = 0; i < CPUS_MAX; i++)
			if (cpus[i])
				p->policy[i] = db_int(s, 0, -1);
	}
	sqlite3_finalize(s);
}

double powers_at(const struct powers *p, int cpu, uint32_t khz)
{
	int64_t policy = cpu >= 0 && cpu < CPUS_MAX ? p->policy[cpu] : -1;
	double uw = 0;

	for (size_t i = 0; i < p->opps; i++) {
		if (p->opp[i].khz != khz || (policy >= 0 && p->opp[i].policy != policy))
			continue;
		if (uw > 0 && p->opp[i].uw != uw)
			return 0;
		uw = p->opp[i].uw;
	}
	return uw;
}

struct powers *powers_of(sqlite3 *db)
{
	struct powers *p = calloc(1, sizeof(*p));

	if (p) {
		load_opps(p, db);
		load_policies(p, db);
	}
	return p;
}

const char *powers_source(const struct powers *p)
{
	return p->source;
}

void powers_free(struct powers *p)
{
	if (p)
		free(p->opp);
	free(p);
}
