// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Every allocation and every copy in a call fails once: the first, then the
 * second, until a call completes without a failure. A call that fails returns a
 * documented errno and has changed nothing; the next one works.
 *
 * Only calls into the module, and its loading: how the kernel's own drivers
 * handle a failure is not tested.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "module.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define DEBUGFS "/sys/kernel/debug"
#define MOST 500	/* upper bound of failure points in one call */

FIXTURE(fault) {
	struct genl genl;	/* reads the module, without injected faults */
	struct genl other;	/* whose requests fail */
	struct session session;
	int slot;
	int fd;
	void *page;
	int nth;		/* fail-nth of this thread */
	int chances;		/* of the last call, which had to fail */
};

typedef FIXTURE_DATA(fault) fault;

static int nth_open(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth", syscall(SYS_gettid));
	return open(path, O_RDWR | O_CLOEXEC);
}

/* The nth failure point will fail. */
static void arm(int fd, int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(fd, text, n, 0) != n)
		abort();
}

/*
 * Number of points that remained, 0 if it failed; disables further failures.
 * Reading it is a copy itself, and may also fail.
 */
static int disarm(int fd)
{
	char text[16] = "";
	int left = pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 1;
	int tries;

	for (tries = 0; tries < 3; tries++)
		if (pwrite(fd, "0", 1, 0) == 1)
			return left;
	abort();
}

static void put_debugfs(const char *directory, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUGFS "/%s/%s", directory, file);
	file_put(path, text);
}

/* Allocations that may sleep fail as well, and without a warning. */
static void let_all_fail(void)
{
	static const char * const directories[] = {
		"failslab", "fail_page_alloc", "fail_usercopy",
	};
	size_t i;

	for (i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		put_debugfs(directories[i], "verbose", "0");
		put_debugfs(directories[i], "ignore-gfp-wait", "0");
		put_debugfs(directories[i], "ignore-gfp-highmem", "0");
		put_debugfs(directories[i], "min-order", "0");
		put_debugfs(directories[i], "cache-filter", "0");
	}
}

FIXTURE_SETUP(fault)
{
	self->nth = nth_open();
	ASSERT_GE(self->nth, 0);
	let_all_fail();
	governor_save();
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_EQ(0, genl_open(&self->genl));
	ASSERT_EQ(0, genl_open(&self->other));
	ASSERT_EQ(0, session_open(&self->session));
}

FIXTURE_TEARDOWN(fault)
{
	session_close(&self->session);
	genl_close(&self->other);
	genl_close(&self->genl);
	close(self->nth);
	governor_restore();
}

/* State that a failed call must not change. */
struct state {
	uint32_t sessions, slots, recorders;
	char cap[16];
	char governor[32];
};

static struct state read_state(fault *f)
{
	struct state s;

	memset(&s, 0xff, sizeof(s));
	genl_info(&f->genl, GCHINT_A_SESSIONS, &s.sessions);
	genl_info(&f->genl, GCHINT_A_SLOTS, &s.slots);
	genl_info(&f->genl, GCHINT_A_RECORDERS, &s.recorders);
	memset(s.cap, 0, sizeof(s.cap));
	tunable_get(0, "cap_pct", s.cap, sizeof(s.cap));
	memset(s.governor, 0, sizeof(s.governor));
	policy_get(0, "scaling_governor", s.governor, sizeof(s.governor));
	return s;
}

/**
 * struct outcome - result of a call whose failure points failed one by one
 * @chances: number of failure points
 * @failed: how many of them it reported; it tolerated the others
 * @odd: undocumented errno of the last such failure, or 0
 * @changed: failures that changed state
 * @clean: the last call, without a failure, passed
 */
struct outcome {
	int chances, failed, odd, changed;
	bool clean;
};

static bool among(int error, const int *errors)
{
	for (; *errors; errors++)
		if (*errors == error)
			return true;
	return false;
}

/* @undo: after a success; both return at once what they did to @f */
static struct outcome each_fails(fault *f, int (*call)(fault *f), void (*undo)(fault *f),
				 const int *errors)
{
	struct outcome o = { 0 };
	int nth;

	for (nth = 1; nth <= MOST; nth++) {
		struct state before = read_state(f), after;
		bool taken;
		int ret;

		arm(f->nth, nth);
		ret = call(f);
		taken = !disarm(f->nth);
		after = read_state(f);
		if (ret >= 0 && undo)
			undo(f);
		if (!taken) {
			o.clean = ret >= 0;
			return o;
		}
		o.chances++;
		if (ret >= 0)
			continue;
		o.failed++;
		if (!among(-ret, errors))
			o.odd = -ret;
		if (memcmp(&before, &after, sizeof(before)))
			o.changed++;
	}
	return o;
}

#define EACH_FAILS(call, undo, ...) do {				\
	struct outcome o_ = each_fails(self, call, undo,		\
				       (const int[]){ __VA_ARGS__, 0 });\
	TH_LOG("%s: %d chances, %d failures", #call, o_.chances, o_.failed); \
	self->chances = o_.chances;					\
	EXPECT_GT(o_.chances, 0);					\
	EXPECT_GT(o_.failed, 0);					\
	EXPECT_EQ(0, o_.odd);						\
	EXPECT_EQ(0, o_.changed);					\
	EXPECT_TRUE(o_.clean);						\
} while (0)

