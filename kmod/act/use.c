// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files "all" and "policyN" in the device's folder actuator. Policies are known
 * from a walk at load and from cpufreq's notifier. It calls with the policy's
 * rwsem held when one comes: the walk is repeated later. When one goes it calls
 * without it, and what is ours must be gone when it returns.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpufreq.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "actuator.h"
#include "affinity.h"
#include "clamp.h"
#include "limits.h"
#include "policy.h"
#include "tunable_set.h"
#include "use.h"

#define FOLDER "actuator"

/* In the order of enum gchint_actuator_id. NULL: nothing. */
static const struct gchint_actuator * const actuators[] = {
	[GCHINT_ACTUATOR_CLAMP] = &gchint_clamp,
	[GCHINT_ACTUATOR_LIMITS] = &gchint_limits,
	[GCHINT_ACTUATOR_AFFINITY] = &gchint_affinity,
};

/**
 * struct site - a place where a cpufreq policy is, or was
 * @node: in the list of all
 * @attr: its file
 * @name: of the file
 * @first: its first CPU
 * @p: the policy, or NULL while there is none
 * @policy: what acts there, if it was chosen by a file
 * @before: what did, while all are being given another
 *
 * Stays until the module goes: a policy may come back.
 */
struct site {
	struct list_head node;
	struct kobj_attribute attr;
	char name[16];
	unsigned int first;
	struct cpufreq_policy *p;
	struct gchint_policy *policy;
	const struct gchint_actuator *before;
};

/*
 * Serialises the sites and what is in force there. Taken before all locks of
 * this room, never with a policy's rwsem held.
 */
static DEFINE_MUTEX(use_lock);
static LIST_HEAD(sites);
static struct kobject *folder_of;
/* What policies get that come later. */
static const struct gchint_actuator *preferred;
/* Returns when threads are as they should be; called without locks. */
static void (*settled)(void);

static void discard(struct gchint_policy *policy)
{
	gchint_actuator_remove(policy);
	gchint_tunable_set_detach(policy);
	gchint_actuator_free(policy);
}

static void take_away(struct site *site)
{
	struct gchint_policy *policy = site->policy;

	if (!policy)
		return;
	site->policy = NULL;
	gchint_actuator_started(policy, false);
	policy->act->detach(policy);
	discard(policy);
}

/* Under the rwsem: with its last CPU the driver takes away the table that is read. */
static int make(struct gchint_policy **made, struct cpufreq_policy *p,
		const struct gchint_actuator *act)
{
	struct gchint_policy *policy;
	int ret;

	lockdep_assert_held_read(&p->rwsem);
	policy = gchint_actuator_new(p, act);
	if (!policy)
		return -ENOMEM;
	ret = gchint_tunable_set_attach(policy);
	if (ret)
		goto free_policy;
	ret = gchint_actuator_add(policy);
	if (ret)
		goto detach_set;
	*made = policy;
	return 0;

detach_set:
	gchint_tunable_set_detach(policy);
free_policy:
	gchint_actuator_free(policy);
	return ret;
}

static int give(struct site *site, const struct gchint_actuator *act)
{
	struct gchint_policy *policy;
	int ret;

	if (!act)
		return 0;
	down_read(&site->p->rwsem);
	ret = make(&policy, site->p, act);
	up_read(&site->p->rwsem);
	if (ret)
		return ret;
	/* Not under it: a request on limits calls back. */
	ret = act->attach(policy);
	if (ret) {
		discard(policy);
		return ret;
	}
	gchint_actuator_started(policy, true);
	site->policy = policy;
	return 0;
}

static const struct gchint_actuator *given(const struct site *site)
{
	return site->policy ? site->policy->act : NULL;
}

/* What cannot be given leaves what was there before. */
static int put(struct site *site, const struct gchint_actuator *act)
{
	const struct gchint_actuator *before = given(site);
	int ret;

	lockdep_assert_held(&use_lock);
	if (!site->p)
		return -ENODEV;
	if (before == act)
		return 0;
	take_away(site);
	ret = give(site, act);
	if (ret && give(site, before))
		pr_warn("policy %u lost %s\n", site->first, before->name);
	return ret;
}

/* -EINVAL: no such actuator, or one that is not chosen here. */
static int parse(const char *buf, const struct gchint_actuator **act)
{
	unsigned int i;

	*act = NULL;
	if (sysfs_streq(buf, "off"))
		return 0;
	for (i = 0; i < ARRAY_SIZE(actuators); i++) {
		if (actuators[i] && sysfs_streq(buf, actuators[i]->name)) {
			*act = actuators[i];
			return 0;
		}
	}
	return -EINVAL;
}

static int governed_by_us(struct gchint_policy *policy, void *priv)
{
	return policy->policy == priv && gchint_policy_loaded(policy);
}

static const char *name_of(const struct site *site)
{
	if (site->policy)
		return site->policy->act->name;
	if (site->p && gchint_actuator_each(governed_by_us, site->p))
		return "governor";
	return "off";
}

static ssize_t one_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	struct site *site = container_of(attr, struct site, attr);
	ssize_t ret;

	mutex_lock(&use_lock);
	ret = site->p ? sysfs_emit(buf, "%s\n", name_of(site)) : -ENODEV;
	mutex_unlock(&use_lock);
	return ret;
}

