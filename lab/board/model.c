// SPDX-License-Identifier: MIT
/* What follows from a board file: powers, and times in closed form. */
#include "board.h"

const struct board_opp *board_opp(const struct board *b, uint32_t khz)
{
	unsigned int i;

	for (i = 0; i < b->opps - 1; i++)
		if (b->opp[i].khz >= khz)
			break;
	return &b->opp[i];
}

double board_dynamic_mw(const struct board *b, const struct board_opp *o, enum board_power model)
{
	double volt = o->uv / 1e6;

	if (model == BOARD_POWER_TABLE && o->table_mw > 0)
		return o->table_mw;
	return b->coefficient * (o->khz / 1e3) * volt * volt / 1e3;
}

double board_static_mw(const struct board *b, const struct board_opp *o)
{
	double mv = o->uv / 1e3, ua;
	unsigned int i;

	for (i = 0; i < b->statics - 1; i++)
		if (mv <= b->leak[i].upto_mv)
			break;
	ua = b->leak[i].ua_per_mv * mv + b->leak[i].ua;
	if (ua < 0)
		ua = 0;
	return b->static_share * ua * mv / 1e6;
}

const char *board_loop_name(enum board_loop loop)
{
	static const char *const names[] = {
		[BOARD_COMPUTE] = "compute",
		[BOARD_CHASE] = "chase",
		[BOARD_STREAM] = "stream",
	};

	return loop < BOARD_LOOPS ? names[loop] : "unknown";
}

double board_predict_ns(const struct board *b, enum board_loop loop, unsigned int insns,
			uint32_t khz, unsigned int streams)
{
	double cycle = 1e6 / khz;
	double ns = insns * b->cpi * cycle;
	double lines = BOARD_PAGE / BOARD_LINE;
	double share = BOARD_LINE * 1e3 / (b->mem_mbs / streams);
	double demand, line;

	switch (loop) {
	case BOARD_CHASE:
		/*
		 * Every line is met again only after a whole round, when it
		 * has left both caches.
		 */
		return ns + b->l2_cycles * cycle + b->mem_ns;
	case BOARD_STREAM:
		/*
		 * The first line of a page is not foreseen. The others come
		 * at the pace of the prefetcher, unless the cores together
		 * ask for more than the memory gives: then each gets an equal
		 * share of it.
		 */
		ns += b->l2_cycles * cycle;
		line = b->stream_ns;
		demand = ns + (b->mem_ns + (lines - 1) * line) / lines;
		if (demand < share)
			demand = share;
		return demand;
	case BOARD_COMPUTE:
	default:
		return ns;
	}
}
