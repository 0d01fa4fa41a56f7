/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the scheduler places by energy, in each of its root domains. */
#ifndef _GCHINT_DOMAIN_H
#define _GCHINT_DOMAIN_H

#include <linux/types.h>

/**
 * struct gchint_domain - what the scheduler said of a root domain
 * @rd: which, to tell it from others; may be gone. NULL: an unused one
 * @over: it is overutilised: nothing is placed by energy there
 * @cpu: on which CPU that was said last
 * @times: how often it became so
 * @said: when it was said last, CLOCK_MONOTONIC ns
 */
struct gchint_domain {
	const void *rd;
	bool over;
	unsigned int cpu;
	u64 times;
	u64 said;
};

/* Of more than this many the others are not told. */
#define GCHINT_DOMAINS 8

int gchint_domain_init(void);
bool gchint_domain_get(unsigned int i, struct gchint_domain *domain);

#endif /* _GCHINT_DOMAIN_H */
