// SPDX-License-Identifier: GPL-2.0-only
/*
 * The family: requests, multicast of events as the ring fills, and periodic
 * samples. It lives in the initial network namespace, because all that it
 * reports is about the whole machine.
 */
#include <linux/cpufreq.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "clock.h"
#include "compat/genl.h"
#include "compat/workqueue.h"
#include "cpufreq/actuator.h"
#include "cpufreq/energy.h"
#include "cpufreq/policy.h"
#include "cpufreq/tunable_set.h"
#include "event/event.h"
#include "interface.h"
#include "model/measured.h"
#include "session/session.h"
#include "session/user.h"
#include "task/probe.h"
#include "task/thread.h"

/* Ten samples a second suffice for a graph and cost few wake-ups. */
#define SAMPLE_MS 100
/* Polling interval for listeners of the sampling group. */
#define LISTEN_MS 1000
/* Enough for a session with all slots of a block leased. */
#define SESSION_DUMP_BYTES 16384
/* Sockets that may record at the same time. */
#define RECORDERS_MAX 64

enum { GROUP_EVENT, GROUP_SAMPLING };

static const struct genl_multicast_group family_groups[] = {
	[GROUP_EVENT] = { .name = GCHINT_GENL_EVENT, GCHINT_MCAST_FLAGS },
	[GROUP_SAMPLING] = { .name = GCHINT_GENL_SAMPLING, GCHINT_MCAST_FLAGS },
};

static struct genl_family gchint_family;
static bool family_registered;

static bool family_has_listeners(unsigned int group)
{
	return READ_ONCE(family_registered) &&
	       genl_has_listeners(&gchint_family, &init_net, group);
}

static void family_multicast(struct sk_buff *skb, void *head,
			     unsigned int group)
{
	genlmsg_end(skb, head);
	/* -ESRCH: no listener is left. A full socket gets its own error. */
	genlmsg_multicast(&gchint_family, skb, 0, group, GFP_KERNEL);
}

/* -- Recorders: sockets that record both edges of phases on every CPU -- */

struct recorder {
	struct list_head node;
	u32 portid;
	u32 phases;
};

/* Serialises the list, and gchint_event_set_netlink_phases() with the union of phases. */
static DEFINE_MUTEX(recorders_lock);
static LIST_HEAD(recorders);
static unsigned int recorders_nr;

static struct recorder *recorder_find(u32 portid)
{
	struct recorder *recorder;

	list_for_each_entry(recorder, &recorders, node)
		if (recorder->portid == portid)
			return recorder;
	return NULL;
}

static void recorder_remove(struct recorder *recorder)
{
	list_del(&recorder->node);
	WRITE_ONCE(recorders_nr, recorders_nr - 1);
	kfree(recorder);
}

static void recorders_update_phases(void)
{
	struct recorder *recorder;
	u32 phases = 0;

	list_for_each_entry(recorder, &recorders, node)
		phases |= recorder->phases;
	gchint_event_set_netlink_phases(phases);
}

/*
 * Bit n of @phases is phase n; with 0 the socket records no more. If an error
 * is returned, -EUSERS or -ENOMEM, nothing has changed.
 */
static int recorder_set(u32 portid, u32 phases, struct netlink_ext_ack *extack)
{
	struct recorder *recorder;
	int ret = 0;

	mutex_lock(&recorders_lock);
	recorder = recorder_find(portid);
	if (!phases) {
		if (recorder)
			recorder_remove(recorder);
		goto update;
	}
	if (!recorder) {
		if (recorders_nr == RECORDERS_MAX) {
			NL_SET_ERR_MSG(extack, "too many sockets record already");
			ret = -EUSERS;
			goto unlock;
		}
		recorder = kzalloc(sizeof(*recorder), GFP_KERNEL_ACCOUNT);
		if (!recorder) {
			ret = -ENOMEM;
			goto unlock;
		}
		recorder->portid = portid;
		list_add(&recorder->node, &recorders);
		WRITE_ONCE(recorders_nr, recorders_nr + 1);
	}
	recorder->phases = phases;
update:
	recorders_update_phases();
unlock:
	mutex_unlock(&recorders_lock);
	return ret;
}

/* A recorder's socket may be closed, or its process killed, at any time. */
static int recorder_socket_event(struct notifier_block *nb,
				 unsigned long event, void *data)
{
	struct netlink_notify *notify = data;
	struct recorder *recorder;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    !net_eq(notify->net, &init_net) || !READ_ONCE(recorders_nr))
		return NOTIFY_DONE;

	mutex_lock(&recorders_lock);
	recorder = recorder_find(notify->portid);
	if (recorder) {
		recorder_remove(recorder);
		recorders_update_phases();
	}
	mutex_unlock(&recorders_lock);
	return NOTIFY_DONE;
}

