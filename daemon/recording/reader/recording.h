/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in memory, for tables and plots: phases, frequencies over time, rails, and their
 * readings while they are needed.
 */
#ifndef RECORDING_READER_RECORDING_H
#define RECORDING_READER_RECORDING_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uapi/linux/gchint.h>

#include "../../common/cpus.h"
#include "../schema.h"
#include "rail-role.h"

/* Class of a phase: how much waits for it, by the first of its flags that applies (see the ABI). */
enum phase_class {
	CLASS_NONE,
	CLASS_CONCURRENT,
	CLASS_FOREGROUND,
	CLASS_STW,
	CLASS_URGENT,
	CLASS_NR
};

/* A group is a phase with a class; group 0 is "outside of phases". */
#define PHASE_GROUPS (GCHINT_PHASE_NR * CLASS_NR)

struct recording_phase {
	uint64_t t0, t1;
	int32_t tgid, tid;
	uint32_t cause; /* GCHINT_CAUSE_* */
	uint16_t group;
	int16_t cpu; /* -1 not known */
	bool stw;
	bool unsure; /* its end is not known: it was open at the end, or events were lost */
};

/*
 * A pause: a time in which all mutators of one process are stopped, as the view "pauses" of schema.c
 * defines it. Phases that stop the world overlap and follow each other; pauses of a process do not.
 */
struct recording_pause {
	uint64_t t0, t1;
	int32_t tgid; /* 0 not known */
};

/* A value that is not known. */
#define RECORDING_UNKNOWN INT64_MIN

/* A reading of a heap; RECORDING_UNKNOWN, of @generation UINT32_MAX, where there is no value. */
struct recording_heap {
	uint64_t t;
	int32_t tgid, tid;
	int64_t used, committed, most, allocated, freed;
	uint32_t generation;
	bool after;
};

struct recording_step {
	uint64_t t;
	uint32_t khz;
};

struct recording_cpu {
	uint32_t cpu;
	struct recording_step *step;
	size_t nr;
};

/* A reading in the rail's unit: uW, uJ, uV, uA; RECORDING_UNKNOWN where there was none. */
struct recording_sample {
	uint64_t t;
	int64_t value;
};

/**
 * struct recording_series - the readings of a rail, as far as they can be trusted (series.h)
 * @sample: by time
 * @nr: their number
 * @still: readings left out: the counter was not updated yet, see recording_samples()
 * @joined: readings without a value that are left out: those around them give the energy
 * @stopped: readings of a counter that no longer counted, taken as unknown
 * @negative: readings of a negative power, taken as unknown
 */
struct recording_series {
	struct recording_sample *sample;
	size_t nr;
	size_t still, joined, stopped, negative;
};

/**
 * struct energy_limits - what is known of a rail in addition to its readings
 * @min_w: minimum power in W, for example from a data sheet; 0 if not known
 * @max_w: maximum power in W; INFINITY if not known
 * @update_ns: update period of a counter: a reading may be this old; of a power: a reading is the
 *	mean of this long before it; 0 if not known
 * @wraps: energy in J after which a counter wraps around; 0 if not known, or if it never does
 */
struct energy_limits {
	double min_w, max_w;
	uint64_t update_ns;
	double wraps;
};

/* CPU numbers that rails may have are below this. */
#define RECORDING_CPUS CPUS_MAX

struct recording_rail {
	int64_t id;
	enum rail_kind kind;
	char name[96], label[64], source[24], derived[48];
	char cpus[64]; /* CPUs of the one core that it feeds; "" if it feeds more than that */
	uint8_t cpu[RECORDING_CPUS]; /* the same as one flag per CPU */
	uint64_t period_ns;
	struct energy_limits limits;
	enum rail_role role;
};

/* Whether the rail's energy can include that of @cpu (-1 not known). */
bool recording_rail_feeds(const struct recording_rail *rail, int cpu);

/* Returns "modelled" if the recording says so of the rail, else "measured". */
const char *recording_rail_how(const struct recording_rail *rail);

/* Separates a label from the host. */
#define RECORDING_AT " @ "

struct recording {
	sqlite3 *db;
	const char *path;
	char label[160]; /* of its run, else its governor; with the host if there are several */
	char host[64]; /* "" not known */
	int64_t began_ns; /* CLOCK_REALTIME at t0; RECORDING_UNKNOWN */
	uint64_t t0, t1; /* of the recording */
	uint64_t c0, c1; /* begin and end of gchintctl record's command; both 0 if none */
	struct recording_phase *phase;
	size_t phases, open, uncertain;
	struct recording_pause *pause; /* by t0 */
	size_t pauses;
	struct recording_heap *heap; /* by process, thread and time */
	size_t heaps;
	size_t unsure_stops; /* stop-the-world phases of unknown end, which are in no pause */
	size_t absurd; /* rows with invalid values, such as an end before the begin */
	struct recording_cpu *cpu;
	size_t cpus;
	struct recording_rail *rail;
	size_t rails;
	/* Distinct frequencies in ascending order, and the time in ns at each by group; group 0
	 * is the time of all CPUs outside of phases. */
	uint32_t *khz;
	size_t khzs;
	uint64_t (*residency)[PHASE_GROUPS];
	struct recording_cache *cache; /* readings of rails, see recording_samples() */
};

/*
 * Loads a recording. Returns NULL, after reporting the reason, if the file is not a recording or
 * does not fit into memory: it is never loaded in part, since tables of it would be wrong.
 */
struct recording *recording_open(const char *path);
void recording_close(struct recording *rec);

/*
 * Returns the readings of rec->rail[@rail]; the first call reads those of all rails. NULL without
 * memory, after reporting it. Repeated readings of a counter within its update period are left
 * out: they do not mean that the power was zero.
 */
const struct recording_series *recording_samples(const struct recording *rec, size_t rail);
/* Frees the readings; recording_samples() reads them again. */
void recording_forget(const struct recording *rec);

/* Duration in ns of the command, or of the recording if there was no command. */
uint64_t recording_duration(const struct recording *rec);
/* Formats when the recording began, "2026-01-31 12:00:00 UTC", or that it is not known. */
void recording_began(const struct recording *rec, char *buf, size_t size);
/* Seconds since the recording began; negative before it. */
double recording_seconds(const struct recording *rec, uint64_t t);

uint16_t phase_group(uint32_t phase, uint32_t flags);
/* "mark, concurrent"; "outside of phases" for 0. */
const char *phase_group_name(unsigned int group, char *buf, size_t size);
/* Which groups have a phase: PHASE_GROUPS flags. */
void recording_find_groups(const struct recording *rec, bool *seen);

/*
 * Lengths of the phases of a group in ns; percentiles by nearest rank. Phases whose end is not
 * known are only counted, in @unsure.
 */
struct recording_lengths {
	size_t count, unsure;
	uint64_t total, mean, p50, p95, max;
	double khz; /* time-weighted mean; 0 not known */
};

void recording_lengths(const struct recording *rec, unsigned int group,
		       struct recording_lengths *l);

/* Returns false without memory, after reporting it. */
bool recording_load_rails(struct recording *rec);

#endif
