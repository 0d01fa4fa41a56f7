// SPDX-License-Identifier: MIT
/*
 * Edges to be counted under callgrind: each function here is one edge in line, or
 * calls the library's symbol of that name. COUNT times each, all plain.
 */
#define GCHINT_TEST_COUNT 1000
#include <stdio.h>
#include <stdlib.h>
#include <gchint.h>

/* The library's out-of-line symbols, which gchint.h hides behind its inlines. */
void sym_begin(struct gchint_thread *t, unsigned int phase,
	       unsigned int flags) __asm__("gchint_begin");
void sym_end(struct gchint_thread *t) __asm__("gchint_end");
void sym_phase_begin(unsigned int phase, unsigned int flags) __asm__("gchint_phase_begin");
void sym_phase_end(void) __asm__("gchint_phase_end");
uintptr_t sym_method_enter(uintptr_t method) __asm__("gchint_method_enter");
void sym_method_leave(uintptr_t outer) __asm__("gchint_method_leave");

#define EDGE __attribute__((noinline, noclone, visibility("default")))

EDGE void inline_phase_begin(void);
EDGE void inline_phase_end(void);
EDGE void inline_phase_next(void);
EDGE void inline_begin(struct gchint_thread *t);
EDGE void inline_end(struct gchint_thread *t);
EDGE uintptr_t inline_method_enter(uintptr_t method);
EDGE void inline_method_leave(uintptr_t outer);

EDGE void inline_phase_begin(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
}

EDGE void inline_phase_end(void)
{
	gchint_phase_end();
}

EDGE void inline_phase_next(void)
{
	gchint_phase_next(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
}

EDGE void inline_begin(struct gchint_thread *t)
{
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
}

EDGE void inline_end(struct gchint_thread *t)
{
	gchint_end(t);
}

EDGE uintptr_t inline_method_enter(uintptr_t method)
{
	return gchint_method_enter(method);
}

EDGE void inline_method_leave(uintptr_t outer)
{
	gchint_method_leave(outer);
}

int main(void)
{
	struct gchint_session *s;
	struct gchint_thread *t;
	int n, backend;

	backend = gchint_init(0);
	for (n = 0; n < GCHINT_TEST_COUNT; n++) {
		inline_phase_begin();
		inline_phase_next();
		inline_phase_end();
	}
	for (n = 0; n < GCHINT_TEST_COUNT; n++) {
		sym_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		sym_phase_end();
	}
	gchint_detach(gchint_self());
	gchint_open(&s, 0);
	gchint_attach(s, 0, 0, NULL, &t);
	for (n = 0; n < GCHINT_TEST_COUNT; n++) {
		inline_begin(t);
		inline_end(t);
	}
	for (n = 0; n < GCHINT_TEST_COUNT; n++) {
		sym_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		sym_end(t);
	}
	for (n = 0; n < GCHINT_TEST_COUNT; n++) {
		inline_method_leave(inline_method_enter((uintptr_t)n));
		sym_method_leave(sym_method_enter((uintptr_t)n));
	}
	printf("%d\n", backend);
	return 0;
}