static struct notifier_block recorder_socket_nb = {
	.notifier_call = recorder_socket_event,
};

/* -- Attributes: an encode function appends one whole nest or nothing -- */

/* Complete a nest, or remove what there is of it if the message is full. */
static int nest_finish(struct sk_buff *skb, struct nlattr *nest, bool full)
{
	if (full) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int event_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, GCHINT_EVENT_A_PAD);
}

static int event_put_thread(struct sk_buff *skb, const struct gchint_event_data *r)
{
	return nla_put_s32(skb, GCHINT_EVENT_A_TGID, r->tgid) ||
	       nla_put_s32(skb, GCHINT_EVENT_A_TID, r->tid) ||
	       event_put_u64(skb, GCHINT_EVENT_A_SESSION, r->session) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_SLOT, r->slot);
}

static int event_put_phase(struct sk_buff *skb, const struct gchint_event_data *r)
{
	return event_put_thread(skb, r) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_PHASE, r->phase.phase) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_FLAGS, r->phase.flags) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_CAUSE, r->phase.cause) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_PHASE_SEQ, r->phase.seq) ||
	       event_put_u64(skb, GCHINT_EVENT_A_WORK_DONE,
			     r->phase.work_done) ||
	       event_put_u64(skb, GCHINT_EVENT_A_WORK_TOTAL,
			     r->phase.work_total) ||
	       event_put_u64(skb, GCHINT_EVENT_A_STALL_NS, r->phase.stall_ns);
}

static int event_put_decision(struct sk_buff *skb,
			      const struct gchint_event_data *r)
{
	/* A decision without a hint has no thread; latency 0 is unknown. */
	return (r->session &&
		(event_put_thread(skb, r) ||
		 nla_put_u32(skb, GCHINT_EVENT_A_PHASE, r->decision.phase) ||
		 nla_put_u32(skb, GCHINT_EVENT_A_FLAGS, r->decision.flags))) ||
	       (r->decision.latency &&
		event_put_u64(skb, GCHINT_EVENT_A_LATENCY,
			      r->decision.latency)) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_POLICY, r->decision.policy) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_KHZ_FROM,
			   r->decision.khz_from) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_KHZ, r->decision.khz) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_REASON, r->decision.reason) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_LOAD, r->decision.load);
}

static int event_put_lease(struct sk_buff *skb, const struct gchint_event_data *r)
{
	return event_put_thread(skb, r) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_ROLE, r->lease.role) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_LEASE, r->lease.what);
}

static int (*const event_put_type[])(struct sk_buff *skb,
				     const struct gchint_event_data *r) = {
	[GCHINT_EVENT_PHASE] = event_put_phase,
	[GCHINT_EVENT_DECISION] = event_put_decision,
	[GCHINT_EVENT_LEASE] = event_put_lease,
};

static int event_encode(struct sk_buff *skb, const struct gchint_event_data *r)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_A_EVENT);

	return nest_finish(skb, nest, !nest ||
			   nla_put_u32(skb, GCHINT_EVENT_A_TYPE, r->type) ||
			   event_put_u64(skb, GCHINT_EVENT_A_TIME, r->time) ||
			   nla_put_u32(skb, GCHINT_EVENT_A_CPU, r->cpu) ||
			   event_put_type[r->type](skb, r));
}

/*
 * As bytes: does not depend on the machine's byte order or word size. A CPU may
 * come or go after the length was taken.
 */
static int policy_put_cpus(struct sk_buff *skb, const struct cpumask *cpus)
{
	unsigned int cpu, len = cpumask_last(cpus) / 8 + 1;
	struct nlattr *attr = nla_reserve(skb, GCHINT_POLICY_A_CPUS, len);
	u8 *bytes;

	if (!attr)
		return -EMSGSIZE;
	bytes = nla_data(attr);
	memset(bytes, 0, len);
	for_each_cpu(cpu, cpus)
		if (cpu / 8 < len)
			bytes[cpu / 8] |= BIT(cpu % 8);
	return 0;
}

static int policy_put_opp(struct sk_buff *skb,
			  const struct gchint_policy *policy,
			  const struct gchint_opp *opp)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_OPPS_A_OPP);

	return nest_finish(skb, nest, !nest ||
			   nla_put_u32(skb, GCHINT_OPP_A_KHZ, opp->khz) ||
			   (opp->power && policy->energy->microwatts &&
			    nla_put_u32(skb, GCHINT_OPP_A_POWER, opp->power)));
}

