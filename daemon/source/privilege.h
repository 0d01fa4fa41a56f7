/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities, which Linux has by thread. Those of the service's user are in effect only while
 * it opens what needs them; the threads and the process that need none give them up. A daemon
 * that root starts stays root: its recording may lie in another user's directory.
 */
#ifndef SOURCE_PRIVILEGE_H
#define SOURCE_PRIVILEGE_H

/* Takes the capabilities of the calling thread out of effect, until privilege_raise(). */
void privilege_lower(void);
/* Puts them into effect again. Calls nest: each has its privilege_lower(). */
void privilege_raise(void);

/* Gives up the capabilities of the calling thread for good. */
void privilege_drop(void);
/*
 * The same for a process that parses what strangers send: neither exec nor a user change
 * gives it any back, root becomes the overflow user, and its memory is closed to others. 0 or -errno.
 */
int privilege_drop_process(void);

#endif
