/* SPDX-License-Identifier: MIT */
/* Startup that all adapters share. */
#ifndef ADAPTER_START_H
#define ADAPTER_START_H

#include <gchint.h>

/**
 * adapter_start() - open the process's session for an adapter
 * @file: name of the adapter's library, without its directory
 * @session: where to store the session; may be NULL
 *
 * Never stops the host process: an error in the environment is reported in one line on
 * standard error, and no hints are emitted. To be called once.
 *
 * Return: 1 if hints have a receiver; 0 if they have none, or if another copy of the
 * adapter emits them already. Then no session is open and the caller must install no hook.
 */
int adapter_start(const char *file, struct gchint_session **session);

/** adapter_fork() - make forked children open their own session */
void adapter_fork(void);

/**
 * adapter_environment() - set the environment variables that the attaching command passes
 * @variables: NAME=VALUE;...; variables other than GCHINT_* are ignored
 *
 * GCHINT_STREAM replaces that of an earlier recorder, also one whose attach failed. Other variables
 * that the host process has already are not changed, because its threads may be reading them. (The
 * C library keeps the text of a replaced variable.)
 */
void adapter_environment(const char *variables);

#endif /* ADAPTER_START_H */
