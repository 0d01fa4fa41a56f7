// SPDX-License-Identifier: MIT
/*
 * The hot path as real symbols, for foreign function interfaces and JITs: what
 * gchint.h inlines, under the same names. The flags are shifted here and passed on
 * as they are, so that a plain edge moves no argument.
 */
#define GCHINT_NO_INLINE
#include <gchint.h>

#include "barrier.h"

/*
 * __GCHINT_WHAT() of flags that are shifted already. It is opaque to the compiler, which
 * would spend an instruction on reordering the sum. On x86-64 it is one lea, since clang
 * would use two instructions.
 */
static inline uint32_t what_of(uint32_t phase, uint32_t flags)
{
	uint32_t what;

#if defined(__x86_64__)
	__asm__("leal %c3(%q1,%q2), %k0"
		: "=r"(what)
		: "r"(phase), "r"(flags), "i"(GCHINT_STATE_EDGE));
#else
	what = GCHINT_STATE_EDGE + phase + flags;
	__asm__("" : "+r"(what));
#endif
	return what;
}

void gchint_begin(struct gchint_thread *thread, enum gchint_phase phase, gchint_flags_t flags)
{
	flags <<= 8;
	if (__gchint_unlikely(__gchint_plain_begin(__gchint_state(*thread), thread->bell,
						   what_of(phase, flags))))
		__gchint_begin(thread, phase, flags);
}

void gchint_end(struct gchint_thread *thread)
{
	if (__gchint_unlikely(__gchint_plain_end(__gchint_state(*thread))))
		__gchint_end(thread);
}

void gchint_next(struct gchint_thread *thread, enum gchint_phase phase, gchint_flags_t flags)
{
	flags <<= 8;
	if (__gchint_unlikely(__gchint_plain_next(__gchint_state(*thread), thread->bell,
						  what_of(phase, flags))))
		__gchint_next(thread, phase, flags);
}

void gchint_phase_begin(enum gchint_phase phase, gchint_flags_t flags)
{
	flags <<= 8;
	if (__gchint_unlikely(__gchint_plain_begin(__gchint_state(__gchint_self),
						   __gchint_self.bell, what_of(phase, flags))))
		__gchint_self_begin(phase, flags);
}

void gchint_phase_end(void)
{
	if (__gchint_unlikely(__gchint_plain_end(__gchint_state(__gchint_self))))
		__gchint_self_end();
}

void gchint_phase_next(enum gchint_phase phase, gchint_flags_t flags)
{
	flags <<= 8;
	if (__gchint_unlikely(__gchint_plain_next(__gchint_state(__gchint_self), __gchint_self.bell,
						  what_of(phase, flags))))
		__gchint_self_next(phase, flags);
}

uintptr_t gchint_method_enter(uintptr_t method)
{
	uintptr_t outer = load_relaxed(&__gchint_method);

	store_relaxed(&__gchint_method, method);
	return outer;
}

void gchint_method_leave(uintptr_t outer)
{
	store_relaxed(&__gchint_method, outer);
}
