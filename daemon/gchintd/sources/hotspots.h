/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of where threads are. The kernel says at which instruction; in which method and
 * phase, a program of ours in the kernel, or a thread's own answer through libgchint's ring.
 */
#ifndef GCHINTD_HOTSPOTS_H
#define GCHINTD_HOTSPOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <gchint-stream.h>

struct hotspots;

/*
 * A process with a ring, by the number that we see; @same: its threads have the numbers
 * that it sees itself; @features and @method are the ring's. NULL @h is fine in all of these.
 */
void hotspots_process(struct hotspots *h, int32_t pid, bool same, uint32_t features,
		      int64_t method);
/* Where the phase of one of its threads stands: GCHINT_STREAM_WORD; nothing was checked. */
void hotspots_word(struct hotspots *h, int32_t pid, const struct gchint_stream_event *e);
/* What thread @tid of it said; nothing in it was checked. */
void hotspots_answer(struct hotspots *h, int32_t pid, int32_t tid,
		     const struct gchint_stream_event *answer);
/* It has ended, or is another program now. */
void hotspots_gone(struct hotspots *h, int32_t pid);

#endif
