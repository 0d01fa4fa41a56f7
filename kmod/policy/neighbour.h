/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a cap on a policy's frequency limits, under a governor that is not ours,
 * would slow somebody on a CPU who does not ask for it.
 *
 * A program that does not hint is such a neighbour, while it runs and for a while
 * afterwards: a cap that comes and goes as two take turns costs more than it saves.
 * A kernel thread is one when it takes a share of the CPU that matters, for most run
 * for microseconds; but not if it carries our own request out.
 */
#ifndef _GCHINT_NEIGHBOUR_H
#define _GCHINT_NEIGHBOUR_H

#include "pure.h"

/* A kernel thread that is through by then is let alone, whatever a request takes. */
#define GCHINT_NEIGHBOUR_SPARE_NS NSEC_PER_MSEC
/* A cap comes back after so many latencies: going and coming costs a tenth at most. */
#define GCHINT_NEIGHBOUR_LATENCIES 20
/* But not later than that, however slow the driver. */
#define GCHINT_NEIGHBOUR_BACK_NS (100 * (u64)NSEC_PER_MSEC)
/* One part in so many of a CPU is left to kernel threads in the long run. */
#define GCHINT_NEIGHBOUR_PART 8

/* Whose turn it is on a CPU. */
enum gchint_turn {
	GCHINT_TURN_NOBODY,
	GCHINT_TURN_LEASED,
	GCHINT_TURN_CARRIER, /* a kernel thread, while a request is carried out */
	GCHINT_TURN_KERNEL,
	GCHINT_TURN_PROGRAM,
};

/**
 * struct gchint_neighbour - who took turns on a CPU
 * @turn: enum gchint_turn, whose turn it is
 * @since_ns: since when
 * @gone_ns: when the last turn ended of who did not hint; 0 never
 * @paid_ns: what kernel threads took is paid for from then on
 *
 * The caller serialises. All zero: nobody ever ran.
 */
struct gchint_neighbour {
	u8 turn;
	u64 since_ns;
	u64 gone_ns;
	u64 paid_ns;
};

/**
 * gchint_neighbour_spare_ns() - how long a kernel thread may run unheeded
 * @latency_ns: from a request to its effect
 */
static inline u64 gchint_neighbour_spare_ns(u32 latency_ns)
{
	return max_t(u64, latency_ns, GCHINT_NEIGHBOUR_SPARE_NS);
}

/**
 * gchint_neighbour_turn() - another one's turn begins
 * @n: of the CPU
 * @turn: enum gchint_turn
 * @hinted: it is a hint's time that ends, if it was a leased thread's turn
 * @latency_ns: from a request to its effect
 * @now_ns: current time
 */
void gchint_neighbour_turn(struct gchint_neighbour *n, u8 turn, bool hinted, u32 latency_ns,
			   u64 now_ns);

/**
 * gchint_neighbour_minds() - would a cap slow somebody there?
 * @n: of the CPU
 * @latency_ns: from a request to its effect
 * @now_ns: current time
 *
 * Not asked of a leased thread whose turn it is: what that one wants it says.
 */
bool gchint_neighbour_minds(const struct gchint_neighbour *n, u32 latency_ns, u64 now_ns);

#endif /* _GCHINT_NEIGHBOUR_H */
