// SPDX-License-Identifier: GPL-2.0-or-later
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "escape.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_I64 = 1,
	WIRE_LEN = 2
};

/* Reserved for a length that is filled in later; a varint may be padded to any width. */
#define LENGTH_BYTES 4

void wire_clear(struct wire *w)
{
	w->nr = 0;
}

void wire_free(struct wire *w)
{
	free(w->data);
	*w = (struct wire){ 0 };
}

static void wire_put_bytes(struct wire *w, const void *data, size_t size)
{
	if (w->room - w->nr < size) {
		size_t room = (w->room + size) * 2;
		uint8_t *more = realloc(w->data, room);

		if (!more) {
			w->broken = true;
			return;
		}
		w->data = more;
		w->room = room;
	}
	memcpy(w->data + w->nr, data, size);
	w->nr += size;
}

static void wire_put_varint(struct wire *w, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	wire_put_bytes(w, bytes, n);
}

static void wire_put_tag(struct wire *w, uint32_t field, enum wire_type type)
{
	wire_put_varint(w, (uint64_t)field << 3 | type);
}

void wire_uint(struct wire *w, uint32_t field, uint64_t value)
{
	wire_put_tag(w, field, WIRE_VARINT);
	wire_put_varint(w, value);
}

void wire_double(struct wire *w, uint32_t field, double value)
{
	uint8_t bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(bits >> 8 * i);
	wire_put_tag(w, field, WIRE_I64);
	wire_put_bytes(w, bytes, sizeof(bytes));
}

void wire_text(struct wire *w, uint32_t field, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	size_t at = wire_begin(w, field);

	while (*s) {
		int n = escape_utf8(s);

		if (n)
			wire_put_bytes(w, s, (size_t)n);
		else
			wire_put_bytes(w, "\xef\xbf\xbd", 3);
		s += n ? n : 1;
	}
	wire_end(w, at);
}

size_t wire_begin(struct wire *w, uint32_t field)
{
	static const uint8_t later[LENGTH_BYTES];

	wire_put_tag(w, field, WIRE_LEN);
	wire_put_bytes(w, later, sizeof(later));
	return w->nr;
}

void wire_end(struct wire *w, size_t at)
{
	size_t length = w->nr - at;

	if (w->broken)
		return;
	for (size_t i = 0; i < LENGTH_BYTES; i++, length >>= 7)
		w->data[at - LENGTH_BYTES + i] =
			(uint8_t)((length & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
