// SPDX-License-Identifier: GPL-2.0-only
/*
 * One nest for each function: complete, or cancelled with -EMSGSIZE.
 */
#include <linux/cpufreq.h>
#include <net/netlink.h>

#include "act/energy.h"
#include "act/policy.h"
#include "act/tunable_set.h"
#include "clock.h"
#include "encode.h"
#include "follow/thread.h"
#include "intake/user.h"
#include "tell/event.h"

static int put_u64(struct sk_buff *skb, int type, u64 value, int pad)
{
	return nla_put_u64_64bit(skb, type, value, pad);
}

/* -- Event -- */

static int event_u64(struct sk_buff *skb, int type, u64 value)
{
	return put_u64(skb, type, value, GCHINT_EVENT_A_PAD);
}

static int put_thread(struct sk_buff *skb, const struct gchint_record *r)
{
	return nla_put_s32(skb, GCHINT_EVENT_A_TGID, r->tgid) ||
	       nla_put_s32(skb, GCHINT_EVENT_A_TID, r->tid) ||
	       event_u64(skb, GCHINT_EVENT_A_SESSION, r->session) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_SLOT, r->slot);
}

static int put_phase(struct sk_buff *skb, const struct gchint_record *r)
{
	return put_thread(skb, r) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_PHASE, r->phase.phase) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_FLAGS, r->phase.flags) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_CAUSE, r->phase.cause) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_PHASE_SEQ, r->phase.seq) ||
	       event_u64(skb, GCHINT_EVENT_A_WORK_DONE, r->phase.work_done) ||
	       event_u64(skb, GCHINT_EVENT_A_WORK_TOTAL,
			 r->phase.work_total) ||
	       event_u64(skb, GCHINT_EVENT_A_STALL_NS, r->phase.stall_ns);
}

static int put_decision(struct sk_buff *skb, const struct gchint_record *r)
{
	/* Only a hinted decision has a thread. */
	if (r->session &&
	    (put_thread(skb, r) ||
	     nla_put_u32(skb, GCHINT_EVENT_A_PHASE, r->decision.phase) ||
	     nla_put_u32(skb, GCHINT_EVENT_A_FLAGS, r->decision.flags)))
		return -EMSGSIZE;
	/* Unknown while the request is still on its way. */
	if (r->decision.latency &&
	    event_u64(skb, GCHINT_EVENT_A_LATENCY, r->decision.latency))
		return -EMSGSIZE;
	return nla_put_u32(skb, GCHINT_EVENT_A_POLICY, r->decision.policy) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_KHZ_FROM,
			   r->decision.khz_from) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_KHZ, r->decision.khz) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_REASON, r->decision.reason) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_LOAD, r->decision.load);
}

static int put_lease(struct sk_buff *skb, const struct gchint_record *r)
{
	return put_thread(skb, r) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_ROLE, r->lease.role) ||
	       nla_put_u32(skb, GCHINT_EVENT_A_LEASE, r->lease.what);
}

static int (*const put_event[])(struct sk_buff *skb,
				const struct gchint_record *r) = {
	[GCHINT_EVENT_PHASE] = put_phase,
	[GCHINT_EVENT_DECISION] = put_decision,
	[GCHINT_EVENT_LEASE] = put_lease,
};

/**
 * gchint_encode_event - append a GCHINT_A_EVENT
 * @skb: message
 * @r: the event
 *
 * Return: 0 or -EMSGSIZE, with nothing appended.
 */
int gchint_encode_event(struct sk_buff *skb, const struct gchint_record *r)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_A_EVENT);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, GCHINT_EVENT_A_TYPE, r->type) ||
	    event_u64(skb, GCHINT_EVENT_A_TIME, r->time) ||
	    nla_put_u32(skb, GCHINT_EVENT_A_CPU, r->cpu) ||
	    put_event[r->type](skb, r)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* -- Policy -- */

/* The mask as bytes, so that it reads the same on every machine. */
static int put_cpus(struct sk_buff *skb, const struct cpumask *cpus)
{
	unsigned int cpu, len = cpumask_last(cpus) / 8 + 1;
	struct nlattr *attr = nla_reserve(skb, GCHINT_POLICY_A_CPUS, len);
	u8 *bytes;

	if (!attr)
		return -EMSGSIZE;
	bytes = nla_data(attr);
	memset(bytes, 0, len);
	for_each_cpu(cpu, cpus)
		bytes[cpu / 8] |= BIT(cpu % 8);
	return 0;
}

/* None where limits are not the way. */
static int put_bounds(struct sk_buff *skb, const struct gchint_bounds *bounds)
{
	if (bounds->cap_khz &&
	    nla_put_u32(skb, GCHINT_POLICY_A_CAP_KHZ, bounds->cap_khz))
		return -EMSGSIZE;
	return bounds->floor_khz ? nla_put_u32(skb, GCHINT_POLICY_A_FLOOR_KHZ,
					       bounds->floor_khz) : 0;
}

