/* SPDX-License-Identifier: MIT */
/*
 * Pages of sessions that were closed while other threads announced themselves.
 *
 * Such a thread holds the address of its slot until its next edge that calls the library,
 * and may be about to store there. So the pages stay, private and empty. They are mapped
 * again by a later session once each of these threads has ended or has left them, and then
 * not at once: a signal may have interrupted a thread in an edge, and its handler may have
 * attached it again. Sessions that are opened and closed in a loop therefore take no more
 * memory than a few of them do, and one more for each thread that hinted once and never
 * again.
 */
#ifndef GCHINT_RETIRED_H
#define GCHINT_RETIRED_H

#include "page.h"

/**
 * struct retired - pages of one closed session, and the threads that may store there
 * @next: never changes; these structures stay
 * @info: NULL once it is mapped again, like the others
 * @cpus: mapping of @cpus_size bytes
 * @slots: by slot block
 * @epoch: of the session
 * @forever: a thread that is not known may store there
 * @free: no thread stores there any more
 * @threads: number of @tid
 * @tid: 0 for one that has left
 *
 * Larger than a page, but only what is used takes memory.
 */
struct retired {
	struct retired *next;
	void *info;
	void *cpus;
	size_t cpus_size;
	void *slots[BLOCKS];
	uint16_t epoch;
	uint8_t forever;
	uint8_t free;
	uint32_t threads;
	pid_t tid[GCHINT_SLOTS_MAX];
};

/**
 * retired_add() - the session closes under other threads
 * @but: the calling thread
 *
 * Caller holds the lock of open and close. Return: where to note the pages; NULL without
 * memory, they are then never used again.
 */
struct retired *retired_add(struct gchint_session *s, pid_t but);

/** retired_sweep() - find what can be mapped again. Caller holds the lock of open and close. */
void retired_sweep(struct gchint_session *s);

/** retired_leave() - @tid, which calls, has a slot of this session, or none. Async-signal-safe. */
void retired_leave(struct gchint_session *s, pid_t tid);

/* An address to map over; NULL if there is none. Async-signal-safe. */
void *retired_take_info(struct gchint_session *s);
void *retired_take_cpus(struct gchint_session *s, size_t size);
void *retired_take_slots(struct gchint_session *s, unsigned int block);

#endif /* GCHINT_RETIRED_H */
