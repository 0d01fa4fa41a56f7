/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_MARKS_H
#define GCHINTCTL_MARKS_H

#define MARKS_SOCKET "/run/gchintd/marks"

/* Adds an annotation, stamped now, to the recording behind a socket. Returns 0 or -errno. */
int marks_add(const char *path, const char *text);

#endif