/* In the form that GCHINT_CMD_OPPS_SET takes. */
static int policy_put_opps(struct sk_buff *skb,
			   const struct gchint_policy *policy)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_POLICY_A_OPPS);
	u32 i, idle;
	bool full;

	full = !nest || (policy->energy->measured &&
			 gchint_energy_idle_power(policy->policy, &idle) &&
			 nla_put_u32(skb, GCHINT_OPPS_A_IDLE, idle));
	for (i = 0; i < policy->opps.nr && !full; i++)
		full = policy_put_opp(skb, policy, &policy->opps.opp[i]);
	return nest_finish(skb, nest, full);
}

/* This part goes to every reader: sysfs shows all of it to every user, too. */
static int policy_put_config(struct sk_buff *skb, struct gchint_policy *policy)
{
	u32 min_khz, max_khz;
	unsigned long flags;

	raw_spin_lock_irqsave(&policy->lock, flags);
	min_khz = policy->rules.min_khz;
	max_khz = policy->rules.max_khz;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	return nla_put_u32(skb, GCHINT_POLICY_A_CPU,
			   cpumask_first(policy->policy->related_cpus)) ||
	       policy_put_cpus(skb, policy->policy->cpus) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_MODE,
			   READ_ONCE(policy->set->tunables.mode)) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_ACTUATOR, policy->act->id) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_CAN,
			   policy->act->can & ~GCHINT_CAN_LOAD) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_MIN_KHZ, min_khz) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_MAX_KHZ, max_khz) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_HW_MAX_KHZ,
			   policy->opps.ref_khz) ||
	       (policy->policy->fast_switch_enabled &&
		nla_put_flag(skb, GCHINT_POLICY_A_FAST)) ||
	       nla_put_u64_64bit(skb, GCHINT_POLICY_A_TIME, gchint_now(),
				 GCHINT_POLICY_A_PAD) ||
	       (policy->energy->measured &&
		nla_put_flag(skb, GCHINT_POLICY_A_MEASURED));
}

/* What the policy does now: it reveals something of the programs that run. */
static int policy_put_state(struct sk_buff *skb, struct gchint_policy *policy)
{
	struct gchint_bounds bounds;
	u32 khz, reason, load = 0;
	unsigned long flags;
	unsigned int cpu, i;
	u64 switches = 0;

	raw_spin_lock_irqsave(&policy->lock, flags);
	gchint_policy_read_khz(policy, gchint_now());
	khz = policy->khz;
	bounds = policy->state.bounds;
	reason = policy->last.reason;
	for_each_cpu(cpu, policy->policy->cpus)
		load = max(load, per_cpu(gchint_cpus.demand.load, cpu));
	for (i = 0; i < GCHINT_REASON_NR; i++)
		switches += policy->stats->switches[i];
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	/* A bound of 0 is none: only the actuator limits sets any. */
	return (bounds.cap_khz &&
		nla_put_u32(skb, GCHINT_POLICY_A_CAP_KHZ, bounds.cap_khz)) ||
	       (bounds.floor_khz &&
		nla_put_u32(skb, GCHINT_POLICY_A_FLOOR_KHZ,
			    bounds.floor_khz)) ||
	       (khz && nla_put_u32(skb, GCHINT_POLICY_A_CUR_KHZ, khz)) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_REASON, reason) ||
	       (gchint_policy_is_governed(policy) &&
		nla_put_u32(skb, GCHINT_POLICY_A_LOAD, load)) ||
	       nla_put_u64_64bit(skb, GCHINT_POLICY_A_TRANSITIONS, switches,
				 GCHINT_POLICY_A_PAD);
}

/* @state is set for privileged readers only: see policy_put_state(). */
static int policy_encode(struct sk_buff *skb, struct gchint_policy *policy,
			 bool opps, bool state)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_A_POLICY);

	return nest_finish(skb, nest, !nest ||
			   policy_put_config(skb, policy) ||
			   (state && policy_put_state(skb, policy)) ||
			   (opps && policy_put_opps(skb, policy)));
}

