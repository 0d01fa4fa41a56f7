// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resolves addresses to names: from symbol tables of mapped files, from maps and dumps that
 * runtimes write of the code that they compile, and from /proc/kallsyms. Maps and dumps are
 * untrusted input. An address that is not certainly within a symbol gets no name, because a
 * guess would be the name of the neighbouring symbol.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/regular.h"
#include "../../common/root.h"
#include "../../symbols/elf.h"
#include "../../symbols/jitmap.h"
#include "../../symbols/perf-map.h"
#include "../ctl.h"
#include "profile.h"

#define INLINED_MAX 64 /* functions inlined into one, at one address */
#define MAP_SIZE    (256 << 20) /* largest map or dump that is read, bytes */

struct file {
	struct file *next;
	struct elf *elf;
};

/* The map and the dump that one process wrote. */
struct map {
	struct map *next;
	int32_t tgid;
	char *text, *dump;
	struct jitmap names;
};

struct resolver {
	sqlite3 *db;
	sqlite3_stmt *image, *remapped, *dump, *known, *latest, *users, *add, *place;
	const struct profile_maps *from;
	struct file *files;
	struct map *maps;
	struct symbols kernel;
	char *kallsyms;
	bool kernel_read, failed;
	bool any_remapped; /* a process mapped two files at one address, one after the other */
};

/*
 * Whether the file was replaced or changed after it was mapped: an upgrade renames another file over
 * it, whose names would be wrong. A rename changes the time of the inode (ctime).
 */
