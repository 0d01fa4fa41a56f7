/* SPDX-License-Identifier: GPL-2.0-only */
/* Who chooses an actuator: files of the device, one a policy and one for all. */
#ifndef _GCHINT_USE_H
#define _GCHINT_USE_H

struct kobject;

int gchint_use_init(struct kobject *device);
void gchint_use_exit(void);

#endif /* _GCHINT_USE_H */
