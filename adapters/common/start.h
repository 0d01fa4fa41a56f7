/* SPDX-License-Identifier: MIT */
/* What every adapter does first. */
#ifndef ADAPTER_START_H
#define ADAPTER_START_H

#include <gchint.h>

/**
 * adapter_start() - open the process's session for an adapter
 * @file: name of the adapter's library, without its folder
 * @session: where to store the session; may be NULL
 *
 * Never stops its host: what is wrong with the environment becomes one line on
 * standard error, and there are no hints then. To be called once.
 *
 * Return: 1 if hints go somewhere; 0 if they go nowhere, or if another copy of the
 * adapter gives them already. Then nothing is open and nothing is to be hooked.
 */
int adapter_start(const char *file, struct gchint_session **session);

/** adapter_fork() - a forked child hints for itself, from its first instruction on. */
void adapter_fork(void);

/**
 * adapter_environment() - take the variables of who attaches, as if the host had been started so
 * @given: NAME=VALUE;...; of others than GCHINT_* nothing is taken
 *
 * What the host has already stays: its own threads may be reading it.
 */
void adapter_environment(const char *given);

#endif /* ADAPTER_START_H */