static bool file_is_newer(const char *path, uint64_t mapped)
{
	struct timespec now;
	uint64_t since_boot, changed;
	struct stat st;

	if (stat(path, &st) || clock_gettime(CLOCK_REALTIME, &now))
		return false;
	since_boot = (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec - clock_now();
	changed = (uint64_t)st.st_ctim.tv_sec * NSEC_PER_SEC + (uint64_t)st.st_ctim.tv_nsec;
	return changed > since_boot + mapped;
}

static struct elf *resolver_elf(struct resolver *r, const char *path)
{
	struct file *f;

	for (f = r->files; f; f = f->next)
		if (!strcmp(elf_path(f->elf), path))
			return f->elf;
	f = calloc(1, sizeof(*f));
	if (!f || !(f->elf = elf_open(path))) {
		free(f);
		return NULL;
	}
	f->next = r->files;
	r->files = f;
	return f->elf;
}

/* Reads a whole file; returns NULL if it is empty or larger than MAP_SIZE, which is reported. */
static char *file_read_text(int fd, const struct stat *st, const char *path)
{
	char *text = NULL;
	ssize_t n = 0, got;

	if (st->st_size > MAP_SIZE)
		ctl_error("%s: has %lld MiB, over %d MiB: its names are not read", path,
			  (long long)st->st_size >> 20, MAP_SIZE >> 20);
	if (st->st_size && st->st_size <= MAP_SIZE)
		text = calloc(1, (size_t)st->st_size + 1);
	while (text && n < st->st_size && (got = read(fd, text + n, (size_t)(st->st_size - n))) > 0)
		n += got;
	return text;
}

/* V8 writes a log along with the map, into its working directory. */
static void v8_remove_logs(int32_t tgid)
{
	char pattern[64];
	glob_t logs = { 0 };

	snprintf(pattern, sizeof(pattern), "isolate-0x*-%d-v8.log", tgid);
	if (!glob(pattern, 0, NULL, &logs))
		for (size_t i = 0; i < logs.gl_pathc; i++)
			unlink(logs.gl_pathv[i]);
	globfree(&logs);
}

#define USERS_MAX 16

/* Whether the file belongs to a user that the process had. */
static bool file_is_trusted(struct resolver *r, const struct stat *st, int32_t tgid)
{
	uid_t users[USERS_MAX];
	size_t nr = 0;

	sqlite3_bind_int(r->users, 1, tgid);
	while (nr < USERS_MAX && sqlite3_step(r->users) == SQLITE_ROW)
		users[nr++] = (uid_t)sqlite3_column_int64(r->users, 0);
	sqlite3_reset(r->users);
	return symbol_file_is_trusted(st, users, nr);
}

/*
 * Reads the map that a runtime wrote to /tmp, where perf(1) expects it. It is ignored if it is
 * older than the recording, because it may be that of an earlier process with the same PID.
 */
static char *map_read_tmp(struct resolver *r, int32_t tgid)
{
	char path[64], *text = NULL;
	struct stat st;
	int fd;

	fd = perf_map_open(PERF_MAP_PUBLIC, tgid, &st);
	if (fd < 0)
		return NULL;
	perf_map_path(path, sizeof(path), PERF_MAP_PUBLIC, tgid);
	if (st.st_mtime >= r->from->since && file_is_trusted(r, &st, tgid)) {
		text = file_read_text(fd, &st, path);
		/* That of a Python is the program's own. */
		if (st.st_size && r->from->remove && !(text && strstr(text, " py::"))) {
			unlink(path);
			v8_remove_logs(tgid);
		}
	}
	close(fd);
	return text;
}

/*
 * Reads the dump of a process. A runtime maps its dump as executable for perf(1) to find it, so
 * that it is among the recorded images.
 */
static char *dump_read(struct resolver *r, int32_t tgid, size_t *size)
{
	char *data = NULL, path[PATH_MAX];
	struct stat st;
	int fd = -1;

	sqlite3_bind_int(r->dump, 1, tgid);
	if (sqlite3_step(r->dump) == SQLITE_ROW) {
		snprintf(path, sizeof(path), "%s", (const char *)sqlite3_column_text(r->dump, 0));
		fd = regular_open(path, O_NOFOLLOW, &st);
	}
	sqlite3_reset(r->dump);
	if (fd < 0)
		return NULL;
	if (file_is_trusted(r, &st, tgid)) {
		data = file_read_text(fd, &st, path);
		*size = (size_t)st.st_size;
	}
	close(fd);
	return data;
}

static struct map *resolver_map(struct resolver *r, int32_t tgid)
{
	struct map *m;
	char path[512];
	struct stat st;
	size_t size = 0;
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
	perf_map_path(path, sizeof(path), r->from->directory, tgid);
	fd = perf_map_open(r->from->directory, tgid, &st);
	if (fd >= 0) {
		m->text = file_read_text(fd, &st, path);
		close(fd);
	} else {
		m->text = map_read_tmp(r, tgid);
	}
	m->dump = dump_read(r, tgid, &size);
	if (m->text)
		jitmap_perf(&m->names, m->text);
	/* The dump has lines and times of validity: it takes precedence over the map. */
	if (m->dump)
		jitmap_dump(&m->names, m->dump, size);
	return m;
}

/* Reads /proc/kallsyms; addresses are 0 there for users without the privilege. */
static void kernel_read_symbols(struct resolver *r)
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
		struct symbol k = { .start = strtoull(line, &line, 16) };

		if (!k.start ||
		    (line[1] != 't' && line[1] != 'T' && line[1] != 'w' && line[1] != 'W'))
			continue;
		k.name = line + 3;
		if (!symbols_add(&r->kernel, k))
			break;
	}
	symbols_sort(&r->kernel);
	/* It has no sizes: as in other profilers a symbol extends to the next one. */
	for (size_t i = 0; i + 1 < r->kernel.nr; i++)
		r->kernel.list[i].size = r->kernel.list[i + 1].start - r->kernel.list[i].start;
}

static bool symbol_is_known(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	bool known;

	sqlite3_bind_int(r->known, 1, tgid);
	sqlite3_bind_int64(r->known, 2, (sqlite3_int64)address);
	sqlite3_bind_int64(r->known, 3, (sqlite3_int64)t);
	known = sqlite3_step(r->known) == SQLITE_ROW;
	sqlite3_reset(r->known);
	return known;
}

