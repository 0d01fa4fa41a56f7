// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * More CPUs and policies than the information page holds: each CPU has an entry
 * in the mapping GCHINT_MMAP_CPUS, and a hint on the last of them reaches the
 * hardware there.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/netlink.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "hw.h"
#include "registers.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define SOON_MS 20000

FIXTURE(many) {
	struct session session;
	const volatile struct gchint_info_cpu *cpu;
	size_t size;
	int nr, last;
};

FIXTURE_SETUP(many)
{
	self->session.fd = -1;
	ASSERT_NE(NULL, hw_open());
	self->nr = sysconf(_SC_NPROCESSORS_ONLN);
	self->last = self->nr - 1;
	ASSERT_LT(GCHINT_INFO_POLICIES, self->nr);
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_EQ(0, session_open(&self->session));
	ASSERT_TRUE(self->session.info->features & GCHINT_FEATURE_CPUS);
	ASSERT_LE(self->nr, (int)self->session.info->nr_cpus);
	ASSERT_EQ(sizeof(*self->cpu), self->session.info->cpu_size);
	self->size = self->session.info->nr_cpus * sizeof(*self->cpu);
	self->cpu = mmap(NULL, self->size, PROT_READ, MAP_SHARED,
			 self->session.fd, GCHINT_MMAP_CPUS);
	ASSERT_NE(MAP_FAILED, (void *)self->cpu);
}

FIXTURE_TEARDOWN(many)
{
	munmap((void *)self->cpu, self->size);
	session_close(&self->session);
	use_put(-1, "off");
}

TEST_F(many, each_cpu_has_an_entry)
{
	const volatile struct gchint_info *info = self->session.info;
	int cpu;

	EXPECT_EQ(GCHINT_INFO_POLICIES, (int)info->nr_policies);
	EXPECT_EQ(GCHINT_INFO_UNLISTED, info->cpu_policy[self->last]);
	for (cpu = 0; cpu < self->nr; cpu++) {
		const volatile struct gchint_info_policy *p = &self->cpu[cpu].policy;

		EXPECT_EQ(GCHINT_POLICY_PRESENT, p->flags);
		EXPECT_EQ(2100000, (int)p->hw_max_khz);
		EXPECT_EQ(cpu, (int)self->cpu[cpu].policy_cpu);
		EXPECT_STREQ("powersave", (const char *)p->governor);
	}
}

/*
 * Beyond the last entry of the page, too: a change wakes waiters and appears
 * there.
 */
TEST_F(many, change_appears_at_its_cpu)
{
	struct pollfd ready = { .fd = self->session.fd, .events = POLLIN };
	uint64_t generation;
	int cpu;

	EXPECT_EQ(0, poll(&ready, 1, 0));
	ASSERT_EQ(0, policy_put(self->last, "scaling_max_freq", "1500000"));
	EXPECT_EQ(1, poll(&ready, 1, SOON_MS));
	EXPECT_EQ(8, read(self->session.fd, &generation, 8));
	for (cpu = 0; cpu < self->nr; cpu++)
		EXPECT_EQ(cpu == self->last ? 1500000 : 2100000,
			  (int)self->cpu[cpu].policy.max_khz);
	ASSERT_EQ(0, policy_put(self->last, "scaling_max_freq", "2100000"));
}

TEST_F(many, hint_on_the_last_cpu_reaches_its_register)
{
	uint64_t generation;
	long long end;
	int cpu, slot;

	ASSERT_EQ(0, use_put(self->last, "limits"));
	ASSERT_EQ(0, tunable_put(self->last, "mode", "table"));
	ASSERT_EQ(0, tunable_put(self->last, "cap_pct", "50"));
	ASSERT_EQ(0, tunable_put(self->last, "min_latencies", "0"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	EXPECT_EQ(8, read(self->session.fd, &generation, 8));
	for (cpu = 0; cpu < self->nr; cpu++)
		EXPECT_EQ(cpu == self->last,
			  !!(self->cpu[cpu].policy.flags & GCHINT_POLICY_GCHINT));
	ASSERT_EQ(0, bind_cpu(self->last));
	slot = session_attach(&self->session, 0, 0, 0);
	ASSERT_LE(0, slot);
	EXPECT_EQ(140, registers_word(self->last, REGISTER_MAX));
	session_store(&self->session, slot, GCHINT_PHASE_MARK,
		      GCHINT_F_CONCURRENT);
	ASSERT_EQ(0, session_ring(&self->session, slot));
	/* A sleeping thread would make no requests. */
	end = now_us() + SOON_MS * 1000LL;
	while (registers_word(self->last, REGISTER_MAX) != 70 && now_us() < end)
		;
	EXPECT_EQ(70, registers_word(self->last, REGISTER_MAX));
	EXPECT_EQ(140, registers_word(0, REGISTER_MAX));
	session_store(&self->session, slot, GCHINT_PHASE_NONE, 0);
	ASSERT_EQ(0, session_ring(&self->session, slot));
	EXPECT_EQ(140, registers_await(self->last, REGISTER_MAX, 140, SOON_MS));
}

/* The policies of a message, each by its first CPU. */
static void note_policies(const struct genl *g, char *seen, int nr)
{
	const char *attrs = g->attrs;
	size_t left = g->attrs_len;

	while (left >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)attrs;
		size_t size = NLA_ALIGN(attr->nla_len);
		const uint32_t *cpu = genl_find(attrs + NLA_HDRLEN,
						attr->nla_len - NLA_HDRLEN,
						GCHINT_POLICY_A_CPU, NULL);

		if ((attr->nla_type & NLA_TYPE_MASK) == GCHINT_A_POLICY && cpu &&
		    (int)*cpu < nr)
			seen[*cpu] = 1;
		if (size >= left)
			break;
		attrs += size;
		left -= size;
	}
}

/* One message is too small for them. */
TEST_F(many, samples_have_all_policies)
{
	long long end = now_us() + SOON_MS * 1000LL;
	struct genl listener;
	char seen[1024] = "";
	uint32_t abi;
	int cpu, count;

	ASSERT_GT((int)sizeof(seen), self->nr);
	ASSERT_EQ(0, use_put(-1, "limits"));
	ASSERT_EQ(0, genl_open(&listener));
	ASSERT_EQ(0, genl_listen(&listener, listener.sampling));
	ASSERT_EQ(0, genl_info(&listener, GCHINT_A_ABI, &abi));
	do {
		ASSERT_EQ(0, genl_next(&listener, SOON_MS));
		note_policies(&listener, seen, self->nr);
		for (cpu = 0, count = 0; cpu < self->nr; cpu++)
			count += seen[cpu];
	} while (count < self->nr && now_us() < end);
	EXPECT_EQ(self->nr, count);
	genl_close(&listener);
}

TEST_HARNESS_MAIN
