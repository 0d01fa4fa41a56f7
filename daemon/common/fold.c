// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_LEAST 40 /* below it the text would be unreadable anyway */
#define INDENT_MOST 8
#define GAP	    2 /* spaces between columns, at least */

static FILE *unfolded;

static struct {
	char *text;
	size_t len, size;
	size_t width;
} pending;

/* Bytes of the first @width characters. */
static size_t prefix_bytes(const char *s, size_t len, size_t width)
{
	size_t at = 0, columns = 0;

	while (at < len && (columns < width || ((unsigned char)s[at] & 0xc0) == 0x80)) {
		columns += ((unsigned char)s[at] & 0xc0) != 0x80;
		at++;
	}
	return at;
}

/*
 * Where to end a line of @width: after it come spaces, if there are any. Between columns, unless
 * that leaves more than half of the line empty.
 */
static size_t fold_at(const char *s, size_t len, size_t width)
{
	const size_t fits = prefix_bytes(s, len, width);
	size_t word = 0, column = 0, first = 0;

	while (first < len && s[first] == ' ')
		first++;
	for (size_t at = first; at <= fits && at < len; at++) {
		size_t gap = 0;

		if (s[at] != ' ' || s[at - 1] == ' ')
			continue;
		while (at + gap < len && s[at + gap] == ' ')
			gap++;
		word = at;
		if (gap >= GAP)
			column = at;
	}
	if (column > width / 2)
		return column;
	if (word)
		return word;
	/* A word that is too long ends at its own end. */
	for (word = first; word < len && s[word] != ' ';)
		word++;
	return word;
}

void fold_line(FILE *to, const char *line, size_t len, size_t width)
{
	size_t indent = 0, end;
	bool first = true;

	while (len && line[len - 1] == ' ')
		len--;
	while (indent < len && line[indent] == ' ')
		indent++;
	indent = indent + 2 < INDENT_MOST ? indent + 2 : INDENT_MOST;
	do {
		const size_t room = first ? width : width - indent;

		end = prefix_bytes(line, len, room) < len ? fold_at(line, len, room) : len;
		fprintf(to, "%*s%.*s\n", first ? 0 : (int)indent, "", (int)end, line);
		while (end < len && line[end] == ' ')
			end++;
		line += end;
		len -= end;
		first = false;
	} while (len);
}

size_t fold_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;

	if (!width && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width || width > 100000)
		return 0;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

static bool pending_add(const char *text, size_t len)
{
	if (pending.len + len > pending.size) {
		char *more = realloc(pending.text, 2 * (pending.len + len));

		if (!more)
			return false;
		pending.text = more;
		pending.size = 2 * (pending.len + len);
	}
	memcpy(pending.text + pending.len, text, len);
	pending.len += len;
	return true;
}

static ssize_t fold_write(void *unused, const char *text, size_t len)
{
	const char *at = text, *end = text + len, *feed;

	(void)unused;
	while ((feed = memchr(at, '\n', (size_t)(end - at)))) {
		if (!pending_add(at, (size_t)(feed - at)))
			return 0;
		fold_line(unfolded, pending.text, pending.len, pending.width);
		pending.len = 0;
		at = feed + 1;
	}
	if (at < end && !pending_add(at, (size_t)(end - at)))
		return 0;
	return fflush(unfolded) || ferror(unfolded) ? 0 : (ssize_t)len;
}

void fold_output(size_t width)
{
	FILE *f;

	unfolded = stdout;
	pending.width = width;
	f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = fold_write });
	if (!f)
		return;
	setvbuf(f, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	/* As printable_output() does. */
	stdout = f;
}

bool fold_finish(void)
{
	if (!unfolded)
		return true;
	if (pending.len)
		fwrite(pending.text, 1, pending.len, unfolded);
	pending.len = 0;
	return !fflush(unfolded) && !ferror(unfolded);
}
