// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * import FILE...: makes a recording of what programs wrote to GCHINT_TRACE (gchint-trace(5)). As
 * in any recording, a row of phases is an interval in which the phase was the innermost of its
 * thread. Phases that were too short to be announced have no row.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../common/names.h"
#include "../../common/text.h"
#include "../../recording/store.h"
#include "../../source/hint/tracker.h"
#include "../ctl.h"

static const char usage[] =
	"usage: gchintctl import FILE... [-o FILE] [-l LABEL]\n"
	"Makes a recording from the files that programs wrote for GCHINT_TRACE.\n"
	"\n"
	"  -o, --output FILE  the recording (default: gchint-trace.db)\n"
	"  -l, --label LABEL  name of the run, for reports that compare runs\n";

#define BUCKETS 1024
#define NEST	64
#define THREADS (1u << 20) /* bounds the memory that a file can claim */
#define BATCH	65536 /* rows in a transaction */

/* An open phase of the trace; is_short if it was not announced to the kernel. */
struct open {
	uint32_t phase, flags, cause;
	bool is_short;
};

struct thread {
	struct thread *next;
	int32_t pid, tid;
	uint64_t session;
	uint32_t slot;
	unsigned int depth; /* may exceed NEST: deeper phases are only counted */
	struct open nest[NEST];
	struct record row; /* type is RECORD_PHASE while a row is open */
};

struct import {
	struct store *store;
	struct thread *bucket[BUCKETS];
	unsigned int threads, rows;
	uint64_t first, last, ids, sessions, lost, bad;
	int error;
};

/* One line of a trace, split at its blanks. */
struct line {
	uint64_t t;
	int32_t pid, tid;
	char *event, *rest;
};

static void record_write(struct import *m, struct record *r)
{
	if (!m->error)
		m->error = store_record(m->store, r);
	if (!m->error && ++m->rows % BATCH == 0) {
		m->error = store_commit(m->store);
		if (!m->error)
			m->error = store_begin(m->store);
	}
}

static void definition_write(struct import *m, enum definition_kind kind,
			     const char *const *strings, unsigned int nr)
{
	const int64_t unknown[] = { UNKNOWN_S64 };
	struct definition *d =
		definition_new(kind, m->last, unknown, kind == DEFINE_SOURCE, strings, nr);

	if (!m->error)
		m->error = d ? store_define(m->store, d) : -ENOMEM;
	definition_free(d);
}

static void meta_write(struct import *m, const char *key, const char *value)
{
	const char *strings[] = { key, value };

	definition_write(m, DEFINE_META, strings, 2);
}

static struct thread *thread_of(struct import *m, int32_t pid, int32_t tid)
{
	struct thread **at = &m->bucket[((uint32_t)pid * 31 + (uint32_t)tid) % BUCKETS], *t;

	while (*at && ((*at)->pid != pid || (*at)->tid != tid))
		at = &(*at)->next;
	if (*at || m->threads >= THREADS)
		return *at;
	t = calloc(1, sizeof(*t));
	if (!t) {
		m->error = -ENOMEM;
		return NULL;
	}
	t->pid = pid;
	t->tid = tid;
	t->slot = m->threads++;
	t->session = TRACKER_LIBRARY | (m->sessions ? m->sessions : 1);
	t->row.type = RECORD_NR;
	*at = t;
	return t;
}

static void row_end(struct import *m, struct thread *t, uint64_t now, enum record_end how)
{
	if (t->row.type != RECORD_PHASE)
		return;
	t->row.t = now > t->row.phase.t0 ? now : t->row.phase.t0;
	t->row.phase.how = (uint8_t)how;
	record_write(m, &t->row);
	t->row.type = RECORD_NR;
}

/* Begins a row for the innermost phase that was announced, if there is one. */
static void row_begin(struct import *m, struct thread *t, uint64_t now)
{
	const struct open *o = NULL;

	for (unsigned int n = t->depth < NEST ? t->depth : NEST; n && !o; n--)
		if (!t->nest[n - 1].is_short)
			o = &t->nest[n - 1];
	if (!o)
		return;
	memset(&t->row, 0, sizeof(t->row));
	t->row.type = RECORD_PHASE;
	t->row.phase = (struct record_phase){
		.id = ++m->ids,
		.t0 = now,
		.session = t->session,
		.tgid = t->pid,
		.tid = t->tid,
		.slot = t->slot,
		.cpu = UNKNOWN_U32,
		.seq = UNKNOWN_U32,
		.phase = o->phase,
		.flags = o->flags,
		.cause = o->cause,
		.hinted = true,
	};
}

