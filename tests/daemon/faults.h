/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of disk, SQLite and clock, injected into parts of gchintd that are linked unchanged: the
 * linker redirects these calls here (--wrap). All zero: no fault.
 */
#ifndef TESTS_DAEMON_FAULTS_H
#define TESTS_DAEMON_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct faults {
	_Atomic int defines; /* definitions that are still to be refused: no space */
	_Atomic int commits; /* SQLite's result of each commit; 0: they succeed */
	int detail, system; /* and its reason: the extended code, errno */
	_Atomic int renames; /* number that are still to fail: EIO */
	_Atomic bool hold; /* each commit waits for its end */
	_Atomic bool held; /* one does */
	_Atomic uint64_t at_ns; /* fixed value of the clock; 0: the machine's clock */
	_Atomic uint64_t ahead_ns; /* the clock that it applies to */
	_Atomic uint64_t slept_ns; /* CLOCK_BOOTTIME is further by this */
	_Atomic int read; /* errno of each read of a sensor's value */
	_Atomic uint64_t leap_ns; /* how far it advances at each read */
	bool synced; /* a database was set to sync each transaction */
	char said[2048]; /* lines of the log; further ones are left out */
};

extern struct faults faults;

/* Whether the log contains @text now or within 20 s. */
bool faults_said(const char *text);

#endif
