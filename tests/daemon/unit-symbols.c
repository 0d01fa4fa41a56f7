// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: stacks and symbols as compilers, assemblers and linkers make them: calls that never
 * return, functions without a type or a size, several names at one address, the library that the
 * kernel maps, two files mapped at one address, mangled names, inlined functions.
 */
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/gchintctl/profile/profile.h"
#include "../../daemon/recording/reader/recording.h"
#include "../../daemon/recording/rows.h"
#include "../../daemon/symbols/demangle.h"
#include "../../daemon/symbols/elf.h"
#include "../../daemon/symbols/stubs.h"

#define MAPPED 0x7000000

extern const char __executable_start[];

/*
 * unit_calls ends with its call, so that the return address is the next function's; unit_bare and
 * unit_bare_next have neither a type nor a size; unit_public has a private name, too.
 */
__asm__(".text\n"
	".globl unit_calls, unit_innocent, unit_bare, unit_bare_next, unit_public, __unit_private\n"
	".type unit_calls, @function\n"
	"unit_calls: .skip 16, 0x90\n"
	".size unit_calls, .-unit_calls\n"
	".type unit_innocent, @function\n"
	"unit_innocent: .skip 16, 0x90\n"
	".size unit_innocent, .-unit_innocent\n"
	"unit_bare: .skip 16, 0x90\n"
	"unit_bare_next: .skip 16, 0x90\n"
	".type unit_public, @function\n"
	".type __unit_private, @function\n"
	"unit_public: __unit_private: .skip 16, 0x90\n"
	".size unit_public, .-unit_public\n"
	".size __unit_private, .-__unit_private\n");
extern const char unit_calls[], unit_innocent[], unit_bare[], unit_bare_next[], unit_public[];

extern const char unit_within[];

/* unit_within is in the innermost of three functions, two of which the compiler inlines. */
static inline __attribute__((always_inline)) void unit_inner(void)
{
	__asm__ volatile("unit_within: .skip 16, 0x90");
}

static inline __attribute__((always_inline)) void unit_middle(void)
{
	unit_inner();
}

enum {
	LINE_OF_CALL = __LINE__ + 6
};

__attribute__((noinline)) void unit_outer(void);
void unit_outer(void)
{
	unit_middle();
	__asm__ volatile("");
}

static uint64_t mapped_at(const char *symbol)
{
	return MAPPED + (uint64_t)(uintptr_t)symbol - (uint64_t)(uintptr_t)__executable_start;
}

static void sql_run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		abort();
}

static void sample_insert(sqlite3 *db, uint64_t t, uint64_t ip, const char *frames)
{
	static int stack;
	char sql[400];

	stack++;
	snprintf(sql, sizeof(sql),
		 "INSERT INTO stacks VALUES(%d, '%s');"
		 "INSERT INTO hotspots(t, tgid, tid, method, ip, stack) VALUES(%" PRIu64
		 ", 10, 10, 0, %" PRIu64 ", %d)",
		 stack, frames, t, ip, stack);
	sql_run(db, sql);
}

/* The name of a sample's @depth-th frame from the outermost; "none" without one. */
static const char *frame_name(const struct profile *p, size_t sample, size_t depth)
{
	struct profile_frame frame[PROFILE_DEPTH];
	const size_t nr = sample < p->samples ? profile_frames(p, &p->sample[sample], frame) : 0;

	return depth < nr ? profile_name(p, frame[depth].name) : "none";
}

#ifdef HAVE_DW
static int frame_line(const struct profile *p, size_t sample, size_t depth)
{
	struct profile_frame frame[PROFILE_DEPTH];
	const size_t nr = sample < p->samples ? profile_frames(p, &p->sample[sample], frame) : 0;

	return depth < nr && frame[depth].at ? frame[depth].at->line : 0;
}

static uint32_t frame_inlined(const struct profile *p, size_t sample, size_t depth)
{
	struct profile_frame frame[PROFILE_DEPTH];
	const size_t nr = sample < p->samples ? profile_frames(p, &p->sample[sample], frame) : 0;

	return depth < nr ? frame[depth].inlined : UINT32_MAX;
}
#endif

