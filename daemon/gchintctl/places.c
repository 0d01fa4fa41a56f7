// SPDX-License-Identifier: GPL-2.0-or-later
#include "places.h"

#include <stdlib.h>

/* What lies in more pages than this is kept once, under a page that there is not. */
#define PAGES_MAX  16
#define EVERYWHERE UINT64_MAX

struct place {
	uint64_t page;
	uint32_t number;
	uint32_t next; /* of those that share its head: older */
};

/* Pages of code follow each other: the golden ratio spreads them (Knuth, TAOCP 3, 6.4). */
static uint32_t *head_of(const struct places *p, uint64_t page)
{
	return &p->heads[(uint32_t)(page * 0x9e3779b97f4a7c15 >> 32) & (p->room - 1)];
}

static void link_at(struct places *p, uint32_t i)
{
	uint32_t *head = head_of(p, p->list[i].page);

	p->list[i].next = *head;
	*head = i;
}

static bool grow(struct places *p)
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
	/* In their order, so that each chain has the newest first. */
	for (uint32_t i = 0; i < p->nr; i++)
		link_at(p, i);
	return true;
}

bool places_add(struct places *p, uint32_t number, uint64_t start, uint64_t size)
{
	uint64_t first = start / PLACES_PAGE, last = (start + size - 1) / PLACES_PAGE;

	if (last - first >= PAGES_MAX)
		first = last = EVERYWHERE;
	while (p->room - p->nr <= last - first)
		if (!grow(p))
			return false;
	for (uint64_t page = first;; page++) {
		p->list[p->nr] = (struct place){ .page = page, .number = number };
		link_at(p, p->nr++);
		if (page == last)
			return true;
	}
}

/* The first of @page from @i on; the end of the chain. */
static uint32_t of_page(const struct places *p, uint32_t i, uint64_t page)
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
	w.near = of_page(p, *head_of(p, w.page), w.page);
	w.far = of_page(p, *head_of(p, EVERYWHERE), EVERYWHERE);
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
		w->far = of_page(w->p, list[i].next, EVERYWHERE);
	else
		w->near = of_page(w->p, list[i].next, w->page);
	return list[i].number;
}

void places_free(struct places *p)
{
	free(p->list);
	free(p->heads);
	*p = (struct places){ 0 };
}
