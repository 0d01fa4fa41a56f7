// SPDX-License-Identifier: MIT
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static int settings_refuse(struct settings_error *err,
								 int code, const char *format, ...)
{
	va_list args;

	if (err) {
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return code;
}

static int index_of(const struct settings *s, const char *key)
{
	for (int i = 0; s->known[i].key; i++)
		if (!strcmp(s->known[i].key, key))
			return i;
	return -1;
}

void settings_init(struct settings *s, const struct setting *known)
{
	memset(s, 0, sizeof(*s));
	s->known = known;
}

void settings_free(struct settings *s)
{
	for (int i = 0; i < SETTINGS_MAX; i++)
		free(s->value[i]);
	memset(s->value, 0, sizeof(s->value));
}

int settings_set(struct settings *s, const char *key, const char *value, struct settings_error *err)
{
	int i = index_of(s, key);
	char *copy;

	if (i < 0)
		return settings_refuse(err, -ENOENT, "no setting '%s'; --help lists them", key);
	copy = strdup(value);
	if (!copy)
		return settings_refuse(err, -ENOMEM, "out of memory");
	free(s->value[i]);
	s->value[i] = copy;
	return 0;
}

static char *text_trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

int settings_load(struct settings *s, const char *path, struct settings_error *err)
{
	FILE *f = fopen(path, "re");
	struct settings_error why;
	char line[1024];
	int number = 0, code = 0;

	if (!f)
		return settings_refuse(err, -errno, "%s: %s", path, strerror(errno));
	while (!code && fgets(line, sizeof(line), f)) {
		char *key, *value, *comment = strchr(line, '#');

		number++;
		if (!strchr(line, '\n') && !feof(f)) {
			code = settings_refuse(err, -EINVAL, "%s:%d: line too long", path, number);
			break;
		}
		if (comment)
			*comment = 0;
		key = text_trim(line);
		if (!*key)
			continue;
		value = strchr(key, '=');
		if (!value) {
			code = settings_refuse(err, -EINVAL, "%s:%d: want key = value", path,
					       number);
			break;
		}
		*value++ = 0;
		code = settings_set(s, text_trim(key), text_trim(value), &why);
		if (code)
			settings_refuse(err, code, "%s:%d: %.180s", path, number, why.text);
	}
	fclose(f);
	return code == -ENOENT ? -EINVAL : code;
}

int settings_parse(struct settings *s, const char *text, struct settings_error *err)
{
	char *copy = strdup(text ? text : ""), *save = NULL;
	int code = 0;

	if (!copy)
		return settings_refuse(err, -ENOMEM, "out of memory");
	for (char *item = strtok_r(copy, ",", &save); item && !code;
	     item = strtok_r(NULL, ",", &save)) {
		char *value = strchr(item, '=');

		if (!value) {
			code = settings_refuse(err, -EINVAL, "'%s': want KEY=VALUE", item);
			break;
		}
		*value++ = 0;
		code = settings_set(s, text_trim(item), text_trim(value), err);
	}
	free(copy);
	return code;
}

const char *settings_text(const struct settings *s, const char *key)
{
	int i = index_of(s, key);

	if (i < 0)
		return NULL;
	return s->value[i] ? s->value[i] : s->known[i].value;
}

int settings_size(const struct settings *s, const char *key, uint64_t min, uint64_t max,
		  uint64_t *out, struct settings_error *err)
{
	const char *text = settings_text(s, key);
	unsigned long long value;
	int shift = 0;
	char *end;

	if (!text)
		return settings_refuse(err, -ENOENT, "no setting '%s'", key);
	errno = 0;
	value = strtoull(text, &end, 10);
	switch (toupper((unsigned char)*end)) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	end += shift != 0;
	if (!isdigit((unsigned char)*text) || *end || errno)
		return settings_refuse(err, -EINVAL,
				       "%s=%s: want a whole number, K, M or G may follow", key,
				       text);
	if (value > UINT64_MAX >> shift || value << shift < min || value << shift > max)
		return settings_refuse(err, -EINVAL, "%s=%s: want %llu to %llu", key, text,
				       (unsigned long long)min, (unsigned long long)max);
	*out = (uint64_t)value << shift;
	return 0;
}

static int one_real(const char *key, const char *text, char **end, double min, double max,
		    double *out, struct settings_error *err)
{
	*out = strtod(text, end);
	if (*end == text || !isfinite(*out))
		return settings_refuse(err, -EINVAL, "%s=%s: want a number", key, text);
	if (*out < min || *out > max)
		return settings_refuse(err, -EINVAL, "%s=%s: want %g to %g", key, text, min, max);
	return 0;
}

int settings_real(const struct settings *s, const char *key, double min, double max, double *out,
		  struct settings_error *err)
{
	const char *text = settings_text(s, key);
	char *end;
	int code;

	if (!text)
		return settings_refuse(err, -ENOENT, "no setting '%s'", key);
	code = one_real(key, text, &end, min, max, out, err);
	if (!code && *end)
		code = settings_refuse(err, -EINVAL, "%s=%s: '%s' follows the number", key, text,
				       end);
	return code;
}

int settings_list(const struct settings *s, const char *key, double min, double max, double *out,
		  size_t room, struct settings_error *err)
{
	const char *text = settings_text(s, key);
	size_t n = 0;

	if (!text)
		return settings_refuse(err, -ENOENT, "no setting '%s'", key);
	for (;;) {
		char *end;
		int code;

		while (isspace((unsigned char)*text) || *text == ',')
			text++;
		if (!*text)
			break;
		if (n == room)
			return settings_refuse(err, -EINVAL, "%s: more than %zu numbers", key,
					       room);
		code = one_real(key, text, &end, min, max, &out[n], err);
		if (code)
			return code;
		n++;
		text = end;
	}
	return (int)n;
}

void settings_help(const struct setting *known, FILE *out)
{
	for (; known->key; known++)
		fprintf(out, "  --%-24s %s (default: %s)\n", known->key, known->help, known->value);
}
