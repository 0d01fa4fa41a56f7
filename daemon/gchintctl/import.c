// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * import FILE...: a recording of what programs wrote to GCHINT_TRACE (gchint-trace(5)). A
 * row of phases is a stretch in which a phase was its thread's innermost, as in any
 * recording; what was too short to be announced has none.
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

#include "../common/names.h"
#include "../gchintd/store.h"
#include "../gchintd/tracker.h"
#include "ctl.h"

static const char usage[] =
	"usage: gchintctl import FILE... [-o FILE] [-l LABEL]\n"
	"Makes a recording of what programs wrote to the files that GCHINT_TRACE named.\n"
	"\n"
	"  -o, --output FILE  the recording; gchint-trace.db unless told\n"
	"  -l, --label LABEL  name of the run, for reports that compare runs\n";

#define BUCKETS 1024
#define NEST	64
#define THREADS (1u << 20) /* bounds the memory that a file can claim */
#define BATCH	65536 /* rows in a transaction */

/* What an open phase of the trace is, and whether the kernel would have been told. */
struct open {
	uint32_t phase, flags, cause;
	bool is_short;
};

struct thread {
	struct thread *next;
	int32_t pid, tid;
	uint64_t session;
	uint32_t slot;
	unsigned int depth; /* may be above NEST: the rest is counted only */
	struct open nest[NEST];
	struct record row; /* type is RECORD_PHASE while one is open */
};

struct import {
	struct store *store;
	struct thread *bucket[BUCKETS];
	unsigned int threads, rows;
	uint64_t first, last, ids, sessions, lost, bad;
	int error;
};

/* One line, cut at its blanks. */
struct line {
	uint64_t t;
	int32_t pid, tid;
	char *event, *rest;
};

static void put(struct import *m, struct record *r)
{
	if (!m->error)
		m->error = store_record(m->store, r);
	if (!m->error && ++m->rows % BATCH == 0) {
		m->error = store_commit(m->store);
		if (!m->error)
			m->error = store_begin(m->store);
	}
}

static void define(struct import *m, enum definition_kind kind, const char *const *strings,
		   unsigned int nr)
{
	const int64_t unknown[] = { UNKNOWN_S64 };
	struct definition *d =
		definition_new(kind, m->last, unknown, kind == DEFINE_SOURCE, strings, nr);

	if (!m->error)
		m->error = d ? store_define(m->store, d) : -ENOMEM;
	definition_free(d);
}

static void meta(struct import *m, const char *key, const char *value)
{
	const char *strings[] = { key, value };

	define(m, DEFINE_META, strings, 2);
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
	put(m, &t->row);
	t->row.type = RECORD_NR;
}

/* The innermost phase that was announced has a row of its own from now on. */
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

static bool word_of(const char *word, const char *(*name)(uint32_t), uint32_t nr, uint32_t *number)
{
	for (uint32_t n = 0; n < nr; n++)
		if (!strcmp(word, name(n))) {
			*number = n;
			return true;
		}
	return false;
}

/* "stw,foreground", "-"; words that are not known are of a newer library. */
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

/* The words behind a phase's flags. */
static void details(struct thread *t, struct open *o, char *rest)
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
		    word_of(value, name_cause, GCHINT_CAUSE_NR, &o->cause) && has_row)
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

static bool has_word(const char *rest, const char *word)
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

static bool begin(struct import *m, struct thread *t, const struct line *l)
{
	char *save = NULL, *phase = strtok_r(l->rest, " ", &save);
	char *flags = strtok_r(NULL, " ", &save);
	struct open o = { .cause = UNKNOWN_U32 };

	if (!phase || !flags)
		return false;
	/* Of a newer library: its kind is not known here. */
	if (!word_of(phase, name_phase, GCHINT_PHASE_NR, &o.phase))
		o.phase = GCHINT_PHASE_COLLECT;
	o.flags = flags_of(flags);
	o.is_short = has_word(save, "short") || !strcmp(phase, "-");
	if (t->depth < NEST)
		t->nest[t->depth] = o;
	t->depth++;
	if (o.is_short)
		return true;
	row_end(m, t, l->t, PHASE_EDGE);
	row_begin(m, t, l->t);
	details(t, &t->nest[t->depth <= NEST ? t->depth - 1 : NEST - 1], save);
	return true;
}

static void end(struct import *m, struct thread *t, const struct line *l)
{
	bool is_short = t->depth && t->depth <= NEST && t->nest[t->depth - 1].is_short;

	if (t->depth)
		t->depth--;
	if (is_short)
		return;
	row_end(m, t, l->t, PHASE_EDGE);
	row_begin(m, t, l->t);
}

static void detail(struct thread *t, const struct line *l)
{
	char *save = NULL;

	strtok_r(l->rest, " ", &save);
	strtok_r(NULL, " ", &save);
	if (t->depth && save)
		details(t, &t->nest[t->depth <= NEST ? t->depth - 1 : NEST - 1], save);
}

static void all_end(struct import *m, struct thread *t, uint64_t now, enum record_end how)
{
	t->depth = 0;
	row_end(m, t, now, how);
}

