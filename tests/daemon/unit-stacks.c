// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: a call chain that was cut says so, and samples keep to the kernel's limit. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/sampling/sampled.h"
#include "../../daemon/source/sampling/stacks.h"
#include "place.h"
#include "records.h"

static void stacks_are_cut(struct source_context *context)
{
	const uint64_t frame[] = { 1, 0xab };
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		abort();
	stacks_id(stacks, context, frame, 2, true);
	records_are(context->queue, "stack 1 '1 ab +'\n", "a call chain that was cut is marked");
	free(stacks);
}

static void samples_keep_limit(struct source_context *context)
{
	struct hotspots *h = calloc(1, sizeof(*h));

	if (!h)
		abort();
	h->context = context;
	h->sampling.hz = 999;
	CHECK(!hotspots_keep_limit(h) && h->sampling.hz == 999,
	      "where the kernel reports no limit there is none");
	place_file("proc/sys/kernel/perf_event_max_sample_rate", "500\n");
	CHECK(hotspots_keep_limit(h) && h->sampling.hz == 500,
	      "samples are taken at the kernel's limit");
	records_are(context->queue,
		    "note 4 'hotspots' 'kernel.perf_event_max_sample_rate is 500: that many "
		    "samples a second, in place of 999'\n",
		    "which is reported");
	CHECK(!hotspots_keep_limit(h), "and kept");
	free(h);
}

void unit_stacks(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	place_context(&context);
	stacks_are_cut(&context);
	samples_keep_limit(&context);
	place_context_free(&context);
	place_leave(&place);
}
