/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * The words for the ABI's numbers, for all components that print them: X(NAME, word)
 * for each value of an enum of <linux/gchint.h>, in its order. Not installed.
 */
#ifndef GCHINT_NAMES_LIST_H
#define GCHINT_NAMES_LIST_H

/* clang-format off */
#define GCHINT_PHASES(X) \
	X(NONE, none) X(COLLECT, collect) X(SAFEPOINT, safepoint) X(ROOTS, roots) \
	X(MARK, mark) X(REMARK, remark) X(REFS, refs) X(SWEEP, sweep) X(COPY, copy) \
	X(COMPACT, compact) X(TRIM, trim) X(WAIT, wait) X(WORK, work)

#define GCHINT_CAUSES(X) \
	X(UNKNOWN, unknown) X(ALLOCATION, allocation) X(THRESHOLD, threshold) \
	X(EXPLICIT, explicit) X(NATIVE, native) X(OOM, oom) X(TIMER, timer) X(SYSTEM, system)

#define GCHINT_ROLES(X) \
	X(NONE, none) X(CONCURRENT, concurrent) X(STW, stw) X(BACKGROUND, background) \
	X(FOLLOW, follow)

#define GCHINT_REASONS(X) \
	X(LOAD, load) X(STW, stw) X(FOREGROUND, foreground) X(URGENT, urgent) X(TABLE, table) \
	X(MODEL, model) X(PACE, pace) X(PROBE, probe) X(LIMITS, limits) X(HOLD, hold)

#define GCHINT_LEASES(X) \
	X(ATTACH, attach) X(ROLE, role) X(DETACH, detach) X(EXIT, exit) X(EXEC, exec) \
	X(CLOSE, close) X(STALE, stale) X(FRESH, fresh)

#define GCHINT_MODES(X) \
	X(OFF, off) X(TABLE, table) X(MODEL, model)
/* clang-format on */

/* The number of words of a list, to compare with the enum's _NR. */
#define GCHINT_NAME_ONE(name, word) +1
#define GCHINT_NAMES(list)	    (0 list(GCHINT_NAME_ONE))

#endif
