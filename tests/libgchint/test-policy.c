// SPDX-License-Identifier: MIT
/* gchint_get_policy(). */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <gchint.h>

#include "fakedev.h"
#include "tap.h"

static struct gchint_session *s;

/* More CPUs and policies than fit into the information page. */
static void policies_of_cpus(void)
{
	struct gchint_policy p = { .size = sizeof(p) };
	int cpu;

	fake_cpus();
	CHECK_IS(gchint_open(&s, 0), 0);
	memset(fake_info()->cpu_policy, GCHINT_INFO_UNLISTED, GCHINT_INFO_CPUS);
	for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
		CHECK_IS(gchint_get_policy(s, cpu, &p), 0);
		CHECK_IS(p.cur_khz, 1000 + cpu);
		CHECK_IS(p.max_khz, 900000);
	}
	CHECK_IS(gchint_get_policy(s, FAKE_CPUS, &p), -EINVAL);
	memset(fake_cpu(700), 0, sizeof(struct gchint_info_cpu));
	CHECK_IS(gchint_get_policy(s, 700, &p), -ENOENT);
	CHECK_IS(gchint_close(s), 0);
	/* Entries shorter than what is read, or none: the page alone is believed. */
	for (cpu = 0; cpu < 2; cpu++) {
		fake_info()->cpu_size = cpu ? FAKE_CPU_SIZE : 32;
		fake_info()->features = cpu ? 0 : GCHINT_FEATURE_CPUS;
		fake_info()->cpu_policy[0] = 0;
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(gchint_get_policy(s, 0, &p), 0);
		CHECK_IS(p.cur_khz, 500000);
		CHECK_IS(gchint_get_policy(s, 700, &p), -EINVAL);
		CHECK_IS(gchint_close(s), 0);
	}
}

static void policies(void)
{
	struct gchint_policy p = { .size = sizeof(p) };

	CHECK_IS(gchint_open(&s, 0), 0);
	fake_info()->cpu_policy[3] = 1;
	fake_info()->cpu_policy[4] = GCHINT_INFO_NO_POLICY;
	CHECK_IS(gchint_get_policy(s, -1, &p), 0);
	CHECK(strcmp(p.governor, "gchint") == 0);
	CHECK_IS(p.cur_khz, 500000);
	CHECK_IS(p.max_khz, 900000);
	CHECK_IS(p.hw_max_khz, 1000000);
	CHECK_IS(p.flags, GCHINT_POLICY_PRESENT | GCHINT_POLICY_GCHINT);
	CHECK_IS(gchint_get_policy(s, 3, &p), -ENOENT); /* entry not in use */
	CHECK_IS(gchint_get_policy(s, 4, &p), -ENOENT);
	/* A newer kernel has something else where the next entry would be. */
	memset(fake_info() + 1, 0xff, 4096 - sizeof(struct gchint_info));
	fake_info()->cpu_policy[5] = GCHINT_INFO_POLICIES;
	CHECK_IS(gchint_get_policy(s, 5, &p), -ENOENT);
	CHECK_IS(gchint_get_policy(s, GCHINT_INFO_CPUS, &p), -EINVAL);
	CHECK_IS(gchint_get_policy(s, -2, &p), -EINVAL);
	fake_info()->generation = 1;
	CHECK_IS(gchint_get_policy(s, 0, &p), -EAGAIN);
	fake_info()->generation = 2;
	p.size = 8;
	CHECK_IS(gchint_get_policy(s, 0, &p), -EINVAL);
	p.size = sizeof(p);
	memset(fake_info()->policy[0].governor, 'x', 16); /* not terminated */
	CHECK_IS(gchint_get_policy(s, 0, &p), 0);
	CHECK_IS(strlen(p.governor), 15);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_get_policy(s, 0, &p), -ENODEV);
}

static volatile sig_atomic_t written;

/*
 * The kernel's side, wherever the reader is: a CPU has another policy now, and the entry
 * that it had is another's, whose two frequencies differ.
 */
static void write_policy(int sig)
{
	struct gchint_info *info = fake_info();
	const __u32 n = (__u32)++written;

	(void)sig;
	__atomic_store_n(&info->generation, info->generation + 1, __ATOMIC_SEQ_CST);
	info->policy[n % 2].max_khz = info->policy[n % 2].hw_max_khz = n;
	info->policy[n % 2].flags = GCHINT_POLICY_PRESENT;
	info->policy[!(n % 2)].max_khz = n + 1;
	info->policy[!(n % 2)].hw_max_khz = n;
	info->cpu_policy[0] = n % 2;
	__atomic_store_n(&info->generation, info->generation + 1, __ATOMIC_SEQ_CST);
}

/* By a timer, so that changes happen while the reader runs, even if it rarely runs. */
static void policies_that_change(void)
{
	const struct itimerspec often = { { 0, 20000 }, { 0, 20000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	const struct sigaction sa = { .sa_handler = write_policy };
	struct gchint_policy p = { .size = sizeof(p) };
	timer_t timer;
	int torn = 0;

	CHECK_IS(gchint_open(&s, 0), 0);
	write_policy(0);
	sigaction(SIGUSR1, &sa, NULL);
	CHECK_IS(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	CHECK_IS(timer_settime(timer, 0, &often, NULL), 0);
	while (written < 1500) {
		p.size = sizeof(p);
		if (gchint_get_policy(s, 0, &p))
			continue;
		torn += p.max_khz != p.hw_max_khz;
	}
	timer_delete(timer);
	CHECK_IS(torn, 0);
}

#ifdef __x86_64__
#define STEP_BY_STEP (1ul << 8) /* the processor's trap flag */

static volatile sig_atomic_t steps, written_at;

/* The kernel's side again, which ends to write after so many instructions of the reader. */
static void write_at(int sig)
{
	(void)sig;
	if (++steps == written_at)
		__atomic_store_n(&fake_info()->generation, 2, __ATOMIC_SEQ_CST);
}

static int policy_step_by_step(unsigned int generation, int at)
{
	struct gchint_policy p = { .size = sizeof(p) };
	int ret;

	steps = 0;
	written_at = at;
	fake_info()->generation = generation;
	__asm__ volatile(
		"lea -128(%%rsp), %%rsp; pushfq; orq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
		:
		: "i"(STEP_BY_STEP)
		: "memory", "cc");
	ret = gchint_get_policy(s, 0, &p);
	__asm__ volatile(
		"lea -128(%%rsp), %%rsp; pushfq; andq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
		:
		: "i"(~STEP_BY_STEP)
		: "memory", "cc");
	return ret;
}
#endif

/* A reader that finds the kernel writing tries again, for longer than a read takes. */
static void policies_being_written(void)
{
#ifdef __x86_64__
	const struct sigaction sa = { .sa_handler = write_at };
	int once, at;

	CHECK_IS(gchint_open(&s, 0), 0);
	sigaction(SIGTRAP, &sa, NULL);
	CHECK_IS(policy_step_by_step(2, 0), 0);
	once = steps;
	for (at = 1; at <= once; at++)
		CHECK_IS(policy_step_by_step(1, at), 0);
	CHECK_IS(policy_step_by_step(1, 0), -EAGAIN);
	printf("# %d steps, %d for nothing\n", once, steps);
#else
	tap_skip("no steps on this machine");
#endif
}

static const struct tap_test tests[] = {
	{ "gchint_get_policy() reads each policy", policies },
	{ "gchint_get_policy() reads the mapping of all CPUs", policies_of_cpus },
	{ "policies that change during the read are read again", policies_that_change },
	{ "policies that stay in writing are EAGAIN", policies_being_written },
};

TAP_MAIN(tests, fake_reset)
