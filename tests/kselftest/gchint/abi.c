// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What the ABI's header specifies for bad calls: the errno it names, and no
 * change of state. "No change" is checked by what netlink reports and by a good
 * call afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

FIXTURE(abi) {
	struct session session;
	struct genl genl;
	uint32_t slots;		/* leases of the whole system before */
	uint32_t sessions;
};

FIXTURE_SETUP(abi)
{
	ASSERT_EQ(0, genl_open(&self->genl));
	ASSERT_EQ(0, session_open(&self->session));
	ASSERT_EQ(0, genl_info(&self->genl, GCHINT_A_SLOTS, &self->slots));
	ASSERT_EQ(0, genl_info(&self->genl, GCHINT_A_SESSIONS, &self->sessions));
}

FIXTURE_TEARDOWN(abi)
{
	session_close(&self->session);
	genl_close(&self->genl);
}

/* No lease was added or removed. */
#define EXPECT_UNCHANGED() do {						\
	uint32_t now_ = ~0u;						\
	EXPECT_EQ(0, genl_info(&self->genl, GCHINT_A_SLOTS, &now_));	\
	EXPECT_EQ(self->slots, now_);					\
} while (0)

#define CALL_FAILS(error, request, arg) do {				\
	errno = 0;							\
	EXPECT_EQ(-1, ioctl(self->session.fd, request, arg));		\
	EXPECT_EQ(error, errno);					\
	EXPECT_UNCHANGED();						\
} while (0)

#define SIZED(request, size) \
	_IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), size)

TEST_F(abi, unknown_calls)
{
	CALL_FAILS(ENOTTY, _IO(GCHINT_IOC_MAGIC, 0), 0);
	CALL_FAILS(ENOTTY, _IO(GCHINT_IOC_MAGIC, 6), 0);
	CALL_FAILS(ENOTTY, _IO(GCHINT_IOC_MAGIC, 255), 0);
	CALL_FAILS(ENOTTY, _IO('x', 3), 0);
	CALL_FAILS(ENOTTY, _IOW(GCHINT_IOC_MAGIC, 1, struct gchint_attach), 0);
	CALL_FAILS(ENOTTY, _IOW(GCHINT_IOC_MAGIC, 3, int), 0);
}

TEST_F(abi, attach_sizes)
{
	struct {
		struct gchint_attach attach;
		uint32_t tail[8];
	} longer = { 0 };

	CALL_FAILS(EINVAL, SIZED(GCHINT_IOC_ATTACH, 0), &longer);
	CALL_FAILS(EINVAL, SIZED(GCHINT_IOC_ATTACH, GCHINT_ATTACH_SIZE_VER0 - 4),
		   &longer);
	longer.tail[7] = 1;
	CALL_FAILS(E2BIG, SIZED(GCHINT_IOC_ATTACH, sizeof(longer)), &longer);
	CALL_FAILS(EFAULT, GCHINT_IOC_ATTACH, NULL);
	CALL_FAILS(EFAULT, GCHINT_IOC_ATTACH, (void *)8);
	/* A longer structure of a newer program that uses no new field. */
	longer.tail[7] = 0;
	EXPECT_EQ(0, ioctl(self->session.fd,
			   SIZED(GCHINT_IOC_ATTACH, sizeof(longer)), &longer));
}

/* A readable but not writable argument: no lease stays behind. */
TEST_F(abi, attach_to_a_read_only_argument)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	CALL_FAILS(EFAULT, GCHINT_IOC_ATTACH, page);
	EXPECT_EQ(0, session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0));
}

