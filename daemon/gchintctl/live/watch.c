// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the state of frequency policies at an interval, from sysfs and from the module if
 * it is loaded. Nothing is recorded.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/json.h"
#include "../../common/names.h"
#include "../../common/text.h"
#include "../ctl.h"
#include "../machine/actuators.h"
#include "../machine/kernel.h"

static const char usage[] =
	"usage: gchintctl [--json] watch [-d SECONDS] [-n N] [POLICY]\n"
	"Prints a line per interval for each frequency policy, or for one (policy4, or the number\n"
	"of one of its CPUs): the current frequency, the mean frequency since the previous line,\n"
	"the limits in force, the number of changes, the governor, how hints act on it and the\n"
	"reason of their last action. Nothing is recorded; mean and changes are the driver's own\n"
	"statistics.\n"
	"\n"
	"  -d, --delay SECONDS  interval between lines (default: 1)\n"
	"  -n, --times N        number of intervals (default: no limit)\n";

#define CPUFREQ	       "devices/system/cpu/cpufreq"
#define OPPS	       512 /* lines of two numbers that fit into a page of sysfs */
#define LINES_PER_HEAD 20

/* The counters of a policy at the previous sample, to compute the difference. */
struct seen {
	char name[32];
	bool counted;
	uint64_t changes;
	uint32_t khz[OPPS];
	uint64_t ticks[OPPS];
	unsigned int opps;
};

/* What is printed of a policy; an unknown number is UINT64_MAX, an unknown text empty. */
struct sample {
	uint64_t khz, mean_khz, min_khz, max_khz, changes;
	char governor[32], actuator[32];
	const char *mode, *reason; /* NULL not known */
};

struct watch {
	struct root root;
	struct kernel_policies kernel;
	struct seen *seen;
	unsigned int count;
	unsigned int lines;
	const char *wanted; /* NULL all */
	bool json, found;
	uint64_t now;
	char clock[16];
};

static uint64_t policy_read_u64(const struct watch *w, const char *policy, const char *file)
{
	uint64_t value;

	return root_u64(&value, "%s/" CPUFREQ "/%s/%s", w->root.sysfs, policy, file) ? UINT64_MAX :
										       value;
}

static struct seen *watch_find_seen(struct watch *w, const char *policy)
{
	struct seen *more;

