// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../common/names.h"
#include "../common/root.h"
#include "../common/text.h"

static const struct {
	const char *name;
	uint32_t period_ms;
	bool enabled;
} source_defaults[SOURCE_NR] = {
#define SOURCE(name, period, on) { #name, period, on },
#include "sources.def"
#undef SOURCE
};

enum value_type {
	VALUE_BOOL,
	VALUE_PHASES,
	VALUE_SIZE,
	VALUE_STRING,
	VALUE_U32
};

struct key {
	const char *section, *name;
	enum value_type type;
	size_t offset;
	/* Limits of a number; a string: max is its capacity; phases: with min 1, none is a phase. */
	uint64_t min, max;
};

#define KEY(section, name, type, member, min, max)                                                 \
	{                                                                                          \
		section, name, type, offsetof(struct config, member), min, max                     \
	}
#define STRING(section, name, member)                                                              \
	KEY(section, name, VALUE_STRING, member, 0, sizeof(((struct config *)0)->member))

/* Sorted by section, then by name. */
static const struct key keys[] = {
	KEY("genl", "buffer", VALUE_SIZE, genl_buffer, 64 << 10, 256 << 20),
	KEY("genl", "phases", VALUE_PHASES, genl_phases, 0, 0),
	STRING("hotspots", "cgroup", hotspots.cgroup),
	STRING("hotspots", "command", hotspots.command),
	KEY("hotspots", "hz", VALUE_U32, hotspots.hz, 1, 2000),
	STRING("hotspots", "method", hotspots.method),
	KEY("hotspots", "phases", VALUE_PHASES, hotspots.phases, 1, 0),
	KEY("hotspots", "signal", VALUE_BOOL, hotspots.signal, 0, 0),
	STRING("hotspots", "unit", hotspots.unit),
	KEY("iio", "buffered", VALUE_BOOL, iio_buffered, 0, 0),
	STRING("library", "socket", library_socket),
	STRING("metrics", "listen", metrics_listen),
	KEY("metrics", "period_s", VALUE_U32, metrics_period_s, 1, 3600),
	STRING("metrics", "service", metrics_service),
	STRING("metrics", "textfile", metrics_textfile),
	STRING("metrics", "token_file", metrics_token_file),
	KEY("record", "arguments", VALUE_BOOL, arguments, 0, 0),
	KEY("record", "durable", VALUE_BOOL, durable, 0, 0),
	STRING("record", "file", record_file),
	KEY("record", "keep", VALUE_U32, keep, 0, 1000),
	STRING("record", "label", label),
	KEY("record", "max_size", VALUE_SIZE, max_size, 0, UINT64_MAX),
	KEY("record", "queue", VALUE_U32, queue, 4096, 1 << 20),
	KEY("trace", "buffer", VALUE_SIZE, trace_buffer, 4 << 10, 64 << 20),
};

#define SOURCE_KEY(name, type, member, min, max)                                                   \
	{                                                                                          \
		NULL, name, type, offsetof(struct config_source, member), min, max                 \
	}

/* Accepted in the section of every source. */
static const struct key source_keys[] = {
	SOURCE_KEY("budget_percent", VALUE_U32, budget_percent, 1, 100),
	SOURCE_KEY("enabled", VALUE_BOOL, enabled, 0, 0),
	SOURCE_KEY("match", VALUE_STRING, match, 0, sizeof(((struct config_source *)0)->match)),
	SOURCE_KEY("period_ms", VALUE_U32, period_ms, 1, 3600000),
};

/* The kernel refuses a mask with a bit that names no phase. */
#define PHASES_ALL (((1u << GCHINT_PHASE_NR) - 1) & ~(1u << GCHINT_PHASE_NONE))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

const char *config_source_name(enum source_id id)
{
	return source_defaults[id].name;
}

void config_defaults(struct config *config)
{
	memset(config, 0, sizeof(*config));
	config->durable = true;
	config->queue = 32768;
	config->genl_buffer = 8 << 20;
	config->genl_phases = PHASES_ALL;
	config->hotspots.hz = 999;
	config->hotspots.phases = CONFIG_PHASES;
	strcpy(config->hotspots.command, "*");
	strcpy(config->hotspots.cgroup, "*");
	strcpy(config->hotspots.unit, "*");
	strcpy(config->hotspots.method, "*");
	config->iio_buffered = true;
	config->trace_buffer = 256 << 10;
	config->metrics_period_s = 15;
	for (int i = 0; i < SOURCE_NR; i++) {
		struct config_source *s = &config->source[i];

		s->enabled = source_defaults[i].enabled;
		s->period_ms = source_defaults[i].period_ms;
		s->budget_percent = 5;
		strcpy(s->match, "*");
	}
}

