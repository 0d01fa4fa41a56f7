/* SPDX-License-Identifier: MIT */
/* /dev/gchint: open, map, call. No other file accesses the device. */
#ifndef GCHINT_DEVICE_H
#define GCHINT_DEVICE_H

#include "page.h"

/** device_open() - open the session: its first slot block and the information page. */
int device_open(struct gchint_session *s, const char *path);

/** device_open_block() - map slot block @n into @block, not yet shared. Async-signal-safe. */
int device_open_block(struct gchint_session *s, unsigned int n, struct slot_block *block);

/** device_close_block() - end the leases of one slot block and unmap it. */
void device_close_block(struct slot_block *block);

/** device_close() - end all leases and unmap the pages. */
void device_close(struct gchint_session *s);

/**
 * device_retire() - end all leases under other threads
 *
 * The pages stay in the address space, private and empty, for threads that may be storing
 * into them; the doorbell mask then makes each begin of a phase call the library.
 */
void device_retire(struct gchint_session *s, struct retired *retired);

/* Slots are numbered through all slot blocks; attach->lead is in block @block. */
int device_attach(struct gchint_session *s, unsigned int block, struct gchint_attach *attach);
int device_set_role(struct gchint_session *s, uint32_t slot, uint32_t role, uint32_t lead);
int device_detach(struct gchint_session *s, uint32_t slot);
int device_ring(struct gchint_session *s, uint32_t slot);

#endif /* GCHINT_DEVICE_H */
