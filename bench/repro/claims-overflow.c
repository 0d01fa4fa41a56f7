// SPDX-License-Identifier: MIT
/*
 * Claims of the mark stack seed, on the jbb-like graph in a fixed heap of 64 MiB. The
 * seed's references take 4 bytes and ours 8: its stack of 4 KB is ours of 8 KB.
 */
#include "repro/claims.h"

#include "lib/summary.h"

#include <math.h>
#include <stdio.h>

#define HEAP		"plan=marksweep,split=0,sizing=fixed,heap=64M,max=64M"
#define REFERENCE_RATIO 2 /* 8-byte references against the seed's 4 */
#define CARD_BYTES	128.0
#define SIZES		4
#define CONCURRENT                                                                                 \
	"plan=cms,split=0,sizing=fixed,heap=64M,max=96M,markstack=4K,overflow=card,preclean=0"

/* Ours, for the seed's 4, 8, 16 and 32 KB. */
static const unsigned int kib[SIZES] = { 8, 16, 32, 64 };

static bool stack_run(struct outcome *o, const char *scheme, unsigned int stack_kib,
		      struct run_result *r)
{
	char options[256];

	snprintf(options, sizeof(options), HEAP ",markstack=%uK,overflow=%s", stack_kib, scheme);
	return probe(o, "jbb", NULL, "requests=150000", options, r);
}

static double per_cycle(const struct run_result *r, uint64_t value)
{
	return r->gc.cycles ? (double)value / (double)r->gc.cycles : NAN;
}

/* Objects scanned again, of those marked. */
static double rescanned(const struct run_result *r)
{
	return (double)r->gc.rescanned_objects / (double)r->gc.marked_objects;
}

void overflow_work(struct outcome *o)
{
	double all_rounds = 0, card_most = 0;
	bool all_full = true;

	for (int i = 0; i < SIZES; i++) {
		struct run_result all, card;

		if (!stack_run(o, "scan-all", kib[i], &all) || !stack_run(o, "card", kib[i], &card))
			return;
		all_rounds = per_cycle(&all, all.gc.overflow_rounds);
		all_full = all_full && (all_rounds < 1 || rescanned(&all) >= 0.95);
		card_most = fmax(card_most, rescanned(&card));
		ours(o, "%s%u KB: %.0f %% of live rescanned by SCAN ALL, %.0f %% by CARD",
		     i ? "; " : "", kib[i], 100 * rescanned(&all), 100 * rescanned(&card));
	}
	decide(o, all_full && card_most <= 0.3, all_full && card_most <= 0.6);
	why(o,
	    "on work, which is what the seed's time gap comes from; stacks hold 8-byte references");
}

void overflow_small(struct outcome *o)
{
	struct run_result deep, small;
	double need, slower;

	if (!stack_run(o, "reserve", 64, &deep))
		return;
	need = (double)deep.gc.mark_stack_peak / 1024;
	o->timed = true;
	if (!probe_least(o, "jbb", NULL, "requests=150000", HEAP ",markstack=64K,overflow=reserve",
			 &deep) ||
	    !probe_least(o, "jbb", NULL, "requests=150000", HEAP ",markstack=8K,overflow=card",
			 &small))
		return;
	slower = small.cpu_ms / deep.cpu_ms - 1;
	ours(o,
	     "deepest stack %.1f KB, %.1f KB with 4-byte references; CARD at 8 KB takes %+.1f %% "
	     "CPU",
	     need, need / REFERENCE_RATIO, 100 * slower);
	decide(o, need / REFERENCE_RATIO > 32 && slower<0.1, need / REFERENCE_RATIO> 8 ||
			  slower < 0.1);
	why(o, "the graph is jbb-like, not SPECjbb2005's");
}

void overflow_rounds(struct outcome *o)
{
	struct run_result r;
	double rounds, dirty, cards;

	if (!stack_run(o, "card", kib[0], &r))
		return;
	rounds = per_cycle(&r, r.gc.overflow_rounds);
	dirty = per_cycle(&r, r.gc.cards_dirty);
	cards = (double)r.heap_bytes / CARD_BYTES;
	ours(o, "%.1f rounds and %.0f dirty of %.0f cards a collection", rounds, dirty, cards);
	decide(o, rounds >= 1 && rounds <= 2.5 && dirty < 0.25 * cards, dirty < 0.5 * cards);
	why(o, "how many rounds a graph takes depends on its depth behind the overflow");
}

void overflow_filter(struct outcome *o)
{
	struct run_result card, filter;
	double slower;

	if (!probe_least(o, "jbb", NULL, "requests=150000", HEAP ",markstack=1M,overflow=card",
			 &card) ||
	    !probe_least(o, "jbb", NULL, "requests=150000",
			 HEAP ",markstack=1M,overflow=card+filter", &filter))
		return;
	slower = filter.gc_cpu_ms / card.gc_cpu_ms - 1;
	ours(o, "collecting takes %+.1f %% CPU time with the filter; %llu overflows", 100 * slower,
	     (unsigned long long)filter.gc.overflows);
	decide(o, slower >= 0.05 && !filter.gc.overflows, slower > 0);
	why(o, "the check at each push, paid when no card is dirty");
}

