// SPDX-License-Identifier: GPL-2.0-only
/* The time budget: the ledger alone, and with programs whose time it spends. */
#include "fixture.h"

/* What a time slice of @ms at @stretch percent of the time without hints books. */
static bool book(struct gchint_budget *b, u32 ms, u32 weight, u32 stretch_pct, u64 *now)
{
	struct gchint_usage u = {
		.ran_ns = ms * MS,
		.weight = weight,
		.stretch = GCHINT_ONE * stretch_pct / 100,
		.free_stretch = GCHINT_ONE,
	};

	*now += ms * MS;
	return gchint_budget_book(b, &u, *now);
}

static void budget_init(struct gchint_budget *b, u32 pct)
{
	memset(b, 0, sizeof(*b));
	gchint_budget_set(b, pct);
}

static void test_books_what_was_lost_and_allowed(void **state)
{
	struct gchint_budget b;
	u64 now = NOW;

	(void)state;
	budget_init(&b, 5);
	book(&b, 125, GCHINT_WEIGHT_THREAD, 125, &now);
	assert_near(b.lost_ns, 25 * MS, 200 * US);
	assert_near(b.allowed_ns, 5 * MS, 50 * US);
	assert_near(b.balance_ns, -20.0 * MS, 250 * US);
	/* A pause delays two threads, a slowed mutator loses a quarter. */
	book(&b, 125, 2 * GCHINT_WEIGHT_THREAD, 125, &now);
	book(&b, 125, 1, 125, &now);
	assert_near(b.lost_ns, (25 + 50 + 6.25) * MS, 500 * US);
	/* What delays no thread is neither allowed nor lost. */
	book(&b, 1000, 0, 300, &now);
	assert_near(b.lost_ns, (25 + 50 + 6.25) * MS, 500 * US);
	assert_near(b.allowed_ns, (5 + 10 + 1.25) * MS, 200 * US);
}

static void test_faster_than_without_hints_gains_nothing(void **state)
{
	struct gchint_usage u = {
		.ran_ns = 100 * MS,
		.weight = GCHINT_WEIGHT_THREAD,
		.stretch = GCHINT_ONE,
		.free_stretch = 2 * GCHINT_ONE,
	};
	struct gchint_budget b;

	(void)state;
	budget_init(&b, 10);
	gchint_budget_book(&b, &u, NOW);
	assert_cmp(b.lost_ns, ==, 0);
	assert_cmp(b.allowed_ns, ==, 10 * MS);
}

static void test_without_a_budget_delay_costs_most(void **state)
{
	struct gchint_budget b;
	u64 now = NOW;

	(void)state;
	budget_init(&b, 0);
	for (u32 n = 0; n < 1000; n++) {
		assert_cmp(b.delay_cost, ==, GCHINT_DELAY_COST_MAX);
		assert_false(book(&b, n, GCHINT_WEIGHT_THREAD, 100 + n % 3, &now));
	}
	assert_cmp(b.allowed_ns, ==, 0);
	/* A new budget starts afresh, the same goes on. */
	gchint_budget_set(&b, 10);
	assert_cmp(b.delay_cost, <, GCHINT_DELAY_COST_MAX);
	assert_true(b.balance_ns == 0);
	book(&b, 20, GCHINT_WEIGHT_THREAD, 100, &now);
	assert_true(b.balance_ns > 0);
	gchint_budget_set(&b, 10);
	assert_true(b.balance_ns > 0);
	gchint_budget_set(&b, 11);
	assert_true(b.balance_ns == 0);
}

static void test_debt_is_paid_back(void **state)
{
	(void)state;
	for (u32 pct = 1; pct <= 50; pct++) {
		struct gchint_budget b;
		u64 now = NOW, since;

		budget_init(&b, pct);
		while (b.delay_cost > 3)
			book(&b, 1, GCHINT_WEIGHT_THREAD, 100, &now);
		/* One slice takes all that was saved and as much again. */
		book(&b, 2000 * pct / 50 + 100, GCHINT_WEIGHT_THREAD, 400, &now);
		assert_cmp(b.delay_cost, ==, GCHINT_DELAY_COST_MAX);
		since = now;
		while (b.balance_ns < 0) {
			book(&b, 1, GCHINT_WEIGHT_THREAD, 100, &now);
			assert_cmp(b.delay_cost, >, 50);
			assert_cmp(now - since, <, 13 * S);
		}
		assert_cmp(now - since, >, 10 * MS);
		/* Then time may be lost again. */
		while (b.delay_cost > 50)
			book(&b, 1, GCHINT_WEIGHT_THREAD, 100, &now);
		assert_cmp(now - since, <, 14 * S);
	}
}

