// SPDX-License-Identifier: MIT
/* Without the module: utilisation clamps. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clamp.h"
#include "record.h"
#include "slot.h"

/*
 * struct sched_attr of sched_setattr(2) as of Linux 5.3, when clamps came. Named
 * by us: C libraries older than the call have none, newer ones have it elsewhere.
 */
struct clamp_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
	uint32_t util_min;
	uint32_t util_max;
};

#define KEEP_POLICY    0x08
#define KEEP_PARAMS    0x10
#define UTIL_CLAMP_MAX 0x40
#define UTIL_FULL      1024

static int get_max(pid_t tid, uint32_t *max)
{
	struct clamp_attr a;

	memset(&a, 0, sizeof(a));
	if (syscall(SYS_sched_getattr, tid, &a, (unsigned int)sizeof(a), 0) != 0)
		return -1;
	/* A kernel from before 5.3 fills less. */
	if (a.size < sizeof(a))
		return -1;
	*max = a.util_max;
	return 0;
}

static int set_max(pid_t tid, uint32_t max)
{
	struct clamp_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.flags = KEEP_POLICY | KEEP_PARAMS | UTIL_CLAMP_MAX;
	a.util_max = max;
	return syscall(SYS_sched_setattr, tid, &a, 0) == 0 ? 0 : -1;
}

int clamp_supported(void)
{
	uint32_t max;

	return get_max(0, &max) == 0 && max <= UTIL_FULL && set_max(0, max) == 0;
}

static void cap(const struct gchint_session *s, struct record *r)
{
	uint32_t prior;

	if (record_flags(r) & RECORD_CAPPED)
		return;
	/* A thread that the administrator caps lower stays there. */
	if (get_max(r->handle.tid, &prior) || prior <= s->clamp)
		return;
	r->prior = prior & 0x7ff;
	if (!set_max(r->handle.tid, s->clamp))
		record_set_flags(r, RECORD_CAPPED);
}

void clamp_restore(struct record *r)
{
	if (!(record_flags(r) & RECORD_CAPPED))
		return;
	record_clear_flags(r, RECORD_CAPPED);
	set_max(r->handle.tid, r->prior);
}

void clamp_edge(const struct gchint_session *s, struct record *r, uint32_t word)
{
	uint32_t flags = flags_of(word);
	int capped;

	/* A phase goes before the role; the ABI says which flag decides. */
	if (flags & (GCHINT_F_URGENT | GCHINT_F_STW | GCHINT_F_FOREGROUND))
		capped = 0;
	else if (flags & GCHINT_F_CONCURRENT)
		capped = 1;
	else
		capped = record_flags(r) & RECORD_CAP && phase_of(word) == GCHINT_PHASE_NONE;
	if (capped)
		cap(s, r);
	else
		clamp_restore(r);
}

void clamp_role(const struct gchint_session *s, struct record *r, unsigned int role)
{
	if (role == GCHINT_ROLE_CONCURRENT || role == GCHINT_ROLE_BACKGROUND)
		record_set_flags(r, RECORD_CAP);
	else
		record_clear_flags(r, RECORD_CAP);
	clamp_edge(s, r, load_relaxed(&r->word) & WORD_MASK);
}
