/* SPDX-License-Identifier: GPL-2.0-only */
/* What the threads of a session spent in each phase, where somebody counts it. */
#ifndef _GCHINT_SPENT_H
#define _GCHINT_SPENT_H

#include <linux/gchint.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "thread.h"

struct gchint_cpu;

/**
 * struct gchint_spent_phase - time and energy of a phase
 * @ns: time on a CPU
 * @known_ns: of it, where the energy model knows the power in microwatts
 * @nj: nanojoules in that time, one CPU's share
 */
struct gchint_spent_phase {
	u64 ns;
	u64 known_ns;
	u64 nj;
};

/**
 * struct gchint_spent - account of a session, or of several together
 * @since: CLOCK_MONOTONIC ns when it was begun
 * @unsure_ns: time in which a phase began or ended unheard; half of it is on either
 *	side
 * @phase: by enum gchint_phase
 * @lock: serialises the above but for @since; innermost, irqs off
 * @rcu: who charges it does so under RCU
 */
struct gchint_spent {
	u64 since;
	u64 unsure_ns;
	struct gchint_spent_phase phase[GCHINT_PHASE_NR];
	raw_spinlock_t lock;
	struct rcu_head rcu;
};

int gchint_spent_begin(struct gchint_session *session);
void gchint_spent_end(struct gchint_session *session);
unsigned int gchint_spent_count(void);
bool gchint_spent_sum(struct gchint_session *session, struct gchint_spent *sum);
void gchint_spent_charge(struct gchint_session *session, struct gchint_cpu *c,
			 u8 was, u64 ran_ns, u64 now);
void gchint_spent_frequency(unsigned int cpu, u32 khz);
void gchint_spent_found(unsigned int cpu, u32 khz);

/**
 * gchint_spent_counts - does somebody count what a session spends?
 * @session: the session
 */
static inline bool gchint_spent_counts(const struct gchint_session *session)
{
	return rcu_access_pointer(session->spent);
}

#endif /* _GCHINT_SPENT_H */
