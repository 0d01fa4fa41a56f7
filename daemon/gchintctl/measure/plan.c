// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

#define RUNS_ORDERED 4 /* of each command: all of one above all of the other are no chance */

size_t plan_command_at(size_t i, size_t commands)
{
	const size_t at = i % commands;

	return i / commands % 2 ? commands - 1 - at : at;
}

void plan_limits_init(struct plan_limits *limits)
{
	*limits = (struct plan_limits){ 0 };
	for (int f = 0; f < PLAN_FIGURES; f++)
		limits->percent[f] = NAN;
}

const char *plan_figure_name(enum plan_figure figure)
{
	static const char *const name[] = { "energy", "time", "cpu", "gc-cpu", "pause" };

	return name[figure];
}

bool plan_limits_set(struct plan_limits *limits, const char *text)
{
	const char *equals = strchr(text, '='), *number = equals ? equals + 1 : text;
	bool found = false;
	double percent;
	char *end;

	percent = strtod(number, &end);
	if (end == number || *end || !isfinite(percent) || percent < 0)
		return false;
	for (int f = 0; f < PLAN_FIGURES; f++) {
		const char *name = plan_figure_name((enum plan_figure)f);

		if (equals &&
		    (strncmp(text, name, strlen(name)) || (size_t)(equals - text) != strlen(name)))
			continue;
		/* A limit of its own replaces that of all figures, in either order. */
		if (!equals && limits->named[f])
			continue;
		limits->percent[f] = percent;
		limits->named[f] = equals;
		found = true;
	}
	return found || !equals;
}

enum plan_figure plan_figure_of(const char *name)
{
	if (!strncmp(name, "energy of ", 10))
		return PLAN_ENERGY;
	if (!strcmp(name, "duration"))
		return PLAN_TIME;
	if (!strcmp(name, "CPU time"))
		return PLAN_CPU;
	if (!strcmp(name, "GC CPU time"))
		return PLAN_COLLECTOR_CPU;
	if (!strcmp(name, "longest pause") || !strcmp(name, "time paused"))
		return PLAN_PAUSE;
	return PLAN_FIGURES;
}

enum plan_judgement plan_judge(const struct verdict *v, double percent)
{
	if (v->known) {
		if (v->low > 0 && v->change * 100 > percent)
			return PLAN_EXCEEDED;
		return v->high * 100 <= percent ? PLAN_WITHIN : PLAN_INCONCLUSIVE;
	}
	if (v->n[0] < 2 || v->n[1] < 2 || v->min[0] < 0)
		return PLAN_INCONCLUSIVE;
	if (v->max[0] <= 0 && v->max[1] <= 0)
		return PLAN_WITHIN;
	return v->max[0] <= 0 && v->min[1] > 0 && v->n[0] >= RUNS_ORDERED &&
			       v->n[1] >= RUNS_ORDERED ?
		       PLAN_EXCEEDED :
		       PLAN_INCONCLUSIVE;
}

/* A finite number; @decimals becomes at least as many as its text has. */
static bool number_read(const char *text, double *number, int *decimals)
{
	const char *point = strchr(text, '.');
	char *end;

	*number = strtod(text, &end);
	if (end == text || *end || !isfinite(*number) || strpbrk(text, "eExX"))
		return false;
	if (point && (int)strlen(point + 1) > *decimals)
		*decimals = (int)strlen(point + 1);
	return true;
}

const char *plan_scan(const char *from, const char *to, const char *step, char **values)
{
	double first, last, by;
	int decimals = 0;
	size_t room;
	FILE *f;

	if (!number_read(from, &first, &decimals) || !number_read(to, &last, &decimals) ||
	    !number_read(step, &by, &decimals) || decimals > 9)
		return "it takes decimal numbers, such as 1 8, or 0.5 2 with a step of 0.5";
	if (by == 0 || (last - first) / by < 0)
		return "the step does not lead from the first value to the last";
	if ((last - first) / by > PLAN_VALUES)
		return "it has too many values";
	f = open_memstream(values, &room);
	if (!f)
		return "no memory";
	/* Half of a digit below: a sum of steps may be off by a rounding. */
	for (int i = 0; (last - first - i * by) / by > -0.5 * pow(10, -decimals) / fabs(by); i++)
		fprintf(f, "%s%.*f", i ? "," : "", decimals, first + i * by);
	return fclose(f) ? "no memory" : NULL;
}

char *plan_replace(const char *text, const char *name, const char *value)
{
	const size_t length = strlen(name);
	char *to = NULL;
	size_t room;
	FILE *f = open_memstream(&to, &room);

	if (!f)
		return NULL;
	while (*text)
		if (*text == '{' && !strncmp(text + 1, name, length) && text[length + 1] == '}') {
			fputs(value, f);
			text += length + 2;
		} else {
			fputc(*text++, f);
		}
	if (!fclose(f))
		return to;
	free(to);
	return NULL;
}

const char *plan_words(const char *text, char ***argv)
{
	wordexp_t words;
	char **copy;

	*argv = NULL;
	switch (wordexp(text, &words, WRDE_NOCMD)) {
	case 0:
		break;
	case WRDE_BADCHAR:
	case WRDE_CMDSUB:
		return "it needs a shell: sh -c '...'";
	case WRDE_SYNTAX:
		return "a quote or a bracket is not closed";
	default:
		return "no memory";
	}
	copy = calloc(words.we_wordc + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < words.we_wordc; i++) {
		copy[i] = strdup(words.we_wordv[i]);
		if (!copy[i]) {
			plan_words_free(copy);
			copy = NULL;
		}
	}
	wordfree(&words);
	if (!copy)
		return "no memory";
	if (!copy[0]) {
		free(copy);
		return "it has no words";
	}
	*argv = copy;
	return NULL;
}

void plan_words_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}
