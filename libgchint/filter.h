/* SPDX-License-Identifier: MIT */
/*
 * Which phases are too short to be worth a hint: those expected to be shorter
 * than GCHINT_MIN_US, else gchint_info.min_phase_us. The expected length is declared, or
 * learned where an edge costs a system call anyway, so that timing it is cheap. What is
 * learned is the longest recent length, so that one long phase among short ones makes
 * phases of its class count again. A learned length, or one declared for a class, never
 * hides a pause, nor a phase whose edges are plain stores.
 */
#ifndef GCHINT_FILTER_H
#define GCHINT_FILTER_H

#include "page.h"

/** enum hints - GCHINT_HINTS: which hints may act, on backends that act on hints */
enum hints {
	HINTS_ALL,
	HINTS_BOOST, /* those that raise: nothing is capped */
	HINTS_CAP, /* those that lower: nothing is boosted */
	HINTS_CLAMP, /* all, by utilisation clamps alone: the device is not opened */
};

/**
 * filter_flags() - reduce @word to what GCHINT_HINTS allows
 *
 * A phase that may not act is published without its flags, so that load decides, and no
 * role or enclosing phase counts in its place. For a recorder or a trace alone nothing is
 * removed.
 */
uint32_t filter_flags(const struct gchint_session *s, uint32_t word);

/** filter_role() - @role, or GCHINT_ROLE_NONE if GCHINT_HINTS does not allow it. */
unsigned int filter_role(const struct gchint_session *s, unsigned int role);

/* The low bits of struct record's since. */
#define SINCE_SHORT  1u /* filtered: the slot says what encloses it */
#define SINCE_CAPPED 2u /* clamps: the thread is to be capped */
#define SINCE_FLAGS  3u
#define SINCE_SHIFT  2

/** filter_now() - the time as struct record's since has it, SINCE_FLAGS clear; never 0. */
uint32_t filter_now(void);

/**
 * filter_short() - is the phase @word not worth a hint?
 * @s: the session
 * @word: phase and flags
 * @declared_ns: what the caller expects of this one; 0 unknown
 * @costly: announcing it takes a system call
 */
int filter_short(const struct gchint_session *s, uint32_t word, uint64_t declared_ns, int costly);

/**
 * filter_brief() - is the phase @word not worth the change of a clamp?
 * @s: the session
 * @word: phase and flags
 * @declared_ns: what the caller expects of this one; 0 unknown
 *
 * Its thread then keeps the clamp that it has. See CLAMP_MIN_US.
 */
int filter_brief(const struct gchint_session *s, uint32_t word, uint64_t declared_ns);

/** filter_learn() - a phase @word that began at @since ends now. */
void filter_learn(struct gchint_session *s, uint32_t word, uint32_t since);

#endif /* GCHINT_FILTER_H */
