/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A .NET program that runs, and its diagnostic socket. */
#ifndef GCHINTCTL_ATTACH_H
#define GCHINTCTL_ATTACH_H

#include <sys/types.h>

/**
 * dotnet_reach - a connection to a .NET runtime
 * @pid: its process
 * @own: the pid as it sees itself
 *
 * Returns a descriptor; -ENOENT where it has no socket: it is no .NET program, or its
 * diagnostics are switched off (DOTNET_EnableDiagnostics); -errno.
 */
int dotnet_reach(pid_t pid, int own);

/**
 * dotnet_load - have it load the adapter
 * @fd: of dotnet_reach()
 * @adapter: the library
 * @with: what to give it
 *
 * Returns 0; -ECANCELED where it, or the adapter, would not; -errno.
 */
int dotnet_load(int fd, const char *adapter, const char *with);

#endif
