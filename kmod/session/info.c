// SPDX-License-Identifier: GPL-2.0-only
/*
 * One page for all sessions, and an entry for each CPU, both of which sessions
 * map read-only. Two locks:
 *
 * info_lock	(mutex) serialises what gchint_info.generation guards. The
 *		rwsems of cpufreq policies nest inside, so a caller that holds
 *		one must not take it: governor callbacks queue refresh_work.
 * mask_lock	(raw) serialises the doorbell masks, which are stored at once.
 *
 * The cpu_frequency tracepoint stores cur_khz without a lock.
 */
#include <linux/cpufreq.h>
#include <linux/gchint.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "compat/workqueue.h"
#include "cpufreq/actuator.h"
#include "info.h"
#include "param.h"
#include "table.h"

#define FEATURES_ALWAYS (GCHINT_FEATURE_CPUS | GCHINT_FEATURE_GROW)
/* The library announces no shorter phase: that costs more than it saves. */
#define MIN_PHASE_US 100

DECLARE_WAIT_QUEUE_HEAD(gchint_info_wait);

static struct gchint_info *info;
static struct gchint_info_cpu *cpus;
static DEFINE_MUTEX(info_lock);
static DEFINE_RAW_SPINLOCK(mask_lock);
static u32 governed_phases;
static u32 recorded_phases;

/* Guarded by info_lock: a draft of what is published next. */
static struct gchint_table table;
static u64 features;
/* Guarded by info_lock: the frequency probe keeps cur_khz true. */
static bool khz_followed;

static const char *policy_governor_name(struct cpufreq_policy *policy)
{
	if (policy->governor)
		return policy->governor->name;
	/* A driver with its own governor has one of these two policies. */
	if (policy->policy == CPUFREQ_POLICY_PERFORMANCE)
		return "performance";
	if (policy->policy == CPUFREQ_POLICY_POWERSAVE)
		return "powersave";
	return "";
}

static void info_draft_policy(struct cpufreq_policy *policy)
{
	struct gchint_info_policy entry = { .flags = GCHINT_POLICY_PRESENT };
	unsigned int cpu, first;
	u32 rough;

	down_read(&policy->rwsem);
	if (policy_is_inactive(policy))
		goto unlock;
	strscpy(entry.governor, policy_governor_name(policy),
		sizeof(entry.governor));
	entry.max_khz = gchint_actuator_others_max(policy);
	entry.hw_max_khz = policy->cpuinfo.max_freq;
	features |= GCHINT_FEATURE_LIMITS;
	if (policy->governor)
		features |= GCHINT_FEATURE_GOVERNOR;
	if (gchint_actuator_active(policy))
		entry.flags |= GCHINT_POLICY_GCHINT;
	if (policy->fast_switch_enabled)
		entry.flags |= GCHINT_POLICY_FAST;
	rough = gchint_table_round_khz(policy->cur, entry.hw_max_khz);
	first = cpumask_first(policy->related_cpus);
	for_each_cpu(cpu, policy->cpus) {
		gchint_table_set_cpu(&table, cpu, first, &entry);
		/* Without the frequency probe it would soon be an old one. */
		if (!khz_followed)
			continue;
		/* Only if unknown: the frequency probe has newer values. */
		cmpxchg(&cpus[cpu].policy.cur_khz, 0, rough);
		if (cpu < GCHINT_INFO_CPUS &&
		    table.of_cpu[cpu] < GCHINT_INFO_POLICIES)
			cmpxchg(&info->policy[table.of_cpu[cpu]].cur_khz, 0,
				rough);
	}
unlock:
	up_read(&policy->rwsem);
}

static void info_publish(void)
{
	u32 generation = info->generation;

	WRITE_ONCE(info->generation, generation + 1);
	/* Readers in user space see the odd number before what follows, */
	smp_wmb();
	gchint_table_publish(&table, info, cpus);
	WRITE_ONCE(info->features, features);
	/* and all of that before the even number. */
	smp_store_release(&info->generation, generation + 2);
	wake_up_interruptible(&gchint_info_wait);
}

/* May sleep; not with a cpufreq policy's rwsem held. */
void gchint_info_refresh(void)
{
	struct cpufreq_policy *policy;
	unsigned int cpu;

	mutex_lock(&info_lock);
	gchint_table_begin(&table);
	features = FEATURES_ALWAYS;
	if (IS_ENABLED(CONFIG_UCLAMP_TASK))
		features |= GCHINT_FEATURE_CLAMP;
	for_each_possible_cpu(cpu) {
		/* Its policy was drafted with another CPU of it. */
		if (gchint_table_has(&table, cpu))
			continue;
		policy = cpufreq_cpu_get(cpu);
		if (!policy)
			continue;
		info_draft_policy(policy);
		cpufreq_cpu_put(policy);
	}
	if (info->features != features || !gchint_table_is_published(&table, info, cpus))
		info_publish();
	mutex_unlock(&info_lock);
}

static void info_refresh_work(struct work_struct *work)
{
	gchint_info_refresh();
}

static DECLARE_WORK(refresh_work, info_refresh_work);

/* Governors, limits or policies changed. Any context but NMI. */
void gchint_info_queue_refresh(void)
{
	queue_work(system_dfl_wq, &refresh_work);
}

