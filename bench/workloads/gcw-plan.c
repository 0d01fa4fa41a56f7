// SPDX-License-Identifier: MIT
#include "workloads/gcw-plan.h"

#include "lib/random.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SLACK 0.005 /* the published table's rows sum to 100 % within 0.21 % */

const struct setting gcw_settings[] = {
	{ "bucket", "1M", "bytes of a period; lifetimes are counted in it" },
	{ "check", "0", "1: walk each tree before it is dropped" },
	{ "iterations", "100", "iterations of the stress loop" },
	{ "large-size", "12K", "bytes of a large array" },
	{ "large-types", ".90 .07 .02 .01", "shares of byte, char, int and long arrays" },
	{ "lifetime-1", ".0865 .5404 .2887 .0865", "class 1: long-lived, dies at once, later..." },
	{ "lifetime-2", ".0469 .7724 .1460 .0346", "class 2" },
	{ "lifetime-3", ".1154 .5982 .1880 .0984", "class 3" },
	{ "lifetime-4", ".0662 .7851 .1077 .0411", "class 4" },
	{ "lifetime-5", ".0520 .8778 .0503 .0198", "class 5" },
	{ "lifetime-6", ".1628 .7137 .0821 .0414", "class 6" },
	{ "lifetime-large", ".0923 .7117 .1769 .0192", "large arrays" },
	{ "seed", "0", "first seed; thread i draws from seed+i and seed+i+threads" },
	{ "single", "0", "1: one thread, regardless of threads=" },
	{ "size-dist", ".0436 .5465 .2103 .1499 .0275 .0125 .0097",
	  "shares of the bytes, class 1 to 6, large" },
	{ "sizes", "16 24 40 96 192 336", "bytes of an object of class 1 to 6" },
	{ "threads", "0", "threads; 0: as many as CPUs" },
	{ "total", "100M", "bytes that all threads allocate in an iteration" },
	{ "unlink", "0",
	  "1: take a tree apart when it is dropped, so that dead nodes hold nothing" },
	{ NULL, NULL, NULL },
};

static const char *const life_key[GCW_CLASSES] = {
	"lifetime-1", "lifetime-2", "lifetime-3",     "lifetime-4",
	"lifetime-5", "lifetime-6", "lifetime-large",
};

/* A list of shares that must sum to 1; the rounding of the source is levelled out. */
static int read_shares(const struct settings *s, const char *key, double *out, size_t room,
		       size_t want, struct settings_error *err)
{
	int n = settings_list(s, key, 0, 1, out, room, err);
	double sum = 0;

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		sum += out[i];
	if (!n || (want && (size_t)n != want)) {
		snprintf(err->text, sizeof(err->text), "%s: %d shares, want %zu", key, n, want);
		return -EINVAL;
	}
	if (fabs(sum - 1) > SLACK) {
		snprintf(err->text, sizeof(err->text), "%s: the shares sum to %g, want 1", key,
			 sum);
		return -EINVAL;
	}
	for (int i = 0; i < n; i++)
		out[i] /= sum;
	return n;
}

static void limits_from_shares(const double *share, size_t n, int32_t *limit)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += share[i];
		limit[i] = (int32_t)lround(sum * GCW_SCALE);
	}
}

static int read_lives(struct gcw_plan *plan, const struct settings *s, struct settings_error *err)
{
	for (int c = 0; c < GCW_CLASSES; c++) {
		int n = read_shares(s, life_key[c], plan->life[c], GCW_STAGES_MAX, plan->stages,
				    err);

		if (n < 0)
			return n;
		if (n < 2) {
			snprintf(err->text, sizeof(err->text),
				 "%s: want at least long-lived and dies at once", life_key[c]);
			return -EINVAL;
		}
		plan->stages = (unsigned int)n; /* the first row says how many, the others agree */
		limits_from_shares(plan->life[c], plan->stages, plan->life_limit[c]);
	}
	return 0;
}

