// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "repro/record.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ID,
	KIND,
	TERM,
	FIGURE,
	TREE,
	CPUS,
	RUNS,
	QUIET,
	FIELDS
};

int record_init(struct record *r, const struct claim *const *claim, size_t claims)
{
	memset(r, 0, sizeof(*r));
	r->entry = calloc(claims, sizeof(*r->entry));
	if (!r->entry)
		return -ENOMEM;
	r->entries = claims;
	for (size_t i = 0; i < claims; i++) {
		r->entry[i].claim = claim[i];
		for (size_t k = 0; k < CLAIM_TERMS; k++)
			r->entry[i].figure[k] = r->entry[i].control[k] = NAN;
	}
	return 0;
}

void record_free(struct record *r)
{
	free(r->entry);
	free(r->table);
	memset(r, 0, sizeof(*r));
}

static struct entry *entry_of(struct record *r, const char *id)
{
	for (size_t i = 0; i < r->entries; i++)
		if (!strcmp(r->entry[i].claim->id, id))
			return &r->entry[i];
	return NULL;
}

static ssize_t term_of(const struct claim *claim, const char *name)
{
	for (size_t i = 0; i < claim_terms(claim); i++)
		if (!strcmp(claim->term[i].name, name))
			return (ssize_t)i;
	return -1;
}

static int add_table(struct record *r, const char *line, const char *tree)
{
	char *all;

	if (asprintf(&all, "%s%s\n", r->table ? r->table : "", line) < 0)
		return -ENOMEM;
	free(r->table);
	r->table = all;
	snprintf(r->table_tree, sizeof(r->table_tree), "%s", tree);
	return 0;
}

static int parse_unsigned(const char *text, unsigned int *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value > 4096)
		return -EINVAL;
	*out = (unsigned int)value;
	return 0;
}

static int read_figure(struct entry *e, char **field)
{
	bool control = !strcmp(field[KIND], "control");
	ssize_t term = term_of(e->claim, field[TERM]);
	struct origin from = { .setup.quiet = !strcmp(field[QUIET], "quiet") };
	char *end;
	double value = strtod(field[FIGURE], &end);

	if (term < 0 || end == field[FIGURE] || *end || isnan(value) ||
	    (!control && strcmp(field[KIND], "plain")) ||
	    parse_unsigned(field[CPUS], &from.setup.cpus) ||
	    parse_unsigned(field[RUNS], &from.setup.runs) ||
	    (!from.setup.quiet && strcmp(field[QUIET], "busy")))
		return -EINVAL;
	snprintf(from.tree, sizeof(from.tree), "%s", field[TREE]);
	if (control) {
		e->control[term] = value;
		return 0;
	}
	e->figure[term] = value;
	e->from[term] = from;
	return 0;
}

static int read_line(struct record *r, char *line)
{
	char *field[FIELDS] = { NULL }, *rest = line;
	struct entry *e;
	int n = 0;

	for (; n < FIELDS && rest; n++)
		field[n] = strsep(&rest, "\t");
	if (rest || n < 4)
		return -EINVAL;
	if (!strcmp(field[KIND], "table"))
		return add_table(r, field[TERM], field[FIGURE]);
	e = entry_of(r, field[ID]);
	if (!e)
		return -EINVAL;
	if (!strcmp(field[KIND], "detail")) {
		snprintf(e->detail, sizeof(e->detail), "%s", field[TERM]);
		return 0;
	}
	return n == FIELDS ? read_figure(e, field) : -EINVAL;
}

int record_load(struct record *r, const char *path, char *error)
{
	FILE *f = fopen(path, "re");
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;
	int code = 0;

	if (!f)
		return -errno;
	while (!code && getline(&line, &room, f) > 0) {
		number++;
		line[strcspn(line, "\n")] = 0;
		if (*line && *line != '#')
			code = read_line(r, line);
	}
	if (code)
		snprintf(error, 256, "%s:%u: not a figure of a claim that is declared", path,
			 number);
	free(line);
	fclose(f);
	return code;
}

