// SPDX-License-Identifier: GPL-2.0-or-later
#include "runtime.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../ctl.h"
#include "probe-list.h"
#include "probes.h"

#define SCRIPTS_MAX 4 /* nested script interpreters, which the kernel limits too */

/* Sorted by name. */
static const struct runtime adapters[] = {
	{ "boehm", "Boehm collector (libgc 8)", RUNTIME_PRELOAD,
	  "stop, mark, restart, sweep; cause; marker threads",
	  "sweeping and marking by mutators at allocation", NULL, NULL },
	{ "dotnet", ".NET 6 and newer", RUNTIME_LAUNCH,
	  "pauses, phases of background collections, threads that wait for them; cause; "
	  "threads of the server's collector",
	  "the parts of a pause; programs that were compiled ahead of time (NativeAOT)", NULL,
	  NULL },
	{ "gjs", "GJS, SpiderMonkey 78 to 140", RUNTIME_PRELOAD,
	  "slices of full collections, collections of the nursery",
	  "marking and sweeping on helper threads; the parts of a slice", NULL, NULL },
	{ "go", "Go 1.18 and newer", RUNTIME_PROBES,
	  "both pauses of a cycle, each background worker while it signs; for recordings only, as "
	  "root",
	  "assists, sweeping, cause; the Go programs that it starts", NULL, NULL },
	{ "jvm", "OpenJDK 17 and newer", RUNTIME_AGENT,
	  "pauses, cause; concurrent phases; threads of the collectors; compiled "
	  "methods, for gchintctl profile",
	  "which thread waits for an allocation, time to the safepoint", NULL, NULL },
	{ "lua", "Lua 5.4", RUNTIME_LAUNCH, "functions, for gchintctl profile",
	  "collections, which it does not report", NULL, NULL },
	{ "mono", "Mono 6.8 to 6.14 (SGen)", RUNTIME_LAUNCH,
	  "stop, minor copy or major mark, restart; workers",
	  "when concurrent marking begins and ends", NULL, NULL },
	{ "node", "Node.js 18 and newer", RUNTIME_LAUNCH,
	  "scavenges, full collections, start of marking, weak callbacks; cause; worker threads",
	  "concurrent marking and sweeping", NULL, NULL },
	{ "ocaml", "OCaml 4.13 and 5.3", RUNTIME_LAUNCH,
	  "minor collections, major slices (those of 4 by kind)",
	  "compaction; the slices of a full collection", NULL, NULL },
	{ "php", "PHP 7.3 and newer", RUNTIME_LAUNCH, "collections of cycles; what they freed",
	  "parts of a collection; what reference counts free", NULL, NULL },
	{ "python", "CPython 3.8 and newer", RUNTIME_LAUNCH,
	  "collections of cycles, young and full; objects freed; functions (3.11 to 3.14), for "
	  "gchintctl profile",
	  "parts of a collection; what reference counts free", NULL, NULL },
	{ "ruby", "CRuby 3.1 and 3.3", RUNTIME_LAUNCH, "slices of mark and sweep; cause",
	  "compaction apart from its cycle", NULL, NULL },
};

#define ADAPTERS_NR (sizeof(adapters) / sizeof(adapters[0]))

const struct runtime *runtime_at(size_t i)
{
	return i < ADAPTERS_NR ? &adapters[i] : probe_list_at(i - ADAPTERS_NR);
}

bool runtime_is_probed(const struct runtime *runtime)
{
	return runtime->mode == RUNTIME_PROBES;
}

bool runtime_can_be_named(const struct runtime *runtime)
{
	return !runtime_is_probed(runtime) || runtime->probes;
}

