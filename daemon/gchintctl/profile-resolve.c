// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of addresses: the symbol tables of the files that were mapped, the perf-PID.map
 * files that programs wrote, /proc/kallsyms. A program may have written anything: what is
 * not certain has no name, for a wrong one would be its neighbour's.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <link.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/root.h"
#include "ctl.h"
#include "profile.h"

#define MAP_SIZE    (256 << 20) /* of a perf-PID.map that is read */
#define SYMBOLS_ANY (16 << 20)

struct name {
	uint64_t start, size, t; /* t: from when on; 0 always */
	const char *name;
};

/* A file that was mapped, with its functions by address. */
struct elf {
	struct elf *next;
	char *path;
	char *base; /* NULL: cannot be read */
	size_t size;
	struct name *name;
	size_t names;
};

/* What one process wrote, in its order. */
struct map {
	struct map *next;
	int32_t tgid;
	char *text;
	struct name *name;
	size_t names;
	bool timed;
};

struct resolver {
	sqlite3 *db;
	sqlite3_stmt *image, *known, *latest, *add;
	const struct profile_maps *from;
	struct elf *elfs;
	struct map *maps;
	struct name *kernel;
	size_t kernels;
	char *kallsyms;
	bool kernel_read, failed;
};

static bool add_name(struct name **array, size_t *nr, struct name n)
{
	struct name *more;

	if (*nr >= SYMBOLS_ANY)
		return false;
	if (!(*nr & (*nr - 1))) {
		more = realloc(*array, (*nr ? *nr * 2 : 1) * sizeof(*more));
		if (!more)
			return false;
		*array = more;
	}
	(*array)[(*nr)++] = n;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The one of sorted names that has @at in it; NULL in a gap. */
static const struct name *find_name(const struct name *name, size_t names, uint64_t at)
{
	size_t lo = 0, hi = names;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (name[mid].start <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && at - name[lo - 1].start < name[lo - 1].size ? &name[lo - 1] : NULL;
}

static const void *part(const struct elf *e, uint64_t offset, uint64_t length)
{
	return offset <= e->size && length <= e->size - offset ? e->base + offset : NULL;
}

static void take_symbols(struct elf *e, const ElfW(Shdr) * section, const ElfW(Shdr) * strings)
{
	const ElfW(Sym) *sym = part(e, section->sh_offset, section->sh_size);
	const char *text = part(e, strings->sh_offset, strings->sh_size);

	for (size_t i = 0; sym && text && i < section->sh_size / sizeof(*sym); i++) {
		const uint64_t at = sym[i].st_name;

		if ((sym[i].st_info & 0xf) != STT_FUNC || !sym[i].st_size ||
		    sym[i].st_shndx == SHN_UNDEF || at >= strings->sh_size ||
		    !memchr(text + at, '\0', strings->sh_size - at))
			continue;
		add_name(&e->name, &e->names,
			 (struct name){ sym[i].st_value, sym[i].st_size, 0, text + at });
	}
}

static void read_symbols(struct elf *e)
{
	const ElfW(Ehdr) *head = part(e, 0, sizeof(*head));
	const ElfW(Shdr) * s;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head->e_shentsize != sizeof(*s) || head->e_shoff % sizeof(void *))
		return;
	s = part(e, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*s));
	for (unsigned int i = 0; s && i < head->e_shnum; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) &&
		    !(s[i].sh_offset % sizeof(void *)) && s[i].sh_link < head->e_shnum)
			take_symbols(e, &s[i], &s[s[i].sh_link]);
	if (e->names)
		qsort(e->name, e->names, sizeof(*e->name), by_start);
}

static struct elf *elf_of(struct resolver *r, const char *path)
{
	struct stat st;
	struct elf *e;
	int fd;

