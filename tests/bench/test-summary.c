// SPDX-License-Identifier: MIT
#include "unit.h"

#include "lib/lbo.h"
#include "lib/quiet.h"
#include "lib/summary.h"

static void student_table(void **state)
{
	/* Two-sided 95 % and 99 % points of the printed tables. */
	static const struct {
		double confidence, df, want;
	} row[] = {
		{ 0.95, 1, 12.706 }, { 0.95, 2, 4.303 },   { 0.95, 4, 2.776 }, { 0.95, 9, 2.262 },
		{ 0.95, 30, 2.042 }, { 0.95, 120, 1.980 }, { 0.99, 4, 4.604 }, { 0.95, 1e6, 1.960 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		assert_near(student_t(row[i].confidence, row[i].df), row[i].want, 6e-4);
	assert_true(isnan(student_t(1.5, 3)));
}

static void summary_of_five_runs(void **state)
{
	const double run[] = { 5, 1, 3, 2, 4 };
	struct summary s = summary_of(run, 5);

	(void)state;
	assert_near(s.min, 1, 0);
	assert_near(s.median, 3, 0);
	assert_near(s.max, 5, 0);
	assert_near(s.mean, 3, 0);
	assert_near(s.deviation, sqrt(2.5), 1e-12);
	assert_near(s.half, 2.7764 * sqrt(2.5 / 5), 1e-3);
	s = summary_of(run, 4);
	assert_near(s.median, 2.5, 0);
}

static void few_runs_have_no_interval(void **state)
{
	const double one = 7;
	struct summary s = summary_of(&one, 1);

	(void)state;
	assert_near(s.median, 7, 0);
	assert_true(isnan(s.half));
	s = summary_of(NULL, 0);
	assert_true(isnan(s.median));
}

static void ratios_skip_missing_rounds(void **state)
{
	const double a[] = { 2, NAN, 6, 8 }, b[] = { 1, 1, 0, 2 };
	struct summary s = summary_of_ratios(a, b, 4);

	(void)state;
	assert_int_equal(s.n, 2);
	assert_near(s.min, 2, 0);
	assert_near(s.max, 4, 0);
	assert_near(summary_geomean((const double[]){ 1, 4, 16 }, 3), 4, 1e-12);
}

static void line_fit_is_exact(void **state)
{
	const double x[] = { 1, 2, 3, 4 }, y[] = { 3, 5, 7, 9 }, z[] = { 1, -1, 1, -1 };
	struct line_fit f = line_fit(x, y, 4);

	(void)state;
	assert_near(f.slope, 2, 1e-12);
	assert_near(f.intercept, 1, 1e-12);
	assert_near(f.r2, 1, 1e-12);
	assert_true(line_fit(x, z, 4).r2 < 0.3);
	assert_true(isnan(line_fit(x, y, 1).slope));
}

static void lbo_computed(void **state)
{
	/* "none" spends nothing on collecting and yet is not the minimum: it faults pages. */
	struct lbo_row row[] = {
		{ .collector = "none", .total = { 2000, 1900 }, .gc = { 0, 0 } },
		{ .collector = "serial", .total = { 1200, 1300 }, .gc = { 200, 250 } },
		{ .collector = "concurrent", .total = { 1500, NAN }, .gc = { 10, 0 } },
	};
	double least[LBO_METRICS];

	(void)state;
	lbo_table(row, 3, least);
	assert_near(least[LBO_WALL], 1000, 0);
	assert_near(least[LBO_CPU], 1050, 0);
	assert_near(row[0].overhead[LBO_WALL], 1, 1e-12);
	assert_near(row[1].overhead[LBO_WALL], 0.2, 1e-12);
	assert_near(row[2].overhead[LBO_WALL], 0.5, 1e-12);
	assert_true(isnan(row[2].overhead[LBO_CPU]));
	lbo_table(row, 0, least);
	assert_true(isnan(least[LBO_WALL]));
}

static void guard_measures_other_processes(void **state)
{
	struct quiet q;
	double others;

	(void)state;
	assert_int_equal(quiet_begin(&q), 0);
	/* Pretend that this process used all the machine did: nobody else ran. */
	q.own -= 1e6;
	others = quiet_end(&q);
	assert_near(others, 0, 0);
	/* Pretend that the machine was busy for an hour meanwhile. */
	quiet_begin(&q);
	q.busy -= 3600;
	others = quiet_end(&q);
	assert_true(!quiet_ok(others));
	assert_true(quiet_ok(0.05));
	assert_true(!quiet_ok(NAN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student_table),
		cmocka_unit_test(summary_of_five_runs),
		cmocka_unit_test(few_runs_have_no_interval),
		cmocka_unit_test(ratios_skip_missing_rounds),
		cmocka_unit_test(line_fit_is_exact),
		cmocka_unit_test(lbo_computed),
		cmocka_unit_test(guard_measures_other_processes),
	};

	return run_tap(tests);
}