static const char *method_name(const struct profile *p, size_t sample)
{
	return sample < p->samples ? p->name[p->sample[sample].method] : "none";
}

static void symbols_of_profile(const char *dir)
{
	const struct profile_maps maps = { dir, INT32_MAX, false };
	const struct profile_filter all = { NULL, NULL, NULL, NULL };
	char path[64], own[256], sql[1200], frames[64];
	const uint64_t t = clock_now();
	struct profile p = { 0 };
	struct recording rec = { 0 };
	sqlite3 *db;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "%s/s.db", dir);
	if (sqlite3_open(path, &db) || rows_create_tables(db))
		abort();
	snprintf(sql, sizeof(sql),
		 "INSERT INTO meta VALUES('hotspots.hz', '1000');"
		 "INSERT INTO images VALUES(%" PRIu64 ", 10, %d, %d, 0, '%s'),"
		 "(%" PRIu64 ", 10, %" PRIu64 ", %" PRIu64 ", 0, '/nowhere/other.so')",
		 t, MAPPED, MAPPED + (64 << 20), own, t + 1000, mapped_at(unit_public),
		 mapped_at(unit_public) + 15);
	sql_run(db, sql);
	snprintf(frames, sizeof(frames), "%" PRIx64 " %" PRIx64, mapped_at(unit_innocent),
		 mapped_at(unit_innocent));
	sample_insert(db, t + 10, mapped_at(unit_innocent), frames);
	sample_insert(db, t + 20, mapped_at(unit_bare) + 3, "");
	sample_insert(db, t + 30, mapped_at(unit_bare_next), "");
	sample_insert(db, t + 40, mapped_at(unit_public) + 1, "");
	sample_insert(db, t + 2000, mapped_at(unit_public) + 1, "");
	sample_insert(db, t + 2010, 0x1000, "");
	sample_insert(db, t + 2020, 0x1000, "1000 +");
	/* Native code that was called by a method, by way of V8's stub. */
	snprintf(frames, sizeof(frames), "%" PRIx64 " 2011 2021 2031", mapped_at(unit_bare) + 3);
	sample_insert(db, t + 2030, mapped_at(unit_bare) + 3, frames);
	sample_insert(db, t + 2040, 0x2010, "2010 2031");
	snprintf(frames, sizeof(frames), "%" PRIx64 " 2041 2031", mapped_at(unit_bare) + 3);
	sample_insert(db, t + 2050, mapped_at(unit_bare) + 3, frames);
	snprintf(frames, sizeof(frames), "%" PRIx64, mapped_at(unit_within));
	sample_insert(db, t + 2060, mapped_at(unit_within), frames);
	CHECK(profile_resolve(path, &maps), "addresses of a profile are resolved");
	sql_run(db,
		"INSERT OR REPLACE INTO symbols VALUES"
		"(10, 8208, 0, '[methods]', 'Builtin:CEntry_Return1'),"
		"(10, 8224, 0, '[methods]', 'JS:*called'), (10, 8240, 0, '[methods]', 'JS:*main'),"
		"(10, 8256, 0, '[methods]', NULL)");
	sql_run(db, "INSERT OR REPLACE INTO symbols VALUES(10, 4096, 0, 'w', "
		    "'_ZN3app6WidgetImE6renderEm')");
	rec.db = db;
	rec.path = path;
	CHECK(profile_load(&p, &rec, &all), "the profile is loaded");
	CHECK(!strcmp(frame_name(&p, 0, 1), "unit_calls") &&
		      !strcmp(frame_name(&p, 0, 2), "unit_innocent"),
	      "a return address is of the function that called");
	CHECK(!strcmp(frame_name(&p, 1, 1), "unit_bare") &&
		      !strcmp(frame_name(&p, 2, 1), "unit_bare_next"),
	      "a function without a type and a size extends to the next one");
	CHECK(!strcmp(frame_name(&p, 3, 1), "unit_public"),
	      "of several names the public one is taken");
	CHECK(!strcmp(frame_name(&p, 4, 1), "other.so"),
	      "after another file was mapped there the first one's names are not taken");
