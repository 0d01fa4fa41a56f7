/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel tracepoints that the module listens to, found by their names. */
#ifndef _GCHINT_PROBE_H
#define _GCHINT_PROBE_H

#include <linux/types.h>

struct tracepoint;

/**
 * struct gchint_probe - a function at a tracepoint
 * @name: name of the tracepoint
 * @func: prototype of the tracepoint with a leading void pointer
 * @tp: the tracepoint, NULL when this kernel has none of the name
 * @on: whether @func is registered
 */
struct gchint_probe {
	const char *name;
	void *func;
	struct tracepoint *tp;
	bool on;
};

int gchint_probe_find(struct gchint_probe *probes, unsigned int nr);
int gchint_probe_on(struct gchint_probe *probe);
bool gchint_probe_off(struct gchint_probe *probe);

#endif /* _GCHINT_PROBE_H */
