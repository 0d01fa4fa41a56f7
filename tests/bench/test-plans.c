// SPDX-License-Identifier: MIT
#include "unit.h"

#include "peers/peer.h"
#include "workloads/app-plan.h"
#include "workloads/gcw-plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int plan_gcw(struct gcw_plan *plan, int threads, const char *key, const char *value,
		    struct settings_error *err)
{
	struct settings s;
	int code;

	settings_init(&s, gcw_settings);
	if (key)
		assert_int_equal(settings_set(&s, key, value, err), 0);
	code = gcw_plan(plan, &s, threads, err);
	settings_free(&s);
	return code;
}

/* What follows from GCW's published profile. */
static void gcw_derived(void **state)
{
	static const struct {
		int threads;
		uint64_t periods;
		double lasting_mb;
	} row[] = { { 1, 99, 6.71 }, { 2, 50, 3.35 }, { 4, 25, 1.68 }, { 8, 12, 0.84 } };
	const double lives[] = { .068, .729, .152, .051 };
	struct settings_error err;
	struct gcw_plan plan;
	double small = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		double lasting = 0;

		assert_int_equal(plan_gcw(&plan, row[i].threads, NULL, NULL, &err), 0);
		assert_int_equal(plan.periods, row[i].periods);
		for (int c = 0; c < GCW_SIZES; c++)
			lasting += (double)(plan.lasting[c] * plan.size[c]);
		assert_near(lasting / 1048576, row[i].lasting_mb, 0.01);
		assert_true(plan.lasting[GCW_LARGE] >= 1);
	}
	assert_int_equal(plan.entries, 38192);
	assert_int_equal(plan.stages, 4);
	assert_near(plan.mean, 30.5, 0.05);
	for (int c = 0; c < 3; c++)
		small += plan.count_share[c];
	assert_near(small, 0.946, 0.001);
	for (unsigned int s = 0; s < 4; s++) {
		double bytes = 0;

		for (int c = 0; c < GCW_CLASSES; c++)
			bytes += plan.share[c] * plan.life[c][s];
		assert_near(bytes, lives[s], 0.001);
	}
	assert_int_equal(gcw_age(&plan, 0), 3);
	assert_int_equal(gcw_age(&plan, 1), 0);
	assert_int_equal(gcw_age(&plan, 3), 2);
}

static void gcw_profile_is_the_default(void **state)
{
	struct settings_error err;
	struct settings s;

	(void)state;
	settings_init(&s, gcw_settings);
	assert_int_equal(settings_load(&s, PROFILE_DIR "/gcw.profile", &err), 0);
	for (int i = 0; gcw_settings[i].key; i++) {
		if (!strcmp(gcw_settings[i].key, "check") || !strcmp(gcw_settings[i].key, "unlink"))
			continue;
		assert_non_null(s.value[i]);
		assert_string_equal(s.value[i], gcw_settings[i].value);
	}
	settings_free(&s);
}

static void gcw_refusals(void **state)
{
	static const struct {
		const char *key, *value;
	} bad[] = {
		{ "bucket", "200M" },
		{ "large-size", "1" },
		{ "large-types", ".5 .5" },
		{ "large-types", ".5 .5 .5 .5" },
		{ "lifetime-1", "1" },
		{ "lifetime-2", ".5 .5" },
		{ "lifetime-3", ".2 .2 .2 .2" },
		{ "size-dist", ".5 .5" },
		{ "size-dist", "0 0 0 0 0 0 1" },
		{ "sizes", "16 24 40 96 192" },
		{ "sizes", "16 24 40 96 192 337" },
		{ "total", "none" },
	};
	struct gcw_plan plan;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct settings_error err = { "" };
		const char *names = strcmp(bad[i].key, "bucket") ? bad[i].key : "bucket";

		/* Rows must agree: the one after the row that was changed may be named. */
		if (!strcmp(bad[i].key, "lifetime-1") || !strcmp(bad[i].key, "lifetime-2"))
			names = "lifetime-";
		assert_int_equal(plan_gcw(&plan, 1, bad[i].key, bad[i].value, &err), -EINVAL);
		assert_non_null(strstr(err.text, names));
	}
}

