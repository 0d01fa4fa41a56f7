// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: a runtime's JIT dump of any bytes, and its map. */
#include <stdlib.h>
#include <string.h>

#include "../../../daemon/symbols/jitmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void names_check(const struct jitmap *m, size_t size)
{
	struct dwarf_line line;

	for (size_t i = 0; i < m->symbols.nr; i++) {
		const struct symbol *s = &m->symbols.list[i];
		const struct symbol *found = jitmap_find(m, s->start + s->size / 2, s->t);

		if (strlen(s->name) > size)
			abort();
		if (found && jitmap_line(found, s->start + s->size / 2, &line) &&
		    strlen(line.file) > size)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Each dump begins with this; otherwise no input would get further. */
	static const uint32_t head[10] = { 0x4a695444, 1, 40, 62, 0, 1 };
	struct jitmap dump = { 0 }, map = { 0 };
	char *text = malloc(size + 1), *file = malloc(size + sizeof(head));

	if (text && file) {
		memcpy(text, data, size);
		text[size] = '\0';
		jitmap_perf(&map, text);
		names_check(&map, size);
		memcpy(file, head, sizeof(head));
		memcpy(file + sizeof(head), data, size);
		jitmap_dump(&dump, file, size + sizeof(head));
		names_check(&dump, size);
	}
	jitmap_free(&map);
	jitmap_free(&dump);
	free(text);
	free(file);
	return 0;
}
