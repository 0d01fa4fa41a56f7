// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define HEAD  "gchint-calibration"
#define WORDS 4

struct parser {
	struct calibration *c;
	unsigned int line;
	bool headed;
	char *error;
	size_t error_size;
};

static int __attribute__((format(printf, 2, 3)))
parser_error(struct parser *p, const char *fmt, ...)
{
	int n = snprintf(p->error, p->error_size, "line %u: ", p->line);
	va_list ap;

	va_start(ap, fmt);
	if (n > 0 && (size_t)n < p->error_size)
		vsnprintf(p->error + n, p->error_size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Accepts decimal digits only: no sign, no blank, no leading zero, which could mean octal. */
static bool number_parse(const char *s, uint32_t *value)
{
	uint64_t v = 0;

	if (!*s || (*s == '0' && s[1]))
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return false;
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*value = (uint32_t)v;
	return true;
}

static int figure_parse(struct parser *p, char **word, struct calibration_figure *f)
{
	if (f->known)
		return parser_error(p, "%s is there twice", word[0]);
	if (!number_parse(word[1], &f->value) || !number_parse(word[2], &f->error))
		return parser_error(p, "%s takes a whole number and its error", word[0]);
	if (f->value > CALIBRATION_MAX)
		return parser_error(p, "%s is above %u", word[0], CALIBRATION_MAX);
	f->known = true;
	return 0;
}

static int head_parse(struct parser *p, char **word)
{
	if (strcmp(word[0], HEAD) || strcmp(word[1], "1"))
		return parser_error(p, "\"" HEAD " 1\" is wanted first");
	p->headed = true;
	return 0;
}

static int policy_parse(struct parser *p, char **word)
{
	struct calibration *c = p->c;
	uint32_t cpu;

	if (!number_parse(word[1], &cpu))
		return parser_error(p, "policy takes the number of its first CPU");
	if (c->nr && cpu <= c->policy[c->nr - 1].cpu)
		return parser_error(p, "policy %" PRIu32 " is not above the one before", cpu);
	if (c->nr && !c->policy[c->nr - 1].nr)
		return parser_error(p, "policy %" PRIu32 " has no opp", c->policy[c->nr - 1].cpu);
	if (c->nr == CALIBRATION_POLICIES)
		return parser_error(p, "more than %d policies", CALIBRATION_POLICIES);
	/* The capacity doubles: 1, 2, 4, ... */
	if (!(c->nr & (c->nr - 1))) {
		struct calibration_policy *more =
			realloc(c->policy, (c->nr ? c->nr * 2 : 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->policy = more;
	}
	c->policy[c->nr++] = (struct calibration_policy){ .cpu = cpu };
	return 0;
}

static int opp_parse(struct parser *p, struct calibration_policy *to, char **word)
{
	struct calibration_figure power = { 0 };
	uint32_t khz;
	int ret;

	if (to->nr == CALIBRATION_OPPS)
		return parser_error(p, "more than %d of a policy", CALIBRATION_OPPS);
	if (!number_parse(word[1], &khz) || !khz)
		return parser_error(p, "opp takes kHz, uW and the error of those");
	ret = figure_parse(p, word + 1, &power);
	if (ret)
		return parser_error(p, "opp takes kHz, uW up to %u, and their error",
				    CALIBRATION_MAX);
	if (!power.value)
		return parser_error(p, "no busy CPU draws nothing");
	if (to->nr && khz <= to->opp[to->nr - 1].khz)
		return parser_error(p, "opp %" PRIu32 " is not above the one before", khz);
	if (to->nr && power.value < to->opp[to->nr - 1].power.value)
		return parser_error(p, "opp %" PRIu32 " draws less than a slower one", khz);
	to->opp[to->nr].khz = khz;
	to->opp[to->nr++].power = power;
	return 0;
}

static int statement_parse(struct parser *p, char **word, unsigned int nr)
{
	struct calibration_policy *at = p->c->nr ? &p->c->policy[p->c->nr - 1] : NULL;
	static const struct {
		const char *name;
		unsigned int words;
	} known[] = { { "awake", 3 },  { HEAD, 2 },  { "idle", 3 },
		      { "memory", 3 }, { "opp", 4 }, { "policy", 2 } };
	size_t i = 0;

	if (!p->headed)
		return nr == 2 ? head_parse(p, word) :
				 parser_error(p, "\"" HEAD " 1\" is wanted first");
	while (i < sizeof(known) / sizeof(known[0]) && strcmp(word[0], known[i].name))
		i++;
	if (i == sizeof(known) / sizeof(known[0]))
		return parser_error(p, "awake, idle, memory, opp or policy is wanted");
	if (nr != known[i].words)
		return parser_error(p, "%s takes %u words behind it", known[i].name,
				    known[i].words - 1);
	switch (*word[0]) {
	case 'g':
		return parser_error(p, HEAD " is there twice");
	case 'i':
		return at ? parser_error(p, "idle is of the machine: before the first policy") :
			    figure_parse(p, word, &p->c->idle);
	case 'p':
		return policy_parse(p, word);
	default:
		break;
	}
	if (!at)
		return parser_error(p, "%s is of a policy: behind one", word[0]);
	if (*word[0] == 'o')
		return opp_parse(p, at, word);
	return figure_parse(p, word, *word[0] == 'a' ? &at->awake : &at->memory);
}

static int line_parse(struct parser *p, char *text)
{
	char *word[WORDS + 1], *save = NULL;
	unsigned int nr = 0;

	p->line++;
	text[strcspn(text, "#")] = '\0';
	for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (nr == WORDS)
			return parser_error(p, "too many words");
		word[nr++] = w;
	}
	return nr ? statement_parse(p, word, nr) : 0;
}

static int lines_parse(struct parser *p, char *text, size_t size)
{
	char *end;
	int ret = 0;

	if (memchr(text, '\0', size))
		return parser_error(p, "a byte that is no text");
	for (; !ret && *text; text = end) {
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		ret = line_parse(p, text);
	}
	if (ret)
		return ret;
	if (!p->c->nr)
		return parser_error(p, "no policy");
	if (!p->c->policy[p->c->nr - 1].nr)
		return parser_error(p, "policy %" PRIu32 " has no opp",
				    p->c->policy[p->c->nr - 1].cpu);
	return 0;
}

int calibration_parse(struct calibration *c, const char *text, size_t size, char *error,
		      size_t error_size)
{
	struct parser p = { .c = c, .error = error, .error_size = error_size };
	char *copy = malloc(size + 1);
	int ret;

	*c = (struct calibration){ 0 };
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size);
	copy[size] = '\0';
	ret = lines_parse(&p, copy, size);
	free(copy);
	return ret;
}

static void figure_write(FILE *f, const char *name, const struct calibration_figure *v)
{
	if (v->known)
		fprintf(f, "%s %" PRIu32 " %" PRIu32 "\n", name, v->value, v->error);
}

void calibration_write(const struct calibration *c, FILE *f)
{
	fputs(HEAD " 1\n", f);
	figure_write(f, "idle", &c->idle);
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct calibration_policy *p = &c->policy[i];

		fprintf(f, "policy %" PRIu32 "\n", p->cpu);
		figure_write(f, "awake", &p->awake);
		figure_write(f, "memory", &p->memory);
		for (uint32_t j = 0; j < p->nr; j++)
			fprintf(f, "opp %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", p->opp[j].khz,
				p->opp[j].power.value, p->opp[j].power.error);
	}
}

void calibration_free(struct calibration *c)
{
	free(c->policy);
	*c = (struct calibration){ 0 };
}
