// SPDX-License-Identifier: MIT
/* The one page that holds all the library remembers, and the calling thread's own handle. */
#include "page.h"

const uint32_t gchint_closed = GCHINT_STATE_WRITING;
const uint32_t gchint_nowhere = __GCHINT_NOWHERE;

struct page gchint_page __attribute__((aligned(64)));

/*
 * Zero-initialised but for the state: a thread that was never attached comes to
 * the library at its first edge. The same image serves each new thread.
 */
__thread struct gchint_thread __gchint_self = { .state = CLOSED, .bell = &gchint_nowhere };
