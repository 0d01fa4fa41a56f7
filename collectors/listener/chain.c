// SPDX-License-Identifier: MIT
/* Fires two listeners, one after the other. */
#include <gchint/gc-listener.h>

#define FORWARD(op)                                                              \
	static void op(struct gc_listener *self, const struct gc_event *event)   \
	{                                                                        \
		struct gc_listener_chain *c = (struct gc_listener_chain *)self;  \
		if (c->first->ops->op)                                           \
			c->first->ops->op(c->first, event);                      \
		if (c->second->ops->op)                                          \
			c->second->ops->op(c->second, event);                    \
	}

#define EVENTS(X)                                                                \
	X(cycle_begin) X(cycle_end) X(requesting_stop) X(stopped) X(roots_done)  \
	X(restarting) X(restarted) X(mark_begin) X(mark_end) X(remark_begin)     \
	X(remark_end) X(copy_begin) X(copy_end) X(sweep_begin) X(sweep_end)      \
	X(trim_begin) X(trim_end) X(progress) X(mutator_paused)                  \
	X(mutator_resumed) X(daemon_started) X(daemon_stopped)

EVENTS(FORWARD)

#define ENTRY(op) .op = op,
static const struct gc_listener_ops ops = { EVENTS(ENTRY) };

void gc_listener_chain_init(struct gc_listener_chain *chain, struct gc_listener *first,
			    struct gc_listener *second)
{
	chain->base.ops = &ops;
	chain->first = first;
	chain->second = second;
}
