// SPDX-License-Identifier: GPL-2.0-only
/* Measured powers: valid tables are accepted; each error has its name and place. */
#include "unit.h"
#include "boards.h"
#include "measured.h"

/* 300, 600 and 900 MHz. */
static struct gchint_opps three(void)
{
	struct gchint_opps t;

	gchint_opps_init(&t, 900000);
	for (u32 i = 1; i <= 3; i++)
		gchint_opps_add(&t, i * 300000, 0, 0);
	gchint_opps_finish(&t);
	return t;
}

/* Any frequency of 300 to 900 MHz. */
static struct gchint_opps any(void)
{
	struct gchint_opps t;

	gchint_opps_init(&t, 900000);
	gchint_opps_fill_range(&t, 300000);
	gchint_opps_finish(&t);
	return t;
}

static struct gchint_measured right(void)
{
	return (struct gchint_measured){
		.nr = 3,
		.idle_known = true,
		.idle = 12000,
		.opp = { { 300000, 60000 }, { 600000, 150000 }, { 900000, 300000 } },
	};
}

static void fault_is(const struct gchint_measured *g, const struct gchint_opps *of,
		     enum gchint_measured_error fault, u32 place)
{
	u32 at = 99;

	assert_int_equal(gchint_measured_check(g, of, &at), fault);
	if (fault)
		assert_int_equal(at, place);
}

static void test_each_opp_has_its_power(void **state)
{
	const struct gchint_opps t = three();
	struct gchint_measured g = right();

	(void)state;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
	assert_int_equal(gchint_measured_opp_power(&g, 300000), 60000);
	assert_int_equal(gchint_measured_opp_power(&g, 900000), 300000);
	assert_int_equal(gchint_measured_opp_power(&g, 700000), 0);
	/* The same power for a higher frequency is accepted. */
	g.opp[1].power = g.opp[0].power;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
	g.idle = 0;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
}

static void test_unknown_opp_is_rejected(void **state)
{
	const struct gchint_opps t = three();
	struct gchint_measured g = right();

	(void)state;
	g.opp[1].khz = 600001;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 1);
	g = right();
	g.opp[0].khz = 0;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 0);
	g = right();
	g.opp[2].khz = 900001;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 2);
	g = right();
	g.nr = 4;
	g.opp[3].khz = 1200000;
	g.opp[3].power = 400000;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 3);
}

static void test_missing_opp_is_rejected(void **state)
{
	const struct gchint_opps t = three();
	struct gchint_measured g = right();

	(void)state;
	g.nr = 2;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_TOO_FEW, 1);
	g.opp[1] = g.opp[2];
	fault_is(&g, &t, GCHINT_MEASURED_ERR_MISSING_OPP, 1);
	g.nr = 0;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_TOO_FEW, 0);
}

static void test_unordered_opps_are_rejected(void **state)
{
	const struct gchint_opps t = three();
	struct gchint_measured g = right();

	(void)state;
	g.opp[1] = g.opp[0];
	fault_is(&g, &t, GCHINT_MEASURED_ERR_ORDER, 1);
	g = right();
	g.opp[2] = g.opp[0];
	fault_is(&g, &t, GCHINT_MEASURED_ERR_ORDER, 2);
}

static void test_impossible_powers_are_rejected(void **state)
{
	const struct gchint_opps t = three();
	struct gchint_measured g = right();

	(void)state;
	g.opp[0].power = 0;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_POWER, 0);
	g = right();
	g.opp[2].power = GCHINT_MEASURED_POWER_MAX;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
	g.opp[2].power++;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_POWER, 2);
	g.opp[2].power = U32_MAX;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_POWER, 2);
	g = right();
	g.opp[2].power = g.opp[1].power - 1;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_NOT_MONOTONIC, 2);
	g = right();
	g.idle = GCHINT_MEASURED_POWER_MAX;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
	g.idle++;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_IDLE, 0);
	g.idle_known = false;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
}

static void test_without_a_table_both_ends_are_required(void **state)
{
	const struct gchint_opps t = any();
	struct gchint_measured g = right();

	(void)state;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
	g.opp[1].khz = 601234;
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
	g.nr = 2;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_TOO_FEW, 1);
	g.nr = 1;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_TOO_FEW, 0);
	g = right();
	g.opp[0].khz = 300001;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_MISSING_OPP, 0);
	g.opp[0].khz = 299999;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 0);
	g = right();
	g.opp[2].khz = 900001;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 2);
	g.opp[2].khz = 899999;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_TOO_FEW, 2);
}

static void test_policy_without_opps_rejects_powers(void **state)
{
	struct gchint_opps t;
	struct gchint_measured g = right();

	(void)state;
	gchint_opps_init(&t, 900000);
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 0);
	g.nr = 0;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_TOO_FEW, 0);
	gchint_opps_fill_range(&t, 0);
	fault_is(&g, &t, GCHINT_MEASURED_ERR_TOO_FEW, 0);
	g.nr = 3;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_UNKNOWN_OPP, 0);
}

static void test_full_table_is_accepted(void **state)
{
	struct gchint_measured g = { .nr = GCHINT_OPPS_MAX };
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, GCHINT_OPPS_MAX * 1000);
	for (u32 i = 0; i < GCHINT_OPPS_MAX; i++) {
		gchint_opps_add(&t, (i + 1) * 1000, 0, 0);
		g.opp[i].khz = (i + 1) * 1000;
		g.opp[i].power = i + 1;
	}
	gchint_opps_finish(&t);
	fault_is(&g, &t, GCHINT_MEASURED_OK, 0);
	g.opp[GCHINT_OPPS_MAX - 1].power = 1;
	fault_is(&g, &t, GCHINT_MEASURED_ERR_NOT_MONOTONIC, GCHINT_OPPS_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_opp_has_its_power),
		cmocka_unit_test(test_unknown_opp_is_rejected),
		cmocka_unit_test(test_missing_opp_is_rejected),
		cmocka_unit_test(test_unordered_opps_are_rejected),
		cmocka_unit_test(test_impossible_powers_are_rejected),
		cmocka_unit_test(test_without_a_table_both_ends_are_required),
		cmocka_unit_test(test_policy_without_opps_rejects_powers),
		cmocka_unit_test(test_full_table_is_accepted),
	};

	return run_tap(tests);
}
