/* SPDX-License-Identifier: GPL-2.0-only */
/* Who chooses an actuator: files of the device, one a policy and one for all. */
#ifndef _GCHINT_USE_H
#define _GCHINT_USE_H

struct attribute_group;
struct kobject;

const struct attribute_group **gchint_use_groups(void);
int gchint_use_init(void);
void gchint_use_begin(struct kobject *device);
void gchint_use_end(void);
void gchint_use_exit(void);

#endif /* _GCHINT_USE_H */