static int session_put_slot(struct sk_buff *skb, struct gchint_thread *thread)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_SESSION_A_SLOT);
	u32 role = READ_ONCE(thread->role), lead = gchint_thread_lead(thread);

	return nest_finish(skb, nest, !nest ||
			   nla_put_u32(skb, GCHINT_SLOT_A_SLOT, thread->slot) ||
			   nla_put_s32(skb, GCHINT_SLOT_A_TID, thread->tid) ||
			   nla_put_u32(skb, GCHINT_SLOT_A_ROLE, role) ||
			   (lead != GCHINT_NO_LEAD &&
			    nla_put_u32(skb, GCHINT_SLOT_A_LEAD, lead)) ||
			   nla_put_u32(skb, GCHINT_SLOT_A_PHASE,
				       gchint_thread_phase(thread)) ||
			   nla_put_u32(skb, GCHINT_SLOT_A_FLAGS,
				       gchint_thread_flags(thread)) ||
			   (gchint_thread_stale(thread) &&
			    nla_put_flag(skb, GCHINT_SLOT_A_STALE)));
}

static int session_put_slots(struct sk_buff *skb,
			     const struct gchint_slot_block *block)
{
	struct gchint_thread *thread;
	unsigned int i;
	int ret = 0;

	rcu_read_lock();
	for (i = 0; i < GCHINT_SLOTS && !ret; i++) {
		thread = rcu_dereference(block->leases[i]);
		if (thread)
			ret = session_put_slot(skb, thread);
	}
	rcu_read_unlock();
	return ret;
}

/* @block: index of the slot block, below gchint_session.nr_blocks. */
static int session_encode(struct sk_buff *skb, struct gchint_session *session,
			  unsigned int block)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_A_SESSION);

	return nest_finish(skb, nest, !nest ||
			   nla_put_u64_64bit(skb, GCHINT_SESSION_A_ID,
					     session->id,
					     GCHINT_SESSION_A_PAD) ||
			   nla_put_s32(skb, GCHINT_SESSION_A_TGID,
				       session->tgid_nr) ||
			   nla_put_u32(skb, GCHINT_SESSION_A_UID,
				       from_kuid(&init_user_ns,
						 session->uid)) ||
			   nla_put_u32(skb, GCHINT_SESSION_A_GRANTED,
				       session->granted) ||
			   session_put_slots(skb, session->blocks[block]));
}

/* -- Events -- */

static bool events_wanted(void)
{
	return family_has_listeners(GROUP_EVENT);
}

static u64 event_next_seq;

static struct sk_buff *event_message_new(void **head)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*head = genlmsg_put(skb, 0, 0, &gchint_family, 0, GCHINT_CMD_EVENT);
	if (*head && !nla_put_u64_64bit(skb, GCHINT_A_SEQ, event_next_seq,
					GCHINT_A_PAD))
		return skb;
	nlmsg_free(skb);
	return NULL;
}

/*
 * An event takes a number even if there is no memory to send it, so that a
 * listener sees the gap.
 */
static void events_drain(void)
{
	struct gchint_event_data record;
	struct sk_buff *skb = NULL;
	void *head;

	while (gchint_ring_get(&record)) {
		if (!skb || event_encode(skb, &record)) {
			if (skb)
				family_multicast(skb, head, GROUP_EVENT);
			skb = event_message_new(&head);
			if (skb && event_encode(skb, &record)) {
				nlmsg_free(skb);
				skb = NULL;
			}
		}
		event_next_seq++;
	}
	if (skb)
		family_multicast(skb, head, GROUP_EVENT);
}

static const struct gchint_ring_reader events_reader = {
	.listens = events_wanted,
	.drain = events_drain,
};

/* -- Samples -- */

struct sample {
	struct sk_buff *skb;
	unsigned int seen;
	unsigned int sent;
	unsigned int put;
};

static int sample_put_policy(struct gchint_policy *policy, void *priv)
{
	struct sample *sample = priv;
	int ret;

	if (!policy->started || sample->seen++ < sample->sent)
		return 0;
	ret = policy_encode(sample->skb, policy, false, true);
	if (!ret)
		sample->put++;
	return ret;
}

/* As many messages as it takes: some machines have hundreds of policies. */
static void sample_send(void)
{
	struct sample sample = { };
	void *head;
	int ret;

	do {
		sample.seen = 0;
		sample.put = 0;
		sample.skb = genlmsg_new(GENLMSG_DEFAULT_SIZE * 4, GFP_KERNEL);
		if (!sample.skb)
			return;
		head = genlmsg_put(sample.skb, 0, 0, &gchint_family, 0,
				   GCHINT_CMD_SAMPLE);
		ret = gchint_actuator_for_each(sample_put_policy, &sample);
		/* The first is sent even if it is empty: it says that none is left. */
		if (!head || (sample.sent && !sample.put)) {
			nlmsg_free(sample.skb);
			return;
		}
		family_multicast(sample.skb, head, GROUP_SAMPLING);
		sample.sent += sample.put;
	} while (ret == -EMSGSIZE && sample.put);
}

