// SPDX-License-Identifier: GPL-2.0-or-later
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../ctl.h"

volatile sig_atomic_t child_caught;

static void on_signal(int signo)
{
	child_caught = signo;
}

void child_signals(sigset_t *taken)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	const struct sigaction ours = { .sa_handler = on_signal };
	struct sigaction old;

	sigemptyset(taken);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (sigaction(ends[i], NULL, &old) || old.sa_handler == SIG_IGN)
			continue;
		sigaction(ends[i], &ours, NULL);
		sigaddset(taken, ends[i]);
	}
}

static uint64_t rusage_cpu_ns(const struct rusage *r)
{
	return (uint64_t)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(r->ru_utime.tv_usec + r->ru_stime.tv_usec) * NSEC_PER_USEC;
}

/* Adds the orphans of a command that has ended. Our own helpers are in other process groups. */
static void usage_add_orphans(struct child_usage *usage)
{
	struct rusage taken;
	pid_t pid;

	while ((pid = wait4(0, NULL, WNOHANG, &taken)) > 0)
		usage->cpu_ns += rusage_cpu_ns(&taken);
	usage->left = !pid;
}

/* Without @poll it sleeps until a signal: wake-ups would disturb a machine under measurement. */
int child_run(const struct child *child)
{
	const struct timespec interval = { 0, 200000000 };
	sigset_t awaited = *child->taken, old;
	int status, signo, report[2];
	siginfo_t info;
	char byte = 1;
	struct rusage taken;
	pid_t pid;

	/* Blocked before the fork, so that an early exit of the child is not missed. */
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, &old);
	/* Closed by a successful exec; a byte in it reports a failed one. */
	if (pipe2(report, O_CLOEXEC | O_NONBLOCK))
		report[0] = report[1] = -1;
	pid = fork();
	if (!pid) {
		/* Reset while blocked: our handler would swallow a signal received before exec. */
		for (signo = 1; signo < NSIG; signo++)
			if (sigismember(child->taken, signo) == 1)
				signal(signo, SIG_DFL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		if (child->setup)
			child->setup(child->data);
		execvp(child->argv[0], child->argv);
		status = errno == ENOENT ? 127 : 126;
		ctl_error("%s: %s", child->argv[0], strerror(errno));
		if (write(report[1], &byte, 1) != 1)
			status = 126;
		_exit(status);
	}
	if (report[1] >= 0)
		close(report[1]);
	if (pid < 0) {
		ctl_error("%s: %s", child->argv[0], strerror(errno));
		sigprocmask(SIG_SETMASK, &old, NULL);
		if (report[0] >= 0)
			close(report[0]);
		if (child->failed)
			*child->failed = true;
		return CTL_FAILED;
	}
	if (child_caught)
		kill(pid, child_caught);
	while (wait4(pid, &status, WNOHANG, &taken) != pid) {
		signo = sigtimedwait(&awaited, &info, child->poll ? &interval : NULL);
		/* sigtimedwait() runs no handler; callers that run several commands check this. */
		if (signo > 0 && signo != SIGCHLD)
			child_caught = signo;
		/* The terminal's signals reach the child directly; pass on those of processes. */
		if (signo > 0 && signo != SIGCHLD && info.si_code <= 0)
			kill(pid, signo);
		if (child->poll)
			child->poll(child->data);
	}
	if (child->usage) {
		child->usage->cpu_ns = rusage_cpu_ns(&taken);
		usage_add_orphans(child->usage);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (child->failed)
		*child->failed = read(report[0], &byte, 1) == 1;
	if (report[0] >= 0)
		close(report[0]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
