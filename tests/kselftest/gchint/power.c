// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Measured power of a policy: accepted as a whole and reported back, or refused
 * as a whole with the faulty attribute, and no change of state.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/netlink.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "sysfs.h"

FIXTURE(power) {
	struct genl genl;
	char out[4096] __attribute__((aligned(8)));
	size_t len;
};

#define START() (self->len = 0)
#define PUT(type, data, size) \
	(self->len += genl_put(self->out + self->len, type, data, size))
#define PUT_U32(type, value) \
	(self->len += genl_put_u32(self->out + self->len, type, value))

/* The request in self->out is refused with a text. */
#define REFUSED(error) do {						\
	EXPECT_EQ(-(error), genl_request(&self->genl, GCHINT_CMD_OPPS_SET, \
					 0, self->out, self->len));	\
	EXPECT_STRNE("", self->genl.message);				\
} while (0)

/* The powers of policy 0, ascending: a milliwatt more for each OPP. */
struct powers {
	int nr;
	struct {
		uint32_t khz, power;
	} opp[MAX_OPPS + 1];
	int64_t idle;			/* negative: omitted */
};

static struct powers valid_powers(void)
{
	struct powers g = { .idle = 5000 };
	long khz[MAX_OPPS];
	int i;

	g.nr = opps(0, khz, MAX_OPPS);
	for (i = 0; i < g.nr; i++) {
		g.opp[i].khz = khz[i];
		g.opp[i].power = 1000 * (i + 1);
	}
	return g;
}

static size_t put_powers(char *to, const struct powers *g)
{
	char nest[3072] __attribute__((aligned(8)));
	size_t len = 0, used;
	int i;

	for (i = 0; i < g->nr; i++) {
		char opp[32] __attribute__((aligned(8)));
		size_t n = genl_put_u32(opp, GCHINT_OPP_A_KHZ, g->opp[i].khz);

		n += genl_put_u32(opp + n, GCHINT_OPP_A_POWER, g->opp[i].power);
		len += genl_put(nest + len, GCHINT_OPPS_A_OPP | NLA_F_NESTED, opp, n);
	}
	if (g->idle >= 0)
		len += genl_put_u32(nest + len, GCHINT_OPPS_A_IDLE, g->idle);
	used = genl_put_u32(to, GCHINT_A_CPU, 0);
	return used + genl_put(to + used, GCHINT_A_OPPS | NLA_F_NESTED, nest, len);
}

static int set_powers(struct genl *g, const struct powers *powers)
{
	char out[4096] __attribute__((aligned(8)));

	return genl_request(g, GCHINT_CMD_OPPS_SET, 0, out, put_powers(out, powers));
}

/* Back to the kernel's values. */
static int forget(struct genl *g)
{
	const struct powers none = { .idle = -1 };

	return set_powers(g, &none);
}

/*
 * The reported powers of policy 0: number of OPPs, -errno; without measurement
 * @idle is -2.
 */
static int read_powers(struct genl *g, struct powers *to)
{
	char out[16] __attribute__((aligned(8)));
	const char *policy, *nest;
	const uint32_t *value;
	size_t len, left;
	int ret;

	memset(to, 0, sizeof(*to));
	ret = genl_request(g, GCHINT_CMD_POLICY_GET, 0, out,
			   genl_put_u32(out, GCHINT_A_CPU, 0));
	if (ret)
		return ret;
	policy = genl_find(g->attrs, g->attrs_len, GCHINT_A_POLICY, &len);
	if (!policy)
		return -ENOENT;
	nest = genl_find(policy, len, GCHINT_POLICY_A_OPPS, &left);
	if (!nest)
		return -ENOENT;
	to->idle = genl_find(policy, len, GCHINT_POLICY_A_MEASURED, NULL) ? -1 : -2;
	value = genl_find(nest, left, GCHINT_OPPS_A_IDLE, NULL);
	if (value)
		to->idle = *value;
	while (left >= NLA_HDRLEN && to->nr < MAX_OPPS) {
		const struct nlattr *attr = (const void *)nest;
		size_t size = NLA_ALIGN(attr->nla_len);
		size_t in = attr->nla_len - NLA_HDRLEN;

		if ((attr->nla_type & NLA_TYPE_MASK) == GCHINT_OPPS_A_OPP) {
			value = genl_find(nest + NLA_HDRLEN, in, GCHINT_OPP_A_KHZ, NULL);
			to->opp[to->nr].khz = value ? *value : 0;
			value = genl_find(nest + NLA_HDRLEN, in, GCHINT_OPP_A_POWER, NULL);
			to->opp[to->nr++].power = value ? *value : 0;
		}
		if (size >= left)
			break;
		nest += size;
		left -= size;
	}
	return to->nr;
}

