/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's side of <gchint-stream.h>: a program's hints through shared memory. The
 * program may write anything into its ring at any time. Its file is sealed, so that it
 * cannot shrink while it is mapped here. An event is copied once, and must be checked
 * after that.
 */
#ifndef GCHINT_RING_H
#define GCHINT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <gchint-stream.h>

#define RING_LEASES 512 /* per process, numbered from 0 */

/**
 * struct ring_reader - a ring and the position of its reader
 * @map: the ring
 * @names: names of its methods, or NULL
 * @pidfd: of the program; -1 if the kernel has none, or if the program has ended already
 * @pid: of the program, in our PID namespace
 * @position: the next ticket
 * @lost: the ring's count of lost events at the last ring_lost()
 * @lost_ends: that of lost ends of phases
 * @ended: when the program was first seen to have ended, CLOCK_MONOTONIC, ns; 0: not yet
 */
struct ring_reader {
	struct gchint_stream *map;
	const struct gchint_stream_names *names;
	int pidfd;
	int32_t pid;
	uint32_t position, lost, lost_ends;
	uint64_t ended;
};

/**
 * ring_receive - receive the next ring that a program sent
 * @socket: a datagram socket with SO_PASSCRED
 * @ring: filled on success
 * @why: receives the reason of a failure with -EINVAL
 *
 * Returns 0; -EAGAIN if no message is pending; -EINVAL with *@why. The caller closes
 * @ring with ring_close().
 */
int ring_receive(int socket, struct ring_reader *ring, const char **why);
void ring_close(struct ring_reader *ring);

/**
 * late_open - make the file in which programs count themselves that wait for their reader
 * @socket: the path of the socket; the file has LATE_SUFFIX after it
 *
 * Returns a descriptor, or -errno. For a socket in a private directory: who can write the file can
 * fill the disk.
 */
int late_open(const char *socket);
/* How many programs have counted themselves so far. */
uint64_t late_count(int fd);
/* Closes it, and removes it unless it has another name. */
void late_close(int fd, const char *socket);
#define LATE_SUFFIX ".late"
/* Why the recording has nothing of a program: the first words. */
#define LATE_WHY "a program was not accepted"

/* Why the recording has nothing of a program whose process the kernel cannot name here. */
#define FOREIGN_WHY                                                                                \
	"a program in a pid namespace that is not ours, such as that of another container"

enum ring_found {
	RING_EMPTY,
	RING_EVENT,
	RING_UNFINISHED, /* left unfinished by a program that has ended: skipped */
};

/**
 * ring_next - copy the next event
 * @ring: the ring
 * @event: receives it
 * @dead: the program has ended: an event it has begun will never be finished
 */
enum ring_found ring_next(struct ring_reader *ring, struct gchint_stream_event *event, bool dead);

#define RING_NAME 1024 /* bytes of a line of names, at most */

/**
 * ring_name - copy the next line of its methods' names
 * @ring: the ring
 * @at: position of the caller, 0 at first
 * @dead: the program has ended: a line it has begun will never be finished
 * @line: receives the line without its line feed
 *
 * Returns false at the end.
 */
bool ring_name(const struct ring_reader *ring, uint32_t *at, bool dead, char line[RING_NAME]);

/* Copies the name of the program's runtime. Returns false if it has not named one (yet). */
bool ring_runtime(const struct ring_reader *ring, char name[GCHINT_STREAM_RUNTIME]);

/* Number of events that the program has begun and ring_next() has not passed. */
uint32_t ring_unread(const struct ring_reader *ring);
/*
 * Number of phases, or of other events, dropped since the last call because the ring was full: a
 * begin and an end count once.
 */
uint32_t ring_lost(struct ring_reader *ring);
/*
 * Has the program ended? Then all of its events are in the ring. If another process writes
 * them for it (GCHINT_STREAM_EXTERNAL), that has two more seconds to write the last ones.
 */
bool ring_dead(struct ring_reader *ring);

#endif
