/* SPDX-License-Identifier: GPL-2.0-only */
/* A bounded queue of events: many producers that may not wait, one consumer. */
#ifndef _GCHINT_RING_H
#define _GCHINT_RING_H

#include <linux/types.h>

struct gchint_record;

/**
 * struct gchint_ring_reader - who empties the ring
 * @listens: is there anybody to fill it for? Any context.
 * @drain: take what is there; may sleep, called one at a time
 */
struct gchint_ring_reader {
	bool (*listens)(void);
	void (*drain)(void);
};

int gchint_ring_init(void);
void gchint_ring_exit(void);
void gchint_ring_put(const struct gchint_record *record);
void gchint_ring_read(const struct gchint_ring_reader *reader);
bool gchint_ring_listened(void);
bool gchint_ring_get(struct gchint_record *record);
u64 gchint_ring_lost(void);

#endif /* _GCHINT_RING_H */