TEST_F(abi, attach_arguments)
{
	struct gchint_attach attach = { .flags = 1 };

	CALL_FAILS(EINVAL, GCHINT_IOC_ATTACH, &attach);
	attach.flags = 0x80000000;
	CALL_FAILS(EINVAL, GCHINT_IOC_ATTACH, &attach);
	attach.flags = 0;
	attach.role = GCHINT_ROLE_NR;
	CALL_FAILS(EINVAL, GCHINT_IOC_ATTACH, &attach);
	attach.role = ~0u;
	CALL_FAILS(EINVAL, GCHINT_IOC_ATTACH, &attach);
	attach.role = GCHINT_ROLE_FOLLOW;
	attach.lead = GCHINT_SLOTS;
	CALL_FAILS(EINVAL, GCHINT_IOC_ATTACH, &attach);
	attach.role = GCHINT_ROLE_NONE;
	attach.lead = 1;
	CALL_FAILS(EINVAL, GCHINT_IOC_ATTACH, &attach);
}

TEST_F(abi, foreign_threads)
{
	static const int tids[] = { 1, 2, -1, 0x7fffffff, -0x7fffffff - 1 };
	struct gchint_attach attach = { 0 };
	int pipes[2], status;
	size_t i;
	pid_t child;

	for (i = 0; i < sizeof(tids) / sizeof(*tids); i++) {
		attach.tid = tids[i];
		CALL_FAILS(ESRCH, GCHINT_IOC_ATTACH, &attach);
	}
	attach.tid = getppid();
	CALL_FAILS(ESRCH, GCHINT_IOC_ATTACH, &attach);
	ASSERT_EQ(0, pipe(pipes));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		char byte;

		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1));
	}
	attach.tid = child;
	CALL_FAILS(ESRCH, GCHINT_IOC_ATTACH, &attach);
	close(pipes[1]);
	waitpid(child, &status, 0);
}

TEST_F(abi, thread_has_one_slot)
{
	struct session other;
	int slot = session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0);

	ASSERT_GE(slot, 0);
	self->slots++;
	EXPECT_EQ(-EBUSY, session_attach(&self->session, 0, 0, 0));
	EXPECT_EQ(-EBUSY, session_attach(&self->session, getpid(), 0, 0));
	ASSERT_EQ(0, session_open(&other));
	EXPECT_EQ(-EBUSY, session_attach(&other, 0, 0, 0));
	EXPECT_UNCHANGED();
	/* Free again: the other session may lease it. */
	EXPECT_EQ(0, session_detach(&self->session, slot));
	EXPECT_GE(session_attach(&other, 0, 0, 0), 0);
	session_close(&other);
}

TEST_F(abi, bad_slots)
{
	static const unsigned long slots[] = {
		GCHINT_SLOTS, GCHINT_SLOTS + 1, 0x10000, 0x80000000, ~0ul,
	};
	struct gchint_set_role role = { 0 };
	size_t i;

	for (i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		CALL_FAILS(EINVAL, GCHINT_IOC_RING, slots[i]);
		CALL_FAILS(EINVAL, GCHINT_IOC_DETACH, slots[i]);
		role.slot = slots[i];
		CALL_FAILS(EINVAL, GCHINT_IOC_SET_ROLE, &role);
	}
	/* Valid numbers, but free slots. */
	for (i = 0; i < GCHINT_SLOTS; i++) {
		CALL_FAILS(ENOENT, GCHINT_IOC_RING, i);
		CALL_FAILS(ENOENT, GCHINT_IOC_DETACH, i);
		role.slot = i;
		CALL_FAILS(ENOENT, GCHINT_IOC_SET_ROLE, &role);
	}
}

TEST_F(abi, roles)
{
	struct gchint_set_role role = { 0 };
	int slot = session_attach(&self->session, 0, GCHINT_ROLE_NONE, 0);

	ASSERT_GE(slot, 0);
	self->slots++;
	role.slot = slot;
	role.flags = 4;
	CALL_FAILS(EINVAL, GCHINT_IOC_SET_ROLE, &role);
	role.flags = 0;
	role.role = GCHINT_ROLE_NR;
	CALL_FAILS(EINVAL, GCHINT_IOC_SET_ROLE, &role);
	role.role = GCHINT_ROLE_STW;
	role.lead = 1;
	CALL_FAILS(EINVAL, GCHINT_IOC_SET_ROLE, &role);
	role.role = GCHINT_ROLE_FOLLOW;
	role.lead = (slot + 1) % GCHINT_SLOTS;
	CALL_FAILS(ENOENT, GCHINT_IOC_SET_ROLE, &role);
	role.lead = GCHINT_SLOTS;
	CALL_FAILS(EINVAL, GCHINT_IOC_SET_ROLE, &role);
	CALL_FAILS(EINVAL, SIZED(GCHINT_IOC_SET_ROLE, 12), &role);
	CALL_FAILS(EFAULT, GCHINT_IOC_SET_ROLE, NULL);
	role.lead = 0;
	role.role = GCHINT_ROLE_BACKGROUND;
	EXPECT_EQ(0, ioctl(self->session.fd, GCHINT_IOC_SET_ROLE, &role));
}