	for (e = r->elfs; e; e = e->next)
		if (!strcmp(e->path, path))
			return e;
	e = calloc(1, sizeof(*e));
	if (!e || !(e->path = strdup(path))) {
		free(e);
		return NULL;
	}
	e->next = r->elfs;
	r->elfs = e;
	/* Neither a device nor a pipe, whatever a program had mapped there. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size) {
		e->base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		e->size = (size_t)st.st_size;
		if (e->base == MAP_FAILED)
			e->base = NULL;
		else
			read_symbols(e);
	}
	if (fd >= 0)
		close(fd);
	return e;
}

static const char *elf_name(const struct elf *e, uint64_t offset)
{
	const ElfW(Ehdr) *head = e->base ? part(e, 0, sizeof(*head)) : NULL;
	const ElfW(Phdr) *p = head && e->names && head->e_phentsize == sizeof(*p) ?
				      part(e, head->e_phoff, (uint64_t)head->e_phnum * sizeof(*p)) :
				      NULL;
	const struct name *n = NULL;

	for (unsigned int i = 0; p && i < head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && offset >= p[i].p_offset &&
		    offset - p[i].p_offset < p[i].p_filesz)
			n = find_name(e->name, e->names, offset - p[i].p_offset + p[i].p_vaddr);
	return n ? n->name : NULL;
}

/* "START SIZE NAME"; false for a line that says nothing. */
static bool parse_line(char *line, struct name *n)
{
	char *end;

	*n = (struct name){ .start = strtoull(line, &end, 16) };
	if (end == line || *end != ' ')
		return false;
	line = end + 1;
	n->size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1])
		return false;
	n->name = end + 1;
	return n->start + n->size >= n->start;
}

static void read_map(struct map *m)
{
	char *line, *next = m->text;
	uint64_t t = 0;

	while ((line = strsep(&next, "\n"))) {
		struct name n;

		if (!parse_line(line, &n))
			continue;
		if (!n.start && !n.size && *n.name == '@') {
			t = strtoull(n.name + 1, NULL, 10);
			m->timed |= t != 0;
			continue;
		}
		n.t = t;
		t = 0;
		if (n.size && !add_name(&m->name, &m->names, n))
			break;
	}
}

/* All of a file that a program wrote; NULL if it is none. */
static char *read_text(int fd, const struct stat *st)
{
	char *text = NULL;
	ssize_t n = 0, got;

	if (S_ISREG(st->st_mode) && st->st_size && st->st_size <= MAP_SIZE)
		text = calloc(1, (size_t)st->st_size + 1);
	while (text && n < st->st_size && (got = read(fd, text + n, (size_t)(st->st_size - n))) > 0)
		n += got;
	return text;
}

/* With the map V8 writes a log that nobody asked for, where it was started. */
static void remove_logs(int32_t tgid)
{
	char pattern[64];
	glob_t logs = { 0 };

	snprintf(pattern, sizeof(pattern), "isolate-0x*-%d-v8.log", tgid);
	if (!glob(pattern, 0, NULL, &logs))
		for (size_t i = 0; i < logs.gl_pathc; i++)
			unlink(logs.gl_pathv[i]);
	globfree(&logs);
}

/* What a runtime wrote where perf(1) looks for it; the number may be of an older process. */
static char *read_tmp(const struct profile_maps *from, int32_t tgid)
{
	char path[64], *text = NULL;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", tgid);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_mtime >= from->since && st.st_uid == geteuid()) {
		text = read_text(fd, &st);
		if (text && from->remove) {
			unlink(path);
			remove_logs(tgid);
		}
	}
	close(fd);
	return text;
}

static struct map *map_of(struct resolver *r, int32_t tgid)
{
	struct map *m;
	char path[512];
	struct stat st;
	int fd;

	for (m = r->maps; m; m = m->next)
		if (m->tgid == tgid)
			return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->tgid = tgid;
	m->next = r->maps;
	r->maps = m;
	snprintf(path, sizeof(path), "%s/perf-%d.map", r->from->folder, tgid);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		m->text = fstat(fd, &st) ? NULL : read_text(fd, &st);
		close(fd);
	} else {
		m->text = read_tmp(r->from, tgid);
	}
	if (m->text)
		read_map(m);
	return m;
}

static bool covers(const struct name *n, uint64_t address, uint64_t t)
{
	return n->t <= t && address - n->start < n->size && address >= n->start;
}

/*
 * The latest at that instant that has the address, unless something was put over a part of
 * it later: then it is not known what is left of it.
 */
static const struct name *map_name(const struct map *m, uint64_t address, uint64_t t)
{
	size_t i = m->names;

	while (i-- > 0)
		if (covers(&m->name[i], address, t))
			break;
	if (i == SIZE_MAX)
		return NULL;
	for (size_t k = i + 1; k < m->names; k++)
		if (m->name[k].t <= t && m->name[k].start < m->name[i].start + m->name[i].size &&
		    m->name[i].start < m->name[k].start + m->name[k].size)
			return NULL;
	return strcmp(m->name[i].name, "[unloaded]") ? &m->name[i] : NULL;
}

