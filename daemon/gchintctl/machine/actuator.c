// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/module.h"
#include "../ctl.h"
#include "actuators.h"

static const char usage[] =
	"usage: gchintctl actuator [auto|governor|limits|off]\n"
	"Chooses how hints act on this machine, on all of its policies; without a name,\n"
	"prints the one in force and what the others lose here.\n"
	"  governor  gchint is the governor: exact, learns, boosts and caps\n"
	"  limits    policies are limited, whatever governor they have\n"
	"  off       no actuator; restores the previous governors, if there are any\n"
	"  auto      the best one for this machine, with the reason\n"
	"It lasts until the module is unloaded or the machine restarts.\n";

#define CPUFREQ	 "devices/system/cpu/cpufreq"
#define ACTUATOR "class/misc/gchint/actuator"
/* The governors to restore, one line "policyN name" for each policy. */
#define BEFORE "/run/gchint-governors"

static const char *const names[] = { "auto", "governor", "limits", "off" };

struct actuator {
	struct root root;
	struct actuators machine;
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
	struct actuator *a = data;
	char governor[64];

	if (root_read(governor, sizeof(governor), "%s/" CPUFREQ "/%s/scaling_governor",
		      a->root.sysfs, policy) > 0 &&
	    strcmp(governor, "gchint"))
		fprintf(a->before, "%s %s\n", policy, governor);
	return 0;
}

/* Appends: the first line of a policy is its original governor, and the one restored. */
static int governors_save(struct actuator *a)
{
	char path[PATH_MAX];
	int ret;

	a->before = fopen(governors_path(), "a");
	if (!a->before)
		return -errno;
	snprintf(path, sizeof(path), "%s/" CPUFREQ, a->root.sysfs);
	ret = root_list(path, "policy", policy_save_governor, a);
	if (fclose(a->before) && !ret)
		ret = -errno;
	return ret;
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
	struct actuator *a = data;
	char governor[64];
	int ret;

	if (root_read(governor, sizeof(governor), "%s/" CPUFREQ "/%s/scaling_governor",
		      a->root.sysfs, policy) <= 0 ||
	    strcmp(governor, "gchint"))
		return 0;
	if (!policy_find_saved(policy, governor)) {
		ctl_error("%s: the governor before gchint is not known; write a governor to its "
			  "scaling_governor",
			  policy);
		a->ret = -ENOENT;
		return 0;
	}
	ret = root_write(governor, "%s/" CPUFREQ "/%s/scaling_governor", a->root.sysfs, policy);
	if (ret) {
		ctl_error("%s: scaling_governor %s: %s", policy, governor, strerror(-ret));
		a->ret = ret;
	}
	return 0;
}

static int governors_restore(struct actuator *a)
{
	char path[PATH_MAX];

	a->ret = 0;
	snprintf(path, sizeof(path), "%s/" CPUFREQ, a->root.sysfs);
	root_list(path, "policy", policy_restore_governor, a);
	if (!a->ret)
		unlink(governors_path());
	return a->ret;
}

static int policy_set_gchint(void *data, const char *policy)
{
	struct actuator *a = data;

	return root_write("gchint", "%s/" CPUFREQ "/%s/scaling_governor", a->root.sysfs, policy);
}

static int governors_set_gchint(struct actuator *a)
{
	char path[PATH_MAX];
	int ret = governors_save(a);

	if (ret) {
		ctl_error("%s: %s", governors_path(), strerror(-ret));
		return ret;
	}
	snprintf(path, sizeof(path), "%s/" CPUFREQ, a->root.sysfs);
	ret = root_list(path, "policy", policy_set_gchint, a);
	if (ret) {
		ctl_error("scaling_governor gchint: %s", strerror(-ret));
		governors_restore(a);
	}
	return ret;
}

static int actuator_write(struct actuator *a, const char *name)
{
	return root_write(name, "%s/" ACTUATOR "/all", a->root.sysfs);
}

