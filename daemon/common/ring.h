/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's side of <gchint-stream.h>: a program's hints through memory. A program may
 * write anything into its ring at any time. It is sealed, so that it cannot shrink under
 * us; an event is copied once and then to be checked.
 */
#ifndef GCHINT_RING_H
#define GCHINT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <gchint-stream.h>

#define RING_LEASES 512 /* of a process, numbered from 0 */

/**
 * struct ring_reader - where one ring was read to
 * @map: the ring
 * @pidfd: of the program; -1: a kernel without, or it is gone already
 * @pid: the program, as we see it
 * @position: the next ticket
 * @lost: as the ring had it at the last look
 * @ended: when the program was first seen to have ended, CLOCK_MONOTONIC, ns; 0: not yet
 */
struct ring_reader {
	struct gchint_stream *map;
	int pidfd;
	int32_t pid;
	uint32_t position, lost;
	uint64_t ended;
};

/**
 * ring_receive - the next ring that a program sent
 * @socket: a datagram socket with SO_PASSCRED
 * @ring: filled on success
 * @why: receives, on failure, what came instead
 *
 * Returns 0; -EAGAIN when nothing waits; -EINVAL with *@why. To be closed.
 */
int ring_receive(int socket, struct ring_reader *ring, const char **why);
void ring_close(struct ring_reader *ring);

/* What ring_next() found. */
enum ring_found {
	RING_EMPTY,
	RING_EVENT,
	RING_UNFINISHED, /* begun by a program that is dead: skipped */
};

/**
 * ring_next - copy the next event
 * @ring: the ring
 * @event: receives it
 * @dead: the program has ended: nobody finishes what was begun
 */
enum ring_found ring_next(struct ring_reader *ring, struct gchint_stream_event *event, bool dead);

/* How many events found the ring full since the last call. */
uint32_t ring_lost(struct ring_reader *ring);
/*
 * Has the program ended? What it told before its end is in the ring then; who tells of it from
 * beside (GCHINT_STREAM_BESIDE) has two seconds more.
 */
bool ring_dead(struct ring_reader *ring);

#endif