static void process_ends(struct import *m, int32_t pid, uint64_t now, bool anew)
{
	for (unsigned int b = 0; b < BUCKETS; b++)
		for (struct thread *t = m->bucket[b]; t; t = t->next)
			if (pid == t->pid) {
				all_end(m, t, now, PHASE_LEASE);
				if (anew)
					t->session = TRACKER_LIBRARY | m->sessions;
			}
}

static void lease(struct import *m, struct thread *t, const struct line *l, enum gchint_lease what)
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
		word_of(role, name_role, GCHINT_ROLE_NR, &r.lease.role);
	put(m, &r);
}

/* False if it is no line of a trace. Events that are not known are a newer library's. */
static bool take(struct import *m, struct line *l)
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
		return begin(m, t, l);
	if (!strcmp(l->event, "end")) {
		end(m, t, l);
	} else if (!strcmp(l->event, "abandon")) {
		all_end(m, t, l->t, PHASE_EDGE);
	} else if (!strcmp(l->event, "progress") || !strcmp(l->event, "cause")) {
		detail(t, l);
	} else if (!strcmp(l->event, "open")) {
		m->sessions++;
		process_ends(m, l->pid, l->t, true);
	} else if (!strcmp(l->event, "close")) {
		process_ends(m, l->pid, l->t, false);
	} else if (!strcmp(l->event, "attach")) {
		lease(m, t, l, GCHINT_LEASE_ATTACH);
	} else if (!strcmp(l->event, "role")) {
		lease(m, t, l, GCHINT_LEASE_ROLE);
	} else if (!strcmp(l->event, "detach")) {
		all_end(m, t, l->t, PHASE_LEASE);
		lease(m, t, l, GCHINT_LEASE_DETACH);
	} else if (!strcmp(l->event, "lost")) {
		if (l->rest && !strncmp(l->rest, "lines=", 6))
			m->lost += strtoull(l->rest + 6, NULL, 10);
	}
	return true;
}

static bool number(char **at, uint64_t max, uint64_t *value)
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

static bool parse(char *text, struct line *l)
{
	uint64_t pid, tid;

	if (!number(&text, INT64_MAX, &l->t) || !number(&text, INT32_MAX, &pid) ||
	    !number(&text, INT32_MAX, &tid) || !*text)
		return false;
	l->pid = (int32_t)pid;
	l->tid = (int32_t)tid;
	l->event = text;
	l->rest = strchr(text, ' ');
	if (l->rest)
		*l->rest++ = '\0';
	return true;
}

static int read_file(struct import *m, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	uint64_t number = 0, bad = 0;
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
		if (parse(text, &l) && take(m, &l))
			continue;
		if (!bad++)
			ctl_error("%s:%" PRIu64
				  ": no line of gchint-trace(5); left out, as are others",
				  path, number);
	}
	m->bad += bad;
	free(text);
	if (ferror(f) && !m->error) {
		ctl_error("%s: %s", path, strerror(errno));
		m->error = -EIO;
	}
	fclose(f);
	return m->error;
}

static void drop(struct import *m, uint64_t count, const char *why)
{
	struct record r = {
		.t = m->last,
		.type = RECORD_DROP,
		.drop = { .count = count, .source = "library", .why = why },
	};

	if (count)
		put(m, &r);
}

static void finish(struct import *m, const char *label, char **files)
{
	const char *source[] = { "library", "running", files[0], NULL };
	char text[32];

	for (unsigned int b = 0; b < BUCKETS; b++)
		while (m->bucket[b]) {
			struct thread *t = m->bucket[b];

			all_end(m, t, m->last, PHASE_LEASE);
			m->bucket[b] = t->next;
			free(t);
		}
	drop(m, m->lost, "the trace could not take a line");
	drop(m, m->bad, "a line of a trace that is none");
	snprintf(text, sizeof(text), "%" PRIu64, m->first);
	meta(m, "start_ns", text);
	snprintf(text, sizeof(text), "%" PRIu64, m->last);
	meta(m, "end_ns", text);
	meta(m, "program", "gchintctl import");
	if (label)
		meta(m, "label", label);
	define(m, DEFINE_SOURCE, source, 4);
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
		ctl_error("import: no file given; --help tells more");
		return CTL_USAGE;
	}
	m.store = store_open(path, false, error, sizeof(error));
	if (!m.store) {
		ctl_error("%s", error);
		return CTL_FILE;
	}
	m.error = store_begin(m.store);
	for (int i = optind; i < argc && !ret; i++)
		ret = read_file(&m, argv[i]);
	finish(&m, label, argv + optind);
	if (!m.error)
		m.error = store_commit(m.store);
	if (m.error && m.error != -ENOMEM && !ret)
		ctl_error("%s: %s", path, store_error(m.store));
	else if (m.error == -ENOMEM)
		ctl_error("no memory");
	store_finish(m.store);
	if (ret || m.error) {
		/* It was not there before: a second try finds its name free. */
		unlink(path);
		return CTL_FILE;
	}
	fprintf(stderr, "gchintctl: %" PRIu64 " phases into %s; next: gchintctl summary %s\n",
		m.ids, path, path);
	return CTL_OK;
}
