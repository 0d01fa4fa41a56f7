/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The files by which an actuator is chosen, and what netlink reports of it. */
#ifndef USE_H
#define USE_H

#include <stddef.h>
#include <stdint.h>

#define USE "/sys/class/misc/gchint/actuator"

/* Of all policies with -1, else of one: 0 or -errno. */
int use_put(int policy, const char *name);
int use_get(int policy, char *name, size_t size);

/*
 * Wait until a policy, which may have to appear first, has it: 0, or -ETIMEDOUT
 * after @ms.
 */
int use_await(int policy, const char *name, int ms);

/* A number of GCHINT_CMD_POLICY_GET: 0 or -errno; -ENODATA if it is absent. */
int use_attribute(int cpu, uint16_t attr, uint32_t *value);

#endif
