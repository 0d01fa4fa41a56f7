// SPDX-License-Identifier: GPL-2.0-or-later
/* Time within a function, by source line or, without debugging information, by instruction. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/regular.h"
#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "profile.h"

#define TEXT_WIDTH 96 /* source lines are cut to this many bytes */

/* A line or an instruction of a symbol. */
struct place {
	uint32_t image, symbol, file;
	int64_t at; /* line, or offset into the symbol in bytes; -1 not known */
	size_t n, clocked; /* samples; those with a known frequency */
	double khz; /* sum over the clocked samples */
	bool shown;
};

/* A source file that is read once, from its first line to its last. */
struct source {
	FILE *f;
	char *text;
	size_t room;
	int64_t line;
};

static int by_symbol(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	const int order = by_symbol(a, b);

	if (order)
		return order;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_place(x, y);
}

/* Merges the samples into places, sorted by symbol, file and line. Returns NULL without memory. */
static struct place *places_collect(const struct profile *p, size_t *nr)
{
	struct place *place = calloc(p->samples, sizeof(*place));

	for (size_t i = 0; place && i < p->samples; i++) {
		const struct profile_sample *s = &p->sample[i];
		const struct profile_symbol *at = s->place ? &p->symbol[s->place - 1] : NULL;

		place[i] = (struct place){ .image = s->image,
					   .symbol = s->symbol,
					   .file = at && at->line ? at->file : PROFILE_UNKNOWN,
					   .at = !at	  ? -1 :
						 at->line ? at->line :
							    at->offset,
					   .n = 1,
					   .clocked = s->khz > 0,
					   .khz = s->khz };
	}
	if (!place)
		return NULL;
	qsort(place, p->samples, sizeof(*place), by_place);
	*nr = 1;
	for (size_t i = 1; i < p->samples; i++) {
		struct place *last = &place[*nr - 1];

		if (by_place(last, &place[i])) {
			place[(*nr)++] = place[i];
			continue;
		}
		last->n++;
		last->clocked += place[i].clocked;
		last->khz += place[i].khz;
	}
	return place;
}

/* Opens absolute paths to regular files only, because the profiled program chose the path. */
static FILE *source_open(const char *path)
{
	struct stat st;
	int fd = *path == '/' ? regular_open(path, 0, &st) : -1;
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

/* Prints a line without its indentation. Calls must ask for lines in ascending order. */
static void source_print_line(struct source *s, int64_t line)
{
	ssize_t length = 0;
	size_t blanks;

	while (s->f && s->line < line) {
		length = getline(&s->text, &s->room, s->f);
		if (length < 0)
			return;
		s->line++;
	}
	if (!s->f || !length)
		return;
	blanks = strspn(s->text, " \t");
	s->text[strcspn(s->text, "\r\n")] = '\0';
	printf("  %.*s", TEXT_WIDTH, s->text + blanks);
}

static void place_print(const struct place *place, size_t of, struct source *source)
{
	printf("%8zu %6.2f ", place->n, 100.0 * (double)place->n / (double)of);
	if (place->clocked)
		printf("%7.0f  ", place->khz / (double)place->clocked / 1000);
	else
		printf("%7s  ", "?");
	if (place->at < 0)
		printf("?");
	else if (place->file == PROFILE_UNKNOWN)
		printf("+0x%" PRIx64, (uint64_t)place->at);
	else
		printf("%6" PRId64, place->at);
	if (place->file != PROFILE_UNKNOWN)
		source_print_line(source, place->at);
	putchar('\n');
}

/* Marks the @lines places with the most samples as shown; they stay in source order. */
static bool places_select_hottest(struct place *place, size_t nr, size_t lines)
{
	struct place **hot = calloc(nr, sizeof(*hot));
	const bool good = hot;

	for (size_t i = 0; hot && i < nr; i++)
		hot[i] = &place[i];
	if (hot)
		qsort(hot, nr, sizeof(*hot), by_count);
	for (size_t i = 0; hot && i < nr && i < lines; i++)
		hot[i]->shown = true;
	free(hot);
	return good;
}

/* Closes the current file and opens another one; PROFILE_UNKNOWN: none. */
static void source_switch(struct source *s, const char *path, uint32_t file)
{
	if (s->f)
		fclose(s->f);
	s->f = NULL;
	s->line = 0;
	if (file == PROFILE_UNKNOWN)
		return;
	s->f = source_open(path);
	printf("%26s%s%s\n", "", path, s->f ? "" : ": not found here");
}

/* The places of one symbol. */
struct part {
	struct place *place;
	size_t nr, n;
};

static bool symbol_print(const struct profile *p, const struct part *part, size_t lines)
{
	struct place *place = part->place;
	struct source source = { 0 };
	size_t named = 0;

	for (size_t i = 0; i < part->nr; i++)
		named += place[i].file != PROFILE_UNKNOWN;
	if (!places_select_hottest(place, part->nr, lines))
		return false;
	printf("%s of %s: %zu samples, %.1f %%%s\n", p->name[place->symbol], p->name[place->image],
	       part->n, 100.0 * (double)part->n / (double)p->samples,
	       named ? "" : "; without debugging information there are no lines");
	printf(" samples      %%     MHz  %s\n", named ? "line" : "instruction");
	for (size_t i = 0; i < part->nr; i++) {
		if (!i || place[i].file != place[i - 1].file)
			source_switch(&source, p->name[place[i].file], place[i].file);
		if (place[i].shown)
			place_print(&place[i], part->n, &source);
	}
	if (part->nr > lines)
		printf("  ... and %zu more: --lines\n", part->nr - lines);
	source_switch(&source, NULL, PROFILE_UNKNOWN);
	free(source.text);
	return true;
}

static int by_samples(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_place(x->place, y->place);
}

/* Splits sorted places by symbol, that with the most samples first. NULL without memory. */
static struct part *parts_divide(struct place *place, size_t nr, size_t *parts)
{
	struct part *part = calloc(nr, sizeof(*part));

	*parts = 0;
	for (size_t i = 0; part && i < nr; i++) {
		if (!i || by_symbol(&place[i - 1], &place[i]))
			part[(*parts)++].place = &place[i];
		part[*parts - 1].nr++;
		part[*parts - 1].n += place[i].n;
	}
	if (part)
		qsort(part, *parts, sizeof(*part), by_samples);
	return part;
}

int profile_annotate(const struct profile *p, size_t lines, bool all)
{
	size_t nr = 0, parts = 0;
	struct place *place = places_collect(p, &nr);
	struct part *part = place ? parts_divide(place, nr, &parts) : NULL;
	bool good = part;

	for (size_t i = 0; good && i < (all ? parts : 1); i++) {
		if (i)
			putchar('\n');
		good = symbol_print(p, &part[i], lines);
	}
	if (!good)
		db_missing(p->rec->path, "no memory for a table");
	free(part);
	free(place);
	return good ? CTL_OK : CTL_FAILED;
}
