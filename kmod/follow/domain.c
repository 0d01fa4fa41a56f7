// SPDX-License-Identifier: GPL-2.0-only
/*
 * A clamp places a thread by way of Energy-Aware Scheduling, and one busy thread
 * that is not clamped suspends that for a whole root domain. The scheduler says so
 * when it balances load; it is listened to while clamps are in force.
 */
#include <linux/spinlock.h>
/* For trace/events/sched.h, which 6.12 does not let stand alone. */
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <trace/events/sched.h>

#include "act/clamp.h"
#include "clock.h"
#include "domain.h"
#include "probe.h"

static struct gchint_domain domains[GCHINT_DOMAINS];
/* Serialises them; taken with a run queue locked. */
static DEFINE_RAW_SPINLOCK(domains_lock);

/* The one of @rd, or an unused one; NULL when all are in use. */
static struct gchint_domain *domain_of(const void *rd)
{
	unsigned int i;

	for (i = 0; i < GCHINT_DOMAINS; i++)
		if (domains[i].rd == rd || !domains[i].rd)
			return &domains[i];
	return NULL;
}

/* At tracepoint sched_overutilized_tp. Also said when nothing has changed. */
static void at_overutilized(void *data, struct root_domain *rd, bool over)
{
	struct gchint_domain *domain;
	unsigned long flags;

	raw_spin_lock_irqsave(&domains_lock, flags);
	domain = domain_of(rd);
	if (domain) {
		domain->times += over && !domain->over;
		domain->rd = rd;
		domain->over = over;
		domain->cpu = smp_processor_id();
		domain->said = gchint_now();
	}
	raw_spin_unlock_irqrestore(&domains_lock, flags);
}

static bool wanted(void)
{
	return gchint_clamp_count();
}

/* What was said is not known to be so any more. */
static void ended(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&domains_lock, flags);
	memset(domains, 0, sizeof(domains));
	raw_spin_unlock_irqrestore(&domains_lock, flags);
}

static struct gchint_probe overutilized_probe = {
	.name = "sched_overutilized_tp",
	.func = at_overutilized,
	.wanted = wanted,
	.ended = ended,
};

/**
 * gchint_domain_get - what the scheduler said of a root domain
 * @i: below GCHINT_DOMAINS
 * @domain: result
 *
 * Any context.
 *
 * Return: false, there are no more.
 */
bool gchint_domain_get(unsigned int i, struct gchint_domain *domain)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&domains_lock, flags);
	*domain = domains[i];
	raw_spin_unlock_irqrestore(&domains_lock, flags);
	return domain->rd;
}

int gchint_domain_init(void)
{
	check_trace_callback_type_sched_overutilized_tp(at_overutilized);
	return gchint_probe_add(&overutilized_probe);
}