static void sample_work_fn(struct work_struct *work)
{
	if (!family_has_listeners(GROUP_SAMPLING))
		return;
	sample_send();
	queue_delayed_work(system_dfl_wq, to_delayed_work(work),
			   msecs_to_jiffies(SAMPLE_MS));
}

/* Not deferrable: samples must not depend on the timer's CPU being busy. */
static DECLARE_DELAYED_WORK(sample_work, sample_work_fn);

static void sampling_start(void)
{
	if (family_has_listeners(GROUP_SAMPLING))
		queue_delayed_work(system_dfl_wq, &sample_work, 0);
}

static void listen_work_fn(struct work_struct *work)
{
	sampling_start();
	queue_delayed_work(system_dfl_wq, to_delayed_work(work),
			   msecs_to_jiffies(LISTEN_MS));
}

/* Deferrable: no idle CPU is woken only to check for a listener. */
static DECLARE_DEFERRABLE_WORK(listen_work, listen_work_fn);

/* -- GCHINT_CMD_INFO_GET, GCHINT_CMD_POLICY_GET -- */

static int request_parse_cpu(const struct genl_info *info, unsigned int *cpu)
{
	const struct nlattr *attr = info->attrs[GCHINT_A_CPU];

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_CPU is missing");
		return -EINVAL;
	}
	*cpu = nla_get_u32(attr);
	if (*cpu >= nr_cpu_ids || !cpu_possible(*cpu)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such CPU");
		return -EINVAL;
	}
	return 0;
}

/* @put appends the attributes, or returns a negative errno for the request. */
static int reply_send(struct genl_info *info, u8 cmd,
		      int (*put)(struct sk_buff *skb, void *priv), void *priv)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *head;
	int ret;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &gchint_family, 0, cmd);
	ret = head ? put(skb, priv) : -EMSGSIZE;
	if (ret) {
		nlmsg_free(skb);
		return ret;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

/* What a user may know of the sessions: without CAP_NET_ADMIN its own. */
struct info_counts {
	kuid_t uid;
	u32 sessions;
	u32 slots;
};

static int info_count_session(struct gchint_session *session, void *priv)
{
	struct info_counts *counts = priv;

	if (uid_eq(session->uid, counts->uid)) {
		counts->sessions++;
		counts->slots += READ_ONCE(session->nr_leases);
	}
	return 0;
}

static int reply_put_info(struct sk_buff *skb, void *priv)
{
	const struct info_counts *counts = priv;

	if (nla_put_u32(skb, GCHINT_A_ABI, GCHINT_ABI) ||
	    nla_put_u32(skb, GCHINT_A_SESSIONS, counts->sessions) ||
	    nla_put_u32(skb, GCHINT_A_SLOTS, counts->slots) ||
	    nla_put_u64_64bit(skb, GCHINT_A_LOST, gchint_ring_lost(),
			      GCHINT_A_PAD) ||
	    nla_put_u32(skb, GCHINT_A_RECORDERS, READ_ONCE(recorders_nr)))
		return -EMSGSIZE;
	return 0;
}

static int info_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct info_counts counts = { .uid = NETLINK_CREDS(skb)->uid };

	if (netlink_capable(skb, CAP_NET_ADMIN)) {
		counts.sessions = gchint_session_count();
		counts.slots = gchint_thread_count();
	} else {
		gchint_session_for_each(info_count_session, &counts);
	}
	sampling_start();
	return reply_send(info, GCHINT_CMD_INFO_GET, reply_put_info, &counts);
}

struct policy_query {
	struct sk_buff *skb;
	unsigned int cpu;
	bool state;
};

/* Stops the walk, with 1 or a negative errno, at the policy of the CPU. */
static int policy_query_match(struct gchint_policy *policy, void *priv)
{
	struct policy_query *query = priv;

	if (!policy->started ||
	    !cpumask_test_cpu(query->cpu, policy->policy->related_cpus))
		return 0;
	return policy_encode(query->skb, policy, true, query->state) ?: 1;
}

static int reply_put_policy(struct sk_buff *skb, void *priv)
{
	struct policy_query *query = priv;
	int ret;

	query->skb = skb;
	ret = gchint_actuator_for_each(policy_query_match, query);
	return ret > 0 ? 0 : ret ?: -ENODEV;
}

