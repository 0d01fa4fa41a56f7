// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The module unloads only when it has no user, and then without a trace; it can
 * be loaded again any number of times. Leaves it loaded.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "module.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

static bool governor_known(void)
{
	char list[256];

	policy_get(0, "scaling_available_governors", list, sizeof(list));
	return strstr(list, "gchint");
}

/* Device, governor, debugfs, netlink: all present or none. */
#define EXPECT_PRESENT(yes) do {					\
	struct genl genl_;						\
	int found_ = genl_open(&genl_);					\
	if (!found_)							\
		genl_close(&genl_);					\
	EXPECT_EQ(yes, !found_);					\
	EXPECT_EQ(yes, !access(DEVICE, F_OK));				\
	EXPECT_EQ(yes, !access("/sys/kernel/debug/gchint", F_OK));	\
	EXPECT_EQ(yes, governor_known());				\
} while (0)

FIXTURE(unload) {
	struct session session;
};

FIXTURE_SETUP(unload)
{
	self->session.fd = -1;
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, access("/sys/module/" MODULE, F_OK));
}

FIXTURE_TEARDOWN(unload)
{
	session_close(&self->session);
	if (access("/sys/module/" MODULE, F_OK))
		module_load();
	governor_restore();
}

TEST_F(unload, refused_while_open)
{
	ASSERT_EQ(0, session_open(&self->session));
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_PRESENT(true);
	/* A mapping alone is use as well. */
	close(self->session.fd);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	munmap((void *)self->session.info, 4096);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	munmap((void *)self->session.slots, 4096);
	self->session.fd = -1;
	EXPECT_EQ(0, module_unload());
	EXPECT_PRESENT(false);
	EXPECT_EQ(0, module_load());
	EXPECT_PRESENT(true);
}

TEST_F(unload, refused_while_governing)
{
	ASSERT_EQ(0, policy_put(0, "scaling_governor", "gchint"));
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_PRESENT(true);
	ASSERT_EQ(0, policy_put(0, "scaling_governor", "performance"));
	EXPECT_EQ(0, module_unload());
	EXPECT_PRESENT(false);
	EXPECT_EQ(0, module_load());
}

#define LEASES 64
#define RESERVED (LEASES / 4)

/* Leases until that fails: their number; the error in @ret. */
static int lease_all(struct session *s, struct worker *worker, int *ret)
{
	int n;

	for (n = 0; n < LEASES; n++) {
		if (worker_start_blocked(&worker[n], 0))
			return -1;
		*ret = session_attach(s, worker[n].tid, 0, 0);
		if (*ret < 0)
			break;
	}
	return n;
}

/* All leases that unprivileged users may have. Waits until @go is closed. */
static int as_nobody(int ready, int go)
{
	static struct worker worker[LEASES];
	struct session s;
	int n, ret;
	char byte;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534) ||
	    session_open(&s))
		return 1;
	n = lease_all(&s, worker, &ret);
	if (n != LEASES - RESERVED || ret != -EUSERS)
		return 2;
	/* A released one can be leased again. */
	if (session_detach(&s, 0) || session_attach(&s, worker[n].tid, 0, 0) != 0)
		return 3;
	if (write(ready, "", 1) != 1 || read(go, &byte, 1))
		return 4;
	return 0;
}

/* Their total is bounded, and cannot keep out a privileged user. */
TEST_F(unload, leases_of_all_users)
{
	static struct worker worker[LEASES];
	int ready[2], go[2], i, n, ret = 0, status;
	char byte;
	pid_t child;

	ASSERT_EQ(0, module_unload());
	EXPECT_EQ(-EINVAL, module_load_with("leases=63"));
	EXPECT_EQ(-EINVAL, module_load_with("leases=65537"));
	ASSERT_EQ(0, module_load_with("leases=64"));
	EXPECT_NE(0, parameter_put("leases", "128"));
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		close(go[1]);
		_exit(as_nobody(ready[1], go[0]));
	}
	close(go[0]);
	close(ready[1]);
	EXPECT_EQ(1, read(ready[0], &byte, 1));
	ASSERT_EQ(0, session_open(&self->session));
	n = lease_all(&self->session, worker, &ret);
	EXPECT_EQ(RESERVED, n);
	EXPECT_EQ(-EUSERS, ret);
	for (i = 0; i <= n; i++)
		worker_stop(&worker[i]);
	close(go[1]);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	/* Then all leases of the machine are available. */
	session_close(&self->session);
	ASSERT_EQ(0, session_open(&self->session));
	n = lease_all(&self->session, worker, &ret);
	EXPECT_EQ(LEASES, n);
	for (i = 0; i < n; i++)
		worker_stop(&worker[i]);
	session_close(&self->session);
	ASSERT_EQ(0, module_unload());
	ASSERT_EQ(0, module_load());
}