TEST_F(abi, slots_are_limited)
{
	static struct worker worker[GCHINT_SLOTS + 1];
	uint64_t seen = 0;
	int i, slot;

	for (i = 0; i <= GCHINT_SLOTS; i++)
		ASSERT_EQ(0, worker_start_blocked(&worker[i], 0));
	for (i = 0; i < GCHINT_SLOTS; i++) {
		slot = session_attach(&self->session, worker[i].tid, 0, 0);
		ASSERT_GE(slot, 0);
		EXPECT_EQ(0, seen >> slot & 1);
		EXPECT_EQ(0, self->session.slots[slot].state);
		seen |= 1ull << slot;
	}
	self->slots += GCHINT_SLOTS;
	EXPECT_EQ(-ENOSPC, session_attach(&self->session, worker[i].tid, 0, 0));
	EXPECT_UNCHANGED();
	/* A slot that is leased again starts at zero. */
	session_store(&self->session, 7, GCHINT_PHASE_COPY, GCHINT_F_STW);
	ASSERT_EQ(0, session_detach(&self->session, 7));
	EXPECT_EQ(7, session_attach(&self->session, worker[i].tid, 0, 0));
	EXPECT_EQ(0, self->session.slots[7].state);
	for (i = 0; i <= GCHINT_SLOTS; i++)
		worker_stop(&worker[i]);
}

#define MANY (2 * GCHINT_SLOTS + 2)

static int parameter_number(const char *name)
{
	char text[32];

	return parameter_get(name, text, sizeof(text)) < 0 ? -1 : atoi(text);
}

