// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a process spends in each phase, as netlink tells its owner: held against the
 * CPU clock of the thread that spent it. No actuator is in force here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/netlink.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "hw.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define NOBODY 65534
#define MS 1000000ull		/* in ns */

/* An answer to GCHINT_CMD_SPENT_GET; energy of 0 was not told. */
struct account {
	uint32_t sessions;
	uint64_t since, time, unsure;
	uint64_t ns[GCHINT_PHASE_NR];
	uint64_t nj[GCHINT_PHASE_NR];
	uint64_t known_ns[GCHINT_PHASE_NR];
};

static int count(struct genl *g, int pid, uint32_t on)
{
	char out[64];
	size_t len = genl_put_u32(out, GCHINT_A_PID, pid);

	len += genl_put_u32(out + len, GCHINT_A_COUNT, on);
	return genl_request(g, GCHINT_CMD_SPENT_SET, 0, out, len);
}

static uint64_t wide(const void *attrs, size_t len, uint16_t type)
{
	const void *at = genl_find(attrs, len, type, NULL);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

static void take_phase(struct account *a, const char *nest, size_t len)
{
	const uint32_t *phase = genl_find(nest, len, GCHINT_SPENT_PHASE_A_PHASE,
					  NULL);

	if (!phase || *phase >= GCHINT_PHASE_NR)
		return;
	a->ns[*phase] = wide(nest, len, GCHINT_SPENT_PHASE_A_NS);
	a->nj[*phase] = wide(nest, len, GCHINT_SPENT_PHASE_A_ENERGY);
	a->known_ns[*phase] = wide(nest, len, GCHINT_SPENT_PHASE_A_ENERGY_NS);
}

static int spent(struct genl *g, int pid, struct account *a)
{
	const uint32_t *sessions;
	const char *nest;
	char out[64];
	size_t len;
	int ret;

	memset(a, 0, sizeof(*a));
	ret = genl_request(g, GCHINT_CMD_SPENT_GET, 0, out,
			   genl_put_u32(out, GCHINT_A_PID, pid));
	if (ret)
		return ret;
	nest = genl_find(g->attrs, g->attrs_len, GCHINT_A_SPENT, &len);
	sessions = nest ? genl_find(nest, len, GCHINT_SPENT_A_SESSIONS, NULL) : NULL;
	if (!sessions)
		return -ENOMSG;
	a->sessions = *sessions;
	a->since = wide(nest, len, GCHINT_SPENT_A_SINCE);
	a->time = wide(nest, len, GCHINT_SPENT_A_TIME);
	a->unsure = wide(nest, len, GCHINT_SPENT_A_UNSURE);
	while (len >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)nest;
		size_t size = NLA_ALIGN(attr->nla_len);

		if ((attr->nla_type & NLA_TYPE_MASK) == GCHINT_SPENT_A_PHASE)
			take_phase(a, nest + NLA_HDRLEN,
				   attr->nla_len - NLA_HDRLEN);
		if (size >= len)
			break;
		nest += size;
		len -= size;
	}
	return 0;
}

FIXTURE(spent) {
	struct genl genl;
	struct session session;
	struct worker worker;
	clockid_t clock;	/* of the worker */
	int slot;
};

FIXTURE_SETUP(spent)
{
	int cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;

	ASSERT_GT(cpu, 0);
	ASSERT_EQ(0, bind_cpu(0));
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	ASSERT_EQ(0, genl_open(&self->genl));
	ASSERT_EQ(0, worker_start(&self->worker, cpu));
	ASSERT_EQ(0, pthread_getcpuclockid(self->worker.thread, &self->clock));
	ASSERT_EQ(0, session_open(&self->session));
	self->slot = session_attach(&self->session, self->worker.tid,
				    GCHINT_ROLE_NONE, 0);
	ASSERT_GE(self->slot, 0);
	/* Nothing acts here, and nobody asks for doorbells. */
	ASSERT_EQ(0, self->session.info->doorbell_begin);
}

FIXTURE_TEARDOWN(spent)
{
	session_close(&self->session);
	worker_stop(&self->worker);
	genl_close(&self->genl);
	parameter_put("hint_ttl_ms", "1000");
	governor_restore();
}

