// SPDX-License-Identifier: MIT
#include "workloads/app-plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define KIB 1024.0
#define MIB (1024 * KIB)

const struct setting app_settings[] = {
	{ "active", "1", "threads that allocate" },
	{ "alloc", "217.47", "MiB allocated" },
	{ "explicit", "0", "explicit collections, spread evenly" },
	{ "idle-gaps", "0", "idle times of all threads, spread evenly" },
	{ "idle-ms", "5500", "length of an idle time: above 5 s the daemon trims" },
	{ "lifetime", "7.6 15.8 32.7",
	  "% of bytes that die within 128, 256, 512 KiB of allocation" },
	{ "live", "10.19", "MiB live" },
	{ "live-objects", "0.27", "millions of objects live" },
	{ "objects", "6.15", "millions of objects allocated" },
	{ "seed", "1", "first seed; thread i draws from seed+i" },
	{ "tail", "0.5", "MiB of allocation over which objects older than 512 KiB die" },
	{ "threads", "1", "all threads; those that are not active wait" },
	{ "work", "0",
	  "steps of arithmetic for each object: sets the collector's share of CPU time" },
	{ NULL, NULL, NULL },
};

static double mean_at(double rate, double share[APP_SIZES])
{
	double sum = 0, mean = 0;

	for (int i = 0; i < APP_SIZES; i++) {
		/* Relative to the end that weighs most: no overflow for either sign. */
		share[i] = exp(rate * (rate > 0 ? i - (APP_SIZES - 1) : i));
		sum += share[i];
	}
	for (int i = 0; i < APP_SIZES; i++) {
		share[i] /= sum;
		mean += share[i] * APP_SIZE(i);
	}
	return mean;
}

int app_sizes(double mean, double limit[APP_SIZES])
{
	double lo = -20, hi = 20, share[APP_SIZES], sum = 0;

	if (!(mean >= 17 && mean <= 1000))
		return -EDOM;
	for (int i = 0; i < 200; i++) {
		double rate = (lo + hi) / 2;

		if (mean_at(rate, share) < mean)
			lo = rate;
		else
			hi = rate;
	}
	for (int i = 0; i < APP_SIZES; i++) {
		sum += share[i];
		limit[i] = sum;
	}
	return 0;
}

/* Bytes of young objects that live at a time: the mean lifetime (Little's law). */
static double young_live(const struct app_plan *plan)
{
	double sum = 0;

	for (int i = 1; i < 5; i++)
		sum += (plan->knot[i] - plan->knot[i - 1]) *
		       (1 - (plan->at[i] + plan->at[i - 1]) / 2);
	return sum;
}

static int refuse_mean(const char *what, double mean, struct settings_error *err)
{
	snprintf(err->text, sizeof(err->text),
		 "%s: the mean object would be %.1f bytes, want 17 to 1000", what, mean);
	return -EINVAL;
}

/*
 * Table 1's percentages are of all bytes, those that never die included; the young must
 * die faster to make up for them. Their live volume shrinks as they do, which leaves more
 * for the long-lived: a few iterations converge.
 */
static int plan_solve(struct app_plan *plan, double alloc, double live, const double life[3],
		      struct settings_error *err)
{
	double lasting = live;

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 3; i++)
			plan->at[i + 1] = life[i] / 100 / (1 - lasting / alloc);
		if (plan->at[3] > 1)
			break;
		lasting = live - young_live(plan);
		if (lasting < 0)
			break;
	}
	if (lasting < 0 || plan->at[3] > 1) {
		snprintf(err->text, sizeof(err->text),
			 "live=%.2f MiB does not go with these lifetimes; want %s", live / MIB,
			 lasting < 0 ? "more live or less tail" : "less live");
		return -EINVAL;
	}
	plan->lasting_bytes = (uint64_t)lasting;
	return 0;
}

