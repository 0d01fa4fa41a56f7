// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../../common/names.h"
#include "../../common/text.h"
#include "../ctl.h"
#include "../machine/actuator.h"
#include "../machine/kernel.h"
#include "why.h"

static const char usage[] =
	"usage: gchintctl why\n"
	"       gchintctl why FILE [--at SECONDS] [-n N]\n"
	"For each frequency policy: the frequency in force, who governs it, whether hints act\n"
	"on it and for what reason they last did, and who bounds it, as far as the kernel\n"
	"tells. Where CPUs differ, whether the scheduler places tasks by energy.\n"
	"\n"
	"Of a recording the longest pauses, and waits of a thread for others that collect, each\n"
	"with its cause, the frequency that the CPU at work had against the highest, how much\n"
	"earlier a collection would have spared a wait, and what ran beside it; or, with --at, of "
	"each policy at that\n"
	"instant the frequency, the decision behind it, who asked for it, the limits that\n"
	"bounded it, and the phases that were under way.\n"
	"\n"
	"  -a, --at SECONDS  since the recording began, as lists and pictures count them\n"
	"  -n, --lines N     pauses in the list; 10 unless told\n";

#define CPUFREQ "devices/system/cpu/cpufreq"

struct why {
	struct root root;
	struct kernel_policies kernel;
	unsigned int cooled;
	char cooler[64];
};

/* A cooling device states its type, but not always which policy it limits. */
static int why_count_cooler(void *data, const char *name)
{
	struct why *w = data;
	char type[64];
	uint64_t state;

	if (root_read(type, sizeof(type), "%s/class/thermal/%s/type", w->root.sysfs, name) <= 0 ||
	    (!strstr(type, "cpufreq") && strcmp(type, "Processor")) ||
	    root_u64(&state, "%s/class/thermal/%s/cur_state", w->root.sysfs, name) || !state)
		return 0;
	if (!w->cooled++)
		snprintf(w->cooler, sizeof(w->cooler), "%s %s", name, type);
	return 0;
}

static bool policy_read_khz(const struct why *w, const char *policy, const char *file,
			    uint64_t *value)
{
	return !root_u64(value, "%s/" CPUFREQ "/%s/%s", w->root.sysfs, policy, file) && *value;
}

static void khz_print(const char *what, bool known, uint64_t value)
{
	if (known)
		printf("  %s %.1f MHz", what, (double)value / 1000);
	else
		printf("  %s ?", what);
}

/* What limits a policy to less than the hardware's frequency range. */
static void why_print_bounds(const struct why *w, const char *policy,
			     const struct message_policy *p)
{
	uint64_t max, hw, bios, min, low;
	bool said = false;

	if (policy_read_khz(w, policy, "cpuinfo_max_freq", &hw) &&
	    policy_read_khz(w, policy, "scaling_max_freq", &max) && max < hw) {
		printf("  highest %.1f of %.1f MHz:", (double)max / 1000, (double)hw / 1000);
		if (p && p->has & HAS(GCHINT_POLICY_A_CAP_KHZ)) {
			printf(" gchint (limits, %s)", name_reason(p->reason));
			said = true;
		}
		if (policy_read_khz(w, policy, "bios_limit", &bios) && bios < hw) {
			fputs(" the firmware", stdout);
			said = true;
		}
		if (w->cooled) {
			printf(" maybe heat (%s)", w->cooler);
			said = true;
		}
		if (!said)
			fputs(" scaling_max_freq, by a user or a daemon", stdout);
		putchar('\n');
	}
	if (policy_read_khz(w, policy, "cpuinfo_min_freq", &low) &&
	    policy_read_khz(w, policy, "scaling_min_freq", &min) && min > low)
		printf("  lowest %.1f instead of %.1f MHz: %s\n", (double)min / 1000,
		       (double)low / 1000,
		       p && p->has & HAS(GCHINT_POLICY_A_FLOOR_KHZ) ?
			       "gchint (limits)" :
			       "scaling_min_freq, by a user or a daemon");
}

static int why_print_policy(void *data, const char *policy)
{
	const struct why *w = data;
	const struct message_policy *p =
		kernel_policy(&w->kernel, strtoull(policy + strlen("policy"), NULL, 10));
	char governor[64], actuator[32];
	uint64_t value;
	bool known;

	if (root_read(governor, sizeof(governor), "%s/" CPUFREQ "/%s/scaling_governor",
		      w->root.sysfs, policy) <= 0)
		snprintf(governor, sizeof(governor), "?");
	known = policy_read_khz(w, policy, "scaling_cur_freq", &value);
	printf("%-10s", policy);
	khz_print("now", known, value);
	printf("  governor %s\n", governor);
	if (ways_in_force(actuator, sizeof(actuator), &w->root, policy))
		puts("  hints: gchint is not loaded");
	else if (!strcmp(actuator, "off"))
		puts("  hints: recorded, and nothing else happens (gchintctl use auto)");
	else if (!p || !(p->has & HAS(GCHINT_POLICY_A_MODE)))
		printf("  hints: by %s\n", actuator);
	else if (p->mode == GCHINT_MODE_OFF)
		printf("  hints: by %s, but its mode is off\n", actuator);
	else
		printf("  hints: by %s, mode %s, last reason %s\n", actuator, name_mode(p->mode),
		       name_reason(p->reason));
	why_print_bounds(w, policy, p);
	return 0;
}

int cmd_why(const struct ctl *ctl, int argc, char **argv)
{
	char path[300];
	static const struct option longs[] = {
		{ "at", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ "lines", required_argument, NULL, 'n' },
		{ 0 },
	};
	double seconds = NAN;
	uint64_t lines = 10;
	struct ways machine;
	struct why *w;
	int opt, ret;
	char *rest;

	(void)ctl;
	while ((opt = getopt_long(argc, argv, "a:hn:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'a':
			seconds = strtod(optarg, &rest);
			if (rest == optarg || *rest || !isfinite(seconds)) {
				ctl_error("why: --at %s: seconds since the recording began are "
					  "wanted",
					  optarg);
				return CTL_USAGE;
			}
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'n':
			if (text_u64(optarg, &lines) || !lines) {
				ctl_error("why: -n %s: a number from 1 is wanted", optarg);
				return CTL_USAGE;
			}
			break;
		default:
			return ctl_usage("why");
		}
	}
	if (optind + 1 < argc || (optind == argc && argc > 1)) {
		ctl_error("why: one recording, or nothing for what is now; --help tells more");
		return CTL_USAGE;
	}
	if (optind < argc)
		return why_recording(argv[optind], seconds, lines);
	w = calloc(1, sizeof(*w));
	if (!w)
		return CTL_FAILED;
	root_init(&w->root);
	kernel_policies(&w->kernel);
	snprintf(path, sizeof(path), "%s/class/thermal", w->root.sysfs);
	root_list(path, "cooling_device", why_count_cooler, w);
	snprintf(path, sizeof(path), "%s/" CPUFREQ, w->root.sysfs);
	ret = root_list(path, "policy", why_print_policy, w);
	if (ret == -ENOENT)
		puts("no cpufreq policy here (a virtual machine?): hints are recorded, and nothing "
		     "else happens");
	ways_look(&machine, &w->root);
	ways_print_placement(&machine);
	free(w);
	return CTL_OK;
}
