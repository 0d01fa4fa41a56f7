/* SPDX-License-Identifier: MIT */
/* The environment variables that the library reads: gchint(7). */
#ifndef GCHINT_ENVIRON_H
#define GCHINT_ENVIRON_H

#include "page.h"

enum variable {
	VARIABLE_NONE,
	VARIABLE_DISABLE,
	VARIABLE_MIN_US,
	VARIABLE_CLAMP,
	VARIABLE_TRACE,
	VARIABLE_DEVICE,
	VARIABLE_STREAM,
	VARIABLE_HINTS,
	VARIABLE_PROFILE,
	VARIABLE_SYMBOLS,
};

/** variable_read() - the value; NULL if unset, empty, or in a set-user-ID program. */
const char *variable_read(enum variable which);

/** variable_is_set() - whether it is set, be it to nothing. */
int variable_is_set(enum variable which);

/**
 * variable_number() - parse an unsigned decimal number
 *
 * Return: 0 and *value, which stays as it is if the variable is unset; or -EINVAL and
 * s->bad.
 */
int variable_number(struct gchint_session *s, enum variable which, long *value);

/** variable_hints() - parse GCHINT_HINTS; leaves *hints alone if the variable is unset. */
int variable_hints(struct gchint_session *s, uint8_t *hints);

/**
 * variable_report() - report on standard error that GCHINT_HINTS cannot be honoured
 *
 * That is an unknown value, or clamps on a system without them. At most one line in the
 * life of a process and its forked children.
 */
void variable_report(struct gchint_session *s);

#endif /* GCHINT_ENVIRON_H */
