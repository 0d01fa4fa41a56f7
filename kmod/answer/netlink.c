// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests, and the two ways out: events as the ring fills, samples as time
 * goes by. The family lives in the initial network namespace: what it tells is
 * about the whole machine.
 */
#include <linux/cpufreq.h>
#include <linux/netlink.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "act/actuator.h"
#include "act/policy.h"
#include "compat/genl.h"
#include "encode.h"
#include "follow/probe.h"
#include "follow/thread.h"
#include "intake/session.h"
#include "netlink.h"
#include "power.h"
#include "recorder.h"
#include "tell/event.h"

/* Period of samples: ten a second draw a graph, and hardly wake anything. */
#define SAMPLE_MS 100
/* How often to see whether somebody has begun to listen to samples. */
#define LISTEN_MS 1000
/* A session with a bank of slots leased, with room to spare. */
#define SESSION_DUMP_BYTES 16384

enum { GROUP_EVENT, GROUP_SAMPLING };

static const struct genl_multicast_group groups[] = {
	[GROUP_EVENT] = { .name = GCHINT_GENL_EVENT, GCHINT_MCAST_FLAGS },
	[GROUP_SAMPLING] = { .name = GCHINT_GENL_SAMPLING, GCHINT_MCAST_FLAGS },
};

static struct genl_family family;
static bool registered;

/* -- Samples: when -- */

static void sample_work_fn(struct work_struct *work);
/* An ordinary timer: the CPU that holds it may idle while others are busy. */
static DECLARE_DELAYED_WORK(sample_work, sample_work_fn);

static bool sampling_wanted(void)
{
	return READ_ONCE(registered) &&
	       genl_has_listeners(&family, &init_net, GROUP_SAMPLING);
}

static void begin_sampling(void)
{
	if (sampling_wanted())
		queue_delayed_work(system_unbound_wq, &sample_work, 0);
}

/* -- Requests -- */

static int put_info(struct sk_buff *skb)
{
	return nla_put_u32(skb, GCHINT_A_ABI, GCHINT_ABI) ||
	       nla_put_u32(skb, GCHINT_A_SESSIONS, gchint_session_count()) ||
	       nla_put_u32(skb, GCHINT_A_SLOTS, gchint_thread_count()) ||
	       nla_put_u64_64bit(skb, GCHINT_A_LOST, gchint_ring_lost(),
				 GCHINT_A_PAD) ||
	       nla_put_u32(skb, GCHINT_A_RECORDERS, gchint_recorder_count());
}

/* @put appends what is in the answer, and its negative errno is returned. */
static int send_reply(struct genl_info *info, u8 cmd,
		      int (*put)(struct sk_buff *skb, void *priv), void *priv)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *head;
	int ret;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &family, 0, cmd);
	if (!head) {
		ret = -EMSGSIZE;
		goto free_skb;
	}
	ret = put(skb, priv);
	if (ret)
		goto free_skb;
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);

free_skb:
	nlmsg_free(skb);
	return ret;
}

static int put_info_reply(struct sk_buff *skb, void *priv)
{
	return put_info(skb) ? -EMSGSIZE : 0;
}

static int info_get(struct sk_buff *skb, struct genl_info *info)
{
	begin_sampling();
	return send_reply(info, GCHINT_CMD_INFO_GET, put_info_reply, NULL);
}

struct policy_walk {
	struct sk_buff *skb;
	unsigned int cpu;
	bool state;
	bool found;
};

static int put_policy_of(struct gchint_policy *policy, void *priv)
{
	struct policy_walk *walk = priv;

	if (!policy->started ||
	    !cpumask_test_cpu(walk->cpu, policy->policy->related_cpus))
		return 0;
	walk->found = true;
	return gchint_encode_policy(walk->skb, policy, true, walk->state) ?: 1;
}

static int put_policy_reply(struct sk_buff *skb, void *priv)
{
	struct policy_walk *walk = priv;
	int ret;

	walk->skb = skb;
	ret = gchint_actuator_each(put_policy_of, walk);
	if (ret < 0)
		return ret;
	return walk->found ? 0 : -ENODEV;
}

static int policy_get(struct sk_buff *skb, struct genl_info *info)
{
	struct policy_walk walk = { .state = netlink_capable(skb, CAP_NET_ADMIN) };
	int ret;

	if (!info->attrs[GCHINT_A_CPU]) {
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_CPU is missing");
		return -EINVAL;
	}
	walk.cpu = nla_get_u32(info->attrs[GCHINT_A_CPU]);
	if (walk.cpu >= nr_cpu_ids || !cpu_possible(walk.cpu)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[GCHINT_A_CPU],
				    "no such CPU");
		return -EINVAL;
	}
	ret = send_reply(info, GCHINT_CMD_POLICY_GET, put_policy_reply, &walk);
	if (ret == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[GCHINT_A_CPU],
				    "the policy of this CPU is not under gchint");
	return ret;
}

