/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording a command: for gchintctl record, and for run and profile, which record theirs. */
#ifndef GCHINTCTL_RECORD_H
#define GCHINTCTL_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "child.h"

#define RECORD_ARGS 48

/**
 * struct recorder - a recording of one command
 * @file: the recording; recorder_run() may set another name, which it reports
 * @called: the name of the command in files and messages; NULL: its first word
 * @program: the daemon; NULL: the one in the directory of this program
 * @quiet: print no progress
 * @cost: print the cost of the recording at the end
 * @with_command: keep the command with its arguments
 * @hints_optional: the caller wants something else, or reports missing hints itself
 * @ends_quietly: the caller says itself what was recorded
 * @metrics: where monitors are answered meanwhile, see monitor_listen(); NULL: nowhere
 * @unrecorded: there are only @metrics
 * @after_ms: how long to record after the command's end, so that a reading of the rails follows it
 * @setup: called in the command's process before it is executed; may be NULL
 * @data: argument of @setup
 * @ran: set by recorder_run(): the command was executed
 * @complete: set by recorder_run(): so is the recording
 * @abandoned: set by recorder_run(): the disk hangs; who opens the recording may wait for it
 * @left: what to do about processes that the command leaves running
 * @usage: set by recorder_run(): what the command took, if @ran
 *
 * The other members are record.c's own.
 */
struct recorder {
	const char *file, *called, *program;
	bool quiet, cost, with_command, hints_optional, ends_quietly, unrecorded;
	const char *metrics;
	unsigned int after_ms;
	void (*setup)(void *data);
	void *data;
	bool ran, complete, abandoned;
	struct child_usage usage;
	enum child_left left;

	char *argv[RECORD_ARGS], name[PATH_MAX], found[PATH_MAX + 32];
	const char *label;
	int args;
	pid_t command; /* has ended, and is not reaped yet */
	bool rotates; /* gchintd may rotate an existing file */
	bool unnamed; /* the name was made of the program's and the time */
	pid_t daemon;
	uint64_t start;
	char dir[64], annotations[96], config[96], notify[96], stream[96];
	int manager; /* socket on which gchintd reports that it is ready */
};

void recorder_init(struct recorder *r);

/* What the commands that record have in common: members of a table for getopt_long(), and letters. */
#define RECORDER_OPTIONS                                                                           \
	{ "command", no_argument, NULL, 'c' }, { "cost", no_argument, NULL, 'C' },                 \
		{ "gchintd", required_argument, NULL, 'g' },                                       \
		{ "label", required_argument, NULL, 'l' },                                         \
		{ "option", required_argument, NULL, 'x' },                                        \
		{ "output", required_argument, NULL, 'o' },                                        \
	{                                                                                          \
		"period", required_argument, NULL, 'p'                                             \
	}
#define RECORDER_LETTERS "Cl:o:p:"

/* Takes one of RECORDER_OPTIONS. Returns false if it is another. @arg is kept. */
bool recorder_take_option(struct recorder *r, int option, const char *arg);
/* Passes an option to gchintd. @option is kept. */
void recorder_add_option(struct recorder *r, const char *option);

/**
 * recorder_page_name - a name for the page of a recording
 * @file: the recording
 * @name: receives it
 * @size: of @name
 *
 * FILE.html for FILE.db; FILE-2.html if that exists, and so on. Returns false if no name is free.
 */
bool recorder_page_name(const char *file, char *name, size_t size);

/* A command in one line, quoted for a shell, to be freed; NULL without memory. */
char *command_text(char *const *argv);

/**
 * recorder_run - record while a command runs
 * @r: from recorder_init()
 * @command: its words, and NULL
 *
 * An existing file is kept: the next free name, FILE-2 and so on, replaces it in @r->file, which is
 * reported. Without a file the name is made of the program's and the time, unless @r->unrecorded. A file is removed if
 * the command could not be executed. Returns an exit code: that of the command if it ran.
 */
int recorder_run(struct recorder *r, char **command);

#endif
