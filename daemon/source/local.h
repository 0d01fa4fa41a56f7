/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Local sockets: for annotations, and for the event feed of the tests. */
#ifndef SOURCE_LOCAL_H
#define SOURCE_LOCAL_H

/**
 * local_bind - a local socket at a path
 * @type: SOCK_DGRAM or SOCK_SEQPACKET
 * @path: where. A socket file without a listener, left by a killed program,
 *	is replaced; any other file stays.
 *
 * Returns a descriptor that never blocks, or -errno: -EEXIST if another
 * type of file is there, -EADDRINUSE if the socket has a listener, -ENAMETOOLONG.
 */
int local_bind(int type, const char *path);

/* Closes the socket and removes its file, unless another program has replaced it. */
void local_close(int fd, int type, const char *path);

#endif
