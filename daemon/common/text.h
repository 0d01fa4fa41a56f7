/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsers of the text that sysfs, procfs and tracefs print. Pure: bytes in, numbers out;
 * none expects its input to be valid. Unless noted, they return 0 or -errno (-EINVAL not a
 * number, -ERANGE too big) and write the result only on success.
 */
#ifndef GCHINT_TEXT_H
#define GCHINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One decimal integer, optional sign, surrounded by white space only. */
int text_s64(const char *s, int64_t *value);
int text_u64(const char *s, uint64_t *value);

/**
 * text_fixed - a decimal number times a power of ten, as an integer
 * @s: such as "1.25" or "-0.000030518" or "3.1e-05"; white space around it
 * @scale: decimal places to keep, 0..9: the result is the number x 10^scale,
 *	rounded to nearest
 * @value: result
 */
int text_fixed(const char *s, unsigned int scale, int64_t *value);

/**
 * text_cpulist - a list such as "0-3,5"
 * @s: the list
 * @set: receives the CPUs, one byte each, 0 or 1
 * @nr: bytes in @set; a CPU beyond is -ERANGE
 *
 * Returns the number of CPUs set or -errno.
 */
int text_cpulist(const char *s, uint8_t *set, size_t nr);

/**
 * text_pairs - lines of two unsigned numbers, as in time_in_state
 * @s: text
 * @fn: called for each such line; any other line ends the parsing with -EINVAL
 * @data: for @fn
 */
int text_pairs(const char *s, void (*fn)(void *data, uint64_t a, uint64_t b), void *data);

/**
 * text_size - a size such as 64M, 1G, 4096
 * @s: digits and an optional K, M or G (1024-based)
 * @value: bytes
 */
int text_size(const char *s, uint64_t *value);

/* Removes white space from both ends, in place; returns the start. */
char *text_strip(char *s);

/**
 * struct text_freq - a power:cpu_frequency line of a trace
 * @t_ns: trace time in ns
 * @khz: new frequency
 * @cpu: its CPU
 */
struct text_freq {
	uint64_t t_ns;
	uint32_t khz;
	uint32_t cpu;
};

/**
 * text_trace - one line of a trace pipe
 * @line: NUL-terminated, without the newline
 * @freq: result for a cpu_frequency line
 * @lost: result for a "[LOST n EVENTS]" line
 *
 * Returns 1 for a frequency, 2 for lost events, 0 for any other line.
 */
int text_trace(const char *line, struct text_freq *freq, uint64_t *lost);

#endif
