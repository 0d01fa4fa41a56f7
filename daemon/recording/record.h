/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a recording: one of fixed size for each observation, passed from the
 * sources through the queue to the writer, which turns each into a row. Definitions
 * (records that other rows refer to) carry strings and are kept by the writer, to be
 * written again at the head of the next file when the recording is rotated.
 */
#ifndef RECORDING_RECORD_H
#define RECORDING_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum record_type {
	RECORD_PHASE,
	RECORD_DECISION,
	RECORD_LEASE,
	RECORD_TRANSITION,
	RECORD_RESIDENCY,
	RECORD_IDLE,
	RECORD_SAMPLE,
	RECORD_HOTPLUG,
	RECORD_THERMAL,
	RECORD_SCHED,
	RECORD_PERF,
	RECORD_HOTSPOT,
	RECORD_POLICY_STATE,
	RECORD_DROP,
	RECORD_COST,
	RECORD_DEFINE,
	RECORD_NR
};

/* Rails of one source, at most. */
#define RAILS_MAX 256

/* No value: becomes NULL in the database, never 0. */
#define UNKNOWN_U32 UINT32_MAX
#define UNKNOWN_S64 INT64_MIN

/* Where a transition's frequency was learned. */
enum record_how {
	HOW_START,
	HOW_TRACE,
	HOW_POLL,
	HOW_SAMPLING
};

/* How a phase came to its end; PHASE_OPEN while it has none. */
enum record_end {
	PHASE_OPEN,
	PHASE_EDGE,
	PHASE_LEASE,
	PHASE_STALE,
	PHASE_MODULE
};

/*
 * Holds the whole row each time: an end whose begin is in an older file of a rotated
 * recording still makes a complete row.
 */
struct record_phase {
	uint64_t id, t0, session, work_done, work_total, stall_ns;
	int32_t tgid, tid;
	uint32_t cpu, slot, phase, flags, cause, seq;
	uint8_t how; /* enum record_end */
	bool hinted; /* tgid, tid, session, slot are known */
	bool has_work;
	bool uncertain; /* events were lost since it began */
};

struct record_decision {
	uint64_t latency_ns;
	int32_t tgid, tid;
	uint32_t cpu, policy, khz_from, khz, reason, load, slot, phase, flags;
	bool hinted, has_latency;
};

struct record_lease {
	uint64_t session;
	int32_t tgid, tid;
	uint32_t slot, role, lease;
};

struct record_transition {
	uint32_t cpu, khz;
	enum record_how how;
};

struct record_residency {
	uint64_t total_ns;
	uint32_t policy, khz;
};

struct record_idle {
	uint64_t total_us, usage;
	uint32_t cpu, state;
};

struct record_sample {
	int64_t value;
	uint32_t rail, error_ns;
};

struct record_hotplug {
	uint32_t cpu;
	bool online;
};

/* A zone's temperature, a cooling device's state, or a throttle count. */
enum record_thermal_kind {
	THERMAL_ZONE,
	THERMAL_COOLING,
	THERMAL_THROTTLE
};

struct record_thermal {
	int64_t value;
	uint32_t id;
	enum record_thermal_kind kind;
};

struct record_sched {
	uint64_t run_ns, wait_ns, slices;
	int64_t utime_ns, stime_ns, migrations;
	int32_t tgid, tid;
	uint32_t cpu; /* on which it ran last */
};

struct record_perf {
	int64_t enabled_ns, running_ns;
	int64_t cycles, instructions, misses;
	int32_t tgid, tid;
};

/* Flags: what is known of a sample besides its addresses. */
#define HOTSPOT_METHOD 1u
#define HOTSPOT_PHASE  2u /* and its flags */

struct record_hotspot {
	uint64_t ip, kernel, method; /* ip, kernel: 0 not known */
	int32_t tgid, tid;
	uint32_t cpu, stack; /* stack: 0 none */
	uint8_t phase, flags;
	uint8_t known; /* HOTSPOT_* */
};

struct record_policy_state {
	char governor[16];
	uint32_t policy, min_khz, max_khz;
};

struct record_drop {
	uint64_t count;
	const char *source; /* constant strings */
	const char *why;
};

struct record_cost {
	uint64_t cpu_ns, wakeups, records, bytes;
	uint32_t rss_kib;
};

struct definition;

struct record {
	uint64_t t; /* CLOCK_MONOTONIC, ns */
	enum record_type type;
	union {
		struct record_phase phase;
		struct record_decision decision;
		struct record_lease lease;
		struct record_transition transition;
		struct record_residency residency;
		struct record_idle idle;
		struct record_sample sample;
		struct record_hotplug hotplug;
		struct record_thermal thermal;
		struct record_sched sched;
		struct record_perf perf;
		struct record_hotspot hotspot;
		struct record_policy_state policy_state;
		struct record_drop drop;
		struct record_cost cost;
		struct definition *define; /* the queue owns it */
	};
};

/* Rows with strings. A definition of the same kind and id replaces the last. */
enum definition_kind {
	DEFINE_META,
	DEFINE_CLOCK,
	DEFINE_POLICY,
	DEFINE_OPP,
	DEFINE_RAIL,
	DEFINE_IDLE_STATE,
	DEFINE_THERMAL,
	DEFINE_PROCESS,
	DEFINE_SOURCE,
	DEFINE_NOTE, /* not kept: belongs to one file */
	DEFINE_ANNOTATION, /* not kept */
	DEFINE_IMAGE, /* not kept */
	DEFINE_STACK, /* not kept */
	DEFINE_ACTUATOR,
	DEFINE_NR
};

#define DEFINITION_NUMBERS 8
#define DEFINITION_STRINGS 7

/**
 * struct definition - a row of a small table
 * @kind: which table
 * @t: its instant
 * @number: columns in the table's order, UNKNOWN_S64 for NULL
 * @string: columns in the table's order, NULL for NULL
 */
struct definition {
	enum definition_kind kind;
	uint64_t t;
	int64_t number[DEFINITION_NUMBERS];
	char *string[DEFINITION_STRINGS];
};

/**
 * definition_new - allocate a definition
 * @kind: which table
 * @t: its instant
 * @numbers: DEFINITION_NUMBERS at most
 * @nr_numbers: how many
 * @strings: copied; DEFINITION_STRINGS at most, each may be NULL
 * @nr_strings: how many
 *
 * Returns NULL when there is no memory.
 */
struct definition *definition_new(enum definition_kind kind, uint64_t t, const int64_t *numbers,
				  unsigned int nr_numbers, const char *const *strings,
				  unsigned int nr_strings);
void definition_free(struct definition *d);

#endif
