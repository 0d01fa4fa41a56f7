/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_ANNOTATIONS_H
#define GCHINTCTL_ANNOTATIONS_H

#define ANNOTATIONS_SOCKET "/run/gchintd/annotations"

/* Adds an annotation, stamped now, to the recording behind a socket. Returns 0 or -errno. */
int annotations_add(const char *path, const char *text);

#endif