static void test_savings_are_bounded_and_expire(void **state)
{
	struct gchint_budget b;
	u64 now = NOW;
	s64 most;

	(void)state;
	budget_init(&b, 4);
	for (u32 n = 0; n < 100; n++)
		book(&b, 100, GCHINT_WEIGHT_THREAD, 100, &now);
	most = b.balance_ns;
	assert_cmp(b.delay_cost, <, 4);
	assert_true(most > 0 && (u64)most <= 8 * S / 100);
	now += S / 2;
	book(&b, 1, GCHINT_WEIGHT_THREAD, 100, &now);
	assert_true(b.balance_ns == most);
	now += 2 * S;
	book(&b, 1, GCHINT_WEIGHT_THREAD, 100, &now);
	assert_near(b.balance_ns, MS * 4 / 100, US);
	/* A debt does not expire. */
	book(&b, 300, GCHINT_WEIGHT_THREAD, 110, &now);
	most = b.balance_ns;
	assert_true(most < 0);
	now += 20 * S;
	book(&b, 1, GCHINT_WEIGHT_THREAD, 100, &now);
	assert_true(b.balance_ns < most + (s64)MS);
}

/* A CPU that read the clock before another booked takes nothing away. */
static void test_time_that_goes_back_expires_no_savings(void **state)
{
	struct gchint_budget b;
	u64 now = NOW, before;
	s64 saved;

	(void)state;
	budget_init(&b, 5);
	for (u32 n = 0; n < 100; n++)
		book(&b, 100, GCHINT_WEIGHT_THREAD, 100, &now);
	saved = b.balance_ns;
	assert_true(saved > 0);
	before = now - 200;
	gchint_budget_book(&b,
			   &(struct gchint_usage){ .ran_ns = MS,
						   .weight = GCHINT_WEIGHT_THREAD,
						   .stretch = GCHINT_ONE,
						   .free_stretch = GCHINT_ONE },
			   before);
	assert_true(b.balance_ns == saved);
	assert_true(b.last_ns == now);
}

/* Whatever a program does, it loses no more than the budget and a bounded loan. */
static void test_bound_holds_for_any_sequence(void **state)
{
	(void)state;
	for (u64 seed = 1; seed < 300; seed++) {
		u64 random = seed * 0x9e3779b97f4a7c15ULL, now = NOW;
		u32 pct = rnd_in(&random, 1, 50), slice = rnd_in(&random, 1, 30);
		struct gchint_budget b;

		budget_init(&b, pct);
		for (u32 n = 0; n < 5000; n++) {
			u32 weight = rnd_in(&random, 1, 2 * GCHINT_WEIGHT_THREAD);
			u32 worst = rnd_in(&random, 100, 300);

			/* Slow as long as any delay is affordable, saving at other times. */
			if (b.delay_cost == GCHINT_DELAY_COST_MAX || (n / 500) % 3 == 1)
				worst = 100;
			book(&b, slice, weight, worst, &now);
			assert_true(b.lost_ns <= b.allowed_ns +
							 2 * 1000 * MS * max_t(u32, pct, 3) / 100 +
							 2 * slice * MS);
		}
	}
}

/**
 * struct program - a closed loop of mutators and pauses
 * @x: policy, what was learned, and hints
 * @budget: ledger of its policy
 * @threads: mutators
 * @mutator: gchint_hint.mutator
 * @cycle_ms: work of each mutator between two pauses, at the highest frequency
 * @pause_ms: length of a pause, at the highest frequency
 * @now: virtual time
 * @free_ns: time that it would have taken without hints
 * @energy: power units times nanoseconds, of busy CPUs
 * @switches: frequency changes
 */
