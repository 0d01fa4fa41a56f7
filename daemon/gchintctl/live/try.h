/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why --try: an advice, compared with its outcome. */
#ifndef GCHINTCTL_TRY_H
#define GCHINTCTL_TRY_H

/**
 * try_advice - run a program as it is, and again with the change that its recording advises
 * @name: the recordings are NAME-now.db and NAME-then.db
 * @command: the program with its arguments, NULL-terminated
 *
 * Prints what was predicted and seen. Returns an exit code; that of the program if it failed.
 */
int try_advice(const char *name, char **command);

#endif
