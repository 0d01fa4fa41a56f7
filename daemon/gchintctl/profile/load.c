// SPDX-License-Identifier: GPL-2.0-or-later
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/names.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/frequency.h"
#include "../../symbols/demangle.h"
#include "../ctl.h"
#include "profile.h"

#define LEADS_BACK 16

static bool profile_no_memory(const struct profile *p)
{
	db_missing(p->rec->path, "no memory for its profile");
	return false;
}

static bool array_grow(void *array, size_t nr, size_t size)
{
	void **at = array, *more;

	if (nr && (nr & (nr - 1) || nr < 64))
		return true;
	more = realloc(*at, (nr ? nr * 2 : 64) * size);
	if (more)
		*at = more;
	return more;
}

static size_t name_hash(const char *s)
{
	size_t hash = 5381;

	while (*s)
		hash = hash * 33 + (unsigned char)*s++;
	return hash;
}

static bool names_grow_index(struct profile *p)
{
	const size_t slots = p->slots ? p->slots * 2 : 256;
	uint32_t *index = calloc(slots, sizeof(*index));

	if (!index)
		return false;
	for (size_t i = 0; i < p->names; i++) {
		size_t at = name_hash(p->name[i]) % slots;

		while (index[at])
			at = (at + 1) % slots;
		index[at] = (uint32_t)i + 1;
	}
	free(p->index);
	p->index = index;
	p->slots = slots;
	return true;
}

static uint32_t name_no_memory(struct profile *p)
{
	p->scarce = true;
	return PROFILE_UNKNOWN;
}

/* Returns the number of a name; without memory PROFILE_UNKNOWN, with p->scarce set. */
static uint32_t name_intern(struct profile *p, const char *name)
{
	size_t at;
	char *copy;

	if (p->names * 2 >= p->slots && !names_grow_index(p))
		return name_no_memory(p);
	for (at = name_hash(name) % p->slots; p->index[at]; at = (at + 1) % p->slots)
		if (!strcmp(p->name[p->index[at] - 1], name))
			return p->index[at] - 1;
	copy = strdup(name);
	if (!copy || !array_grow(&p->name, p->names, sizeof(*p->name))) {
		free(copy);
		return name_no_memory(p);
	}
	p->name[p->names++] = copy;
	p->index[at] = (uint32_t)p->names;
	return (uint32_t)p->names - 1;
}

/* The source's name of a symbol: that of C++ and Rust is mangled in the recording. */
static uint32_t symbol_intern(struct profile *p, const char *name)
{
	char *plain = demangle(name);
	const uint32_t number = name_intern(p, plain ? plain : name);

	free(plain);
	return number;
}

static bool symbol_is_compiled(const struct profile *p, const struct profile_symbol *at)
{
	return at && !strcmp(p->name[at->image], PROFILE_METHODS);
}

static bool symbol_is_method(const struct profile *p, const struct profile_symbol *at)
{
	return symbol_is_compiled(p, at) && at->name >= PROFILE_FIRST;
}

static bool inlined_add(struct profile *p, struct profile_symbol function)
{
	if (!array_grow(&p->inlined, p->inlines, sizeof(*p->inlined)))
		return profile_no_memory(p);
	p->inlined[p->inlines++] = function;
	return true;
}

/*
 * Adds the functions of a text of the column `inlined`, and @at with the line that calls them: each
 * one is at the line from which the one before it was called.
 */
static bool symbol_add_inlined(struct profile *p, struct profile_symbol *at, const char *text)
{
	struct profile_symbol outer = *at;
	char *copy = strdup(text), *rest = copy, *call, *name;
	const size_t first = p->inlines;
	bool good = copy || profile_no_memory(p);

	while (good && (call = strsep(&rest, "\n")) && *call) {
		struct profile_symbol inner = outer;
		char *line, *file = call;
		long number;

		name = strsep(&file, "\t");
		line = strsep(&file, "\t");
		if (!line || !file)
			break;
		inner.name = symbol_intern(p, name);
		good = inlined_add(p, inner);
		number = strtol(line, NULL, 10);
		outer.line = number > 0 && number <= INT32_MAX ? (int)number : 0;
		outer.file = name_intern(p, outer.line ? file : "?");
	}
	if (good && p->inlines > first) {
		good = inlined_add(p, outer);
		at->inlined = (uint32_t)first + 1;
		at->inlines = (uint32_t)(p->inlines - first);
	}
	free(copy);
	return good;
}

