// SPDX-License-Identifier: MIT
/*
 * Description: the threads of a heap leave the program's signals to its own threads, also those
 * that start again in a forked child: sigwait() returns them, handlers run on threads that the
 * program knows, and what it blocks stays blocked.
 */
#define _GNU_SOURCE
#include "alone.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>

static volatile sig_atomic_t handled_by;

static void note_handler(int signal)
{
	(void)signal;
	handled_by = (sig_atomic_t)syscall(SYS_gettid);
}

/* Bit n - 1 is signal n. */
static uint64_t mask_of(const int *signals, size_t count)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < count; i++)
		mask |= 1ull << (signals[i] - 1);
	return mask;
}

static const int synchronous[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
#define CAUSED mask_of(synchronous, sizeof(synchronous) / sizeof(synchronous[0]))

/* The C library keeps 32 and 33 for itself, and some keep 34. */
static uint64_t mask_sent(void)
{
	static const int never[] = { SIGKILL, SIGSTOP, 32, 33, 34 };

	return ~CAUSED & ~mask_of(never, sizeof(never) / sizeof(never[0]));
}

/* How many other threads of this process block what can be sent to it, and no fault; of how many */
static unsigned int others_right(unsigned int *of)
{
	char path[300], line[200];
	struct dirent *entry;
	unsigned int right = 0;
	DIR *tasks = opendir("/proc/self/task");

	*of = 0;
	while (tasks && (entry = readdir(tasks))) {
		unsigned long long blocked = 0;
		FILE *status;

		if (atoi(entry->d_name) <= 0 || atoi(entry->d_name) == (int)syscall(SYS_gettid))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		status = fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			sscanf(line, "SigBlk: %llx", &blocked);
		if (status)
			fclose(status);
		++*of;
		right += (blocked & mask_sent()) == mask_sent() && !(blocked & CAUSED);
	}
	if (tasks)
		closedir(tasks);
	return right;
}

/* A thread that is being created blocks everything for a moment. */
static bool others_settle(void)
{
	unsigned int of;

	for (int i = 0; i < 60000; i++) {
		if (others_right(&of) == of && of)
			return true;
		usleep(1000);
	}
	return false;
}

static int sigwait_run(void *arg)
{
	struct sigaction action = { .sa_handler = note_handler };
	sigset_t term, mask;
	int got = 0;

	WANT(open_heap(arg));
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	WANT(!sigismember(&mask, SIGTERM) && !sigismember(&mask, SIGUSR1));
	WANT(others_settle());
	/* The heap was made first, as in a daemon that waits for its end. */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigaddset(&term, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	kill(getpid(), SIGTERM);
	sigdelset(&term, SIGUSR1);
	WANT(!sigwait(&term, &got) && got == SIGTERM);
	/* A handler waits until the thread that the program has for it takes the signal. */
	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	gc_collect_full(m);
	WANT(!handled_by);
	sigaddset(&term, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &term, NULL);
	WANT(handled_by == (sig_atomic_t)syscall(SYS_gettid));
	stop();
	return 0;
}

static int fork_run(void *arg)
{
	int status = -1;
	pid_t pid;

	WANT(open_heap(arg));
	pid = fork();
	if (!pid) {
		/* Its threads start in this collection, or, of a daemon's heap, before it ends. */
		gc_collect_full(m);
		_exit(!others_settle());
	}
	WANT(pid > 0 && waitpid(pid, &status, 0) == pid);
	WANT(!status);
	stop();
	return 0;
}

int main(void)
{
	static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss",
					     "immix", "marksweep", "semispace", "stickyimmix" };
	static char text[4096];
	char options[100];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		snprintf(options, sizeof(options), "plan=%s,workers=3,heap=4M,max=16M", plans[i]);
		if (!ok(!child(sigwait_run, options, text, sizeof(text)),
			"%s: signals are left to the program's threads", plans[i]))
			printf("# %s\n", text);
		if (!ok(!child(fork_run, options, text, sizeof(text)),
			"%s: so they are in a forked child", plans[i]))
			printf("# %s\n", text);
	}
	return done();
}
