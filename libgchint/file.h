/* SPDX-License-Identifier: MIT */
/* Descriptors that the library keeps open without the knowledge of the program. */
#ifndef GCHINT_FILE_H
#define GCHINT_FILE_H

#include <sys/types.h>

/** struct identity - identifies an open file: the program may close it and reuse its number */
struct identity {
	dev_t dev;
	ino_t ino;
};

void identity_of(int fd, struct identity *id);
int identity_is(int fd, const struct identity *id);

/** fd_above_stdio() - @fd, or a copy of it above standard error if it is not. */
int fd_above_stdio(int fd);

#endif /* GCHINT_FILE_H */