/* More threads than a page has slots: the session grows, and dumps show it. */
TEST_F(abi, session_grows)
{
	static struct worker worker[MANY];
	volatile struct gchint_slot *slots;
	const int fd = self->session.fd;
	int i;

	ASSERT_TRUE(self->session.info->features & GCHINT_FEATURE_GROW);
	CALL_FAILS(EINVAL, GCHINT_IOC_GROW, 0);
	CALL_FAILS(EINVAL, GCHINT_IOC_GROW, GCHINT_SLOTS_MAX + 1);
	CALL_FAILS(EINVAL, GCHINT_IOC_GROW, -1);
	/* One user gets an eighth of all leases. */
	CALL_FAILS(EDQUOT, GCHINT_IOC_GROW, parameter_number("leases") / 8 + 1);
	/* The session is large enough: nothing changes. */
	EXPECT_EQ(0, ioctl(fd, GCHINT_IOC_GROW, GCHINT_SLOTS));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd,
				   GCHINT_MMAP_SLOTS));
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, worker_start_blocked(&worker[i], 0));
	for (i = 0; i < GCHINT_SLOTS; i++)
		EXPECT_EQ(i, session_attach(&self->session, worker[i].tid, 0, 0));
	EXPECT_EQ(-ENOSPC, session_attach(&self->session, worker[i].tid, 0, 0));
	EXPECT_EQ(-EINVAL, session_ring(&self->session, GCHINT_SLOTS));

	ASSERT_EQ(0, ioctl(fd, GCHINT_IOC_GROW, 2 * GCHINT_SLOTS + 1));
	ASSERT_EQ(0, ioctl(fd, GCHINT_IOC_GROW, 1));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4 * 4096, PROT_READ, MAP_SHARED, fd,
				   GCHINT_MMAP_SLOTS));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd,
				   GCHINT_MMAP_SLOTS + 3 * 4096));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 3 * 4096, PROT_READ, MAP_SHARED, fd,
				   GCHINT_MMAP_SLOTS + 4096));
	slots = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     GCHINT_MMAP_SLOTS);
	ASSERT_NE(MAP_FAILED, (void *)slots);
	for (; i < MANY; i++)
		EXPECT_EQ(i, session_attach(&self->session, worker[i].tid,
					    GCHINT_ROLE_FOLLOW, i - GCHINT_SLOTS));
	/* One page of memory, wherever it is mapped. */
	slots[7].state = 0x12340000;
	EXPECT_EQ(0x12340000, self->session.slots[7].state);
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(0, session_ring(&self->session, i));
	EXPECT_EQ(-ENOENT, session_ring(&self->session, MANY));
	EXPECT_EQ(-EINVAL, session_ring(&self->session, 3 * GCHINT_SLOTS));
	EXPECT_EQ(-EINVAL, session_detach(&self->session, 3 * GCHINT_SLOTS));
	EXPECT_EQ(-EINVAL, session_detach(&self->session, 1ul << 31));
	ASSERT_EQ(0, genl_request(&self->genl, GCHINT_CMD_SESSION_GET, 0x300,
				  NULL, 0));
	EXPECT_EQ(3, self->genl.replies);
	self->slots += MANY;
	EXPECT_UNCHANGED();
	/*
	 * A slot that is leased again starts at zero, and is the lowest free
	 * one.
	 */
	slots[GCHINT_SLOTS + 5].state = 0x12340000;
	ASSERT_EQ(0, session_detach(&self->session, GCHINT_SLOTS + 5));
	EXPECT_EQ(GCHINT_SLOTS + 5,
		  session_attach(&self->session, worker[GCHINT_SLOTS + 5].tid, 0, 0));
	EXPECT_EQ(0, slots[GCHINT_SLOTS + 5].state);
	for (i = 0; i < MANY; i++)
		worker_stop(&worker[i]);
	munmap((void *)slots, 3 * 4096);
}

#define MAP_FAILS(error, length, prot, flags, offset) do {		\
	errno = 0;							\
	EXPECT_EQ(MAP_FAILED, mmap(NULL, length, prot, flags,		\
				   self->session.fd, offset));		\
	EXPECT_EQ(error, errno);					\
} while (0)

