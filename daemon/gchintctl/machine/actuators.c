// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include "actuators.h"

#define CPUFREQ	 "devices/system/cpu/cpufreq"
#define ACTUATOR "class/misc/gchint/actuator"

struct actuators_scan {
	struct actuators *actuators;
	const struct root *root;
	uint64_t capacity; /* of the first CPU that has one */
};

/* @list: words separated by blanks */
static bool list_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

static int scan_policy(void *data, const char *name)
{
	const struct actuators_scan *l = data;
	struct actuators *w = l->actuators;
	char text[512];

	w->policies++;
	if (root_read(text, sizeof(text), "%s/" CPUFREQ "/%s/scaling_available_governors",
		      l->root->sysfs, name) > 0)
		w->governable += list_has_word(text, "gchint");
	if (root_read(text, sizeof(text), "%s/" CPUFREQ "/%s/scaling_governor", l->root->sysfs,
		      name) <= 0)
		return 0;
	w->governed += !strcmp(text, "gchint");
	if (strcmp(text, "schedutil"))
		w->schedutil = false;
	/* A driver with its own governor, such as intel_pstate, offers only these two. */
	if (root_read(text, sizeof(text), "%s/" CPUFREQ "/%s/scaling_available_governors",
		      l->root->sysfs, name) > 0)
		w->fixed += !strcmp(text, "performance powersave");
	return 0;
}

static int scan_cpu(void *data, const char *name)
{
	struct actuators_scan *l = data;
	uint64_t capacity;

	if (root_u64(&capacity, "%s/devices/system/cpu/%s/cpu_capacity", l->root->sysfs, name))
		return 0;
	if (!l->capacity)
		l->capacity = capacity;
	else if (capacity != l->capacity)
		l->actuators->unlike = true;
	return 0;
}

int actuators_read(struct actuators *w, const struct root *root)
{
	struct actuators_scan l = { .actuators = w, .root = root };
	uint64_t aware = 0;
	char path[300], mode[16];

	memset(w, 0, sizeof(*w));
	w->schedutil = true;
	snprintf(path, sizeof(path), "%s/" CPUFREQ, root->sysfs);
	root_list(path, "policy", scan_policy, &l);
	if (!w->policies)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/devices/system/cpu", root->sysfs);
	root_list(path, "cpu", scan_cpu, &l);
	w->guided = root_read(mode, sizeof(mode), "%s/devices/system/cpu/amd_pstate/status",
			      root->sysfs) > 0 &&
		    !strcmp(mode, "guided");
	root_u64(&aware, "%s/sys/kernel/sched_energy_aware", root->procfs);
	w->energy_aware = w->unlike && w->schedutil && aware;
	return 0;
}

int actuator_in_force(char *name, size_t size, const struct root *root, const char *policy)
{
	int ret = root_read(name, size, "%s/" ACTUATOR "/%s", root->sysfs, policy);

	return ret < 0 ? ret : 0;
}

const char *actuator_drawback(const struct actuators *w, const char *name)
{
	if (!strcmp(name, "governor") && w->guided)
		return "caps are only requests: in amd-pstate's guided mode the hardware chooses "
		       "at or above the governor's request";
	if (!strcmp(name, "governor"))
		return w->unlike ? "Energy-Aware Scheduling ends, and utilisation clamps of other "
				   "programs have no effect: the scheduler requires schedutil" :
				   NULL;
	if (!strcmp(name, "limits"))
		return "frequency is bounded, not chosen; phases shorter than two wake-ups of "
		       "threads are ignored";
	return NULL;
}

void placement_print(const struct actuators *w)
{
	if (!w->unlike)
		return;
	if (w->governed)
		puts("placement CPUs differ, and gchint as the governor has ended Energy-Aware "
		     "Scheduling\n            fix: gchintctl actuator limits, or gchintctl run "
		     "--hints "
		     "clamp -- COMMAND");
	else
		printf("placement CPUs differ; the scheduler %s by energy\n",
		       w->energy_aware ? "places" : "does not place");
}

void placement_json(const struct actuators *w, struct json *j)
{
	if (!w->unlike) {
		json_null(j, "placement");
		return;
	}
	json_object(j, "placement");
	json_bool(j, "energy_aware", w->energy_aware);
	json_end(j);
}
