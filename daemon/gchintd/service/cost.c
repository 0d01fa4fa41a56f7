// SPDX-License-Identifier: GPL-2.0-or-later
#include "cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../common/clock.h"

struct cost {
	struct source_context *context;
	const struct writer *writer;
	struct watch *timer;
};

static void cost_on_timer(void *data, uint32_t events)
{
	struct cost *c = data;
	struct writer_stats stats = { 0 };
	struct record r = { .t = clock_now(), .type = RECORD_COST };
	unsigned long long total, resident;
	struct rusage usage;
	char text[128];

	(void)events;
	if (c->writer)
		writer_stats(c->writer, &stats);
	r.cost = (struct record_cost){
		.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.records = stats.records,
		.bytes = stats.bytes,
		.rss_kib = UNKNOWN_U32,
	};
	/* Each voluntary context switch of a thread of ours ends in a wake-up. */
	if (!getrusage(RUSAGE_SELF, &usage))
		r.cost.wakeups = (uint64_t)usage.ru_nvcsw;
	/* The daemon's own procfs, not the one that --procfs names. */
	if (root_read(text, sizeof(text), "/proc/self/statm") > 0 &&
	    sscanf(text, "%llu %llu", &total, &resident) == 2)
		r.cost.rss_kib = (uint32_t)(resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024);
	context_record(c->context, &r);
}

struct cost *cost_start(struct source_context *context, const struct writer *writer)
{
	struct cost *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = context;
	c->writer = writer;
	c->timer = loop_timer(context->loop, 10 * NSEC_PER_SEC, cost_on_timer, c);
	cost_on_timer(c, 0);
	return c;
}

void cost_stop(struct cost *c)
{
	if (!c)
		return;
	cost_on_timer(c, 0);
	watch_free(c->timer);
	free(c);
}
