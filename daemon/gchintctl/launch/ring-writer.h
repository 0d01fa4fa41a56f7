/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer's side of <gchint-stream.h>, for a process that watches another one. */
#ifndef GCHINTCTL_RING_WRITER_H
#define GCHINTCTL_RING_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gchint-stream.h>

#include "../../common/ring.h"
#include "probes.h"

/**
 * struct ring_writer - the ring of a process, in this one
 * @ring: the ring
 * @memory: its descriptor
 * @ticket: the next one
 * @tid: thread of each slot, 0: free
 */
struct ring_writer {
	struct gchint_stream *ring;
	int memory;
	uint32_t ticket;
	pid_t tid[RING_LEASES];
};

/* Returns false without memory or descriptors. @pid may be set later, in @ring->pid. */
bool ring_writer_open(struct ring_writer *w, pid_t pid);
void ring_writer_close(struct ring_writer *w);

/**
 * ring_writer_send - send the ring to a recorder
 * @w: the ring
 * @socket: path of the recorder's socket
 * @behalf: the sender is not the process that the ring is of
 * @wait: until the recorder has read others that it was sent
 *
 * Returns 0 or -errno; -EAGAIN without @wait.
 */
int ring_writer_send(struct ring_writer *w, const char *socket, bool behalf, bool wait);

/* The slot of the thread of a hit, which gets one; RING_LEASES if there are too many threads. */
uint32_t ring_writer_slot(struct ring_writer *w, const struct probe_hit *h);
/* Ends the lease of a thread; nothing for RING_LEASES. */
void ring_writer_detach(struct ring_writer *w, uint32_t slot, uint64_t time);
/* The thread of that slot is in a phase; GCHINT_PHASE_NONE: in none. */
void ring_writer_phase(struct ring_writer *w, const struct probe_hit *h, uint32_t slot,
		       unsigned int phase, unsigned int flags, unsigned int cause);
/* What a thread is called. */
void ring_writer_name(struct ring_writer *w, pid_t tid, uint64_t time,
		      const char name[PROBE_NAME_SIZE]);
/* Names the runtime, unless it has a name: small letters, digits and '-'. */
void ring_writer_runtime(struct ring_writer *w, const char *name);
/* Writes the last event. */
void ring_writer_end(struct ring_writer *w, uint64_t time);
/* Whether there is room for as many events. */
bool ring_writer_has_room(const struct ring_writer *w, uint32_t events);
/* Counts events that are not in the ring. */
void ring_writer_lose(struct ring_writer *w, uint64_t count);

#endif