static int put_opp(struct sk_buff *skb, const struct gchint_policy *policy,
		   const struct gchint_opp *opp)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_OPPS_A_OPP);

	if (!nest || nla_put_u32(skb, GCHINT_OPP_A_KHZ, opp->khz) ||
	    (opp->power && policy->energy->microwatts &&
	     nla_put_u32(skb, GCHINT_OPP_A_POWER, opp->power)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* As GCHINT_CMD_OPPS_SET takes them. Half a nest goes with that of the policy. */
static int put_opps(struct sk_buff *skb, const struct gchint_policy *policy)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_POLICY_A_OPPS);
	u32 i, idle;

	if (!nest)
		return -EMSGSIZE;
	if (policy->energy->measured &&
	    gchint_energy_idle(policy->policy, &idle) &&
	    nla_put_u32(skb, GCHINT_OPPS_A_IDLE, idle))
		return -EMSGSIZE;
	for (i = 0; i < policy->opps.nr; i++)
		if (put_opp(skb, policy, &policy->opps.opp[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* How it is set up: what sysfs shows to every user, too. */
static int put_config(struct sk_buff *skb, struct gchint_policy *policy)
{
	u32 min_khz, max_khz;
	unsigned long flags;

	raw_spin_lock_irqsave(&policy->lock, flags);
	min_khz = policy->rules.min_khz;
	max_khz = policy->rules.max_khz;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	return nla_put_u32(skb, GCHINT_POLICY_A_CPU,
			   cpumask_first(policy->policy->related_cpus)) ||
	       put_cpus(skb, policy->policy->cpus) ||
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
	       put_u64(skb, GCHINT_POLICY_A_TIME, gchint_now(),
		       GCHINT_POLICY_A_PAD) ||
	       (policy->energy->measured &&
		nla_put_flag(skb, GCHINT_POLICY_A_MEASURED));
}

/* What it does just now, which tells of the programs that run there. */
static int put_state(struct sk_buff *skb, struct gchint_policy *policy)
{
	struct gchint_bounds bounds;
	u32 khz, reason, load = 0;
	unsigned long flags;
	unsigned int cpu, i;
	u64 switches = 0;

	raw_spin_lock_irqsave(&policy->lock, flags);
	gchint_policy_sync(policy, gchint_now());
	khz = policy->khz;
	bounds = policy->state.bounds;
	reason = policy->last.reason;
	for_each_cpu(cpu, policy->policy->cpus)
		load = max(load, per_cpu(gchint_cpus.demand.load, cpu));
	for (i = 0; i < GCHINT_REASON_NR; i++)
		switches += policy->stats->switches[i];
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	return put_bounds(skb, &bounds) ||
	       (khz && nla_put_u32(skb, GCHINT_POLICY_A_CUR_KHZ, khz)) ||
	       nla_put_u32(skb, GCHINT_POLICY_A_REASON, reason) ||
	       (gchint_policy_loaded(policy) &&
		nla_put_u32(skb, GCHINT_POLICY_A_LOAD, load)) ||
	       put_u64(skb, GCHINT_POLICY_A_TRANSITIONS, switches,
		       GCHINT_POLICY_A_PAD);
}

/**
 * gchint_encode_policy - append a GCHINT_A_POLICY
 * @skb: message
 * @policy: a started policy, from gchint_actuator_each()
 * @opps: with its OPPs
 * @state: with what it does now, too
 *
 * What it does now tells what runs there. Without @state the answer has what sysfs
 * shows to everybody.
 *
 * Return: 0 or -EMSGSIZE, with nothing appended.
 */
int gchint_encode_policy(struct sk_buff *skb, struct gchint_policy *policy,
			 bool opps, bool state)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_A_POLICY);

	if (!nest)
		return -EMSGSIZE;
	if (put_config(skb, policy) || (state && put_state(skb, policy)) ||
	    (opps && put_opps(skb, policy))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* -- Session -- */

static int put_slot(struct sk_buff *skb, struct gchint_thread *thread)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_SESSION_A_SLOT);
	u32 role = READ_ONCE(thread->role), lead = gchint_thread_lead(thread);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, GCHINT_SLOT_A_SLOT, thread->slot) ||
	    nla_put_s32(skb, GCHINT_SLOT_A_TID, thread->tid) ||
	    nla_put_u32(skb, GCHINT_SLOT_A_ROLE, role) ||
	    (lead != GCHINT_NO_LEAD &&
	     nla_put_u32(skb, GCHINT_SLOT_A_LEAD, lead)) ||
	    nla_put_u32(skb, GCHINT_SLOT_A_PHASE,
			gchint_thread_phase(thread)) ||
	    nla_put_u32(skb, GCHINT_SLOT_A_FLAGS,
			gchint_thread_flags(thread)) ||
	    (gchint_thread_stale(thread) &&
	     nla_put_flag(skb, GCHINT_SLOT_A_STALE))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_slots(struct sk_buff *skb, const struct gchint_bank *bank)
{
	struct gchint_thread *thread;
	unsigned int i;
	int ret = 0;

	rcu_read_lock();
	for (i = 0; i < GCHINT_SLOTS && !ret; i++) {
		thread = rcu_dereference(bank->leases[i]);
		if (thread)
			ret = put_slot(skb, thread);
	}
	rcu_read_unlock();
	return ret;
}

/**
 * gchint_encode_session - append a GCHINT_A_SESSION
 * @skb: message
 * @session: from gchint_session_each()
 * @bank: of whose slots: below gchint_session.nr_banks
 *
 * Return: 0 or -EMSGSIZE, with nothing appended.
 */
int gchint_encode_session(struct sk_buff *skb, struct gchint_session *session,
			  unsigned int bank)
{
	struct nlattr *nest = nla_nest_start(skb, GCHINT_A_SESSION);

	if (!nest)
		return -EMSGSIZE;
	if (put_u64(skb, GCHINT_SESSION_A_ID, session->id,
		    GCHINT_SESSION_A_PAD) ||
	    nla_put_s32(skb, GCHINT_SESSION_A_TGID, session->tgid_nr) ||
	    nla_put_u32(skb, GCHINT_SESSION_A_UID,
			from_kuid(&init_user_ns, session->uid)) ||
	    nla_put_u32(skb, GCHINT_SESSION_A_GRANTED, session->granted) ||
	    put_slots(skb, session->bank[bank])) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}
