/* SPDX-License-Identifier: GPL-2.0-only */
/* A bounded queue of events: many producers that may not wait, one consumer. */
#ifndef _GCHINT_RING_H
#define _GCHINT_RING_H

#include <linux/types.h>

struct gchint_record;

int gchint_ring_init(unsigned int entries);
void gchint_ring_exit(void);
void gchint_ring_put(const struct gchint_record *record);
bool gchint_ring_get(struct gchint_record *record);
u64 gchint_ring_lost(void);

#endif /* _GCHINT_RING_H */
