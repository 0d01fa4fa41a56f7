/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions at tracepoints of the kernel, while somebody needs them. */
#ifndef _GCHINT_PROBE_H
#define _GCHINT_PROBE_H

#include <linux/list.h>
#include <linux/types.h>

struct tracepoint;

/**
 * struct gchint_probe - a function at a tracepoint
 * @name: name of the tracepoint
 * @func: prototype of the tracepoint with a leading void pointer. It has no type
 *	here: who adds it calls check_trace_callback_type_NAME(), which compiles
 *	only if that is so.
 * @wanted: is it needed now?
 * @begun: called after it was turned on, or NULL
 * @ended: called when it was turned off and nobody is inside, or NULL
 * @node: in the list of all
 * @tp: the tracepoint
 * @on: whether @func is registered
 */
struct gchint_probe {
	const char *name;
	void *func;
	bool (*wanted)(void);
	void (*begun)(void);
	void (*ended)(void);
	struct list_head node;
	struct tracepoint *tp;
	bool on;
};

int gchint_probe_add(struct gchint_probe *probe);
void gchint_probe_exit(void);
int gchint_probe_need(void);
void gchint_probe_relax(void);
void gchint_probe_changed(void);

#endif /* _GCHINT_PROBE_H */