TEST_F(abi, mmap_errors)
{
	MAP_FAILS(EINVAL, 8192, PROT_READ, MAP_SHARED, GCHINT_MMAP_INFO);
	MAP_FAILS(EINVAL, 8192, PROT_READ, MAP_SHARED, GCHINT_MMAP_SLOTS);
	MAP_FAILS(EINVAL, 4096, PROT_READ, MAP_SHARED, 4096);
	MAP_FAILS(EINVAL, 4096, PROT_READ, MAP_SHARED, GCHINT_MMAP_SLOTS + 4096);
	MAP_FAILS(EINVAL, 4096, PROT_READ, MAP_SHARED, 0x7ffff000);
	MAP_FAILS(EINVAL, 4096, PROT_READ, MAP_PRIVATE, GCHINT_MMAP_INFO);
	MAP_FAILS(EINVAL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		  GCHINT_MMAP_SLOTS);
	MAP_FAILS(EACCES, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		  GCHINT_MMAP_INFO);
	MAP_FAILS(EACCES, 4096, PROT_READ | PROT_EXEC, MAP_SHARED,
		  GCHINT_MMAP_INFO);
	MAP_FAILS(EACCES, 4096, PROT_READ | PROT_EXEC, MAP_SHARED,
		  GCHINT_MMAP_SLOTS);
	/* Nor later. */
	EXPECT_EQ(-1, mprotect((void *)self->session.info, 4096,
			       PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)self->session.slots, 4096,
			       PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->session.slots, 4096, 8192,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(GCHINT_ABI, (int)self->session.info->abi);
}

/* For each CPU the same as in the page, and nothing for absent CPUs. */
TEST_F(abi, mapping_of_cpus)
{
	const volatile struct gchint_info *info = self->session.info;
	const volatile struct gchint_info_cpu *cpu;
	size_t size, page = sysconf(_SC_PAGESIZE);
	uint32_t i, known = 0;

	ASSERT_TRUE(info->features & GCHINT_FEATURE_CPUS);
	ASSERT_LE(sysconf(_SC_NPROCESSORS_ONLN), (int)info->nr_cpus);
	ASSERT_EQ(sizeof(*cpu), info->cpu_size);
	size = info->nr_cpus * sizeof(*cpu);
	cpu = mmap(NULL, size, PROT_READ, MAP_SHARED, self->session.fd,
		   GCHINT_MMAP_CPUS);
	ASSERT_NE(MAP_FAILED, (void *)cpu);
	for (i = 0; i < info->nr_cpus; i++) {
		const volatile struct gchint_info_policy *policy = &cpu[i].policy;
		uint8_t entry = info->cpu_policy[i];

		if (entry == GCHINT_INFO_NO_POLICY) {
			EXPECT_EQ(0, policy->flags);
			continue;
		}
		known++;
		EXPECT_EQ(info->policy[entry].flags, policy->flags);
		EXPECT_EQ(info->policy[entry].max_khz, policy->max_khz);
		EXPECT_EQ(info->policy[entry].hw_max_khz, policy->hw_max_khz);
		EXPECT_EQ(0, memcmp((void *)info->policy[entry].governor,
				    (void *)policy->governor, 16));
		EXPECT_EQ(policy_of(i), (int)cpu[i].policy_cpu);
	}
	EXPECT_LT(0, known);
	munmap((void *)cpu, size);
	size = (size + page - 1) / page * page;
	MAP_FAILS(EINVAL, size + page, PROT_READ, MAP_SHARED, GCHINT_MMAP_CPUS);
	MAP_FAILS(EINVAL, size, PROT_READ, MAP_PRIVATE, GCHINT_MMAP_CPUS);
	MAP_FAILS(EINVAL, page, PROT_READ, MAP_SHARED, GCHINT_MMAP_CPUS + page);
	MAP_FAILS(EACCES, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		  GCHINT_MMAP_CPUS);
	MAP_FAILS(EACCES, size, PROT_READ | PROT_EXEC, MAP_SHARED,
		  GCHINT_MMAP_CPUS);
}

/* "Length of at most one page": mmap rounds a shorter length up to a page. */
TEST_F(abi, mmap_of_less_than_a_page)
{
	void *page = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED,
			  self->session.fd, GCHINT_MMAP_SLOTS);

	ASSERT_NE(MAP_FAILED, page);
	*(volatile uint32_t *)page = 0x12340000;
	EXPECT_EQ(0x12340000, self->session.slots[0].state);
	munmap(page, 64);
}

TEST_F(abi, read_errors)
{
	uint64_t generation;

	EXPECT_EQ(-1, read(self->session.fd, &generation, 7));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->session.fd, &generation, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->session.fd, (void *)8, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, write(self->session.fd, &generation, 8));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(8, read(self->session.fd, &generation, sizeof(generation)));
	EXPECT_EQ(0, generation & 1);
}

#define USER_SESSIONS 32	/* whatever the memory */
#define USER_SESSIONS_MAX 20000
#define USER_SLOTS_MAX 1024

