/* SPDX-License-Identifier: MIT */
/* The names that the trace prints. Never NULL; "?" for a number without a name. */
#ifndef GCHINT_LIB_NAMES_H
#define GCHINT_LIB_NAMES_H

#include <stdint.h>

const char *name_of_phase(uint32_t phase);
const char *name_of_cause(uint32_t cause);
const char *name_of_role(uint32_t role);
const char *name_of_backend(uint32_t backend);

#endif /* GCHINT_LIB_NAMES_H */