static void write_figures(const struct entry *e, FILE *f)
{
	for (size_t i = 0; i < claim_terms(e->claim); i++) {
		const struct origin *from = &e->from[i];

		if (isnan(e->figure[i]))
			continue;
		fprintf(f, "%s\tplain\t%s\t%.6g\t%s\t%u\t%u\t%s\n", e->claim->id,
			e->claim->term[i].name, e->figure[i], from->tree, from->setup.cpus,
			from->setup.runs, from->setup.quiet ? "quiet" : "busy");
		if (!isnan(e->control[i]))
			fprintf(f, "%s\tcontrol\t%s\t%.6g\t%s\t%u\t%u\t%s\n", e->claim->id,
				e->claim->term[i].name, e->control[i], from->tree, from->setup.cpus,
				from->setup.runs, from->setup.quiet ? "quiet" : "busy");
	}
	if (*e->detail)
		fprintf(f, "%s\tdetail\t%s\t-\n", e->claim->id, e->detail);
}

int record_save(const struct record *r, const char *path)
{
	const char *line = r->table;
	char written[4096];
	int code = 0;
	FILE *f;

	if ((size_t)snprintf(written, sizeof(written), "%s.new", path) >= sizeof(written))
		return -ENAMETOOLONG;
	f = fopen(written, "we");
	if (!f)
		return -errno;
	fputs("# The figures behind seeds.md, written by `make repro`: claim, plain or control,\n"
	      "# term, figure, tree, CPUs, runs, quiet or busy.\n",
	      f);
	for (size_t i = 0; i < r->entries; i++)
		write_figures(&r->entry[i], f);
	while (line && *line) {
		size_t length = strcspn(line, "\n");

		fprintf(f, "-\ttable\t%.*s\t%s\n", (int)length, line, r->table_tree);
		line += length + (line[length] == '\n');
	}
	if (ferror(f))
		code = -EIO;
	if (fclose(f) && !code)
		code = -errno;
	if (!code && rename(written, path))
		code = -errno;
	if (code)
		unlink(written);
	return code;
}

size_t record_drop(struct record *r, bool (*known)(const char *tree, void *arg), void *arg)
{
	size_t dropped = 0;

	for (size_t i = 0; i < r->entries; i++) {
		struct entry *e = &r->entry[i];

		for (size_t k = 0; k < claim_terms(e->claim); k++) {
			if (isnan(e->figure[k]) || known(e->from[k].tree, arg))
				continue;
			e->figure[k] = e->control[k] = NAN;
			*e->detail = 0;
			dropped++;
		}
	}
	if (r->table && !known(r->table_tree, arg)) {
		free(r->table);
		r->table = NULL;
		dropped++;
	}
	return dropped;
}

void record_put(struct entry *e, const struct outcome *o, const struct origin *from, bool control)
{
	for (size_t i = 0; i < claim_terms(e->claim); i++) {
		const struct term *term = &e->claim->term[i];

		/* A term that was not measured keeps its old figure; a new figure drops the old control. */
		if (isnan(o->figure[i]))
			continue;
		if (control) {
			e->control[i] = o->figure[i];
			continue;
		}
		e->figure[i] = o->figure[i];
		e->control[i] = NAN;
		e->from[i] = *from;
		e->from[i].setup.quiet = !term_rests_on_time(term) || !o->disturbed;
	}
	if (!control)
		snprintf(e->detail, sizeof(e->detail), "%s", o->ours);
}

/* The least favourable setup of all figures that count for the verdict. */
static struct setup setup_of(const struct entry *e, bool counts)
{
	struct setup s = { UINT_MAX, UINT_MAX, true };

	for (size_t i = 0; i < claim_terms(e->claim); i++) {
		const struct setup *from = &e->from[i].setup;
		bool timed = term_rests_on_time(&e->claim->term[i]);

		if (isnan(e->figure[i]) || (counts && timed))
			continue;
		s.cpus = from->cpus < s.cpus ? from->cpus : s.cpus;
		if (timed) {
			s.runs = from->runs < s.runs ? from->runs : s.runs;
			s.quiet = s.quiet && from->quiet;
		}
	}
	return s;
}

struct finding record_finding(const struct entry *e, bool counts)
{
	const struct claim *claim = e->claim;
	size_t terms = claim_terms(claim);
	struct setup setup = setup_of(e, counts);
	struct finding f = {
		.verdict = verdict_of(claim->term, e->figure, terms, counts),
		.control = verdict_of(claim->term, e->control, terms, counts),
		.unmet = needs_unmet(&claim->needs, claim->term, terms, &setup, counts),
	};

	f.alteration = f.verdict <= VERDICT_SHAPE ? &claim->without : &claim->with;
	if (f.verdict == VERDICT_UNKNOWN || !f.alteration->to)
		f.alteration = NULL;
	return f;
}
