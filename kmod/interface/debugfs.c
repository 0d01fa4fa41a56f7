// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read-only tables; docs/abi/debugfs-gchint describes each. A file covers all
 * policies or all sessions, so no file is created or removed with one of them.
 */
#include <linux/cpufreq.h>
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "cpufreq/actuator.h"
#include "cpufreq/energy.h"
#include "cpufreq/policy.h"
#include "cpufreq/tunable_set.h"
#include "event/event.h"
#include "interface.h"
#include "session/session.h"
#include "session/user.h"
#include "task/thread.h"

static struct dentry *debugfs_root;

/* In the order of the ABI's enumerations, which are only ever appended to. */
static const char * const phase_names[GCHINT_PHASE_NR] = {
	"none", "collect", "safepoint", "roots", "mark", "remark", "refs",
	"sweep", "copy", "compact", "trim", "wait", "work",
};

static const char * const reason_names[GCHINT_REASON_NR] = {
	"load", "stw", "foreground", "urgent", "table", "model", "pace",
	"probe", "limits", "hold",
};

static const char * const role_names[GCHINT_ROLE_NR] = {
	"none", "concurrent", "stw", "background", "follow",
};

static const char * const ignored_names[GCHINT_IGNORED_NR] = {
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

static unsigned int policy_number(const struct gchint_policy *policy)
{
	return cpumask_first(policy->policy->related_cpus);
}

/*
 * One cell at a time: the table is too large for the stack, and its 64-bit
 * values change under the lock.
 */
static u64 policy_read_time(struct gchint_policy *policy, unsigned int phase,
			    unsigned int opp)
{
	unsigned long flags;
	u64 ns;

	raw_spin_lock_irqsave(&policy->lock, flags);
	ns = gchint_stats_time(policy->stats, phase)[opp];
	raw_spin_unlock_irqrestore(&policy->lock, flags);
	return ns;
}

static int policy_show_time(struct gchint_policy *policy, void *priv)
{
	unsigned int phase, opp, nr = max(policy->opps.nr, 1u);
	struct seq_file *m = priv;

	seq_printf(m, "policy%u", policy_number(policy));
	if (!policy->opps.nr)
		seq_puts(m, " any");
	for (opp = 0; opp < policy->opps.nr; opp++)
		seq_printf(m, " %u", policy->opps.opp[opp].khz);
	seq_putc(m, '\n');
	for (phase = GCHINT_PHASE_NONE + 1; phase < GCHINT_PHASE_NR; phase++) {
		seq_puts(m, phase_names[phase]);
		for (opp = 0; opp < nr; opp++)
			seq_printf(m, " %llu",
				   div_u64(policy_read_time(policy, phase, opp),
					   NSEC_PER_MSEC));
		seq_putc(m, '\n');
	}
	return 0;
}

static int policy_show_opps(struct gchint_policy *policy, void *priv)
{
	struct seq_file *m = priv;
	unsigned int i;

	seq_printf(m, "policy%u source=%s unit=%s core_type=%u fast=%u\n",
		   policy_number(policy), policy->energy->name,
		   policy->energy->microwatts ? "uW" : "relative",
		   policy->core_type, policy->policy->fast_switch_enabled);
	for (i = 0; i < policy->opps.nr; i++) {
		const struct gchint_opp *opp = &policy->opps.opp[i];

		seq_printf(m, "%u ", opp->khz);
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

static int policy_show_budget(struct gchint_policy *policy, void *priv)
{
	struct gchint_budget budget;
	struct seq_file *m = priv;
	unsigned long flags;

	raw_spin_lock_irqsave(&policy->lock, flags);
	budget = policy->budget;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	seq_printf(m, "policy%u budget=%u allowed_us=%llu lost_us=%llu saved_us=%lld delay_cost=%u\n",
		   policy_number(policy), budget.pct,
		   div_u64(budget.allowed_ns, NSEC_PER_USEC),
		   div_u64(budget.lost_ns, NSEC_PER_USEC),
		   div_s64(budget.balance_ns, NSEC_PER_USEC),
		   budget.delay_cost);
	return 0;
}

static int policy_show_switches(struct gchint_policy *policy, void *priv)
{
	u64 nr[GCHINT_REASON_NR], avoided;
	struct seq_file *m = priv;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&policy->lock, flags);
	memcpy(nr, policy->stats->switches, sizeof(nr));
	avoided = policy->stats->avoided;
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	seq_printf(m, "policy%u\n", policy_number(policy));
	for (i = 0; i < GCHINT_REASON_NR; i++)
		seq_printf(m, "%s %llu\n", reason_names[i], nr[i]);
	seq_printf(m, "avoided %llu\n", avoided);
	return 0;
}

struct latency_table {
	struct seq_file *m;
	u64 nr[GCHINT_LATENCY_BUCKETS];
};

static const char *latency_sign(unsigned int bucket)
{
	return bucket < GCHINT_LATENCY_BUCKETS - 1 ? "<" : ">=";
}

static void latency_show_quantile(struct latency_table *table, u32 percent)
{
	u32 bucket = gchint_latency_quantile(table->nr, percent);

	if (bucket < GCHINT_LATENCY_BUCKETS)
		seq_printf(table->m, " p%u%s%llu", percent,
			   latency_sign(bucket), gchint_latency_bound(bucket));
}

static int policy_show_latency(struct gchint_policy *policy, void *priv)
{
	struct latency_table *table = priv;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&policy->lock, flags);
	memcpy(table->nr, policy->stats->latency, sizeof(table->nr));
	raw_spin_unlock_irqrestore(&policy->lock, flags);

	seq_printf(table->m, "policy%u", policy_number(policy));
	latency_show_quantile(table, 50);
	latency_show_quantile(table, 99);
	seq_putc(table->m, '\n');
	for (i = 0; i < GCHINT_LATENCY_BUCKETS; i++)
		if (table->nr[i])
			seq_printf(table->m, "%s%llu %llu\n", latency_sign(i),
				   gchint_latency_bound(i), table->nr[i]);
	return 0;
}

static int latency_show(struct seq_file *m, void *unused)
{
	/* Too large for the stack. */
	struct latency_table *table = kmalloc(sizeof(*table), GFP_KERNEL);
	int ret;

	if (!table)
		return -ENOMEM;
	table->m = m;
	ret = gchint_actuator_for_each(policy_show_latency, table);
	kfree(table);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(latency);

static void session_show_lease(struct seq_file *m, struct gchint_thread *thread)
{
	u8 role = READ_ONCE(thread->role);
	u16 lead = gchint_thread_lead(thread);

	seq_printf(m, "  slot=%u tid=%d role=%s", thread->slot, thread->tid,
		   role_names[role]);
	if (lead != GCHINT_NO_LEAD)
		seq_printf(m, " lead=%u", lead);
	seq_printf(m, " phase=%s flags=0x%x cpu=%d%s\n",
		   phase_names[gchint_thread_phase(thread)],
		   gchint_thread_flags(thread), READ_ONCE(thread->cpu),
		   gchint_thread_stale(thread) ? " stale" : "");
}

static int session_show(struct gchint_session *session, void *priv)
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
			session_show_lease(m, thread);
	}
	rcu_read_unlock();
	return 0;
}

