// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: where functions and USDT probes are, in this program itself and in a stripped copy. */
#include "unit.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../daemon/symbols/sites.h"
#include "place.h"
#include "records.h"

#define SELF   "/proc/self/exe"
#define TEXT   "a \\t of unit_site_target alone\n" /* with a backslash */
#define QUOTED "\"a \\\\t of unit_site_target alone\\n\""
#define TWICE  "a text of two functions of this test"

int unit_site_target(const char **text);
int unit_site_other(const char **text);
int unit_site_called(const char **text);
int unit_site_caller(const char **text);

__attribute__((noinline)) int unit_site_target(const char **text)
{
	/* As <sys/sdt.h> writes a probe without arguments. */
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
#if __SIZEOF_POINTER__ == 8
			 "993: .8byte 990b, unit_site_base, 0\n"
#else
			 "993: .4byte 990b, unit_site_base, 0\n"
#endif
			 ".asciz \"unit\"\n.asciz \"probe\"\n.asciz \"\"\n"
			 "994: .balign 4\n"
			 ".popsection\n"
			 ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
			 "unit_site_base: .space 1\n"
			 ".popsection\n");
	*text = TEXT;
	text[1] = TWICE;
	return 1;
}

__attribute__((noinline)) int unit_site_other(const char **text)
{
	*text = TWICE;
	return 2;
}

__attribute__((noinline)) int unit_site_called(const char **text)
{
	*text = "\a of unit_site_called alone";
	return 3;
}

__attribute__((noinline)) int unit_site_caller(const char **text)
{
	return unit_site_called(text) + 1;
}

static int object_find(struct dl_phdr_info *info, size_t size, void *data)
{
	uint64_t *address = data, in = *address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && in >= p->p_vaddr && in - p->p_vaddr < p->p_filesz) {
			*address = in - p->p_vaddr + p->p_offset;
			return 1;
		}
	}
	return 0;
}

/* The offset of a function of this program in its file. */
static uint64_t offset_of(int (*function)(const char **text))
{
	uint64_t address = (uintptr_t)function;

	return dl_iterate_phdr(object_find, &address) ? address : 0;
}

/* Whether @name is once in the file, at @offset; 0: not at all, for the reason @why. */
static bool site_is(const char *path, const char *name, uint64_t offset, const char *why)
{
	struct site site[SITES_MAX];
	char reason[256] = "";
	const size_t nr = sites_find(path, name, site, reason, sizeof(reason));

	if (offset ? nr == 1 && site[0].offset == offset : !nr && strstr(reason, why))
		return true;
	printf("# %s in %s: %zu, '%s'\n", name, path, nr, reason);
	return false;
}

#if defined(__x86_64__) || defined(__aarch64__)
#define TEXTS true
#else
#define TEXTS false
#endif

/* A library of another machine, whose code is read here all the same. */
static void arm64_check(void)
{
	static const char source[] = "int other(int a) { return a + 1; }\n"
				     "static __attribute__((noinline)) const char *begins(int a)\n"
				     "{ return a ? \"a text of arm64\" : \"none\"; }\n"
				     "const char *collects(int a) { return begins(a + 1) + 1; }\n"
				     "const char *jumps(int a) { return collects(a + 1); }\n";
	struct site named[SITES_MAX], site[SITES_MAX];
	char why[256] = "";
	FILE *f;

	if (system("command -v aarch64-linux-gnu-gcc >/dev/null"))
		return;
	f = fopen("a.c", "we");
	CHECK(f && fputs(source, f) >= 0 && !fclose(f) &&
		      !system("aarch64-linux-gnu-gcc -O2 -shared -fPIC -nostdlib "
			      "-fvisibility=hidden -fasynchronous-unwind-tables "
			      "-fno-ipa-cp -fno-inline -o a.so a.c"),
	      "a library of arm64 is made");
	CHECK(sites_find("a.so", "begins", named, why, sizeof(why)) == 1 &&
		      sites_find("a.so", "\"a text of arm64\"", site, why, sizeof(why)) == 1 &&
		      named[0].offset == site[0].offset,
	      "a text is found in code of arm64");
	CHECK(sites_find("a.so", "collects", named, why, sizeof(why)) == 1 &&
		      sites_find("a.so", "^\"a text of arm64\"", site, why, sizeof(why)) == 1 &&
		      named[0].offset == site[0].offset &&
		      sites_find("a.so", "jumps", named, why, sizeof(why)) == 1 &&
		      sites_find("a.so", "^collects", site, why, sizeof(why)) == 1 &&
		      named[0].offset == site[0].offset,
	      "the function that calls another one, or jumps there, is found in code of arm64");
}

void unit_sites(void)
{
	const uint64_t target = offset_of(unit_site_target), caller = offset_of(unit_site_caller);
	struct site site[SITES_MAX];
	struct place place;
	char why[256], command[512], self[256] = "";
	const char *text[2];
	bool good;

	CHECK(unit_site_target(text) + unit_site_other(text) + unit_site_caller(text) == 7 &&
		      target && caller,
	      "this program knows its functions");
	CHECK(site_is(SELF, "unit_site_target", target, ""), "a function is found by its name");
	CHECK(site_is(SELF, "unit_site", 0, "no such function"),
	      "the start of a name is another name");
	CHECK(sites_find(SELF, "unit:probe", site, why, sizeof(why)) == 1 &&
		      site[0].offset >= target && site[0].offset < target + 256 &&
		      !site[0].semaphore,
	      "a USDT probe is found");
	good = site_is(SELF, "unit:prob", 0, "no such USDT probe");
	CHECK(good && site_is(SELF, "uni:probe", 0, "no such USDT probe"),
	      "another one is reported");
	if (TEXTS) {
		CHECK(site_is(SELF, "^unit_site_called", caller, ""),
		      "the function that calls another one is found");
		/* That which runs all tests has their table. */
		good = site_is(SELF, "^unit_sites", 0, "no code calls that function directly");
		good = site_is(SELF, "^place_enter", 0, "functions call that one") && good;
		CHECK(site_is(SELF, "^unit_site_absent", 0, "no such function") && good,
		      "a function that none calls, or several, is reported");
	}
	if (!place_enter(&place))
		return;
	if (readlink(SELF, self, sizeof(self) - 1) > 0) {
		snprintf(command, sizeof(command), "strip -o stripped '%s' 2>strip.err", self);
		if (!system(command)) {
			CHECK(site_is("stripped", "unit_site_target", 0, "symbols were stripped"),
			      "a stripped function is reported, with what to do");
			CHECK(site_is("stripped", QUOTED, TEXTS ? target : 0, "x86-64 and arm64"),
			      "it is found by a text that it uses");
			CHECK(site_is("stripped", "\"" TWICE "\"", 0,
				      TEXTS ? "2 functions" : "x86-64 and arm64"),
			      "a text of two functions is reported");
			CHECK(site_is("stripped", "^\"\\a of unit_site_called alone\"",
				      TEXTS ? caller : 0, "x86-64 and arm64"),
			      "the function is found that calls the one which uses a text");
			CHECK(site_is("stripped", "\"no such text of this program, \\1\"", 0,
				      TEXTS ? "no such text" : "x86-64 and arm64"),
			      "a text that is not there is reported");
		}
	}
	arm64_check();
	place_file("text",
		   "no program at all, but longer than the header of a file of this kind\n");
	good = site_is("text", "main", 0, "no program of this machine");
	good = good && site_is("absent", "main", 0, "cannot be read");
	place_file("empty", "");
	CHECK(good && site_is("empty", "main", 0, "cannot be read"),
	      "what is no program is reported");
	place_leave(&place);
}