void overflow_clear_cards(struct outcome *o)
{
	double card_first = 0, card_last = 0, clear_first = 0, clear_last = 0;

	for (int i = 0; i < SIZES; i++) {
		struct run_result card, clear;

		if (!stack_run(o, "card", kib[i], &card) ||
		    !stack_run(o, "card+clear", kib[i], &clear))
			return;
		card_last = per_cycle(&card, card.gc.cards_dirty);
		clear_last = per_cycle(&clear, clear.gc.cards_dirty);
		card_first = i ? card_first : card_last;
		clear_first = i ? clear_first : clear_last;
		ours(o, "%s%u KB: %.0f CARD, %.0f CLEAR", i ? "; " : "", kib[i], card_last,
		     clear_last);
	}
	/* CLEAR keeps a larger part of its dirty cards than CARD as the stack grows. */
	decide(o, clear_last / clear_first > 1.3 * card_last / card_first, clear_last > card_last);
	why(o,
	    "from the smallest stack to the largest CARD keeps %.0f %% of its dirty cards, CLEAR "
	    "%.0f %%",
	    100 * card_last / card_first, 100 * clear_last / clear_first);
}

void overflow_clear_work(struct outcome *o)
{
	double first = 0, last = 0;

	for (int i = 0; i < SIZES; i++) {
		struct run_result card, clear;

		if (!stack_run(o, "card", kib[i], &card) ||
		    !stack_run(o, "card+clear", kib[i], &clear))
			return;
		if (!card.gc.rescanned_objects)
			break;
		last = (double)clear.gc.rescanned_objects / (double)card.gc.rescanned_objects;
		first = i ? first : last;
		ours(o, "%s%u KB: %.2fx", i ? ", " : "rescanned CLEAR/CARD at ", kib[i], last);
	}
	decide(o, first >= 0.98 && last > first, last >= 1);
	why(o, "on work");
}

void overflow_depth(struct outcome *o)
{
	struct run_result flat, table;
	double need;

	if (!probe(o, "hashtable", NULL, "flat=1 changes=0 collect=3", HEAP ",overflow=grow",
		   &flat) ||
	    !probe(o, "hashtable", NULL, "changes=0 collect=3", HEAP ",overflow=grow", &table))
		return;
	need = (double)flat.gc.mark_stack_peak / sizeof(void *);
	ours(o,
	     "an array of 100,000: %.0f entries deep, %.1f KB here, %.1f KB of 4-byte references; "
	     "a table of entries: %.0f, %.1f KB, %.1f %% of the live set",
	     need, need * 8 / 1024, need * 4 / 1024,
	     (double)table.gc.mark_stack_peak / sizeof(void *),
	     (double)table.gc.mark_stack_peak / 1024,
	     100.0 * (double)table.gc.mark_stack_peak / (double)table.gc.live_bytes);
	decide(o, need >= 99000 && need <= 101000, need > 50000);
	why(o, "one array pushes every entry at once: the depth is the number of entries");
}

void overflow_pause(struct outcome *o)
{
	static const unsigned int stack[] = { 4, 8, 16, 32, 64, 1024 };
	double dirty[6], pause[6];
	struct run_result free_run, limited;
	struct line_fit fit;

	/* Stopped for the whole mark, so that no mutator dirties a card: overflow alone does. */
	for (int i = 0; i < 6; i++) {
		struct run_result r;
		char options[256];

		snprintf(options, sizeof(options), HEAP ",markstack=%uK,overflow=card", stack[i]);
		if (!probe_least(o, "jbb", NULL, "requests=150000", options, &r))
			return;
		dirty[i] = per_cycle(&r, r.gc.cards_dirty);
		pause[i] = r.gc_cpu_ms / (double)r.gc.cycles;
		ours(o, "%s%u KB: %.0f cards, %.2f ms", i ? "; " : "", stack[i], dirty[i],
		     pause[i]);
	}
	fit = line_fit(dirty, pause, 6);
	if (!probe(o, "jbb", NULL, "requests=150000", CONCURRENT ",remark-limit=0", &free_run) ||
	    !probe(o, "jbb", NULL, "requests=150000", CONCURRENT ",remark-limit=300", &limited))
		return;
	ours(o,
	     "; r2 %.2f; CMS at 4 KB: longest remark %.2f ms, %.2f ms with remark-limit=300, which "
	     "returned to concurrent marking %llu times",
	     fit.r2, free_run.remark_max_ms, limited.remark_max_ms,
	     (unsigned long long)limited.gc.remark_timeouts);
	decide(o, fit.r2 >= 0.9 && fit.slope > 0, fit.slope > 0);
	why(o, "time of the stopped mark against cards dirtied by overflow; the time limit that "
	       "the seed "
	       "left open is built here");
}