static int policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct policy_query query;
	int ret;

	ret = request_parse_cpu(info, &query.cpu);
	if (ret)
		return ret;
	query.state = netlink_capable(skb, CAP_NET_ADMIN);
	ret = reply_send(info, GCHINT_CMD_POLICY_GET, reply_put_policy, &query);
	if (ret == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[GCHINT_A_CPU],
				    "the policy of this CPU is not under gchint");
	return ret;
}

/* -- Dumps: of GCHINT_CMD_POLICY_GET and GCHINT_CMD_SESSION_GET -- */

struct dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	unsigned int seen;
};

static void *dump_begin_entry(struct dump *dump, u8 cmd)
{
	return genlmsg_put(dump->skb, NETLINK_CB(dump->cb->skb).portid,
			   dump->cb->nlh->nlmsg_seq, &gchint_family,
			   NLM_F_MULTI, cmd);
}

static int dump_end_entry(struct dump *dump, void *head, int ret)
{
	if (ret) {
		genlmsg_cancel(dump->skb, head);
		return ret;
	}
	genlmsg_end(dump->skb, head);
	return 0;
}

/* cb->args[0] is the number of policies that earlier messages had. */
static int dump_put_policy(struct gchint_policy *policy, void *priv)
{
	struct dump *dump = priv;
	void *head;
	bool state;
	int ret;

	if (!policy->started || dump->seen++ < dump->cb->args[0])
		return 0;
	head = dump_begin_entry(dump, GCHINT_CMD_POLICY_GET);
	if (!head)
		return -EMSGSIZE;
	state = netlink_capable(dump->cb->skb, CAP_NET_ADMIN);
	ret = dump_end_entry(dump, head,
			     policy_encode(dump->skb, policy, true, state));
	if (!ret)
		dump->cb->args[0]++;
	return ret;
}

/*
 * Sessions come in the order of their ids: @done[0] is the last one that is
 * complete, @done[2] the number of slot blocks sent of @done[1], which may be gone
 * by the next message.
 */
static int dump_put_session(struct gchint_session *session, void *priv)
{
	struct dump *dump = priv;
	long *done = dump->cb->args;
	void *head;

	if (session->id <= done[0])
		return 0;
	if (session->id != done[1]) {
		done[1] = session->id;
		done[2] = 0;
	}
	while (done[2] * GCHINT_SLOTS < gchint_session_slots(session)) {
		head = dump_begin_entry(dump, GCHINT_CMD_SESSION_GET);
		if (!head)
			return -EMSGSIZE;
		if (dump_end_entry(dump, head,
				   session_encode(dump->skb, session, done[2])))
			return -EMSGSIZE;
		done[2]++;
	}
	done[0] = session->id;
	return 0;
}

static int policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump dump = { .skb = skb, .cb = cb };
	int ret;

	/* Not in @start: not every kernel passes on its extack from there. */
	if (gchint_dump_attrs(cb)[GCHINT_A_CPU]) {
		NL_SET_ERR_MSG(cb->extack, "a dump takes no GCHINT_A_CPU");
		return -EINVAL;
	}
	/* What does not fit into an empty message is an error, not the end. */
	ret = gchint_actuator_for_each(dump_put_policy, &dump);
	return skb->len ?: ret;
}

static int session_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = SESSION_DUMP_BYTES;
	return 0;
}

static int session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump dump = { .skb = skb, .cb = cb };
	int ret;

	ret = gchint_session_for_each(dump_put_session, &dump);
	return skb->len ?: ret;
}

/* -- GCHINT_CMD_RECORD_SET -- */

static int record_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *record = info->attrs[GCHINT_A_RECORD];
	int ret;

	if (!record) {
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_RECORD is missing");
		return -EINVAL;
	}
	ret = recorder_set(info->snd_portid, nla_get_u32(record), info->extack);
	if (ret)
		return ret;
	/* Edges are recorded from the moment the request is acknowledged. */
	ret = gchint_probe_register_wanted();
	if (ret)
		recorder_set(info->snd_portid, 0, info->extack);
	else
		sampling_start();
	return ret;
}

/* -- GCHINT_CMD_OPPS_SET: measured power of a policy's OPPs -- */

static const struct nla_policy opp_attrs[GCHINT_OPP_A_MAX + 1] = {
	[GCHINT_OPP_A_KHZ] = { .type = NLA_U32 },
	[GCHINT_OPP_A_POWER] = { .type = NLA_U32 },
};

static const struct nla_policy opps_attrs[GCHINT_OPPS_A_MAX + 1] = {
	[GCHINT_OPPS_A_IDLE] = { .type = NLA_U32 },
	[GCHINT_OPPS_A_OPP] = NLA_POLICY_NESTED(opp_attrs),
};

