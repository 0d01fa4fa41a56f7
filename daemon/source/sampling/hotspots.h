/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of running threads. The kernel gives the instruction; the method and the phase
 * come from a BPF program, or from the thread's own answer through libgchint's ring.
 */
#ifndef SOURCE_HOTSPOTS_H
#define SOURCE_HOTSPOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <gchint-stream.h>

#include "../../common/ring.h"

struct hotspots;

/*
 * Adds a process with a ring. @pid: its number in our namespace; @same: its threads have
 * the same numbers in its own namespace; @features and @method are the ring's. All of these
 * functions accept a NULL @h.
 */
void hotspots_process(struct hotspots *h, int32_t pid, bool same, uint32_t features,
		      int64_t method);
/* @ring has the names of its methods; valid until hotspots_gone(). */
void hotspots_names(struct hotspots *h, int32_t pid, const struct ring_reader *ring);
/* Address of the state word of one of its threads: GCHINT_STREAM_WORD. Unchecked input. */
void hotspots_word(struct hotspots *h, int32_t pid, const struct gchint_stream_event *e);
/* Answer of one of its threads to a signal. Unchecked input. */
void hotspots_answer(struct hotspots *h, int32_t pid, const struct gchint_stream_event *answer);
/* All answers that it gave before @t were passed on. */
void hotspots_read(struct hotspots *h, int32_t pid, uint64_t t);
/* The process ended, or executed another program. */
void hotspots_gone(struct hotspots *h, int32_t pid);

#endif
