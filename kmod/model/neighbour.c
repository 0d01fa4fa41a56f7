// SPDX-License-Identifier: GPL-2.0-only
#include "neighbour.h"

static u64 neighbour_return_ns(u32 latency_ns)
{
	return min_t(u64, GCHINT_NEIGHBOUR_RETURN_LATENCIES * (u64)latency_ns,
		     GCHINT_NEIGHBOUR_RETURN_MAX_NS);
}

/* How much of their share kernel threads may use in advance. */
static u64 neighbour_credit_ns(u32 latency_ns)
{
	return (GCHINT_NEIGHBOUR_SHARE - 1) * gchint_neighbour_threshold_ns(latency_ns);
}

/* When the share used so far is paid for, including the current slice. */
static u64 paid_ns(const struct gchint_neighbour *n, u64 now_ns)
{
	u64 ran = now_ns > n->since_ns ? now_ns - n->since_ns : 0;

	if (n->slice != GCHINT_SLICE_KERNEL)
		return n->paid_ns;
	return max_t(u64, n->paid_ns, n->since_ns) + GCHINT_NEIGHBOUR_SHARE * ran;
}

void gchint_neighbour_begin_slice(struct gchint_neighbour *n, u8 slice, bool hinted, u32 latency_ns,
				  u64 now_ns)
{
	u64 most = now_ns + neighbour_credit_ns(latency_ns) + neighbour_return_ns(latency_ns);

	/* However long a kernel thread ran, a cap returns within this time after it. */
	n->paid_ns = min_t(u64, paid_ns(n, now_ns), most);
	if (n->slice == GCHINT_SLICE_PROGRAM || (n->slice == GCHINT_SLICE_LEASED && !hinted))
		n->gone_ns = now_ns;
	n->slice = slice;
	n->since_ns = now_ns;
}

bool gchint_neighbour_blocks_cap(const struct gchint_neighbour *n, u32 latency_ns, u64 now_ns)
{
	if (n->slice == GCHINT_SLICE_PROGRAM)
		return true;
	if (n->gone_ns && now_ns < n->gone_ns + neighbour_return_ns(latency_ns))
		return true;
	return paid_ns(n, now_ns) > now_ns + neighbour_credit_ns(latency_ns);
}
