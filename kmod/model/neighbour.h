/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a cap on a policy's frequency limits, alongside another governor, would
 * slow a thread that does not ask for it.
 *
 * A program without hints is such a neighbour while it runs and for a while after:
 * a cap that comes and goes with every time slice costs more than it saves. A
 * kernel thread is one if it takes a considerable share of the CPU, for most run
 * for microseconds; but not while it carries out our own request.
 */
#ifndef _GCHINT_NEIGHBOUR_H
#define _GCHINT_NEIGHBOUR_H

#include "pure.h"

/* A kernel thread that runs for less never counts, whatever the latency. */
#define GCHINT_NEIGHBOUR_THRESHOLD_NS NSEC_PER_MSEC
/* A cap returns after this many latencies: switching then costs at most a tenth ... */
#define GCHINT_NEIGHBOUR_RETURN_LATENCIES 20
/* ... but no later than this, however slow the driver. */
#define GCHINT_NEIGHBOUR_RETURN_MAX_NS (100 * (u64)NSEC_PER_MSEC)
/* One part in so many of a CPU is left to kernel threads in the long run. */
#define GCHINT_NEIGHBOUR_SHARE 8

/* What runs on a CPU. */
enum gchint_slice {
	GCHINT_SLICE_IDLE,
	GCHINT_SLICE_LEASED,
	GCHINT_SLICE_ACTUATOR, /* a kernel thread, while a request is carried out */
	GCHINT_SLICE_KERNEL,
	GCHINT_SLICE_PROGRAM,
};

/* The time slices of a CPU. The caller serialises. All zero: nothing ran yet. */
struct gchint_neighbour {
	u8 slice; /* enum gchint_slice, of the current slice */
	u64 since_ns; /* begin of that slice */
	u64 gone_ns; /* end of the last slice of a neighbour; 0 never */
	u64 paid_ns; /* kernel threads have used up their share until then */
};

/* How long a kernel thread may run before it counts; @latency_ns as below. */
static inline u64 gchint_neighbour_threshold_ns(u32 latency_ns)
{
	return max_t(u64, latency_ns, GCHINT_NEIGHBOUR_THRESHOLD_NS);
}

/*
 * A time slice of enum gchint_slice @slice begins. @hinted: the slice that ends
 * belonged to a leased thread whose hint was not neutral. @latency_ns: time from a
 * request to its effect.
 */
void gchint_neighbour_begin_slice(struct gchint_neighbour *n, u8 slice, bool hinted, u32 latency_ns,
				  u64 now_ns);

/*
 * Would a cap slow a thread on that CPU that does not ask for it? Not meaningful
 * while a leased thread runs, for which its own hint decides.
 */
bool gchint_neighbour_blocks_cap(const struct gchint_neighbour *n, u32 latency_ns, u64 now_ns);

#endif /* _GCHINT_NEIGHBOUR_H */
