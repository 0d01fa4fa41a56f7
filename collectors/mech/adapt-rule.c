// SPDX-License-Identifier: MIT
#include "adapt-rule.h"

#define KEEP   0.7 /* of the old score, per window */
#define MARGIN 0.01 /* a switch must promise this much utilisation */
#define HOLD   4 /* windows before a switch is judged */
#define PROBE  32 /* windows after which the other way is tried again */
#define FAST   0.8 /* of the highest frequency: from here on growing is weighed */

bool gc_adapt_daemon(struct gc_adapt_in *in)
{
	double now = in->utilisation - in->sync;
	double *mine = &in->score[in->daemon_on], other = in->score[!in->daemon_on];

	*mine = *mine < -1 ? now : KEEP * *mine + (1 - KEEP) * now;
	if (in->windows < HOLD)
		return in->daemon_on;
	/* The other way is unknown or old: try it, unless mutators lose nothing as it is. */
	if (other < -1 || in->windows >= PROBE)
		return now > 1 - MARGIN ? in->daemon_on : !in->daemon_on;
	return *mine + MARGIN < other ? !in->daemon_on : in->daemon_on;
}

uint64_t gc_adapt_room(uint32_t effective_khz, uint32_t highest_khz, uint64_t room, uint64_t grown,
		       uint64_t left)
{
	double fast, want;

	if (!effective_khz || !highest_khz)
		return 0;
	fast = (double)effective_khz / (double)highest_khz;
	if (fast < FAST)
		return 0;
	/* half a room at FAST, a whole one at the highest frequency */
	want = (double)room * (fast < 1 ? 0.5 + 0.5 * (fast - FAST) / (1 - FAST) : 1);
	want -= (double)grown;
	if (want < 4096)
		return 0;
	return want < (double)left ? (uint64_t)want : left;
}
