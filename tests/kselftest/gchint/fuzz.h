/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the fuzzer's worker and its calls. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_NOBODY 1	/* the worker without privileges */
#define FUZZ_FILES 4	/* sessions that a worker holds at most */
#define FUZZ_MAPS 8
#define FUZZ_IDLERS 6	/* threads of a worker that can be given slots */

/**
 * struct fuzz_counts - counts of all workers
 * @done: calls
 * @passed: calls with a judged errno that succeeded
 * @refused: the others
 * @surprises: results that were not as documented
 * @first: the first surprise in words
 */
struct fuzz_counts {
	long done, passed, refused;
	int surprises;
	char first[200];
};

/**
 * struct fuzz_map - a mapping
 * @at: where, NULL none
 * @length: bytes
 * @protection: PROT_*
 * @slots: of slots, not of the information page
 */
struct fuzz_map {
	void *at;
	size_t length;
	int protection;
	bool slots;
};

/**
 * struct fuzz_worker - state of a worker
 * @number: its number
 * @dice: state of its random numbers
 * @fd: sessions, -1 none
 * @map: their pages
 * @netlink: a socket that knows @family and @groups
 * @tid: threads that can get slots; 0, the worker, is the first
 * @child: a forked one: its descriptors are its parent's
 */
struct fuzz_worker {
	int number;
	uint64_t dice;
	int fd[FUZZ_FILES];
	struct fuzz_map map[FUZZ_MAPS];
	int netlink;
	uint16_t family;
	uint32_t groups[2];
	int tid[FUZZ_IDLERS];
	bool child;
};

extern struct fuzz_counts *fuzz_counts;
extern struct fuzz_worker fuzz_worker;

/* One random call. */
void fuzz_step(void);

#endif
