// SPDX-License-Identifier: GPL-2.0-only
/*
 * One page for all sessions, mapped read-only by them. Two locks:
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
#include <linux/workqueue.h>

#include "governor.h"
#include "info.h"
#include "param.h"

DECLARE_WAIT_QUEUE_HEAD(gchint_info_wait);

static struct gchint_info *info;
static DEFINE_MUTEX(info_lock);
static DEFINE_RAW_SPINLOCK(mask_lock);
static u32 governed;
static u32 recorded;

/* Guarded by info_lock: the entries to be, and whom each stands for. */
static struct gchint_info_policy draft[GCHINT_INFO_POLICIES];
static u8 draft_map[GCHINT_INFO_CPUS];
static unsigned int first_cpu[GCHINT_INFO_POLICIES];
static unsigned int nr_draft;

static void refresh(struct work_struct *work);
static DECLARE_WORK(refresh_work, refresh);

static int entry_of(struct cpufreq_policy *policy)
{
	unsigned int first = cpumask_first(policy->related_cpus);
	unsigned int i;

	for (i = 0; i < nr_draft; i++)
		if (first_cpu[i] == first)
			return i;
	if (nr_draft == GCHINT_INFO_POLICIES)
		return -ENOSPC;
	first_cpu[nr_draft] = first;
	return nr_draft++;
}

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
	struct gchint_info_policy *entry;
	unsigned int cpu;
	int i;

	down_read(&policy->rwsem);
	if (policy_is_inactive(policy))
		goto unlock;
	i = entry_of(policy);
	if (i < 0)
		goto unlock;
	entry = &draft[i];
	strscpy(entry->governor, governor_name(policy), sizeof(entry->governor));
	entry->max_khz = policy->max;
	entry->hw_max_khz = policy->cpuinfo.max_freq;
	entry->flags = GCHINT_POLICY_PRESENT;
	if (gchint_governor_active(policy))
		entry->flags |= GCHINT_POLICY_GCHINT;
	if (policy->fast_switch_enabled)
		entry->flags |= GCHINT_POLICY_FAST;
	/* Unknown until now; a probe that was quicker knows better. */
	cmpxchg(&info->policy[i].cur_khz, 0, policy->cur);
	for_each_cpu(cpu, policy->cpus)
		if (cpu < GCHINT_INFO_CPUS)
			draft_map[cpu] = i;
unlock:
	up_read(&policy->rwsem);
}

static bool differs(unsigned int i)
{
	const struct gchint_info_policy *a = &draft[i], *b = &info->policy[i];

	return memcmp(a->governor, b->governor, sizeof(a->governor)) ||
	       a->max_khz != b->max_khz || a->hw_max_khz != b->hw_max_khz ||
	       a->flags != b->flags;
}

static bool changed(void)
{
	unsigned int i;

	if (info->nr_policies != nr_draft ||
	    memcmp(info->cpu_policy, draft_map, sizeof(draft_map)))
		return true;
	for (i = 0; i < nr_draft; i++)
		if (differs(i))
			return true;
	return false;
}

static void publish(void)
{
	u32 generation = info->generation;
	unsigned int i;

	WRITE_ONCE(info->generation, generation + 1);
	/* Readers in user space see the odd number before what follows. */
	smp_wmb();
	for (i = 0; i < nr_draft; i++) {
		struct gchint_info_policy *entry = &info->policy[i];

		memcpy(entry->governor, draft[i].governor,
		       sizeof(entry->governor));
		WRITE_ONCE(entry->max_khz, draft[i].max_khz);
		WRITE_ONCE(entry->hw_max_khz, draft[i].hw_max_khz);
		WRITE_ONCE(entry->flags, draft[i].flags);
	}
	memcpy(info->cpu_policy, draft_map, sizeof(draft_map));
	WRITE_ONCE(info->nr_policies, nr_draft);
	/* ... and all of it before the even one. */
	smp_store_release(&info->generation, generation + 2);
	wake_up_interruptible(&gchint_info_wait);
}

static void refresh_locked(void)
{
	unsigned int cpu;

	memset(draft, 0, sizeof(draft));
	memset(draft_map, GCHINT_INFO_NO_POLICY, sizeof(draft_map));
	for_each_possible_cpu(cpu) {
		struct cpufreq_policy *policy;

		/* Seen with another CPU of its policy? */
		if (cpu < GCHINT_INFO_CPUS &&
		    draft_map[cpu] != GCHINT_INFO_NO_POLICY)
			continue;
		policy = cpufreq_cpu_get(cpu);
		if (!policy)
			continue;
		draft_policy(policy);
		cpufreq_cpu_put(policy);
	}
	if (changed())
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
 * gchint_info_open - make the page true before a session reads it
 */
void gchint_info_open(void)
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
}

/**
 * gchint_info_params - parameters that the page repeats have changed
 */
void gchint_info_params(void)
{
	/* Parameters given to insmod come before the page. */
	if (!info)
		return;
	WRITE_ONCE(info->hint_ttl_ms, gchint_param_hint_ttl_ms);
	WRITE_ONCE(info->min_phase_us, gchint_param_min_phase_us);
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
 * gchint_info_probe_frequency - at tracepoint cpu_frequency
 * @data: unused
 * @khz: the new frequency
 * @cpu: whose
 */
void gchint_info_probe_frequency(void *data, unsigned int khz, unsigned int cpu)
{
	unsigned int i;

	if (cpu >= GCHINT_INFO_CPUS)
		return;
	i = READ_ONCE(info->cpu_policy[cpu]);
	if (i < GCHINT_INFO_POLICIES)
		WRITE_ONCE(info->policy[i].cur_khz, khz);
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

int gchint_info_init(void)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct gchint_info) > PAGE_SIZE);

	info = (void *)get_zeroed_page(GFP_KERNEL);
	if (!info)
		return -ENOMEM;
	info->abi = GCHINT_ABI;
	info->size = sizeof(*info);
	memset(info->cpu_policy, GCHINT_INFO_NO_POLICY,
	       sizeof(info->cpu_policy));
	gchint_info_params();

	ret = cpufreq_register_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	if (ret)
		goto free_info;
	return 0;

free_info:
	free_page((unsigned long)info);
	info = NULL;
	return ret;
}

void gchint_info_exit(void)
{
	cpufreq_unregister_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	cancel_work_sync(&refresh_work);
	free_page((unsigned long)info);
	info = NULL;
}