/* Addresses that the reader may not see are 0. */
static void read_kernel(struct resolver *r)
{
	size_t room = 0, n = 0;
	char *line, *next;
	FILE *f = fopen("/proc/kallsyms", "re");

	r->kernel_read = true;
	while (f && !feof(f)) {
		char *more =
			room - n < 65536 ? realloc(r->kallsyms, room + (4 << 20)) : r->kallsyms;

		if (!more)
			break;
		room += more != r->kallsyms || room - n < 65536 ? 4 << 20 : 0;
		r->kallsyms = more;
		n += fread(r->kallsyms + n, 1, 65535, f);
		if (ferror(f))
			break;
	}
	if (f)
		fclose(f);
	if (!r->kallsyms)
		return;
	r->kallsyms[n] = '\0';
	for (next = r->kallsyms; (line = strsep(&next, "\n"));) {
		struct name k = { .start = strtoull(line, &line, 16) };

		if (!k.start ||
		    (line[1] != 't' && line[1] != 'T' && line[1] != 'w' && line[1] != 'W'))
			continue;
		k.name = line + 3;
		if (!add_name(&r->kernel, &r->kernels, k))
			break;
	}
	if (r->kernels)
		qsort(r->kernel, r->kernels, sizeof(*r->kernel), by_start);
	/* It tells no sizes: up to the next one, as everybody reads it. */
	for (size_t i = 0; i + 1 < r->kernels; i++)
		r->kernel[i].size = r->kernel[i + 1].start - r->kernel[i].start;
}

static bool is_known(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	bool known;

	sqlite3_bind_int(r->known, 1, tgid);
	sqlite3_bind_int64(r->known, 2, (sqlite3_int64)address);
	sqlite3_bind_int64(r->known, 3, (sqlite3_int64)t);
	known = sqlite3_step(r->known) == SQLITE_ROW;
	sqlite3_reset(r->known);
	return known;
}

/* Was the last that is known of it before @t a name? */
static bool is_named(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	bool named;

	sqlite3_bind_int(r->latest, 1, tgid);
	sqlite3_bind_int64(r->latest, 2, (sqlite3_int64)address);
	sqlite3_bind_int64(r->latest, 3, (sqlite3_int64)t);
	named = sqlite3_step(r->latest) == SQLITE_ROW &&
		sqlite3_column_type(r->latest, 0) != SQLITE_NULL;
	sqlite3_reset(r->latest);
	return named;
}

static void put(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t, const char *image,
		const char *name)
{
	sqlite3_bind_int(r->add, 1, tgid);
	sqlite3_bind_int64(r->add, 2, (sqlite3_int64)address);
	sqlite3_bind_int64(r->add, 3, (sqlite3_int64)t);
	sqlite3_bind_text(r->add, 4, image, -1, SQLITE_TRANSIENT);
	if (name)
		sqlite3_bind_text(r->add, 5, name, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(r->add, 5);
	r->failed |= sqlite3_step(r->add) != SQLITE_DONE;
	sqlite3_reset(r->add);
}

/* What a program named itself. What names came and went of is asked at each instant. */
static bool resolve_named(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	const struct map *m = map_of(r, tgid);
	const struct name *n;

	if (!m || !m->names)
		return false;
	if (!m->timed && is_known(r, tgid, address, 0))
		return true;
	n = map_name(m, address, t);
	/* Nothing now, and something before: say from when on there is nothing. */
	if (!n && m->timed && is_named(r, tgid, address, t))
		put(r, tgid, address, t, "[methods]", NULL);
	if (n)
		put(r, tgid, address, n->t, "[methods]", n->name);
	return n;
}

static void resolve_user(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	char image[256];
	const char *path, *slash;

	if (resolve_named(r, tgid, address, t) || is_known(r, tgid, address, t))
		return;
	sqlite3_bind_int(r->image, 1, tgid);
	sqlite3_bind_int64(r->image, 2, (sqlite3_int64)address);
	if (sqlite3_step(r->image) == SQLITE_ROW) {
		uint64_t offset = address - (uint64_t)sqlite3_column_int64(r->image, 0) +
				  (uint64_t)sqlite3_column_int64(r->image, 1);
		const struct elf *e = NULL;

		path = (const char *)sqlite3_column_text(r->image, 2);
		if (path && *path == '/')
			e = elf_of(r, path);
		slash = path ? strrchr(path, '/') : NULL;
		snprintf(image, sizeof(image), "%s",
			 slash	       ? slash + 1 :
			 path && *path ? path :
					 "[code without a file]");
		put(r, tgid, address, 0, image, e ? elf_name(e, offset) : NULL);
	}
	sqlite3_reset(r->image);
}

static void resolve_kernel(struct resolver *r, uint64_t address)
{
	const struct name *n;

	if (is_known(r, 0, address, 0))
		return;
	if (!r->kernel_read)
		read_kernel(r);
	n = find_name(r->kernel, r->kernels, address);
	put(r, 0, address, 0, "[kernel]", n ? n->name : NULL);
}

static void resolve_stack(struct resolver *r, int32_t tgid, uint64_t t, const char *frames)
{
	while (frames && *frames) {
		char *end;
		uint64_t address = strtoull(frames, &end, 16);

		if (end == frames)
			break;
		if (address >> (sizeof(long) * 8 - 1))
			resolve_kernel(r, address);
		else
			resolve_user(r, tgid, address, t);
		frames = *end ? end + 1 : end;
	}
}

static void resolve_all(struct resolver *r)
{
	sqlite3_stmt *s = NULL;

	r->failed |= sqlite3_prepare_v2(r->db,
					"SELECT h.t, h.tgid, h.method, h.ip, h.kernel, s.frames "
					"FROM hotspots h LEFT JOIN stacks s ON s.id = h.stack "
					"ORDER BY h.t",
					-1, &s, NULL) != SQLITE_OK;
	while (!r->failed && sqlite3_step(s) == SQLITE_ROW) {
		const uint64_t t = (uint64_t)sqlite3_column_int64(s, 0);
		const int32_t tgid = sqlite3_column_int(s, 1);

		if (sqlite3_column_int64(s, 2))
			resolve_named(r, tgid, (uint64_t)sqlite3_column_int64(s, 2), t);
		if (sqlite3_column_int64(s, 3))
			resolve_user(r, tgid, (uint64_t)sqlite3_column_int64(s, 3), t);
		if (sqlite3_column_int64(s, 4))
			resolve_kernel(r, (uint64_t)sqlite3_column_int64(s, 4));
		resolve_stack(r, tgid, t, (const char *)sqlite3_column_text(s, 5));
	}
	sqlite3_finalize(s);
}

/* Also of processes that were never sampled. */
static void clean_up(struct resolver *r)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(r->db, "SELECT DISTINCT tgid FROM processes", -1, &s, NULL))
		return;
	while (sqlite3_step(s) == SQLITE_ROW)
		map_of(r, sqlite3_column_int(s, 0));
	sqlite3_finalize(s);
}

