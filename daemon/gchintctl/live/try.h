/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why --try: an advice, compared with its outcome. */
#ifndef GCHINTCTL_TRY_H
#define GCHINTCTL_TRY_H

#include <stdbool.h>

/**
 * struct try - what to try
 * @name: the recordings are NAME-now.db and NAME-then.db
 * @change: settings, separated by blanks: options of the program, and variables; NULL: the advice
 * @json: print JSON
 */
struct
try {
	const char *name, *change;
	bool json;
};

/**
 * try_change - run a program as it is, and again with a change of its runtime's settings
 * @try: what to try
 * @command: the program with its arguments, NULL-terminated
 *
 * Prints what was predicted and seen. Returns an exit code; that of the program if it failed.
 */
int try_change(const struct try *try, char **command);

#endif
