// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define BYTES	64
#define PLACES	(BYTES / 4)
#define STORES	32
#define CHOICES 32

/* How much of each location's history a thread, or a reader of a store, must know. */
struct view {
	unsigned int at[PLACES];
};

struct store {
	uint64_t value;
	struct view view; /* what an acquire of it adds */
};

static struct {
	const char *base;
	enum model_weak weak;
	bool torn;
	void (*stored)(const volatile void *p);
	bool reading;
	/* The writer's stores to each location; the first is the initial value. */
	struct store history[PLACES][STORES];
	unsigned int last[PLACES];
	/*
	 * The writer: its own view, that of its last release fence, and per location that of its
	 * last release there, which later stores to the location continue.
	 */
	struct view own, fenced, released[PLACES];
	/* The reader: its view, and what an acquire fence would add to it. */
	struct view sees, would;
	/* The choices made, their alternatives, and the position. */
	unsigned int chosen[CHOICES], of[CHOICES], depth;
} m;

static void view_join(struct view *to, const struct view *from)
{
	for (int i = 0; i < PLACES; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
}

static void model_fail(const char *what)
{
	printf("# model: %s\n", what);
	exit(3);
}

static bool model_watches(const volatile void *p, size_t size)
{
	const char *c = (const char *)p;

	return m.base && c >= m.base && c + size <= m.base + BYTES;
}

static unsigned int place_of(const volatile void *p)
{
	return (unsigned int)(((const char *)p - m.base) / 4);
}

void model_begin(const void *memory, enum model_weak weak, bool torn,
		 void (*stored)(const volatile void *p))
{
	memset(&m, 0, sizeof(m));
	m.weak = weak;
	m.torn = torn;
	m.stored = stored;
	m.base = memory;
	for (unsigned int i = 0; i < PLACES; i++)
		m.history[i][0].value = 0;
}

static void store_keep(unsigned int place, uint64_t value, bool release)
{
	unsigned int n = ++m.last[place];
	struct store *s = &m.history[place][n];

	if (n >= STORES)
		model_fail("too many stores");
	s->value = value;
	m.own.at[place] = n;
	if (release)
		m.released[place] = m.own;
	if (release || m.weak != MODEL_NO_CHAIN)
		s->view = m.released[place];
	view_join(&s->view, &m.fenced);
	s->view.at[place] = n;
}

/* The real memory is written as well: the writer reads its own stores. */
static void memory_write(const volatile void *p, size_t size, uint64_t value)
{
	memcpy((void *)(uintptr_t)p, &value, size);
}

void model_store(const volatile void *p, size_t size, uint64_t value, int order)
{
	bool release = order != __ATOMIC_RELAXED && m.weak != MODEL_NO_RELEASE;

	memory_write(p, size, value);
	if (!model_watches(p, size))
		return;
	if (m.reading)
		model_fail("the reader stores");
	if (size == 8 && m.torn) {
		store_keep(place_of(p), (uint32_t)value, release);
		store_keep(place_of(p) + 1, value >> 32, release);
	} else {
		store_keep(place_of(p), value, release);
	}
	m.stored(p);
}

static uint64_t store_choose(unsigned int place, bool acquire)
{
	unsigned int from = m.sees.at[place], n = m.last[place] - from + 1, at;
	const struct store *s;

	if (m.depth == CHOICES)
		model_fail("too many loads");
	m.of[m.depth] = n;
	at = from + m.chosen[m.depth++];
	s = &m.history[place][at];
	m.sees.at[place] = at;
	view_join(&m.would, &s->view);
	if (acquire)
		view_join(&m.sees, &s->view);
	return s->value;
}

uint64_t model_load(const volatile void *p, size_t size, int order)
{
	bool acquire = order != __ATOMIC_RELAXED && m.weak != MODEL_NO_ACQUIRE;
	uint64_t value = 0;

	if (!m.reading || !model_watches(p, size)) {
		memcpy(&value, (const void *)(uintptr_t)p, size);
		return value;
	}
	value = store_choose(place_of(p), acquire);
	if (size == 8 && m.torn)
		value |= store_choose(place_of(p) + 1, acquire) << 32;
	return value;
}

void model_fence(int order)
{
	bool acquires = order != __ATOMIC_RELEASE;

	if (m.reading) {
		if (acquires && m.weak != MODEL_NO_READER_FENCE)
			view_join(&m.sees, &m.would);
	} else if (order != __ATOMIC_ACQUIRE && m.weak != MODEL_NO_WRITER_FENCE) {
		m.fenced = m.own;
	}
}

/* The next choice: the last load with an untried alternative. */
static bool choice_next(void)
{
	while (m.depth) {
		m.depth--;
		if (++m.chosen[m.depth] < m.of[m.depth])
			return true;
		m.chosen[m.depth] = 0;
	}
	return false;
}

unsigned long model_explore(bool (*reader)(void))
{
	unsigned long runs = 0;
	bool go;

	memset(m.chosen, 0, sizeof(m.chosen));
	m.reading = true;
	do {
		m.depth = 0;
		memset(&m.sees, 0, sizeof(m.sees));
		memset(&m.would, 0, sizeof(m.would));
		runs++;
		go = reader();
	} while (go && choice_next());
	m.reading = false;
	return runs;
}