/* -- The device -- */

static int call_open(fault *f)
{
	f->fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	return f->fd < 0 ? -errno : 0;
}

static void undo_open(fault *f)
{
	close(f->fd);
}

TEST_F_TIMEOUT(fault, open, 120)
{
	/* The path is copied as well. */
	EACH_FAILS(call_open, undo_open, ENOMEM, EFAULT);
}

static int call_attach(fault *f)
{
	f->slot = session_attach(&f->session, 0, GCHINT_ROLE_NONE, 0);
	return f->slot;
}

static void undo_attach(fault *f)
{
	session_detach(&f->session, f->slot);
}

TEST_F_TIMEOUT(fault, attach, 120)
{
	EACH_FAILS(call_attach, undo_attach, ENOMEM, EFAULT);
}

static int call_role(fault *f)
{
	return session_role(&f->session, f->slot, GCHINT_ROLE_STW, 0);
}

TEST_F_TIMEOUT(fault, set_role, 120)
{
	ASSERT_GE(call_attach(self), 0);
	EACH_FAILS(call_role, NULL, ENOMEM, EFAULT);
}

static int call_map_slots(fault *f)
{
	f->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f->session.fd,
		       GCHINT_MMAP_SLOTS);
	return f->page == MAP_FAILED ? -errno : 0;
}

static void undo_map(fault *f)
{
	munmap(f->page, 4096);
}

TEST_F_TIMEOUT(fault, map, 120)
{
	EACH_FAILS(call_map_slots, undo_map, ENOMEM);
}

static int call_read(fault *f)
{
	uint64_t generation;

	return read(f->session.fd, &generation, 8) == 8 ? 0 : -errno;
}

TEST_F_TIMEOUT(fault, read, 120)
{
	EACH_FAILS(call_read, NULL, EFAULT);
}

/* -- Tunables -- */

static int call_tunable(fault *f)
{
	return tunable_put(0, "cap_pct", "77");
}

static void undo_tunable(fault *f)
{
	tunable_put(0, "cap_pct", "50");
}

TEST_F_TIMEOUT(fault, tunable, 120)
{
	EACH_FAILS(call_tunable, undo_tunable, ENOMEM, EFAULT);
}

/*
 * -- Netlink --
 *
 * A failure may also be the socket's, which has no memory; a lost answer
 * appears to the caller as a timeout.
 */
#define NETLINK_MAY ENOMEM, ENOBUFS, EFAULT, EMSGSIZE, ETIMEDOUT

static int call_info(fault *f)
{
	return genl_request(&f->other, GCHINT_CMD_INFO_GET, 0, NULL, 0);
}

static int call_policy(fault *f)
{
	char attr[16];

	return genl_request(&f->other, GCHINT_CMD_POLICY_GET, 0, attr,
			    genl_put_u32(attr, GCHINT_A_CPU, 0));
}

/* A new socket each time: one that lost its acknowledgement is unusable. */
static int anew(fault *f)
{
	int ret;

	genl_close(&f->other);
	ret = genl_open(&f->other);
	f->other.wait_ms = 300;
	return ret;
}

#define EACH_REQUEST_FAILS(call) do {					\
	int nth_, ret_ = 0, odd_ = 0, failed_ = 0;			\
	bool taken_ = true;						\
	for (nth_ = 1; nth_ <= MOST && taken_; nth_++) {		\
		uint32_t left_ = ~0u;					\
		ASSERT_EQ(0, anew(self));				\
		arm(self->nth, nth_);					\
		ret_ = call(self);					\
		taken_ = !disarm(self->nth);				\
		failed_ += ret_ < 0;					\
		if (ret_ < 0 && !among(-ret_, (const int[]){ NETLINK_MAY, 0 })) \
			odd_ = -ret_;					\
		/* The result ends with its socket. */	\
		genl_close(&self->other);				\
		genl_info(&self->genl, GCHINT_A_RECORDERS, &left_);	\
		EXPECT_EQ(0, left_);					\
	}								\
	ASSERT_EQ(0, genl_open(&self->other));				\
	TH_LOG("%s: %d chances, %d failures", #call, nth_ - 2, failed_); \
	EXPECT_GT(failed_, 0);						\
	EXPECT_EQ(0, odd_);						\
	EXPECT_EQ(0, ret_);						\
	EXPECT_FALSE(taken_);						\
} while (0)

static int call_record(fault *f)
{
	return genl_record(&f->other, 1u << GCHINT_PHASE_MARK);
}

static int call_dump(fault *f)
{
	return genl_request(&f->other, GCHINT_CMD_SESSION_GET, 0x300, NULL, 0);
}

TEST_F_TIMEOUT(fault, netlink, 240)
{
	EACH_REQUEST_FAILS(call_info);
	EACH_REQUEST_FAILS(call_policy);
	EACH_REQUEST_FAILS(call_record);
	EACH_REQUEST_FAILS(call_dump);
}

