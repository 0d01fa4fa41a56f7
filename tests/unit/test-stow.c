// SPDX-License-Identifier: GPL-2.0-only
/* What is known of a thread comes out as it went in, to the microsecond. */
#include "unit.h"
#include "stow.h"

#define MOVED (100 * S)

static void through(struct gchint_track *t, struct gchint_plan *p)
{
	struct gchint_stow s;

	memset(&s, 0xff, sizeof(s));
	gchint_stow_in(&s, t, p);
	memset(t, 0xff, sizeof(*t));
	memset(p, 0xff, sizeof(*p));
	gchint_stow_out(&s, t, p);
}

static struct gchint_plan plan_for(const struct gchint_track *t)
{
	return (struct gchint_plan){
		.made = true,
		.instance = t->instance,
		.revision = t->revision,
		.until_ns = MOVED + 20 * MS,
	};
}

/* Each flag alone, so that none stands for another. */
static void test_each_flag_is_kept(void **state)
{
	static const size_t of_track[] = {
		offsetof(struct gchint_track, primed), offsetof(struct gchint_track, pending),
		offsetof(struct gchint_track, stale),  offsetof(struct gchint_track, lead),
		offsetof(struct gchint_track, mixed),  offsetof(struct gchint_track, overdue),
	};
	static const size_t of_plan[] = {
		offsetof(struct gchint_plan, avoided),
		offsetof(struct gchint_plan, lower),
		offsetof(struct gchint_plan, probe),
	};
	u32 nr = ARRAY_SIZE(of_track) + ARRAY_SIZE(of_plan);

	(void)state;
	for (u32 set = 0; set <= nr; set++) {
		struct gchint_track t = { .moved_ns = MOVED };
		struct gchint_plan p = plan_for(&t);

		if (set < ARRAY_SIZE(of_track))
			*(bool *)((char *)&t + of_track[set]) = true;
		else if (set < nr)
			*(bool *)((char *)&p + of_plan[set - ARRAY_SIZE(of_track)]) = true;
		through(&t, &p);
		for (u32 i = 0; i < nr; i++) {
			bool is = i < ARRAY_SIZE(of_track) ?
					  *(bool *)((char *)&t + of_track[i]) :
					  *(bool *)((char *)&p + of_plan[i - ARRAY_SIZE(of_track)]);

			if (is != (i == set))
				fail_msg("with flag %u of %u set, flag %u is %d", set, nr, i, is);
		}
	}
}

#define TRACK_FIELDS(X, a, b)                                                                      \
	X(a, b, state)                                                                             \
	X(a, b, phase)                                                                             \
	X(a, b, flags)                                                                             \
	X(a, b, kind)                                                                              \
	X(a, b, class)                                                                             \
	X(a, b, instance)                                                                          \
	X(a, b, revision)                                                                          \
	X(a, b, moved_ns)                                                                          \
	X(a, b, begin_ns)                                                                          \
	X(a, b, work_done)                                                                         \
	X(a, b, work_total)                                                                        \
	X(a, b, stall_ns)                                                                          \
	X(a, b, ran_ns)                                                                            \
	X(a, b, cycles)                                                                            \
	X(a, b, mark_ns)                                                                           \
	X(a, b, mark_work)                                                                         \
	X(a, b, mark_ran_ns)                                                                       \
	X(a, b, mark_cycles)                                                                       \
	X(a, b, mark_at_ns)                                                                        \
	X(a, b, mark_khz)
#define PLAN_FIELDS(X, a, b)                                                                       \
	X(a, b, made)                                                                              \
	X(a, b, khz)                                                                               \
	X(a, b, until_ns)                                                                          \
	X(a, b, epoch)                                                                             \
	X(a, b, mem)                                                                               \
	X(a, b, step)                                                                              \
	X(a, b, reason)                                                                            \
	X(a, b, class)                                                                             \
	X(a, b, instance)                                                                          \
	X(a, b, revision)
#define SAME(a, b, field) assert_cmp((u64)(a).field, ==, (u64)(b).field);

