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
#define RECORD(table, name, TYPE, ...) RECORD_##TYPE,
#include "schema.def"
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

/* A zone's temperature, a cooling device's state, or a throttle count. */
enum record_thermal_kind {
	THERMAL_ZONE,
	THERMAL_COOLING,
	THERMAL_THROTTLE
};

/* record_hotspot.known: what is known of a sample besides its addresses. */
#define HOTSPOT_METHOD 1u
#define HOTSPOT_PHASE  2u /* and its flags */

/* clang-format off */
#define RECORD(table, name, ...)                      struct record_##name {
#define VALUE(column, ctype, ...)                     ctype column;
#define WORD(column, declaration, ...)                declaration;
#define FIELD(declaration)                            declaration;
#define END_RECORD                                    };
#include "schema.def"
/* clang-format on */

struct definition;

struct record {
	uint64_t t; /* CLOCK_MONOTONIC, ns */
	enum record_type type;
	union {
#define RECORD(table, name, ...) struct record_##name name;
#include "schema.def"
		struct definition *define; /* the queue owns it */
	};
};

/* Rows of small tables, with strings. */
enum definition_kind {
#define DEFINITION(table, TYPE, ...) DEFINE_##TYPE,
#include "schema.def"
	DEFINE_NR
};

#define DEFINITION_NUMBERS 8
#define DEFINITION_STRINGS 8

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

/* Whether the next file of a rotated recording has it, too. */
bool definition_is_kept(const struct definition *d);
/* Whether @b is of the same thing as @a, which the next file therefore needs no more. */
bool definition_replaces(const struct definition *a, const struct definition *b);

#endif
