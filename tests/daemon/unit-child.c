// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: a signal that ends gchintctl ends the command, whenever it arrives. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>

#include "../../daemon/gchintctl/launch/child.h"

/* In the new process, before the command replaces it. */
static void raise_signal(void *data)
{
	raise(*(const int *)data);
}

void unit_child(void)
{
	static char program[] = "true";
	char *argv[] = { program, NULL };
	int signo = SIGTERM;
	sigset_t taken;
	struct child child = {
		.argv = argv, .taken = &taken, .setup = raise_signal, .data = &signo
	};

	child_signals(&taken);
	CHECK(child_run(&child) == 128 + SIGTERM,
	      "a signal between fork and exec ends the command");
	child.setup = NULL;
	CHECK(child_run(&child) == 0, "a command that no signal reaches ends by itself");
	for (signo = 1; signo < NSIG; signo++)
		if (sigismember(&taken, signo) == 1)
			signal(signo, SIG_DFL);
}