static uint64_t ran(FIXTURE_DATA(spent) *self)
{
	struct timespec t;

	clock_gettime(self->clock, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* The worker spins until it has had so much more of its CPU. */
static void spin(FIXTURE_DATA(spent) *self, uint64_t ns)
{
	uint64_t end = ran(self) + ns;

	worker_do(&self->worker, WORK_SPIN);
	while (ran(self) < end)
		sleep_us(1000);
	worker_do(&self->worker, WORK_SLEEP);
}

static void say(FIXTURE_DATA(spent) *self, unsigned int phase, bool ring)
{
	session_store(&self->session, self->slot, phase, GCHINT_F_CONCURRENT);
	if (ring)
		session_ring(&self->session, self->slot);
}

/*
 * The CPU clock leaves out what interrupts take, and between reading it and an edge
 * an emulated CPU may stand still.
 */
#define BETWEEN(seen, least, most) do {					\
	unsigned long long seen_ = (seen), least_ = (least), most_ = (most); \
	EXPECT_LE(seen_, most_ + most_ / 5 + 20 * MS);			\
	EXPECT_GE(seen_ + least_ / 5 + 20 * MS, least_);		\
} while (0)
#define NEAR(seen, expected) BETWEEN(seen, expected, expected)

/* Each phase has the time that its thread ran in it, not the time that it lasted. */
TEST_F_TIMEOUT(spent, is_time_on_a_cpu, 120)
{
	uint64_t begin, mark, sweep, end;
	struct account a;

	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	begin = ran(self);
	say(self, GCHINT_PHASE_MARK, true);
	/* Nearly all of that asleep. */
	sleep_us(300000);
	spin(self, 300 * MS);
	mark = ran(self);
	say(self, GCHINT_PHASE_SWEEP, true);
	spin(self, 150 * MS);
	sweep = ran(self);
	say(self, GCHINT_PHASE_NONE, true);
	spin(self, 100 * MS);
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	end = ran(self);

	TH_LOG("us: mark %llu of %llu, sweep %llu of %llu, none %llu of %llu, unsure %llu",
	       (unsigned long long)a.ns[GCHINT_PHASE_MARK] / 1000,
	       (unsigned long long)(mark - begin) / 1000,
	       (unsigned long long)a.ns[GCHINT_PHASE_SWEEP] / 1000,
	       (unsigned long long)(sweep - mark) / 1000,
	       (unsigned long long)a.ns[GCHINT_PHASE_NONE] / 1000,
	       (unsigned long long)(end - sweep) / 1000,
	       (unsigned long long)a.unsure / 1000);
	EXPECT_EQ(1, a.sessions);
	EXPECT_LT(a.since, a.time);
	NEAR(a.ns[GCHINT_PHASE_MARK], mark - begin);
	NEAR(a.ns[GCHINT_PHASE_SWEEP], sweep - mark);
	NEAR(a.ns[GCHINT_PHASE_NONE], end - sweep);
	EXPECT_EQ(0, a.ns[GCHINT_PHASE_COPY]);
}

/* A thread that runs on and on is charged when somebody asks, and by what it says then. */
TEST_F_TIMEOUT(spent, is_told_while_the_thread_runs, 120)
{
	uint64_t before, begin, told, end;
	struct account a;

	worker_do(&self->worker, WORK_SPIN);
	say(self, GCHINT_PHASE_COPY, false);
	/* It begins somewhere in that, and the kernel patches itself meanwhile. */
	before = ran(self);
	ASSERT_EQ(0, count(&self->genl, 0, 1));
	begin = ran(self);
	while (ran(self) < begin + 200 * MS)
		sleep_us(1000);
	told = ran(self);
	ASSERT_EQ(0, spent(&self->genl, 0, &a));
	end = ran(self);
	BETWEEN(a.ns[GCHINT_PHASE_COPY], told - begin, end - before);
	EXPECT_EQ(0, a.ns[GCHINT_PHASE_MARK]);
}

/* Edges that nobody rings, in the middle of a turn. */
TEST_F_TIMEOUT(spent, edges_without_doorbells_are_seen, 120)
{
	uint64_t in = 0, begin, end, half;
	struct account a;
	int i;

	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	worker_do(&self->worker, WORK_SPIN);
	begin = ran(self);
	for (i = 0; i < 40; i++) {
		uint64_t from;

		say(self, GCHINT_PHASE_MARK, false);
		from = ran(self);
		sleep_us(8000);
		in += ran(self) - from;
		say(self, GCHINT_PHASE_NONE, false);
		sleep_us(12000);
	}
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	end = ran(self);
	TH_LOG("us: mark %llu of %llu, none %llu of %llu, unsure %llu",
	       (unsigned long long)a.ns[GCHINT_PHASE_MARK] / 1000,
	       (unsigned long long)in / 1000,
	       (unsigned long long)a.ns[GCHINT_PHASE_NONE] / 1000,
	       (unsigned long long)(end - begin - in) / 1000,
	       (unsigned long long)a.unsure / 1000);
	/*
	 * Half of what a look found changed is on either side, and on a busy host looks are far
	 * apart: the split is as good as is said. All of it is there.
	 */
	half = a.unsure / 2;
	BETWEEN(a.ns[GCHINT_PHASE_MARK], in - (in < half ? in : half), in + half);
	NEAR(a.ns[GCHINT_PHASE_MARK] + a.ns[GCHINT_PHASE_NONE], end - begin);
	/* Which is no more than the looks around the edges. */
	EXPECT_GT(a.unsure, 0);
	EXPECT_LT(a.unsure, end - begin);
}

/* A thread that hints nothing spends by its role. */
TEST_F_TIMEOUT(spent, roles_count, 120)
{
	uint64_t begin;
	struct account a;

	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	ASSERT_EQ(0, session_role(&self->session, self->slot,
				  GCHINT_ROLE_BACKGROUND, 0));
	begin = ran(self);
	spin(self, 100 * MS);
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	NEAR(a.ns[GCHINT_PHASE_TRIM], ran(self) - begin);
}

/* Nothing is counted that nobody asked for, nor after it was ended. */
TEST_F(spent, only_while_asked_for)
{
	uint64_t begin, end;
	struct account a;

	EXPECT_EQ(-ENODATA, spent(&self->genl, getpid(), &a));
	EXPECT_STRNE("", self->genl.message);
	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	say(self, GCHINT_PHASE_MARK, true);
	spin(self, 50 * MS);
	/* To ask again changes nothing. */
	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	EXPECT_GE(a.ns[GCHINT_PHASE_MARK], 40 * MS);
	ASSERT_EQ(0, count(&self->genl, getpid(), 0));
	EXPECT_EQ(-ENODATA, spent(&self->genl, getpid(), &a));
	say(self, GCHINT_PHASE_SWEEP, true);
	worker_do(&self->worker, WORK_SPIN);
	end = ran(self) + 100 * MS;
	while ((begin = ran(self)) < end)
		sleep_us(1000);
	/* From nothing, in the middle of a turn. */
	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	end = ran(self);
	EXPECT_EQ(0, a.ns[GCHINT_PHASE_MARK]);
	EXPECT_LT(a.ns[GCHINT_PHASE_SWEEP], end - begin + 40 * MS);
}

/* All sessions of the process together; one that is opened later is not counted. */
TEST_F(spent, sessions_of_a_process)
{
	struct session other, later;
	struct account a;

	ASSERT_EQ(0, session_open(&other));
	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	ASSERT_EQ(0, session_open(&later));
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	EXPECT_EQ(2, a.sessions);
	session_close(&other);
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	EXPECT_EQ(1, a.sessions);
	session_close(&self->session);
	EXPECT_EQ(-ENODATA, spent(&self->genl, getpid(), &a));
	session_close(&later);
	EXPECT_EQ(-ESRCH, spent(&self->genl, getpid(), &a));
	EXPECT_STRNE("", self->genl.message);
}

TEST_F(spent, malformed)
{
	struct account a;
	char out[64];
	size_t len;

	EXPECT_EQ(-EINVAL, genl_request(&self->genl, GCHINT_CMD_SPENT_GET, 0,
					NULL, 0));
	EXPECT_STRNE("", self->genl.message);
	len = genl_put_u32(out, GCHINT_A_COUNT, 1);
	EXPECT_EQ(-EINVAL, genl_request(&self->genl, GCHINT_CMD_SPENT_SET, 0,
					out, len));
	EXPECT_STRNE("", self->genl.message);
	len = genl_put_u32(out, GCHINT_A_PID, getpid());
	EXPECT_EQ(-EINVAL, genl_request(&self->genl, GCHINT_CMD_SPENT_SET, 0,
					out, len));
	EXPECT_STRNE("", self->genl.message);
	EXPECT_EQ(-ERANGE, count(&self->genl, getpid(), 2));
	EXPECT_EQ(-ESRCH, count(&self->genl, 1, 1));
	EXPECT_EQ(-ESRCH, count(&self->genl, -1, 1));
	EXPECT_EQ(-ENODATA, spent(&self->genl, getpid(), &a));
}

static bool become(int real, int effective)
{
	return setresgid(NOBODY, NOBODY, NOBODY) ||
	       setresuid(real, effective, effective);
}

/* A step of @steps that failed, or 0. */
static int status_of(int (*steps)(int pid), int pid)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(steps(pid));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int another_asks(int pid)
{
	struct account a;
	struct genl genl;

	if (become(NOBODY, NOBODY) || genl_open(&genl))
		return 1;
	if (count(&genl, pid, 1) != -EPERM || !*genl.message)
		return 2;
	if (count(&genl, pid, 0) != -EPERM)
		return 3;
	if (spent(&genl, pid, &a) != -EPERM)
		return 4;
	return 0;
}

/* Nothing about another user's process, whether it is counted or not. */
TEST_F(spent, another_user_is_refused)
{
	struct account a;

	EXPECT_EQ(0, status_of(another_asks, getpid()));
	EXPECT_EQ(-ENODATA, spent(&self->genl, getpid(), &a));
	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	EXPECT_EQ(0, status_of(another_asks, getpid()));
	EXPECT_EQ(0, spent(&self->genl, getpid(), &a));
}

static int owner_asks(int pid)
{
	struct account a;
	struct genl genl;

	if (genl_open(&genl) || spent(&genl, pid, &a))
		return 1;
	return a.sessions == 1 ? 0 : 2;
}

static int own_process(int unused)
{
	struct session session;
	struct account a;
	struct genl genl;
	long long end;
	int slot;

	if (become(NOBODY, NOBODY) || genl_open(&genl) || session_open(&session))
		return 10;
	slot = session_attach(&session, 0, GCHINT_ROLE_NONE, 0);
	if (slot < 0 || count(&genl, 0, 1))
		return 11;
	session_store(&session, slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	end = now_us() + 50000;
	while (now_us() < end)
		;
	if (spent(&genl, getpid(), &a) || a.ns[GCHINT_PHASE_MARK] < 10 * MS)
		return 12;
	/* From another process of the same user. */
	return status_of(owner_asks, getpid());
}

/* It takes no privilege. */
TEST_F(spent, owner_without_privilege)
{
	EXPECT_EQ(0, status_of(own_process, 0));
}

static int user_asks(int pid)
{
	struct account a;
	struct genl genl;

	if (setresuid(NOBODY, NOBODY, NOBODY) || genl_open(&genl))
		return 1;
	return spent(&genl, pid, &a) == -EPERM ? 0 : 2;
}

static int with_rights_of_another(int unused)
{
	struct session session;
	struct genl genl;

	if (become(NOBODY, 0) || genl_open(&genl) || session_open(&session))
		return 10;
	if (count(&genl, 0, 1))
		return 11;
	return status_of(user_asks, getpid());
}

/* Who starts a program that has more rights does not own what it does. */
TEST_F(spent, not_of_a_process_with_more_rights)
{
	EXPECT_EQ(0, status_of(with_rights_of_another, 0));
}

/* What the kernel's energy model has for a CPU at its highest frequency: uW, or 0. */
static unsigned long power_at_max(int cpu)
{
	char path[160], text[32];

	snprintf(path, sizeof(path), "/sys/kernel/debug/energy_model/cpu%d/ps:%ld/power",
		 cpu, policy_number(policy_of(cpu), "cpuinfo_max_freq"));
	return file_get(path, text, sizeof(text)) > 0 ? strtoul(text, NULL, 10) : 0;
}

/* Energy is of the kernel's model, where that has one in microwatts; else not told. */
TEST_F_TIMEOUT(spent, energy_is_modelled_or_unknown, 120)
{
	const struct hw_board *hw = hw_open();
	unsigned long power = power_at_max(self->worker.cpu);
	bool known = hw && !strcmp(hw->power, "em") && hw->joules;
	uint64_t nj, expected;
	struct account a;

	ASSERT_EQ(0, count(&self->genl, getpid(), 1));
	say(self, GCHINT_PHASE_MARK, true);
	spin(self, 200 * MS);
	ASSERT_EQ(0, spent(&self->genl, getpid(), &a));
	ASSERT_GT(a.ns[GCHINT_PHASE_MARK], 0);
	nj = a.nj[GCHINT_PHASE_MARK];
	if (!known) {
		EXPECT_EQ(0, nj);
		EXPECT_EQ(0, a.known_ns[GCHINT_PHASE_MARK]);
		return;
	}
	EXPECT_EQ(a.ns[GCHINT_PHASE_MARK], a.known_ns[GCHINT_PHASE_MARK]);
	ASSERT_GT(power, 0);
	expected = a.ns[GCHINT_PHASE_MARK] / 1000 * power / 1000;
	TH_LOG("%llu uJ, by the model %llu", (unsigned long long)nj / 1000,
	       (unsigned long long)expected / 1000);
	EXPECT_LE(nj, expected + expected / 100);
	EXPECT_GE(nj + expected / 100, expected);
}

TEST_HARNESS_MAIN