struct program {
	struct fixture x;
	struct gchint_budget budget;
	u32 threads;
	u8 mutator;
	u32 cycle_ms;
	u32 pause_ms;
	u64 now;
	u64 free_ns;
	double energy;
	u32 switches;
};

static void program_init(struct program *p, const struct board *board, u32 pct)
{
	memset(p, 0, sizeof(*p));
	init(&p->x, board->fill);
	p->x.tun.awake_pct = 25;
	budget_init(&p->budget, pct);
	p->x.rules.delay_cost = p->budget.delay_cost;
	gchint_rules_set_mutators(&p->x.rules);
	p->threads = 1;
	p->mutator = 2;
	p->cycle_ms = 20;
	p->now = NOW;
}

static struct gchint_demand program_demand(const struct program *p)
{
	struct gchint_demand d;

	gchint_decide_cpu(&d, &p->x.rules, 0, GCHINT_ONE, &p->x.hint, &p->x.plan);
	return d;
}

/* Work of 1 ms at the highest frequency, by @threads threads under x.hint and x.plan. */
static void program_work(struct program *p, u32 threads)
{
	u32 mem = p->x.hint.class == GCHINT_CLASS_NEUTRAL ? gchint_mutator_mem(p->mutator) : 0;
	struct gchint_demand d = program_demand(p);
	const struct gchint_opp *o;
	struct gchint_usage u;
	u32 before = p->x.state.khz;
	bool changed = false, hinted = p->x.state.hinted;
	u64 ran, took;

	gchint_decide_policy(&p->x.out, &p->x.rules, &p->x.state, &d, p->now);
	p->switches += before && before != p->x.state.khz;
	o = &p->x.opps.opp[gchint_opp_at_least(&p->x.opps, p->x.state.khz)];
	ran = took = MS * gchint_opp_stretch(o, mem) / GCHINT_ONE;
	if (before && before != p->x.state.khz && (hinted || p->x.state.hinted)) {
		took += p->x.rules.latency_ns;
		gchint_decide_switch_usage(&u, &p->x.rules);
		changed = gchint_budget_book(&p->budget, &u, p->now);
	}
	p->now += took;
	p->free_ns += MS;
	p->energy += (double)took * (o->power + gchint_opps_awake(&p->x.opps, 25)) * threads;
	for (u32 i = 0; i < threads; i++) {
		u.ran_ns = ran;
		gchint_decide_usage(&u, &p->x.rules, &p->x.hint, &p->x.plan, o->khz, GCHINT_ONE,
				    p->x.state.hinted);
		changed |= gchint_budget_book(&p->budget, &u, p->now);
	}
	p->x.rules.delay_cost = p->budget.delay_cost;
	if (changed)
		gchint_rules_set_mutators(&p->x.rules);
}

static void program_run(struct program *p, u64 ns)
{
	u64 end = p->now + ns;

	while (p->now < end) {
		p->x.hint = (struct gchint_hint){ .class = GCHINT_CLASS_NEUTRAL,
						  .may_raise = true,
						  .mutator = p->mutator };
		p->x.plan.made = false;
		for (u32 i = 0; i < p->cycle_ms; i++)
			program_work(p, p->threads);
		p->x.hint = (struct gchint_hint){ .class = GCHINT_CLASS_STW,
						  .may_raise = true,
						  .phase = GCHINT_PHASE_MARK };
		for (u32 i = 0; i < p->pause_ms; i++) {
			if (!gchint_plan_valid(&p->x.plan, &p->x.hint, &p->x.rules, p->now))
				gchint_plan_make(&p->x.plan, &p->x.hint, &p->x.rules, &p->x.learn,
						 0, p->now);
			program_work(p, 1);
		}
	}
}

/* Percent that it took longer since @from, a copy of it then. */
static double program_loss(const struct program *p, const struct program *from)
{
	double took = (double)(p->now - from->now), is_free = (double)(p->free_ns - from->free_ns);

	return 100 * (took / is_free - 1);
}

static const u32 budgets[] = { 1, 3, 5, 10, 20 };

