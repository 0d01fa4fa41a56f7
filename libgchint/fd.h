/* SPDX-License-Identifier: MIT */
/* Descriptors that the library keeps open without the knowledge of the program. */
#ifndef GCHINT_FD_H
#define GCHINT_FD_H

#include <sys/types.h>

/** struct fd_identity - identifies an open file: the program may close it and reuse its number */
struct fd_identity {
	dev_t dev;
	ino_t ino;
};

void fd_identify(int fd, struct fd_identity *id);
int fd_is(int fd, const struct fd_identity *id);

/** fd_above_stdio() - @fd, or a copy of it above standard error if it is not. */
int fd_above_stdio(int fd);

#endif /* GCHINT_FD_H */