/* No session is open: the frequency probe no longer updates cur_khz. */
void gchint_info_clear_khz(void)
{
	unsigned int i;

	mutex_lock(&info_lock);
	khz_followed = false;
	for (i = 0; i < GCHINT_INFO_POLICIES; i++)
		WRITE_ONCE(info->policy[i].cur_khz, 0);
	for (i = 0; i < table.nr_cpus; i++)
		WRITE_ONCE(cpus[i].policy.cur_khz, 0);
	mutex_unlock(&info_lock);
}

/* gchint_info_follow - the frequency probe is registered */
void gchint_info_follow(void)
{
	mutex_lock(&info_lock);
	khz_followed = true;
	mutex_unlock(&info_lock);
}

static void info_copy_params(void)
{
	WRITE_ONCE(info->hint_ttl_ms, gchint_param_hint_ttl_ms);
}

static void info_set_phases(u32 *set, u32 phases)
{
	unsigned long flags;
	u32 mask;

	raw_spin_lock_irqsave(&mask_lock, flags);
	*set = phases;
	mask = governed_phases | recorded_phases;
	WRITE_ONCE(info->doorbell_begin, mask);
	WRITE_ONCE(info->doorbell_end, mask);
	WRITE_ONCE(info->record, recorded_phases);
	raw_spin_unlock_irqrestore(&mask_lock, flags);
}

/* Phases on which policies act, bit n for phase n. */
void gchint_info_set_governed(u32 phases)
{
	info_set_phases(&governed_phases, phases);
}

/* Phases that are recorded, bit n for phase n. */
void gchint_info_set_recorded(u32 phases)
{
	info_set_phases(&recorded_phases, phases);
}

/* An even number, as a reader sees it between two changes. */
u32 gchint_info_generation(void)
{
	return READ_ONCE(info->generation) & ~1u;
}

/* A caller that keeps the page takes a reference. */
struct page *gchint_info_page(void)
{
	return virt_to_page(info);
}

/* Length of the mapping of all CPUs in bytes, a multiple of PAGE_SIZE. */
unsigned long gchint_info_cpus_size(void)
{
	return PAGE_ALIGN(table.nr_cpus * sizeof(*cpus));
}

/* A page of that mapping, or NULL. A caller that keeps it takes a reference. */
struct page *gchint_info_cpus_page(unsigned long n)
{
	if (n >= gchint_info_cpus_size() >> PAGE_SHIFT)
		return NULL;
	return vmalloc_to_page((void *)cpus + (n << PAGE_SHIFT));
}

/* Any context. Rounded, so that users learn little of each other's programs. */
void gchint_info_probe_frequency(void *data, unsigned int khz, unsigned int cpu)
{
	unsigned int i;
	u32 rough;

	if (cpu >= table.nr_cpus)
		return;
	rough = gchint_table_round_khz(khz,
				       READ_ONCE(cpus[cpu].policy.hw_max_khz));
	WRITE_ONCE(cpus[cpu].policy.cur_khz, rough);
	if (cpu >= GCHINT_INFO_CPUS)
		return;
	i = READ_ONCE(info->cpu_policy[cpu]);
	if (i < GCHINT_INFO_POLICIES)
		WRITE_ONCE(info->policy[i].cur_khz, rough);
}

/*
 * Under the policy's rwsem, before it changes: the refresh waits for that. Our
 * own limits are not published: they would tell each user when another one's
 * program collects.
 */
void gchint_info_probe_limits(void *data, struct cpufreq_policy *policy)
{
	if (!gchint_actuator_is_applying(policy))
		gchint_info_queue_refresh();
}

static int info_policy_event(struct notifier_block *nb, unsigned long event,
			     void *data)
{
	gchint_info_queue_refresh();
	return NOTIFY_OK;
}

/* Not a transition notifier: that disables fast switch on the whole machine. */
static struct notifier_block policy_nb = {
	.notifier_call = info_policy_event,
};

static void info_free(void)
{
	kvfree(table.cpu);
	vfree(cpus);
	free_page((unsigned long)info);
	info = NULL;
}

int gchint_info_init(void)
{
	int ret = -ENOMEM;

	BUILD_BUG_ON(sizeof(struct gchint_info) > PAGE_SIZE);

	info = (void *)get_zeroed_page(GFP_KERNEL);
	table.nr_cpus = nr_cpu_ids;
	/* NOWARN: the errno of the module's init says it without a trace. */
	cpus = __vmalloc(gchint_info_cpus_size(),
			 GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	table.cpu = kvcalloc(table.nr_cpus, sizeof(*table.cpu),
			     GFP_KERNEL | __GFP_NOWARN);
	if (!info || !cpus || !table.cpu)
		goto free_info;
	info->abi = GCHINT_ABI;
	info->size = sizeof(*info);
	info->nr_cpus = table.nr_cpus;
	info->cpu_size = sizeof(*cpus);
	info->min_phase_us = MIN_PHASE_US;
	/* Other features are read when a session first needs the page. */
	info->features = FEATURES_ALWAYS;
	memset(info->cpu_policy, GCHINT_INFO_NO_POLICY,
	       sizeof(info->cpu_policy));
	gchint_param_set_listener(info_copy_params);

	ret = cpufreq_register_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	if (ret)
		goto unset_params;
	return 0;

unset_params:
	gchint_param_set_listener(NULL);
free_info:
	info_free();
	return ret;
}

void gchint_info_exit(void)
{
	gchint_param_set_listener(NULL);
	cpufreq_unregister_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	cancel_work_sync(&refresh_work);
	info_free();
}
