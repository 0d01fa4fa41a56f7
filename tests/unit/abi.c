/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiled, never run: each line of abi.def is an assertion, in C and in C++. */
#include <stddef.h>
#include <linux/gchint.h>

#ifdef __cplusplus
#define ABI_ASSERT(what, text) static_assert(what, text);
#else
#define ABI_ASSERT(what, text) _Static_assert(what, text);
#endif

#define ABI_SIZE(type, bytes) ABI_ASSERT(sizeof(type) == (bytes), "size of " #type)
#define ABI_OFFSET(type, member, bytes)                                                            \
	ABI_ASSERT(offsetof(type, member) == (bytes), "offset of " #member " in " #type)
#define ABI_VALUE(name, value) ABI_ASSERT((unsigned int)(name) == (value), "value of " #name)

#include "abi.def"

/* Both pages fit the smallest page there is. */
ABI_ASSERT(sizeof(struct gchint_info) <= 4096, "information page")
ABI_ASSERT(GCHINT_SLOTS * sizeof(struct gchint_slot) <= 4096, "slots")