struct parser {
	struct config *config;
	char section[32];
	struct config_source *source; /* of the section, if it is a source's */
	unsigned int line;
	char *error;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int parser_fail(struct parser *p, const char *fmt, ...)
{
	int n = snprintf(p->error, p->size, "line %u: ", p->line);
	va_list ap;

	va_start(ap, fmt);
	if (n > 0 && (size_t)n < p->size)
		vsnprintf(p->error + n, p->size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool section_find(struct parser *p)
{
	p->source = NULL;
	for (int i = 0; i < SOURCE_NR; i++)
		if (!strcmp(p->section, source_defaults[i].name)) {
			p->source = &p->config->source[i];
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(p->section, keys[i].section))
			return true;
	return false;
}

static int section_parse(struct parser *p, char *line)
{
	char *end = strchr(line, ']');

	if (!end || *text_strip(end + 1))
		return parser_fail(p, "'%s' is not a section: write [name]", line);
	*end = '\0';
	line = text_strip(line + 1);
	if (strlen(line) >= sizeof(p->section))
		return parser_fail(p, "no section has so long a name");
	strcpy(p->section, line);
	if (!section_find(p))
		return parser_fail(p,
				   "no section '%s': record, metrics, or a source's name (gchintd "
				   "--list-sources)",
				   line);
	return 0;
}

static int value_parse_bool(struct parser *p, const struct key *k, const char *value, bool *to)
{
	if (!strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "1"))
		*to = true;
	else if (!strcmp(value, "no") || !strcmp(value, "false") || !strcmp(value, "0"))
		*to = false;
	else
		return parser_fail(p, "%s = '%s': yes or no is wanted", k->name, value);
	return 0;
}

static int value_parse_number(struct parser *p, const struct key *k, const char *value,
			      uint64_t *to)
{
	int ret = k->type == VALUE_SIZE ? text_size(value, to) : text_u64(value, to);

	if (ret == -EINVAL)
		return parser_fail(p, "%s = '%s': %s is wanted", k->name, value,
				   k->type == VALUE_SIZE ? "a size such as 64M" : "a number");
	if (ret || *to < k->min || *to > k->max)
		return parser_fail(p, "%s = '%s': out of range, %llu to %llu", k->name, value,
				   (unsigned long long)k->min, (unsigned long long)k->max);
	return 0;
}

static int value_parse_phases(struct parser *p, const struct key *k, char *value, uint32_t *to)
{
	uint32_t mask = 0;
	char *save, *word;

	if (!strcmp(value, "all")) {
		*to = PHASES_ALL | (uint32_t)k->min;
		return 0;
	}
	if (!k->min && !strcmp(value, "none")) {
		*to = 0;
		return 0;
	}
	for (word = strtok_r(value, ", \t", &save); word; word = strtok_r(NULL, ", \t", &save)) {
		uint32_t i;

		for (i = 1 - (uint32_t)k->min; i < GCHINT_PHASE_NR && strcmp(word, name_phase(i));
		     i++)
			;
		if (i == GCHINT_PHASE_NR)
			return parser_fail(
				p, "%s: no phase '%s': all, none, or names such as mark,sweep",
				k->name, word);
		mask |= 1u << i;
	}
	*to = mask;
	return 0;
}

static int value_parse(struct parser *p, const struct key *k, char *value, void *base)
{
	void *to = (char *)base + k->offset;
	uint64_t number;
	int ret;

	switch (k->type) {
	case VALUE_BOOL:
		return value_parse_bool(p, k, value, to);
	case VALUE_PHASES:
		return value_parse_phases(p, k, value, to);
	case VALUE_STRING:
		if (strlen(value) >= k->max)
			return parser_fail(p, "%s: longer than %llu bytes", k->name,
					   (unsigned long long)k->max - 1);
		strcpy(to, value);
		return 0;
	case VALUE_SIZE:
	case VALUE_U32:
		ret = value_parse_number(p, k, value, &number);
		if (ret)
			return ret;
		if (k->type == VALUE_SIZE)
			*(uint64_t *)to = number;
		else
			*(uint32_t *)to = (uint32_t)number;
		return 0;
	}
	return -EINVAL;
}

static int line_parse(struct parser *p, char *line)
{
	char *value, *name;

	line = text_strip(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (*line == '[')
		return section_parse(p, line);
	value = strchr(line, '=');
	if (!value)
		return parser_fail(p, "'%s': key = value is wanted", line);
	*value++ = '\0';
	name = text_strip(line);
	value = text_strip(value);
	if (!*p->section)
		return parser_fail(p, "'%s' is before any [section]", name);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].section, p->section) && !strcmp(keys[i].name, name))
			return value_parse(p, &keys[i], value, p->config);
	for (size_t i = 0; p->source && i < ARRAY_SIZE(source_keys); i++)
		if (!strcmp(source_keys[i].name, name))
			return value_parse(p, &source_keys[i], value, p->source);
	return parser_fail(p, "no key '%s' in [%s]: see gchintd.conf(5)", name, p->section);
}

int config_parse(struct config *config, const char *text, size_t len, char *error, size_t size)
{
	struct parser p = { .config = config, .error = error, .size = size };
	const char *end = text + len;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((eol ? eol : end) - text);
		char line[512];
		int ret;

		p.line++;
		if (n >= sizeof(line))
			return parser_fail(&p, "longer than %zu bytes", sizeof(line) - 1);
		if (memchr(text, '\0', n))
			return parser_fail(&p, "a NUL byte: this is no text file");
		memcpy(line, text, n);
		line[n] = '\0';
		ret = line_parse(&p, line);
		if (ret)
			return ret;
		text += n + 1;
	}
	return 0;
}

int config_load(struct config *config, const char *path, char *error, size_t size)
{
	const size_t room = 256 << 10;
	struct config fresh;
	char *text = malloc(room), what[256];
	int len, ret;

	if (!text) {
		snprintf(error, size, "%s: no memory", path);
		return -ENOMEM;
	}
	len = root_read(text, room, "%s", path);
	if (len < 0) {
		snprintf(error, size, "%s: %s", path, strerror(-len));
		free(text);
		return len;
	}
	if ((size_t)len == room - 1) {
		snprintf(error, size, "%s: longer than %zu KiB: this is no configuration", path,
			 room >> 10);
		free(text);
		return -EFBIG;
	}
	config_defaults(&fresh);
	ret = config_parse(&fresh, text, (size_t)len, what, sizeof(what));
	free(text);
	if (ret)
		/* "line N: what" becomes "PATH:N: what" */
		snprintf(error, size, "%s:%s", path, what + strlen("line "));
	else
		*config = fresh;
	return ret;
}