static int session_show_model(struct gchint_session *session, void *priv)
{
	struct seq_file *m = priv;
	struct gchint_fit fit;
	unsigned long flags;
	unsigned int phase;
	u8 type;

	seq_printf(m, "session=%llu tgid=%d\n", session->id, session->tgid_nr);
	for (phase = GCHINT_PHASE_NONE; phase < GCHINT_PHASE_NR; phase++) {
		for (type = 0; type < GCHINT_CORE_TYPES; type++) {
			raw_spin_lock_irqsave(&session->learn_lock, flags);
			gchint_learn_fit(&session->learn, phase, type, &fit);
			raw_spin_unlock_irqrestore(&session->learn_lock, flags);
			if (!fit.samples)
				continue;
			seq_printf(m, "  %s core_type=%u fmax=%u samples=%u",
				   phase_names[phase], type,
				   gchint_policy_core_type_khz(type), fit.samples);
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

static int ignored_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < GCHINT_IGNORED_NR; i++)
		seq_printf(m, "%s %llu\n", ignored_names[i],
			   gchint_event_read_ignored(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ignored);

/* The data of these files is the function that shows one policy or session. */
static int each_policy_show(struct seq_file *m, void *unused)
{
	return gchint_actuator_for_each(m->private, m);
}
DEFINE_SHOW_ATTRIBUTE(each_policy);

static int each_session_show(struct seq_file *m, void *unused)
{
	return gchint_session_for_each(m->private, m);
}
DEFINE_SHOW_ATTRIBUTE(each_session);

void gchint_debugfs_init(void)
{
	struct dentry *root = debugfs_create_dir("gchint", NULL);

	debugfs_create_file("budget", 0444, root, policy_show_budget,
			    &each_policy_fops);
	debugfs_create_file("ignored", 0444, root, NULL, &ignored_fops);
	debugfs_create_file("latency", 0444, root, NULL, &latency_fops);
	debugfs_create_file("model", 0444, root, session_show_model,
			    &each_session_fops);
	debugfs_create_file("opps", 0444, root, policy_show_opps,
			    &each_policy_fops);
	debugfs_create_file("sessions", 0444, root, session_show,
			    &each_session_fops);
	debugfs_create_file("switches", 0444, root, policy_show_switches,
			    &each_policy_fops);
	debugfs_create_file("time_in_phase", 0444, root, policy_show_time,
			    &each_policy_fops);
	debugfs_root = root;
}

void gchint_debugfs_exit(void)
{
	debugfs_remove_recursive(debugfs_root);
}
