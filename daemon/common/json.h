/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON value by value, without keeping any of it: a recording has millions of rows.
 * Unknown values are null.
 */
#ifndef GCHINT_JSON_H
#define GCHINT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Objects and lists that may be open at once: each has a bit in struct json. */
#define JSON_DEPTH 63

/**
 * struct json - a JSON text that is being written
 * @f: output
 * @depth: number of open objects and lists, JSON_DEPTH at most
 * @lists: a bit for each depth: set for a list, clear for an object
 * @begun: a bit for each depth: it already has a value
 * @line: the next value starts a new line
 *
 * Initialise with { .f = FILE }. @key of each function is NULL in a list and at the top.
 */
struct json {
	FILE *f;
	unsigned int depth;
	uint64_t lists, begun;
	bool line;
};

void json_object(struct json *j, const char *key);
void json_list(struct json *j, const char *key);
/* Closes the innermost object or list; writes a newline after the outermost one. */
void json_end(struct json *j);
/* Starts a new line before the next value. */
void json_line(struct json *j);

/* Bytes that are not UTF-8 become U+FFFD; NULL is written as null. */
void json_text(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
/* With @digits significant digits; null if it is not finite. */
void json_real(struct json *j, const char *key, double value, int digits);
/* With @decimals digits after the point; null if it is not finite. */
void json_fixed(struct json *j, const char *key, double value, int decimals);
/* Nanoseconds, written as microseconds with three decimals. */
void json_us(struct json *j, const char *key, uint64_t ns);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
