// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: a value and its error, from readings. */
#include "unit.h"

#include <math.h>

#include "../../daemon/gchintctl/calibrate/estimate.h"

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-6 * (1 + fabs(b));
}

static void means_check(void)
{
	static const double same[] = { 7, 7, 7 }, spread[] = { 9, 10, 11 };
	struct figure f = estimate_mean(same, 3, 0);

	CHECK(is_near(f.value, 7) && is_near(f.error, 0), "equal readings have no error");
	f = estimate_mean(same, 3, 2);
	CHECK(is_near(f.value, 7) && is_near(f.error, 2),
	      "equal readings keep the instrument's error");
	/* 4.303 * 1 / sqrt(3) */
	f = estimate_mean(spread, 3, 0);
	CHECK(is_near(f.value, 10) && is_near(f.error, 4.303 / sqrt(3)),
	      "the interval is Student's t");
	f = estimate_mean(spread, 3, 3);
	CHECK(is_near(f.error, hypot(4.303 / sqrt(3), 3)), "both errors add as squares");
}

static void lines_check(void)
{
	static const double x[] = { 1, 2, 4 }, y[] = { 130, 150, 190 }, off[] = { 130, 153, 190 };
	static const double one[] = { 3, 3, 3 };
	struct figure f;

	CHECK(estimate_line(x, y, 3, &f) && is_near(f.value, 110) && f.error < 1e-6,
	      "a line is extrapolated to its intercept");
	CHECK(estimate_line(x, off, 3, &f) && f.error > fabs(f.value - 110),
	      "points off the line give an error");
	/* t(1) = 12.706; squares of the residuals 81/14; 1/3 + (7/3)^2 / (14/3) = 3/2 */
	CHECK(is_near(f.value, 111.5) && is_near(f.error, 12.706 * sqrt(81 / 14.0 * 3 / 2)),
	      "the line's error is Student's t");
	CHECK(!estimate_line(x, y, 2, &f), "two points give no error");
	CHECK(!estimate_line(one, y, 3, &f), "points with equal x give no line");
}

static void rises_check(void)
{
	struct figure good[] = { { 1, .1 }, { 2, .1 }, { 3, .1 } };
	struct figure near_by[] = { { 1, .1 }, { 2.2, .3 }, { 2, .1 }, { 4, .1 } };
	struct figure deep[] = { { 1, .5 }, { 1.5, .5 }, { 1.2, .5 }, { .8, .5 } };
	struct figure falls[] = { { 1, .1 }, { 2, .1 }, { 1.7, .1 } };

	CHECK(estimate_rise(good, 3) == 3 && is_near(good[1].value, 2),
	      "rising values are unchanged");
	CHECK(estimate_rise(near_by, 4) == 4 && is_near(near_by[1].value, 2.1) &&
		      is_near(near_by[2].value, 2.1) && is_near(near_by[1].error, .3),
	      "two values within their errors are merged, with the larger error");
	CHECK(estimate_rise(falls, 3) == 2, "a value below by more than both errors is rejected");
	CHECK(estimate_rise(deep, 4) == 4, "a third value within the errors is merged");
	for (int i = 1; i < 4; i++)
		CHECK(deep[i].value >= deep[i - 1].value, "merged values do not fall");
}

void unit_estimate(void)
{
	means_check();
	lines_check();
	rises_check();
}
