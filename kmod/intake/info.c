// SPDX-License-Identifier: GPL-2.0-only
/*
 * One page for all sessions, and an entry for each CPU, both mapped read-only by
 * them. Two locks:
 *
 * info_lock	(mutex) serialises what gchint_info.generation guards. It is
 *		taken before a cpufreq policy's rwsem, so it must never be
 *		taken by a caller that holds one: governor callbacks only ask
 *		for a refresh.
 * mask_lock	(raw) serialises the doorbell masks, which are told at once.
 *
 * cur_khz has no lock: the cpu_frequency tracepoint stores it.
 */
#include <linux/cpufreq.h>
#include <linux/gchint.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "act/actuator.h"
#include "info.h"
#include "param.h"
#include "table.h"

#define ALWAYS (GCHINT_FEATURE_CPUS | GCHINT_FEATURE_GROW)
/* To announce a shorter phase costs more than it can give. The library obeys it. */
#define MIN_PHASE_US 100

DECLARE_WAIT_QUEUE_HEAD(gchint_info_wait);

static struct gchint_info *info;
static struct gchint_info_cpu *cpus;
static DEFINE_MUTEX(info_lock);
static DEFINE_RAW_SPINLOCK(mask_lock);
static u32 governed;
static u32 recorded;

/* Guarded by info_lock: what is to be told. */
static struct gchint_table table;
static u64 features;

static void refresh(struct work_struct *work);
static DECLARE_WORK(refresh_work, refresh);

static const char *governor_name(struct cpufreq_policy *policy)
{
	if (policy->governor)
		return policy->governor->name;
	/* A driver that governs itself knows just these two. */
	if (policy->policy == CPUFREQ_POLICY_PERFORMANCE)
		return "performance";
	if (policy->policy == CPUFREQ_POLICY_POWERSAVE)
		return "powersave";
	return "";
}

static void draft_policy(struct cpufreq_policy *policy)
{
	struct gchint_info_policy entry = { .flags = GCHINT_POLICY_PRESENT };
	unsigned int cpu, first;
	u32 rough;

	down_read(&policy->rwsem);
	if (policy_is_inactive(policy))
		goto unlock;
	strscpy(entry.governor, governor_name(policy), sizeof(entry.governor));
	entry.max_khz = policy->max;
	entry.hw_max_khz = policy->cpuinfo.max_freq;
	features |= GCHINT_FEATURE_LIMITS;
	if (policy->governor)
		features |= GCHINT_FEATURE_GOVERNOR;
	if (gchint_actuator_active(policy))
		entry.flags |= GCHINT_POLICY_GCHINT;
	if (policy->fast_switch_enabled)
		entry.flags |= GCHINT_POLICY_FAST;
	rough = gchint_table_rough(policy->cur, entry.hw_max_khz);
	first = cpumask_first(policy->related_cpus);
	for_each_cpu(cpu, policy->cpus) {
		gchint_table_put(&table, cpu, first, &entry);
		/* Unknown until now; a probe that was quicker knows better. */
		cmpxchg(&cpus[cpu].policy.cur_khz, 0, rough);
		if (cpu < GCHINT_INFO_CPUS &&
		    table.of_cpu[cpu] < GCHINT_INFO_POLICIES)
			cmpxchg(&info->policy[table.of_cpu[cpu]].cur_khz, 0,
				rough);
	}
unlock:
	up_read(&policy->rwsem);
}

static void publish(void)
{
	u32 generation = info->generation;

	WRITE_ONCE(info->generation, generation + 1);
	/* Readers in user space see the odd number before what follows. */
	smp_wmb();
	gchint_table_tell(&table, info, cpus);
	WRITE_ONCE(info->features, features);
	/* ... and all of it before the even one. */
	smp_store_release(&info->generation, generation + 2);
	wake_up_interruptible(&gchint_info_wait);
}

static void refresh_locked(void)
{
	unsigned int cpu;

	gchint_table_begin(&table);
	features = ALWAYS;
	if (IS_ENABLED(CONFIG_UCLAMP_TASK))
		features |= GCHINT_FEATURE_CLAMP;
	for_each_possible_cpu(cpu) {
		struct cpufreq_policy *policy;

		/* Seen with another CPU of its policy? */
		if (gchint_table_has(&table, cpu))
			continue;
		policy = cpufreq_cpu_get(cpu);
		if (!policy)
			continue;
		draft_policy(policy);
		cpufreq_cpu_put(policy);
	}
	if (info->features != features || !gchint_table_told(&table, info, cpus))
		publish();
}

static void refresh(struct work_struct *work)
{
	mutex_lock(&info_lock);
	refresh_locked();
	mutex_unlock(&info_lock);
}

/**
 * gchint_info_stale - governors, limits or policies have changed
 *
 * Any context but NMI; the page follows soon.
 */
void gchint_info_stale(void)
{
	queue_work(system_unbound_wq, &refresh_work);
}

/**
 * gchint_info_refresh - make the page true, which nobody followed until now
 *
 * May sleep; not with a cpufreq policy's rwsem held.
 */
void gchint_info_refresh(void)
{
	refresh(NULL);
}

/**
 * gchint_info_idle - no session is open: frequencies are no longer followed
 */