static bool load_symbols(struct profile *p)
{
	sqlite3_stmt *s = db_query(
		p->rec->db, "SELECT tgid, address, t, image, name, offset, file, line, inlined "
			    "FROM symbols LEFT JOIN lines USING(tgid, address, t) "
			    "ORDER BY tgid, address, t");
	bool good = s;

	while (good && db_next(s)) {
		good = array_grow(&p->symbol, p->symbols, sizeof(*p->symbol)) ||
		       profile_no_memory(p);
		if (!good)
			break;
		p->symbol[p->symbols++] = (struct profile_symbol){
			db_int(s, 0, 0),
			(uint64_t)sqlite3_column_int64(s, 1),
			(uint64_t)db_int(s, 2, 0),
			name_intern(p, db_text(s, 3, "?")),
			symbol_intern(p, db_text(s, 4, "?")),
			db_int(s, 5, -1),
			name_intern(p, db_text(s, 6, "?")),
			(int)db_u32(s, 7, 0),
			0,
			0,
		};
		good = symbol_add_inlined(p, &p->symbol[p->symbols - 1], db_text(s, 8, ""));
		p->any_method |= symbol_is_method(p, &p->symbol[p->symbols - 1]);
	}
	sqlite3_finalize(s);
	return good;
}

/* Compares addresses as SQLite sorted them: as signed integers. */
static int symbol_compare(const struct profile_symbol *s, int64_t tgid, uint64_t address,
			  uint64_t t)
{
	if (s->tgid != tgid)
		return s->tgid < tgid ? -1 : 1;
	if (s->address != address)
		return (int64_t)s->address < (int64_t)address ? -1 : 1;
	return s->t <= t ? -1 : 1;
}

const struct profile_symbol *profile_symbol_at(const struct profile *p, int32_t tgid,
					       uint64_t address, uint64_t t)
{
	size_t lo = 0, hi = p->symbols;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (symbol_compare(&p->symbol[mid], tgid, address, t) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || p->symbol[lo - 1].tgid != tgid || p->symbol[lo - 1].address != address)
		return NULL;
	return &p->symbol[lo - 1];
}

static bool load_stacks(struct profile *p)
{
	sqlite3_stmt *s = db_select(p->rec->db, stacks, "ORDER BY id", COLUMN(stacks, id),
				    COLUMN(stacks, frames));
	bool good = s;

	while (good && db_next(s)) {
		good = array_grow(&p->stack, p->stacks, sizeof(*p->stack)) || profile_no_memory(p);
		if (!good)
			break;
		p->stack[p->stacks].id = db_int(s, COLUMN(stacks, id), 0);
		p->stack[p->stacks].frames = strdup(db_text(s, COLUMN(stacks, frames), ""));
		good = p->stack[p->stacks++].frames || profile_no_memory(p);
		if (good && !p->cut && strchr(p->stack[p->stacks - 1].frames, '+'))
			p->cut = name_intern(p, "[truncated]");
	}
	sqlite3_finalize(s);
	return good;
}

