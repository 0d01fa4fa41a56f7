// SPDX-License-Identifier: MIT
/* Ten phases through the library; fails where there is no module behind it. */
#include <stdio.h>
#include <time.h>

#include <gchint.h>

#define PHASES 10

int main(void)
{
	static const struct timespec a_while = { 0, 20000000 };
	struct gchint_session *session;
	char text[256];
	int i;

	if (gchint_open(&session, 0) || gchint_get_reason(session)) {
		gchint_explain(text, sizeof(text));
		fprintf(stderr, "ten-phases: %s\n", text);
		return 1;
	}
	for (i = 0; i < PHASES; i++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		nanosleep(&a_while, NULL);
		gchint_phase_end();
		nanosleep(&a_while, NULL);
	}
	return gchint_close(session) ? 1 : 0;
}
