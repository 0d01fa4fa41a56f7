// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read-only tables for people; docs/abi/debugfs-gchint describes each. Every
 * file covers all policies or sessions, so that none comes and goes.
 */
#include <linux/cpufreq.h>
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "act/actuator.h"
#include "act/energy.h"
#include "act/policy.h"
#include "act/tunable_set.h"
#include "debugfs.h"
#include "follow/thread.h"
#include "intake/session.h"
#include "intake/user.h"
#include "tell/event.h"

static struct dentry *root;

static const char * const phases[GCHINT_PHASE_NR] = {
	[GCHINT_PHASE_NONE] = "none",
	[GCHINT_PHASE_COLLECT] = "collect",
	[GCHINT_PHASE_SAFEPOINT] = "safepoint",
	[GCHINT_PHASE_ROOTS] = "roots",
	[GCHINT_PHASE_MARK] = "mark",
	[GCHINT_PHASE_REMARK] = "remark",
	[GCHINT_PHASE_REFS] = "refs",
	[GCHINT_PHASE_SWEEP] = "sweep",
	[GCHINT_PHASE_COPY] = "copy",
	[GCHINT_PHASE_COMPACT] = "compact",
	[GCHINT_PHASE_TRIM] = "trim",
	[GCHINT_PHASE_WAIT] = "wait",
	[GCHINT_PHASE_WORK] = "work",
};

static const char * const reasons[GCHINT_REASON_NR] = {
	[GCHINT_REASON_LOAD] = "load",
	[GCHINT_REASON_STW] = "stw",
	[GCHINT_REASON_FOREGROUND] = "foreground",
	[GCHINT_REASON_URGENT] = "urgent",
	[GCHINT_REASON_TABLE] = "table",
	[GCHINT_REASON_MODEL] = "model",
	[GCHINT_REASON_PACE] = "pace",
	[GCHINT_REASON_PROBE] = "probe",
	[GCHINT_REASON_LIMITS] = "limits",
	[GCHINT_REASON_HOLD] = "hold",
};

static const char * const roles[GCHINT_ROLE_NR] = {
	[GCHINT_ROLE_NONE] = "none",
	[GCHINT_ROLE_CONCURRENT] = "concurrent",
	[GCHINT_ROLE_STW] = "stw",
	[GCHINT_ROLE_BACKGROUND] = "background",
	[GCHINT_ROLE_FOLLOW] = "follow",
};

static const char * const ignored[GCHINT_IGNORED_NR] = {
	[GCHINT_IGNORED_WRITING] = "writing",
	[GCHINT_IGNORED_PHASE] = "phase",
	[GCHINT_IGNORED_FLAGS] = "flags",
	[GCHINT_IGNORED_CAUSE] = "cause",
	[GCHINT_IGNORED_WORK] = "work",
	[GCHINT_IGNORED_STALL_PAST] = "stall_past",
	[GCHINT_IGNORED_STALL_FAR] = "stall_far",
	[GCHINT_IGNORED_BACKWARD] = "backward",
	[GCHINT_IGNORED_SAMPLE] = "sample",
};

static unsigned int number(const struct gchint_policy *policy)
{
	return cpumask_first(policy->policy->related_cpus);
}

/* A consistent copy; a table of 64-bit times is too large for the stack. */
static u64 time_ns(struct gchint_policy *policy, unsigned int phase,
		   unsigned int opp)
{
	unsigned long flags;
	u64 ns;

	raw_spin_lock_irqsave(&policy->lock, flags);
	ns = gchint_stats_time(policy->stats, phase)[opp];
	raw_spin_unlock_irqrestore(&policy->lock, flags);
	return ns;
}

