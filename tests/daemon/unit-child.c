// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: a signal that ends gchintctl ends the command, whenever it arrives; all others reach
 * the command too, once.
 */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../daemon/gchintctl/launch/child.h"

/* In the new process, before the command replaces it. */
static void raise_signal(void *data)
{
	raise(*(const int *)data);
}

/* The status of a shell command, in a process group of its own. */
static int status_of(char *command)
{
	static char sh[] = "sh", option[] = "-c";
	char *argv[] = { sh, option, command, NULL };
	struct child child = { .argv = argv };
	sigset_t taken;
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		child_signals(&taken);
		child.taken = &taken;
		_exit(child_run(&child));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_others(void)
{
	static const char *const names[] = { "USR1", "USR2",  "TTIN", "TTOU", "TSTP",
					     "CONT", "WINCH", "ALRM", "PIPE", "IO" };
	char command[256];
	int status;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(command, sizeof(command),
			 "trap 'exit 5' %s; kill -%s $PPID; while :; do sleep 0.02; done", names[i],
			 names[i]);
		status = status_of(command);
		if (status != 5)
			fprintf(stderr, "# %s: status %d\n", names[i], status);
		CHECK(status == 5, "a signal that another process sends reaches the command");
	}
	/* The second signal, of a higher number, is passed on after the first one. */
	snprintf(command, sizeof(command),
		 "n=0; trap 'n=$((n+1))' TERM; trap 'exit $n' WINCH; kill -TERM 0; "
		 "kill -WINCH $PPID; while :; do sleep 0.02; done");
	CHECK(status_of(command) == 1, "a signal to the process group reaches the command once");
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
	check_others();
}