/* The loss at no delay cost at all: no budget above it can be spent. */
static double program_loss_most(struct program p)
{
	struct program from = p;

	p.budget.pct = 0;
	p.x.rules.delay_cost = 0;
	gchint_rules_set_mutators(&p.x.rules);
	for (u32 i = 0; i < 50; i++) {
		p.x.hint.mutator = p.mutator;
		p.x.hint.class = GCHINT_CLASS_NEUTRAL;
		program_work(&p, 1);
		p.x.rules.delay_cost = 0;
	}
	return program_loss(&p, &from);
}

static void test_budget_is_just_spent(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 i = 0; i < ARRAY_SIZE(budgets); i++) {
			for (u8 mutator = 1; mutator < 7; mutator += 2) {
				struct program p, from;
				double loss, most;

				program_init(&p, &boards[b], budgets[i]);
				p.mutator = mutator;
				most = program_loss_most(p);
				program_run(&p, 3 * S);
				from = p;
				program_run(&p, 6 * S);
				loss = program_loss(&p, &from);
				if (loss > budgets[i] + .3 ||
				    loss < fmin(budgets[i] * .9 - .2, most - .5))
					fail_msg("%s, budget %u, mutator %u: %.2f of %.2f",
						 boards[b].name, budgets[i], mutator, loss, most);
				/* Each switch has a price, too. */
				assert_cmp(p.switches - from.switches, <, 6 * 40);
			}
		}
	}
}

/* Pauses and several mutators share one budget, and from the first second on. */
static void test_budget_is_kept_with_pauses(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 i = 0; i < ARRAY_SIZE(budgets); i++) {
			struct program p, from;
			double early, loss;

			program_init(&p, &boards[b], budgets[i]);
			p.threads = 2;
			p.pause_ms = 8;
			from = p;
			program_run(&p, S);
			early = program_loss(&p, &from);
			from = p;
			program_run(&p, 6 * S);
			loss = program_loss(&p, &from);
			if (early > budgets[i] + 1 || loss > budgets[i] + .3)
				fail_msg("%s, budget %u: %.2f, then %.2f", boards[b].name,
					 budgets[i], early, loss);
		}
	}
}

/* Least energy of a program of one mutator at a mean stretch, by one or two fixed OPPs. */
static double hull_energy(const struct program *p, double stretch)
{
	u32 awake = gchint_opps_awake(&p->x.opps, 25), mem = gchint_mutator_mem(p->mutator);
	double least = 1e300;

	for (u32 i = 0; i < p->x.opps.nr; i++) {
		for (u32 j = i; j < p->x.opps.nr; j++) {
			const struct gchint_opp *o = &p->x.opps.opp[i], *q = &p->x.opps.opp[j];
			double t = gchint_opp_stretch(o, mem) / 1024.0;
			double u = gchint_opp_stretch(q, mem) / 1024.0;
			double e = t * (o->power + awake), f = u * (q->power + awake);
			double part = t > u ? fmax(0, (stretch - u) / (t - u)) : 0;

			if (u <= stretch && part <= 1)
				least = fmin(least, part * e + (1 - part) * f);
			if (t <= stretch)
				least = fmin(least, e);
		}
	}
	return least;
}

static void test_energy_is_near_that_of_the_best_fixed_settings(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 i = 0; i < ARRAY_SIZE(budgets); i++) {
			struct program p, from;
			double best, energy;

			program_init(&p, &boards[b], budgets[i]);
			program_run(&p, 3 * S);
			from = p;
			program_run(&p, 6 * S);
			best = hull_energy(&p, 1 + program_loss(&p, &from) / 100);
			energy = (p.energy - from.energy) / (double)(p.free_ns - from.free_ns);
			if (energy > best * 1.04)
				fail_msg("%s, budget %u: %.3f of the best", boards[b].name,
					 budgets[i], energy / best);
		}
	}
}

static void test_no_budget_slows_no_program(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		struct program p, from;

		program_init(&p, &boards[b], 0);
		p.pause_ms = 8;
		from = p;
		program_run(&p, S);
		assert_near(program_loss(&p, &from), 0, 1e-9);
	}
}