const struct runtime *runtime_named(const char *name)
{
	const struct runtime *r;

	for (size_t i = 0; (r = runtime_at(i)); i++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

/* A program of that name may be another runtime that takes its place, such as Bun. */
static bool path_is_node(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return !strcmp(base, "node") || !strcmp(base, "nodejs");
}

/* Launchers and interpreters that are identified by their file name. */
static const struct runtime *runtime_by_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	if (!strcmp(base, "dotnet"))
		return runtime_named("dotnet");
	if (!strcmp(base, "java"))
		return runtime_named("jvm");
	if (!strcmp(base, "mono") || !strcmp(base, "mono-sgen"))
		return runtime_named("mono");
	if (!strncmp(base, "ruby", 4) && strspn(base + 4, "0123456789.") == strlen(base + 4))
		return runtime_named("ruby");
	return NULL;
}

/* A mapped file; untrusted, so that every offset in it is checked. */
struct image {
	const char *base;
	size_t size;
};

static const void *image_at(const struct image *m, uint64_t offset, uint64_t length)
{
	return offset <= m->size && length <= m->size - offset ? m->base + offset : NULL;
}

static const char *elf_string_at(const struct image *m, const ElfW(Shdr) * table, uint64_t offset)
{
	const char *text = offset < table->sh_size ?
				   image_at(m, table->sh_offset + offset, table->sh_size - offset) :
				   NULL;

	return text && memchr(text, '\0', table->sh_size - offset) ? text : NULL;
}

static const ElfW(Shdr) *
	elf_find_section(const struct image *m, const ElfW(Ehdr) * elf, uint32_t type)
{
	const ElfW(Shdr) *s = image_at(m, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*s));

	for (unsigned int i = 0; s && i < elf->e_shnum; i++)
		if (s[i].sh_type == type)
			return &s[i];
	return NULL;
}

static const ElfW(Shdr) *
	elf_section_strings(const struct image *m, const ElfW(Ehdr) * elf, const ElfW(Shdr) * s)
{
	const ElfW(Shdr) *all = image_at(m, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*all));

	return all && s->sh_link < elf->e_shnum ? &all[s->sh_link] : NULL;
}

static bool elf_needs(const struct image *m, const ElfW(Ehdr) * elf, const char *library)
{
	const ElfW(Shdr) *s = elf_find_section(m, elf, SHT_DYNAMIC);
	const ElfW(Shdr) *names = s ? elf_section_strings(m, elf, s) : NULL;
	const ElfW(Dyn) *d = names ? image_at(m, s->sh_offset, s->sh_size) : NULL;

	for (size_t i = 0; d && i < s->sh_size / sizeof(*d); i++) {
		const char *name =
			d[i].d_tag == DT_NEEDED ? elf_string_at(m, names, d[i].d_un.d_val) : NULL;

		if (name && !strncmp(name, library, strlen(library)))
			return true;
	}
	return false;
}

static bool elf_has_symbol(const struct image *m, const ElfW(Ehdr) * elf, uint32_t table,
			   const char *symbol)
{
	const ElfW(Shdr) *s = elf_find_section(m, elf, table);
	const ElfW(Shdr) *names = s ? elf_section_strings(m, elf, s) : NULL;
	const ElfW(Sym) *sym = names ? image_at(m, s->sh_offset, s->sh_size) : NULL;

	for (size_t i = 0; sym && i < s->sh_size / sizeof(*sym); i++) {
		const char *name = elf_string_at(m, names, sym[i].st_name);

		if (name && sym[i].st_shndx != SHN_UNDEF && !strcmp(name, symbol))
			return true;
	}
	return false;
}

static bool elf_exports(const struct image *m, const ElfW(Ehdr) * elf, const char *symbol)
{
	return elf_has_symbol(m, elf, SHT_DYNSYM, symbol);
}