/* Position of a dump: entries done before, entries seen this time. */
struct dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	unsigned int seen;
};

static void *dump_head(struct dump *dump, u8 cmd)
{
	return genlmsg_put(dump->skb, NETLINK_CB(dump->cb->skb).portid,
			   dump->cb->nlh->nlmsg_seq, &family, NLM_F_MULTI, cmd);
}

static int dump_end(struct dump *dump, void *head, int ret)
{
	if (ret) {
		genlmsg_cancel(dump->skb, head);
		return ret;
	}
	genlmsg_end(dump->skb, head);
	dump->cb->args[0]++;
	return 0;
}

static int dump_policy(struct gchint_policy *policy, void *priv)
{
	struct dump *dump = priv;
	void *head;

	if (!policy->started || dump->seen++ < dump->cb->args[0])
		return 0;
	head = dump_head(dump, GCHINT_CMD_POLICY_GET);
	if (!head)
		return -EMSGSIZE;
	return dump_end(dump, head,
			gchint_encode_policy(dump->skb, policy, true,
					     netlink_capable(dump->cb->skb,
							     CAP_NET_ADMIN)));
}

static int dump_session(struct gchint_session *session, void *priv)
{
	struct dump *dump = priv;
	long *done = dump->cb->args;
	void *head;

	/*
	 * They are in the order of their numbers: go on after the last. Of the one
	 * after that @done[1] banks are told.
	 */
	if (session->id <= done[0])
		return 0;
	while (done[1] * GCHINT_SLOTS < gchint_session_slots(session)) {
		head = dump_head(dump, GCHINT_CMD_SESSION_GET);
		if (!head)
			return -EMSGSIZE;
		if (dump_end(dump, head, gchint_encode_session(dump->skb, session,
							       done[1])))
			return -EMSGSIZE;
		done[1]++;
	}
	done[0] = session->id;
	done[1] = 0;
	return 0;
}

static int policy_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump dump = { .skb = skb, .cb = cb };

	/* Said here because not every kernel lets @start say why. */
	if (gchint_dump_attrs(cb)[GCHINT_A_CPU]) {
		NL_SET_ERR_MSG(cb->extack, "a dump takes no GCHINT_A_CPU");
		return -EINVAL;
	}
	gchint_actuator_each(dump_policy, &dump);
	return skb->len;
}

static int session_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = SESSION_DUMP_BYTES;
	return 0;
}

static int session_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump dump = { .skb = skb, .cb = cb };

	gchint_session_each(dump_session, &dump);
	return skb->len;
}

static int record_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *record = info->attrs[GCHINT_A_RECORD];
	int ret;

	if (!record) {
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_RECORD is missing");
		return -EINVAL;
	}
	ret = gchint_recorder_set(info->snd_portid, nla_get_u32(record),
				  info->extack);
	if (ret)
		return ret;
	/* Edges are seen from the moment that the answer is there. */
	ret = gchint_probe_need();
	if (ret)
		gchint_recorder_set(info->snd_portid, 0, info->extack);
	else
		begin_sampling();
	return ret;
}

static const struct nla_policy policy_get_policy[GCHINT_A_CPU + 1] = {
	[GCHINT_A_CPU] = { .type = NLA_U32 },
};

static const struct nla_policy record_set_policy[GCHINT_A_RECORD + 1] = {
	[GCHINT_A_RECORD] = NLA_POLICY_MASK(NLA_U32,
					    GENMASK(GCHINT_PHASE_NR - 1, 0)),
};

/* One without a policy takes no attributes at all. */
static const struct genl_ops ops[] = {
	{
		.cmd = GCHINT_CMD_INFO_GET,
		.doit = info_get,
	},
	{
		.cmd = GCHINT_CMD_POLICY_GET,
		.doit = policy_get,
		.dumpit = policy_dump,
		.policy = policy_get_policy,
		.maxattr = ARRAY_SIZE(policy_get_policy) - 1,
	},
	{
		.cmd = GCHINT_CMD_SESSION_GET,
		.start = session_dump_start,
		.dumpit = session_dump,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = GCHINT_CMD_RECORD_SET,
		.doit = record_set,
		.policy = record_set_policy,
		.maxattr = ARRAY_SIZE(record_set_policy) - 1,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = GCHINT_CMD_OPPS_SET,
		.doit = gchint_power_set,
		.policy = gchint_power_set_policy,
		.maxattr = ARRAY_SIZE(gchint_power_set_policy) - 1,
		.flags = GENL_ADMIN_PERM,
	},
};

