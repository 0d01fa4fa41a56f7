// SPDX-License-Identifier: MIT
/* Claims of the GCW seed: they are about the generator, so they are derived. */
#include "repro/claims.h"

#include "workloads/gcw-plan.h"

#include <math.h>
#include <string.h>

#define BYTES_16 0 /* classes of sizes, in gcw_plan.size's order */
#define BYTES_40 2

static bool plan_default(struct outcome *o, struct gcw_plan *plan)
{
	char words[256], *save = NULL;
	struct settings_error err;
	struct settings s;
	int code = 0;

	settings_init(&s, gcw_settings);
	probe_setting(o, "", words, sizeof(words));
	for (char *key = strtok_r(words, " ", &save); key && !code;
	     key = strtok_r(NULL, " ", &save)) {
		char *value = strchr(key, '=');

		if (!value)
			continue;
		*value++ = 0;
		code = settings_set(&s, key, value, &err);
	}
	code = code ? code : gcw_plan(plan, &s, 1, &err);
	settings_free(&s);
	if (code)
		failed(o, "%s", err.text);
	return !code;
}

static void measure_sizes(struct outcome *o)
{
	double small = 0, all = 0;
	struct gcw_plan plan;

	if (!plan_default(o, &plan))
		return;
	for (int i = 0; i < GCW_SIZES; i++) {
		all += plan.count_share[i];
		small += plan.size[i] <= 64 ? plan.count_share[i] : 0;
	}
	found(o, "small objects of at most 64 bytes", 100 * small / all);
	ours(o, "mean size %.1f bytes", plan.mean);
}

const struct claim gcw_sizes = {
	.id = "001-a",
	.text = "about 80 % of an application's objects are 64 bytes or smaller",
	.paper = "around 80 %, on 17 applications and 50 more",
	.falsifier = "at most half of the objects are that small",
	.note = "the published profile has smaller objects than the article's prose",
	/* Nearly all bytes are in objects of 96 and more. */
	.without = { NULL, "size-dist=.005,.005,.01,.27,.35,.35,.01" },
	.term = { { "small objects of at most 64 bytes",
		    "%",
		    BASIS_COUNT,
		    80,
		    { 50, 100 },
		    { 75, 85 } } },
	.measure = measure_sizes,
};

static void measure_deaths(struct outcome *o)
{
	double died = 0, least = 1, most = 0;
	struct gcw_plan plan;

	if (!plan_default(o, &plan))
		return;
	for (int c = 0; c < GCW_CLASSES; c++) {
		double at_once = plan.life[c][1];

		died += plan.share[c] * at_once;
		if (c < GCW_SIZES) {
			least = fmin(least, at_once);
			most = fmax(most, at_once);
		}
	}
	found(o, "bytes that die in their own period", 100 * died);
	found(o, "of the size that dies least", 100 * least);
	found(o, "of the size that dies most", 100 * most);
}

const struct claim gcw_deaths = {
	.id = "001-b",
	.text = "60 to 80 % of objects die by the first collection, depending on size",
	.paper = "Google Maps: about 80 % of 1 to 16 bytes, 60 % of 33 to 64 bytes",
	.falsifier = "of at least one size half or more of the objects outlive it",
	.note = "the mean lies within, the spread over sizes is wider than the article's",
	/* Nothing of 24 bytes, the most frequent size, dies at once. */
	.without = { NULL, "lifetime-2=.0469,.1460,.7724,.0347" },
	.term = { { "bytes that die in their own period",
		    "%",
		    BASIS_COUNT,
		    NAN,
		    { 50, 100 },
		    { 60, 80 } },
		  { "of the size that dies least", "%", BASIS_COUNT, 60, { 50, 100 }, { 55, 65 } },
		  { "of the size that dies most", "%", BASIS_COUNT, 80, { 50, 100 }, { 75, 85 } } },
	.measure = measure_deaths,
};

static void measure_small(struct outcome *o)
{
	struct gcw_plan plan;

	if (!plan_default(o, &plan))
		return;
	found(o, "16-byte objects that die at once, less 40-byte ones",
	      100 * (plan.life[BYTES_16][1] - plan.life[BYTES_40][1]));
}

const struct claim gcw_small = {
	.id = "001-c",
	.text = "the smallest objects die younger than those of 33 to 64 bytes",
	.paper = "80 % against 60 % at the first collection (Google Maps)",
	.falsifier = "16-byte objects die no more often at once than 40-byte ones",
	.note = "the published profile has 16-byte objects die least often at once",
	/* The figures of the article for Google Maps. */
	.with = { NULL, "lifetime-1=.05,.8,.1,.05 lifetime-3=.1,.6,.2,.1" },
	.term = { { "16-byte objects that die at once, less 40-byte ones",
		    "points",
		    BASIS_COUNT,
		    20,
		    { 0, 100 },
		    { 10, 30 } } },
	.measure = measure_small,
};