static uint32_t stack_index(const struct profile *p, int64_t id)
{
	size_t lo = 0, hi = p->stacks;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->stack[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->stacks && p->stack[lo].id == id ? (uint32_t)lo + 1 : 0;
}

static int worker_compare(const void *a, const void *b)
{
	const struct profile_worker *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int lead_compare(const void *a, const void *b)
{
	const struct recording_phase *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/*
 * The workers of a collector announce nothing: its coordinator does (HotSpot's VM thread, G1's main
 * marker). Loads both, so that samples of workers get the phase in which they worked.
 */
static bool load_workers(struct profile *p)
{
	char sql[128];
	sqlite3_stmt *s;
	bool good;

	snprintf(
		sql, sizeof(sql),
		"SELECT tgid, tid, max(role) FROM leases WHERE role IN (%d, %d) GROUP BY tgid, tid",
		GCHINT_ROLE_STW, GCHINT_ROLE_CONCURRENT);
	s = db_query(p->rec->db, sql);
	good = s;
	while (good && db_next(s)) {
		good = array_grow(&p->worker, p->workers, sizeof(*p->worker)) ||
		       profile_no_memory(p);
		if (good)
			p->worker[p->workers++] = (struct profile_worker){ (int32_t)db_int(s, 0, 0),
									   (int32_t)db_int(s, 1, 0),
									   db_u32(s, 2, 0) };
	}
	sqlite3_finalize(s);
	if (!good || !p->workers)
		return good;
	p->lead = calloc(p->rec->phases + 1, sizeof(*p->lead));
	if (!p->lead)
		return profile_no_memory(p);
	for (size_t i = 0; i < p->rec->phases; i++)
		if (!p->rec->phase[i].unsure &&
		    (p->rec->phase[i].stw || p->rec->phase[i].group % CLASS_NR == CLASS_CONCURRENT))
			p->lead[p->leads++] = p->rec->phase[i];
	qsort(p->worker, p->workers, sizeof(*p->worker), worker_compare);
	qsort(p->lead, p->leads, sizeof(*p->lead), lead_compare);
	return true;
}

/* The phase of a process at an instant, of the wanted type; NULL if there was none. */
static const struct recording_phase *lead_at(const struct profile *p, int32_t tgid, uint64_t t,
					     bool stw)
{
	size_t lo = 0, hi = p->leads;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const struct recording_phase *l = &p->lead[mid];

		if (l->tgid < tgid || (l->tgid == tgid && l->t0 <= t))
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Phases of one collector hardly overlap: one that began long before has ended. */
	for (size_t n = 0; n < LEADS_BACK && n < lo && p->lead[lo - n - 1].tgid == tgid; n++)
		if (p->lead[lo - n - 1].t1 > t && p->lead[lo - n - 1].stw == stw)
			return &p->lead[lo - n - 1];
	return NULL;
}

/* Gives the sample of a worker the phase that it worked in. */
static void sample_derive_phase(struct profile *p, struct profile_sample *x)
{
	const struct profile_worker key = { x->tgid, x->tid, 0 }, *w;
	const struct recording_phase *lead;

	if ((x->answered && x->group) || !p->workers)
		return;
	w = bsearch(&key, p->worker, p->workers, sizeof(key), worker_compare);
	if (!w)
		return;
	lead = lead_at(p, x->tgid, x->t, w->role == GCHINT_ROLE_STW);
	/* Some concurrent workers work in pauses, too. */
	if (!lead && w->role == GCHINT_ROLE_CONCURRENT)
		lead = lead_at(p, x->tgid, x->t, true);
	if (!lead)
		return;
	x->group = lead->group;
	x->answered = true;
	p->derived++;
}

static bool column_is_null(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) != SQLITE_INTEGER;
}

/* V8's code between a method and the native code that it calls: it is part of every such stack. */
static bool method_is_stub(const char *name)
{
	return !strncmp(name, "Builtin:CEntry", 14) ||
	       !strcmp(name, "Builtin:AdaptorWithBuiltinExitFrame");
}

/*
 * The innermost method of a sample's call chain that a runtime compiled; NULL without one. Compiled
 * code without a certain name ends the search: its caller would be a guess.
 */
static const struct profile_symbol *stack_method(const struct profile *p,
						 const struct profile_sample *x)
{
	struct profile_chain chain = { .text = x->stack ? p->stack[x->stack - 1].frames : "" };
	const struct profile_symbol *at, *stub = NULL;
	uint64_t address;

	while (p->any_method && profile_chain_next(&chain, &address)) {
		if (profile_is_kernel(address))
			continue;
		at = profile_symbol_at(p, x->tgid, address, x->t);
		if (!symbol_is_compiled(p, at))
			continue;
		if (at->name < PROFILE_FIRST)
			return NULL;
		if (!method_is_stub(p->name[at->name]))
			return at;
		stub = stub ? stub : at;
	}
	return stub;
}

static void sample_load(struct profile *p, sqlite3_stmt *s, struct profile_sample *x)
{
	const struct profile_symbol *at, *method = NULL;
	int64_t cpu = db_int(s, 2, -1);
	uint64_t word = 0; /* what the thread itself named as its method */

	*x = (struct profile_sample){
		.t = (uint64_t)db_int(s, 0, 0),
		.tgid = (int32_t)db_int(s, 1, 0),
		.cpu = cpu >= 0 && cpu <= INT16_MAX ? (int)cpu : -1,
		.kernel = !column_is_null(s, 7),
		.answered = !column_is_null(s, 3),
		.group = phase_group(db_u32(s, 3, 0), db_u32(s, 4, 0)),
		.stack = stack_index(p, db_int(s, 8, -1)),
		.process = name_intern(p, db_text(s, 9, "?")),
		.tid = (int32_t)db_int(s, 10, 0),
	};
	sample_derive_phase(p, x);
	x->khz = recording_khz(p->rec, x->cpu, x->t);
	if (!column_is_null(s, 5)) {
		word = (uint64_t)sqlite3_column_int64(s, 5);
		at = word ? profile_symbol_at(p, x->tgid, word, x->t) : NULL;
		x->method = at ? at->name : word ? PROFILE_UNKNOWN : PROFILE_NO_METHOD;
	}
	at = profile_symbol_at(p, x->tgid, (uint64_t)sqlite3_column_int64(s, 6), x->t);
	/*
	 * Code that a runtime compiled names the method by its address, also for system calls; native
	 * code that it called, by the call chain.
	 */
	if (x->method < PROFILE_FIRST)
		method = symbol_is_method(p, at) ? at : word ? NULL : stack_method(p, x);
	if (method) {
		x->compiled = true;
		x->method = method->name;
	}
	if (x->kernel)
		at = profile_symbol_at(p, 0, (uint64_t)sqlite3_column_int64(s, 7), x->t);
	x->place = at ? (uint32_t)(at - p->symbol) + 1 : 0;
	x->image = at ? at->image : x->kernel ? name_intern(p, "[kernel]") : PROFILE_UNKNOWN;
	x->symbol = at ? at->name : PROFILE_UNKNOWN;
}

/* Whether a group is of a wanted phase; "gc" wants all but work that collects nothing. */
static bool phase_is_wanted(unsigned int group, const char *wanted)
{
	const unsigned int phase = group / CLASS_NR;

	if (!strcmp(wanted, "gc"))
		return phase != GCHINT_PHASE_NONE && phase != GCHINT_PHASE_WORK;
	/* name_phase() returns "none" for phase 0, whatever the class of the group is. */
	return !strcmp(wanted, name_phase(phase));
}

static bool sample_passes(const struct profile *p, const struct profile_sample *x,
			  const struct profile_filter *f)
{
	if (f->method && fnmatch(f->method, p->name[x->method], 0))
		return false;
	if (f->process && fnmatch(f->process, p->name[x->process], 0))
		return false;
	if (f->symbol && fnmatch(f->symbol, p->name[x->symbol], 0))
		return false;
	return !f->phase || (x->answered && phase_is_wanted(x->group, f->phase));
}

static bool load_samples(struct profile *p, const struct profile_filter *f)
{
	sqlite3_stmt *s = db_query(
		p->rec->db,
		"SELECT h.t, h.tgid, cpu, phase, flags, method, ip, kernel, stack, r.comm, h.tid "
		"FROM hotspots h LEFT JOIN (SELECT tgid, comm FROM processes WHERE tid = tgid "
		"GROUP BY tgid) r ON r.tgid = h.tgid ORDER BY h.t");
	bool good = s;

	while (good && db_next(s)) {
		good = array_grow(&p->sample, p->samples, sizeof(*p->sample)) ||
		       profile_no_memory(p);
		if (!good)
			break;
		sample_load(p, s, &p->sample[p->samples]);
		p->all++;
		p->samples += sample_passes(p, &p->sample[p->samples], f);
	}
	sqlite3_finalize(s);
	return good;
}

/* A recording that was to have samples says why it has none. */
static void profile_report_none(const struct recording *rec)
{
	sqlite3_stmt *s =
		db_select(rec->db, sources, "WHERE name = 'hotspots' AND state = 'absent'",
			  COLUMN(sources, what), COLUMN(sources, remedy));

	if (db_next(s))
		ctl_error("%s: contains no samples: %s; %s", rec->path,
			  db_text(s, COLUMN(sources, what), "?"),
			  db_text(s, COLUMN(sources, remedy), ""));
	else
		ctl_error("%s: contains no samples; gchintctl profile record records them",
			  rec->path);
	sqlite3_finalize(s);
}

bool profile_load(struct profile *p, const struct recording *rec,
		  const struct profile_filter *filter)
{
	char hz[16];
	long n;

	p->rec = rec;
	name_intern(p, "?");
	name_intern(p, "-");
	db_meta(rec->db, "hotspots.event", p->event, sizeof(p->event));
	db_meta(rec->db, "hotspots.kernel", p->in_kernel, sizeof(p->in_kernel));
	n = db_meta(rec->db, "hotspots.hz", hz, sizeof(hz)) ? strtol(hz, NULL, 10) : 0;
	p->seconds = n > 0 ? 1.0 / (double)n : 0;
	if (!load_symbols(p) || !load_stacks(p) || !load_workers(p) || !load_samples(p, filter))
		return false;
	if (p->scarce)
		return profile_no_memory(p);
	if (!p->all) {
		profile_report_none(rec);
		return false;
	}
	if (!p->samples) {
		ctl_error("%s: none of its %zu samples passes%s%s%s%s%s%s%s%s", rec->path, p->all,
			  filter->method ? " --method " : "", filter->method ? filter->method : "",
			  filter->phase ? " --phase " : "", filter->phase ? filter->phase : "",
			  filter->process ? " --process " : "",
			  filter->process ? filter->process : "",
			  filter->symbol ? " --symbol " : "", filter->symbol ? filter->symbol : "");
		return false;
	}
	return true;
}

void profile_free(struct profile *p)
{
	for (size_t i = 0; i < p->names; i++)
		free(p->name[i]);
	for (size_t i = 0; i < p->stacks; i++)
		free(p->stack[i].frames);
	free(p->name);
	free(p->index);
	free(p->stack);
	free(p->symbol);
	free(p->inlined);
	free(p->sample);
	free(p->worker);
	free(p->lead);
}
