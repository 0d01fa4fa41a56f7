// SPDX-License-Identifier: MIT
/* The verdict: both sides of every bound, what is lacking, what a control tells. */
#include "unit.h"

#include "repro/verdict.h"

#define MORE INFINITY

/* Falls: contradicted from 0 up, reproduced between -40 and -5. */
static const struct term falls = { "heap", "%", BASIS_COUNT, -20, { -100, 0 }, { -40, -5 } };
static const struct term timed = { "time", "x", BASIS_TIME, 2, { 1, MORE }, { 1.5, 3 } };
static const struct term proxy = { "work", "x", BASIS_PROXY, 2, { 1, MORE }, { 1.5, 3 } };
static const struct term energy = { "energy", "x", BASIS_ENERGY, 2, { 1, MORE }, { 1.5, 3 } };

static void test_band(void **state)
{
	(void)state;
	assert_int_equal(verdict_term(&falls, -5), VERDICT_REPRODUCES);
	assert_int_equal(verdict_term(&falls, -40), VERDICT_REPRODUCES);
	assert_int_equal(verdict_term(&falls, -4.999), VERDICT_SHAPE);
	assert_int_equal(verdict_term(&falls, -40.001), VERDICT_SHAPE);
	assert_int_equal(verdict_term(&timed, 3.001), VERDICT_SHAPE);
}

static void test_direction(void **state)
{
	(void)state;
	assert_int_equal(verdict_term(&falls, -0.001), VERDICT_SHAPE);
	assert_int_equal(verdict_term(&falls, 0), VERDICT_DOES_NOT);
	assert_int_equal(verdict_term(&falls, 20), VERDICT_DOES_NOT);
	assert_int_equal(verdict_term(&falls, -99.9), VERDICT_SHAPE);
	assert_int_equal(verdict_term(&falls, -100), VERDICT_DOES_NOT);
	assert_int_equal(verdict_term(&timed, 1), VERDICT_DOES_NOT);
	assert_int_equal(verdict_term(&timed, 1e9), VERDICT_SHAPE);
}

static void test_unknown(void **state)
{
	(void)state;
	assert_int_equal(verdict_term(&falls, NAN), VERDICT_UNKNOWN);
	assert_int_equal(verdict_term(&timed, INFINITY), VERDICT_UNKNOWN);
	assert_int_equal(verdict_term(&falls, -INFINITY), VERDICT_UNKNOWN);
}

static void test_worst_term_decides(void **state)
{
	const struct term two[] = { falls, timed };
	const double good[] = { -20, 2 }, shape[] = { -20, 4 }, unknown[] = { -1, NAN };
	const double wrong[] = { -20, 0.5 }, wrong_first[] = { 1, 2 }, both[] = { 1, NAN };

	(void)state;
	assert_int_equal(verdict_of(two, good, 2, false), VERDICT_REPRODUCES);
	assert_int_equal(verdict_of(two, shape, 2, false), VERDICT_SHAPE);
	assert_int_equal(verdict_of(two, unknown, 2, false), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(two, wrong, 2, false), VERDICT_DOES_NOT);
	assert_int_equal(verdict_of(two, wrong_first, 2, false), VERDICT_DOES_NOT);
	assert_int_equal(verdict_of(two, both, 2, false), VERDICT_DOES_NOT);
}

static void test_counts_alone(void **state)
{
	const struct term two[] = { falls, timed };
	const double wrong[] = { -20, 0.5 }, unknown[] = { -20, NAN }, count[] = { 5, 2 };

	(void)state;
	assert_int_equal(verdict_of(two, wrong, 2, true), VERDICT_REPRODUCES);
	assert_int_equal(verdict_of(two, unknown, 2, true), VERDICT_REPRODUCES);
	assert_int_equal(verdict_of(two, count, 2, true), VERDICT_DOES_NOT);
	assert_int_equal(verdict_of(&timed, wrong, 1, true), VERDICT_UNKNOWN);
	assert_int_equal(verdict_of(&proxy, wrong, 1, true), VERDICT_UNKNOWN);
}

static void test_energy_is_left_out(void **state)
{
	const struct term two[] = { energy, proxy };
	const double held[] = { NAN, 2 }, wrong[] = { NAN, 0.7 };

	(void)state;
	assert_int_equal(verdict_of(two, held, 2, false), VERDICT_REPRODUCES);
	assert_int_equal(verdict_of(two, wrong, 2, false), VERDICT_DOES_NOT);
	assert_int_equal(verdict_of(&energy, held, 1, false), VERDICT_UNKNOWN);
}

static void test_needs(void **state)
{
	const struct needs needs = { .cpus = 4, .runs = 3 }, rail = { .rail = true };
	const struct setup full = { 4, 3, true }, small = { 3, 3, true };
	const struct setup busy = { 4, 3, false }, few = { 8, 2, true };

	(void)state;
	assert_int_equal(needs_unmet(&needs, &timed, 1, &full, false), 0);
	assert_int_equal(needs_unmet(&needs, &timed, 1, &small, false), UNMET_CPUS);
	assert_int_equal(needs_unmet(&needs, &timed, 1, &busy, false), UNMET_QUIET);
	assert_int_equal(needs_unmet(&needs, &timed, 1, &few, false), UNMET_RUNS);
	assert_int_equal(needs_unmet(&rail, &proxy, 1, &busy, false), UNMET_RAIL | UNMET_QUIET);
	assert_int_equal(needs_unmet(&needs, &falls, 1, &busy, false), 0);
	assert_int_equal(needs_unmet(&needs, &falls, 1, &few, false), 0);
	assert_int_equal(needs_unmet(&needs, &timed, 1, &busy, true), 0);
}

static void test_control(void **state)
{
	(void)state;
	assert_true(control_confirms(VERDICT_REPRODUCES, VERDICT_DOES_NOT));
	assert_true(control_confirms(VERDICT_SHAPE, VERDICT_DOES_NOT));
	assert_false(control_confirms(VERDICT_REPRODUCES, VERDICT_SHAPE));
	assert_false(control_confirms(VERDICT_SHAPE, VERDICT_SHAPE));
	assert_false(control_confirms(VERDICT_REPRODUCES, VERDICT_UNKNOWN));
	assert_true(control_confirms(VERDICT_DOES_NOT, VERDICT_SHAPE));
	assert_true(control_confirms(VERDICT_DOES_NOT, VERDICT_REPRODUCES));
	assert_false(control_confirms(VERDICT_DOES_NOT, VERDICT_DOES_NOT));
	assert_false(control_confirms(VERDICT_DOES_NOT, VERDICT_UNKNOWN));
	assert_false(control_confirms(VERDICT_UNKNOWN, VERDICT_DOES_NOT));
	assert_false(control_confirms(VERDICT_UNKNOWN, VERDICT_REPRODUCES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_band),	     cmocka_unit_test(test_direction),
		cmocka_unit_test(test_unknown),	     cmocka_unit_test(test_worst_term_decides),
		cmocka_unit_test(test_counts_alone), cmocka_unit_test(test_energy_is_left_out),
		cmocka_unit_test(test_needs),	     cmocka_unit_test(test_control),
	};

	return run_tap(tests);
}
