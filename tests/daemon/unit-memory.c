// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: gchintctl without memory. Each allocation of a reader fails once: the result is
 * complete or empty.
 */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../daemon/analysis/energy.h"
#include "../../daemon/recording/reader/recording.h"
#include "../../daemon/recording/store.h"

#define PHASES	300
#define STEPS	400
#define SAMPLES 500
#define RAILS	20

static long left = -1; /* allocations until one fails; -1: none does */
static bool failed;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

static bool allocation_fails(void)
{
	if (left < 0 || left--)
		return false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return allocation_fails() ? NULL : __real_strdup(s);
}

void unit_memory_left(long allocations)
{
	failed = false;
	left = allocations;
}

bool unit_memory_failed(void)
{
	return failed;
}

static void definition_store(struct store *s, enum definition_kind kind, const int64_t *number,
			     unsigned int numbers, const char *const *string, unsigned int strings)
{
	struct definition *d = definition_new(kind, 1, number, numbers, string, strings);

	if (!d || store_define(s, d))
		abort();
	definition_free(d);
}

static bool recording_make(const char *path)
{
	const char *start[] = { "start_ns", "1000" }, *end[] = { "end_ns", "1000000" };
	const char *rail[] = { "chip:power1", "pin", "power", "uW", "hwmon", "/x" };
	char error[300];
	struct store *s = store_open(path, false, error, sizeof(error));

	if (!s || store_begin(s))
		return false;
	definition_store(s, DEFINE_META, NULL, 0, start, 2);
	definition_store(s, DEFINE_META, NULL, 0, end, 2);
	for (int64_t i = 1; i <= RAILS; i++)
		definition_store(s, DEFINE_RAIL, (const int64_t[]){ i, 1000 }, 2, rail, 6);
	for (uint64_t i = 0; i < PHASES; i++) {
		const struct record r = { .t = 2000 + i * 100,
					  .type = RECORD_PHASE,
					  .phase = { .id = i + 1,
						     .t0 = 1950 + i * 100,
						     .phase = GCHINT_PHASE_MARK,
						     .flags = GCHINT_F_STW,
						     .how = PHASE_EDGE } };

		store_record(s, &r);
	}
	for (uint32_t i = 0; i < STEPS; i++)
		store_record(s, &(struct record){ .t = 1000 + i,
						  .type = RECORD_TRANSITION,
						  .transition = { .cpu = i % 40,
								  .khz = 100000 + i,
								  .how = HOW_TRACE } });
	for (uint64_t i = 0; i < SAMPLES; i++)
		store_record(s, &(struct record){ .t = 1000 + i * 1000,
						  .type = RECORD_SAMPLE,
						  .sample = { .value = 1000000,
							      .rail = 1 + (uint32_t)i % 2,
							      .error_ns = 1 } });
	if (store_commit(s))
		return false;
	store_close(s);
	return true;
}

/* Whether the whole result is complete; false, too, after a crash. */
static bool recording_is_whole(const char *path)
{
	struct recording *rec = recording_open(path);
	struct recording_lengths l;
	size_t steps = 0;
	struct energy e;
	bool good = true;

	if (!rec)
		return true;
	for (size_t i = 0; i < rec->cpus; i++)
		steps += rec->cpu[i].nr;
	good = rec->phases == PHASES && rec->cpus == 40 && steps == STEPS && rec->khzs == STEPS &&
	       rec->rails == RAILS;
	recording_lengths(rec, phase_group(GCHINT_PHASE_MARK, GCHINT_F_STW), &l);
	good = good && (!l.count || l.count == PHASES);
	if (energy_of(rec, 0, NULL, &e))
		good = good && e.samples == SAMPLES / 2;
	recording_close(rec);
	return good;
}

void unit_memory(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64];
	bool good = true;
	long n = 0;

	if (!mkdtemp(dir))
		return;
	snprintf(path, sizeof(path), "%s/r.db", dir);
	good = recording_make(path) && recording_is_whole(path);
	CHECK(good, "a recording is read completely");
	for (failed = true; good && failed; n++) {
		failed = false;
		left = n;
		good = recording_is_whole(path);
	}
	left = -1;
	if (!good)
		printf("# allocation %ld\n", n);
	CHECK(good && n > 40, "a failed allocation never leaves a partial result");
	unlink(path);
	rmdir(dir);
}
