/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's tracepoints are not exported, so they are found by name in the
 * kernel's table of tracepoints.
 */
#ifndef _GCHINT_COMPAT_TRACEPOINT_H
#define _GCHINT_COMPAT_TRACEPOINT_H

#include <linux/string.h>
#include <linux/tracepoint.h>

struct gchint_tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static inline void gchint_tracepoint_match(struct tracepoint *tp, void *priv)
{
	struct gchint_tracepoint_search *search = priv;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/* NULL: the kernel has none of that name. */
static inline struct tracepoint *gchint_tracepoint_find(const char *name)
{
	struct gchint_tracepoint_search search = { .name = name };

	for_each_kernel_tracepoint(gchint_tracepoint_match, &search);
	return search.found;
}

#endif /* _GCHINT_COMPAT_TRACEPOINT_H */
