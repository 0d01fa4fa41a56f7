// SPDX-License-Identifier: GPL-2.0-or-later
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../ctl.h"

volatile sig_atomic_t child_caught;

/* Signals that end us. */
static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static void on_signal(int signo)
{
	child_caught = signo;
}

void child_signals(sigset_t *taken)
{
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

/* Adds what an ended process and the descendants that it waited for took. */
static void usage_add(struct child_usage *usage, const struct rusage *r)
{
	struct rusage self;

	usage->cpu_ns += rusage_cpu_ns(r);
	/* The kernel counts the memory of a process from before its exec, which is a copy of ours. */
	if (!getrusage(RUSAGE_SELF, &self) && r->ru_maxrss > self.ru_maxrss &&
	    (uint64_t)r->ru_maxrss > usage->peak_kib)
		usage->peak_kib = (uint64_t)r->ru_maxrss;
}

/* Our children before the command: helpers, which are waited for elsewhere. */
struct helpers {
	pid_t pid[64];
	size_t nr;
};

static bool helpers_have(const struct helpers *helpers, pid_t pid)
{
	for (size_t i = 0; i < helpers->nr; i++)
		if (helpers->pid[i] == pid)
			return true;
	return false;
}

/* Reads the numbers of our children that are no helpers. Returns how many fit. */
static size_t children_read(const struct helpers *helpers, pid_t *list, size_t max)
{
	char path[64];
	size_t nr = 0;
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	while (f && nr < max && fscanf(f, "%d", &pid) == 1)
		if (!helpers_have(helpers, pid))
			list[nr++] = pid;
	if (f)
		fclose(f);
	return nr;
}

/* The same without the command, which may have ended and be kept. */
static size_t children_read_others(const struct helpers *helpers, pid_t command, pid_t *list,
				   size_t max)
{
	pid_t all[65];
	size_t nr = 0, read = children_read(helpers, all, sizeof(all) / sizeof(all[0]));

	for (size_t i = 0; i < read && nr < max; i++)
		if (all[i] != command)
			list[nr++] = all[i];
	return nr;
}

/*
 * Orphans of the command become our children, because we are the subreaper: it starts processes
 * that outlive it. Waits for those that have ended.
 */
static void orphans_reap(const struct helpers *helpers, pid_t command, struct child_usage *usage)
{
	struct rusage taken;
	pid_t list[64];
	size_t nr = children_read_others(helpers, command, list, sizeof(list) / sizeof(list[0]));

	for (size_t i = 0; i < nr; i++)
		if (wait4(list[i], NULL, WNOHANG, &taken) == list[i] && usage)
			usage_add(usage, &taken);
}

/*
 * A signal to our process group, or to all processes of a service, reaches the command without us.
 * Only another process that is in the same group and service shows this: the witness blocks all
 * signals, so that one that was sent to it stays pending. Returns its pid; below 0 without one.
 */
static pid_t witness_start(void)
{
	const pid_t self = getpid();
	pid_t pid;
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == self)
			sigsuspend(&all);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static void witness_stop(pid_t witness)
{
	if (witness <= 0)
		return;
	kill(witness, SIGKILL);
	while (waitpid(witness, NULL, 0) < 0 && errno == EINTR)
		;
}

static bool witness_has(pid_t witness, int signo)
{
	unsigned long long pending = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", witness);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "SigPnd:", 7) || !strncmp(line, "ShdPnd:", 7))
			pending |= strtoull(line + 7, NULL, 16);
	if (f)
		fclose(f);
	return pending >> (signo - 1) & 1;
}

/* Whether the witness received the signal too, and therefore the command. */
static bool signal_is_for_all(pid_t *witness, int signo)
{
	const struct timespec others = { 0, 10000000 };
	bool all;

	if (*witness <= 0)
		return false;
	/* Waits, in the kernel, until a signal to the process group has reached all of it. */
	setpgid(0, getpgrp());
	all = witness_has(*witness, signo);
	if (!all) {
		/* systemd sends a signal to one process of a service after the other. */
		nanosleep(&others, NULL);
		all = witness_has(*witness, signo);
	}
	if (all) {
		witness_stop(*witness);
		*witness = witness_start();
	}
	return all;
}

/* Signals to wait for: all that another process may send and that do not report our own faults. */
static void signals_awaited(const sigset_t *taken, sigset_t *awaited)
{
	static const int faults[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };

	sigfillset(awaited);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(awaited, faults[i]);
	/* Those that were ignored when we started stay so. */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigismember(taken, ends[i]))
			sigdelset(awaited, ends[i]);
}

/* The terminal's signals reach the command directly; passes on those of processes. */
static void signal_pass_on(pid_t pid, pid_t *witness, const siginfo_t *info)
{
	const int signo = info->si_signo;

	if (info->si_code > 0) {
		/* The terminal stops the command: the shell waits for us to stop, too. */
		if (signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU)
			raise(SIGSTOP);
		return;
	}
	/* A write to a closed pipe. */
	if (signo == SIGPIPE && info->si_pid == getpid())
		return;
	if (signal_is_for_all(witness, signo))
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, signo, info->si_value);
	else
		kill(pid, signo);
}

