// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Structured random calls of everything that user space can reach: the device,
 * its mappings, netlink, tunables and parameters, from processes that fork,
 * exit and start threads. Each call may only fail as documented, a refused call
 * has changed nothing, and no lease stays behind. The rig checks that the
 * kernel log stays silent.
 *
 * fuzz [OPERATIONS [SEED]]
 *
 * Each worker's calls depend on the seed and its number alone.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "fuzz.h"
#include "genl.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define WORKERS 4

static long operations = 20000;
static unsigned int seed = 1;

static void *idler_main(void *arg)
{
	__atomic_store_n((int *)arg, syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;)
		sleep_us(3000);
}

static void work(int which, long steps)
{
	struct fuzz_worker *w = &fuzz_worker;
	pthread_t thread;
	struct genl g;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	w->dice = seed * 0x9e3779b97f4a7c15ull ^ (uint64_t)which << 32 ^ 0x2545f491;
	w->number = which;
	for (i = 0; i < FUZZ_FILES; i++)
		w->fd[i] = -1;
	if (genl_open(&g))
		_exit(1);
	w->netlink = g.fd;
	w->family = g.family;
	w->groups[0] = g.event;
	w->groups[1] = g.sampling;
	if (which == FUZZ_NOBODY && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		_exit(2);
	/* The first entry is the worker itself. */
	for (i = 1; i < FUZZ_IDLERS; i++) {
		if (pthread_create(&thread, NULL, idler_main, &w->tid[i]))
			_exit(3);
		while (!__atomic_load_n(&w->tid[i], __ATOMIC_ACQUIRE))
			sleep_us(500);
	}
	while (steps-- > 0)
		fuzz_step();
	_exit(0);
}

FIXTURE(fuzz) {
	pid_t worker[WORKERS];
};

FIXTURE_SETUP(fuzz)
{
	governor_save();
	ASSERT_EQ(0, governor_all("gchint"));
}

FIXTURE_TEARDOWN(fuzz)
{
	tunable_put(0, "mode", "model");
	parameter_put("hint_ttl_ms", "1000");
	governor_restore();
}

TEST_F_TIMEOUT(fuzz, everything_reachable, 7200)
{
	uint32_t sessions = ~0u, slots = ~0u, recorders = ~0u;
	struct genl g;
	int status, i, tries;

	fuzz_counts = mmap(NULL, sizeof(*fuzz_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)fuzz_counts);
	TH_LOG("%ld operations, seed %u, %d workers", operations, seed, WORKERS);
	for (i = 0; i < WORKERS; i++) {
		self->worker[i] = fork();
		ASSERT_GE(self->worker[i], 0);
		if (!self->worker[i])
			work(i, operations / WORKERS);
	}
	for (i = 0; i < WORKERS; i++) {
		ASSERT_EQ(self->worker[i], waitpid(self->worker[i], &status, 0));
		EXPECT_EQ(0, status)
			TH_LOG("worker %d ended with %#x", i, status);
	}
	TH_LOG("%ld done; judged: %ld passed, %ld refused", fuzz_counts->done, fuzz_counts->passed,
	       fuzz_counts->refused);
	EXPECT_EQ(0, fuzz_counts->surprises)
		TH_LOG("%d times; first: %s", fuzz_counts->surprises, fuzz_counts->first);
	EXPECT_GE(fuzz_counts->done, operations / WORKERS * WORKERS);
	EXPECT_GT(fuzz_counts->passed, 0);
	EXPECT_GT(fuzz_counts->refused, 0);

	/* All of them are gone soon. */
	ASSERT_EQ(0, genl_open(&g));
	for (tries = 0; tries < 200 && (sessions || slots || recorders); tries++) {
		sleep_us(20000);
		genl_info(&g, GCHINT_A_SESSIONS, &sessions);
		genl_info(&g, GCHINT_A_SLOTS, &slots);
		genl_info(&g, GCHINT_A_RECORDERS, &recorders);
	}
	EXPECT_EQ(0, sessions);
	EXPECT_EQ(0, slots);
	EXPECT_EQ(0, recorders);
	genl_close(&g);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--exit"))
		return 0;
	if (argc > 1)
		operations = atol(argv[1]);
	if (argc > 2)
		seed = strtoul(argv[2], NULL, 0);
	return test_harness_run(1, argv);
}