void gchint_info_idle(void)
{
	unsigned int i;

	for (i = 0; i < GCHINT_INFO_POLICIES; i++)
		WRITE_ONCE(info->policy[i].cur_khz, 0);
	for (i = 0; i < table.nr_cpus; i++)
		WRITE_ONCE(cpus[i].policy.cur_khz, 0);
}

/* Parameters that the page repeats have changed. */
static void take_params(void)
{
	WRITE_ONCE(info->hint_ttl_ms, gchint_param_hint_ttl_ms);
}

static void publish_masks(void)
{
	u32 mask = governed | recorded;

	WRITE_ONCE(info->doorbell_begin, mask);
	WRITE_ONCE(info->doorbell_end, mask);
	WRITE_ONCE(info->record, recorded);
}

/**
 * gchint_info_governed - tell which phases the policies under gchint wait for
 * @phases: bit n for phase n
 */
void gchint_info_governed(u32 phases)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&mask_lock, flags);
	governed = phases;
	publish_masks();
	raw_spin_unlock_irqrestore(&mask_lock, flags);
}

/**
 * gchint_info_recorded - tell which phases somebody records
 * @phases: bit n for phase n
 */
void gchint_info_recorded(u32 phases)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&mask_lock, flags);
	recorded = phases;
	publish_masks();
	raw_spin_unlock_irqrestore(&mask_lock, flags);
}

/**
 * gchint_info_generation - the generation that a reader would see
 *
 * Return: an even number.
 */
u32 gchint_info_generation(void)
{
	return READ_ONCE(info->generation) & ~1u;
}

/**
 * gchint_info_page - the page, for a mapping
 *
 * Return: the page; the caller takes a reference if it keeps it.
 */
struct page *gchint_info_page(void)
{
	return virt_to_page(info);
}

/**
 * gchint_info_cpus_size - how long the mapping of all CPUs may be
 *
 * Return: bytes, a multiple of PAGE_SIZE.
 */
unsigned long gchint_info_cpus_size(void)
{
	return PAGE_ALIGN(table.nr_cpus * sizeof(*cpus));
}

/**
 * gchint_info_cpus_page - a page of what is told of each CPU
 * @n: which
 *
 * Return: the page, or NULL past the last; the caller takes a reference if it
 * keeps it.
 */
struct page *gchint_info_cpus_page(unsigned long n)
{
	if (n >= gchint_info_cpus_size() >> PAGE_SHIFT)
		return NULL;
	return vmalloc_to_page((void *)cpus + (n << PAGE_SHIFT));
}

/**
 * gchint_info_probe_frequency - at tracepoint cpu_frequency
 * @data: unused
 * @khz: the new frequency
 * @cpu: whose
 */
void gchint_info_probe_frequency(void *data, unsigned int khz, unsigned int cpu)
{
	unsigned int i;
	u32 rough;

	if (cpu >= table.nr_cpus)
		return;
	rough = gchint_table_rough(khz,
				   READ_ONCE(cpus[cpu].policy.hw_max_khz));
	WRITE_ONCE(cpus[cpu].policy.cur_khz, rough);
	if (cpu >= GCHINT_INFO_CPUS)
		return;
	i = READ_ONCE(info->cpu_policy[cpu]);
	if (i < GCHINT_INFO_POLICIES)
		WRITE_ONCE(info->policy[i].cur_khz, rough);
}

/**
 * gchint_info_probe_limits - at tracepoint cpu_frequency_limits
 * @data: unused
 * @policy: whose limits, and maybe governor, are about to change
 *
 * Called with the policy's rwsem held; the refresh waits for it.
 */
void gchint_info_probe_limits(void *data, struct cpufreq_policy *policy)
{
	gchint_info_stale();
}

static int policy_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	gchint_info_stale();
	return NOTIFY_OK;
}

/*
 * A policy notifier only. A transition notifier would turn off fast switch
 * for the whole machine.
 */
static struct notifier_block policy_nb = { .notifier_call = policy_event };

static void free_all(void)
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
	/* Whoever loads the module is told by its errno, without a stack in the log. */
	cpus = __vmalloc(gchint_info_cpus_size(),
			 GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	table.cpu = kvcalloc(table.nr_cpus, sizeof(*table.cpu),
			     GFP_KERNEL | __GFP_NOWARN);
	if (!info || !cpus || !table.cpu)
		goto free_all;
	info->abi = GCHINT_ABI;
	info->size = sizeof(*info);
	info->nr_cpus = table.nr_cpus;
	info->cpu_size = sizeof(*cpus);
	info->min_phase_us = MIN_PHASE_US;
	/* What they have besides is known when a session asks. */
	info->features = ALWAYS;
	memset(info->cpu_policy, GCHINT_INFO_NO_POLICY,
	       sizeof(info->cpu_policy));
	gchint_param_tell(take_params);

	ret = cpufreq_register_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	if (ret)
		goto untell;
	return 0;

untell:
	gchint_param_tell(NULL);
free_all:
	free_all();
	return ret;
}

void gchint_info_exit(void)
{
	gchint_param_tell(NULL);
	cpufreq_unregister_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	cancel_work_sync(&refresh_work);
	free_all();
}