static bool elf_has_section(const struct image *m, const ElfW(Ehdr) * elf, const char *wanted)
{
	const ElfW(Shdr) *s = image_at(m, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*s));

	for (unsigned int i = 0; s && elf->e_shstrndx < elf->e_shnum && i < elf->e_shnum; i++) {
		const char *name = elf_string_at(m, &s[elf->e_shstrndx], s[i].sh_name);

		if (name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

/* Which of these a program has depends on Go's version, the linker, and what was stripped. */
static bool elf_is_go(const struct image *m, const ElfW(Ehdr) * elf)
{
	return elf_has_section(m, elf, ".go.buildinfo") || elf_has_section(m, elf, ".gopclntab") ||
	       elf_has_section(m, elf, ".data.rel.ro.gopclntab") ||
	       elf_has_section(m, elf, ".note.go.buildid");
}

/*
 * The host executable of a .NET program has a placeholder in its writable data for the offset of
 * the bundled program. These bytes identify it, whether or not a program is bundled.
 */
static bool elf_is_dotnet(const struct image *m, const ElfW(Ehdr) * elf)
{
	static const unsigned char mark[] = {
		0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93,
		0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae,
		0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
	};
	const ElfW(Shdr) *s = image_at(m, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*s));

	for (unsigned int i = 0; s && i < elf->e_shnum; i++) {
		const void *data = s[i].sh_type == SHT_PROGBITS && s[i].sh_flags & SHF_WRITE ?
					   image_at(m, s[i].sh_offset, s[i].sh_size) :
					   NULL;

		if (data && memmem(data, s[i].sh_size, mark, sizeof(mark)))
			return true;
	}
	return false;
}

static void runtime_none_set(struct runtime_none *none, const char *why)
{
	none->refuses = true;
	snprintf(none->why, sizeof(none->why), "%s", why);
}

/* Runtimes that export the functions of Node's addons, and a name that each of them contains. */
static const struct {
	const char *name, *contains;
} node_likes[] = {
	{ "Bun", "BUN_INSTALL" },
	{ "Deno", "DENO_DIR" },
};

/* A name that libgchint looks for in the environment, and with it a program that contains it. */
#define LIBGCHINT_STATIC "GCHINT_MIN_US"

static bool image_mentions(const struct image *m, const char *text)
{
	return memmem(m->base, m->size, text, strlen(text));
}

/* Of the programs that export the functions of Node's addons only Node has its start function. */
static const struct runtime *runtime_by_addons(const struct image *m, const ElfW(Ehdr) * elf,
					       struct runtime_none *none)
{
	const char *name = "a runtime that takes Node's addons";

	if (elf_exports(m, elf, "_ZN4node5StartEiPPc"))
		return runtime_named("node");
	for (size_t i = 0; i < sizeof(node_likes) / sizeof(node_likes[0]); i++)
		if (image_mentions(m, node_likes[i].contains))
			name = node_likes[i].name;
	none->other = none->refuses = true;
	snprintf(none->why, sizeof(none->why), "%s, which has no adapter", name);
	return NULL;
}

/* Whether a program has this sign of a runtime: see adapters/probes.list. */
static bool elf_has_sign(const struct image *m, const ElfW(Ehdr) * elf, const char *sign)
{
	if (!strncmp(sign, "needs:", 6))
		return elf_needs(m, elf, sign + 6);
	if (!strncmp(sign, "symbol:", 7))
		return elf_exports(m, elf, sign + 7) ||
		       elf_has_symbol(m, elf, SHT_SYMTAB, sign + 7);
	return !strncmp(sign, "section:", 8) && elf_has_section(m, elf, sign + 8);
}

/* The runtime of probes.list that a program is of, by its file name if @m is NULL. */
static const struct runtime *runtime_by_list(const char *path, const struct image *m,
					     const ElfW(Ehdr) * elf)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const struct runtime *r;
	char signs[PROBE_LIST_SIGNS], *save;

	for (size_t i = 0; (r = probe_list_at(i)); i++) {
		snprintf(signs, sizeof(signs), "%s", r->signs);
		for (char *sign = strtok_r(signs, " ", &save); sign;
		     sign = strtok_r(NULL, " ", &save))
			if (m ? elf_has_sign(m, elf, sign) :
				!strncmp(sign, "file:", 5) && !fnmatch(sign + 5, base, 0))
				return r;
	}
	return NULL;
}

static const struct runtime *runtime_by_elf(const char *path, const struct image *m,
					    struct runtime_none *none)
{
	const ElfW(Ehdr) *elf = image_at(m, 0, sizeof(*elf));
	const struct runtime *listed;

	if (!elf || elf->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    elf->e_shentsize != sizeof(ElfW(Shdr))) {
		runtime_none_set(none, "a program of another machine");
		/* By an emulator, if the kernel knows one. */
		none->runs = elf;
		return NULL;
	}
	if (elf_is_go(m, elf))
		return runtime_named("go");
	if (elf_is_dotnet(m, elf))
		return runtime_named("dotnet");
	none->runs = image_at(m, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof(ElfW(Phdr)));
	if (!elf_find_section(m, elf, SHT_DYNAMIC)) {
		listed = runtime_by_list(path, m, elf);
		if (!listed)
			runtime_none_set(none, "linked statically: nothing can be loaded into it");
		return listed;
	}
	if (elf_needs(m, elf, "libgc.so") || elf_needs(m, elf, "libguile-") ||
	    elf_needs(m, elf, "libecl.so"))
		return runtime_named("boehm");
	if (elf_exports(m, elf, "caml_minor_gc_begin_hook"))
		return runtime_named("ocaml");
	if (elf_exports(m, elf, "lua_setwarnf"))
		return runtime_named("lua");
	if (elf_needs(m, elf, "libnode.so"))
		return runtime_named("node");
	if (elf_exports(m, elf, "napi_module_register"))
		return runtime_by_addons(m, elf, none);
	if (elf_needs(m, elf, "libgjs.so") || elf_needs(m, elf, "libmozjs-"))
		return runtime_named("gjs");
	if (elf_exports(m, elf, "gc_collect_cycles"))
		return runtime_named("php");
	if (elf_needs(m, elf, "libpython3") || elf_exports(m, elf, "PyImport_Inittab"))
		return runtime_named("python");
	if (elf_needs(m, elf, "libruby"))
		return runtime_named("ruby");
	/* Last: this reads all symbols, which takes as long as a runtime needs to start. */
	listed = runtime_by_list(path, m, elf);
	if (listed)
		return listed;
	runtime_none_set(none, "no runtime that has an adapter");
	/* It may become one by what it loads later. */
	none->refuses = false;
	return NULL;
}

