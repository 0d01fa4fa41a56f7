// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ctl.h"
#include "actuator.h"

static const char usage[] =
	"usage: gchintctl use [auto|governor|limits|off]\n"
	"Chooses how hints act on this machine, on all of its policies; without a name,\n"
	"tells what is in force and what can be.\n"
	"  governor  gchint is the governor: exact, learns, boosts and caps\n"
	"  limits    policies are limited beside whatever governs them\n"
	"  off       nothing; puts back what was there before\n"
	"  auto      what fits best, and why\n"
	"It lasts until the module is unloaded or the machine restarts.\n";

#define CPUFREQ	 "devices/system/cpu/cpufreq"
#define ACTUATOR "class/misc/gchint/actuator"
/* The governors to restore, one line "policyN name" for each policy. */
#define BEFORE "/run/gchint-governors"

static const char *const names[] = { "auto", "governor", "limits", "off" };

struct use {
	struct root root;
	struct ways ways;
	FILE *before;
	int ret;
};

static const char *governors_path(void)
{
	const char *path = getenv("GCHINT_GOVERNORS");

	return path ? path : BEFORE;
}

static int policy_save_governor(void *data, const char *policy)
{
	struct use *u = data;
	char governor[64];

	if (root_read(governor, sizeof(governor), "%s/" CPUFREQ "/%s/scaling_governor",
		      u->root.sysfs, policy) > 0 &&
	    strcmp(governor, "gchint"))
		fprintf(u->before, "%s %s\n", policy, governor);
	return 0;
}

/* Appends: the first line of a policy is its original governor, and the one restored. */
static int governors_save(struct use *u)
{
	char path[PATH_MAX];

	u->before = fopen(governors_path(), "a");
	if (!u->before)
		return -errno;
	snprintf(path, sizeof(path), "%s/" CPUFREQ, u->root.sysfs);
	root_list(path, "policy", policy_save_governor, u);
	return fclose(u->before) ? -errno : 0;
}

/* Reads the governor that a policy had before gchint; false if it is not known. */
static bool policy_find_saved(const char *policy, char *governor)
{
	char line[128], name[64];
	FILE *f = fopen(governors_path(), "r");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%63s %63s", name, governor) == 2 && !strcmp(name, policy);
	if (f)
		fclose(f);
	return found;
}

static int policy_restore_governor(void *data, const char *policy)
{
	struct use *u = data;
	char governor[64];
	int ret;

	if (root_read(governor, sizeof(governor), "%s/" CPUFREQ "/%s/scaling_governor",
		      u->root.sysfs, policy) <= 0 ||
	    strcmp(governor, "gchint"))
		return 0;
	if (!policy_find_saved(policy, governor)) {
		ctl_error("%s: who governed before gchint is not known; write a governor to its "
			  "scaling_governor",
			  policy);
		u->ret = -ENOENT;
		return 0;
	}
	ret = root_write(governor, "%s/" CPUFREQ "/%s/scaling_governor", u->root.sysfs, policy);
	if (ret) {
		ctl_error("%s: scaling_governor %s: %s", policy, governor, strerror(-ret));
		u->ret = ret;
	}
	return 0;
}

static int governors_restore(struct use *u)
{
	char path[PATH_MAX];

	u->ret = 0;
	snprintf(path, sizeof(path), "%s/" CPUFREQ, u->root.sysfs);
	root_list(path, "policy", policy_restore_governor, u);
	if (!u->ret)
		unlink(governors_path());
	return u->ret;
}

static int policy_set_gchint(void *data, const char *policy)
{
	struct use *u = data;

	return root_write("gchint", "%s/" CPUFREQ "/%s/scaling_governor", u->root.sysfs, policy);
}

static int governors_set_gchint(struct use *u)
{
	char path[PATH_MAX];
	int ret = governors_save(u);

	if (ret) {
		ctl_error("%s: %s", governors_path(), strerror(-ret));
		return ret;
	}
	snprintf(path, sizeof(path), "%s/" CPUFREQ, u->root.sysfs);
	ret = root_list(path, "policy", policy_set_gchint, u);
	if (ret) {
		ctl_error("scaling_governor gchint: %s", strerror(-ret));
		governors_restore(u);
	}
	return ret;
}

