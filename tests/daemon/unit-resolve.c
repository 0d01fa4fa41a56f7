// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: names of the addresses of a profile, from symbol maps of programs, from a mapped
 * file and from the kernel: everything that is put into the recording.
 */
#include "unit.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/gchintctl/profile/profile.h"
#include "../../daemon/recording/rows.h"

#define MAPPED 0x7000000

/* Where this program begins in memory; in its file that is 0. */
extern const char __executable_start[];

/* A function to be found, and one after it. */
__attribute__((noinline)) void unit_resolve_here(void);
__attribute__((noinline)) void unit_resolve_here(void)
{
	__asm__ volatile("nop");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void sample_insert(sqlite3 *db, uint64_t t, int tgid, uint64_t method, uint64_t ip,
			  const char *frames)
{
	static int stack;
	char sql[400];

	stack++;
	snprintf(sql, sizeof(sql),
		 "INSERT INTO stacks VALUES(%d, '%s');"
		 "INSERT INTO hotspots(t, tgid, method, ip, stack) VALUES(%" PRIu64 ", %d, %" PRIu64
		 ", %" PRId64 ", %d)",
		 stack, frames, t, tgid, method, (int64_t)ip, stack);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		abort();
}

/* Where this program has a function in its file: mapped completely at MAPPED. */
static void map_own(sqlite3 *db, int tgid)
{
	const uint64_t t = clock_now();
	char sql[900], path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	snprintf(sql, sizeof(sql),
		 "INSERT INTO images VALUES(%" PRIu64 ", %d, %d, %d, 0, '%s'),(%" PRIu64
		 ", %d, %d, %d, 4096, "
		 "'memfd:x'),"
		 "(1, %d, 100, 199, 0, ''),(2, %d, 150, 199, 0, '/nowhere/lib.so')",
		 t, tgid, MAPPED, MAPPED + (64 << 20), path, t + 5, tgid, MAPPED + (80 << 20),
		 MAPPED + (81 << 20), tgid, tgid);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		abort();
}

/* The address of a function that every kernel has; 0 where addresses are hidden. */
static uint64_t kernel_address(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long address = 0, at;
	char line[512], name[64];

	while (f && !address && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx T %63s", &at, name) == 2 && !strcmp(name, "schedule"))
			address = at;
	if (f)
		fclose(f);
	return address;
}

static bool kernel_named(sqlite3 *db, uint64_t address)
{
	sqlite3_stmt *s;
	bool good;

	sqlite3_prepare_v2(db, "SELECT image, name FROM symbols WHERE tgid = 0 AND address = ?1",
			   -1, &s, NULL);
	sqlite3_bind_int64(s, 1, (sqlite3_int64)address);
	good = sqlite3_step(s) == SQLITE_ROW &&
	       !strcmp((const char *)sqlite3_column_text(s, 0), "[kernel]") &&
	       sqlite3_column_text(s, 1) &&
	       !strcmp((const char *)sqlite3_column_text(s, 1), "schedule");
	sqlite3_finalize(s);
	return good;
}

/* All known names, "tgid address t image name" per line. */
static char *names_read(sqlite3 *db)
{
	sqlite3_stmt *s;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	sqlite3_prepare_v2(db,
			   "SELECT tgid, address, t, image, coalesce(name, '?') FROM symbols "
			   "WHERE tgid <> 0 ORDER BY 1, 2, 3",
			   -1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW)
		fprintf(f, "%d %d %d %s %s\n", sqlite3_column_int(s, 0), sqlite3_column_int(s, 1),
			sqlite3_column_int(s, 2), sqlite3_column_text(s, 3),
			sqlite3_column_text(s, 4));
	sqlite3_finalize(s);
	fclose(f);
	return text;
}

static bool text_equals(const char *got, const char *want)
{
	if (!strcmp(got, want))
		return true;
	fprintf(stderr, "# wanted:\n%s# got:\n%s", want, got);
	return false;
}

void unit_resolve(void)
{
	/* Without times: malformed lines, and one in another's middle. */
	static const char plain[] = "1000 100 one <a>\n"
				    "zz 10 none\n1000\n1000 \n1000 zz none\n1000 10\n1000 10 \n"
				    "2000 0 empty\nffffffffffffff00 200 round\n"
				    "3000 100 under\n3080 10 over\n4000 10 [unloaded]\n"
				    "5000 10 twice\n5000 10 again";
	/* With times: before, another, and removed. */
	static const char timed[] = "0 0 @100\n1000 100 first\n0 0 @200\n1000 100 second\n"
				    "0 0 @300\n1080 10 [unloaded]\n2000 10 always\n";
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64], map[64], gone[96], want[600], *got;
	const uint64_t here = MAPPED + (uint64_t)(uintptr_t)unit_resolve_here -
			      (uint64_t)(uintptr_t)__executable_start;
	const uint64_t kernel = kernel_address();
	/* Existing files in /tmp do not count: the program would have to write a new one. */
	const struct profile_maps maps = { dir, INT32_MAX, false };
	sqlite3 *db;

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/p.db", dir);
	if (sqlite3_open(path, &db) || rows_create_tables(db))
		abort();
	snprintf(map, sizeof(map), "%s/perf-10.map", dir);
	write_file(map, plain);
	snprintf(map, sizeof(map), "%s/perf-11.map", dir);
	write_file(map, timed);
	/* A file that is a link is not followed. */
	snprintf(map, sizeof(map), "%s/perf-12.map", dir);
	snprintf(gone, sizeof(gone), "%s/perf-10.map", dir);
	if (symlink(gone, map))
		abort();

	map_own(db, 10);
	map_own(db, 11);
	/* Mapped before the file at that path was last changed: its names are another file's. */
	map_own(db, 14);
	sqlite3_exec(db, "UPDATE images SET t = 1 WHERE tgid = 14", NULL, NULL, NULL);
	sample_insert(db, 8, 14, 0, here, "");
	/*
	 * As a method and as an instruction; the first and the last byte, and the bytes around
	 * them.
	 */
	sample_insert(db, 1, 10, 0x1000, 0x10ff, "fff 1100");
	sample_insert(db, 2, 10, 0xfff, 0x2000, "ffffffffffffff10 3000");
	sample_insert(db, 3, 10, 0x3085, 0x4000, "5000 zz 1001");
	sample_insert(db, 4, 10, 0, here, "");
	sample_insert(db, 5, 10, 0, 120, "a0 c9");
	sample_insert(db, 6, 10, 0, MAPPED + (80 << 20) + 1, "6ffffff");
	sample_insert(db, 99, 11, 0x1085, 0, "2000");
	sample_insert(db, 150, 11, 0x1085, 0x1000, "");
	sample_insert(db, 250, 11, 0x1085, 0x1090, "");
	sample_insert(db, 350, 11, 0x1085, 0x1000, "");
	sample_insert(db, 360, 11, 0x1085, 0, "");
	/* Not the runtime's code: its name stays however often it is sampled. */
	sample_insert(db, 370, 11, 0, here, "");
	sample_insert(db, 380, 11, 0, here, "");
	if (kernel) {
		char frames[40];

		snprintf(frames, sizeof(frames), "%" PRIx64 " %" PRIx64, kernel, kernel + 4);
		sample_insert(db, 9, 10, 0, 0, frames);
	}
	sample_insert(db, 7, 12, 0x1000, 0x1000, "");
	sample_insert(db, 8, 13, 0x1000, 0x1000, "");

	CHECK(profile_resolve(path, &maps), "addresses of a profile are resolved");
	got = names_read(db);
	snprintf(want, sizeof(want),
		 "10 120 0 [code without a file] ?\n"
		 "10 160 2 lib.so ?\n"
		 "10 4096 0 [methods] one <a>\n"
		 "10 4351 0 [methods] one <a>\n"
		 "10 12421 0 [methods] over\n"
		 "10 20480 0 [methods] again\n"
		 "10 %" PRIu64 " 0 unit unit_resolve_here\n"
		 "10 201326593 0 memfd:x ?\n"
		 "11 4096 100 [methods] first\n"
		 "11 4096 350 [methods] ?\n"
		 "11 4229 100 [methods] first\n"
		 "11 4229 200 [methods] second\n"
		 "11 4229 350 [methods] ?\n"
		 "11 4240 200 [methods] second\n"
		 "11 8192 0 [methods] always\n"
		 "11 %" PRIu64 " 0 unit unit_resolve_here\n"
		 "14 %" PRIu64 " 0 unit ?\n",
		 here, here, here);
	CHECK(text_equals(got, want), "each address has its name or none");
	free(got);
	CHECK(!kernel || (kernel_named(db, kernel) && kernel_named(db, kernel + 3)),
	      "kernel addresses are resolved if they are readable");
	CHECK(profile_resolve(path, &maps), "resolving again succeeds");
	got = names_read(db);
	CHECK(text_equals(got, want), "resolving again changes nothing");
	free(got);
	sqlite3_close(db);
	unlink(map);
	unlink(gone);
	snprintf(map, sizeof(map), "%s/perf-11.map", dir);
	unlink(map);
	unlink(path);
	CHECK(!profile_resolve(path, &maps), "a missing recording is reported");
	rmdir(dir);
}