static bool file_is_executable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* What a shell returns for a program that runtime_file() does not find. */
static int program_status(const char *program)
{
	const char *dirs = getenv("PATH"), *end;
	char path[PATH_MAX];

	if (strchr(program, '/'))
		return access(program, F_OK) ? 127 : 126;
	for (; dirs && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dirs), dirs,
			 end > dirs ? "/" : "", program);
		if (!access(path, F_OK))
			return 126;
	}
	return 127;
}

/* Like execvp(3), takes an empty entry of PATH as the current directory. */
bool runtime_file(const char *program, char *path, size_t size)
{
	const char *dirs = getenv("PATH"), *end;

	if (strchr(program, '/')) {
		snprintf(path, size, "%s", program);
		return file_is_executable(path);
	}
	for (; dirs && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(path, size, "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "",
			 program);
		if (file_is_executable(path))
			return true;
	}
	return false;
}

static bool image_is_script(const struct image *m)
{
	return m->size >= 3 && !memcmp(m->base, "#!", 2);
}

static bool word_is_env(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash && !strcmp(slash, "/env");
}

/*
 * Finds the interpreter of a script. After env(1) it is the next word of the line that is no option
 * and no variable; -S may have its first word attached.
 */
static bool script_interpreter(const struct image *m, char *path, size_t size)
{
	size_t length = m->size < 256 ? m->size : 255;
	char line[256], *word, *save = NULL;

	memcpy(line, m->base, length);
	line[length] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	if (word && word_is_env(word))
		while ((word = strtok_r(NULL, " \t", &save))) {
			if (!strncmp(word, "-S", 2) && word[2])
				word += 2;
			if (*word != '-' && !strchr(word, '='))
				break;
		}
	return word && runtime_file(word, path, size);
}

const struct runtime *runtime_of(const char *program, struct runtime_none *none)
{
	const struct runtime *runtime = NULL;
	char path[PATH_MAX], next[PATH_MAX];
	bool again = true;

	*none = (struct runtime_none){ .status = 126 };
	if (!runtime_file(program, path, sizeof(path))) {
		none->status = program_status(program);
		runtime_none_set(none,
				 none->status == 127 ? "no such program" : "cannot be executed");
		return NULL;
	}
	for (int depth = 0; again && depth < SCRIPTS_MAX; depth++) {
		struct image m = { NULL, 0 };
		struct stat st;
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		again = false;
		snprintf(none->file, sizeof(none->file), "%s", path);
		runtime = runtime_by_name(path);
		if (!runtime)
			runtime = runtime_by_list(path, NULL, NULL);
		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
			runtime_none_set(none, "cannot be read");
			/* Who may execute a program need not be able to read it. */
			none->runs = true;
			runtime = NULL;
		} else if (st.st_mode & (S_ISUID | S_ISGID)) {
			runtime_none_set(none, "setuid or setgid: the loader ignores LD_PRELOAD");
			none->runs = true;
			runtime = NULL;
		} else if (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0) {
			/* They give root nothing that it does not have. */
			runtime_none_set(none, "file capabilities: the loader ignores LD_PRELOAD");
			none->runs = true;
			runtime = NULL;
		} else if (!runtime) {
			m.size = (size_t)st.st_size;
			m.base = m.size ? mmap(NULL, m.size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
			if (!m.size) {
				runtime_none_set(none, "empty");
				none->refuses = false;
				/* As a script without a line. */
				none->runs = true;
			} else if (m.base == MAP_FAILED) {
				runtime_none_set(none, "cannot be read");
			} else if (image_is_script(&m) && path_is_node(path)) {
				runtime = runtime_named("node");
			} else if (image_is_script(&m)) {
				none->script = true;
				again = script_interpreter(&m, next, sizeof(next));
				if (again)
					memcpy(path, next, sizeof(path));
				if (!again) {
					none->status = 127;
					runtime_none_set(none, "its interpreter is not there");
				}
			} else if (m.size > 4 && !memcmp(m.base, ELFMAG, SELFMAG)) {
				runtime = runtime_by_elf(path, &m, none);
				if (!runtime && path_is_node(path) && !none->other)
					runtime = runtime_named("node");
				/* Reads all of the file: not for a runtime. */
				if (!runtime && none->runs)
					none->libgchint = image_mentions(&m, "libgchint.so") ||
							  image_mentions(&m, LIBGCHINT_STATIC);
			} else {
				runtime_none_set(none, "neither a program nor a script");
				none->refuses = false;
				/* A shell executes it, which execvp(3) starts. */
				none->runs = true;
			}
			if (m.base && m.base != MAP_FAILED)
				munmap((void *)(uintptr_t)m.base, m.size);
		}
		if (fd >= 0)
			close(fd);
	}
	if (again)
		runtime_none_set(none, "a script whose interpreter is a script, nested too deep");
	return runtime;
}