/* debugfs shows the source of policy 0's power. */
static void source(char *to, size_t size)
{
	char line[256];
	const char *at;

	to[0] = '\0';
	if (file_get("/sys/kernel/debug/gchint/opps", line, sizeof(line)) <= 0)
		return;
	at = strstr(line, "source=");
	if (at)
		snprintf(to, size, "%.*s", (int)strcspn(at + 7, " "), at + 7);
}

FIXTURE_SETUP(power)
{
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, genl_open(&self->genl));
}

FIXTURE_TEARDOWN(power)
{
	forget(&self->genl);
	genl_close(&self->genl);
	governor_restore();
}

/* Accepted while the policy is under gchint, and before; reported unchanged. */
TEST_F(power, valid_powers_are_accepted)
{
	struct powers g = valid_powers(), back;
	char before[32], now[32];
	int i, round;

	ASSERT_GE(g.nr, 2);
	ASSERT_EQ(0, governor_all("gchint"));
	source(before, sizeof(before));
	EXPECT_STRNE("measured", before);
	for (round = 0; round < 2; round++) {
		if (round)
			ASSERT_EQ(0, governor_all("performance"));
		ASSERT_EQ(0, set_powers(&self->genl, &g))
			TH_LOG("%s", self->genl.message);
		if (round)
			ASSERT_EQ(0, governor_all("gchint"));
		source(now, sizeof(now));
		EXPECT_STREQ("measured", now);
		ASSERT_EQ(g.nr, read_powers(&self->genl, &back));
		EXPECT_EQ(5000, back.idle);
		for (i = 0; i < g.nr; i++) {
			EXPECT_EQ(g.opp[i].khz, back.opp[i].khz);
			EXPECT_EQ(g.opp[i].power, back.opp[i].power);
		}
		/*
		 * Without idle power, and with other values, for the next time.
		 */
		g.idle = -1;
		for (i = 0; i < g.nr; i++)
			g.opp[i].power += 7;
		ASSERT_EQ(0, set_powers(&self->genl, &g));
		ASSERT_EQ(g.nr, read_powers(&self->genl, &back));
		EXPECT_EQ(-1, back.idle);
		EXPECT_EQ(g.opp[0].power, back.opp[0].power);
		g.idle = 5000;
		ASSERT_EQ(0, forget(&self->genl));
		source(now, sizeof(now));
		EXPECT_STREQ(before, now);
		ASSERT_LE(0, read_powers(&self->genl, &back));
		EXPECT_EQ(-2, back.idle);
	}
}

/* EINVAL with this text, and the earlier values stay. */
#define NONSENSE(g, word) do {						\
	struct powers back_;						\
	EXPECT_EQ(-EINVAL, set_powers(&self->genl, &(g)));			\
	EXPECT_NE(NULL, strstr(self->genl.message, word))		\
		TH_LOG("said: %s", self->genl.message);			\
	ASSERT_EQ(right.nr, read_powers(&self->genl, &back_));			\
	EXPECT_EQ(right.idle, back_.idle);				\
	EXPECT_EQ(0, memcmp(right.opp, back_.opp,			\
			    right.nr * sizeof(right.opp[0])));		\
} while (0)

/* Each differs from the values in force, which must not change either. */
TEST_F(power, invalid_powers_change_nothing)
{
	struct powers right = valid_powers(), g;
	int last = right.nr - 1;

	ASSERT_GE(right.nr, 2);
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_EQ(0, set_powers(&self->genl, &right));
	g = right;
	g.idle = 77;
	g.opp[last].power = 0;
	NONSENSE(g, "GCHINT_OPP_A_POWER: not 1 uW");
	g.opp[last].power = 1000000001;
	NONSENSE(g, "GCHINT_OPP_A_POWER: not 1 uW");
	g.opp[last].power = g.opp[last - 1].power - 1;
	NONSENSE(g, "GCHINT_OPP_A_POWER: less");
	g = right;
	g.opp[0].power = 999;
	g.opp[last].khz++;
	NONSENSE(g, "GCHINT_OPP_A_KHZ: the policy has no such");
	g = right;
	g.opp[0].khz--;
	NONSENSE(g, "GCHINT_OPP_A_KHZ: the policy has no such");
	g = right;
	g.opp[0].power = 999;
	g.nr--;
	NONSENSE(g, "GCHINT_A_OPPS: the policy has more");
	g = right;
	g.opp[0] = g.opp[1];
	g.opp[0].power = 999;
	NONSENSE(g, "GCHINT_OPPS_A_OPP: the policy has an OPP before");
	g = right;
	g.opp[0].power = 999;
	g.opp[last] = g.opp[0];
	NONSENSE(g, "GCHINT_OPP_A_KHZ: not in ascending");
	g = right;
	g.idle = 1000000001;
	g.opp[0].power = 999;
	NONSENSE(g, "GCHINT_OPPS_A_IDLE: above");
	/* Idle power alone. */
	g.nr = 0;
	g.idle = 1;
	NONSENSE(g, "GCHINT_A_OPPS: the policy has more");
	EXPECT_EQ(0, forget(&self->genl));
}

