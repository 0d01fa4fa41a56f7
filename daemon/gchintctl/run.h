/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in memory, for tables and plots: phases, frequency timelines,
 * rails and, while they are needed, their readings.
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
	uint32_t cause; /* GCHINT_CAUSE_* */
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

/* A reading in the rail's unit: uW, uJ, uV, uA; RUN_UNKNOWN where there was none. */
#define RUN_UNKNOWN INT64_MIN

struct run_sample {
	uint64_t t;
	int64_t value;
};

struct run_series {
	struct run_sample *sample; /* by time */
	size_t nr;
	size_t still; /* left out: read before the counter counted on, see struct run_rail */
};

/**
 * struct energy_limits - what is known of a rail beside its readings
 * @min_w: it draws never less, W, by its data sheet; 0 where not known
 * @max_w: never more, W; INFINITY where not known
 * @update_ns: a counter counts in steps of this time: a reading is of an instant that
 *	is up to so long ago; 0 where not known
 * @wraps: J after which a counter begins anew; 0 where not known, or never
 */
struct energy_limits {
	double min_w, max_w;
	uint64_t update_ns;
	double wraps;
};

/* CPUs that a rail of a core may be of. */
#define RUN_CPUS 512

struct run_rail {
	int64_t id;
	char name[96], label[64], kind[16], source[24], derived[48];
	char cpus[64]; /* of the one core that it feeds; "" it feeds others too */
	uint8_t cpu[RUN_CPUS]; /* the same, a byte each */
	uint64_t period_ns;
	struct energy_limits limits;
};

/* Whether what runs on @cpu (-1: not known where) can be in the rail's energy. */
bool run_rail_feeds(const struct run_rail *rail, int cpu);

/* "measured", or "modelled" where the recording says that the rail is. */
const char *run_rail_how(const struct run_rail *rail);

/* Between a label and the host. */
#define RUN_AT " @ "

struct run {
	sqlite3 *db;
	const char *path;
	char label[160]; /* of the run, else its governor; with its host where there are several */
	char host[64]; /* "" not known */
	int64_t began_ns; /* CLOCK_REALTIME at t0; RUN_UNKNOWN */
	uint64_t t0, t1; /* of the recording */
	uint64_t c0, c1; /* of gchintctl record's command; both 0: there was none */
	struct run_phase *phase;
	size_t phases, open, uncertain;
	size_t absurd; /* rows left out: no times, or an end before the begin */
	struct run_cpu *cpu;
	size_t cpus;
	struct run_rail *rail;
	size_t rails;
	/* Distinct frequencies, ascending, and ns at each by group; [0] all CPUs
	 * outside of phases. */
	uint32_t *khz;
	size_t khzs;
	uint64_t (*residency)[RUN_GROUPS];
	struct run_cache *cache; /* of the samples, filled when they are asked for */
};

/*
 * Says what is wrong and returns NULL when it is no recording, or there is no
 * memory for all of it: no table is made of a part.
 */
struct run *run_open(const char *path);
void run_close(struct run *run);

/*
 * run_open_all - open several recordings
 * @paths: @nr files, which must outlive the runs
 * @behind: so many of the last stand behind a "--": they are of one kind, what is before
 *	them of another; 0, or all of them: kinds are as the recordings say
 *
 * Returns the runs in that order, or NULL where one cannot be opened, which is told:
 * then none is. run_close_all() takes NULL.
 */
struct run **run_open_all(char *const *paths, size_t nr, size_t behind);
/* How many arguments stand behind the first "--"; to be asked before getopt moves them. */
size_t run_behind_dashes(int argc, char *const *argv);
void run_close_all(struct run **run, size_t nr);

/*
 * Readings of run->rail[@rail]; all rails are read at once. NULL without memory, told. Of
 * a counter that counts in steps those are left out that came before the next step: that
 * it did not move is no zero of power.
 */
const struct run_series *run_samples(const struct run *run, size_t rail);
/* Frees the readings until they are asked for again. */
void run_forget(const struct run *run);

/**
 * run_limit - say what a rail can draw
 * @run: whose rail[].limits change
 * @spec: "LOW:HIGH" in W for every rail, "RAIL=LOW:HIGH" by name or label
 *
 * Returns how many rails that is of; 0, too, when run_limits_valid() is false.
 */
size_t run_limit(struct run *run, const char *spec);
bool run_limits_valid(const char *spec);

/* How many before run[@i] have its label. */
size_t run_nth_of_label(struct run *const *run, size_t i);

/* How long it took, ns: the command where there was one, else the recording. */
uint64_t run_duration(const struct run *run);
/* "2026-01-31 12:00:00 UTC", when it began, or that it is not known. */
void run_began(const struct run *run, char *buf, size_t size);
/* Seconds since the recording began; before it below 0. */
double run_seconds(const struct run *run, uint64_t t);

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
