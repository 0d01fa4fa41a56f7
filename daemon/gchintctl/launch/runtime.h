/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Language runtimes that have an adapter, and how to find out which of them a program uses. */
#ifndef GCHINTCTL_RUNTIME_H
#define GCHINTCTL_RUNTIME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* How an adapter is loaded into its runtime. */
enum runtime_mode {
	RUNTIME_LAUNCH, /* by libgchint-launch.so, when the runtime starts */
	RUNTIME_PRELOAD, /* LD_PRELOAD */
	RUNTIME_AGENT, /* an argument of java */
	RUNTIME_PROBES, /* nothing is loaded: uprobes from another process */
};

/**
 * struct runtime - a runtime that has an adapter
 * @name: as in the adapter's file name
 * @title: human-readable name
 * @mode: how the adapter is loaded
 * @sees: what the adapter reports
 * @blind: what it cannot see
 * @signs: of a runtime of probes.list, what its programs are recognised by; else NULL
 * @probes: the same, its probes
 */
struct runtime {
	const char *name, *title;
	enum runtime_mode mode;
	const char *sees, *blind;
	const char *signs, *probes;
};

/* Class ID of the .NET adapter; the same as in adapters/dotnet/profiler.h. */
#define RUNTIME_DOTNET_CLASS "{8f2f3a2e-43c1-4d0b-9a6e-676368696e74}"

/* Those with an adapter in order of their names, then those of probes.list; NULL after the last. */
const struct runtime *runtime_at(size_t i);

/* Whether its programs are seen by probes from outside, not by an adapter that is loaded into them. */
bool runtime_is_probed(const struct runtime *runtime);

/* Whether --runtime takes its name: not one that is found in the program itself alone. */
bool runtime_can_be_named(const struct runtime *runtime);

/* Returns the runtime of that name; NULL if there is none. */
const struct runtime *runtime_named(const char *name);

/**
 * struct runtime_none - why a program has no runtime with an adapter; @script is set in any case
 * @why: the reason
 * @runs: it is a program of this machine, which may give hints by itself
 * @libgchint: it has no runtime, and links libgchint, loads it by that name or contains it
 * @script: it is a script
 * @status: what a shell returns for it if it does not run: 127 if it is not there, else 126
 * @other: it is a runtime that can be taken for one with an adapter
 * @refuses: nothing can be loaded into it, but into programs that it starts
 * @file: the program, or the interpreter of a script; set in any case
 */
struct runtime_none {
	char why[128];
	int status;
	bool runs, libgchint, script, other, refuses;
	char file[PATH_MAX];
};

/**
 * runtime_of - find out which runtime a program uses
 * @program: as in argv[0] of a command: a path, or a name that is looked up in PATH
 * @none: filled in
 *
 * Goes by ELF sections, needed libraries and symbols, by the interpreter of a script, and by the
 * name of a launcher. Returns NULL if there is no such runtime.
 */
const struct runtime *runtime_of(const char *program, struct runtime_none *none);

/* The file of this program; where /proc is not mounted, as it was executed. False: unknown. */
bool runtime_self(char self[PATH_MAX]);

/* Finds the file that execvp(3) would execute; returns false if there is none. */
bool runtime_file(const char *program, char *path, size_t size);

/**
 * runtime_adapter - find the library of an adapter
 * @runtime: the runtime
 * @path: receives its path
 * @size: of @path
 *
 * Searches the build tree, then the installation of this program. For RUNTIME_PROBES the path is
 * that of the kernel's uprobe type. Returns @path, or NULL if it is not there.
 */
const char *runtime_adapter(const struct runtime *runtime, char *path, size_t size);

/* Finds the library that chooses the adapter of each process when it starts; as runtime_adapter(). */
const char *runtime_launcher(char *path, size_t size);

#endif