/* Ends the old actuator before the new one begins: two are never active at once. */
static int actuator_switch(struct actuator *a, const char *name)
{
	int ret;

	if (strcmp(name, "governor")) {
		ret = governors_restore(a);
		return ret ? ret : actuator_write(a, name);
	}
	ret = actuator_write(a, "off");
	return ret ? ret : governors_set_gchint(a);
}

static const char *actuator_explain_error(const struct actuator *a, const char *name, int error)
{
	if (error == -EACCES || error == -EPERM)
		return "only root may choose it";
	if (error == -EBUSY)
		return "another actuator is in force on a policy; gchintctl actuator off";
	if (error == -EINVAL && !strcmp(name, "governor") && a->machine.fixed)
		return "its driver takes no governor; use limits";
	return strerror(-error);
}

/* The best actuator for this machine; @why receives the reason. */
static const char *actuator_choose(const struct actuators *w, const char **why)
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
static void actuator_print_clamp(const struct actuators *w)
{
	if (w->unlike)
		puts("program   gchintctl run --hints clamp -- COMMAND lets a program bound its "
		     "own "
		     "threads, under schedutil");
}

static int module_report_absent(void)
{
	char remedy[MODULE_REMEDY_SIZE];

	ctl_error("actuator: the module is not loaded: %s", module_remedy(remedy, sizeof(remedy)));
	return CTL_FAILED;
}

static int actuator_print_status(struct actuator *a)
{
	const char *why, *fits = actuator_choose(&a->machine, &why);
	char name[32];
	int ret = actuator_in_force(name, sizeof(name), &a->root, "all");

	if (ret)
		return module_report_absent();
	printf("in force  %s\n", name);
	printf("auto      %s: %s\n", fits, why);
	actuator_print_clamp(&a->machine);
	for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (actuator_drawback(&a->machine, names[i]))
			printf("%-9s %s\n", names[i], actuator_drawback(&a->machine, names[i]));
	return CTL_OK;
}

static int actuator_apply(struct actuator *a, const char *wanted)
{
	const char *name = wanted, *why = NULL;
	int ret;

	if (!strcmp(wanted, "auto"))
		name = actuator_choose(&a->machine, &why);
	ret = actuator_switch(a, name);
	if (ret) {
		ctl_error("actuator %s: %s", name, actuator_explain_error(a, name, ret));
		return CTL_FAILED;
	}
	printf("in force  %s%s%s\n", name, why ? ": " : "", why ? why : "");
	if (actuator_drawback(&a->machine, name))
		printf("lost      %s\n", actuator_drawback(&a->machine, name));
	if (why)
		actuator_print_clamp(&a->machine);
	return CTL_OK;
}

int cmd_actuator(const struct ctl *ctl, int argc, char **argv)
{
	struct actuator a = { 0 };
	bool policies, loaded;
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
		ctl_error("actuator: one of auto, governor, limits, off; see gchintctl actuator "
			  "--help");
		return CTL_USAGE;
	}
	root_init(&a.root);
	policies = !actuators_read(&a.machine, &a.root);
	loaded = !actuator_in_force(now, sizeof(now), &a.root, "all");
	/* What is off already is no failure. */
	if (argc > 1 && !strcmp(argv[1], "off") && !loaded) {
		if (governors_restore(&a))
			return CTL_FAILED;
		printf("in force  off: %s, nothing to restore\n",
		       policies ? "the module is not loaded" : "no cpufreq policy");
		return CTL_OK;
	}
	if (!policies) {
		ctl_error("actuator: no cpufreq policy: hints are recorded and have no other "
			  "effect; load the board's cpufreq driver, if it has one");
		return CTL_FAILED;
	}
	if (argc < 2)
		return actuator_print_status(&a);
	if (!loaded)
		return module_report_absent();
	return actuator_apply(&a, argv[1]);
}
