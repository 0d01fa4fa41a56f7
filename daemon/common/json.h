/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON, written as it comes: a recording has millions of rows, and none is kept. What
 * is not known is null. Nothing here reads JSON.
 */
#ifndef GCHINT_JSON_H
#define GCHINT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct json - a text under way
 * @f: where it goes
 * @depth: of objects and lists that are open, 64 at most
 * @lists: bit by depth: it is a list
 * @begun: bit by depth: it has a value already
 * @line: the next value stands on a line of its own
 *
 * Begin with { .f = FILE }. @key of each function is NULL in a list and at the top.
 */
struct json {
	FILE *f;
	unsigned int depth;
	uint64_t lists, begun;
	bool line;
};

void json_object(struct json *j, const char *key);
void json_list(struct json *j, const char *key);
/* Closes what was opened last; at the top a newline follows. */
void json_end(struct json *j);
/* A newline before the next value. */
void json_line(struct json *j);

/* Bytes that are no UTF-8 become U+FFFD; NULL is null. */
void json_text(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
/* To @digits significant ones; null where it is not finite. */
void json_real(struct json *j, const char *key, double value, int digits);
/* To @decimals behind the point, likewise. */
void json_fixed(struct json *j, const char *key, double value, int decimals);
/* Nanoseconds as microseconds, exactly. */
void json_us(struct json *j, const char *key, uint64_t ns);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
