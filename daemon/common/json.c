// SPDX-License-Identifier: GPL-2.0-or-later
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "escape.h"

static void json_begin_value(struct json *j, const char *key)
{
	const uint64_t bit = 1ull << j->depth;

	if (j->depth && j->begun & bit)
		fputc(',', j->f);
	if (j->line)
		fputc('\n', j->f);
	j->line = false;
	j->begun |= bit;
	if (!key)
		return;
	fputc('"', j->f);
	escape_json(j->f, key);
	fputs("\":", j->f);
}

static void json_open(struct json *j, const char *key, bool list)
{
	json_begin_value(j, key);
	fputc(list ? '[' : '{', j->f);
	assert(j->depth < JSON_DEPTH);
	j->depth++;
	j->begun &= ~(1ull << j->depth);
	if (list)
		j->lists |= 1ull << j->depth;
	else
		j->lists &= ~(1ull << j->depth);
}

void json_object(struct json *j, const char *key)
{
	json_open(j, key, false);
}

void json_list(struct json *j, const char *key)
{
	json_open(j, key, true);
}

void json_end(struct json *j)
{
	if (j->line)
		fputc('\n', j->f);
	j->line = false;
	fputc(j->lists & 1ull << j->depth ? ']' : '}', j->f);
	if (!--j->depth)
		fputc('\n', j->f);
}

void json_line(struct json *j)
{
	j->line = true;
}

void json_text(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	json_begin_value(j, key);
	fputc('"', j->f);
	escape_json(j->f, value);
	fputc('"', j->f);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	json_begin_value(j, key);
	fprintf(j->f, "%" PRId64, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	json_begin_value(j, key);
	fprintf(j->f, "%" PRIu64, value);
}

void json_real(struct json *j, const char *key, double value, int digits)
{
	json_begin_value(j, key);
	if (isfinite(value))
		fprintf(j->f, "%.*g", digits, value);
	else
		fputs("null", j->f);
}

void json_fixed(struct json *j, const char *key, double value, int decimals)
{
	json_begin_value(j, key);
	if (isfinite(value))
		fprintf(j->f, "%.*f", decimals, value);
	else
		fputs("null", j->f);
}

void json_us(struct json *j, const char *key, uint64_t ns)
{
	json_begin_value(j, key);
	fprintf(j->f, "%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
}

void json_bool(struct json *j, const char *key, bool value)
{
	json_begin_value(j, key);
	fputs(value ? "true" : "false", j->f);
}

void json_null(struct json *j, const char *key)
{
	json_begin_value(j, key);
	fputs("null", j->f);
}
