/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why collection cost what it did: findings about one process, each with its evidence, and one
 * sentence of them. Pure.
 */
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes, objects or ns that are not known. */
#define FINDINGS_UNKNOWN INT64_MIN
/* The same of a generation. */
#define FINDINGS_NO_GENERATION UINT32_MAX
/* Of the limit in use after a collection: collections come often. */
#define FINDINGS_FULL_SHARE 0.6

/**
 * struct findings_pause - a pause
 * @t0: its begin
 * @ns: its length
 * @asked: the program asked for the collection
 * @copies: a young collection, or another one that copies
 * @remarks: the end of concurrent marking
 */
struct findings_pause {
	uint64_t t0, ns;
	bool asked, copies, remarks;
};

/**
 * struct findings_collection - a collection of which something about the heap is known
 * @t0: of the reading before it; equal to @t1 if there is none
 * @t1: of the reading after it
 * @before: bytes in use
 * @after: bytes in use
 * @most: bytes to which the heap may grow
 * @freed: objects that it freed
 * @stopped: begin of the pause that @t1 is in; 0 none
 * @paused: ns of that pause
 * @heap: number of the heap, of a process that has several
 * @generation: the oldest that it collected, from 0
 * @asked: the program asked for it
 */
struct findings_collection {
	uint64_t t0, t1;
	int64_t before, after, most, freed;
	uint64_t stopped, paused;
	int32_t heap;
	uint32_t generation;
	bool asked;
};

/**
 * struct findings_input - what is known of a process
 * @name: of the process; NULL or "" not known
 * @runtime: the adapter's name, such as "jvm"; NULL: as far as @name shows it
 * @settings: the program's arguments and its environment, NULL-terminated; NULL: not known
 * @duration: of the recording, ns
 * @pause: its pauses, by @t0
 * @pauses: their number
 * @collection: its collections, by heap, then by @t1
 * @collections: their number
 * @waits: threads of it that waited for a collection by others, outside of its pauses
 * @waited: for how long, ns, added up over them
 * @run: CPU time of collection, ns; FINDINGS_UNKNOWN
 * @wait_low: in addition to it, runnable and without a CPU for at least that long, ns;
 *	FINDINGS_UNKNOWN
 * @wait_high: at most, as far as it was counted, ns; FINDINGS_UNKNOWN
 * @safepoint: time in which a stopped thread waited for others to stop, ns
 * @group_used: highest use of memory by its control group, bytes; FINDINGS_UNKNOWN
 * @group_most: its limit, bytes; FINDINGS_UNKNOWN: none, or not known
 * @group_pressed: how often the group reached a limit; FINDINGS_UNKNOWN
 * @clock: mean frequency in pauses as a share of the highest; NAN not known
 * @scratch: room for as many values as there are pauses, and as there are collections
 */
struct findings_input {
	const char *name, *runtime;
	const char *const *settings;
	uint64_t duration;
	const struct findings_pause *pause;
	size_t pauses;
	const struct findings_collection *collection;
	size_t collections;
	size_t waits;
	uint64_t waited;
	int64_t run, wait_low, wait_high;
	uint64_t safepoint;
	int64_t group_used, group_most, group_pressed;
	double clock;
	union findings_value *scratch;
};

union findings_value {
	uint64_t ns;
	int64_t bytes;
	double share;
};

/* The runtime of a process: that of @in, else the one that its name shows; NULL. */
const char *findings_runtime(const struct findings_input *in);

/* Whether a collection was one of all generations. */
bool findings_is_full(const struct findings_input *in, const struct findings_collection *c);

/* In the order in which a sentence has them. */
enum finding_type {
	FINDING_STOPPED, /* the share of time; always, if there is a pause */
	FINDING_LONG_PAUSES, /* few pauses are half of the paused time */
	FINDING_WAITS, /* single threads waited for much longer than it was stopped */
	FINDING_HEAP_FULL, /* little is free after collections */
	FINDING_LIVE_GROWS, /* what full collections leave grows */
	FINDING_FUTILE, /* full collections free almost nothing */
	FINDING_ASKED, /* collections that the program asked for */
	FINDING_CPU_WAIT, /* collectors waited for a CPU */
	FINDING_SAFEPOINT, /* stopped threads waited for others to stop */
	FINDING_BURSTS, /* half of what was allocated came in little time */
	FINDING_REMARK, /* ends of concurrent marking are longer than young collections */
	FINDING_MEMORY_LIMIT, /* its control group is at its limit of memory */
	FINDING_SLOW_CLOCK, /* pauses ran below the highest frequency */
	FINDING_NR
};

#define FINDING_TEXT 160

/**
 * struct finding - one finding
 * @type: what was found
 * @value: its figure: a share from 0 to 1; of FINDING_LONG_PAUSES the shortest of these pauses, and
 *	of FINDING_CPU_WAIT the wait, in ns
 * @count: how many pauses or collections show it, of FINDING_WAITS threads; 0 if it has no number
 * @text: half a sentence, with the evidence
 * @remedy: what helps, without a full stop; NULL: advice may follow from the heap, or nothing is known
 */
struct finding {
	enum finding_type type;
	double value;
	size_t count;
	char text[FINDING_TEXT];
	const char *remedy;
};

/**
 * findings_of - find the reasons
 * @in: what is known
 * @found: receives them, FINDING_NR at most, in the order of their types
 *
 * Returns their number. Without memory only those that need none are found.
 */
size_t findings_of(const struct findings_input *in, struct finding *found);

/* "heap_full" for FINDING_HEAP_FULL. */
const char *finding_name(enum finding_type type);

#define FINDINGS_SENTENCE (FINDING_NR * (FINDING_TEXT + 2) + 64)

/* "java was stopped ...; ... ." of @nr findings; "" of none. */
void findings_sentence(const struct finding *found, size_t nr, char sentence[FINDINGS_SENTENCE]);

/**
 * findings_half - the length above which pauses make up half of the paused time
 * @ns: lengths, ascending
 * @nr: their number
 * @count: receives how many are as long or longer; may be NULL
 *
 * It is the median weighted by time. Returns 0 for no pause.
 */
uint64_t findings_half(const uint64_t *ns, size_t nr, size_t *count);

#endif