/* Waits for the processes that a command left behind; signals go to all of them. */
static void orphans_follow(const struct child *child, const struct helpers *helpers,
			   const sigset_t *awaited)
{
	const struct timespec interval = { 0, 200000000 };
	pid_t left[64];
	siginfo_t info;
	size_t nr;
	int signo;

	for (;;) {
		orphans_reap(helpers, 0, child->usage);
		nr = children_read(helpers, left, sizeof(left) / sizeof(left[0]));
		if (!nr)
			return;
		signo = sigtimedwait(awaited, &info, child->poll ? &interval : NULL);
		/* A message of a program, which wakes us alone. */
		if (signo == SIGIO && info.si_code > 0)
			signo = 0;
		if (signo > 0 && sigismember(child->taken, signo) == 1)
			child_caught = signo;
		for (size_t i = 0; signo > 0 && signo != SIGCHLD && i < nr; i++)
			kill(left[i], signo);
		if (child->poll)
			child->poll(child->data);
	}
}

static void orphans_report(const char *command, const struct helpers *helpers, pid_t pid)
{
	pid_t left;

	if (children_read_others(helpers, pid, &left, 1))
		ctl_error("%s ended and left process %d running: its hints are lost from here on; "
			  "--follow waits until it ends",
			  command, left);
}

void child_reap(pid_t ended, struct child_usage *usage)
{
	struct rusage taken;

	if (!ended || wait4(ended, NULL, 0, &taken) != ended || !usage)
		return;
	usage_add(usage, &taken);
	counters_close(usage->counter, usage->count);
}

/* Whether the process has ended; it stays until it is waited for. */
static bool child_ended(pid_t pid, siginfo_t *end)
{
	end->si_pid = 0;
	return !waitid(P_PID, (id_t)pid, end, WEXITED | WNOHANG | WNOWAIT) && end->si_pid == pid;
}

/* Without @poll it sleeps until a signal: wake-ups would disturb a machine under measurement. */
int child_run(const struct child *child)
{
	const struct timespec interval = { 0, 200000000 };
	sigset_t awaited, old;
	int status, signo, report[2];
	siginfo_t info, end;
	char byte = 1;
	struct helpers helpers = { .nr = 0 };
	pid_t pid, witness;

	if (child->ended)
		*child->ended = 0;
	if (child->usage)
		child->usage->cpu_ns = child->usage->peak_kib = 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	helpers.nr =
		children_read(&helpers, helpers.pid, sizeof(helpers.pid) / sizeof(helpers.pid[0]));
	/* Blocked before the fork, so that an early exit of the child is not missed. */
	signals_awaited(child->taken, &awaited);
	sigprocmask(SIG_BLOCK, &awaited, &old);
	witness = witness_start();
	/* Closed by a successful exec; a byte in it reports a failed one. */
	if (pipe2(report, O_CLOEXEC | O_NONBLOCK))
		report[0] = report[1] = -1;
	if (child->usage)
		counters_open(counters_of_cpu, child->usage->counter);
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
		witness_stop(witness);
		sigprocmask(SIG_SETMASK, &old, NULL);
		if (report[0] >= 0)
			close(report[0]);
		if (child->failed)
			*child->failed = true;
		return CTL_FAILED;
	}
	if (child_caught)
		kill(pid, child_caught);
	while (!child_ended(pid, &end)) {
		signo = sigtimedwait(&awaited, &info, child->poll ? &interval : NULL);
		/* sigtimedwait() runs no handler; callers that run several commands check this. */
		if (signo > 0 && sigismember(child->taken, signo) == 1)
			child_caught = signo;
		if (signo > 0 && signo != SIGCHLD)
			signal_pass_on(pid, &witness, &info);
		orphans_reap(&helpers, pid, child->usage);
		if (child->poll)
			child->poll(child->data);
	}
	witness_stop(witness);
	/* Of processes that outlive it, it is the one that is waited for. */
	if (child->ended && child->left != CHILD_LEFT_FOLLOW)
		*child->ended = pid;
	else
		child_reap(pid, child->usage);
	if (child->left == CHILD_LEFT_FOLLOW)
		orphans_follow(child, &helpers, &awaited);
	orphans_reap(&helpers, pid, child->usage);
	if (child->left == CHILD_LEFT_REPORT)
		orphans_report(child->argv[0], &helpers, pid);
	if (child->usage) {
		pid_t one;

		child->usage->left = children_read_others(&helpers, pid, &one, 1);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (child->failed)
		*child->failed = read(report[0], &byte, 1) == 1;
	if (report[0] >= 0)
		close(report[0]);
	return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
}