TEST_F(power, malformed_powers_are_refused)
{
	struct powers right = valid_powers(), back;
	char opp[64] __attribute__((aligned(8))), nest[128] __attribute__((aligned(8)));
	size_t n;
	int i;

	START();
	REFUSED(EINVAL);
	PUT_U32(GCHINT_A_CPU, 0);
	REFUSED(EINVAL);
	EXPECT_EQ(-EOPNOTSUPP, genl_request(&self->genl, GCHINT_CMD_OPPS_SET,
					    NLM_F_DUMP, NULL, 0));
	START();
	PUT(GCHINT_A_OPPS | NLA_F_NESTED, NULL, 0);
	REFUSED(EINVAL);
	PUT_U32(GCHINT_A_CPU, 100000);
	REFUSED(EINVAL);
	/* An attribute of another command. */
	self->len = put_powers(self->out, &right);
	PUT_U32(GCHINT_A_RECORD, 1);
	REFUSED(EINVAL);
	/*
	 * Without power, without frequency, of another width, unknown, not a
	 * nest.
	 */
	for (i = 0; i < 5; i++) {
		n = i == 1 ? 0 : genl_put_u32(opp, GCHINT_OPP_A_KHZ, right.opp[0].khz);
		if (i == 2)
			n += genl_put(opp + n, GCHINT_OPP_A_POWER, "12345678", 8);
		else if (i)
			n += genl_put_u32(opp + n, GCHINT_OPP_A_POWER, 1000);
		if (i == 3)
			n += genl_put_u32(opp + n, GCHINT_OPP_A_MAX + 1, 1);
		n = genl_put(nest, GCHINT_OPPS_A_OPP | (i == 4 ? 0 : NLA_F_NESTED), opp, n);
		START();
		PUT_U32(GCHINT_A_CPU, 0);
		PUT(GCHINT_A_OPPS | NLA_F_NESTED, nest, n);
		EXPECT_GT(0, genl_request(&self->genl, GCHINT_CMD_OPPS_SET, 0,
					  self->out, self->len))
			TH_LOG("form %d", i);
		EXPECT_STRNE("", self->genl.message);
	}
	/* Idle power twice. */
	n = genl_put_u32(nest, GCHINT_OPPS_A_IDLE, 1);
	n += genl_put_u32(nest + n, GCHINT_OPPS_A_IDLE, 1);
	START();
	PUT_U32(GCHINT_A_CPU, 0);
	PUT(GCHINT_A_OPPS | NLA_F_NESTED, nest, n);
	REFUSED(EINVAL);
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_LE(0, read_powers(&self->genl, &back));
	EXPECT_EQ(-2, back.idle);
}

/* More OPPs than the maximum. */
TEST_F(power, too_many_powers_are_refused)
{
	char nest[3072] __attribute__((aligned(8))), opp[32] __attribute__((aligned(8)));
	struct powers back;
	size_t len = 0, n;
	int i;

	for (i = 0; i < 100; i++) {
		n = genl_put_u32(opp, GCHINT_OPP_A_KHZ, 1000 * (i + 1));
		n += genl_put_u32(opp + n, GCHINT_OPP_A_POWER, 1000 * (i + 1));
		len += genl_put(nest + len, GCHINT_OPPS_A_OPP | NLA_F_NESTED, opp, n);
	}
	START();
	PUT_U32(GCHINT_A_CPU, 0);
	PUT(GCHINT_A_OPPS | NLA_F_NESTED, nest, len);
	REFUSED(EINVAL);
	EXPECT_NE(NULL, strstr(self->genl.message, "too many"))
		TH_LOG("said: %s", self->genl.message);
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_LE(0, read_powers(&self->genl, &back));
	EXPECT_EQ(-2, back.idle);
}

TEST_HARNESS_MAIN
