/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: samples of threads in a recording, and the names of their addresses. */
#ifndef GCHINTCTL_PROFILE_H
#define GCHINTCTL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "../../recording/reader/recording.h"

/**
 * struct profile_filter - selects samples of a recording; a member that is NULL selects all
 * @method: shell pattern of the method
 * @phase: name of a phase; "gc" for all phases of collection, "none" for outside of phases
 * @process: shell pattern of the program's name
 * @symbol: shell pattern of the symbol of the instruction
 */
struct profile_filter {
	const char *method, *phase, *process, *symbol;
};

/**
 * struct profile_keep - what a recorder samples and keeps; a pattern that is NULL matches all
 * @frequency: samples per second of CPU time, a number
 * @command: shell pattern of a process's name or command line
 * @cgroup: shell pattern of a control group
 * @unit: shell pattern of a systemd unit
 * @method: shell patterns of methods, separated by '|'
 * @phase: names of phases, separated by commas; "none" for outside of phases
 * @signal: ask threads for their methods by a signal even if the kernel could read them
 */
struct profile_keep {
	const char *frequency, *command, *cgroup, *unit, *method, *phase;
	bool signal;
};

/* Whether the values can be written to a configuration; if not, reports why. */
bool profile_keep_good(const struct profile_keep *keep);
/* Writes the configuration of a recorder. Returns 0 or -errno. */
int profile_keep_write(const char *path, const struct profile_keep *keep);
/* Changes what the running recorder of @file keeps. Returns an exit code. */
int profile_filter(const char *file, struct profile_keep *keep);

/* Numbers of names with a special meaning. */
enum {
	PROFILE_UNKNOWN, /* "?": not recorded, or no symbol at that address */
	PROFILE_NO_METHOD, /* "-": the thread was in no method with a name */
	PROFILE_FIRST
};

/* The image of code that a runtime compiled and named. */
#define PROFILE_METHODS "[methods]"

struct profile_sample {
	uint64_t t;
	int32_t tgid, tid;
	int cpu; /* -1 not known */
	uint32_t khz; /* 0 not known */
	uint32_t process, method, image, symbol; /* names */
	uint32_t place; /* index into profile.symbol of the instruction, from 1; 0 none */
	uint32_t stack; /* index into profile.stack, from 1; 0 none */
	uint16_t group; /* of phase_group(); only valid if @answered */
	bool answered, kernel; /* the phase is known; the sample is in the kernel */
	bool compiled; /* @method was derived from the address of the instruction, or of a caller */
};

struct profile_stack {
	int64_t id;
	char *frames;
};

struct profile_symbol {
	int64_t tgid;
	uint64_t address, t;
	uint32_t image, name;
	int64_t offset; /* of the address into the named symbol; -1 not known */
	uint32_t file; /* a name */
	int line; /* in @file; 0 not known */
	/*
	 * Index into profile.inlined, from 1, of the innermost function inlined here; the functions
	 * around it follow, up to this symbol itself with the line that it calls them from. 0: none.
	 */
	uint32_t inlined, inlines;
};

/* A thread that only works for a collector; others announce the phases that it takes part in. */
struct profile_worker {
	int32_t tgid, tid;
	uint32_t role; /* GCHINT_ROLE_STW or _CONCURRENT */
};

/* A recording's samples. names[PROFILE_UNKNOWN] is "?", names[PROFILE_NO_METHOD] "-". */
struct profile {
	const struct recording *rec;
	struct profile_sample *sample;
	size_t samples, all; /* those that pass the filter; all in the recording */
	char **name;
	size_t names;
	struct profile_worker *worker; /* threads of collectors, by number */
	size_t workers;
	struct recording_phase
		*lead; /* phases that workers may take part in, by process and begin */
	size_t leads;
	size_t derived; /* samples of workers whose phase another thread announced */
	uint32_t cut; /* the name of the rest of a call chain that was cut */
	bool scarce; /* a name could not be stored for lack of memory */
	uint32_t *index; /* hash table of names */
	size_t slots;
	struct profile_stack *stack;
	size_t stacks;
	struct profile_symbol *symbol;
	size_t symbols;
	struct profile_symbol *inlined;
	size_t inlines;
	bool any_method; /* a symbol is code that a runtime compiled */
	double seconds; /* of CPU time that a sample stands for */
	char event[16], in_kernel[8];
};

/*
 * Returns false, after reporting the reason: for example that there are no samples, or that none
 * passes the filter.
 */