static int read_sizes(struct gcw_plan *plan, const struct settings *s, struct settings_error *err)
{
	double size[GCW_SIZES], element[GCW_ELEMENTS], nodes = 0, small = 0;
	uint64_t large;
	int n = settings_list(s, "sizes", 16, 2048, size, GCW_SIZES, err);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		plan->size[i] = (uint32_t)size[i];
		if (size[i] != plan->size[i] || plan->size[i] % 8) {
			snprintf(err->text, sizeof(err->text), "sizes: %g is not a multiple of 8",
				 size[i]);
			return -EINVAL;
		}
	}
	if (n != GCW_SIZES) {
		snprintf(err->text, sizeof(err->text), "sizes: %d sizes, want %d", n, GCW_SIZES);
		return -EINVAL;
	}
	n = settings_size(s, "large-size", 64, 64 << 20, &large, err);
	if (n)
		return n;
	plan->large_size = (uint32_t)large;
	n = read_shares(s, "size-dist", plan->share, GCW_CLASSES, GCW_CLASSES, err);
	if (n < 0)
		return n;
	n = read_shares(s, "large-types", element, GCW_ELEMENTS, GCW_ELEMENTS, err);
	if (n < 0)
		return n;
	limits_from_shares(element, GCW_ELEMENTS, plan->element_limit);
	for (int i = 0; i < GCW_SIZES; i++) {
		nodes += plan->share[i] / size[i];
		small += plan->share[i];
	}
	if (!(nodes > 0)) {
		snprintf(err->text, sizeof(err->text), "size-dist: no small objects, want some");
		return -EINVAL;
	}
	plan->mean = small / nodes;
	for (int i = 0; i < GCW_SIZES; i++)
		plan->count_share[i] = plan->share[i] / size[i] / nodes;
	limits_from_shares(plan->count_share, GCW_SIZES, plan->size_limit);
	return 0;
}

int gcw_plan(struct gcw_plan *plan, const struct settings *s, int threads,
	     struct settings_error *err)
{
	double mine;
	int code;

	memset(plan, 0, sizeof(*plan));
	plan->threads = threads;
	if ((code = settings_size(s, "total", 1 << 12, UINT64_C(1) << 40, &plan->total, err)) ||
	    (code = settings_size(s, "bucket", 1 << 10, 1 << 30, &plan->bucket, err)) ||
	    (code = settings_size(s, "iterations", 0, UINT32_MAX, &plan->iterations, err)) ||
	    (code = settings_size(s, "seed", 0, UINT32_MAX, &plan->seed, err)) ||
	    (code = read_sizes(plan, s, err)) || (code = read_lives(plan, s, err)))
		return code;
	mine = (double)plan->total / threads;
	plan->entries = (uint32_t)((double)plan->bucket / plan->mean * 1.11);
	plan->periods =
		(uint64_t)(mine * (1 - plan->share[GCW_LARGE]) / (double)plan->bucket + 0.5);
	plan->larges = (uint64_t)(mine * plan->share[GCW_LARGE] / plan->large_size + 0.5);
	if (!plan->periods || !plan->entries) {
		snprintf(err->text, sizeof(err->text),
			 "total: %d threads get less than one bucket each; want more total or less "
			 "bucket",
			 threads);
		return -EINVAL;
	}
	plan->larges_per_period = (plan->larges + plan->periods - 1) / plan->periods;
	for (int c = 0; c < GCW_CLASSES; c++) {
		double bytes = mine * plan->share[c] * plan->life[c][0];

		plan->lasting[c] =
			(uint64_t)(bytes / (c == GCW_LARGE ? plan->large_size : plan->size[c]) +
				   0.5);
	}
	if (!plan->lasting[GCW_LARGE])
		plan->lasting[GCW_LARGE] = 1;
	return 0;
}

void gcw_draw(const struct gcw_plan *plan, int thread, uint8_t *size, uint8_t *stage)
{
	struct random sizes, lives;

	random_seed(&sizes, (int64_t)plan->seed + thread);
	random_seed(&lives, (int64_t)plan->seed + thread + plan->threads);
	for (uint32_t i = 0; i < plan->entries; i++) {
		size[i] = (uint8_t)gcw_pick(plan->size_limit, GCW_SIZES,
					    random_below(&sizes, GCW_SCALE));
		stage[i] = (uint8_t)gcw_pick(plan->life_limit[size[i]], plan->stages,
					     random_below(&lives, GCW_SCALE));
	}
}