/* As an unprivileged user, who is counted apart from root. */
static int as_nobody_sessions(int least)
{
	static struct session s[USER_SESSIONS_MAX];
	struct rlimit files = { USER_SESSIONS_MAX + 64, USER_SESSIONS_MAX + 64 };
	int i, ret = 0;

	if (setrlimit(RLIMIT_NOFILE, &files) ||
	    setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 1;
	for (i = 0; i < USER_SESSIONS_MAX && !ret; i++)
		ret = session_open(&s[i]);
	if (ret != -EDQUOT)
		return 2;
	if (i <= least)
		return 3;
	session_close(&s[0]);
	return session_open(&s[0]) ? 4 : 0;
}

#define PROCESSES 200

/* A server that forks a process for each of its requests: all have hints. */
static int as_nobody_processes(int nr)
{
	int ready[2], end[2], i, ret, lost = 0;
	struct session s;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534) ||
	    pipe(ready) || pipe(end))
		return 1;
	for (i = 0; i < nr; i++) {
		pid_t child = fork();

		if (child < 0)
			return 2;
		if (child)
			continue;
		close(end[1]);
		ret = session_open(&s);
		if (!ret)
			ret = session_attach(&s, 0, GCHINT_ROLE_NONE, 0);
		if (write(ready[1], &ret, sizeof(ret)) == sizeof(ret))
			_exit(read(end[0], &ret, 1) != 0);
	}
	for (i = 0; i < nr; i++)
		lost += read(ready[0], &ret, sizeof(ret)) != sizeof(ret) || ret < 0;
	close(end[1]);
	while (wait(NULL) > 0)
		;
	return lost ? 3 : 0;
}

static int as_nobody_slots(int allowed)
{
	static int tid[USER_SLOTS_MAX];
	struct session s;
	int i, slot = -1;

	if (allowed >= USER_SLOTS_MAX)
		return 1;
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 1;
	if (session_open(&s) || ioctl(s.fd, GCHINT_IOC_GROW, allowed))
		return 2;
	for (i = 0; i <= allowed; i++) {
		tid[i] = sleeper_start();
		if (!tid[i])
			return 3;
	}
	for (i = 0; i < allowed; i++) {
		slot = session_attach(&s, tid[i], 0, 0);
		if (slot < 0)
			return 4;
	}
	if (session_attach(&s, tid[i], 0, 0) != -EDQUOT)
		return 5;
	if (session_detach(&s, slot))
		return 6;
	return session_attach(&s, tid[i], 0, 0) < 0 ? 7 : 0;
}

/* Takes slots as a user of a namespace until that is refused: how many. */
static int take_slots(uid_t uid, int most)
{
	struct session s;
	int i, ret = 0;

	if (setresuid(uid, uid, uid) || session_open(&s) ||
	    ioctl(s.fd, GCHINT_IOC_GROW, most))
		return -1;
	for (i = 0; i < most; i++) {
		int tid = sleeper_start();

		if (!tid)
			return -1;
		ret = session_attach(&s, tid, 0, 0);
		if (ret < 0)
			break;
	}
	return i == most || ret == -EDQUOT ? i : -1;
}

#define MAPPED 6

/*
 * A user may have thousands of subordinate ids, which are mapped in a user
 * namespace of that user's own: together they have what one user has.
 */
static int as_mapped_users(int allowed)
{
	int made[2], mapped[2], taken[2], end[2], i, count, sum = 0;
	char path[64], byte = 0;
	pid_t outside;

	if (pipe(made) || pipe(mapped) || pipe(taken) || pipe(end))
		return 1;
	outside = fork();
	if (!outside) {
		if (read(made[0], &byte, 1) != 1)
			_exit(1);
		snprintf(path, sizeof(path), "/proc/%d/uid_map", getppid());
		if (file_put(path, "0 100000 100"))
			_exit(2);
		_exit(write(mapped[1], &byte, 1) != 1);
	}
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 2;
	if (unshare(CLONE_NEWUSER))
		return 100;
	close(mapped[1]);
	if (write(made[1], &byte, 1) != 1 || read(mapped[0], &byte, 1) != 1)
		return 3;
	for (i = 0; i < MAPPED; i++) {
		if (!fork()) {
			close(end[1]);
			count = take_slots(1 + i, allowed);
			if (write(taken[1], &count, sizeof(count)) == sizeof(count))
				_exit(read(end[0], &byte, 1) != 0);
			_exit(1);
		}
		/* One after the other: the first may take all. */
		if (read(taken[0], &count, sizeof(count)) != sizeof(count) || count < 0)
			return 4;
		sum += count;
	}
	close(end[1]);
	while (wait(NULL) > 0)
		;
	return sum == allowed ? 0 : 5;
}

