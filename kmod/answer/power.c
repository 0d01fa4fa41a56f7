// SPDX-License-Identifier: GPL-2.0-only
/* GCHINT_CMD_OPPS_SET: from attributes to figures, and from a fault to words. */
#include <linux/cpufreq.h>
#include <linux/cpumask.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "act/actuator.h"
#include "policy/given.h"
#include "power.h"

static const struct nla_policy opp_policy[GCHINT_OPP_A_MAX + 1] = {
	[GCHINT_OPP_A_KHZ] = { .type = NLA_U32 },
	[GCHINT_OPP_A_POWER] = { .type = NLA_U32 },
};

static const struct nla_policy opps_policy[GCHINT_OPPS_A_MAX + 1] = {
	[GCHINT_OPPS_A_IDLE] = { .type = NLA_U32 },
	[GCHINT_OPPS_A_OPP] = NLA_POLICY_NESTED(opp_policy),
};

const struct nla_policy gchint_power_set_policy[GCHINT_A_OPPS + 1] = {
	[GCHINT_A_CPU] = { .type = NLA_U32 },
	[GCHINT_A_OPPS] = NLA_POLICY_NESTED(opps_policy),
};

/* The nest of the OPP with that index; the nest of all if there is none. */
static const struct nlattr *nest_of(const struct nlattr *opps, u32 index)
{
	const struct nlattr *attr;
	u32 nr = 0;
	int left;

	nla_for_each_nested(attr, opps, left)
		if (nla_type(attr) == GCHINT_OPPS_A_OPP && nr++ == index)
			return attr;
	return opps;
}

static void explain(struct netlink_ext_ack *extack, const struct nlattr *opps,
		    enum gchint_given_fault fault, u32 at)
{
	const struct nlattr *nest = nest_of(opps, at), *part;

	switch (fault) {
	case GCHINT_GIVEN_ORDER:
		part = nla_find_nested(nest, GCHINT_OPP_A_KHZ);
		NL_SET_ERR_MSG_ATTR(extack, part, "GCHINT_OPP_A_KHZ: not in ascending order");
		break;
	case GCHINT_GIVEN_ALIEN:
		part = nla_find_nested(nest, GCHINT_OPP_A_KHZ);
		NL_SET_ERR_MSG_ATTR(extack, part,
				    "GCHINT_OPP_A_KHZ: the policy has no such OPP");
		break;
	case GCHINT_GIVEN_LACKS:
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "GCHINT_OPPS_A_OPP: the policy has an OPP before this one");
		break;
	case GCHINT_GIVEN_SHORT:
		NL_SET_ERR_MSG_ATTR(extack, opps,
				    "GCHINT_A_OPPS: the policy has more OPPs");
		break;
	case GCHINT_GIVEN_POWER:
		part = nla_find_nested(nest, GCHINT_OPP_A_POWER);
		NL_SET_ERR_MSG_ATTR(extack, part,
				    "GCHINT_OPP_A_POWER: not 1 uW to 1 kW");
		break;
	case GCHINT_GIVEN_FALLS:
		part = nla_find_nested(nest, GCHINT_OPP_A_POWER);
		NL_SET_ERR_MSG_ATTR(extack, part,
				    "GCHINT_OPP_A_POWER: less than of the slower OPP");
		break;
	default:
		part = nla_find_nested(opps, GCHINT_OPPS_A_IDLE);
		NL_SET_ERR_MSG_ATTR(extack, part, "GCHINT_OPPS_A_IDLE: above 1 kW");
		break;
	}
}

static int parse_opp(struct gchint_given *given, const struct nlattr *attr,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[GCHINT_OPP_A_MAX + 1];
	int ret;

	if (given->nr == GCHINT_OPPS_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "GCHINT_OPPS_A_OPP: too many");
		return -EINVAL;
	}
	ret = nla_parse_nested(tb, GCHINT_OPP_A_MAX, attr, opp_policy, extack);
	if (ret)
		return ret;
	if (!tb[GCHINT_OPP_A_KHZ] || !tb[GCHINT_OPP_A_POWER]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "GCHINT_OPP_A_KHZ or GCHINT_OPP_A_POWER is missing");
		return -EINVAL;
	}
	given->opp[given->nr].khz = nla_get_u32(tb[GCHINT_OPP_A_KHZ]);
	given->opp[given->nr].power = nla_get_u32(tb[GCHINT_OPP_A_POWER]);
	given->nr++;
	return 0;
}

static int parse(struct gchint_given *given, const struct nlattr *opps,
		 struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int left, ret = 0;

	nla_for_each_nested(attr, opps, left) {
		if (nla_type(attr) == GCHINT_OPPS_A_OPP) {
			ret = parse_opp(given, attr, extack);
		} else if (given->idle_known) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "GCHINT_OPPS_A_IDLE: twice");
			ret = -EINVAL;
		} else {
			given->idle = nla_get_u32(attr);
			given->idle_known = true;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int give(unsigned int cpu, struct gchint_given *given, enum gchint_given_fault *fault,
		u32 *at)
{
	struct cpufreq_policy *p = cpufreq_cpu_get(cpu);
	int ret = -ENODEV;

	if (!p)
		return ret;
	/* Holds off the calls of cpufreq, and its driver's going. */
	down_read(&p->rwsem);
	if (!policy_is_inactive(p))
		ret = gchint_actuator_give(p, given, fault, at);
	up_read(&p->rwsem);
	cpufreq_cpu_put(p);
	return ret;
}

static int want_all(const struct genl_info *info)
{
	if (info->attrs[GCHINT_A_CPU] && info->attrs[GCHINT_A_OPPS])
		return 0;
	if (info->attrs[GCHINT_A_CPU])
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_OPPS is missing");
	else
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_CPU is missing");
	return -EINVAL;
}

/**
 * gchint_power_set - GCHINT_CMD_OPPS_SET
 * @skb: the request
 * @info: likewise, taken apart
 *
 * Return: 0 or a negative errno, explained in the acknowledgment.
 */
int gchint_power_set(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *opps = info->attrs[GCHINT_A_OPPS];
	enum gchint_given_fault fault = GCHINT_GIVEN_RIGHT;
	struct gchint_given *given = NULL;
	unsigned int cpu;
	u32 at = 0;
	int ret;

	ret = want_all(info);
	if (ret)
		return ret;
	cpu = nla_get_u32(info->attrs[GCHINT_A_CPU]);
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[GCHINT_A_CPU],
				    "no such CPU");
		return -EINVAL;
	}
	if (nla_len(opps)) {
		given = kzalloc(sizeof(*given), GFP_KERNEL);
		if (!given)
			return -ENOMEM;
		ret = parse(given, opps, info->extack);
	}
	if (!ret)
		ret = give(cpu, given, &fault, &at);
	if (!ret)
		return 0;
	if (fault)
		explain(info->extack, opps, fault, at);
	else if (ret == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[GCHINT_A_CPU],
				    "no cpufreq policy has this CPU");
	kfree(given);
	return ret;
}
