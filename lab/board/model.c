// SPDX-License-Identifier: MIT
/* Values derived from a board file: powers, and times in closed form. */
#include "board.h"

const struct board_cluster *board_of(const struct board *b, unsigned int cpu)
{
	const struct board_cluster *k = b->cluster;

	while (cpu >= k->first + k->cores)
		k++;
	return k;
}

unsigned int board_clock(const struct board *b, unsigned int cpu)
{
	const struct board_cluster *k = board_of(b, cpu);

	return k->shared ? k->first : cpu;
}

const struct board_opp *board_opp(const struct board_cluster *k, uint32_t khz)
{
	unsigned int i;

	for (i = 0; i < k->opps - 1; i++)
		if (k->opp[i].khz >= khz)
			break;
	return &k->opp[i];
}

const struct board_opp *board_top(const struct board_cluster *k)
{
	return &k->opp[k->opps - 1];
}

double board_dynamic_mw(const struct board_cluster *k, const struct board_opp *o,
			enum board_power model)
{
	double volt = o->uv / 1e6;

	if (model == BOARD_POWER_TABLE && o->table_mw > 0)
		return o->table_mw;
	return k->coefficient * (o->khz / 1e3) * volt * volt / 1e3;
}

double board_static_mw(const struct board_cluster *k, const struct board_opp *o)
{
	double mv = o->uv / 1e3, ua;
	unsigned int i;

	for (i = 0; i < k->statics - 1; i++)
		if (mv <= k->leak[i].upto_mv)
			break;
	ua = k->leak[i].ua_per_mv * mv + k->leak[i].ua;
	if (ua < 0)
		ua = 0;
	return k->static_share * ua * mv / 1e6;
}

double board_idle_share(const struct board_cluster *k, unsigned int state)
{
	return state && state <= k->idles ? k->idle[state - 1].share : k->wfi_share;
}

double board_leave_share(const struct board_cluster *k, unsigned int state)
{
	double share = k->wfi_share, exit_us = 0, left = 0;
	const struct board_idle *s;

	for (s = k->idle; s < k->idle + state && s < k->idle + k->idles; s++) {
		/* What the state above would take, less what this one takes while it lasts. */
		left += share * (s->residency_us - exit_us) -
			s->share * (s->residency_us - s->exit_us);
		share = s->share;
		exit_us = s->exit_us;
	}
	return exit_us > 0 && left > 0 ? left / exit_us : share;
}

double board_rest_mw(const struct board *b, const uint32_t *khz)
{
	double mw = b->background_mw;
	unsigned int cpu;

	for (cpu = 0; cpu < b->cores; cpu++) {
		const struct board_cluster *k = board_of(b, cpu);

		mw += board_idle_share(k, k->idles) * board_static_mw(k, board_opp(k, khz[cpu]));
		if (cpu == k->first && !(k->idles && k->idle[k->idles - 1].cluster))
			mw += k->retained_mw;
	}
	return mw;
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

static double walk_ns(const struct board_cluster *k, uint32_t khz)
{
	return k->walk_cycles * 1e6 / khz + k->walk_ns;
}

double board_tlb_ns(const struct board_cluster *k, uint32_t khz, double bytes)
{
	double pages = bytes / BOARD_PAGE, ns = 0;

	if (k->tlb1_entries && pages > k->tlb1_entries)
		ns += (1 - k->tlb1_entries / pages) * k->tlb1_cycles * 1e6 / khz;
	if (k->tlb2_entries && pages > k->tlb2_entries)
		ns += (1 - k->tlb2_entries / pages) * walk_ns(k, khz);
	return ns;
}

double board_predict_ns(const struct board *b, const struct board_cluster *k, enum board_loop loop,
			unsigned int insns, uint32_t khz, unsigned int streams)
{
	double cycle = 1e6 / khz;
	double ns = insns * k->cpi * cycle;
	double lines = BOARD_PAGE / BOARD_LINE;
	double share = BOARD_LINE * 1e3 / (b->mem_mbs / streams);
	double demand, line;

	switch (loop) {
	case BOARD_CHASE:
		/*
		 * Every line is read again only after all other lines, when it
		 * was evicted from both caches.
		 */
		return ns + k->l2_cycles * cycle + k->l2_ns + k->mem_ns +
		       board_tlb_ns(k, khz, BOARD_CHASE_BYTES);
	case BOARD_STREAM:
		/*
		 * The first line of a page is not prefetched, and misses the
		 * TLB. The other lines arrive at the pace of the prefetcher,
		 * unless the cores together exceed the memory bandwidth: then
		 * each core gets an equal share of it.
		 */
		ns += k->l2_cycles * cycle + k->l2_ns;
		if (k->tlb1_entries)
			ns += k->tlb1_cycles * cycle / lines;
		if (k->tlb2_entries)
			ns += walk_ns(k, khz) / lines;
		line = k->stream_ns;
		demand = ns + (k->mem_ns + (lines - 1) * line) / lines;
		if (demand < share)
			demand = share;
		return demand;
	case BOARD_COMPUTE:
	default:
		return ns;
	}
}
