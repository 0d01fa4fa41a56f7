// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe-list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 64
#define LINE   4096

enum field {
	FIELD_NAME,
	FIELD_TITLE,
	FIELD_SIGNS,
	FIELD_PROBES,
	FIELD_SEES,
	FIELD_BLIND,
	FIELDS
};

/* The assembler includes the file itself. */
extern const char probe_list_text[];
__asm__(".section .rodata\n"
	".global probe_list_text\nprobe_list_text:\n"
	".incbin \"../adapters/probes.list\"\n"
	".byte 0\n"
	".previous\n");

static char *blanks_trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\n", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* Splits a line at "|". Returns how many fields it has. */
static unsigned int fields_split(char *line, char *field[FIELDS])
{
	unsigned int nr = 0;
	char *save, *one;

	for (one = strtok_r(line, "|", &save); one && nr < FIELDS; one = strtok_r(NULL, "|", &save))
		field[nr++] = blanks_trim(one);
	return nr;
}

/*
 * The next line that is no comment, with the lines after it that begin with a blank. Returns what is
 * after it, or NULL at the end.
 */
static const char *line_read(const char *text, char line[LINE])
{
	size_t length, used = 0;

	line[0] = '\0';
	while (*text) {
		length = strcspn(text, "\n");
		if (used && *text != ' ' && *text != '\t')
			break;
		if (*text != '#' && length && used + length + 1 < LINE) {
			memcpy(line + used, text, length);
			used += length;
			line[used] = '\0';
		}
		text += length + (text[length] == '\n');
	}
	return used ? text : NULL;
}

const struct runtime *probe_list_at(size_t i)
{
	static struct runtime listed[LISTED];
	static size_t nr;
	static bool read;
	const char *text = probe_list_text;
	char line[LINE], *copy, *field[FIELDS];

	while (!read && nr < LISTED && (text = line_read(text, line))) {
		/* For as long as the program runs. */
		copy = strdup(line);
		if (!copy || fields_split(copy, field) != FIELDS) {
			free(copy);
			continue;
		}
		listed[nr++] = (struct runtime){ field[FIELD_NAME],  field[FIELD_TITLE],
						 RUNTIME_PROBES,     field[FIELD_SEES],
						 field[FIELD_BLIND], field[FIELD_SIGNS],
						 field[FIELD_PROBES] };
	}
	read = true;
	return i < nr ? &listed[i] : NULL;
}

/* The end of the first probe: a quoted text may contain blanks. */
static const char *probe_end(const char *text)
{
	bool quoted = false;

	for (; *text && (quoted || !strchr(" \t\n", *text)); text++)
		quoted ^= *text == '"';
	return text;
}

bool probe_set_add(struct probe_set *set, const char *text, const char *runtime, char *why,
		   size_t size)
{
	char reason[160];
	const char *end;

	for (text += strspn(text, " \t\n"); *text; text = end + strspn(end, " \t\n")) {
		end = probe_end(text);
		if (set->nr == PHASE_PROBES) {
			snprintf(why, size, "over %d probes", PHASE_PROBES);
			return false;
		}
		if (!phase_probe_parse(text, (size_t)(end - text), &set->probe[set->nr], reason,
				       sizeof(reason))) {
			snprintf(why, size, "%.*s: %s", (int)(end - text), text, reason);
			return false;
		}
		if (runtime)
			snprintf(set->probe[set->nr].runtime, sizeof(set->probe[set->nr].runtime),
				 "%s", runtime);
		set->nr++;
	}
	return true;
}

static bool file_take(struct probe_set *set, const char *path, char *why, size_t size)
{
	char *text = NULL, line[LINE], reason[320], *field[FIELDS];
	const char *next;
	size_t length = 0;
	FILE *f = fopen(path, "re");
	bool good = true;

	if (!f || getdelim(&text, &length, '\0', f) < 0) {
		snprintf(why, size,
			 "%s: %s; --probe takes PHASE[,stw]=FILE:FUNCTION or a file of these", path,
			 f && !errno ? "empty" : strerror(errno));
		if (f)
			fclose(f);
		free(text);
		return false;
	}
	fclose(f);
	next = text;
	while (good && (next = line_read(next, line))) {
		const bool row = strchr(line, '|');

		if (row && fields_split(line, field) <= FIELD_PROBES)
			continue;
		good = probe_set_add(set, row ? field[FIELD_PROBES] : line,
				     row ? field[FIELD_NAME] : NULL, reason, sizeof(reason));
		if (!good)
			snprintf(why, size, "%s: %s", path, reason);
	}
	free(text);
	return good;
}

bool probe_set_take(struct probe_set *set, const char *argument, char *why, size_t size)
{
	errno = 0;
	return strchr(argument, '=') ? probe_set_add(set, argument, NULL, why, size) :
				       file_take(set, argument, why, size);
}
