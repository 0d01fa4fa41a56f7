// SPDX-License-Identifier: GPL-2.0-only
#include "room.h"
#include "thread.h"

/**
 * gchint_room_pack - a thread gives its room up
 * @thread: the thread, locked; it does not run
 */
void gchint_room_pack(struct gchint_thread *thread)
{
	struct gchint_room *room = thread->room;

	gchint_stow_in(&thread->stow, &room->track, &room->plan);
	thread->out = false;
	WRITE_ONCE(room->owner, NULL);
}

/*
 * A room of this CPU that nobody has. Who runs, here or elsewhere, keeps its own.
 * With irqs off, an owner that is read here is not freed meanwhile.
 */
static struct gchint_room *vacate(struct gchint_rooms *rooms)
{
	struct gchint_thread *thread;
	struct gchint_room *room;
	unsigned int i;

	for (i = 0; i < GCHINT_ROOMS; i++) {
		rooms->hand = (rooms->hand + 1) % GCHINT_ROOMS;
		room = &rooms->room[rooms->hand];
		thread = READ_ONCE(room->owner);
		if (!thread)
			return room;
		raw_spin_lock(&thread->lock);
		if (room->owner == thread && thread->cpu < 0)
			gchint_room_pack(thread);
		raw_spin_unlock(&thread->lock);
		if (!READ_ONCE(room->owner))
			return room;
	}
	return &rooms->spare;
}

/**
 * gchint_room_take - what is known of a thread that begins to run comes out
 * @rooms: of this CPU
 * @thread: the thread
 * @cpu: this CPU
 *
 * Irqs off.
 *
 * Return: the room where it is; the thread's own until it stops running.
 */
struct gchint_room *gchint_room_take(struct gchint_rooms *rooms,
				     struct gchint_thread *thread,
				     unsigned int cpu)
{
	struct gchint_room *room = NULL;

	raw_spin_lock(&thread->lock);
	/* Only who runs it takes it out; who packs it may come in between. */
	while (!thread->out && !room) {
		raw_spin_unlock(&thread->lock);
		room = vacate(rooms);
		raw_spin_lock(&thread->lock);
	}
	if (!thread->out) {
		gchint_stow_out(&thread->stow, &room->track, &room->plan);
		thread->room = room;
		thread->out = true;
		if (room != &rooms->spare)
			WRITE_ONCE(room->owner, thread);
	}
	room = thread->room;
	WRITE_ONCE(thread->cpu, cpu);
	raw_spin_unlock(&thread->lock);
	return room;
}