static int read_counts(struct app_plan *plan, const struct settings *s, struct settings_error *err)
{
	uint64_t threads, active;
	int code;

	if ((code = settings_size(s, "active", 1, 64, &active, err)) ||
	    (code = settings_size(s, "threads", 1, 128, &threads, err)) ||
	    (code = settings_size(s, "explicit", 0, 1 << 20, &plan->explicit_collections, err)) ||
	    (code = settings_size(s, "idle-gaps", 0, 1000, &plan->idle_gaps, err)) ||
	    (code = settings_size(s, "idle-ms", 0, 60000, &plan->idle_ms, err)) ||
	    (code = settings_size(s, "seed", 0, UINT32_MAX, &plan->seed, err)) ||
	    (code = settings_size(s, "work", 0, 1 << 20, &plan->work, err)))
		return code;
	plan->active = (int)active;
	plan->threads = (int)(threads > active ? threads : active);
	return 0;
}

int app_plan(struct app_plan *plan, const struct settings *s, struct settings_error *err)
{
	double alloc, live, objects, live_objects, tail, life[3], mean, lasting_mean;
	int code;

	memset(plan, 0, sizeof(*plan));
	if ((code = read_counts(plan, s, err)) ||
	    (code = settings_real(s, "alloc", 0.1, 1e6, &alloc, err)) ||
	    (code = settings_real(s, "live", 0.01, 1e5, &live, err)) ||
	    (code = settings_real(s, "objects", 0.0001, 1e5, &objects, err)) ||
	    (code = settings_real(s, "live-objects", 0.0001, 1e4, &live_objects, err)) ||
	    (code = settings_real(s, "tail", 0.01, 1e4, &tail, err)))
		return code;
	code = settings_list(s, "lifetime", 0, 100, life, 3, err);
	if (code < 0)
		return code;
	if (code != 3 || life[0] > life[1] || life[1] > life[2]) {
		snprintf(err->text, sizeof(err->text), "lifetime: want three rising percentages");
		return -EINVAL;
	}
	alloc *= MIB;
	live *= MIB;
	if (live >= alloc) {
		snprintf(err->text, sizeof(err->text), "live: want less than alloc");
		return -EINVAL;
	}
	plan->knot[1] = 128 * KIB;
	plan->knot[2] = 256 * KIB;
	plan->knot[3] = 512 * KIB;
	plan->knot[4] = 512 * KIB + tail * MIB;
	plan->at[4] = 1;
	code = plan_solve(plan, alloc, live, life, err);
	if (code)
		return code;
	lasting_mean = live / (live_objects * 1e6);
	if (app_sizes(lasting_mean, plan->lasting_limit))
		return refuse_mean("live-objects", lasting_mean, err);
	mean = (alloc - (double)plan->lasting_bytes) /
	       (objects * 1e6 - (double)plan->lasting_bytes / lasting_mean);
	if (app_sizes(mean, plan->young_limit))
		return refuse_mean("objects", mean, err);
	/* Each thread's clock runs at 1/active of the whole. */
	for (int i = 1; i < 5; i++)
		plan->knot[i] /= plan->active;
	plan->young_bytes = (uint64_t)((alloc - (double)plan->lasting_bytes) / plan->active);
	plan->lasting_bytes /= (uint64_t)plan->active;
	plan->quantum = APP_QUANTUM / (uint64_t)plan->active;
	if (plan->quantum < 64)
		plan->quantum = 64;
	plan->wheel = (uint64_t)(plan->knot[4] / (double)plan->quantum) + 3;
	return 0;
}

uint64_t app_life(const struct app_plan *plan, double draw)
{
	int i = 1;

	while (i < 4 && draw >= plan->at[i])
		i++;
	if (plan->at[i] <= plan->at[i - 1])
		return (uint64_t)plan->knot[i];
	return (uint64_t)(plan->knot[i - 1] + (plan->knot[i] - plan->knot[i - 1]) *
						      (draw - plan->at[i - 1]) /
						      (plan->at[i] - plan->at[i - 1]));
}