static int time_in_phase(struct gchint_policy *policy, void *priv)
{
	unsigned int phase, opp, nr = max(policy->opps.nr, 1u);
	struct seq_file *m = priv;

	seq_printf(m, "policy%u", number(policy));
	if (!policy->opps.nr)
		seq_puts(m, " any");
	for (opp = 0; opp < policy->opps.nr; opp++)
		seq_printf(m, " %u", policy->opps.opp[opp].khz);
	seq_putc(m, '\n');
	for (phase = GCHINT_PHASE_NONE + 1; phase < GCHINT_PHASE_NR; phase++) {
		seq_puts(m, phases[phase]);
		for (opp = 0; opp < nr; opp++)
			seq_printf(m, " %llu",
				   div_u64(time_ns(policy, phase, opp),
					   NSEC_PER_MSEC));
		seq_putc(m, '\n');
	}
	return 0;
}

static int time_in_phase_show(struct seq_file *m, void *unused)
{
	return gchint_actuator_each(time_in_phase, m);
}
DEFINE_SHOW_ATTRIBUTE(time_in_phase);

static int opps(struct gchint_policy *policy, void *priv)
{
	struct seq_file *m = priv;
	unsigned int i;

	seq_printf(m, "policy%u source=%s unit=%s kind=%u fast=%u\n",
		   number(policy), policy->energy->name,
		   policy->energy->microwatts ? "uW" : "relative",
		   policy->kind, policy->policy->fast_switch_enabled);
	for (i = 0; i < policy->opps.nr; i++) {
		const struct gchint_opp *opp = &policy->opps.opp[i];

		seq_printf(m, "%u ", opp->khz);
		/* 0 is no power, it is no knowledge. */
		if (opp->power)
			seq_printf(m, "%u", opp->power);
		else
			seq_puts(m, "unknown");
		seq_printf(m, "%s%s\n",
			   opp->flags & GCHINT_OPP_BOOST ? " boost" : "",
			   opp->flags & GCHINT_OPP_INEFFICIENT ?
				   " inefficient" : "");
	}
	return 0;
}

static int opps_show(struct seq_file *m, void *unused)
{
	return gchint_actuator_each(opps, m);
}
DEFINE_SHOW_ATTRIBUTE(opps);

static int switches(struct gchint_policy *policy, void *priv)
{
	u64 nr[GCHINT_REASON_NR], avoided;
	struct seq_file *m = priv;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&policy->lock, flags);
	memcpy(nr, policy->stats->switches, sizeof(nr));
	avoided = policy->stats->avoided;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	seq_printf(m, "policy%u\n", number(policy));
	for (i = 0; i < GCHINT_REASON_NR; i++)
		seq_printf(m, "%s %llu\n", reasons[i], nr[i]);
	seq_printf(m, "avoided %llu\n", avoided);
	return 0;
}

static int switches_show(struct seq_file *m, void *unused)
{
	return gchint_actuator_each(switches, m);
}
DEFINE_SHOW_ATTRIBUTE(switches);

struct latencies {
	struct seq_file *m;
	u64 nr[GCHINT_LATENCY_BUCKETS];
};

static const char *side(unsigned int bucket)
{
	return bucket < GCHINT_LATENCY_BUCKETS - 1 ? "<" : ">=";
}

static void quantile(struct latencies *l, u32 percent)
{
	u32 bucket = gchint_latency_quantile(l->nr, percent);

	if (bucket < GCHINT_LATENCY_BUCKETS)
		seq_printf(l->m, " p%u%s%llu", percent, side(bucket),
			   gchint_latency_bound(bucket));
}

static int latency(struct gchint_policy *policy, void *priv)
{
	struct latencies *l = priv;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&policy->lock, flags);
	memcpy(l->nr, policy->stats->latency, sizeof(l->nr));
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	seq_printf(l->m, "policy%u", number(policy));
	quantile(l, 50);
	quantile(l, 99);
	seq_putc(l->m, '\n');
	for (i = 0; i < GCHINT_LATENCY_BUCKETS; i++)
		if (l->nr[i])
			seq_printf(l->m, "%s%llu %llu\n", side(i),
				   gchint_latency_bound(i), l->nr[i]);
	return 0;
}

