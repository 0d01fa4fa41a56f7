/* SPDX-License-Identifier: MIT */
/* GCHINT_SYMBOLS: the names of a process's methods. */
#ifndef GCHINT_SYMBOL_H
#define GCHINT_SYMBOL_H

#include <sys/types.h>

/**
 * symbols_inherit() - put the names of @parent's methods into this process's own file
 *
 * In a forked child, before it names any. Nothing without such names. Async-signal-safe.
 */
void symbols_inherit(pid_t parent);

#endif /* GCHINT_SYMBOL_H */
