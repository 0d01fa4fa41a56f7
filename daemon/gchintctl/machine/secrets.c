// SPDX-License-Identifier: GPL-2.0-or-later
#include "secrets.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNREAD "whole of it, unread,"
#define LEAST  4 /* letters; shorter text occurs by chance in any file of numbers */

static bool char_is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool text_has_word(const char *text, size_t size, const char *wanted)
{
	const size_t length = strlen(wanted);
	const char *at = text, *end = text + size;

	for (; (at = memmem(at, (size_t)(end - at), wanted, length)); at++)
		if ((at == text || !char_is_alnum(at[-1])) &&
		    (at + length == end || !char_is_alnum(at[length])))
			return true;
	return false;
}

const char *secrets_add(struct secrets *s, const char *what, const char *text)
{
	/* Text that many machines share, such as a vendor's placeholders for "none". */
	static const char *const common[] = {
		"",
		"root",
		"localhost",
		"(none)",
		"none",
		"None",
		"gchint",
		"/root",
		"Default string",
		"Not Specified",
		"System Serial Number",
		"To Be Filled By O.E.M.",
		"To be filled by O.E.M.",
	};

	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		if (!strcmp(text, common[i]))
			return NULL;
	for (unsigned int i = 0; i < s->nr; i++)
		if (!strcmp(text, s->of[i].text))
			return NULL;
	if (strlen(text) < LEAST)
		return "it is too short to be distinguished from other bytes";
	if (strlen(text) >= sizeof(s->of[0].text) || s->nr == sizeof(s->of) / sizeof(*s->of))
		return "it is too long, or there are too many";
	if (strcmp(what, SECRETS_SERIAL) && text_has_word(s->facts, strlen(s->facts), text))
		return "it is a word of the board's own name or kernel";
	s->of[s->nr].what = what;
	strcpy(s->of[s->nr++].text, text);
	return NULL;
}

const char *secrets_in(const struct secrets *s, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *what = NULL;
	struct stat st;
	char *text;

	if (fd < 0)
		return UNREAD;
	if (!fstat(fd, &st) && st.st_size) {
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		for (unsigned int i = 0; text != MAP_FAILED && !what && i < s->nr; i++)
			if (text_has_word(text, (size_t)st.st_size, s->of[i].text))
				what = s->of[i].what;
		if (text == MAP_FAILED)
			what = UNREAD;
		else
			munmap(text, (size_t)st.st_size);
	}
	close(fd);
	return what;
}
