/* SPDX-License-Identifier: GPL-2.0-only */
/* The fuzzer's input, read as numbers; zero at its end. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "pure.h"

struct bytes {
	const u8 *at;
	size_t left;
};

static inline u64 bytes_take(struct bytes *b, size_t nr)
{
	u64 v = 0;

	nr = nr < b->left ? nr : b->left;
	memcpy(&v, b->at, nr);
	b->at += nr;
	b->left -= nr;
	return v;
}

/* A number of any size: its length in bytes comes first, so small ones are likely. */
static inline u64 take_any(struct bytes *b)
{
	return bytes_take(b, bytes_take(b, 1) % 9);
}

static inline u32 take_in(struct bytes *b, u32 lo, u32 hi)
{
	return lo + (u32)(bytes_take(b, 4) % ((u64)hi - lo + 1));
}

#define must(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                 \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif
