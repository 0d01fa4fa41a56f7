// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Energy-Aware Scheduling pauses for all CPUs of a root domain when something needs
 * more than four fifths of one of them. That it is on is in procfs; that it has paused
 * only the module hears, and says it in debugfs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "placement.h"
#include "ways.h"

static void look_domain(struct placement *p, const char *line)
{
	unsigned int cpu, over;
	uint64_t times, ms;
	bool first = !p->told;

	if (sscanf(line, "cpu=%u overutilised=%u times=%" SCNu64 " said_ms=%" SCNu64, &cpu, &over,
		   &times, &ms) != 4)
		return;
	p->told = true;
	p->times += times;
	if (!first && (p->paused != !!over ? p->paused : p->said_ms <= ms))
		return;
	p->paused = over;
	p->cpu = cpu;
	p->said_ms = ms;
}

static void look_domains(struct placement *p, const struct root *root)
{
	char text[1024], way[32], *rest = text, *line;
	int ret = root_read(text, sizeof(text), "%s/gchint/overutilised", root->debugfs);

	/* To others debugfs is closed, whether the module is there or not. */
	p->secret =
		(ret == -EACCES || ret == -EPERM) && !ways_in_force(way, sizeof(way), root, "all");
	if (ret < 0)
		return;
	while ((line = strsep(&rest, "\n")))
		look_domain(p, line);
}

void placement_look(struct placement *p, const struct root *root)
{
	struct ways ways;

	memset(p, 0, sizeof(*p));
	if (ways_look(&ways, root))
		return;
	p->unlike = ways.unlike;
	p->governed = ways.governed;
	p->energy_aware = ways.energy_aware;
	if (p->energy_aware)
		look_domains(p, root);
}

void placement_print(const struct placement *p)
{
	if (!p->unlike)
		return;
	if (p->governed) {
		puts("placement CPUs differ, and gchint as the governor has ended Energy-Aware "
		     "Scheduling\n            mend: gchintctl use clamp");
		return;
	}
	printf("placement CPUs differ; the scheduler %s by energy",
	       !p->energy_aware ? "does not place" :
	       p->paused	? "just now does not place" :
				  "places");
	if (p->paused)
		printf(": something needs more\n            than four fifths of a CPU (said on "
		       "CPU %u, %" PRIu64 " ms ago; %" PRIu64 " times since clamps\n            "
		       "are in force), and clamps bound frequencies alone\n"
		       "            mend: bound what is busy, as with uclampset -a -M 819 -p PID",
		       p->cpu, p->said_ms, p->times);
	else if (p->times)
		printf("\n            %" PRIu64 " times it has paused since clamps are in force",
		       p->times);
	else if (p->secret)
		fputs("; whether it has paused is told to root", stdout);
	putchar('\n');
}

void placement_json(const struct placement *p, struct json *j)
{
	if (!p->unlike) {
		json_null(j, "placement");
		return;
	}
	json_object(j, "placement");
	json_bool(j, "energy_aware", p->energy_aware);
	if (p->told) {
		json_bool(j, "paused", p->paused);
		json_uint(j, "cpu", p->cpu);
		json_uint(j, "said_ms", p->said_ms);
		json_uint(j, "times", p->times);
	} else {
		json_null(j, "paused");
		json_null(j, "cpu");
		json_null(j, "said_ms");
		json_null(j, "times");
	}
	json_end(j);
}
