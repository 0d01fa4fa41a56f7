/* SPDX-License-Identifier: MIT */
/**
 * DOC: A table that prints itself as text, CSV, JSON or Markdown
 *
 * Cells are text. Unknown is "-" (null in JSON), never 0. A cell that reads as a
 * number is a number in JSON and right-aligned in text.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum table_form {
	TABLE_TEXT,
	TABLE_CSV,
	TABLE_JSON, /* an array of objects, keyed by the headings */
	TABLE_MARKDOWN,
};

struct table;

/** table_new() - @columns headings, copied. NULL when out of memory. */
struct table *table_new(const char *const *heading, size_t columns);
/** table_row() - begin a row; cells left out are unknown. 0 or -ENOMEM. */
int table_row(struct table *t);
/** table_cell() - printf the next cell of the row. 0, -ENOMEM or -E2BIG (row full). */
int table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** table_number() - the next cell with @digits decimals; NAN is unknown. */
int table_number(struct table *t, double value, int digits);
void table_print(const struct table *t, enum table_form form, FILE *out);
void table_free(struct table *t);

/** table_form_of() - "text", "csv", "json" or "markdown" to @form; 0 or -EINVAL. */
int table_form_of(const char *name, enum table_form *form);

#endif