static struct genl_family family = {
	.name = GCHINT_GENL_NAME,
	.version = GCHINT_GENL_VERSION,
	.module = THIS_MODULE,
	/* Own locks: a request may wait for the CPU hotplug lock. */
	.parallel_ops = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

/* -- Events -- */

static bool listens(void)
{
	return READ_ONCE(registered) &&
	       genl_has_listeners(&family, &init_net, GROUP_EVENT);
}

/* Number of the next event that leaves. */
static u64 next_seq;

static struct sk_buff *event_message(void **head)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*head = genlmsg_put(skb, 0, 0, &family, 0, GCHINT_CMD_EVENT);
	if (*head && !nla_put_u64_64bit(skb, GCHINT_A_SEQ, next_seq,
					GCHINT_A_PAD))
		return skb;
	nlmsg_free(skb);
	return NULL;
}

static void send(struct sk_buff *skb, void *head, unsigned int group)
{
	genlmsg_end(skb, head);
	/* -ESRCH: nobody listens any more. Full sockets know themselves. */
	genlmsg_multicast(&family, skb, 0, group, GFP_KERNEL);
}

/*
 * Each event takes a number even if there is no memory to send it, so that a
 * listener sees the gap.
 */
static void drain(void)
{
	struct gchint_record record;
	struct sk_buff *skb = NULL;
	void *head;

	while (gchint_ring_get(&record)) {
		if (skb && gchint_encode_event(skb, &record)) {
			send(skb, head, GROUP_EVENT);
			skb = NULL;
		} else if (skb) {
			next_seq++;
			continue;
		}
		skb = event_message(&head);
		if (skb && gchint_encode_event(skb, &record)) {
			nlmsg_free(skb);
			skb = NULL;
		}
		next_seq++;
	}
	if (skb)
		send(skb, head, GROUP_EVENT);
}

static const struct gchint_ring_reader reader = {
	.listens = listens,
	.drain = drain,
};

/* -- Samples -- */

static int sample_policy(struct gchint_policy *policy, void *priv)
{
	return policy->started ? gchint_encode_policy(priv, policy, false,
						      true) : 0;
}

static void sample(void)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE * 4, GFP_KERNEL);
	void *head;

	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &family, 0, GCHINT_CMD_SAMPLE);
	if (head && !gchint_actuator_each(sample_policy, skb))
		send(skb, head, GROUP_SAMPLING);
	else
		nlmsg_free(skb);
}

static void sample_work_fn(struct work_struct *work)
{
	if (!sampling_wanted())
		return;
	sample();
	queue_delayed_work(system_unbound_wq, &sample_work,
			   msecs_to_jiffies(SAMPLE_MS));
}

static void listen_work_fn(struct work_struct *work);
/* Deferrable: while nobody listens, no idle CPU is woken to find that out. */
static DECLARE_DEFERRABLE_WORK(listen_work, listen_work_fn);

static void listen_work_fn(struct work_struct *work)
{
	begin_sampling();
	queue_delayed_work(system_unbound_wq, &listen_work,
			   msecs_to_jiffies(LISTEN_MS));
}

/* -- Life -- */

int gchint_netlink_init(void)
{
	int ret;

	ret = genl_register_family(&family);
	if (ret)
		return ret;
	ret = gchint_recorder_init();
	if (ret)
		goto unregister_family;
	WRITE_ONCE(registered, true);
	gchint_ring_read(&reader);
	queue_delayed_work(system_unbound_wq, &listen_work, 0);
	return 0;

unregister_family:
	genl_unregister_family(&family);
	return ret;
}

void gchint_netlink_exit(void)
{
	WRITE_ONCE(registered, false);
	gchint_ring_read(NULL);
	/* Those who saw it set are in sections with interrupts off. */
	synchronize_rcu();
	cancel_delayed_work_sync(&listen_work);
	/* No sample is on its way when the family gives up its groups; */
	cancel_delayed_work_sync(&sample_work);
	genl_unregister_family(&family);
	/* one that a last request began finds @registered unset. */
	cancel_delayed_work_sync(&sample_work);
	/* No request can add one any more. */
	gchint_recorder_exit();
}
