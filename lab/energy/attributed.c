// SPDX-License-Identifier: MIT
/*
 * lab-attributed: what gchintctl attributes to each phase of a recording, by its own code, for
 * lab/attribution to compare with the truth. CSV: the rail; "phase", "group" or "process"; its
 * number (index by begin, group, process); J attributed and J while open, each with its bounds;
 * the time that is not known.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../daemon/analysis/attribution.h"
#include "../../daemon/recording/reader/processes.h"

/* Phases that are attributed one by one in a pass over the recording; group 0 is no phase. */
#define AT_ONCE (PHASE_GROUPS - 2)

static void part_print(const struct recording_rail *rail, const char *what, long number,
		       const struct energy_part *a, const struct energy_part *open)
{
	printf("%s,%s,%ld,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%llu\n", rail->name, what, number,
	       a->joules, a->low, a->high, open->joules, open->low, open->high,
	       (unsigned long long)(a->unknown_ns + open->unknown_ns));
}

static void phases_print(const struct recording *rec, size_t rail, uint16_t *group)
{
	for (size_t first = 0; first < rec->phases; first += AT_ONCE) {
		struct attribution a;
		struct energy open;

		for (size_t i = 0; i < rec->phases; i++)
			group[i] = i >= first && i - first < AT_ONCE ? (uint16_t)(i - first + 1) :
								       PHASE_GROUPS - 1;
		attribution_of(rec, rail, group, &a);
		energy_of(rec, rail, group, &open);
		for (size_t i = first; i < rec->phases && i - first < AT_ONCE; i++)
			part_print(&rec->rail[rail], "phase", (long)i, &a.part[group[i]],
				   &open.part[group[i]]);
	}
}

static void sums_print(const struct recording *rec, size_t rail, const struct processes *p)
{
	struct attribution a;
	struct energy open;

	attribution_of(rec, rail, NULL, &a);
	energy_of(rec, rail, NULL, &open);
	for (unsigned int g = 1; g < PHASE_GROUPS; g++)
		if (a.part[g].high > 0)
			part_print(&rec->rail[rail], "group", g, &a.part[g], &open.part[g]);
	part_print(&rec->rail[rail], "others", 0, &a.part[0], &open.part[0]);
	part_print(&rec->rail[rail], "idle", 0, &a.idle, &open.part[0]);
	attribution_of(rec, rail, p->group, &a);
	energy_of(rec, rail, p->group, &open);
	for (unsigned int g = 1; g <= p->nr; g++)
		part_print(&rec->rail[rail], "process", p->tgid[g], &a.part[g], &open.part[g]);
}

int main(int argc, char **argv)
{
	struct recording *rec = argc == 2 ? recording_open(argv[1]) : NULL;
	struct processes p;
	uint16_t *group;

	if (!rec || !processes_of(rec, &p)) {
		fputs("usage: lab-attributed RECORDING\n", stderr);
		return 2;
	}
	group = calloc(rec->phases + 1, sizeof(*group));
	puts("rail,what,number,joules,low,high,open,open_low,open_high,unknown_ns");
	for (size_t i = 0; group && i < rec->rails; i++) {
		phases_print(rec, i, group);
		sums_print(rec, i, &p);
	}
	free(group);
	processes_free(&p);
	recording_close(rec);
	return 0;
}
