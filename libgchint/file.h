/* SPDX-License-Identifier: MIT */
/* Files that the library has open in a program that does not know of them. */
#ifndef GCHINT_FILE_H
#define GCHINT_FILE_H

#include <sys/types.h>

/** struct identity - of an open file: the program may close ours and use the number */
struct identity {
	dev_t dev;
	ino_t ino;
};

void identity_of(int fd, struct identity *id);
int identity_is(int fd, const struct identity *id);

/** fd_above_stdio() - @fd or a copy of it that no program takes for its output. */
int fd_above_stdio(int fd);

#endif /* GCHINT_FILE_H */