bool profile_load(struct profile *p, const struct recording *rec,
		  const struct profile_filter *filter);
void profile_free(struct profile *p);
/* Returns the symbol at an address of a process at an instant; NULL if none is known. */
const struct profile_symbol *profile_symbol_at(const struct profile *p, int32_t tgid,
					       uint64_t address, uint64_t t);

/**
 * struct profile_maps - where programs write the names of their methods
 * @directory: directory of perf-PID.map files, which adapters find in GCHINT_SYMBOLS
 * @since: files in /tmp, where other runtimes write theirs, are used if not older than this
 * @remove: remove the files in /tmp, because they were only written for this profile
 */
struct profile_maps {
	const char *directory;
	time_t since;
	bool remove;
};

/**
 * profile_resolve - add the names of sampled addresses to a recording
 * @file: the recording; its recorder must have ended
 * @maps: where programs wrote the names of their methods
 *
 * To be called on the machine that was sampled: the programs need not exist where the recording
 * is read. Returns false after reporting an error.
 */
bool profile_resolve(const char *file, const struct profile_maps *maps);

/**
 * struct profile_chain - a walk over a recorded call chain, from the innermost frame
 * @text: the rest of it; the other members are of the walk
 */
struct profile_chain {
	const char *text;
	bool kernel, user; /* the frame before was the kernel's, or the program's */
};

/*
 * The address of the next frame's instruction. The chain has return addresses of callers: the call
 * is before them, and they may be the first of the next function or line. Where a chain goes from
 * the kernel to the program the address is that of the instruction.
 */
bool profile_chain_next(struct profile_chain *chain, uint64_t *address);
/* Whether the kernel's half of addresses has it. */
bool profile_is_kernel(uint64_t address);

#define PROFILE_DEPTH 140 /* maximum number of frames of a stack */

enum profile_kind {
	PROFILE_PROGRAM,
	PROFILE_PHASE,
	PROFILE_METHOD, /* also code that a runtime compiled and named */
	PROFILE_NATIVE,
	PROFILE_KERNEL
};

/**
 * struct profile_frame - a frame of a stack
 * @kind: what the frame is
 * @name: to be passed to profile_name()
 * @image: file that it is in; PROFILE_UNKNOWN for programs, phases and methods that the thread
 *	reported
 * @address: of the instruction; 0 for the same frames, and if it is not known
 * @at: symbol at that address; NULL if none is known
 */
struct profile_frame {
	enum profile_kind kind;
	uint32_t name, image;
	uint64_t address;
	const struct profile_symbol *at;
};

/**
 * profile_frames() - get the stack of a sample, outermost frame first
 * @p: the profile
 * @s: the sample
 * @frame: array of PROFILE_DEPTH frames
 *
 * Returns the number of frames; the first is the program.
 */
size_t profile_frames(const struct profile *p, const struct profile_sample *s,
		      struct profile_frame *frame);
/* Text of the name of a frame; phases are numbered from p->names on. */
const char *profile_name(const struct profile *p, uint32_t name);

/* Prints tables. Returns an exit code, as the functions below do. */
int profile_report(const struct profile *p, size_t lines);
/* Prints the symbol with the most samples, or all, by source line, else by instruction. */
int profile_annotate(const struct profile *p, size_t lines, bool all);
int profile_diff(const struct profile *before, const struct profile *since, size_t lines);
struct profile_energy;
/* Writes folded stacks, one per line, by energy, or by samples if @e is NULL. */
int profile_folded(const struct profile *p, const struct profile_energy *e, FILE *f);
/*
 * Writes a flame graph, by energy or by samples; @e may be NULL if it is by samples. One that is
 * @alone has its script, profile_flame_script, which draws all flame graphs of a page.
 */
int profile_flame(const struct profile *p, const struct profile_energy *e, bool by_energy,
		  bool alone, FILE *f);
/* Writes the flame graph of @since, coloured by the change of CPU time. */
int profile_flame_change(const struct profile *before, const struct profile *since, FILE *f);
extern const char profile_flame_script[];
/* Writes the format of profiler.firefox.com, with phases, rails and frequencies. */
int profile_firefox(const struct profile *p, FILE *f);
/* Writes the format of pprof, with phases as labels, and energy where it is known. */
int profile_pprof(const struct profile *p, FILE *f);
/* Write the format of speedscope.app, and the output of perf-script(1). */
void profile_speedscope(const struct profile *p, FILE *f);
void profile_script(const struct profile *p, FILE *f);

#endif