static bool word_find(const char *word, const char *(*name)(uint32_t), uint32_t nr,
		      uint32_t *number)
{
	for (uint32_t n = 0; n < nr; n++)
		if (!strcmp(word, name(n))) {
			*number = n;
			return true;
		}
	return false;
}

/* Parses "stw,foreground" or "-". Unknown words come from a newer library and are ignored. */
static uint32_t flags_of(char *words)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} names[] = {
		{ "stw", GCHINT_F_STW },
		{ "concurrent", GCHINT_F_CONCURRENT },
		{ "foreground", GCHINT_F_FOREGROUND },
		{ "urgent", GCHINT_F_URGENT },
	};
	uint32_t flags = 0;
	char *save, *word;

	for (word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save))
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (!strcmp(word, names[n].word))
				flags |= names[n].flag;
	return flags;
}

/* Parses the words after a phase's flags. */
static void phase_parse_details(struct thread *t, struct open *o, char *rest)
{
	char *save = NULL, *word, *value;
	struct record_phase *p = &t->row.phase;
	const bool has_row = t->row.type == RECORD_PHASE;

	for (word = strtok_r(rest, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(word, "cause") &&
		    word_find(value, name_cause, GCHINT_CAUSE_NR, &o->cause) && has_row)
			p->cause = o->cause;
		if (!has_row)
			continue;
		if (!strcmp(word, "done")) {
			p->work_done = strtoull(value, NULL, 10);
			p->has_work = true;
		} else if (!strcmp(word, "total")) {
			p->work_total = strtoull(value, NULL, 10);
		} else if (!strcmp(word, "stall")) {
			p->stall_ns = strtoull(value, NULL, 10);
		}
	}
}