static void gcw_draws(void **state)
{
	struct settings_error err;
	struct gcw_plan plan;
	uint8_t *size, *stage, *again, *other;
	double count[GCW_SIZES] = { 0 };
	int differ = 0;

	(void)state;
	assert_int_equal(plan_gcw(&plan, 2, NULL, NULL, &err), 0);
	size = malloc(plan.entries);
	stage = malloc(plan.entries);
	again = malloc(plan.entries);
	other = malloc(plan.entries);
	gcw_draw(&plan, 0, size, stage);
	gcw_draw(&plan, 0, again, other);
	assert_memory_equal(size, again, plan.entries);
	assert_memory_equal(stage, other, plan.entries);
	gcw_draw(&plan, 1, again, other);
	for (uint32_t i = 0; i < plan.entries; i++) {
		assert_true(size[i] < GCW_SIZES && stage[i] < plan.stages);
		count[size[i]]++;
		differ += size[i] != again[i];
	}
	assert_true(differ > 1000);
	for (int c = 0; c < GCW_SIZES; c++)
		assert_near(count[c] / plan.entries, plan.count_share[c], 0.01);
	free(size);
	free(stage);
	free(again);
	free(other);
}

static void app_sizes_have_the_mean(void **state)
{
	static const double mean[] = { 17, 24, 34, 61.8, 328, 524, 1000 };
	double limit[APP_SIZES];

	(void)state;
	for (int i = 0; i < 7; i++) {
		double sum = 0;

		assert_int_equal(app_sizes(mean[i], limit), 0);
		for (int c = 0; c < APP_SIZES; c++)
			sum += (limit[c] - (c ? limit[c - 1] : 0)) * APP_SIZE(c);
		assert_near(sum, mean[i], 0.01);
		assert_near(limit[APP_SIZES - 1], 1, 1e-9);
	}
	assert_int_equal(app_sizes(16, limit), -EDOM);
	assert_int_equal(app_sizes(2000, limit), -EDOM);
	assert_int_equal(app_pick(limit, 0), 0);
}

/* Each profile's plan gives back the figures that it was made from. */
static void app_profiles(void **state)
{
	static const struct {
		const char *name;
		double alloc, live, die[3];
	} row[] = {
		{ "jack", 180.22, 0.87, { 11.7, 23.8, 48.2 } },
		{ "javac", 217.47, 10.19, { 7.6, 15.8, 32.7 } },
		{ "lusearch", 686.75, 1.22, { 10.3, 22.5, 47.2 } },
		{ "pandora", 48.91, 18.76, { 13.0, 24.9, 46.0 } },
		{ "quadrant", 28.71, 8.23, { 9.5, 20.5, 40.7 } },
		{ "xalan", 395.06, 2.26, { 9.46, 19.3, 39.0 } },
	};

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct settings_error err = { "" };
		struct app_plan plan;
		struct settings s;
		char path[256];
		double live = 0, young;

		settings_init(&s, app_settings);
		snprintf(path, sizeof(path), "%s/%s.profile", PROFILE_DIR, row[i].name);
		assert_int_equal(settings_load(&s, path, &err), 0);
		assert_int_equal(app_plan(&plan, &s, &err), 0);
		settings_free(&s);
		young = (double)plan.young_bytes * plan.active / 1048576;
		live = (double)plan.lasting_bytes * plan.active / 1048576;
		assert_near(young + live, row[i].alloc, 0.01);
		/* Of all bytes: those that never die count as well. */
		for (int k = 0; k < 3; k++)
			assert_near(100 * plan.at[k + 1] * young / row[i].alloc, row[i].die[k],
				    0.01);
		for (int k = 1; k < 5; k++)
			live += (plan.knot[k] - plan.knot[k - 1]) * plan.active / 1048576 *
				(1 - (plan.at[k] + plan.at[k - 1]) / 2);
		assert_near(live, row[i].live, 0.01);
		assert_true(app_life(&plan, 0.999999) <= (plan.wheel - 1) * plan.quantum);
		assert_near((double)app_life(&plan, plan.at[2]), plan.knot[2], 2);
	}
}

