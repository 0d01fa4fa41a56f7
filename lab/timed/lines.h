/* SPDX-License-Identifier: MIT */
/*
 * Set-associative arrays of lines: caches, and TLBs, whose lines are pages.
 *
 * Replacement uses a reference bit for each line and a clock hand for each set. Several cores
 * change a shared array without a lock: a lost update only loses a line.
 */
#ifndef TIMED_LINES_H
#define TIMED_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* An entry is the line number + 1, shifted, with two flags in the low bits. */
#define LINES_USED  1u
#define LINES_DIRTY 2u
#define LINES_SHIFT 2

/** struct lines - @entry has @ways entries for each of @mask + 1 sets, or is NULL if unused */
struct lines {
	uint32_t *entry;
	uint8_t *hand;
	uint32_t ways;
	uint32_t mask;
};

static inline int lines_init(struct lines *l, uint32_t entries, uint32_t ways)
{
	l->ways = ways;
	l->mask = entries / ways - 1;
	l->entry = calloc(entries, sizeof(*l->entry));
	l->hand = calloc(entries / ways, 1);
	return l->entry && l->hand ? 0 : -1;
}

static inline uint32_t lines_get(const uint32_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

static inline void lines_put(uint32_t *entry, uint32_t value)
{
	__atomic_store_n(entry, value, __ATOMIC_RELAXED);
}

/* The line's entry, NULL if it is not cached. */
static inline uint32_t *lines_find(const struct lines *l, uint32_t line)
{
	uint32_t *set = &l->entry[(size_t)(line & l->mask) * l->ways];
	uint32_t i;

	for (i = 0; i < l->ways; i++)
		if (lines_get(&set[i]) >> LINES_SHIFT == line + 1)
			return &set[i];
	return NULL;
}

static inline void lines_flag(uint32_t *entry, uint32_t flags)
{
	uint32_t e = lines_get(entry);

	if ((e | flags) != e)
		lines_put(entry, e | flags);
}

/* Inserts a line that is not cached; returns the entry that it replaces. */
static inline uint32_t lines_take(struct lines *l, uint32_t line, uint32_t flags)
{
	uint32_t s = line & l->mask;
	uint32_t *set = &l->entry[(size_t)s * l->ways], i = l->hand[s], e;

	/* Take the first entry from the hand on without LINES_USED, clearing it on the way. */
	while ((e = lines_get(&set[i])) & LINES_USED) {
		lines_put(&set[i], e & ~LINES_USED);
		i = i + 1 == l->ways ? 0 : i + 1;
	}
	/* A line is marked used at its second access only, so lines of a stream go first. */
	lines_put(&set[i], (line + 1) << LINES_SHIFT | (flags & LINES_DIRTY));
	l->hand[s] = (uint8_t)(i + 1 == l->ways ? 0 : i + 1);
	return e;
}

/* Returns whether the line is cached, and inserts it if it is not. */
static inline bool lines_hit(struct lines *l, uint32_t line, uint32_t flags, uint32_t *victim)
{
	uint32_t *entry = lines_find(l, line);

	if (entry) {
		lines_flag(entry, flags);
		return true;
	}
	*victim = lines_take(l, line, flags);
	return false;
}

/* The line of an entry that is not empty. */
static inline uint32_t lines_line(uint32_t e)
{
	return (e >> LINES_SHIFT) - 1;
}

#endif
