/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets that want every edge of some phases told. */
#ifndef _GCHINT_RECORDER_H
#define _GCHINT_RECORDER_H

#include <linux/types.h>

struct netlink_ext_ack;

int gchint_recorder_init(void);
void gchint_recorder_exit(void);
int gchint_recorder_set(u32 portid, u32 phases, struct netlink_ext_ack *extack);
unsigned int gchint_recorder_count(void);

#endif /* _GCHINT_RECORDER_H */