static int in_child(int (*what)(int), int arg)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(what(arg));
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

TEST_F(abi, quota_per_user)
{
	uint32_t sessions = ~0u;
	struct session mine;

	EXPECT_EQ(0, in_child(as_nobody_sessions, USER_SESSIONS));
	EXPECT_EQ(0, in_child(as_nobody_processes, PROCESSES));
	EXPECT_EQ(0, in_child(as_nobody_slots, parameter_number("leases") / 8));
	/* All released; another user was never short of leases. */
	EXPECT_EQ(0, genl_info(&self->genl, GCHINT_A_SESSIONS, &sessions));
	EXPECT_EQ(self->sessions, sessions);
	EXPECT_UNCHANGED();
	EXPECT_EQ(0, session_open(&mine));
	session_close(&mine);
}

TEST_F(abi, subordinate_users_share_a_quota)
{
	int ret = in_child(as_mapped_users, parameter_number("leases") / 8);

	if (ret == 100)
		SKIP(return, "an ordinary user may not make user namespaces here");
	EXPECT_EQ(0, ret);
	EXPECT_UNCHANGED();
}

#define CGROUP "/tmp/cgroup"
#define OPENS 400

/* What is done with a file that is open. */
enum use { USE_NOTHING, USE_UNKNOWN_CALL, USE_SESSION };

/* Memory that a cgroup of its own is charged while @nr files are open. */
static long charged(int nr, enum use use)
{
	static int fd[OPENS];
	char text[32];
	long before;
	int i;

	if (file_put(CGROUP "/gchint/cgroup.procs", "0") ||
	    file_get(CGROUP "/gchint/memory.current", text, sizeof(text)) < 0)
		return -1;
	before = atol(text);
	for (i = 0; i < nr; i++) {
		fd[i] = open(DEVICE, O_RDWR);
		if (fd[i] < 0)
			return -1;
		/* The session is there from the first call on, even if that is refused. */
		if (use == USE_SESSION &&
		    (ioctl(fd[i], GCHINT_IOC_GROW, 0) != -1 || errno != EINVAL))
			return -1;
		if (use == USE_UNKNOWN_CALL &&
		    (ioctl(fd[i], _IO(GCHINT_IOC_MAGIC, 99)) != -1 ||
		     errno != ENOTTY))
			return -1;
	}
	if (file_get(CGROUP "/gchint/memory.current", text, sizeof(text)) < 0)
		return -1;
	return (atol(text) - before) / nr;
}

static int charged_kib(int use)
{
	long bytes = charged(OPENS, use);

	return bytes < 0 ? 200 : bytes / 1024;
}

/*
 * An allocation that is charged waits while the cgroup of the caller is full,
 * and all other opens of such devices would wait for it.
 */
TEST_F(abi, open_waits_for_no_memory)
{
	int kib;

	mkdir(CGROUP, 0755);
	if (mount("none", CGROUP, "cgroup2", 0, NULL) ||
	    file_put(CGROUP "/cgroup.subtree_control", "+memory") ||
	    mkdir(CGROUP "/gchint", 0755)) {
		umount(CGROUP);
		SKIP(return, "this kernel has no cgroups for memory");
	}
	/*
	 * The file itself, far less than a session, which is charged when it is
	 * first used. Each CPU charges some pages in advance.
	 */
	EXPECT_GT(4, in_child(charged_kib, USE_NOTHING));
	/* As isatty(3) makes one. */
	EXPECT_GT(4, in_child(charged_kib, USE_UNKNOWN_CALL));
	/*
	 * Once: the sessions of a child that has ended are freed, and no longer
	 * charged, while the next one counts.
	 */
	kib = in_child(charged_kib, USE_SESSION);
	EXPECT_LE(8, kib);
	EXPECT_GT(24, kib);
	EXPECT_EQ(0, rmdir(CGROUP "/gchint"));
	EXPECT_EQ(0, umount(CGROUP));
}

