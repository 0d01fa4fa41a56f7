/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the disk, SQLite and the clock answer to parts of gchintd that are linked as
 * they are: the linker hands us these calls first (--wrap). All zero: as ever.
 */
#ifndef TESTS_DAEMON_FAULTS_H
#define TESTS_DAEMON_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct faults {
	_Atomic int defines; /* definitions still to be refused: no room */
	_Atomic int commits; /* what SQLite says of each commit; 0 they are let through */
	int detail, system; /* and of why: the extended code, errno */
	_Atomic int renames; /* still to fail: EIO */
	_Atomic bool hold; /* each commit waits for it to end */
	_Atomic bool held; /* one does */
	_Atomic uint64_t at_ns; /* the clock stands here; 0 it is the machine's */
	_Atomic uint64_t ahead_ns; /* the clock, of that */
	_Atomic int read; /* errno of each read of a sensor's number */
	_Atomic uint64_t leap_ns; /* how far it goes ahead at each reading */
	bool synced; /* a database was told to sync each transaction */
	char said[2048]; /* lines of the log; what is beyond is left out */
};

extern struct faults faults;

/* Whether the log has @text by now, or within 20 s. */
bool faults_said(const char *text);

#endif
