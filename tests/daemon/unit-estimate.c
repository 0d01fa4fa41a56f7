// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: a figure and its error, out of readings. */
#include "unit.h"

#include <math.h>

#include "../../daemon/gchintctl/calibrate/estimate.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6 * (1 + fabs(b));
}

static void means(void)
{
	static const double same[] = { 7, 7, 7 }, spread[] = { 9, 10, 11 };
	struct figure f = estimate_mean(same, 3, 0);

	CHECK(near(f.value, 7) && near(f.error, 0), "readings that agree have no error");
	f = estimate_mean(same, 3, 2);
	CHECK(near(f.value, 7) && near(f.error, 2), "but that of the instrument");
	/* 4.303 * 1 / sqrt(3) */
	f = estimate_mean(spread, 3, 0);
	CHECK(near(f.value, 10) && near(f.error, 4.303 / sqrt(3)), "the interval is Student's");
	f = estimate_mean(spread, 3, 3);
	CHECK(near(f.error, hypot(4.303 / sqrt(3), 3)), "both errors add up as squares");
}

static void lines(void)
{
	static const double x[] = { 1, 2, 4 }, y[] = { 130, 150, 190 }, off[] = { 130, 153, 190 };
	static const double one[] = { 3, 3, 3 };
	struct figure f;

	CHECK(estimate_line(x, y, 3, &f) && near(f.value, 110) && f.error < 1e-6,
	      "a line is followed to where it begins");
	CHECK(estimate_line(x, off, 3, &f) && f.error > fabs(f.value - 110),
	      "with an error where the points are off it");
	/* t(1) = 12.706; squares of what is left 81/14; 1/3 + (7/3)^2 / (14/3) = 3/2 */
	CHECK(near(f.value, 111.5) && near(f.error, 12.706 * sqrt(81 / 14.0 * 3 / 2)),
	      "which is Student's, too");
	CHECK(!estimate_line(x, y, 2, &f), "two points say nothing of an error");
	CHECK(!estimate_line(one, y, 3, &f), "nor those above each other of a line");
}

static void rises(void)
{
	struct figure good[] = { { 1, .1 }, { 2, .1 }, { 3, .1 } };
	struct figure near_by[] = { { 1, .1 }, { 2.2, .3 }, { 2, .1 }, { 4, .1 } };
	struct figure deep[] = { { 1, .5 }, { 1.5, .5 }, { 1.2, .5 }, { .8, .5 } };
	struct figure falls[] = { { 1, .1 }, { 2, .1 }, { 1.7, .1 } };

	CHECK(estimate_rise(good, 3) == 3 && near(good[1].value, 2), "what rises is left");
	CHECK(estimate_rise(near_by, 4) == 4 && near(near_by[1].value, 2.1) &&
		      near(near_by[2].value, 2.1) && near(near_by[1].error, .3),
	      "two that cannot be told apart become one, with the larger error");
	CHECK(estimate_rise(falls, 3) == 2, "one that is below by more than both errors is not");
	CHECK(estimate_rise(deep, 4) == 4, "a third one falls within the errors");
	for (int i = 1; i < 4; i++)
		CHECK(deep[i].value >= deep[i - 1].value, "and nothing falls afterwards");
}

void unit_estimate(void)
{
	means();
	lines();
	rises();
}
