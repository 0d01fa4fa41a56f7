// SPDX-License-Identifier: GPL-2.0-or-later
#include "allocations.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/amount.h"
#include "../../common/root.h"
#include "../../recording/reader/db.h"
#include "../ctl.h"

#define PREFIX "allocations-"

struct store {
	sqlite3 *db;
	sqlite3_stmt *add;
	const char *directory;
	size_t rows;
};

/* "BYTES SAMPLES FRAME;FRAME": as a program wrote it, so that nothing is taken for granted. */
static void store_add_line(struct store *s, int64_t tgid, char *line)
{
	char *end, *stack;
	const long long bytes = strtoll(line, &end, 10), samples = strtoll(end, &stack, 10);

	if (*stack != ' ' || bytes <= 0 || samples <= 0)
		return;
	stack++;
	stack[strcspn(stack, "\n")] = '\0';
	sqlite3_bind_int64(s->add, 1, tgid);
	sqlite3_bind_int64(s->add, 2, bytes);
	sqlite3_bind_int64(s->add, 3, samples);
	sqlite3_bind_text(s->add, 4, stack, -1, SQLITE_TRANSIENT);
	s->rows += sqlite3_step(s->add) == SQLITE_DONE;
	sqlite3_reset(s->add);
}

static int store_add_file(void *data, const char *name)
{
	struct store *s = data;
	const int64_t tgid = strtoll(name + strlen(PREFIX), NULL, 10);
	char path[512], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", s->directory, name);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0)
		store_add_line(s, tgid, line);
	free(line);
	if (f)
		fclose(f);
	unlink(path);
	return 0;
}

bool allocations_store(const char *file, const char *directory)
{
	struct store s = { .directory = directory };
	bool good = !sqlite3_open_v2(file, &s.db, SQLITE_OPEN_READWRITE, NULL) &&
		    !sqlite3_prepare_v2(s.db, "INSERT INTO allocations VALUES(?1,?2,?3,?4)", -1,
					&s.add, NULL) &&
		    !sqlite3_exec(s.db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	root_list(directory, PREFIX, store_add_file, &s);
	good = good && !sqlite3_exec(s.db, "COMMIT", NULL, NULL, NULL);
	if (!good)
		ctl_error("%s: the allocations could not be added: %s", file, sqlite3_errmsg(s.db));
	else if (!s.rows)
		ctl_error("%s has no allocations: OpenJDK and Node.js from version 20 on report "
			  "them, at the end of a process that is not killed",
			  file);
	sqlite3_finalize(s.add);
	sqlite3_close(s.db);
	return good && s.rows;
}

/* A function: what it allocates itself, and with all that it calls. */
struct site {
	char *name;
	double self, total;
};

struct sites {
	struct site *site;
	size_t nr, room;
	double bytes, samples;
	bool scarce;
};

static void sites_add(struct sites *s, const char *name, size_t length, double self, double total)
{
	if (s->nr == s->room) {
		const size_t room = s->room ? 2 * s->room : 1024;
		struct site *more = realloc(s->site, room * sizeof(*more));

		s->scarce = s->scarce || !more;
		if (!more)
			return;
		s->site = more;
		s->room = room;
	}
	s->site[s->nr] = (struct site){ strndup(name, length), self, total };
	s->scarce = s->scarce || !s->site[s->nr].name;
	s->nr += s->site[s->nr].name != NULL;
}

/* Each function of a stack once, however often it is in it. */
static void sites_add_stack(struct sites *s, const char *stack, double bytes)
{
	const size_t first = s->nr;
	size_t length, i;

	for (const char *at = stack;; at += length + 1) {
		const bool leaf = !at[length = strcspn(at, ";")];

		for (i = first; i < s->nr; i++)
			if (!strncmp(s->site[i].name, at, length) && !s->site[i].name[length])
				break;
		if (i < s->nr)
			s->site[i].self += leaf ? bytes : 0;
		else
			sites_add(s, at, length, leaf ? bytes : 0, bytes);
		if (leaf)
			break;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct site *)a)->name, ((const struct site *)b)->name);
}

static int by_self(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return x->total != y->total ? (x->total < y->total ? 1 : -1) : by_name(a, b);
}

static void sites_merge(struct sites *s)
{
	size_t nr = 0;

	if (!s->nr)
		return;
	qsort(s->site, s->nr, sizeof(*s->site), by_name);
	for (size_t i = 0; i < s->nr; i++) {
		if (!nr || by_name(&s->site[nr - 1], &s->site[i])) {
			s->site[nr++] = s->site[i];
			continue;
		}
		s->site[nr - 1].self += s->site[i].self;
		s->site[nr - 1].total += s->site[i].total;
		free(s->site[i].name);
	}
	s->nr = nr;
	qsort(s->site, s->nr, sizeof(*s->site), by_self);
}

static void sites_free(struct sites *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->site[i].name);
	free(s->site);
}

static sqlite3_stmt *allocations_query(const struct recording *rec)
{
	return db_select(rec->db, allocations, "ORDER BY bytes DESC", COLUMN(allocations, bytes),
			 COLUMN(allocations, samples), COLUMN(allocations, stack));
}

/* Returns false, after reporting it, if there are none. */
static bool allocations_exist(const struct recording *rec, double samples)
{
	if (samples > 0)
		return true;
	ctl_error("%s has no allocations: record them with gchintctl profile record --allocations",
		  rec->path);
	return false;
}

static void sites_print(const struct sites *s, size_t lines)
{
	char bytes[AMOUNT_TEXT];

	printf("%.0f samples, about %s allocated; collections come as fast as bytes\n", s->samples,
	       amount_bytes(s->bytes, bytes));
	puts("\nBy function\n     BYTES   SELF %  WITH CALLEES %  FUNCTION");
	for (size_t i = 0; i < s->nr && i < lines; i++) {
		printf("%10s %8.2f %15.2f  %s\n", amount_bytes(s->site[i].self, bytes),
		       100 * s->site[i].self / s->bytes, 100 * s->site[i].total / s->bytes,
		       s->site[i].name);
	}
	if (s->nr > lines)
		printf("  ... and %zu more: --lines\n", s->nr - lines);
}

int allocations_report(const struct recording *rec, size_t lines)
{
	sqlite3_stmt *stmt = allocations_query(rec);
	struct sites s = { 0 };
	int ret = CTL_FILE;

	while (db_next(stmt)) {
		const double bytes = (double)db_int(stmt, COLUMN(allocations, bytes), 0);

		s.bytes += bytes;
		s.samples += (double)db_int(stmt, COLUMN(allocations, samples), 0);
		sites_add_stack(&s, db_text(stmt, COLUMN(allocations, stack), "?"), bytes);
	}
	sqlite3_finalize(stmt);
	sites_merge(&s);
	if (s.scarce) {
		db_missing(rec->path, "no memory for its allocations");
	} else if (allocations_exist(rec, s.samples)) {
		sites_print(&s, lines);
		ret = CTL_OK;
	}
	sites_free(&s);
	return ret;
}

int allocations_fold(const struct recording *rec, FILE *f)
{
	sqlite3_stmt *stmt = allocations_query(rec);
	size_t rows = 0;

	while (db_next(stmt)) {
		const char *text = db_text(stmt, COLUMN(allocations, stack), "?");

		/* A stack is a line, whatever a file has. */
		for (; *text; text++)
			fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, f);
		fprintf(f, " %" PRId64 "\n", db_int(stmt, COLUMN(allocations, bytes), 0));
		rows++;
	}
	sqlite3_finalize(stmt);
	return allocations_exist(rec, (double)rows) ? CTL_OK : CTL_FILE;
}
