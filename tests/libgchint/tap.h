/* SPDX-License-Identifier: MIT */
/*
 * Each test is a forked child of its own: a fresh library, and a crash or a hang is a
 * failed test. Prints TAP.
 */
#ifndef TAP_H
#define TAP_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limit for a test that hangs, long enough for a busy machine. */
#define TAP_SECONDS 120

struct tap_test {
	const char *name;
	void (*run)(void);
};

static int tap_bad;

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);                        \
			__atomic_store_n(&tap_bad, 1, __ATOMIC_RELAXED);                           \
		}                                                                                  \
	} while (0)

/* Two integers that must be equal; says both. */
#define CHECK_IS(a, b)                                                                             \
	do {                                                                                       \
		long long tap_a = (long long)(a), tap_b = (long long)(b);                          \
		if (tap_a != tap_b) {                                                              \
			printf("# %s:%d: %s is %lld, not %s = %lld\n", __FILE__, __LINE__, #a,     \
			       tap_a, #b, tap_b);                                                  \
			__atomic_store_n(&tap_bad, 1, __ATOMIC_RELAXED);                           \
		}                                                                                  \
	} while (0)

#define TAP_MAIN(tests, before)                                                                    \
	int main(void)                                                                             \
	{                                                                                          \
		return tap_main(tests, (int)(sizeof(tests) / sizeof((tests)[0])), before);         \
	}

/* Why a test is skipped, in memory that the children share with the parent. */
#define TAP_REASON 256
static char *tap_reason;

__attribute__((noreturn)) static inline void tap_skip(const char *reason)
{
	snprintf(tap_reason, TAP_REASON, "%s", reason);
	exit(0);
}

static inline int tap_one(const struct tap_test *t, void (*before)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(TAP_SECONDS);
		before();
		t->run();
		/* Not _exit(): LeakSanitizer checks when a program ends. */
		exit(tap_bad);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 0;
	if (WIFSIGNALED(status))
		printf("# killed: %s\n", strsignal(WTERMSIG(status)));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static inline int tap_main(const struct tap_test *tests, int count, void (*before)(void))
{
	int n, good, failed = 0;

	tap_reason =
		mmap(NULL, TAP_REASON, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tap_reason == MAP_FAILED)
		return 2;
	printf("1..%d\n", count);
	for (n = 0; n < count; n++) {
		good = tap_one(&tests[n], before);
		failed += !good;
		printf("%sok %d %s%s%s\n", good ? "" : "not ", n + 1, tests[n].name,
		       *tap_reason ? " # SKIP " : "", tap_reason);
		*tap_reason = '\0';
	}
	return failed != 0;
}

#endif /* TAP_H */
