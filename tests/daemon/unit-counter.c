// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: an energy counter that jumps, dips, or cannot be read for a while: its energy is
 * that of the rail, or unknown. A zone of 65 W, so 130 W at most, read every 50 ms at 20 W.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/analysis/energy.h"
#include "../../daemon/recording/queue.h"
#include "faults.h"
#include "place.h"
#include "records.h"

#define ZONE	  "sys/class/powercap/intel-rapl:0/"
#define PERIOD_NS 50000000
#define START_UJ  100000000000
#define STEP_UJ	  1000000 /* 20 W in a period */

struct fed {
	struct source_context context;
	void *state;
	uint64_t t;
	int64_t uj;
};

static void fed_read(struct fed *f, int64_t offset_uj, const char *garbled)
{
	char text[32];

	f->t += PERIOD_NS;
	f->uj += STEP_UJ;
	snprintf(text, sizeof(text), "%" PRId64 "\n", f->uj + offset_uj);
	place_file(ZONE "energy_uj", garbled ? garbled : text);
	faults.at_ns = f->t;
	watched_at(0)->fn(watched_at(0)->data, 0);
}

static void fed_begin(struct fed *f)
{
	place_context(&f->context);
	place_file(ZONE "name", "package-0\n");
	place_file(ZONE "max_energy_range_uj", "262143328850\n");
	place_file(ZONE "constraint_0_power_limit_uw", "65000000\n");
	place_file(ZONE "energy_uj", "100000000000\n");
	f->state = place_start(&f->context, SOURCE_powercap);
	f->t = 1000;
	f->uj = START_UJ;
	for (unsigned int i = 0; i < 10; i++)
		fed_read(f, 0, NULL);
}

/* Returns the sum of the energy recorded, mJ, and the intervals without one in @unknown. */
static int64_t fed_end(struct fed *f, unsigned int *unknown)
{
	struct recording_sample last = { 0, RECORDING_UNKNOWN }, now;
	bool gap = false, first = true;
	double sum = 0;

	*unknown = 0;
	for (size_t i = 0; i < queue_fill(f->context.queue); i++) {
		const struct record *r = queue_peek(f->context.queue, i);

		if (r->type == RECORD_DEFINE)
			definition_free(r->define);
		if (r->type != RECORD_SAMPLE)
			continue;
		now = (struct recording_sample){ r->t, r->sample.value };
		if (now.value == UNKNOWN_S64) {
			gap = true;
			continue;
		}
		/* The rule of docs/recording.md: after a gap only what grew is known. */
		if (!first && (!gap || now.value > last.value))
			sum += energy_joules(&last, &now, true);
		else if (!first)
			++*unknown;
		gap = first = false;
		last = now;
	}
	queue_consume(f->context.queue, queue_fill(f->context.queue));
	place_stop(SOURCE_powercap, f->state);
	place_gone("sys/class/powercap");
	place_context_free(&f->context);
	return (int64_t)(sum * 1000 + 0.5);
}

static void counter_jumps(void)
{
	unsigned int unknown;
	struct fed f;

	fed_begin(&f);
	for (unsigned int i = 0; i < 10; i++)
		fed_read(&f, 500000000, NULL);
	CHECK(fed_end(&f, &unknown) == 19000 && unknown == 1,
	      "a jump of 500 J adds no energy: one interval is unknown");

	fed_begin(&f);
	for (unsigned int i = 0; i < 3; i++)
		fed_read(&f, 1000000000, NULL);
	for (unsigned int i = 0; i < 7; i++)
		fed_read(&f, 0, NULL);
	CHECK(fed_end(&f, &unknown) == 20000 && unknown <= 1,
	      "a jump that is undone costs no energy");

	fed_begin(&f);
	fed_read(&f, 0, "0\n");
	for (unsigned int i = 0; i < 9; i++)
		fed_read(&f, 0, NULL);
	CHECK(fed_end(&f, &unknown) == 20000 && unknown <= 1,
	      "a single reading of 0 costs no energy");
}

static void counter_gaps(void)
{
	unsigned int unknown;
	struct fed f;

	fed_begin(&f);
	for (unsigned int i = 0; i < 60; i++)
		fed_read(&f, 0, "");
	fed_read(&f, 0, NULL);
	CHECK(fed_end(&f, &unknown) == 71000 && !unknown,
	      "a counter that was unreadable for 3 s tells the energy when it is back");

	fed_begin(&f);
	for (unsigned int i = 0; i < 60; i++)
		fed_read(&f, 0, "garbled\n");
	for (unsigned int i = 0; i < 60; i++)
		fed_read(&f, 0, NULL);
	CHECK(fed_end(&f, &unknown) == 130000 && !unknown, "and one that was lost and found again");

	fed_begin(&f);
	for (unsigned int i = 0; i < 60; i++)
		fed_read(&f, 0, "");
	for (unsigned int i = 0; i < 10; i++)
		fed_read(&f, 600000000, NULL);
	CHECK(fed_end(&f, &unknown) == 19000 && unknown == 1,
	      "a counter that came back with more than the rail can draw does not");
}

/* One that is updated once a second shows a second's energy at once. */
static void counter_slow(void)
{
	unsigned int unknown;
	struct fed f;
	char text[32];

	fed_begin(&f);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%" PRId64 "\n",
			 (int64_t)START_UJ + (int64_t)(10 + i / 20 * 20) * STEP_UJ);
		fed_read(&f, 0, text);
	}
	CHECK(fed_end(&f, &unknown) == 90000 && !unknown,
	      "a counter that is updated once a second does not jump");
}

void unit_counter(void)
{
	struct place place;

	if (!place_enter(&place))
		return;
	counter_jumps();
	counter_gaps();
	counter_slow();
	place_leave(&place);
}
