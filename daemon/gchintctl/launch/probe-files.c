// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe-files.h"

#include <elf.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/regular.h"
#include "../../symbols/elf-file.h"
#include "../../symbols/mapping.h"

static const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The name, or that of a library with its version after it. */
static bool base_matches(const char *base, const char *name)
{
	char versions[300];

	snprintf(versions, sizeof(versions), "%s.[0-9]*", name);
	return !fnmatch(name, base, 0) || !fnmatch(versions, base, 0);
}

static void files_add(struct probe_files *files, const char *path)
{
	struct stat one, other;

	if (files->nr == PROBE_FILES || stat(path, &one) || !S_ISREG(one.st_mode))
		return;
	for (size_t i = 0; i < files->nr; i++)
		if (!stat(files->path[i], &other) && one.st_dev == other.st_dev &&
		    one.st_ino == other.st_ino)
			return;
	files->path[files->nr] = strdup(path);
	files->nr += files->path[files->nr] != NULL;
}

static void files_glob(struct probe_files *files, const char *pattern)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		files_add(files, found.gl_pathv[i]);
	globfree(&found);
}

static void directory_search(struct probe_files *files, const char *directory, size_t length,
			     const char *name)
{
	char pattern[PATH_MAX];

	if (!length || *directory != '/')
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/%s", (int)length, directory, name);
	files_glob(files, pattern);
	snprintf(pattern, sizeof(pattern), "%.*s/%s.[0-9]*", (int)length, directory, name);
	files_glob(files, pattern);
}

/* @directories: separated by colons; $ORIGIN is @origin, the directory of a program. */
static void directories_search(struct probe_files *files, const char *directories,
			       const char *origin, const char *name)
{
	const char *end;

	for (; directories && *directories; directories = *end ? end + 1 : end) {
		char expanded[PATH_MAX];
		size_t variable = 0;

		end = strchrnul(directories, ':');
		if (!strncmp(directories, "$ORIGIN", 7))
			variable = 7;
		else if (!strncmp(directories, "${ORIGIN}", 9))
			variable = 9;
		snprintf(expanded, sizeof(expanded), "%s%.*s", variable ? origin : "",
			 (int)((size_t)(end - directories) - variable), directories + variable);
		directory_search(files, expanded, strlen(expanded), name);
	}
}

/* The words of a program's dynamic section with this tag: @each is called with the text of each. */
static void dynamic_walk(const struct elf_file *f, int64_t tag,
			 void (*each)(void *data, const char *text), void *data)
{
	unsigned int nr;
	const ElfW(Shdr) *all = elf_file_sections(f, &nr), *s = elf_file_section(f, ".dynamic");
	const ElfW(Dyn) * d;

	if (!all || !s || s->sh_link >= nr || s->sh_offset % sizeof(void *))
		return;
	d = elf_file_range(f, s->sh_offset, s->sh_size);
	for (size_t i = 0; d && i < s->sh_size / sizeof(*d); i++) {
		const char *text = d[i].d_tag == tag ?
					   elf_file_string(f, &all[s->sh_link], d[i].d_un.d_val) :
					   NULL;

		if (text)
			each(data, text);
	}
}

/* Where a program says that its libraries are. */
struct program_search {
	struct probe_files *files;
	const struct elf_file *program;
	const char *origin, *name;
};

static void on_path(void *data, const char *directories)
{
	const struct program_search *search = data;

	directories_search(search->files, directories, search->origin, search->name);
}

static void on_needed(void *data, const char *library)
{
	struct program_search search = *(const struct program_search *)data;

	if (fnmatch(search.name, library, 0))
		return;
	search.name = library;
	dynamic_walk(search.program, DT_RUNPATH, on_path, &search);
	dynamic_walk(search.program, DT_RPATH, on_path, &search);
}

static void program_search(struct probe_files *files, const char *program, const char *name)
{
	struct elf_file f = { .base = NULL };
	struct stat st;
	int fd = regular_open(program, 0, &st);
	char origin[PATH_MAX];
	struct program_search search = { files, &f, origin, name };

	if (fd >= 0 && st.st_size) {
		f.size = (size_t)st.st_size;
		f.base = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (!f.base || f.base == MAP_FAILED)
		return;
	if (!realpath(program, origin))
		snprintf(origin, sizeof(origin), "%s", program);
	if (strrchr(origin, '/'))
		*strrchr(origin, '/') = '\0';
	/* Of several that a pattern means, what it links. */
	dynamic_walk(&f, DT_NEEDED, on_needed, &search);
	if (!files->nr)
		dynamic_walk(&f, DT_RUNPATH, on_path, &search);
	if (!files->nr)
		dynamic_walk(&f, DT_RPATH, on_path, &search);
	munmap(f.base, f.size);
}

/* Directories that the system's administrator named. */
static void system_search(struct probe_files *files, const char *name)
{
	static const char *const standard[] = { "/lib", "/usr/lib", "/lib64", "/usr/lib64",
						"/usr/local/lib" };
	char line[PATH_MAX];
	glob_t found;
	FILE *f;

	if (!glob("/etc/ld.so.conf.d/*.conf", 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			f = fopen(found.gl_pathv[i], "re");
			while (f && fgets(line, sizeof(line), f)) {
				line[strcspn(line, "# \t\n")] = '\0';
				directory_search(files, line, strlen(line), name);
			}
			if (f)
				fclose(f);
		}
		globfree(&found);
	}
	for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
		directory_search(files, standard[i], strlen(standard[i]), name);
}

void probe_files_find(struct probe_files *files, const char *name, const char *program)
{
	files->nr = 0;
	if (strchr(name, '/')) {
		files_glob(files, name);
		return;
	}
	if (program && (!*name || base_matches(path_base(program), name)))
		files_add(files, program);
	if (!*name || files->nr)
		return;
	directories_search(files, getenv("LD_LIBRARY_PATH"), "", name);
	if (program)
		program_search(files, program, name);
	system_search(files, name);
}

void probe_files_mapped(struct probe_files *files, const char *name, pid_t pid)
{
	char path[PATH_MAX + 64], line[PATH_MAX + 128];
	struct mapping m;
	char exe[64], program[PATH_MAX];
	ssize_t n;
	FILE *f;

	files->nr = 0;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	n = readlink(exe, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!mapping_parse(line, &m) || !m.executable || *m.path != '/')
			continue;
		if (strchr(name, '/') ? fnmatch(name, m.path, 0) != 0 :
		    *name	      ? !base_matches(path_base(m.path), name) :
					strcmp(m.path, program) != 0)
			continue;
		/* The file of the process, whatever its root directory, and also after it was removed. */
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
			 (unsigned long long)m.start, (unsigned long long)m.end);
		if (access(path, R_OK))
			snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, m.path);
		files_add(files, path);
	}
	if (f)
		fclose(f);
	/* It may load the file later. */
	if (!files->nr && *name == '/') {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
		files_glob(files, path);
	}
}

void probe_files_free(struct probe_files *files)
{
	while (files->nr)
		free(files->path[--files->nr]);
}
