// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct table {
	size_t columns, rows, filled, room;
	char **cell; /* row 0 holds the headings */
};

static char **cell_at(const struct table *t, size_t row, size_t column)
{
	return &t->cell[row * t->columns + column];
}

struct table *table_new(const char *const *heading, size_t columns)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = columns;
	if (table_row(t))
		goto free_table;
	for (size_t i = 0; i < columns; i++)
		if (table_cell(t, "%s", heading[i]))
			goto free_table;
	return t;

free_table:
	table_free(t);
	return NULL;
}

int table_row(struct table *t)
{
	if (t->rows == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		char **cell = realloc(t->cell, room * t->columns * sizeof(*cell));

		if (!cell)
			return -ENOMEM;
		t->cell = cell;
		t->room = room;
	}
	memset(cell_at(t, t->rows, 0), 0, t->columns * sizeof(*t->cell));
	t->rows++;
	t->filled = 0;
	return 0;
}

int table_cell(struct table *t, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	if (t->filled == t->columns)
		return -E2BIG;
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	*cell_at(t, t->rows - 1, t->filled++) = text;
	return 0;
}

int table_number(struct table *t, double value, int digits)
{
	if (isnan(value))
		return table_cell(t, "-");
	return table_cell(t, "%.*f", digits, value);
}

static const char *text_of(const struct table *t, size_t row, size_t column)
{
	const char *text = *cell_at(t, row, column);

	return text && *text ? text : "-";
}

/* A JSON number: no leading plus, zero or point, nothing after it. */
static bool is_number(const char *text)
{
	const char *p = text + (*text == '-');
	char *end;

	if (*p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
		return false;
	if (strspn(p, "0123456789.eE+-") != strlen(p))
		return false;
	strtod(text, &end);
	return !*end && end[-1] != '.';
}

static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xC0) != 0x80; /* count characters, not UTF-8 bytes */
	return n;
}

static void print_text(const struct table *t, FILE *out)
{
	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->columns; c++) {
			const char *text = text_of(t, r, c);
			size_t width = 0;
			bool right = t->rows > 1;
			int pad;

			for (size_t i = 0; i < t->rows; i++) {
				size_t w = width_of(text_of(t, i, c));

				width = w > width ? w : width;
				if (i && strcmp(text_of(t, i, c), "-") &&
				    !is_number(text_of(t, i, c)))
					right = false;
			}
			pad = (int)(width - width_of(text));
			if (right)
				fprintf(out, "%*s%s", pad, "", text);
			else
				fprintf(out, "%s%*s", text, c + 1 < t->columns ? pad : 0, "");
			fputs(c + 1 < t->columns ? "  " : "\n", out);
		}
	}
}

static void print_csv_cell(const char *text, FILE *out)
{
	if (!strcmp(text, "-"))
		return;
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_csv(const struct table *t, FILE *out)
{
	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->columns; c++) {
			print_csv_cell(text_of(t, r, c), out);
			fputc(c + 1 < t->columns ? ',' : '\n', out);
		}
	}
}

static void print_json_string(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", (unsigned int)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void print_json(const struct table *t, FILE *out)
{
	fputs("[\n", out);
	for (size_t r = 1; r < t->rows; r++) {
		fputs("  {", out);
		for (size_t c = 0; c < t->columns; c++) {
			const char *text = text_of(t, r, c);

			print_json_string(text_of(t, 0, c), out);
			fputs(": ", out);
			if (!strcmp(text, "-"))
				fputs("null", out);
			else if (is_number(text))
				fputs(text, out);
			else
				print_json_string(text, out);
			fputs(c + 1 < t->columns ? ", " : "", out);
		}
		fputs(r + 1 < t->rows ? "},\n" : "}\n", out);
	}
	fputs("]\n", out);
}

static void print_markdown(const struct table *t, FILE *out)
{
	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->columns; c++) {
			fputs("| ", out);
			for (const char *p = text_of(t, r, c); *p; p++) {
				if (*p == '|')
					fputc('\\', out);
				fputc(*p == '\n' ? ' ' : *p, out);
			}
			fputc(' ', out);
		}
		fputs("|\n", out);
		if (r)
			continue;
		for (size_t c = 0; c < t->columns; c++)
			fputs("|---", out);
		fputs("|\n", out);
	}
}

void table_print(const struct table *t, enum table_form form, FILE *out)
{
	switch (form) {
	case TABLE_TEXT:
		print_text(t, out);
		break;
	case TABLE_CSV:
		print_csv(t, out);
		break;
	case TABLE_JSON:
		print_json(t, out);
		break;
	case TABLE_MARKDOWN:
		print_markdown(t, out);
		break;
	}
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->rows * t->columns; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t);
}

int table_form_of(const char *name, enum table_form *form)
{
	static const char *const names[] = { "text", "csv", "json", "markdown" };

	for (int i = 0; i < 4; i++) {
		if (!strcmp(name, names[i])) {
			*form = (enum table_form)i;
			return 0;
		}
	}
	return -EINVAL;
}