static bool prepare(struct resolver *r, const char *file)
{
	return !sqlite3_open_v2(file, &r->db, SQLITE_OPEN_READWRITE, NULL) &&
	       !sqlite3_prepare_v2(r->db,
				   "SELECT first, offset, path FROM images WHERE tgid = ?1 AND "
				   "first <= ?2 AND last >= ?2 ORDER BY t DESC LIMIT 1",
				   -1, &r->image, NULL) &&
	       !sqlite3_prepare_v2(r->db,
				   "SELECT 1 FROM symbols WHERE tgid = ?1 AND address = ?2 AND "
				   "t <= ?3",
				   -1, &r->known, NULL) &&
	       !sqlite3_prepare_v2(r->db,
				   "SELECT name FROM symbols WHERE tgid = ?1 AND address = ?2 AND "
				   "t <= ?3 ORDER BY t DESC LIMIT 1",
				   -1, &r->latest, NULL) &&
	       !sqlite3_prepare_v2(r->db, "INSERT OR IGNORE INTO symbols VALUES(?1,?2,?3,?4,?5)",
				   -1, &r->add, NULL) &&
	       !sqlite3_exec(r->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

bool profile_resolve(const char *file, const struct profile_maps *maps)
{
	struct resolver r = { .from = maps };
	bool good = prepare(&r, file);

	if (good)
		resolve_all(&r);
	if (good && maps->remove)
		clean_up(&r);
	good = good && !r.failed && !sqlite3_exec(r.db, "COMMIT", NULL, NULL, NULL);
	if (!good)
		ctl_error("%s: no names were put into it: %s", file, sqlite3_errmsg(r.db));
	sqlite3_finalize(r.image);
	sqlite3_finalize(r.known);
	sqlite3_finalize(r.latest);
	sqlite3_finalize(r.add);
	sqlite3_close(r.db);
	for (struct elf *e = r.elfs, *next; e; e = next) {
		next = e->next;
		if (e->base)
			munmap(e->base, e->size);
		free(e->name);
		free(e->path);
		free(e);
	}
	for (struct map *m = r.maps, *next; m; m = next) {
		next = m->next;
		free(m->name);
		free(m->text);
		free(m);
	}
	free(r.kernel);
	free(r.kallsyms);
	return good;
}
