/* SPDX-License-Identifier: MIT */
/*
 * Which phases are too short to be worth a hint: those expected to be shorter
 * than GCHINT_MIN_US, else gchint_info.min_phase_us. What to expect is learned
 * where an edge costs a system call anyway, so that timing it is cheap, or declared.
 */
#ifndef GCHINT_FILTER_H
#define GCHINT_FILTER_H

#include "session.h"

/** filter_now() - the time as struct record's since has it, lowest bit clear; never 0. */
uint32_t filter_now(void);

/**
 * filter_short() - is the phase @word not worth a hint?
 * @s: the session
 * @word: phase and flags
 * @declared_ns: what the caller expects of this one; 0 unknown
 */
int filter_short(const struct gchint_session *s, uint32_t word, uint64_t declared_ns);

/** filter_learn() - a phase @word that began at @since ends now. */
void filter_learn(struct gchint_session *s, uint32_t word, uint32_t since);

#endif /* GCHINT_FILTER_H */