/* A collection that is in time is slowed at any budget, and costs none. */
static void test_free_slowing_is_always_taken(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		struct gchint_usage u = { .ran_ns = 20 * MS };
		struct fixture x;

		init(&x, boards[b].fill);
		x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
		x.hint.may_raise = true;
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .5, 20 * MS);
		x.hint.work_left = 1000000;
		x.hint.stall_ns = NOW + S;
		assert_cmp(plan(&x), <, x.rules.max_khz);
		gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, x.plan.khz, GCHINT_ONE, true);
		assert_cmp(u.weight, ==, 0);
		/* One that is late delays those that wait for it, as far as it is slower than it could. */
		x.hint.stall_ns = NOW + 20 * MS;
		x.rules.delay_cost = 0;
		x.plan.made = false;
		plan(&x);
		gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, x.plan.khz, GCHINT_ONE, true);
		if (x.plan.khz < x.rules.max_khz) {
			assert_cmp(u.weight, ==, GCHINT_WEIGHT_THREAD);
			assert_cmp(u.stretch, >, u.free_stretch);
		}
	}
}

/* Where mutators wait at times, what the collector loses is theirs: paid for, and booked. */
static void test_slowing_a_pacing_collector_is_booked(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		struct gchint_usage u = { .ran_ns = 20 * MS };
		u32 is_free, khz = 0;
		struct fixture x;

		init(&x, boards[b].fill);
		x.hint.may_raise = true;
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .5, 20 * MS);
		x.hint.work_left = 1000000;
		x.hint.stall_ns = NOW + S;
		is_free = plan(&x);
		x.hint.awaited = true;
		for (u32 cost = 0; cost <= GCHINT_DELAY_COST_MAX; cost += 5) {
			x.rules.delay_cost = cost;
			x.plan.made = false;
			assert_cmp(plan(&x), >=, max_t(u32, is_free, khz));
			khz = x.plan.khz;
			gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, khz, GCHINT_ONE, true);
			assert_cmp(u.weight, ==, GCHINT_WEIGHT_THREAD);
			if (khz < x.rules.max_khz)
				assert_cmp(u.stretch, >, u.free_stretch);
			/* No frequency changes when a mutator begins or ceases to wait. */
			x.hint.class = GCHINT_CLASS_URGENT;
			assert_cmp(max_t(u32, plan(&x), is_free), ==, khz);
			x.hint.class = GCHINT_CLASS_CONCURRENT;
		}
		assert_cmp(khz, ==, x.rules.max_khz);
		/* No thread waits for what it does in the background. */
		x.hint.class = GCHINT_CLASS_BACKGROUND;
		x.hint.phase = GCHINT_PHASE_SWEEP;
		x.hint.stall_ns = 0;
		x.plan.made = false;
		assert_cmp(plan(&x), <, x.rules.max_khz);
		assert_cmp(x.plan.weight, ==, 0);
	}
}

/* At the lowest frequency nothing can be slowed: pauses may not spend what it allowed. */
static void test_what_cannot_be_slowed_allows_nothing(void **state)
{
	struct gchint_usage u = { .ran_ns = 20 * MS };
	struct gchint_budget budget;
	struct fixture x;

	(void)state;
	init(&x, exynos_a15);
	budget_init(&budget, 10);
	x.hint = (struct gchint_hint){ .class = GCHINT_CLASS_NEUTRAL, .may_raise = true };
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, x.rules.min_khz, GCHINT_ONE, false);
	gchint_budget_book(&budget, &u, NOW);
	assert_cmp(budget.allowed_ns, ==, 0);
	/* Load that is satisfied by it, whatever a hint keeps in force. */
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE / 100, true);
	gchint_budget_book(&budget, &u, NOW);
	assert_cmp(budget.allowed_ns, ==, 0);
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE, true);
	gchint_budget_book(&budget, &u, NOW);
	assert_cmp(budget.allowed_ns, >, 0);
}

