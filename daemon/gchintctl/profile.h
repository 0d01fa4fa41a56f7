/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: samples of threads in a recording, with the names that belong to them. */
#ifndef GCHINTCTL_PROFILE_H
#define GCHINTCTL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "run.h"

/**
 * struct profile_filter - which samples count
 * @method: shell pattern, or NULL
 * @phase: name of a phase, "none" outside of phases, or NULL
 * @process: shell pattern of a program's name, or NULL
 * @symbol: of what the instruction is in, or NULL
 */
struct profile_filter {
	const char *method, *phase, *process, *symbol;
};

/**
 * struct profile_keep - what a recorder samples, and what of it it keeps
 * @frequency: samples a second, a number
 * @command: shell pattern of a name or command line; NULL everything, as in all of these
 * @cgroup: of a control group
 * @unit: of a unit of systemd's
 * @method: of methods, several with '|' between them
 * @phase: names of phases, with commas; "none" outside of phases
 * @signal: ask threads, though the kernel could look
 */
struct profile_keep {
	const char *frequency, *command, *cgroup, *unit, *method, *phase;
	bool signal;
};

/* Whether it can be written; false with the mistake told. */
bool profile_keep_good(const struct profile_keep *keep);
/* The configuration of a recorder; 0 or -errno. */
int profile_keep_write(const char *path, const struct profile_keep *keep);
/* From now on, of the recorder that writes @file. An exit code. */
int profile_filter(const char *file, struct profile_keep *keep);

/* Numbers of names that have a meaning of their own. */
enum {
	PROFILE_UNKNOWN, /* "?": nobody said, or nothing is known by that address */
	PROFILE_NO_METHOD, /* "-": the thread said that it was in none that has a name */
	PROFILE_FIRST
};

/* The image of code that a runtime made, and named. */
#define PROFILE_METHODS "[methods]"

struct profile_sample {
	uint64_t t;
	int32_t tgid, tid;
	int cpu; /* -1 not known */
	uint32_t khz; /* 0 not known */
	uint32_t process, method, image, symbol; /* names */
	uint32_t place; /* index into profile.symbol, of the instruction, from 1; 0 none */
	uint32_t stack; /* index into profile.stack, from 1; 0 none */
	uint16_t group; /* of run_group(); of no meaning without @answered */
	bool answered, kernel;
	bool compiled; /* @method is what is at the instruction: nobody told one */
};

struct profile_stack {
	int64_t id;
	char *frames;
};

struct profile_symbol {
	int64_t tgid;
	uint64_t address, t;
	uint32_t image, name;
	int64_t offset; /* from the begin of what has the name; -1 not known */
	uint32_t file; /* a name */
	int line; /* of it; 0 not known */
};

/* A recording's samples. names[PROFILE_UNKNOWN] is "?", names[PROFILE_NO_METHOD] "-". */
struct profile {
	struct run *run;
	struct profile_sample *sample;
	size_t samples, all; /* that count; that there are */
	char **name;
	size_t names;
	bool scarce; /* one had no memory */
	uint32_t *index; /* of names, by hash */
	size_t slots;
	struct profile_stack *stack;
	size_t stacks;
	struct profile_symbol *symbol;
	size_t symbols;
	double seconds; /* of CPU time that a sample stands for */
	char event[16], in_kernel[8];
};

/* False with the mistake told: no samples, or none that pass the filter, which is named. */
bool profile_load(struct profile *p, struct run *run, const struct profile_filter *filter);
void profile_free(struct profile *p);
/* What is at an address of a process at an instant; NULL nothing known. */
const struct profile_symbol *profile_symbol_at(const struct profile *p, int32_t tgid,
					       uint64_t address, uint64_t t);

/**
 * struct profile_maps - where programs left the names of their methods
 * @folder: perf-PID.map of those that obey GCHINT_SYMBOLS
 * @since: one in /tmp, where other runtimes put theirs, counts if it was written since then
 * @remove: those in /tmp are there by our doing, and go
 */
struct profile_maps {
	const char *folder;
	time_t since;
	bool remove;
};

/**
 * profile_resolve - put names beside the addresses of a recording
 * @file: the recording, which nobody writes to any more
 *
 * Here, where the programs are that were sampled: a recording goes elsewhere.
 * False with the mistake told.
 */
bool profile_resolve(const char *file, const struct profile_maps *maps);

#define PROFILE_DEPTH 44 /* frames of a stack at most */

enum profile_kind {
	PROFILE_PROGRAM,
	PROFILE_PHASE,
	PROFILE_METHOD, /* also code that a runtime made and named */
	PROFILE_NATIVE,
	PROFILE_KERNEL
};

/**
 * struct profile_frame - one of a stack
 * @name: profile_name() has its text
 * @image: where it is; PROFILE_UNKNOWN for programs, phases and methods that were told
 * @address: likewise; 0 not known
 * @at: what is known of that address; NULL nothing
 */
struct profile_frame {
	enum profile_kind kind;
	uint32_t name, image;
	uint64_t address;
	const struct profile_symbol *at;
};

/**
 * profile_frames() - the stack of a sample, outermost first
 * @frame: room for PROFILE_DEPTH
 *
 * Return: how many; the first is the program.
 */
size_t profile_frames(const struct profile *p, const struct profile_sample *s,
		      struct profile_frame *frame);
/* Of a frame; those of phases are p->names and up. */
const char *profile_name(const struct profile *p, uint32_t name);

/* Tables; exit codes. */
int profile_report(const struct profile *p, size_t lines);
/* Symbols by line of their sources, else by instruction: that of most samples, or all. */
int profile_annotate(const struct profile *p, size_t lines, bool all);
int profile_diff(const struct profile *before, const struct profile *since, size_t lines);
/* Folded stacks, a line each; or one picture of them. An exit code: without memory, none. */
int profile_folded(const struct profile *p, FILE *f);
int profile_flame(const struct profile *p, FILE *f);
/* What profiler.firefox.com reads, with phases, rails and frequencies. An exit code. */
int profile_firefox(const struct profile *p, FILE *f);
/* What speedscope.app reads; what perf-script(1) writes. */
void profile_speedscope(const struct profile *p, FILE *f);
void profile_script(const struct profile *p, FILE *f);

#endif
