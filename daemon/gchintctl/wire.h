/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message of Protocol Buffers, written field by field (protobuf.dev/programming-guides/
 * encoding). One at a time is in memory.
 */
#ifndef GCHINTCTL_WIRE_H
#define GCHINTCTL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin with zeros; the same one serves for many messages. */
struct wire {
	uint8_t *data;
	size_t nr, room;
	bool broken; /* no memory: what is in @data is not all */
};

void wire_clear(struct wire *w);
void wire_free(struct wire *w);

void wire_uint(struct wire *w, uint32_t field, uint64_t value);
void wire_double(struct wire *w, uint32_t field, double value);
/* Bytes that are no UTF-8 become U+FFFD, as a string field wants. */
void wire_text(struct wire *w, uint32_t field, const char *value);
/* A message in the message; @wire_end takes what @wire_begin gave. 2^28 bytes at most. */
size_t wire_begin(struct wire *w, uint32_t field);
void wire_end(struct wire *w, size_t at);

#endif
