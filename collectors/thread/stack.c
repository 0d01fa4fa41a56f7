// SPDX-License-Identifier: MIT
/*
 * Finding a thread's stack and saving its registers, without assembly: a function in which all
 * registers that calls preserve have to be saved does so in its frame, and so do the functions
 * above it with those that they use. The lowest words of the stack are copied, as gc_park() returns.
 */
#define _GNU_SOURCE
#include "stack.h"

#include <errno.h>
#include <stdlib.h>

/* Of a stack whose bounds are not known: the frames of gc_park() and of what it calls */
#define SAVED_ELSEWHERE 32

/* Reads what compilers know nothing of, while a parked thread may write it. */
#define READS_STACKS __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

/* With -fsanitize=address in the program, locals may have frames outside of the stack. */
void *__asan_get_current_fake_stack(void) __attribute__((weak));
void *__asan_addr_is_in_fake_stack(void *fake_stack, void *addr, void **beg, void **end)
	__attribute__((weak));

int gc_stack_create(struct gc_stack **out)
{
	struct gc_stack *s;
	pthread_attr_t attr;
	size_t bytes;
	void *low;
	int ret = pthread_getattr_np(pthread_self(), &attr);

	if (ret)
		return -ret;
	ret = pthread_attr_getstack(&attr, &low, &bytes);
	pthread_attr_destroy(&attr);
	if (ret)
		return -ret;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->low = (uintptr_t)low;
	s->high = (s->low + bytes) & ~(uintptr_t)(sizeof(void *) - 1);
	*out = s;
	return 0;
}

static READS_STACKS void words_save(struct gc_stack *s)
{
	const uintptr_t *at = __builtin_frame_address(0);
	uintptr_t sp = (uintptr_t)at;
	bool own = sp >= s->low && sp < s->high;
	size_t left = (s->high - sp) / sizeof(*at);

	s->count = own ? GC_STACK_SAVED : SAVED_ELSEWHERE;
	if (own && left < s->count)
		s->count = (unsigned int)left;
	for (unsigned int i = 0; i < s->count; i++)
		s->saved[i] = at[i];
	s->next = own ? sp + s->count * sizeof(*at) : 0;
	if (__asan_get_current_fake_stack)
		s->fake = __asan_get_current_fake_stack();
}

__attribute__((noinline)) void gc_stack_save(struct gc_stack *s)
{
	if (!GC_NEEDED(17)) {
		/* Only what is in memory above this function */
		s->count = 0;
		s->next = (uintptr_t)__builtin_frame_address(0);
		return;
	}
	__builtin_unwind_init();
	words_save(s);
	/* No tail call: the frame with the registers is to be there. */
	__asm__ __volatile__("" ::: "memory");
}

/* Frames outside of the stack to which its words refer */
static READS_STACKS void fake_frames(const struct gc_stack *s, const uintptr_t *words, size_t count,
				     gc_words_fn fn, void *arg)
{
	for (size_t i = 0; i < count; i++) {
		void *from, *to;

		if (__asan_addr_is_in_fake_stack(s->fake, (void *)words[i], &from, &to))
			fn(from, (size_t)((uintptr_t *)to - (uintptr_t *)from), arg);
	}
}

void gc_stack_words(const struct gc_stack *s, gc_words_fn fn, void *arg)
{
	const uintptr_t *rest = (const uintptr_t *)s->next;
	size_t count = s->next ? (s->high - s->next) / sizeof(*rest) : 0;

	fn(s->saved, s->count, arg);
	fn(rest, count, arg);
	if (!s->fake || !__asan_addr_is_in_fake_stack)
		return;
	fake_frames(s, s->saved, s->count, fn, arg);
	fake_frames(s, rest, count, fn, arg);
}