static int actuator_write(struct use *u, const char *name)
{
	return root_write(name, "%s/" ACTUATOR "/all", u->root.sysfs);
}

/* Ends the old actuator before the new one begins: two are never active at once. */
static int actuator_switch(struct use *u, const char *name)
{
	int ret;

	if (strcmp(name, "governor")) {
		ret = governors_restore(u);
		return ret ? ret : actuator_write(u, name);
	}
	ret = actuator_write(u, "off");
	return ret ? ret : governors_set_gchint(u);
}

static const char *actuator_explain_error(const struct use *u, const char *name, int error)
{
	if (error == -EACCES || error == -EPERM)
		return "only root may choose";
	if (error == -EBUSY)
		return "another actuator is in force on a policy; gchintctl use off";
	if (error == -EINVAL && !strcmp(name, "governor") && u->ways.fixed)
		return "its driver takes no governor; use limits";
	return strerror(-error);
}

/* The best actuator for this machine; @why receives the reason. */
static const char *actuator_choose(const struct ways *w, const char **why)
{
	if (w->unlike) {
		*why = "CPUs differ: limits keep Energy-Aware Scheduling";
		return "limits";
	}
	if (w->governable < w->policies) {
		*why = "the driver takes no governor";
		return "limits";
	}
	if (w->guided) {
		*why = "the hardware chooses at or above what a governor asks for (guided)";
		return "limits";
	}
	*why = "CPUs are alike, and the driver takes governors";
	return "governor";
}

/* On heterogeneous cores a program can clamp its own threads, whatever the actuator. */
static void use_print_clamp(const struct ways *w)
{
	if (w->unlike)
		puts("program   gchintctl run --hints clamp -- COMMAND lets a program bound its "
		     "own "
		     "threads, under schedutil");
}

static int use_print_status(struct use *u)
{
	const char *why, *fits = actuator_choose(&u->ways, &why);
	char name[32];
	int ret = ways_in_force(name, sizeof(name), &u->root, "all");

	if (ret) {
		ctl_error("use: the module is not loaded: modprobe cpufreq_gchint");
		return CTL_FAILED;
	}
	printf("in force  %s\n", name);
	printf("auto      %s: %s\n", fits, why);
	use_print_clamp(&u->ways);
	for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (ways_lost(&u->ways, names[i]))
			printf("%-9s %s\n", names[i], ways_lost(&u->ways, names[i]));
	return CTL_OK;
}

static int use_apply_choice(struct use *u, const char *wanted)
{
	const char *name = wanted, *why = NULL;
	int ret;

	if (!strcmp(wanted, "auto"))
		name = actuator_choose(&u->ways, &why);
	ret = actuator_switch(u, name);
	if (ret) {
		ctl_error("use %s: %s", name, actuator_explain_error(u, name, ret));
		return CTL_FAILED;
	}
	printf("in force  %s%s%s\n", name, why ? ": " : "", why ? why : "");
	if (ways_lost(&u->ways, name))
		printf("lost      %s\n", ways_lost(&u->ways, name));
	if (why)
		use_print_clamp(&u->ways);
	return CTL_OK;
}

int cmd_use(const struct ctl *ctl, int argc, char **argv)
{
	struct use u = { 0 };
	char now[32];
	size_t i;

	(void)ctl;
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(usage, stdout);
		return CTL_OK;
	}
	for (i = 0; argc > 1 && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(argv[1], names[i]))
			break;
	if (argc > 2 || (argc > 1 && i == sizeof(names) / sizeof(*names))) {
		ctl_error("use: one of auto, governor, limits, off; --help tells more");
		return CTL_USAGE;
	}
	root_init(&u.root);
	if (ways_look(&u.ways, &u.root)) {
		ctl_error("use: no cpufreq policy: hints are recorded, and nothing else happens; "
			  "load the board's cpufreq driver, if it has one");
		return CTL_FAILED;
	}
	if (argc < 2)
		return use_print_status(&u);
	if (ways_in_force(now, sizeof(now), &u.root, "all")) {
		ctl_error("use: the module is not loaded: modprobe cpufreq_gchint");
		return CTL_FAILED;
	}
	return use_apply_choice(&u, argv[1]);
}
