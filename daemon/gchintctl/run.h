/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in memory, for tables and plots: phases, frequency timelines,
 * rails. Samples stay in the file and are walked over.
 */
#ifndef GCHINTCTL_RUN_H
#define GCHINTCTL_RUN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uapi/linux/gchint.h>

/* Who waits for a phase: the first of its flags that decides (see the ABI). */
enum run_class {
	CLASS_NONE,
	CLASS_CONCURRENT,
	CLASS_FOREGROUND,
	CLASS_STW,
	CLASS_URGENT,
	CLASS_NR
};

/* A group is a phase with a class; group 0 is "outside of phases". */
#define RUN_GROUPS (GCHINT_PHASE_NR * CLASS_NR)

struct run_phase {
	uint64_t t0, t1;
	int32_t tgid, tid;
	uint16_t group;
	int16_t cpu; /* -1 not known */
	bool stw;
};

struct run_step {
	uint64_t t;
	uint32_t khz;
};

struct run_cpu {
	uint32_t cpu;
	struct run_step *step;
	size_t nr;
};

struct run_rail {
	int64_t id;
	char name[96], label[64], kind[16], source[24], derived[48];
	uint64_t period_ns;
};

/* "measured", or "modelled" where the recording says that the rail is. */
const char *run_rail_how(const struct run_rail *rail);

struct run {
	sqlite3 *db;
	const char *path;
	char label[96]; /* of the run, else its governor */
	uint64_t t0, t1;
	struct run_phase *phase;
	size_t phases, open, uncertain;
	struct run_cpu *cpu;
	size_t cpus;
	struct run_rail *rail;
	size_t rails;
	/* Distinct frequencies, ascending, and ns at each by group; [0] all CPUs
	 * outside of phases. */
	uint32_t *khz;
	size_t khzs;
	uint64_t (*residency)[RUN_GROUPS];
};

struct run *run_open(const char *path);
void run_close(struct run *run);

uint16_t run_group(uint32_t phase, uint32_t flags);
/* "mark, concurrent"; "outside of phases" for 0. */
const char *run_group_name(unsigned int group, char *buf, size_t size);

/* Frequency of a CPU at an instant; 0 not known. */
uint32_t run_khz(const struct run *run, int cpu, uint64_t t);

/* Calls @fn for each stretch of [@t0, @t1) in which a CPU's frequency is known. */
void run_stretches(const struct run *run, int cpu, uint64_t t0, uint64_t t1,
		   void (*fn)(void *data, uint32_t khz, uint64_t ns), void *data);

/* How long the phases of a group were; percentiles by nearest rank. */
struct run_lengths {
	size_t count;
	uint64_t total, mean, p50, p95, max;
	double khz; /* mean by time; 0 not known */
};

void run_lengths(const struct run *run, unsigned int group, struct run_lengths *l);

#endif
