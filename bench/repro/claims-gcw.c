// SPDX-License-Identifier: MIT
/* Claims of the GCW seed: they are about the generator, so they are derived. */
#include "repro/claims.h"

#include "workloads/gcw-plan.h"

static bool plan_default(struct outcome *o, struct gcw_plan *plan)
{
	struct settings_error err;
	struct settings s;
	int code;

	settings_init(&s, gcw_settings);
	code = gcw_plan(plan, &s, 1, &err);
	settings_free(&s);
	if (code) {
		o->verdict = VERDICT_FAILED;
		why(o, "%s", err.text);
	}
	return !code;
}

void gcw_sizes(struct outcome *o)
{
	double small = 0, all = 0;
	struct gcw_plan plan;

	if (!plan_default(o, &plan))
		return;
	for (int i = 0; i < GCW_SIZES; i++) {
		all += plan.count_share[i];
		small += plan.size[i] <= 64 ? plan.count_share[i] : 0;
	}
	ours(o, "%.1f %% of small objects are at most 64 bytes; mean %.1f bytes", 100 * small / all,
	     plan.mean);
	decide(o, small >= 0.75 && small <= 0.96, small > 0.5);
	why(o, "the published profile has smaller objects than the article's prose");
}

void gcw_deaths(struct outcome *o)
{
	double died = 0, least = 1, most = 0;
	struct gcw_plan plan;

	if (!plan_default(o, &plan))
		return;
	for (int c = 0; c < GCW_CLASSES; c++) {
		double at_once = plan.life[c][1];

		died += plan.share[c] * at_once;
		if (c < GCW_SIZES) {
			least = at_once < least ? at_once : least;
			most = at_once > most ? at_once : most;
		}
	}
	ours(o, "%.1f %% of bytes die in their own period; by size %.0f to %.0f %%", 100 * died,
	     100 * least, 100 * most);
	decide(o, died >= 0.6 && died <= 0.8, died > 0.5);
	why(o, "the smallest objects live longest: 16-byte objects die least often at once");
}