static int raise_granted(int drop)
{
	struct gchint_attach attach = { 0 };
	struct session s;

	if (drop && (setresgid(65534, 65534, 65534) ||
		     setresuid(65534, 65534, 65534)))
		return 100;
	if (session_open(&s) || ioctl(s.fd, GCHINT_IOC_ATTACH, &attach))
		return 101;
	return attach.granted;
}

/* Longer than the module keeps listening after the last session (2 s). */
#define LINGER_US 4000000

/* A frequency that was noted while no session was open may be outdated. */
TEST_F(abi, page_shows_no_outdated_frequency)
{
	long khz[MAX_OPPS];
	struct session s = { .fd = -1 };
	char text[32];
	uint64_t generation;

	governor_save();
	if (opps(0, khz, MAX_OPPS) < 2 || policy_put(0, "scaling_governor", "userspace"))
		SKIP(return, "no governor that sets requested frequencies");
	session_close(&self->session);
	sleep_us(LINGER_US);
	snprintf(text, sizeof(text), "%ld", khz[0]);
	ASSERT_EQ(0, policy_put(0, "scaling_setspeed", text));
	/* Has the page rebuilt, in which that frequency would appear. */
	ASSERT_EQ(0, policy_put(0, "scaling_governor", "gchint"));
	sleep_us(200000);
	ASSERT_EQ(0, policy_put(0, "scaling_governor", "performance"));
	ASSERT_EQ(0, session_open(&s));
	ASSERT_EQ(8, read(s.fd, &generation, 8));
	EXPECT_EQ(policy_number(0, "cpuinfo_max_freq"),
		  (long)s.info->policy[s.info->cpu_policy[0]].cur_khz);
	session_close(&s);
	governor_restore();
	ASSERT_EQ(0, session_open(&self->session));
}

TEST_F(abi, right_to_raise)
{
	EXPECT_EQ(GCHINT_GRANT_RAISE, in_child(raise_granted, 0));
	EXPECT_EQ(0, in_child(raise_granted, 1));
}

/* Parameters and tunables reject values out of bounds and keep the old ones. */
TEST_F(abi, bounds)
{
	static const struct {
		const char *name, *bad;
	} cases[] = {
		{ "hint_ttl_ms", "9" }, { "hint_ttl_ms", "60001" },
		{ "hint_ttl_ms", "-1" }, { "hint_ttl_ms", "x" },
	};
	static const struct {
		const char *name, *bad;
	} tunables[] = {
		{ "mode", "fast" }, { "mode", "" }, { "cap_pct", "9" },
		{ "cap_pct", "101" }, { "cap_pct", "-1" },
		{ "budget", "51" }, { "boost_unprivileged", "2" },
		{ "awake_pct", "99999999999" }, { "budget", "0x10" },
		{ "min_latencies", "1001" }, { "hold_us", "many" },
	};
	char before[64], after[64];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		parameter_get(cases[i].name, before, sizeof(before));
		EXPECT_EQ(-EINVAL, parameter_put(cases[i].name, cases[i].bad))
			TH_LOG("%s=%s", cases[i].name, cases[i].bad);
		parameter_get(cases[i].name, after, sizeof(after));
		EXPECT_STREQ(before, after);
	}
	governor_save();
	ASSERT_EQ(0, governor_all("gchint"));
	for (i = 0; i < sizeof(tunables) / sizeof(*tunables); i++) {
		int ret = tunable_put(0, tunables[i].name, tunables[i].bad);

		/* write() of zero bytes never reaches the file. */
		if (tunables[i].bad[0]) {
			EXPECT_TRUE(ret == -EINVAL || ret == -ERANGE)
				TH_LOG("%s=%s: %d", tunables[i].name,
				       tunables[i].bad, ret);
		}
		EXPECT_GT(tunable_get(0, tunables[i].name, after, sizeof(after)), 0);
		EXPECT_STRNE(tunables[i].bad, after);
	}
	governor_restore();
}

TEST_HARNESS_MAIN