/* Five times, or twice where that takes long already. */
static bool again(int i, time_t begin)
{
	return i < 5 && (i < 2 || time(NULL) - begin < 20);
}

/* Right after its last user was killed in mid-phase, while it hints. */
TEST_F_TIMEOUT(unload, after_a_kill, 240)
{
	int i, status, ret, tries;
	time_t begin = time(NULL);
	pid_t child;

	for (i = 0; again(i, begin); i++) {
		int ready[2];
		char byte;

		ASSERT_EQ(0, pipe(ready));
		ASSERT_EQ(0, governor_all("gchint"));
		child = fork();
		ASSERT_GE(child, 0);
		if (!child) {
			struct session s;
			int slot;

			if (session_open(&s))
				_exit(1);
			slot = session_attach(&s, 0, GCHINT_ROLE_NONE, 0);
			if (slot < 0)
				_exit(2);
			session_edge(&s, slot, GCHINT_PHASE_MARK,
				     GCHINT_F_CONCURRENT);
			if (write(ready[1], "", 1) != 1)
				_exit(3);
			for (;;) {
				session_edge(&s, slot, GCHINT_PHASE_REMARK,
					     GCHINT_F_STW);
				session_edge(&s, slot, GCHINT_PHASE_MARK,
					     GCHINT_F_CONCURRENT);
			}
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		close(ready[0]);
		sleep_us(20000);
		kill(child, SIGKILL);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_EQ(0, governor_all("performance"));
		/* The last reference may still be dropped. */
		for (tries = 0, ret = module_unload(); ret && tries < 200; tries++) {
			sleep_us(10000);
			ret = module_unload();
		}
		ASSERT_EQ(0, ret);
		EXPECT_PRESENT(false);
		ASSERT_EQ(0, module_load());
	}
}

TEST_F_TIMEOUT(unload, repeatedly, 240)
{
	time_t begin = time(NULL);
	int i;

	for (i = 0; again(i, begin); i++) {
		ASSERT_EQ(0, module_unload());
		ASSERT_EQ(0, module_load());
		ASSERT_EQ(0, governor_all("gchint"));
		ASSERT_EQ(0, session_open(&self->session));
		ASSERT_GE(session_attach(&self->session, 0, 0, 0), 0);
		session_close(&self->session);
		ASSERT_EQ(0, governor_all("performance"));
	}
	EXPECT_PRESENT(true);
}

/* A daemon that listens and records does not pin the module. */
TEST_F_TIMEOUT(unload, recorder_does_not_pin_the_module, 120)
{
	struct genl genl;

	ASSERT_EQ(0, genl_open(&genl));
	ASSERT_EQ(0, genl_record(&genl, 1u << GCHINT_PHASE_MARK));
	ASSERT_EQ(0, genl_listen(&genl, genl.event));
	EXPECT_EQ(0, module_unload());
	EXPECT_PRESENT(false);
	genl_close(&genl);
	EXPECT_EQ(0, module_load());
}

/* A policy without CPU 0, all of whose CPUs can be stopped; their number. */
static int sleeper(int *cpus, int *policy)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES);
	char list[256], path[64], *p, *end;
	int nr;

	while (n--) {
		policy_get(number[n], "related_cpus", list, sizeof(list));
		for (nr = 0, p = list; nr < MAX_OPPS; nr++, p = end) {
			cpus[nr] = strtol(p, &end, 10);
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
				 cpus[nr]);
			if (end == p || !cpus[nr] || access(path, W_OK))
				break;
		}
		*policy = number[n];
		if (nr && end == p)
			return nr;
	}
	return 0;
}

static int plug_all(const int *cpus, int n, bool online)
{
	int err = 0;

	while (n-- && !err)
		err = cpu_plug(cpus[n], online);
	return err;
}