static ssize_t one_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count)
{
	struct site *site = container_of(attr, struct site, attr);
	const struct gchint_actuator *act;
	int ret = parse(buf, &act);

	if (ret)
		return ret;
	mutex_lock(&use_lock);
	ret = put(site, act);
	mutex_unlock(&use_lock);
	settled();
	return ret ?: count;
}

/* One name where it is the same everywhere. */
static ssize_t all_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	const char *name = NULL;
	struct site *site;

	mutex_lock(&use_lock);
	list_for_each_entry(site, &sites, node) {
		if (!site->p)
			continue;
		if (name && strcmp(name, name_of(site)))
			name = "mixed";
		else
			name = name_of(site);
		if (!strcmp(name, "mixed"))
			break;
	}
	mutex_unlock(&use_lock);
	return sysfs_emit(buf, "%s\n", name ?: "off");
}

/* All or nothing: the first that cannot leaves each as it was. */
static ssize_t all_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count)
{
	const struct gchint_actuator *act;
	struct site *site;
	int ret = parse(buf, &act);

	if (ret)
		return ret;
	mutex_lock(&use_lock);
	list_for_each_entry(site, &sites, node) {
		if (!site->p)
			continue;
		site->before = given(site);
		ret = put(site, act);
		if (ret)
			break;
	}
	if (ret) {
		list_for_each_entry_continue_reverse(site, &sites, node)
			if (site->p)
				put(site, site->before);
	} else {
		preferred = act;
	}
	mutex_unlock(&use_lock);
	settled();
	return ret ?: count;
}

static struct kobj_attribute all_attr = __ATTR(all, 0644, all_show, all_store);

static struct attribute *attrs[] = { &all_attr.attr, NULL };
static const struct attribute_group group = { .name = FOLDER, .attrs = attrs };

static struct site *site_of(unsigned int first)
{
	struct site *site;

	list_for_each_entry(site, &sites, node)
		if (site->first == first)
			return site;
	return NULL;
}

static void meet(struct cpufreq_policy *p)
{
	unsigned int first = cpumask_first(p->related_cpus);
	struct site *site = site_of(first);

	if (!site) {
		site = kzalloc(sizeof(*site), GFP_KERNEL);
		if (!site)
			return;
		site->first = first;
		snprintf(site->name, sizeof(site->name), "policy%u", first);
		sysfs_attr_init(&site->attr.attr);
		site->attr.attr.name = site->name;
		site->attr.attr.mode = 0644;
		site->attr.show = one_show;
		site->attr.store = one_store;
		if (sysfs_add_file_to_group(folder_of, &site->attr.attr,
					    FOLDER)) {
			kfree(site);
			return;
		}
		list_add_tail(&site->node, &sites);
	}
	if (site->p)
		return;
	site->p = p;
	if (preferred && put(site, preferred))
		pr_warn("policy %u cannot be given %s\n", first,
			preferred->name);
}

static void walk(struct work_struct *work)
{
	struct cpufreq_policy *p;
	unsigned int cpu;

	mutex_lock(&use_lock);
	for_each_online_cpu(cpu) {
		p = cpufreq_cpu_get(cpu);
		if (!p)
			continue;
		meet(p);
		cpufreq_cpu_put(p);
	}
	mutex_unlock(&use_lock);
}

static DECLARE_WORK(walk_work, walk);

static int policy_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	struct site *site;

	if (event == CPUFREQ_CREATE_POLICY) {
		queue_work(system_unbound_wq, &walk_work);
		return NOTIFY_OK;
	}
	mutex_lock(&use_lock);
	list_for_each_entry(site, &sites, node) {
		if (site->p == data) {
			take_away(site);
			site->p = NULL;
		}
	}
	mutex_unlock(&use_lock);
	return NOTIFY_OK;
}

static struct notifier_block policy_nb = { .notifier_call = policy_event };

/**
 * gchint_use_init - offer the choice
 * @device: whose folder the files are put into
 * @settle: returns when all threads are as they should be; called without locks
 *
 * Return: 0 or a negative errno.
 */
int gchint_use_init(struct kobject *device, void (*settle)(void))
{
	int ret;

	settled = settle;
	folder_of = device;
	ret = sysfs_create_group(device, &group);
	if (ret)
		return ret;
	ret = cpufreq_register_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	if (ret) {
		sysfs_remove_group(device, &group);
		return ret;
	}
	walk(NULL);
	return 0;
}

void gchint_use_exit(void)
{
	struct site *site, *next;

	cpufreq_unregister_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	cancel_work_sync(&walk_work);
	/* Waits for those who are in a file; nobody chooses any more. */
	list_for_each_entry(site, &sites, node)
		sysfs_remove_file_from_group(folder_of, &site->attr.attr,
					     FOLDER);
	sysfs_remove_group(folder_of, &group);
	mutex_lock(&use_lock);
	list_for_each_entry_safe(site, next, &sites, node) {
		take_away(site);
		list_del(&site->node);
		kfree(site);
	}
	mutex_unlock(&use_lock);
	settled();
}
