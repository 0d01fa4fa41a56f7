// SPDX-License-Identifier: MIT
/* The one page that holds all state of the library, and the calling thread's own handle. */
#include "page.h"

const uint32_t gchint_closed = GCHINT_STATE_WRITING;
const uint32_t gchint_nowhere = __GCHINT_NOWHERE;

struct page gchint_page __attribute__((aligned(64)));

/*
 * Zero except for the state, which makes the first edge of a thread that was never
 * attached call the library. Each new thread starts with the same image.
 */
__thread struct gchint_thread __gchint_self = { .state = CLOSED, .bell = &gchint_nowhere };
