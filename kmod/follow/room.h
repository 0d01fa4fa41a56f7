/* SPDX-License-Identifier: GPL-2.0-only */
/* Where it is kept what is known of a thread that takes turns on a CPU. */
#ifndef _GCHINT_ROOM_H
#define _GCHINT_ROOM_H

#include "policy/phase.h"
#include "policy/plan.h"

struct gchint_thread;

/* More threads than that seldom take turns on a CPU. */
#define GCHINT_ROOMS 4

/**
 * struct gchint_room - what is known of a thread that runs, or did lately
 * @owner: the thread; set by the CPU whose room it is, cleared by it or by who
 *	ends the lease. NULL for a spare one.
 * @track: of @owner
 * @plan: of @owner, while it does not run
 *
 * A thread keeps its room when it leaves its CPU, for it usually comes back
 * soon, and packing is dear. It is packed when its room is needed.
 */
struct gchint_room {
	struct gchint_thread *owner;
	struct gchint_track track;
	struct gchint_plan plan;
};

/**
 * struct gchint_rooms - those of a CPU
 * @room: of threads that were first seen there; each under its owner's lock
 * @hand: which of them was given last
 * @spare: for who finds none; packed at each turn's end
 */
struct gchint_rooms {
	struct gchint_room room[GCHINT_ROOMS];
	unsigned int hand;
	struct gchint_room spare;
};

struct gchint_room *gchint_room_take(struct gchint_rooms *rooms,
				     struct gchint_thread *thread,
				     unsigned int cpu);
void gchint_room_pack(struct gchint_thread *thread);

#endif /* _GCHINT_ROOM_H */
