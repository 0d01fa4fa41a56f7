/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the ABI's numbers for output and files. */
#ifndef GCHINT_NAMES_H
#define GCHINT_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Each returns a constant string; "unknown" for a number of a newer kernel. */
const char *name_phase(uint32_t phase);
const char *name_cause(uint32_t cause);
const char *name_role(uint32_t role);
const char *name_reason(uint32_t reason);
const char *name_lease(uint32_t lease);
const char *name_mode(uint32_t mode);

/**
 * name_flags - GCHINT_F_* as words joined by '+', "-" for none
 * @flags: the flags
 * @buf: receives the words
 * @size: of @buf, at least 40
 */
const char *name_flags(uint32_t flags, char *buf, size_t size);

#endif