/* The nest of the OPP with that index, or @opps itself if there is none. */
static const struct nlattr *opps_find_nest(const struct nlattr *opps, u32 index)
{
	const struct nlattr *attr;
	u32 nr = 0;
	int left;

	nla_for_each_nested(attr, opps, left)
		if (nla_type(attr) == GCHINT_OPPS_A_OPP && nr++ == index)
			return attr;
	return opps;
}

static void opps_explain_fault(struct netlink_ext_ack *extack,
			       const struct nlattr *opps,
			       enum gchint_measured_error fault, u32 at)
{
	const struct nlattr *nest = opps_find_nest(opps, at);
	const struct nlattr *khz = nla_find_nested(nest, GCHINT_OPP_A_KHZ);
	const struct nlattr *power = nla_find_nested(nest, GCHINT_OPP_A_POWER);

	switch (fault) {
	case GCHINT_MEASURED_ERR_ORDER:
		NL_SET_ERR_MSG_ATTR(extack, khz,
				    "GCHINT_OPP_A_KHZ: not in ascending order");
		break;
	case GCHINT_MEASURED_ERR_UNKNOWN_OPP:
		NL_SET_ERR_MSG_ATTR(extack, khz,
				    "GCHINT_OPP_A_KHZ: the policy has no such OPP");
		break;
	case GCHINT_MEASURED_ERR_MISSING_OPP:
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "GCHINT_OPPS_A_OPP: the policy has an OPP before this one");
		break;
	case GCHINT_MEASURED_ERR_TOO_FEW:
		NL_SET_ERR_MSG_ATTR(extack, opps,
				    "GCHINT_A_OPPS: the policy has more OPPs");
		break;
	case GCHINT_MEASURED_ERR_POWER:
		NL_SET_ERR_MSG_ATTR(extack, power,
				    "GCHINT_OPP_A_POWER: not 1 uW to 1 kW");
		break;
	case GCHINT_MEASURED_ERR_NOT_MONOTONIC:
		NL_SET_ERR_MSG_ATTR(extack, power,
				    "GCHINT_OPP_A_POWER: less than of the slower OPP");
		break;
	default:
		NL_SET_ERR_MSG_ATTR(extack,
				    nla_find_nested(opps, GCHINT_OPPS_A_IDLE),
				    "GCHINT_OPPS_A_IDLE: above 1 kW");
		break;
	}
}

static int opps_parse_opp(struct gchint_measured *measured, const struct nlattr *attr,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[GCHINT_OPP_A_MAX + 1];
	int ret;

	if (measured->nr == GCHINT_OPPS_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "GCHINT_OPPS_A_OPP: too many");
		return -EINVAL;
	}
	ret = nla_parse_nested(tb, GCHINT_OPP_A_MAX, attr, opp_attrs, extack);
	if (ret)
		return ret;
	if (!tb[GCHINT_OPP_A_KHZ] || !tb[GCHINT_OPP_A_POWER]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "GCHINT_OPP_A_KHZ or GCHINT_OPP_A_POWER is missing");
		return -EINVAL;
	}
	measured->opp[measured->nr].khz = nla_get_u32(tb[GCHINT_OPP_A_KHZ]);
	measured->opp[measured->nr].power = nla_get_u32(tb[GCHINT_OPP_A_POWER]);
	measured->nr++;
	return 0;
}

static int opps_parse(struct gchint_measured *measured, const struct nlattr *opps,
		      struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int left, ret = 0;

	nla_for_each_nested(attr, opps, left) {
		if (nla_type(attr) == GCHINT_OPPS_A_OPP) {
			ret = opps_parse_opp(measured, attr, extack);
		} else if (measured->idle_known) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "GCHINT_OPPS_A_IDLE: twice");
			ret = -EINVAL;
		} else {
			measured->idle = nla_get_u32(attr);
			measured->idle_known = true;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int opps_apply(unsigned int cpu, struct gchint_measured *measured,
		      enum gchint_measured_error *fault, u32 *at)
{
	struct cpufreq_policy *p = cpufreq_cpu_get(cpu);
	int ret = -ENODEV;

	if (!p)
		return ret;
	/* Excludes the calls of cpufreq and the removal of its driver. */
	down_read(&p->rwsem);
	if (!policy_is_inactive(p))
		ret = gchint_actuator_set_power(p, measured, fault, at);
	up_read(&p->rwsem);
	cpufreq_cpu_put(p);
	return ret;
}

static int opps_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *opps = info->attrs[GCHINT_A_OPPS];
	enum gchint_measured_error fault = GCHINT_MEASURED_OK;
	struct gchint_measured *measured = NULL;
	unsigned int cpu;
	u32 at = 0;
	int ret;

	if (info->attrs[GCHINT_A_CPU] && !opps) {
		NL_SET_ERR_MSG(info->extack, "GCHINT_A_OPPS is missing");
		return -EINVAL;
	}
	ret = request_parse_cpu(info, &cpu);
	if (ret)
		return ret;
	/* An empty nest removes what was measured. */
	if (nla_len(opps)) {
		measured = kzalloc(sizeof(*measured), GFP_KERNEL);
		if (!measured)
			return -ENOMEM;
		ret = opps_parse(measured, opps, info->extack);
	}
	if (!ret)
		ret = opps_apply(cpu, measured, &fault, &at);
	if (!ret)
		return 0;
	if (fault)
		opps_explain_fault(info->extack, opps, fault, at);
	else if (ret == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[GCHINT_A_CPU],
				    "no cpufreq policy has this CPU");
	kfree(measured);
	return ret;
}