static int latency_show(struct seq_file *m, void *unused)
{
	/* Too large for the stack. */
	struct latencies *l = kmalloc(sizeof(*l), GFP_KERNEL);
	int ret;

	if (!l)
		return -ENOMEM;
	l->m = m;
	ret = gchint_actuator_each(latency, l);
	kfree(l);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(latency);

static void lease(struct seq_file *m, struct gchint_thread *thread)
{
	u8 role = READ_ONCE(thread->role);
	u16 lead = gchint_thread_lead(thread);

	seq_printf(m, "  slot=%u tid=%d role=%s", thread->slot, thread->tid,
		   roles[role]);
	if (lead != GCHINT_NO_LEAD)
		seq_printf(m, " lead=%u", lead);
	seq_printf(m, " phase=%s flags=0x%x cpu=%d%s\n",
		   phases[gchint_thread_phase(thread)],
		   gchint_thread_flags(thread), READ_ONCE(thread->cpu),
		   gchint_thread_stale(thread) ? " stale" : "");
}

static int show_session(struct gchint_session *session, void *priv)
{
	struct gchint_thread *thread;
	struct seq_file *m = priv;
	unsigned int i;

	seq_printf(m, "session=%llu tgid=%d uid=%u raise=%u slots=%u\n",
		   session->id, session->tgid_nr,
		   from_kuid(&init_user_ns, session->uid),
		   !!(session->granted & GCHINT_GRANT_RAISE),
		   READ_ONCE(session->nr_leases));
	rcu_read_lock();
	for (i = 0; i < gchint_session_slots(session); i++) {
		thread = rcu_dereference(*gchint_session_lease(session, i));
		if (thread)
			lease(m, thread);
	}
	rcu_read_unlock();
	return 0;
}

static int sessions_show(struct seq_file *m, void *unused)
{
	return gchint_session_each(show_session, m);
}
DEFINE_SHOW_ATTRIBUTE(sessions);

static int model(struct gchint_session *session, void *priv)
{
	struct seq_file *m = priv;
	struct gchint_fit fit;
	unsigned long flags;
	unsigned int phase;
	u8 kind;

	seq_printf(m, "session=%llu tgid=%d\n", session->id, session->tgid_nr);
	for (phase = GCHINT_PHASE_NONE; phase < GCHINT_PHASE_NR; phase++) {
		for (kind = 0; kind < GCHINT_KINDS; kind++) {
			raw_spin_lock_irqsave(&session->learn_lock, flags);
			gchint_learn_fit(&session->learn, phase, kind, &fit);
			raw_spin_unlock_irqrestore(&session->learn_lock, flags);
			if (!fit.samples)
				continue;
			seq_printf(m, "  %s kind=%u fmax=%u samples=%u",
				   phases[phase], kind,
				   gchint_policy_kind_khz(kind), fit.samples);
			if (fit.known)
				seq_printf(m, " a_ps=%llu b_ps=%llu memory_pct=%u error_pct=%u\n",
					   fit.a_ps, fit.b_ps,
					   fit.mem * 100 / GCHINT_ONE,
					   fit.error * 100 / GCHINT_ONE);
			else
				seq_puts(m, " not known yet\n");
		}
	}
	return 0;
}

static int model_show(struct seq_file *m, void *unused)
{
	return gchint_session_each(model, m);
}
DEFINE_SHOW_ATTRIBUTE(model);

static int ignored_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < GCHINT_IGNORED_NR; i++)
		seq_printf(m, "%s %llu\n", ignored[i],
			   gchint_event_ignored_count(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ignored);

void gchint_debugfs_init(void)
{
	root = debugfs_create_dir("gchint", NULL);
	debugfs_create_file("ignored", 0444, root, NULL, &ignored_fops);
	debugfs_create_file("latency", 0444, root, NULL, &latency_fops);
	debugfs_create_file("model", 0444, root, NULL, &model_fops);
	debugfs_create_file("opps", 0444, root, NULL, &opps_fops);
	debugfs_create_file("sessions", 0444, root, NULL, &sessions_fops);
	debugfs_create_file("switches", 0444, root, NULL, &switches_fops);
	debugfs_create_file("time_in_phase", 0444, root, NULL,
			    &time_in_phase_fops);
}

void gchint_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
