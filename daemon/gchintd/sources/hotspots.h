/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of where threads are. The kernel says at which instruction; a thread's own
 * answer, which comes through libgchint's ring, in which method and phase.
 */
#ifndef GCHINTD_HOTSPOTS_H
#define GCHINTD_HOTSPOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <gchint-stream.h>

struct hotspots;

/*
 * A process with a ring, by the number that we see; @same: its threads have the numbers
 * that it sees itself; @answers: it takes the signal. NULL @h is fine in all three.
 */
void hotspots_process(struct hotspots *h, int32_t pid, bool same, bool answers);
/* What thread @tid of it said; nothing in it was checked. */
void hotspots_answer(struct hotspots *h, int32_t pid, int32_t tid,
		     const struct gchint_stream_event *answer);
/* It has ended, or is another program now. */
void hotspots_gone(struct hotspots *h, int32_t pid);

#endif