/* -- Family -- */

static const struct nla_policy policy_get_attrs[GCHINT_A_CPU + 1] = {
	[GCHINT_A_CPU] = { .type = NLA_U32 },
};

static const struct nla_policy record_set_attrs[GCHINT_A_RECORD + 1] = {
	[GCHINT_A_RECORD] = NLA_POLICY_MASK(NLA_U32,
					    GENMASK(GCHINT_PHASE_NR - 1, 0)),
};

static const struct nla_policy opps_set_attrs[GCHINT_A_OPPS + 1] = {
	[GCHINT_A_CPU] = { .type = NLA_U32 },
	[GCHINT_A_OPPS] = NLA_POLICY_NESTED(opps_attrs),
};

/* A command without .policy accepts no attributes. */
static const struct genl_ops family_ops[] = {
	{
		.cmd = GCHINT_CMD_INFO_GET,
		.doit = info_get_doit,
	},
	{
		.cmd = GCHINT_CMD_POLICY_GET,
		.doit = policy_get_doit,
		.dumpit = policy_get_dumpit,
		.policy = policy_get_attrs,
		.maxattr = ARRAY_SIZE(policy_get_attrs) - 1,
	},
	{
		.cmd = GCHINT_CMD_SESSION_GET,
		.start = session_get_start,
		.dumpit = session_get_dumpit,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = GCHINT_CMD_RECORD_SET,
		.doit = record_set_doit,
		.policy = record_set_attrs,
		.maxattr = ARRAY_SIZE(record_set_attrs) - 1,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = GCHINT_CMD_OPPS_SET,
		.doit = opps_set_doit,
		.policy = opps_set_attrs,
		.maxattr = ARRAY_SIZE(opps_set_attrs) - 1,
		.flags = GENL_ADMIN_PERM,
	},
};

static struct genl_family gchint_family = {
	.name = GCHINT_GENL_NAME,
	.version = GCHINT_GENL_VERSION,
	.module = THIS_MODULE,
	/* Requests may wait for the CPU hotplug lock: not under genl's. */
	.parallel_ops = true,
	.ops = family_ops,
	.n_ops = ARRAY_SIZE(family_ops),
	.mcgrps = family_groups,
	.n_mcgrps = ARRAY_SIZE(family_groups),
};

int gchint_netlink_init(void)
{
	int ret;

	ret = genl_register_family(&gchint_family);
	if (ret)
		return ret;
	ret = netlink_register_notifier(&recorder_socket_nb);
	if (ret)
		goto unregister_family;
	WRITE_ONCE(family_registered, true);
	gchint_ring_set_reader(&events_reader);
	queue_delayed_work(system_dfl_wq, &listen_work, 0);
	return 0;

unregister_family:
	genl_unregister_family(&gchint_family);
	return ret;
}

void gchint_netlink_exit(void)
{
	struct recorder *recorder, *next;

	WRITE_ONCE(family_registered, false);
	gchint_ring_set_reader(NULL);
	/* Producers that saw the flag set run with interrupts off. */
	synchronize_rcu();
	cancel_delayed_work_sync(&listen_work);
	/* No sample may be sent while the family gives up its groups. */
	cancel_delayed_work_sync(&sample_work);
	genl_unregister_family(&gchint_family);
	/* The last request may have queued it again; it does nothing now. */
	cancel_delayed_work_sync(&sample_work);
	/* Only requests add recorders, and none can come any more. */
	netlink_unregister_notifier(&recorder_socket_nb);
	list_for_each_entry_safe(recorder, next, &recorders, node)
		recorder_remove(recorder);
}
