/* SPDX-License-Identifier: MIT */
/* TAP for the collectors' tests, and children that may die. */
#ifndef TAP_H
#define TAP_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int tap_count, tap_bad;

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool good, const char *format, ...)
{
	va_list args;

	tap_count++;
	tap_bad += !good;
	printf("%sok %d ", good ? "" : "not ", tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	return good;
}

__attribute__((unused)) static int done(void)
{
	printf("1..%d\n", tap_count);
	return tap_bad ? 1 : 0;
}

/* Only what hangs takes as long; on a busy machine work of a second has taken a minute. */
#define CHILD_S 500

/*
 * Runs fn(arg) in a child for at most CHILD_S. Its stderr goes to @text. Returns the wait
 * status, or -1 when it ran out of time.
 */
__attribute__((unused)) static int child(int (*fn)(void *), void *arg, char *text, size_t size)
{
	int fds[2], status = 0;
	size_t used = 0;
	pid_t pid;

	if (pipe(fds))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		dup2(fds[1], 2);
		close(fds[1]);
		alarm(CHILD_S);
		/* Not _exit(): LeakSanitizer looks when a program ends. */
		exit(fn(arg));
	}
	close(fds[1]);
	for (;;) {
		char junk[256];
		ssize_t n = read(fds[0], used + 1 < size ? text + used : junk,
				 used + 1 < size ? size - used - 1 : sizeof(junk));

		if (n <= 0)
			break;
		if (used + 1 < size)
			used += (size_t)n;
	}
	text[used] = '\0';
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU))
		return -1;
	return status;
}

/* CPU time of a program that child() runs: a broken heap may have circles. */
#define PROGRAM_S 10

/* For child(): the program of the words @arg, without its stdout. */
__attribute__((unused)) static int program_execute(void *arg)
{
	struct rlimit limit = { .rlim_cur = PROGRAM_S, .rlim_max = 2 * PROGRAM_S };
	char **words = arg;

	if (!freopen("/dev/null", "w", stdout) || setrlimit(RLIMIT_CPU, &limit))
		return 126;
	execv(words[0], words);
	return 127;
}

/* In what child() runs: its stderr gets the line and the condition that is false. */
#define WANT(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "line %d: %s", __LINE__, #what);                           \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#endif
