/* SPDX-License-Identifier: MIT */
/**
 * DOC: Settings of a workload
 *
 * Keys with a default and a line of help. Values come from the defaults, then a profile
 * (a file of "key = value" lines, # begins a comment), then the command line. They are
 * text until they are read, which checks the range. Each error is one line that names
 * the key, the problem and the accepted values.
 */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SETTINGS_MAX 48

/** struct setting - a key; tables of them end with an empty one */
struct setting {
	const char *key, *value, *help;
};

struct settings_error {
	char text[256];
};

/** struct settings - use settings_init() and settings_free() */
struct settings {
	const struct setting *known;
	char *value[SETTINGS_MAX]; /* NULL: the default applies */
};

void settings_init(struct settings *s, const struct setting *known);
void settings_free(struct settings *s);

/** settings_set() - 0, -ENOENT (unknown key), -ENOMEM. */
int settings_set(struct settings *s, const char *key, const char *value,
		 struct settings_error *err);
/** settings_load() - read a profile. 0, -ENOENT, -EINVAL (a line), -ENOMEM. */
int settings_load(struct settings *s, const char *path, struct settings_error *err);
/** settings_parse() - "key=value,key=value"; NULL is empty. As settings_set(). */
int settings_parse(struct settings *s, const char *text, struct settings_error *err);
/** settings_text() - the value in force, NULL if there is no such key. */
const char *settings_text(const struct settings *s, const char *key);

/** settings_size() - a whole number with K, M or G (1024) within [min, max]. */
int settings_size(const struct settings *s, const char *key, uint64_t min, uint64_t max,
		  uint64_t *out, struct settings_error *err);
/** settings_real() - a number within [min, max]. */
int settings_real(const struct settings *s, const char *key, double min, double max, double *out,
		  struct settings_error *err);
/**
 * settings_list() - numbers parted by blanks or commas, each within [min, max]
 * Return: how many (at most @room), or -EINVAL.
 */
int settings_list(const struct settings *s, const char *key, double min, double max, double *out,
		  size_t room, struct settings_error *err);

/** settings_help() - one line per key: name, help, default. */
void settings_help(const struct setting *known, FILE *out);

#endif
