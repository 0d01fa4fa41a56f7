// SPDX-License-Identifier: MIT
/* Description: hints 100 phases by libgchint; prints where to, at the end of its input. */
#include <stdio.h>

#include <gchint.h>

int main(void)
{
	char text[200];
	int ret = gchint_init(0);

	if (ret < 0)
		return 1;
	gchint_explain(text, sizeof(text));
	for (int i = 0; i < 100; i++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
	}
	while (getchar() != EOF)
		;
	puts(text);
	return 0;
}