static void app_refusals(void **state)
{
	static const char *const bad[][2] = {
		{ "live", "300" },     { "live", "0.1" },      { "lifetime", "5 4 3" },
		{ "lifetime", "5 4" }, { "objects", "0.001" }, { "live-objects", "9" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct settings_error err = { "" };
		struct app_plan plan;
		struct settings s;

		settings_init(&s, app_settings);
		settings_set(&s, bad[i][0], bad[i][1], &err);
		assert_int_equal(app_plan(&plan, &s, &err), -EINVAL);
		assert_non_null(strstr(err.text, bad[i][0]));
		settings_free(&s);
	}
}

static void peer_reads_csv(void **state)
{
	const char text[] = "name,\"odd, one\",ms,none\n\"a,\"\"b\",1,2.5,\n";

	(void)state;
	assert_near(peer_csv(text, "ms"), 2.5, 0);
	assert_true(isnan(peer_csv(text, "none")));
	assert_true(isnan(peer_csv(text, "absent")));
	assert_true(isnan(peer_csv(text, "name")));
	assert_true(isnan(peer_csv("ms", "ms")));
	assert_true(isnan(peer_csv("ms\n", "ms")));
}

static void peer_reads_safepoints(void **state)
{
	char path[] = "/tmp/bench-safepoints-XXXXXX";
	const char text[] =
		"[0.05s][info][safepoint] Safepoint \"G1CollectForAllocation\", Time since last: 1 "
		"ns, "
		"Reaching safepoint: 20 ns, At safepoint: 30 ns, Total: 2500000 ns\n"
		"noise Total: 99000000 ns\n"
		"[0.06s][info][safepoint] Safepoint \"ICBufferFull\", Total: 500000 ns\n";
	double total, longest;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	peer_safepoints(path, &total, &longest);
	assert_near(total, 3, 1e-9);
	assert_near(longest, 2.5, 1e-9);
	unlink(path);
	peer_safepoints(path, &total, &longest);
	assert_true(isnan(total));
}

static void peer_runs_and_fails(void **state)
{
	const struct peer good = {
		.name = "good", .argv = { "printf", "score_ms,asked_objects\\n12.5,7\\n", NULL }
	};
	const struct peer bad = { .name = "bad",
				  .argv = { "sh", "-c", "echo why >&2; exit 3", NULL } };
	const struct peer slow = { .name = "slow", .argv = { "sleep", "20", NULL } };
	const struct peer mute = { .name = "mute", .argv = { "true", NULL } };
	struct peer_run run;

	(void)state;
	assert_int_equal(peer_run(&good, 5, &run), 0);
	assert_near(run.score_ms, 12.5, 0);
	assert_near(run.objects, 7, 0);
	assert_true(isnan(run.pause_max_ms));
	assert_int_equal(peer_run(&bad, 5, &run), -ECHILD);
	assert_string_equal(run.error, "why");
	assert_int_equal(peer_run(&slow, 1, &run), -ECHILD);
	assert_non_null(strstr(run.error, "1 s"));
	assert_int_equal(peer_run(&mute, 5, &run), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gcw_derived),
		cmocka_unit_test(gcw_profile_is_the_default),
		cmocka_unit_test(gcw_refusals),
		cmocka_unit_test(gcw_draws),
		cmocka_unit_test(app_sizes_have_the_mean),
		cmocka_unit_test(app_profiles),
		cmocka_unit_test(app_refusals),
		cmocka_unit_test(peer_reads_csv),
		cmocka_unit_test(peer_reads_safepoints),
		cmocka_unit_test(peer_runs_and_fails),
	};

	return run_tap(tests);
}
