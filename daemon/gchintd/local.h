/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Local sockets: marks, and the feed of the tests. */
#ifndef GCHINTD_LOCAL_H
#define GCHINTD_LOCAL_H

/**
 * local_bind - a local socket at a path
 * @type: SOCK_DGRAM or SOCK_SEQPACKET
 * @path: where. A socket that nobody answers on, left by a program that was
 *	killed, is replaced; any other file stays.
 *
 * Returns a descriptor that never blocks, or -errno: -EEXIST another kind of file
 * is there, -EADDRINUSE somebody answers, -ENAMETOOLONG.
 */
int local_bind(int type, const char *path);

/* Closes it and removes its file, unless that is another program's by now. */
void local_close(int fd, int type, const char *path);

#endif