/* What load alone would choose is no loss, nor what no hint decided. */
static void test_load_is_no_loss(void **state)
{
	struct gchint_usage u;
	struct fixture x;

	(void)state;
	init(&x, exynos_a15);
	x.hint = (struct gchint_hint){ .class = GCHINT_CLASS_NEUTRAL,
				       .may_raise = true,
				       .rests = true };
	/* Half of the load with a quarter of headroom: 1250 of 2000 MHz. */
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1250000, GCHINT_ONE / 2, true);
	assert_cmp(u.stretch, ==, u.free_stretch);
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE / 2, true);
	assert_near((double)u.stretch / u.free_stretch, 1.25, .01);
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE, true);
	assert_near((double)u.stretch / u.free_stretch, 2, .01);
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE, false);
	assert_cmp(u.stretch, ==, u.free_stretch);
	/* What is known to wait for memory is not lost; what is not known, is. */
	x.hint.mutator = 6;
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE, true);
	assert_near((double)u.stretch / u.free_stretch, 1.5, .01);
	/* A pause that may not raise has what load asks for. */
	x.hint.class = GCHINT_CLASS_STW;
	plan(&x);
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE / 2, true);
	assert_near((double)u.stretch / u.free_stretch, 2, .01);
	x.hint.may_raise = false;
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000, GCHINT_ONE / 2, true);
	assert_near((double)u.stretch / u.free_stretch, 1.25, .01);
}

/* A thread that never rests is as busy as its cap makes it; without, it would go faster. */
static void test_load_under_a_cap_is_no_demand(void **state)
{
	static const struct {
		u32 busy_pct;
		double free_khz;
	} rows[] = {
		/* Within the headroom load asks for less than the cap. */
		{ 80, 1000000 },
		/* It waits 15 for 85 of work: four fifths of its time is work at 1417 MHz. */
		{ 85, 1417000 },
		{ 88, 1833000 },
		{ 95, 2000000 },
		{ 100, 2000000 },
	};
	struct gchint_usage u;
	struct fixture x;
	u32 i;

	(void)state;
	init(&x, exynos_a15);
	x.hint = (struct gchint_hint){ .class = GCHINT_CLASS_NEUTRAL, .may_raise = true };
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 1000000,
				    GCHINT_ONE * rows[i].busy_pct / 200, true);
		assert_near((double)u.stretch / u.free_stretch, rows[i].free_khz / 1000000, .02);
	}
	/* Without a cap there is nothing to add. */
	gchint_decide_usage(&u, &x.rules, &x.hint, &x.plan, 2000000, GCHINT_ONE, true);
	assert_cmp(u.stretch, ==, u.free_stretch);
}

/* A switch stops the CPU for its latency, but one that sleeps does not. */
static void test_switches_are_booked(void **state)
{
	struct gchint_budget b;
	struct gchint_usage u;
	struct fixture x;

	(void)state;
	init(&x, exynos_a15);
	budget_init(&b, 3);
	x.rules.latency_ns = 140000;
	gchint_decide_switch_usage(&u, &x.rules);
	gchint_budget_book(&b, &u, NOW);
	assert_cmp(b.lost_ns, ==, 140 * US);
	assert_cmp(b.allowed_ns, ==, 0);
	x.rules.latency_ns = U32_MAX;
	gchint_decide_switch_usage(&u, &x.rules);
	gchint_budget_book(&b, &u, NOW);
	assert_cmp(b.lost_ns, ==, 340 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_books_what_was_lost_and_allowed),
		cmocka_unit_test(test_faster_than_without_hints_gains_nothing),
		cmocka_unit_test(test_without_a_budget_delay_costs_most),
		cmocka_unit_test(test_debt_is_paid_back),
		cmocka_unit_test(test_savings_are_bounded_and_expire),
		cmocka_unit_test(test_time_that_goes_back_expires_no_savings),
		cmocka_unit_test(test_bound_holds_for_any_sequence),
		cmocka_unit_test(test_budget_is_just_spent),
		cmocka_unit_test(test_budget_is_kept_with_pauses),
		cmocka_unit_test(test_energy_is_near_that_of_the_best_fixed_settings),
		cmocka_unit_test(test_no_budget_slows_no_program),
		cmocka_unit_test(test_free_slowing_is_always_taken),
		cmocka_unit_test(test_slowing_a_pacing_collector_is_booked),
		cmocka_unit_test(test_what_cannot_be_slowed_allows_nothing),
		cmocka_unit_test(test_load_is_no_loss),
		cmocka_unit_test(test_load_under_a_cap_is_no_demand),
		cmocka_unit_test(test_switches_are_booked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
