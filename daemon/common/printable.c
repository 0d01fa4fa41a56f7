// SPDX-License-Identifier: GPL-2.0-or-later
#include "printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"

static FILE *terminal;

/* Marks, embeddings, overrides and isolates of UAX #9, and the line and paragraph separators. */
static bool char_is_directional(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

static uint32_t utf8_decode(const unsigned char *s, int n)
{
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7f >> n);

	for (int i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* Whether the bytes are an incomplete UTF-8 sequence that more input may complete. */
static bool utf8_is_truncated(const unsigned char *s, size_t len)
{
	size_t want = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (s[0] < 0xc2 || s[0] > 0xf4 || len >= want)
		return false;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

size_t printable(FILE *to, const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		unsigned char s[5] = { 0 };
		size_t left = len - at;
		uint32_t c;
		int n;

		memcpy(s, text + at, left < 4 ? left : 4);
		n = *s ? escape_utf8(s) : 1;
		if (!n && utf8_is_truncated(s, left))
			break;
		c = n ? utf8_decode(s, n) : *s;
		if (!n || c < 0x20 || (c >= 0x7f && c < 0xa0)) {
			if (n && (c == '\n' || c == '\t'))
				fputc((int)c, to);
			else
				fprintf(to, "\\x%02x", c);
		} else if (char_is_directional(c)) {
			fprintf(to, "\\u%04x", c);
		} else {
			fwrite(s, 1, (size_t)n, to);
		}
		at += n ? (size_t)n : 1;
	}
	return at;
}

/* The incomplete sequence at the end of a write, kept for the next one. */
static struct {
	char byte[4];
	size_t nr;
} rest;

static ssize_t printable_write(void *unused, const char *text, size_t len)
{
	char *all = malloc(rest.nr + len);
	size_t taken;

	(void)unused;
	if (!all)
		return 0;
	memcpy(all, rest.byte, rest.nr);
	memcpy(all + rest.nr, text, len);
	taken = printable(terminal, all, rest.nr + len);
	rest.nr = rest.nr + len - taken;
	memcpy(rest.byte, all + taken, rest.nr);
	free(all);
	return fflush(terminal) || ferror(terminal) ? 0 : (ssize_t)len;
}

void printable_output(void)
{
	FILE *f;

	terminal = stdout;
	f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = printable_write });
	if (!f)
		return;
	if (isatty(STDOUT_FILENO))
		setvbuf(f, NULL, _IOLBF, BUFSIZ);
	/* glibc documents that the standard streams are variables and may be set (manual, 12.2). */
	stdout = f;
}
