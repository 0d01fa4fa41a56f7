// SPDX-License-Identifier: MIT
/* Forwards each event to two listeners, in order. */
#include <gchint/gc-listener.h>

#define EVENT(op)                                                                                  \
	static void chain_##op(struct gc_listener *self, const struct gc_event *event)             \
	{                                                                                          \
		struct gc_listener_chain *c = (struct gc_listener_chain *)self;                    \
		if (c->first->ops->op)                                                             \
			c->first->ops->op(c->first, event);                                        \
		if (c->second->ops->op)                                                            \
			c->second->ops->op(c->second, event);                                      \
	}
#include "events.def"
#undef EVENT

static const struct gc_listener_ops ops = {
#define EVENT(op) .op = chain_##op,
#include "events.def"
#undef EVENT
};

_Static_assert(sizeof(ops) == 28 * sizeof(gc_listen_fn), "events.def names every member");

void gc_listener_chain_init(struct gc_listener_chain *chain, struct gc_listener *first,
			    struct gc_listener *second)
{
	chain->base.ops = &ops;
	chain->first = first;
	chain->second = second;
}
