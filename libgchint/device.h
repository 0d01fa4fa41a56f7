/* SPDX-License-Identifier: MIT */
/* /dev/gchint: open, map, call. The only file that speaks to it. */
#ifndef GCHINT_DEVICE_H
#define GCHINT_DEVICE_H

#include "session.h"

int device_open(struct gchint_session *s, const char *path);

/**
 * device_close() - end all leases
 * @s: the session
 * @mapped: leave the pages in the address space, private and empty, for threads
 *	that may be storing into them; with masks that send them to the library
 */
void device_close(struct gchint_session *s, int mapped);

int device_attach(struct gchint_session *s, struct gchint_attach *attach);
int device_set_role(struct gchint_session *s, uint32_t slot, uint32_t role, uint32_t lead);
int device_detach(struct gchint_session *s, uint32_t slot);
int device_ring(struct gchint_session *s, uint32_t slot);

#endif /* GCHINT_DEVICE_H */