/* Whether the latest entry for the address up to @t names code that a runtime compiled. */
static bool method_is_named(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	bool named;

	sqlite3_bind_int(r->latest, 1, tgid);
	sqlite3_bind_int64(r->latest, 2, (sqlite3_int64)address);
	sqlite3_bind_int64(r->latest, 3, (sqlite3_int64)t);
	named = sqlite3_step(r->latest) == SQLITE_ROW && sqlite3_column_int(r->latest, 0);
	sqlite3_reset(r->latest);
	return named;
}

static void resolver_insert_symbol(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t,
				   const char *image, const char *name)
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

/* Adds the functions inlined at an address, in the form of the column; false if there is none. */
static bool inlined_format(struct elf *e, uint64_t address, sqlite3_str *text)
{
	struct dwarf_inlined inlined[INLINED_MAX];
	const size_t nr = e ? elf_inlined(e, address, inlined, INLINED_MAX) : 0;

	for (size_t i = 0; i < nr; i++)
		sqlite3_str_appendf(text, "%s\t%d\t%s\n", inlined[i].name, inlined[i].call.line,
				    inlined[i].call.file ? inlined[i].call.file : "");
	return nr;
}

/*
 * Inserts the offset of an address into its symbol and, if known, its source line and the functions
 * inlined there, of @e at @at; NULL for other code.
 */
