// SPDX-License-Identifier: GPL-2.0-or-later
#include "escape.h"

#include <string.h>

int escape_utf8(const unsigned char *s)
{
	unsigned char a = s[0];

	if (a < 0x80)
		return 1;
	if (a >= 0xc2 && a <= 0xdf)
		return (s[1] & 0xc0) == 0x80 ? 2 : 0;
	if (a >= 0xe0 && a <= 0xef) {
		if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80)
			return 0;
		/* Overlong forms and surrogates. */
		if ((a == 0xe0 && s[1] < 0xa0) || (a == 0xed && s[1] > 0x9f))
			return 0;
		return 3;
	}
	if (a >= 0xf0 && a <= 0xf4) {
		if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80 || (s[3] & 0xc0) != 0x80)
			return 0;
		if ((a == 0xf0 && s[1] < 0x90) || (a == 0xf4 && s[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

void escape_json(FILE *f, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;

	while (*s) {
		int n = escape_utf8(s);

		if (n == 0) {
			fputs("\\ufffd", f);
			s++;
		} else if (n > 1) {
			fwrite(s, 1, (size_t)n, f);
			s += n;
		} else {
			if (*s == '"' || *s == '\\')
				fprintf(f, "\\%c", *s);
			else if (*s < 0x20 || *s == 0x7f || *s == '<')
				fprintf(f, "\\u%04x", *s);
			else
				fputc(*s, f);
			s++;
		}
	}
}

void escape_csv(FILE *f, const char *s)
{
	if (!s)
		return;
	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

void escape_html(FILE *f, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		case '\'':
			fputs("&#39;", f);
			break;
		default:
			fputc(*s, f);
		}
}

void escape_c(FILE *f, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;

	while (*s) {
		int n = escape_utf8(s);

		if (n == 0) {
			fputs("\xef\xbf\xbd", f);
			s++;
			continue;
		}
		if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else
			fwrite(s, 1, (size_t)n, f);
		s += n;
	}
}
