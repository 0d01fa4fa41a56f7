/* SPDX-License-Identifier: MIT */
/* The environment variables that the library obeys: gchint(7). */
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

/** variable_read() - its text; NULL if it is unset, empty, or not to be trusted. */
const char *variable_read(enum variable which);

/**
 * variable_number() - an unsigned number and nothing else
 *
 * Return: 0 and *value, which stays as it is if the variable is unset; or -EINVAL and
 * s->bad.
 */
int variable_number(struct gchint_session *s, enum variable which, long *value);

/** variable_hints() - GCHINT_HINTS likewise; *hints as it is if the variable is unset. */
int variable_hints(struct gchint_session *s, uint8_t *hints);

/**
 * variable_report() - say on standard error that GCHINT_HINTS cannot be obeyed
 *
 * It was asked for by name: a value that has no meaning, or clamps where there are none.
 * One line in the life of a process and of its forked children; else nothing.
 */
void variable_report(struct gchint_session *s);

#endif /* GCHINT_ENVIRON_H */
