/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a message of Protocol Buffers field by field
 * (protobuf.dev/programming-guides/encoding). Only one message at a time is in memory.
 */
#ifndef COMMON_PROTOBUF_H
#define COMMON_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeroes at first; wire_clear() makes it ready for the next message. */
struct wire {
	uint8_t *data;
	size_t nr, room;
	bool broken; /* out of memory: @data is incomplete */
};

void wire_clear(struct wire *w);
void wire_free(struct wire *w);

void wire_uint(struct wire *w, uint32_t field, uint64_t value);
void wire_double(struct wire *w, uint32_t field, double value);
/* Bytes that are not UTF-8 become U+FFFD: a string field must be valid UTF-8. */
void wire_text(struct wire *w, uint32_t field, const char *value);
/*
 * An embedded message of at most 2^28 bytes. Pass the return value of wire_begin() to
 * wire_end().
 */
size_t wire_begin(struct wire *w, uint32_t field);
void wire_end(struct wire *w, size_t at);

#endif
