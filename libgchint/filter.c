// SPDX-License-Identifier: MIT
/* Which phases are too short to be worth a hint. */
#include <errno.h>
#include <time.h>

#include "clamp.h"
#include "filter.h"
#include "slot.h"

#define MIN_US	   100 /* default, if neither the kernel nor the user sets it */
#define UNIT_SHIFT 10 /* 1024 ns: 30 bits of them wrap after 18 minutes */
#define DECAY	   8 /* each shorter phase lowers the longest length by 1/8 */

uint32_t filter_now(void)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	ns = (uint32_t)(ns >> UNIT_SHIFT << SINCE_SHIFT);
	return ns ? (uint32_t)ns : 1u << SINCE_SHIFT;
}

/* A recorder or a trace does not act on hints, so it receives all of them. */
static unsigned int hints_of(const struct gchint_session *s)
{
	unsigned int backend = backend_of(s), hints = load_relaxed(&s->hints);

	if (hints == HINTS_CLAMP)
		return HINTS_ALL;
	return backend == GCHINT_BACKEND_DEVICE || backend == GCHINT_BACKEND_CLAMP ? hints :
										     HINTS_ALL;
}

/* The precedence of the flags is that of the ABI. */
uint32_t filter_flags(const struct gchint_session *s, uint32_t word)
{
	int raises = flags_of(word) & (GCHINT_F_URGENT | GCHINT_F_STW | GCHINT_F_FOREGROUND);
	unsigned int hints = hints_of(s);

	if (hints == HINTS_ALL)
		return word;
	return !!raises == (hints == HINTS_BOOST) ? word : phase_of(word);
}

unsigned int filter_role(const struct gchint_session *s, unsigned int role)
{
	unsigned int hints = hints_of(s);

	if (hints == HINTS_ALL || role == GCHINT_ROLE_NONE || role == GCHINT_ROLE_FOLLOW)
		return role;
	return (role == GCHINT_ROLE_STW) == (hints == HINTS_BOOST) ? role : GCHINT_ROLE_NONE;
}

/*
 * The class by which lengths of one phase are learned: its length depends on whether a
 * mutator waits for it. The precedence of the flags is that of the ABI.
 */
static unsigned int expect_class(uint32_t flags)
{
	if (flags & GCHINT_F_FOREGROUND)
		return 0;
	return flags & GCHINT_F_CONCURRENT ? 1 : 2;
}

/* NULL for a pause: a long pause after short ones must not be filtered. */
static uint32_t *expect_entry(struct gchint_session *s, uint32_t word)
{
	uint32_t phase = phase_of(word), flags = flags_of(word);

	if (!phase || phase > EXPECT_PHASES || flags & (GCHINT_F_URGENT | GCHINT_F_STW))
		return NULL;
	return &s->expect[phase - 1][expect_class(flags)];
}

static uint64_t min_ns(const struct gchint_session *s)
{
	const struct gchint_info *info = load_relaxed(&s->info);

	if (s->min_us >= 0)
		return (uint64_t)s->min_us * 1000;
	return (uint64_t)(info ? load_relaxed(&info->min_phase_us) : MIN_US) * 1000;
}

/* How long the phase will take, declared or else learned; 0 unknown. */
static uint64_t expected_ns(const struct gchint_session *s, uint32_t word, uint64_t declared_ns,
			    int learned)
{
	const uint32_t *e = expect_entry((struct gchint_session *)s, word);

	if (!declared_ns && e && learned)
		return (uint64_t)load_relaxed(e) << UNIT_SHIFT;
	return declared_ns;
}

int filter_short(const struct gchint_session *s, uint32_t word, uint64_t declared_ns, int costly)
{
	uint64_t ns = expected_ns(s, word, declared_ns, costly);

	return !(flags_of(word) & GCHINT_F_URGENT) && ns && ns < min_ns(s);
}

int filter_brief(const struct gchint_session *s, uint32_t word, uint64_t declared_ns)
{
	uint64_t ns = expected_ns(s, word, declared_ns, 1);

	/* A thread that others wait for does not keep the cap of an outer phase. */
	if (flags_of(word) & (GCHINT_F_URGENT | GCHINT_F_STW | GCHINT_F_FOREGROUND))
		return 0;
	return ns && ns < (uint64_t)(s->min_us >= 0 ? s->min_us : CLAMP_MIN_US) * 1000;
}

void filter_learn(struct gchint_session *s, uint32_t word, uint32_t since)
{
	uint32_t *e = expect_entry(s, word);
	uint32_t length = (filter_now() - (since & ~SINCE_FLAGS)) >> SINCE_SHIFT;
	uint32_t old;

	if (!e)
		return;
	/* Threads may overwrite each other's value, which is harmless: it is an estimate. */
	old = load_relaxed(e);
	old -= (old + DECAY - 1) / DECAY;
	if (length < old)
		length = old;
	store_relaxed(e, length ? length : 1);
}

int gchint_expect(struct gchint_session *s, enum gchint_phase phase, gchint_flags_t flags,
		  uint64_t ns)
{
	uint64_t units = ns >> UNIT_SHIFT;
	uint32_t *e;

	if (s != &gchint_page.session || phase >= GCHINT_PHASE_NR ||
	    (flags & ~(unsigned int)GCHINT_F_ALL))
		return -EINVAL;
	if (units > UINT32_MAX)
		units = UINT32_MAX;
	if (ns && !units)
		units = 1;
	e = expect_entry(s, GCHINT_STATE(0, phase, flags));
	if (e)
		store_relaxed(e, (uint32_t)units);
	return 0;
}