	for (unsigned int i = 0; i < w->count; i++)
		if (!strcmp(w->seen[i].name, policy))
			return &w->seen[i];
	more = realloc(w->seen, (w->count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	w->seen = more;
	w->seen[w->count] = (struct seen){ .counted = false };
	snprintf(w->seen[w->count].name, sizeof(w->seen[w->count].name), "%s", policy);
	return &w->seen[w->count++];
}

static uint64_t seen_find_ticks(const struct seen *seen, uint32_t khz)
{
	for (unsigned int i = 0; i < seen->opps; i++)
		if (seen->khz[i] == khz)
			return seen->ticks[i];
	return 0;
}

/* The mean since the previous sample, from the time at each frequency (in 10 ms). */
static uint64_t policy_read_mean(const struct watch *w, const char *policy, struct seen *seen)
{
	struct seen now = { .opps = 0 };
	double weighted = 0, ticks = 0;
	char text[4096], *line, *save = NULL;
	const bool again = seen->opps;

	if (root_read(text, sizeof(text), "%s/" CPUFREQ "/%s/stats/time_in_state", w->root.sysfs,
		      policy) <= 0)
		return UINT64_MAX;
	for (line = strtok_r(text, "\n", &save); line && now.opps < OPPS;
	     line = strtok_r(NULL, "\n", &save)) {
		uint64_t was;

		if (sscanf(line, "%" SCNu32 " %" SCNu64, &now.khz[now.opps],
			   &now.ticks[now.opps]) != 2)
			continue;
		was = seen_find_ticks(seen, now.khz[now.opps]);
		if (now.ticks[now.opps] > was) {
			weighted += (double)(now.ticks[now.opps] - was) * now.khz[now.opps];
			ticks += (double)(now.ticks[now.opps] - was);
		}
		now.opps++;
	}
	memcpy(seen->khz, now.khz, sizeof(now.khz));
	memcpy(seen->ticks, now.ticks, sizeof(now.ticks));
	seen->opps = now.opps;
	return again && ticks > 0 ? (uint64_t)(weighted / ticks + 0.5) : UINT64_MAX;
}

/*
 * The changes since the previous sample. The driver's statistics count all of them; without
 * these, the module's count of its own requests is used.
 */
static uint64_t policy_count_changes(const struct watch *w, const char *policy,
				     const struct message_policy *p, struct seen *seen)
{
	uint64_t total = policy_read_u64(w, policy, "stats/total_trans"), since = UINT64_MAX;

	if (total == UINT64_MAX && p && p->has & HAS(GCHINT_POLICY_A_TRANSITIONS))
		total = p->transitions;
	if (total == UINT64_MAX)
		return total;
	if (seen->counted && total >= seen->changes)
		since = total - seen->changes;
	seen->changes = total;
	seen->counted = true;
	return since;
}

static void sample_read(const struct watch *w, const char *policy, struct seen *seen,
			struct sample *l)
{
	const struct message_policy *p =
		kernel_policy(&w->kernel, strtoull(policy + strlen("policy"), NULL, 10));

	l->khz = policy_read_u64(w, policy, "scaling_cur_freq");
	l->min_khz = policy_read_u64(w, policy, "scaling_min_freq");
	l->max_khz = policy_read_u64(w, policy, "scaling_max_freq");
	l->mean_khz = policy_read_mean(w, policy, seen);
	l->changes = policy_count_changes(w, policy, p, seen);
	if (root_read(l->governor, sizeof(l->governor), "%s/" CPUFREQ "/%s/scaling_governor",
		      w->root.sysfs, policy) <= 0)
		*l->governor = '\0';
	if (actuator_in_force(l->actuator, sizeof(l->actuator), &w->root, policy))
		*l->actuator = '\0';
	l->mode = p && p->has & HAS(GCHINT_POLICY_A_MODE) ? name_mode(p->mode) : NULL;
	l->reason = p && p->has & HAS(GCHINT_POLICY_A_REASON) ? name_reason(p->reason) : NULL;
}

static const char *khz_format(uint64_t khz, char *buf, size_t size)
{
	if (khz == UINT64_MAX)
		snprintf(buf, size, "?");
	else
		snprintf(buf, size, "%.1f", (double)khz / 1000);
	return buf;
}

static void sample_print(struct watch *w, const char *policy, const struct sample *l)
{
	char now[24], average[24], low[24], high[24], limits[52], many[24] = "?", hints[72];

	if (!(w->lines++ % LINES_PER_HEAD))
		printf("%-10s %-9s %8s %8s %15s %8s  %-12s %-17s %s\n", "TIME", "POLICY", "NOW MHz",
		       "MEAN MHz", "LIMITS MHz", "CHANGES", "GOVERNOR", "HINTS BY, MODE", "REASON");
	snprintf(limits, sizeof(limits), "%s-%s", khz_format(l->min_khz, low, sizeof(low)),
		 khz_format(l->max_khz, high, sizeof(high)));
	if (l->changes != UINT64_MAX)
		snprintf(many, sizeof(many), "%" PRIu64, l->changes);
	snprintf(hints, sizeof(hints), "%s%s%s", *l->actuator ? l->actuator : "not loaded",
		 l->mode ? ", " : "", l->mode ? l->mode : "");
	printf("%-10s %-9s %8s %8s %15s %8s  %-12s %-17s %s\n", w->clock, policy,
	       khz_format(l->khz, now, sizeof(now)),
	       khz_format(l->mean_khz, average, sizeof(average)), limits, many,
	       *l->governor ? l->governor : "?", hints,
	       l->reason    ? l->reason :
	       *l->actuator ? "?" :
			      "-");
}

static void sample_json_value(struct json *j, const char *key, uint64_t known)
{
	if (known == UINT64_MAX)
		json_null(j, key);
	else
		json_uint(j, key, known);
}

static void sample_print_json(const struct watch *w, const char *policy, const struct sample *l)
{
	struct json j = { .f = stdout };

	json_object(&j, NULL);
	json_uint(&j, "t", w->now);
	json_text(&j, "policy", policy);
	sample_json_value(&j, "khz", l->khz);
	sample_json_value(&j, "mean_khz", l->mean_khz);
	sample_json_value(&j, "min_khz", l->min_khz);
	sample_json_value(&j, "max_khz", l->max_khz);
	sample_json_value(&j, "changes", l->changes);
	json_text(&j, "governor", *l->governor ? l->governor : NULL);
	json_text(&j, "hints", *l->actuator ? l->actuator : NULL);
	json_text(&j, "mode", l->mode);
	json_text(&j, "reason", l->reason);
	json_end(&j);
}

/* A policy is selected by its name, or by the number of one of its CPUs. */
static bool policy_is_wanted(const struct watch *w, const char *policy)
{
	char cpus[CPUS_TEXT];
	uint8_t set[CPUS_MAX];
	uint64_t cpu;

	if (!w->wanted || !strcmp(w->wanted, policy))
		return true;
	if (text_u64(w->wanted, &cpu) || cpu >= CPUS_MAX ||
	    root_read(cpus, sizeof(cpus), "%s/" CPUFREQ "/%s/related_cpus", w->root.sysfs,
		      policy) <= 0)
		return false;
	for (char *c = cpus; *c; c++)
		*c = *c == ' ' ? ',' : *c;
	return text_cpulist(cpus, set, CPUS_MAX) > 0 && set[cpu];
}

static int watch_sample_policy(void *data, const char *policy)
{
	struct watch *w = data;
	struct sample l = { 0 };
	struct seen *seen;

	if (!policy_is_wanted(w, policy))
		return 0;
	seen = watch_find_seen(w, policy);
	if (!seen)
		return 0;
	w->found = true;
	sample_read(w, policy, seen, &l);
	if (w->json)
		sample_print_json(w, policy, &l);
	else
		sample_print(w, policy, &l);
	return 0;
}

static int watch_sample(struct watch *w)
{
	time_t now = time(NULL);
	char path[300];
	struct tm tm;
	int ret;

	localtime_r(&now, &tm);
	strftime(w->clock, sizeof(w->clock), "%H:%M:%S", &tm);
	w->now = clock_now();
	kernel_policies(&w->kernel);
	snprintf(path, sizeof(path), "%s/" CPUFREQ, w->root.sysfs);
	ret = root_list(path, "policy", watch_sample_policy, w);
	fflush(stdout);
	if (w->found)
		return CTL_OK;
	if (ret == -ENOENT || !w->wanted)
		ctl_error("watch: this machine has no cpufreq policy (a virtual machine?)");
	else
		ctl_error("watch: there is no policy %s; gchintctl status lists the policies",
			  w->wanted);
	return CTL_FAILED;
}

/* Sleeps until the next sample. Samples missed while we were stopped are skipped. */
static void watch_sleep(uint64_t *next, uint64_t period)
{
	struct timespec ts;

	*next += period;
	if (*next < clock_now())
		*next = clock_now() + period;
	ts.tv_sec = (time_t)(*next / NSEC_PER_SEC);
	ts.tv_nsec = (long)(*next % NSEC_PER_SEC);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

int cmd_watch(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "times", required_argument, NULL, 'n' },
		{ 0 },
	};
	uint64_t times = 0, next; /* 0: until it is ended */
	double period = 1;
	struct watch *w;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "d:hn:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'd':
			period = atof(optarg);
			break;
		case 'n':
			if (text_u64(optarg, &times) || !times) {
				ctl_error("watch: -n takes a number from 1, not %s", optarg);
				return CTL_USAGE;
			}
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		default:
			return ctl_usage("watch");
		}
	}
	if (!(period >= 0.1 && period <= 3600) || optind + 1 < argc) {
		ctl_error("watch: -d takes 0.1 to 3600, and one policy may be named; see gchintctl "
			  "watch --help");
		return CTL_USAGE;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return CTL_FAILED;
	root_init(&w->root);
	w->json = ctl->json;
	w->wanted = argv[optind];
	next = clock_now();
	for (;;) {
		ret = watch_sample(w);
		if (ret || (times && !--times) || ferror(stdout))
			break;
		watch_sleep(&next, (uint64_t)(period * 1e9));
	}
	free(w->seen);
	free(w);
	return ret;
}
