// SPDX-License-Identifier: GPL-2.0-or-later
#include "address-index.h"

#include <stdlib.h>

/* A range over more pages than this is stored once, under a page number that no address has. */
#define PAGES_MAX  16
#define EVERYWHERE UINT64_MAX

struct place {
	uint64_t page;
	uint32_t number;
	uint32_t next; /* index of the next older entry with the same hash head */
};

/*
 * Pages of code are mostly consecutive: multiplying by the golden ratio spreads them over the
 * table (Knuth, TAOCP 3, 6.4).
 */
static uint32_t *places_head(const struct places *p, uint64_t page)
{
	return &p->heads[(uint32_t)(page * 0x9e3779b97f4a7c15 >> 32) & (p->room - 1)];
}

static void places_link(struct places *p, uint32_t i)
{
	uint32_t *head = places_head(p, p->list[i].page);

	p->list[i].next = *head;
	*head = i;
}

static bool places_grow(struct places *p)
{
	uint32_t room = p->room ? p->room * 2 : 64;
	struct place *list;
	uint32_t *heads;

	if (room <= p->room)
		return false;
	list = realloc(p->list, room * sizeof(*list));
	if (!list)
		return false;
	p->list = list;
	heads = malloc(room * sizeof(*heads));
	if (!heads)
		return false;
	free(p->heads);
	p->heads = heads;
	p->room = room;
	for (uint32_t i = 0; i < room; i++)
		heads[i] = PLACES_NONE;
	/* Linking in order of insertion puts the newest entry at the front of each chain. */
	for (uint32_t i = 0; i < p->nr; i++)
		places_link(p, i);
	return true;
}

bool places_add(struct places *p, uint32_t number, uint64_t start, uint64_t size)
{
	uint64_t first = start / PLACES_PAGE, last = (start + size - 1) / PLACES_PAGE;

	if (last - first >= PAGES_MAX)
		first = last = EVERYWHERE;
	while (p->room - p->nr <= last - first)
		if (!places_grow(p))
			return false;
	for (uint64_t page = first;; page++) {
		p->list[p->nr] = (struct place){ .page = page, .number = number };
		places_link(p, p->nr++);
		if (page == last)
			return true;
	}
}

/* The first entry of @page in the chain from @i on; PLACES_NONE if there is none. */
static uint32_t places_find_page(const struct places *p, uint32_t i, uint64_t page)
{
	while (i != PLACES_NONE && p->list[i].page != page)
		i = p->list[i].next;
	return i;
}

struct places_walk places_at(const struct places *p, uint64_t address)
{
	struct places_walk w = { .p = p, .page = address / PLACES_PAGE };

	w.near = w.far = PLACES_NONE;
	if (!p->nr)
		return w;
	w.near = places_find_page(p, *places_head(p, w.page), w.page);
	w.far = places_find_page(p, *places_head(p, EVERYWHERE), EVERYWHERE);
	return w;
}

uint32_t places_next(struct places_walk *w)
{
	const struct place *list = w->p->list;
	bool far = w->near == PLACES_NONE ||
		   (w->far != PLACES_NONE && list[w->far].number > list[w->near].number);
	uint32_t i = far ? w->far : w->near;

	if (i == PLACES_NONE)
		return PLACES_NONE;
	if (far)
		w->far = places_find_page(w->p, list[i].next, EVERYWHERE);
	else
		w->near = places_find_page(w->p, list[i].next, w->page);
	return list[i].number;
}

void places_free(struct places *p)
{
	free(p->list);
	free(p->heads);
	*p = (struct places){ 0 };
}
