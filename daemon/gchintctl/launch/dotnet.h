/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The diagnostic socket of a running .NET program. */
#ifndef GCHINTCTL_DOTNET_H
#define GCHINTCTL_DOTNET_H

#include <sys/types.h>

/**
 * dotnet_reach - connect to a .NET runtime
 * @pid: its process
 * @own: its pid in its own namespace
 *
 * Returns a descriptor; -ENOENT where it has no socket, because it is no .NET program or its
 * diagnostics are switched off (DOTNET_EnableDiagnostics); or another -errno.
 */
int dotnet_reach(pid_t pid, int own);

/**
 * dotnet_load - make a .NET runtime load the adapter
 * @fd: a connection from dotnet_reach()
 * @adapter: path of the library
 * @with: options for the adapter
 *
 * Returns 0; -ECANCELED where the runtime or the adapter refused; or another -errno.
 */
int dotnet_load(int fd, const char *adapter, const char *with);

#endif