bool runtime_self(char self[PATH_MAX])
{
	const char *executed = (const char *)getauxval(AT_EXECFN);
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	if (n > 0)
		self[n] = '\0';
	return n > 0 || (executed && realpath(executed, self));
}

/* Finds libgchint-@name.so. */
static const char *library_find(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "../adapters", ADAPTERS };
	char self[PATH_MAX], tried[PATH_MAX + 64];
	char *slash, *real;

	if (!runtime_self(self))
		return NULL;
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(tried, sizeof(tried), "%s/%s/libgchint-%s.so", self, places[i], name);
		real = access(tried, R_OK) ? NULL : realpath(tried, NULL);
		if (!real)
			continue;
		snprintf(path, size, "%s", real);
		free(real);
		return path;
	}
	return NULL;
}

const char *runtime_adapter(const struct runtime *runtime, char *path, size_t size)
{
	if (runtime->mode != RUNTIME_PROBES)
		return library_find(runtime->name, path, size);
	snprintf(path, size, "%s", PROBES_TYPE);
	return access(path, R_OK) ? NULL : path;
}

const char *runtime_launcher(char *path, size_t size)
{
	return library_find("launch", path, size);
}

static const char usage[] = "usage: gchintctl [--json] runtimes [--names]\n"
			    "Lists the runtimes that are known, by name: whether programs are seen "
			    "by an adapter, which\n"
			    "has to be installed, or by probes, which needs root; what is "
			    "reported, and what cannot be\n"
			    "seen. gchintctl run recognises the runtime of a program by itself.\n"
			    "\n"
			    "      --names  only the names, one a line, that --runtime takes\n";

/* How a runtime is seen on this machine. */
static void runtime_print_means(const struct runtime *r)
{
	char path[PATH_MAX];
	const char *there = runtime_adapter(r, path, sizeof(path));

	if (!runtime_is_probed(r))
		printf("  adapter     %s\n", there ? there : "not installed");
	else
		printf("  probes      %s\n",
		       there ? "on functions that it has, as root" :
			       "not on this kernel, which has no uprobes (CONFIG_UPROBE_EVENTS)");
}

int cmd_runtimes(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "names", no_argument, NULL, 'n' },
		{ 0 },
	};
	const struct runtime *r;
	char path[PATH_MAX];
	bool names = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) >= 0) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return CTL_OK;
		}
		if (opt != 'n')
			return ctl_usage("runtimes");
		names = true;
	}
	if (optind < argc) {
		ctl_error("runtimes: unexpected argument '%s'; see gchintctl runtimes --help",
			  argv[optind]);
		return CTL_USAGE;
	}
	for (size_t i = 0; (r = runtime_at(i)); i++) {
		if (ctl->json) {
			printf("%s{\"name\":\"%s\",\"title\":\"%s\",\"by\":\"%s\","
			       "\"installed\":%s,\"sees\":\"%s\",\"cannot_see\":\"%s\"}%s",
			       i ? "," : "[", r->name, r->title,
			       runtime_is_probed(r) ? "probes" : "adapter",
			       runtime_adapter(r, path, sizeof(path)) ? "true" : "false", r->sees,
			       r->blind, runtime_at(i + 1) ? "" : "]\n");
			continue;
		}
		if (names) {
			if (runtime_can_be_named(r))
				puts(r->name);
			continue;
		}
		printf("%s (%s)\n", r->title, r->name);
		runtime_print_means(r);
		printf("  sees        %s\n  cannot see  %s\n", r->sees, r->blind);
	}
	return CTL_OK;
}