TEST_F_TIMEOUT(unload, policy_offline_at_load_is_governed, 120)
{
	int cpus[MAX_OPPS], policy, n = sleeper(cpus, &policy);
	char name[16];

	if (!n)
		SKIP(return, "every policy has a CPU that cannot be stopped");
	ASSERT_EQ(0, module_unload());
	ASSERT_EQ(0, plug_all(cpus, n, false));
	EXPECT_EQ(0, module_load());
	EXPECT_EQ(-ENOENT, use_get(policy, name, sizeof(name)));
	/* What is chosen for all applies to a policy that appears later. */
	EXPECT_EQ(0, use_put(-1, "limits"));
	EXPECT_EQ(0, plug_all(cpus, n, true));
	EXPECT_EQ(0, use_await(policy, "limits", 10000));
	EXPECT_EQ(0, use_put(policy, "off"));
	EXPECT_EQ(0, use_put(-1, "off"));
}

TEST_F_TIMEOUT(unload, actuator_waits_for_an_offline_policy, 120)
{
	int cpus[MAX_OPPS], policy, tries, n = sleeper(cpus, &policy);
	uint32_t value = 0;
	char name[16];

	if (!n)
		SKIP(return, "every policy has a CPU that cannot be stopped");
	ASSERT_EQ(0, policy_put(policy, "scaling_governor", "gchint"));
	ASSERT_EQ(0, plug_all(cpus, n, false));
	EXPECT_EQ(0, use_put(policy, "limits"));
	EXPECT_LT(0, use_get(policy, name, sizeof(name)));
	EXPECT_STREQ("limits", name);
	/*
	 * Its governor is back before it, and the policy is not lost for that.
	 */
	EXPECT_EQ(0, plug_all(cpus, n, true));
	EXPECT_EQ(0, use_await(policy, "governor", 10000));
	/*
	 * Else it would be in force if the governor left before it was refused.
	 */
	EXPECT_EQ(0, use_put(policy, "off"));
	ASSERT_EQ(0, policy_put(policy, "scaling_governor", "performance"));
	EXPECT_EQ(0, use_await(policy, "off", 10000));

	ASSERT_EQ(0, plug_all(cpus, n, false));
	EXPECT_EQ(0, use_put(policy, "limits"));
	EXPECT_EQ(0, plug_all(cpus, n, true));
	/* The chosen value is readable at once, also before it is in force. */
	for (tries = 0; tries < 1000; tries++) {
		if (!use_attribute(cpus[0], GCHINT_POLICY_A_ACTUATOR, &value))
			break;
		sleep_us(10000);
	}
	EXPECT_EQ(GCHINT_ACTUATOR_LIMITS, value);
	EXPECT_EQ(0, use_put(policy, "off"));
}

/* A driver that is a module, removed and loaded as an administrator would. */
#define DRIVER "acpi-cpufreq"

static bool driver_is_module(void)
{
	return !access("/sys/module/acpi_cpufreq/initstate", F_OK);
}

static int limits_await(const int *policy, int n)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = use_await(policy[i], "limits", 10000);
	return ret;
}

/* What is chosen for all applies to policies whose driver is loaded later. */
TEST_F_TIMEOUT(unload, driver_that_loads_later_is_attached, 240)
{
	int policy[MAX_POLICIES], n = policies(policy, MAX_POLICIES), round;
	char name[16];

	if (!driver_is_module())
		SKIP(return, "no driver of cpufreq that is a module");
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, use_put(-1, "limits"));
		ASSERT_EQ(0, system("modprobe -r " DRIVER));
		EXPECT_EQ(-ENODEV, use_get(policy[0], name, sizeof(name)));
		ASSERT_EQ(0, system("modprobe " DRIVER));
		EXPECT_EQ(0, limits_await(policy, n));
		EXPECT_EQ(0, use_put(-1, "off"));
	}
	/* The module before any driver. */
	ASSERT_EQ(0, module_unload());
	ASSERT_EQ(0, system("modprobe -r " DRIVER));
	EXPECT_EQ(0, module_load());
	EXPECT_EQ(0, use_put(-1, "limits"));
	ASSERT_EQ(0, system("modprobe " DRIVER));
	EXPECT_EQ(0, limits_await(policy, n));
	EXPECT_EQ(0, use_put(-1, "off"));
}

TEST_HARNESS_MAIN