static bool words_contain(const char *rest, const char *word)
{
	const char *at = rest;
	size_t length = strlen(word);

	while ((at = strstr(at, word))) {
		if ((at == rest || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
		at += length;
	}
	return false;
}

static bool phase_begin(struct import *m, struct thread *t, const struct line *l)
{
	char *save = NULL, *phase = strtok_r(l->rest, " ", &save);
	char *flags = strtok_r(NULL, " ", &save);
	struct open o = { .cause = UNKNOWN_U32 };

	if (!phase || !flags)
		return false;
	/* An unknown phase comes from a newer library: count it as a collection. */
	if (!word_find(phase, name_phase, GCHINT_PHASE_NR, &o.phase))
		o.phase = GCHINT_PHASE_COLLECT;
	o.flags = flags_of(flags);
	o.is_short = words_contain(save, "short") || !strcmp(phase, "-");
	if (t->depth < NEST)
		t->nest[t->depth] = o;
	t->depth++;
	if (o.is_short)
		return true;
	row_end(m, t, l->t, PHASE_EDGE);
	row_begin(m, t, l->t);
	phase_parse_details(t, &t->nest[t->depth <= NEST ? t->depth - 1 : NEST - 1], save);
	return true;
}

static void phase_end(struct import *m, struct thread *t, const struct line *l)
{
	bool is_short = t->depth && t->depth <= NEST && t->nest[t->depth - 1].is_short;

	if (t->depth)
		t->depth--;
	if (is_short)
		return;
	row_end(m, t, l->t, PHASE_EDGE);
	row_begin(m, t, l->t);
}

static void phase_update(struct thread *t, const struct line *l)
{
	char *save = NULL;

	strtok_r(l->rest, " ", &save);
	strtok_r(NULL, " ", &save);
	if (t->depth && save)
		phase_parse_details(t, &t->nest[t->depth <= NEST ? t->depth - 1 : NEST - 1], save);
}

/* "used=N committed=N ..."; unknown keys come from a newer library and are ignored. */
static void heap_write(struct import *m, const struct line *l)
{
	struct record r = {
		.t = l->t,
		.type = RECORD_HEAP,
		.heap = {
			.tgid = l->pid,
			.tid = l->tid,
			.used = UNKNOWN_S64,
			.committed = UNKNOWN_S64,
			.most = UNKNOWN_S64,
			.allocated = UNKNOWN_S64,
			.freed = UNKNOWN_S64,
			.generation = UNKNOWN_U32,
		},
	};
	const struct {
		const char *key;
		int64_t *value;
	} numbers[] = {
		{ "used", &r.heap.used },   { "committed", &r.heap.committed },
		{ "limit", &r.heap.most },  { "allocated", &r.heap.allocated },
		{ "freed", &r.heap.freed },
	};
	char *save = NULL, *value;

	for (char *word = strtok_r(l->rest, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		uint64_t number;

		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(word, "when"))
			r.heap.after = !strcmp(value, "after");
		if (text_u64(value, &number) || number > INT64_MAX)
			continue;
		if (!strcmp(word, "at"))
			r.t = number;
		if (!strcmp(word, "generation") && number < UNKNOWN_U32)
			r.heap.generation = (uint32_t)number;
		for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
			if (!strcmp(word, numbers[n].key))
				*numbers[n].value = (int64_t)number;
	}
	record_write(m, &r);
}

static void thread_end_phases(struct import *m, struct thread *t, uint64_t now, enum record_end how)
{
	t->depth = 0;
	row_end(m, t, now, how);
}

static void process_end(struct import *m, int32_t pid, uint64_t now, bool anew)
{
	for (unsigned int b = 0; b < BUCKETS; b++)
		for (struct thread *t = m->bucket[b]; t; t = t->next)
			if (pid == t->pid) {
				thread_end_phases(m, t, now, PHASE_LEASE);
				if (anew)
					t->session = TRACKER_LIBRARY | m->sessions;
			}
}

static void lease_write(struct import *m, struct thread *t, const struct line *l,
			enum gchint_lease what)
{
	struct record r = { .t = l->t, .type = RECORD_LEASE };
	char *role = l->rest && !strncmp(l->rest, "role=", 5) ? l->rest + 5 : NULL;

	if (role)
		role[strcspn(role, " ")] = '\0';
	r.lease = (struct record_lease){
		.session = t->session,
		.tgid = t->pid,
		.tid = t->tid,
		.slot = t->slot,
		.role = UNKNOWN_U32,
		.lease = what,
	};
	if (role)
		word_find(role, name_role, GCHINT_ROLE_NR, &r.lease.role);
	record_write(m, &r);
}

/*
 * Returns false if the line is malformed. Unknown events come from a newer library and are
 * ignored.
 */
static bool line_apply(struct import *m, struct line *l)
{
	struct thread *t = thread_of(m, l->pid, l->tid);

	if (!t) {
		m->lost++;
		return true;
	}
	if (!m->first || l->t < m->first)
		m->first = l->t;
	if (l->t > m->last)
		m->last = l->t;
	if (!strcmp(l->event, "begin"))
		return phase_begin(m, t, l);
	if (!strcmp(l->event, "end")) {
		phase_end(m, t, l);
	} else if (!strcmp(l->event, "abandon")) {
		thread_end_phases(m, t, l->t, PHASE_EDGE);
	} else if (!strcmp(l->event, "progress") || !strcmp(l->event, "cause")) {
		phase_update(t, l);
	} else if (!strcmp(l->event, "heap")) {
		heap_write(m, l);
	} else if (!strcmp(l->event, "open")) {
		m->sessions++;
		process_end(m, l->pid, l->t, true);
	} else if (!strcmp(l->event, "close")) {
		process_end(m, l->pid, l->t, false);
	} else if (!strcmp(l->event, "attach")) {
		lease_write(m, t, l, GCHINT_LEASE_ATTACH);
	} else if (!strcmp(l->event, "role")) {
		lease_write(m, t, l, GCHINT_LEASE_ROLE);
	} else if (!strcmp(l->event, "detach")) {
		thread_end_phases(m, t, l->t, PHASE_LEASE);
		lease_write(m, t, l, GCHINT_LEASE_DETACH);
	} else if (!strcmp(l->event, "lost")) {
		if (l->rest && !strncmp(l->rest, "lines=", 6))
			m->lost += strtoull(l->rest + 6, NULL, 10);
	}
	return true;
}

static bool number_parse(char **at, uint64_t max, uint64_t *value)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 10);
	if (errno || *value > max || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

static bool line_parse(char *text, struct line *l)
{
	uint64_t pid, tid;

	if (!number_parse(&text, INT64_MAX, &l->t) || !number_parse(&text, INT32_MAX, &pid) ||
	    !number_parse(&text, INT32_MAX, &tid) || !*text)
		return false;
	l->pid = (int32_t)pid;
	l->tid = (int32_t)tid;
	l->event = text;
	l->rest = strchr(text, ' ');
	if (l->rest)
		*l->rest++ = '\0';
	return true;
}

static int file_import(struct import *m, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	uint64_t number = 0, bad = 0, good = 0;
	size_t size = 0;
	ssize_t n;

	if (!f) {
		ctl_error("%s: %s", path, strerror(errno));
		return -errno;
	}
	while (!m->error && (n = getline(&text, &size, f)) > 0) {
		struct line l;

		number++;
		if (text[n - 1] == '\n')
			text[n - 1] = '\0';
		if (line_parse(text, &l) && line_apply(m, &l)) {
			good++;
			continue;
		}
		if (!bad++)
			ctl_error("%s:%" PRIu64 ": not a line of gchint-trace(5); it and others "
				  "like it are left out",
				  path, number);
	}
	m->bad += bad;
	free(text);
	if (ferror(f) && !m->error) {
		ctl_error("%s: %s", path, strerror(errno));
		m->error = -EIO;
	}
	fclose(f);
	if (!m->error && !good) {
		ctl_error("%s is no trace: it has no line of gchint-trace(5)", path);
		return -EINVAL;
	}
	return m->error;
}

static void drop_write(struct import *m, uint64_t count, const char *why)
{
	struct record r = {
		.t = m->last,
		.type = RECORD_DROP,
		.drop = { .count = count, .source = "library", .why = why },
	};

	if (count)
		record_write(m, &r);
}

static void import_finish(struct import *m, const char *label, char **files)
{
	const char *source[] = { "library", "running", files[0], NULL };
	char text[32];

	for (unsigned int b = 0; b < BUCKETS; b++)
		while (m->bucket[b]) {
			struct thread *t = m->bucket[b];

			thread_end_phases(m, t, m->last, PHASE_LEASE);
			m->bucket[b] = t->next;
			free(t);
		}
	drop_write(m, m->lost, "the trace could not take a line");
	drop_write(m, m->bad, "a line of a trace that is none");
	snprintf(text, sizeof(text), "%" PRIu64, m->first);
	meta_write(m, "start_ns", text);
	snprintf(text, sizeof(text), "%" PRIu64, m->last);
	meta_write(m, "end_ns", text);
	meta_write(m, "program", "gchintctl import");
	if (label)
		meta_write(m, "label", label);
	definition_write(m, DEFINE_SOURCE, source, 4);
}

int cmd_import(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "label", required_argument, NULL, 'l' },
		{ "output", required_argument, NULL, 'o' },
		{ 0 },
	};
	const char *path = "gchint-trace.db", *label = NULL;
	struct import m = { 0 };
	char error[512];
	int opt, ret = 0;

	(void)ctl;
	while ((opt = getopt_long(argc, argv, "hl:o:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'l':
			label = optarg;
			break;
		case 'o':
			path = optarg;
			break;
		default:
			return ctl_usage("import");
		}
	}
	if (optind == argc) {
		ctl_error("import: no file given; see gchintctl import --help");
		return CTL_USAGE;
	}
	m.store = store_open(path, false, error, sizeof(error));
	if (!m.store) {
		ctl_error("%s", error);
		return CTL_FILE;
	}
	m.error = store_begin(m.store);
	for (int i = optind; i < argc && !ret; i++)
		ret = file_import(&m, argv[i]);
	import_finish(&m, label, argv + optind);
	if (!m.error)
		m.error = store_commit(m.store);
	if (m.error && m.error != -ENOMEM && !ret)
		ctl_error("%s: %s", path, store_error(m.store));
	else if (m.error == -ENOMEM)
		ctl_error("no memory");
	store_finish(m.store);
	if (ret || m.error) {
		/*
		 * This command created the file: remove it, so that a second try finds the name
		 * free.
		 */
		unlink(path);
		return CTL_FILE;
	}
	fprintf(stderr, "gchintctl: %" PRIu64 " phases into %s; next: gchintctl summary %s\n",
		m.ids, path, path);
	return CTL_OK;
}
