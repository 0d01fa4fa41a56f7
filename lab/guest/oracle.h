/* SPDX-License-Identifier: MIT */
#ifndef LAB_ORACLE_H
#define LAB_ORACLE_H

#include <gchint/gc-listener.h>

/** oracle_listener - the listener that LAB_PHASES configures, NULL if it is not set */
struct gc_listener *oracle_listener(void);

#endif
