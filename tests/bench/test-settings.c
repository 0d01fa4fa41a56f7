// SPDX-License-Identifier: MIT
#include "unit.h"

#include "lib/random.h"
#include "lib/settings.h"
#include "lib/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct setting known[] = {
	{ "dist", ".5 .25, .25", "shares" },
	{ "ratio", "0.5", "a ratio" },
	{ "total", "100M", "bytes" },
	{ NULL, NULL, NULL },
};

static void random_matches_the_specification(void **state)
{
	/* What OpenJDK 17's java.util.Random gives for seeds 42 and -7. */
	static const int32_t bits[] = { -1170105035, 234785527, -1360544799, 205897768 };
	static const int32_t below[] = { 30, 63, 48, 84, 70 };
	static const int32_t power[] = { 46, 3, 43, 3, 19 };
	static const int32_t wide[] = { 577934662, 1445645590, 1119890478, 314447087, 677675436 };
	struct random r;

	(void)state;
	random_seed(&r, 42);
	for (int i = 0; i < 4; i++)
		assert_int_equal(random_bits(&r, 32), bits[i]);
	random_seed(&r, 42);
	for (int i = 0; i < 5; i++)
		assert_int_equal(random_below(&r, 100), below[i]);
	random_seed(&r, 42);
	assert_near(random_unit(&r), 0.7275636800328681, 1e-15);
	random_seed(&r, -7);
	for (int i = 0; i < 5; i++)
		assert_int_equal(random_below(&r, 1610612736), wide[i]);
	random_seed(&r, 42);
	for (int i = 0; i < 5; i++)
		assert_int_equal(random_below(&r, 64), power[i]);
}

static void later_sources_override_earlier_ones(void **state)
{
	char path[] = "/tmp/bench-profile-XXXXXX";
	struct settings_error err;
	struct settings s;
	uint64_t size;
	double list[4], ratio;
	int fd = mkstemp(path);
	const char text[] = "# a comment\n\n total = 3K # more\ndist = 1, 2\t3\n";

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	settings_init(&s, known);
	assert_int_equal(settings_size(&s, "total", 0, UINT64_MAX, &size, &err), 0);
	assert_int_equal(size, 100 << 20);
	assert_int_equal(settings_list(&s, "dist", 0, 1, list, 4, &err), 3);
	assert_near(list[2], 0.25, 0);
	assert_int_equal(settings_load(&s, path, &err), 0);
	assert_int_equal(settings_size(&s, "total", 0, UINT64_MAX, &size, &err), 0);
	assert_int_equal(size, 3 << 10);
	assert_int_equal(settings_list(&s, "dist", 0, 9, list, 4, &err), 3);
	assert_int_equal(settings_set(&s, "total", "2g", &err), 0);
	assert_int_equal(settings_size(&s, "total", 0, UINT64_MAX, &size, &err), 0);
	assert_true(size == UINT64_C(2) << 30);
	assert_int_equal(settings_real(&s, "ratio", 0, 1, &ratio, &err), 0);
	assert_near(ratio, 0.5, 0);
	settings_free(&s);
	unlink(path);
}

static void errors_name_key_and_problem(void **state)
{
	char path[] = "/tmp/bench-profile-XXXXXX";
	struct settings_error err;
	struct settings s;
	uint64_t size;
	double list[2];
	int fd = mkstemp(path);

	(void)state;
	settings_init(&s, known);
	assert_int_equal(settings_set(&s, "totl", "1", &err), -ENOENT);
	assert_non_null(strstr(err.text, "totl"));
	assert_int_equal(settings_list(&s, "dist", 0, 1, list, 2, &err), -EINVAL);
	assert_int_equal(settings_list(&s, "dist", 0, 0.3, list, 2, &err), -EINVAL);
	for (size_t i = 0; i < 6; i++) {
		static const char *const bad[] = { "", "x", "-1", "1T", "1K1", "99999999999G" };

		settings_set(&s, "total", bad[i], &err);
		assert_int_equal(settings_size(&s, "total", 0, UINT64_MAX, &size, &err), -EINVAL);
		assert_non_null(strstr(err.text, "total"));
	}
	settings_set(&s, "total", "10", &err);
	assert_int_equal(settings_size(&s, "total", 11, 20, &size, &err), -EINVAL);
	settings_set(&s, "ratio", "1 2", &err);
	assert_int_equal(settings_real(&s, "ratio", 0, 9, list, &err), -EINVAL);
	assert_int_equal(write(fd, "total 3\n", 8), 8);
	close(fd);
	assert_int_equal(settings_load(&s, path, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":1:"));
	assert_int_equal(settings_load(&s, "/no/such/file", &err), -ENOENT);
	settings_free(&s);
	unlink(path);
}

static char *text_printed(const struct table *t, enum table_form form)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	table_print(t, form, f);
	fclose(f);
	return text;
}

static void table_forms(void **state)
{
	static const char *const heading[] = { "name", "ms" };
	struct table *t = table_new(heading, 2);
	char *text;

	(void)state;
	assert_non_null(t);
	table_row(t);
	table_cell(t, "a,\"b\"");
	table_number(t, 1.5, 2);
	assert_int_equal(table_cell(t, "too many"), -E2BIG);
	table_row(t);
	table_cell(t, "|");
	table_number(t, NAN, 2);
	text = text_printed(t, TABLE_TEXT);
	assert_string_equal(text, "name     ms\na,\"b\"  1.50\n|         -\n");
	free(text);
	text = text_printed(t, TABLE_CSV);
	assert_string_equal(text, "name,ms\n\"a,\"\"b\"\"\",1.50\n|,\n");
	free(text);
	text = text_printed(t, TABLE_JSON);
	assert_string_equal(text, "[\n  {\"name\": \"a,\\\"b\\\"\", \"ms\": 1.50},\n"
				  "  {\"name\": \"|\", \"ms\": null}\n]\n");
	free(text);
	text = text_printed(t, TABLE_MARKDOWN);
	assert_string_equal(text, "| name | ms |\n|---|---|\n| a,\"b\" | 1.50 |\n| \\| | - |\n");
	free(text);
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_matches_the_specification),
		cmocka_unit_test(later_sources_override_earlier_ones),
		cmocka_unit_test(errors_name_key_and_problem),
		cmocka_unit_test(table_forms),
	};

	return run_tap(tests);
}
