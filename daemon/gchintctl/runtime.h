/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Language runtimes that have an adapter, and which of them a program is. */
#ifndef GCHINTCTL_RUNTIME_H
#define GCHINTCTL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* How an adapter gets into its runtime. */
enum runtime_way {
	RUNTIME_PRELOAD, /* LD_PRELOAD */
	RUNTIME_REQUIRE, /* NODE_OPTIONS=--require */
	RUNTIME_RUBYOPT, /* RUBYOPT=-r */
	RUNTIME_AGENT, /* an argument of java */
	RUNTIME_NOTIFY, /* CORECLR_NOTIFICATION_PROFILERS */
	RUNTIME_LUA, /* LUA_INIT_5_4, before what is there */
	RUNTIME_PROBES, /* none: uprobes, from beside */
	RUNTIME_PROFILE, /* an argument of mono, and LD_LIBRARY_PATH */
};

/**
 * struct runtime - one that has an adapter
 * @name: as in the adapter's file name
 * @title: for people
 * @way: how the adapter gets in
 * @sees: what it tells
 * @blind: what it cannot see
 */
struct runtime {
	const char *name, *title;
	enum runtime_way way;
	const char *sees, *blind;
};

/* Of .NET's adapter, as its adapters/dotnet/profiler.h has it. */
#define RUNTIME_DOTNET_CLASS "{8f2f3a2e-43c1-4d0b-9a6e-676368696e74}"

#define RUNTIMES 12
extern const struct runtime runtimes[RUNTIMES];

/* The one of that name; NULL if there is none. */
const struct runtime *runtime_named(const char *name);

/**
 * runtime_of - which runtime a program is
 * @program: as in argv[0] of a command: a path, or a name that is looked up in PATH
 * @why: receives, if there is none, what is known of the program
 * @size: of @why
 *
 * Goes by ELF dynamic section and symbols, by the interpreter of a script, and by the
 * name of a launcher. Returns NULL with @why filled.
 */
const struct runtime *runtime_of(const char *program, char *why, size_t size);

/* The file that execvp(3) finds for that name; false if there is none. */
bool runtime_file(const char *program, char *path, size_t size);

/**
 * runtime_adapter - the path of an adapter's library
 * @runtime: which
 * @path: receives it
 * @size: of @path
 *
 * Beside a build, or where it was installed with us; for RUNTIME_PROBES what the kernel
 * has for it. Returns @path, or NULL.
 */
const char *runtime_adapter(const struct runtime *runtime, char *path, size_t size);

#endif
