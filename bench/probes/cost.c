// SPDX-License-Identifier: MIT
/*
 * CPU time of a call that is a phase. cost CALLS hints|own|none - "hints": the call announces its phase
 * as an adapter does, "own": as a runtime that includes <gchint.h>; prints ns per call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gchint.h>

void cost_collect(int hints);

__attribute__((noinline)) void cost_collect(int hints)
{
	if (hints)
		gchint_begin(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_STW);
	__asm__ volatile("");
	if (hints)
		gchint_end(gchint_self());
}

__attribute__((noinline)) static void cost_collect_own(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	__asm__ volatile("");
	gchint_phase_end();
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const int calls = argc == 3 ? atoi(argv[1]) : 0,
		  hints = argc == 3 && !strcmp(argv[2], "hints"),
		  own = argc == 3 && !strcmp(argv[2], "own");
	double begin;

	if (calls <= 0)
		return 2;
	if (hints || own)
		gchint_init(0);
	/* The first call opens the session, or touches the pages of the probes. */
	if (own)
		cost_collect_own();
	else
		cost_collect(hints);
	begin = cpu_ns();
	for (int i = 0; own && i < calls; i++)
		cost_collect_own();
	for (int i = 0; !own && i < calls; i++)
		cost_collect(hints);
	printf("%.1f\n", (cpu_ns() - begin) / calls);
	return 0;
}
