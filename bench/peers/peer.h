/* SPDX-License-Identifier: MIT */
/**
 * DOC: Running a contender of a comparison
 *
 * A contender is a command whose standard output holds one row of CSV under its
 * headings. It is run, timed, guarded against a busy machine and read.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_ARGS	32
#define PEER_ROUNDS_MAX 50
#define PEER_TRIES	3 /* how often a round on a busy machine is repeated */

/**
 * struct peer - a contender
 * @name: in tables
 * @argv: command, NULL-terminated, not copied
 * @safepoint_log: HotSpot's safepoint log that the command writes, NULL for none
 * @missing: why it cannot run here, NULL when it can
 */
struct peer {
	const char *name;
	const char *argv[PEER_ARGS];
	const char *safepoint_log;
	const char *missing;
};

/** struct peer_run - figures of one run; NAN for unknown */
struct peer_run {
	int code;
	char error[160];
	double score_ms, cpu_ms, foreign;
	double system_ms, faults; /* CPU time in the kernel; first touches of pages */
	double gc_cpu_ms, heap_mib, collections;
	double stop_total_ms, stop_max_ms; /* the world stopped */
	double pause_max_ms; /* of one mutator, for whatever reason */
	double bytes, objects, checksum;
};

/** struct peer_series - all rounds of one contender; a refused round is all NAN */
struct peer_series {
	struct peer_run run[PEER_ROUNDS_MAX];
	size_t rounds;
	bool disturbed; /* a round was kept although the machine was not quiet */
};

/** peer_run() - run once, @timeout_s at most. Return: run->code. */
int peer_run(const struct peer *peer, unsigned int timeout_s, struct peer_run *run);

/**
 * peer_rounds() - run all contenders one after the other, @rounds times
 *
 * Interleaved, so that a drift of the machine affects all alike. @say is called before
 * each run with the name of the contender; may be NULL.
 */
void peer_rounds(const struct peer *peer, struct peer_series *series, size_t count, size_t rounds,
		 unsigned int timeout_s, void (*say)(const char *what, size_t round));

/** peer_figures() - @out[i] = figure of round i, by offset in struct peer_run. */
void peer_figures(const struct peer_series *s, size_t offset, double *out);
#define PEER_FIGURE(series, member, out)                                                           \
	peer_figures((series), offsetof(struct peer_run, member), (out))

/** peer_csv() - the cell of the first row under @heading as a number, NAN without. */
double peer_csv(const char *text, const char *heading);
/** peer_safepoints() - total and longest stop of HotSpot's safepoint log, in ms. */
void peer_safepoints(const char *path, double *total_ms, double *longest_ms);

#endif
