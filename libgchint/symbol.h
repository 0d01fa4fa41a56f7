/* SPDX-License-Identifier: MIT */
/* GCHINT_SYMBOLS: a file with the names of a process's methods. */
#ifndef GCHINT_SYMBOL_H
#define GCHINT_SYMBOL_H

#include <sys/types.h>

/**
 * symbols_inherit() - copy the names of @parent's methods into this process's own file
 *
 * For a forked child, before it adds any name. Does nothing if there is no such file.
 * Async-signal-safe.
 */
void symbols_inherit(pid_t parent);

#endif /* GCHINT_SYMBOL_H */