static void test_every_figure_is_kept(void **state)
{
	u64 seed = 23;

	(void)state;
	for (u32 n = 0; n < 20000; n++) {
		struct gchint_track t = {
			.state = rnd(&seed) & ~GCHINT_STATE_WRITING,
			.phase = (u8)rnd_in(&seed, 0, GCHINT_PHASE_NR - 1),
			.flags = (u8)rnd_in(&seed, 0, GCHINT_F_ALL),
			.kind = (u8)rnd_in(&seed, 0, GCHINT_KINDS - 1),
			.instance = rnd(&seed),
			.revision = rnd(&seed),
			.moved_ns = 10000 * S + rnd(&seed),
			.work_done = (u64)rnd(&seed) << rnd_in(&seed, 0, 24),
			.work_total = (u64)rnd(&seed) << rnd_in(&seed, 0, 24),
			.stall_ns = (u64)rnd(&seed) << rnd_in(&seed, 0, 24),
			.mark_work = (u64)rnd(&seed) << rnd_in(&seed, 0, 24),
			.ran_ns = rnd_in(&seed, 0, 2000000) * US,
			.mark_khz = rnd_in(&seed, 1, 6000000),
		};
		u32 khz = rnd_in(&seed, 1, 6000000);
		struct gchint_track out;
		struct gchint_plan p, q;

		t.class = gchint_phase_class(t.phase, t.flags);
		t.begin_ns = t.moved_ns - rnd_in(&seed, 0, 4000000) * US;
		t.mark_ns = t.moved_ns - rnd_in(&seed, 0, 4000000) * US;
		t.cycles = t.ran_ns * khz;
		t.mark_ran_ns = t.ran_ns / 2 / US * US;
		t.mark_cycles = t.mark_ran_ns * khz;
		t.mark_at_ns = t.ran_ns / 3 / US * US;
		p = plan_for(&t);
		p.khz = rnd(&seed);
		p.until_ns = rnd(&seed) % 4 ? t.moved_ns + rnd_in(&seed, 0, 4000000) * US : U64_MAX;
		p.epoch = rnd(&seed);
		p.mem = rnd_in(&seed, 0, GCHINT_ONE);
		p.step = (s32)rnd_in(&seed, 0, 126) - 63;
		p.reason = (u8)rnd_in(&seed, 0, GCHINT_REASON_NR - 1);
		p.class = (u8)rnd_in(&seed, 0, GCHINT_CLASS_NR - 1);
		out = t;
		q = p;
		through(&out, &q);
		/* Field by field: what lies between them is nobody's. */
		TRACK_FIELDS(SAME, out, t)
		PLAN_FIELDS(SAME, q, p)
	}
}

/* A plan of the phase before says nothing; one of what was known before is not valid. */
static void test_only_a_plan_of_this_phase_is_kept(void **state)
{
	struct gchint_track t = { .moved_ns = MOVED, .instance = 7, .revision = 9 };
	struct gchint_plan p = plan_for(&t);

	(void)state;
	p.revision = 8;
	p.khz = 1;
	through(&t, &p);
	assert_true(p.made);
	assert_int_equal(p.khz, 1);
	assert_int_not_equal(p.revision, t.revision);
	p = plan_for(&t);
	p.instance = 6;
	through(&t, &p);
	assert_false(p.made);
	p = plan_for(&t);
	p.made = false;
	through(&t, &p);
	assert_false(p.made);
	/* One that was over before the last look stays so. */
	p = plan_for(&t);
	p.until_ns = MOVED - 1;
	through(&t, &p);
	assert_cmp(p.until_ns, ==, MOVED);
}

/* Times beyond an hour are as good as an hour, and no clock runs backward. */
static void test_long_times_saturate(void **state)
{
	struct gchint_track t = {
		.moved_ns = 20000 * S,
		.begin_ns = 1,
		.mark_ns = 20001 * S,
		.ran_ns = 20000 * S,
	};
	struct gchint_plan p = {};

	(void)state;
	through(&t, &p);
	assert_cmp(t.begin_ns, ==, 20000 * S - U32_MAX * US);
	assert_cmp(t.mark_ns, ==, 20000 * S);
	assert_cmp(t.ran_ns, ==, U32_MAX * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_flag_is_kept),
		cmocka_unit_test(test_every_figure_is_kept),
		cmocka_unit_test(test_only_a_plan_of_this_phase_is_kept),
		cmocka_unit_test(test_long_times_saturate),
	};

	return run_tap(tests);
}