#ifdef HAVE_IBERTY
	CHECK(!strcmp(frame_name(&p, 5, 1), "app::Widget<unsigned long>::render(unsigned long)"),
	      "names of C++ are as in the source");
#endif
	CHECK(!strcmp(frame_name(&p, 6, 1), "[truncated]"), "a stack that was cut says so");
	CHECK(!strcmp(method_name(&p, 7), "JS:*called") &&
		      !strcmp(frame_name(&p, 7, 2), "JS:*called"),
	      "native code counts for the compiled method that called it");
	CHECK(!strcmp(method_name(&p, 8), "Builtin:CEntry_Return1"),
	      "a stub's own time is its own");
	CHECK(!strcmp(method_name(&p, 9), "-"),
	      "compiled code without a certain name hides its callers");
	CHECK(!strcmp(method_name(&p, 0), "-"), "without such a caller there is no method");
#ifdef HAVE_DW
	CHECK(!strcmp(frame_name(&p, 10, 1), "unit_outer") &&
		      !strcmp(frame_name(&p, 10, 2), "unit_middle") &&
		      !strcmp(frame_name(&p, 10, 3), "unit_inner"),
	      "functions that were inlined are frames of the stack");
	CHECK(frame_line(&p, 10, 1) == LINE_OF_CALL, "a frame has the line of the call");
	CHECK(!frame_inlined(&p, 10, 1) && frame_inlined(&p, 10, 2) == 1 &&
		      frame_inlined(&p, 10, 3) == 2,
	      "and how many functions it is inlined in");
#endif
	profile_free(&p);
	sqlite3_close(db);
	unlink(path);
}

static void symbols_of_vdso(void)
{
	struct elf *e = elf_open(ELF_VDSO);
	const struct symbol *s;
	bool found = false;
	uint64_t at;

	for (uint64_t offset = 0; e && offset < 0x4000 && !found; offset += 16) {
		s = elf_at(e, offset, &at);
		found = s && strstr(s->name, "clock_gettime");
	}
	CHECK(found, "the library that the kernel maps has names");
	if (e)
		elf_close(e);
}

/* This program calls sqlite3_open(), of another file, through a stub of its own. */
static void symbols_of_stubs(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	struct symbols stubs = { NULL, 0 };
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file file = { MAP_FAILED, 0 };
	unsigned int found = 0;
	char *names = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		file.size = (size_t)st.st_size;
		file.base = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
	}
	if (file.base == MAP_FAILED)
		abort();
	names = stubs_read(&file, &stubs);
	for (size_t i = 0; i < stubs.nr; i++)
		found += !strcmp(stubs.list[i].name, "sqlite3_open@plt");
	CHECK(found == 1, "the stub of a function of another file has that one's name");
	symbols_free(&stubs);
	free(names);
	munmap(file.base, file.size);
#endif
}

static void names_are_demangled(void)
{
#ifdef HAVE_IBERTY
	static const char *const names[][2] = {
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_ZN3app6WidgetImE6renderEm.cold",
		  "app::Widget<unsigned long>::render(unsigned long) [clone .cold]" },
		{ "_Znwm@plt", "operator new(unsigned long)@plt" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *plain = demangle(names[i][0]);

		CHECK(plain && !strcmp(plain, names[i][1]), "a mangled name is as in the source");
		free(plain);
	}
#endif
	CHECK(!demangle("main") && !demangle("_Zzz") && !demangle("_R") && !demangle(""),
	      "other names are left as they are");
}

void unit_symbols(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX";

	if (!mkdtemp(dir))
		abort();
	symbols_of_profile(dir);
	rmdir(dir);
	symbols_of_vdso();
	symbols_of_stubs();
	names_are_demangled();
}
