// SPDX-License-Identifier: MIT
/* GC_MUTANT=N in the environment: the step that a library built with -DGC_MUTANTS leaves out */
#include <stdlib.h>

int gc_mutant;

static __attribute__((constructor)) void mutant_choose(void)
{
	const char *number = getenv("GC_MUTANT");

	gc_mutant = number ? atoi(number) : 0;
}
