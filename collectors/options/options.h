/* SPDX-License-Identifier: MIT */
/* The option string, parsed. */
#ifndef GC_OPTIONS_H
#define GC_OPTIONS_H

#include <gchint/gc.h>

enum gc_policy {
	GC_POLICY_ADAPTIVE,
	GC_POLICY_BG,
	GC_POLICY_DEFAULT,
	GC_POLICY_FG
};
enum gc_defrag {
	GC_DEFRAG_ALWAYS,
	GC_DEFRAG_AUTO,
	GC_DEFRAG_NEVER
};
enum gc_foreground {
	GC_FG_CONCURRENT,
	GC_FG_STW
};
enum gc_overflow {
	GC_OVERFLOW_CARD,
	GC_OVERFLOW_CARD_CLEAR,
	GC_OVERFLOW_CARD_FILTER,
	GC_OVERFLOW_GROW,
	GC_OVERFLOW_RESERVE,
	GC_OVERFLOW_SCAN_ALL,
};
/* Does a full mark stack leave objects to dirty cards? */
static inline bool gc_overflow_uses_cards(int64_t overflow)
{
	return overflow == GC_OVERFLOW_CARD || overflow == GC_OVERFLOW_CARD_CLEAR ||
	       overflow == GC_OVERFLOW_CARD_FILTER;
}
enum gc_promote {
	GC_PROMOTE_DEFAULT,
	GC_PROMOTE_NAIVE,
	GC_PROMOTE_NEVER,
	GC_PROMOTE_RANGES,
	GC_PROMOTE_SIZE,
	GC_PROMOTE_TUNED,
};
enum gc_safepoint_wait {
	GC_WAIT_FUTEX,
	GC_WAIT_SLEEP
};
enum gc_sizing_rule {
	GC_SIZING_ART,
	GC_SIZING_DALVIK,
	GC_SIZING_FIXED,
	GC_SIZING_HUSSEIN,
	GC_SIZING_MEMBALANCER,
};
enum gc_stack_scan {
	GC_STACK_CONSERVATIVE,
	GC_STACK_PRECISE
};
enum gc_trace_order {
	GC_TRACE_FINGER,
	GC_TRACE_STACK
};

#define GC_VERIFY_CARD	1
#define GC_VERIFY_POST	2
#define GC_VERIFY_PRE	4
#define GC_VERIFY_TRACE 8

#define GC_TEXT_MAX 64

/* Fields are int64_t, double or text so that one table can set them all. */
struct gc_options {
	char boost[GC_TEXT_MAX], plan[GC_TEXT_MAX], profile[GC_TEXT_MAX], ranges[GC_TEXT_MAX];
	int64_t defrag, delta, foreground, heap, help, hugepages, large, los_threshold, promote_m,
		markstack, max;
	int64_t maxfree, minfree, nursery, overflow, pace, pin, poison, policy, preclean, profiler,
		promote;
	int64_t remark_limit, safepoint, every_safepoint, seed, sizing, split, stack, stall, stress,
		threshold;
	int64_t trace, trim_collects, verify, workers;
	double ahead, promote_p, trim, util;
	uint64_t given; /* bit i: the i-th option of options.def was set explicitly */
	uint64_t by_profile; /* of these, the ones that only a profile set */
};

/* gc_options_parse() - 0, or -EINVAL with @err naming the option and a fix. */
int gc_options_parse(struct gc_options *opt, const char *text, struct gc_error *err);

/* gc_options_given() - was option @name set by the string or its profile? */
bool gc_options_given(const struct gc_options *opt, const char *name);

/* gc_options_text() - @opt as a string, malloc'ed. */
char *gc_options_text(const struct gc_options *opt);

/* gc_fail() - fill @err (may be NULL); returns @code. */
int gc_fail(struct gc_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