/*
 * -- The governor --
 *
 * When a policy cannot be governed by the new one the core falls back to the
 * old one: the policy always has a governor.
 */

/*
 * Of the slabs those that the board marks with slub_debug=A, which our
 * allocations come from, and as many pages as a policy takes. Not what ACPI
 * needs: a failure while _PSS is evaluated makes Linux 6.1's interpreter use
 * freed memory.
 */
static void fail_ours_only(bool on)
{
	put_debugfs("failslab", "cache-filter", on ? "1" : "0");
	put_debugfs("fail_page_alloc", "min-order", on ? "2" : "0");
}

static int call_govern(fault *f)
{
	return policy_put(0, "scaling_governor", "gchint");
}

static void undo_govern(fault *f)
{
	policy_put(0, "scaling_governor", "performance");
}

static int call_leave(fault *f)
{
	return policy_put(0, "scaling_governor", "performance");
}

static void undo_leave(fault *f)
{
	policy_put(0, "scaling_governor", "gchint");
}

/* It governs: a new limit arrives in the hardware. */
static bool governs(const char *name)
{
	char text[32], max[16], hw_max[16];
	long khz[MAX_OPPS];
	bool moved;

	if (policy_get(0, "scaling_governor", text, sizeof(text)) < 0 || strcmp(text, name) ||
	    opps(0, khz, MAX_OPPS) < 2)
		return false;
	policy_get(0, "cpuinfo_max_freq", hw_max, sizeof(hw_max));
	snprintf(max, sizeof(max), "%ld", khz[0]);
	if (policy_put(0, "scaling_max_freq", max))
		return false;
	moved = await_khz(0, khz[0], khz[0], 2000) >= 0;
	return !policy_put(0, "scaling_max_freq", hw_max) && moved;
}

TEST_F_TIMEOUT(fault, governor, 240)
{
	/*
	 * Nor any other governor: the first policy creates the tunables as
	 * well.
	 */
	ASSERT_EQ(0, governor_all("performance"));
	fail_ours_only(true);
	EACH_FAILS(call_govern, undo_govern, ENOMEM, EFAULT, EINVAL);
	/* The write itself has few: the board has marked the slabs. */
	EXPECT_GT(self->chances, 10);
	EXPECT_TRUE(governs("performance"));
	EXPECT_EQ(0, policy_put(0, "scaling_governor", "gchint"));
	EACH_FAILS(call_leave, undo_leave, ENOMEM, EFAULT, EINVAL);
	EXPECT_TRUE(governs("gchint"));
	fail_ours_only(false);
}

/* -- The module: its own allocations are the last ones of insmod -- */

#define LAST 160
#define MANY 100000

/* Opens the device whenever it exists, if only briefly; not while disabled. */
static void opener(volatile int *none)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		fd = *none ? -1 : open(DEVICE, O_RDWR | O_CLOEXEC);
		if (fd >= 0) {
			usleep(2000);
			close(fd);
		} else {
			usleep(50);
		}
	}
}

/* A process that has the device open when it is removed exits soon. */
static int unload_soon(volatile int *none)
{
	int ret, i;

	*none = 1;
	for (i = 0; i < 200; i++) {
		ret = module_unload();
		if (ret != -EWOULDBLOCK)
			break;
		usleep(5000);
	}
	*none = 0;
	return ret;
}

TEST_F_TIMEOUT(fault, module, 600)
{
	int all, nth, ret, failed = 0, left;
	volatile int *none;
	pid_t other;

	session_close(&self->session);
	genl_close(&self->other);
	genl_close(&self->genl);
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, module_unload());
	arm(self->nth, MANY);
	ret = module_load();
	all = MANY - disarm(self->nth);
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, module_unload());
	/*
	 * A file opened meanwhile pins the module: its start must not fail
	 * afterwards.
	 */
	none = mmap(NULL, sizeof(*none), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)none);
	other = fork();
	if (!other)
		opener(none);
	ASSERT_LT(0, other);
	for (nth = all > LAST ? all - LAST : 1; nth <= all; nth++) {
		arm(self->nth, nth);
		ret = module_load();
		left = disarm(self->nth);
		if (!ret) {
			EXPECT_EQ(0, unload_soon(none));
			continue;
		}
		failed++;
		EXPECT_EQ(0, left);
		EXPECT_EQ(-ENOMEM, ret)
			TH_LOG("%d at the %d. of %d", ret, nth, all);
		EXPECT_NE(0, access(DEVICE, F_OK));
		EXPECT_NE(0, access(DEBUGFS "/gchint", F_OK));
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	TH_LOG("insmod: %d chances, the last %d taken, %d failures", all, nth - (all - LAST), failed);
	EXPECT_GT(failed, 0);
	EXPECT_EQ(0, module_load());
	EXPECT_EQ(0, session_open(&self->session));
	EXPECT_EQ(0, genl_open(&self->genl));
	EXPECT_EQ(0, genl_open(&self->other));
}

int main(int argc, char **argv)
{
	int fd = nth_open();

	if (fd < 0)
		ksft_exit_skip("this kernel injects no faults\n");
	close(fd);
	return test_harness_run(argc, argv);
}
