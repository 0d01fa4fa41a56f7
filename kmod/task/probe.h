/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions at tracepoints of the kernel, registered while they are needed. */
#ifndef _GCHINT_PROBE_H
#define _GCHINT_PROBE_H

#include <linux/list.h>
#include <linux/types.h>

struct tracepoint;

/**
 * struct gchint_probe - a function at a tracepoint
 * @name: name of the tracepoint
 * @func: has the tracepoint's prototype with a leading void pointer; callers
 *	of gchint_probe_add() check it by check_trace_callback_type_NAME()
 * @wanted: whether it is needed now
 * @begun: called after it was registered, or NULL
 * @ended: called after the last call of @func has returned, or NULL
 * @node: in the list of all probes
 * @tp: found by gchint_probe_add()
 * @on: whether @func is registered; under probes_lock
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
int gchint_probe_register_wanted(void);
void gchint_probe_queue_unregister(void);
void gchint_probe_queue_update(void);

#endif /* _GCHINT_PROBE_H */