static void resolver_insert_line(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t,
				 uint64_t offset, const struct dwarf_line *line, struct elf *e,
				 uint64_t at)
{
	sqlite3_str *inlined;

	if (!r->place)
		return;
	inlined = sqlite3_str_new(r->db);
	sqlite3_bind_int(r->place, 1, tgid);
	sqlite3_bind_int64(r->place, 2, (sqlite3_int64)address);
	sqlite3_bind_int64(r->place, 3, (sqlite3_int64)t);
	sqlite3_bind_int64(r->place, 4, (sqlite3_int64)offset);
	if (line) {
		sqlite3_bind_text(r->place, 5, line->file, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int(r->place, 6, line->line);
	} else {
		sqlite3_bind_null(r->place, 5);
		sqlite3_bind_null(r->place, 6);
	}
	if (inlined_format(e, at, inlined))
		sqlite3_bind_text(r->place, 7, sqlite3_str_value(inlined), -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(r->place, 7);
	sqlite3_free(sqlite3_str_finish(inlined));
	r->failed |= sqlite3_step(r->place) != SQLITE_DONE;
	sqlite3_reset(r->place);
}

/*
 * Resolves code that a runtime compiled and named. With timed names an address is looked up at
 * each instant, because code at the same address changes.
 */
static bool resolve_named(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	const struct map *m = resolver_map(r, tgid);
	const struct symbol *n;
	struct dwarf_line line;

	if (!m || !m->names.symbols.nr)
		return false;
	if (!m->names.timed && symbol_is_known(r, tgid, address, 0))
		return true;
	n = jitmap_find(&m->names, address, t);
	/* The code is gone: insert an entry without a name, which ends the earlier one. */
	if (!n && m->names.timed && method_is_named(r, tgid, address, t))
		resolver_insert_symbol(r, tgid, address, t, PROFILE_METHODS, NULL);
	if (n) {
		resolver_insert_symbol(r, tgid, address, n->t, PROFILE_METHODS, n->name);
		resolver_insert_line(r, tgid, address, n->t, address - n->start,
				     jitmap_line(n, address, &line) ? &line : NULL, NULL, 0);
	}
	return n;
}

/* Whether another file was mapped at the address later on. */
static bool address_is_remapped(struct resolver *r, int32_t tgid, uint64_t address)
{
	bool remapped;

	if (!r->any_remapped)
		return false;
	sqlite3_bind_int(r->remapped, 1, tgid);
	sqlite3_bind_int64(r->remapped, 2, (sqlite3_int64)address);
	remapped =
		sqlite3_step(r->remapped) == SQLITE_ROW && sqlite3_column_int(r->remapped, 0) > 1;
	sqlite3_reset(r->remapped);
	return remapped;
}

static void resolve_user(struct resolver *r, int32_t tgid, uint64_t address, uint64_t t)
{
	char image[256];
	const char *path, *slash;
	bool remapped;

	if (resolve_named(r, tgid, address, t))
		return;
	/* There the name is valid from the mapping on, elsewhere always. */
	remapped = address_is_remapped(r, tgid, address);
	if (!remapped && symbol_is_known(r, tgid, address, t))
		return;
	sqlite3_bind_int(r->image, 1, tgid);
	sqlite3_bind_int64(r->image, 2, (sqlite3_int64)address);
	sqlite3_bind_int64(r->image, 3, (sqlite3_int64)t);
	if (sqlite3_step(r->image) == SQLITE_ROW) {
		uint64_t offset = address - (uint64_t)sqlite3_column_int64(r->image, 0) +
				  (uint64_t)sqlite3_column_int64(r->image, 1);
		const struct symbol *n = NULL;
		struct elf *e = NULL;
		struct dwarf_line line;
		uint64_t at = 0, from = 0;

		if (remapped && (uint64_t)sqlite3_column_int64(r->image, 3) <= t)
			from = (uint64_t)sqlite3_column_int64(r->image, 3);
		path = (const char *)sqlite3_column_text(r->image, 2);
		if (path && (!strcmp(path, ELF_VDSO) ||
			     (*path == '/' &&
			      !file_is_newer(path, (uint64_t)sqlite3_column_int64(r->image, 3)))))
			e = resolver_elf(r, path);
		if (e)
			n = elf_at(e, offset, &at);
		slash = path ? strrchr(path, '/') : NULL;
		snprintf(image, sizeof(image), "%s",
			 slash	       ? slash + 1 :
			 path && *path ? path :
					 "[code without a file]");
		resolver_insert_symbol(r, tgid, address, from, image, n ? n->name : NULL);
		if (n)
			resolver_insert_line(r, tgid, address, from, at - n->start,
					     elf_line(e, at, &line) ? &line : NULL, e, at);
	}
	sqlite3_reset(r->image);
}

static void resolve_kernel(struct resolver *r, uint64_t address)
{
	const struct symbol *n;

	if (symbol_is_known(r, 0, address, 0))
		return;
	if (!r->kernel_read)
		kernel_read_symbols(r);
	n = symbols_find(&r->kernel, address);
	resolver_insert_symbol(r, 0, address, 0, "[kernel]", n ? n->name : NULL);
	if (n)
		resolver_insert_line(r, 0, address, 0, address - n->start, NULL, NULL, 0);
}

static void resolve_stack(struct resolver *r, int32_t tgid, uint64_t t, const char *frames)
{
	struct profile_chain chain = { .text = frames ? frames : "" };
	uint64_t address;

	while (profile_chain_next(&chain, &address)) {
		if (profile_is_kernel(address))
			resolve_kernel(r, address);
		else
			resolve_user(r, tgid, address, t);
	}
}

static bool images_overlap(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	bool overlap;

	sqlite3_prepare_v2(
		db,
		"SELECT 1 FROM images a JOIN images b USING(tgid) WHERE a.rowid < b.rowid "
		"AND a.first < b.last AND b.first < a.last AND a.path <> b.path LIMIT 1",
		-1, &s, NULL);
	overlap = sqlite3_step(s) == SQLITE_ROW;
	sqlite3_finalize(s);
	return overlap;
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

/* Loads the map of every process, which removes it, also if the process was never sampled. */
static void resolver_remove_maps(struct resolver *r)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(r->db, "SELECT DISTINCT tgid FROM processes", -1, &s, NULL))
		return;
	while (sqlite3_step(s) == SQLITE_ROW)
		resolver_map(r, sqlite3_column_int(s, 0));
	sqlite3_finalize(s);
}

static bool resolver_open(struct resolver *r, const char *file)
{
	const bool good =
		!sqlite3_open_v2(file, &r->db, SQLITE_OPEN_READWRITE, NULL) &&
		!sqlite3_prepare_v2(r->db,
				    "SELECT first, offset, path, t FROM images WHERE tgid = ?1 AND "
				    "first <= ?2 AND last >= ?2 ORDER BY t > ?3, "
				    "abs(t - ?3) LIMIT 1",
				    -1, &r->image, NULL) &&
		!sqlite3_prepare_v2(r->db,
				    "SELECT count(DISTINCT path) FROM images WHERE tgid = ?1 AND "
				    "first <= ?2 AND last >= ?2",
				    -1, &r->remapped, NULL) &&
		!sqlite3_prepare_v2(r->db,
				    "SELECT path FROM images WHERE tgid = ?1 AND path GLOB "
				    "'/*/jit-[0-9]*.dump' ORDER BY t DESC LIMIT 1",
				    -1, &r->dump, NULL) &&
		!sqlite3_prepare_v2(
			r->db,
			"SELECT DISTINCT uid FROM processes WHERE tgid = ?1 AND uid IS NOT NULL",
			-1, &r->users, NULL) &&
		!sqlite3_prepare_v2(r->db,
				    "SELECT 1 FROM symbols WHERE tgid = ?1 AND address = ?2 AND "
				    "t <= ?3",
				    -1, &r->known, NULL) &&
		!sqlite3_prepare_v2(r->db,
				    "SELECT image = '" PROFILE_METHODS "' AND name IS NOT NULL "
				    "FROM symbols WHERE tgid = ?1 AND address = ?2 AND t <= ?3 "
				    "ORDER BY t DESC LIMIT 1",
				    -1, &r->latest, NULL) &&
		!sqlite3_prepare_v2(r->db, "INSERT OR IGNORE INTO symbols VALUES(?1,?2,?3,?4,?5)",
				    -1, &r->add, NULL) &&
		!sqlite3_exec(r->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	/* Recordings of older versions have no table of lines. */
	if (good &&
	    sqlite3_prepare_v2(r->db, "INSERT OR IGNORE INTO lines VALUES(?1,?2,?3,?4,?5,?6,?7)",
			       -1, &r->place, NULL))
		r->place = NULL;
	return good;
}

bool profile_resolve(const char *file, const struct profile_maps *maps)
{
	struct resolver r = { .from = maps };
	bool good = resolver_open(&r, file);

	r.any_remapped = good && images_overlap(r.db);
	if (good)
		resolve_all(&r);
	if (good && maps->remove)
		resolver_remove_maps(&r);
	good = good && !r.failed && !sqlite3_exec(r.db, "COMMIT", NULL, NULL, NULL);
	if (!good)
		ctl_error("%s: the names of symbols could not be added: %s", file,
			  sqlite3_errmsg(r.db));
	sqlite3_finalize(r.image);
	sqlite3_finalize(r.remapped);
	sqlite3_finalize(r.dump);
	sqlite3_finalize(r.known);
	sqlite3_finalize(r.latest);
	sqlite3_finalize(r.users);
	sqlite3_finalize(r.add);
	sqlite3_finalize(r.place);
	sqlite3_close(r.db);
	for (struct file *f = r.files, *next; f; f = next) {
		next = f->next;
		elf_close(f->elf);
		free(f);
	}
	for (struct map *m = r.maps, *next; m; m = next) {
		next = m->next;
		jitmap_free(&m->names);
		free(m->text);
		free(m->dump);
		free(m);
	}
	symbols_free(&r.kernel);
	free(r.kallsyms);
	return good;
}
