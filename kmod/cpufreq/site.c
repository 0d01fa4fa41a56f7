// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files "all" and "policyN" in the device's directory "actuator". Policies
 * are found by a walk: at load, when a CPU comes online, since a policy that
 * slept meanwhile is not notified, and when cpufreq reports a new one, under
 * its rwsem. When a policy goes, the notifier runs without the rwsem, and
 * nothing of ours may be left when it returns.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpufreq.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "actuator.h"
#include "compat/workqueue.h"
#include "policy.h"
#include "tunable_set.h"

#define DIRECTORY "actuator"

/* The place of a cpufreq policy, kept while the policy is gone. */
struct site {
	struct list_head node;
	struct kobj_attribute attr;
	char name[16];
	unsigned int first; /* CPU */
	struct cpufreq_policy *p; /* NULL while it is gone */
	/* Chosen; in force once a CPU of the policy is online. */
	const struct gchint_actuator *wanted;
	/* With an actuator that was chosen by a file and is in force. */
	struct gchint_policy *policy;
	const struct gchint_actuator *before; /* while "all" is written */
};

/*
 * Serialises choices and the list of sites. Outermost: rwsems of policies are
 * taken inside. cpufreq calls its notifier under one, so that must not take it.
 */
static DEFINE_MUTEX(choice_lock);
/*
 * Serialises what is in force at the sites with policies that go. Before all
 * other locks of cpufreq/; never under a policy's rwsem, nor the reverse.
 */
static DEFINE_MUTEX(site_lock);
static LIST_HEAD(sites);
static enum cpuhp_state hotplug_state;
/* The device, once its directory exists. Under choice_lock. */
static struct kobject *device_kobj;
/* The module is being removed: attach nothing. Under choice_lock. */
static bool sites_closing;
/* Actuator of policies that come later. */
static const struct gchint_actuator *default_actuator;

static void site_free_policy(struct gchint_policy *policy)
{
	gchint_actuator_remove(policy);
	gchint_tunable_set_detach(policy);
	gchint_actuator_free(policy);
}

static void site_detach(struct site *site)
{
	struct gchint_policy *policy = site->policy;

	lockdep_assert_held(&site_lock);
	if (!policy)
		return;
	site->policy = NULL;
	gchint_actuator_set_started(policy, false);
	policy->act->detach(policy);
	site_free_policy(policy);
}

/*
 * Under the rwsem: the driver frees the frequency table with the last CPU, and
 * a governor detached until that CPU returns would be refused then.
 *
 * Return: NULL without an online CPU; -EAGAIN if power was measured meanwhile.
 */
static struct gchint_policy *site_new_policy(struct cpufreq_policy *p,
					     const struct gchint_actuator *act)
{
	struct gchint_policy *policy = NULL;
	int ret = 0;

	down_read(&p->rwsem);
	if (policy_is_inactive(p))
		goto unlock;
	policy = gchint_actuator_new(p, act);
	ret = policy ? gchint_tunable_set_attach(policy) : -ENOMEM;
	if (ret)
		goto unlock;
	ret = gchint_actuator_add(policy);
	if (ret)
		gchint_tunable_set_detach(policy);
unlock:
	up_read(&p->rwsem);
	if (!ret)
		return policy;
	if (policy)
		gchint_actuator_free(policy);
	return ERR_PTR(ret);
}

/* Takes over @policy, even on error. Without the rwsem: attach takes it. */
static int site_attach_policy(struct site *site, struct gchint_policy *policy)
{
	int ret;

	mutex_lock(&site_lock);
	/* Another policy may have replaced one that went. */
	ret = -EAGAIN;
	if (site->p == policy->policy) {
		ret = policy->act->attach(policy);
		/* A limit on threads: the caller would try again for ever. */
		if (ret == -EAGAIN)
			ret = -ENOMEM;
	}
	if (ret) {
		site_free_policy(policy);
	} else {
		gchint_actuator_set_started(policy, true);
		site->policy = policy;
	}
	mutex_unlock(&site_lock);
	return ret;
}

/* Return: 0 also if it waits for the policy, or for a CPU of it. */
static int site_attach(struct site *site, const struct gchint_actuator *act)
{
	struct gchint_policy *policy;
	struct cpufreq_policy *p;
	int ret;

	lockdep_assert_held(&choice_lock);
	if (!act)
		return 0;
	do {
		mutex_lock(&site_lock);
		p = site->p;
		/* It may go after this, but its address is not reused. */
		if (p)
			kobject_get(&p->kobj);
		mutex_unlock(&site_lock);
		if (!p)
			return 0;
		policy = site_new_policy(p, act);
		ret = PTR_ERR_OR_ZERO(policy);
		if (!IS_ERR_OR_NULL(policy))
			ret = site_attach_policy(site, policy);
		kobject_put(&p->kobj);
	} while (ret == -EAGAIN);
	return ret;
}

static const struct gchint_actuator *site_actuator(struct site *site)
{
	const struct gchint_actuator *act;

	mutex_lock(&site_lock);
	act = site->policy ? site->policy->act : NULL;
	mutex_unlock(&site_lock);
	return act;
}

/* On error the actuator from before is attached again. */
static int site_set_actuator(struct site *site,
			     const struct gchint_actuator *act)
{
	const struct gchint_actuator *before = site->wanted;
	int ret;

	lockdep_assert_held(&choice_lock);
	if (before == act && site_actuator(site) == act)
		return 0;
	mutex_lock(&site_lock);
	site_detach(site);
	mutex_unlock(&site_lock);
	site->wanted = act;
	ret = site_attach(site, act);
	if (!ret)
		return 0;
	site->wanted = before;
	if (site_attach(site, before)) {
		pr_warn("policy %u: cannot restore the actuator %s\n",
			site->first, before->name);
		site->wanted = NULL;
	}
	return ret;
}

static int actuator_parse(const char *buf, const struct gchint_actuator **act)
{
	if (sysfs_streq(buf, "off"))
		*act = NULL;
	else if (sysfs_streq(buf, gchint_limits.name))
		*act = &gchint_limits;
	else
		return -EINVAL;
	return 0;
}

static int policy_is_governed(struct gchint_policy *policy, void *priv)
{
	return policy->policy == priv && gchint_policy_is_governed(policy);
}

static const char *site_actuator_name(const struct site *site)
{
	if (site->policy)
		return site->policy->act->name;
	if (gchint_actuator_for_each(policy_is_governed, site->p))
		return "governor";
	return site->wanted ? site->wanted->name : "off";
}

static ssize_t site_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct site *site = container_of(attr, struct site, attr);
	ssize_t ret;

	mutex_lock(&site_lock);
	ret = site->p ? sysfs_emit(buf, "%s\n", site_actuator_name(site)) :
			-ENODEV;
	mutex_unlock(&site_lock);
	return ret;
}

static ssize_t site_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	struct site *site = container_of(attr, struct site, attr);
	const struct gchint_actuator *act;
	int ret = actuator_parse(buf, &act);
	bool present;

	if (ret)
		return ret;
	mutex_lock(&choice_lock);
	mutex_lock(&site_lock);
	present = site->p;
	mutex_unlock(&site_lock);
	if (present && !sites_closing)
		ret = site_set_actuator(site, act);
	else
		ret = -ENODEV;
	mutex_unlock(&choice_lock);
	return ret ?: count;
}

/* The name of the actuator that is the same everywhere, or "mixed". */
static ssize_t all_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	const char *name = NULL;
	struct site *site;

	mutex_lock(&site_lock);
	list_for_each_entry(site, &sites, node) {
		if (!site->p)
			continue;
		if (name && strcmp(name, site_actuator_name(site))) {
			name = "mixed";
			break;
		}
		name = site_actuator_name(site);
	}
	mutex_unlock(&site_lock);
	return sysfs_emit(buf, "%s\n", name ?: "off");
}

/* All or nothing: an error restores each site. */
static ssize_t all_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count)
{
	const struct gchint_actuator *act;
	struct site *site;
	int ret = actuator_parse(buf, &act);

	if (ret)
		return ret;
	mutex_lock(&choice_lock);
	if (sites_closing) {
		mutex_unlock(&choice_lock);
		return -ENODEV;
	}
	list_for_each_entry(site, &sites, node) {
		site->before = site->wanted;
		ret = site_set_actuator(site, act);
		if (ret)
			break;
	}
	if (ret) {
		list_for_each_entry_continue_reverse(site, &sites, node)
			site_set_actuator(site, site->before);
	} else {
		default_actuator = act;
	}
	mutex_unlock(&choice_lock);
	return ret ?: count;
}

static struct kobj_attribute all_attr = __ATTR(all, 0644, all_show, all_store);

static struct attribute *site_attrs[] = { &all_attr.attr, NULL };
static const struct attribute_group site_group = {
	.name = DIRECTORY,
	.attrs = site_attrs,
};

static struct site *site_find(unsigned int first)
{
	struct site *site;

	list_for_each_entry(site, &sites, node)
		if (site->first == first)
			return site;
	return NULL;
}

static struct site *site_add(unsigned int first)
{
	struct site *site = kzalloc(sizeof(*site), GFP_KERNEL);

	if (!site)
		return NULL;
	site->first = first;
	site->wanted = default_actuator;
	snprintf(site->name, sizeof(site->name), "policy%u", first);
	sysfs_attr_init(&site->attr.attr);
	site->attr.attr.name = site->name;
	site->attr.attr.mode = 0644;
	site->attr.show = site_show;
	site->attr.store = site_store;
	if (sysfs_add_file_to_group(device_kobj, &site->attr.attr, DIRECTORY)) {
		kfree(site);
		return NULL;
	}
	list_add_tail(&site->node, &sites);
	return site;
}

/* A policy that is going is not found: its notifier waits for site_lock. */
static struct site *site_discover(unsigned int cpu)
{
	struct cpufreq_policy *p;
	struct site *site = NULL;
	unsigned int first;

	mutex_lock(&site_lock);
	p = cpufreq_cpu_get(cpu);
	if (p) {
		first = cpumask_first(p->related_cpus);
		site = site_find(first) ?: site_add(first);
		if (site)
			site->p = p;
		cpufreq_cpu_put(p);
	}
	mutex_unlock(&site_lock);
	return site;
}

static void site_walk(struct work_struct *work)
{
	struct site *site;
	unsigned int cpu;

	mutex_lock(&choice_lock);
	for_each_online_cpu(cpu) {
		if (!device_kobj || sites_closing)
			break;
		site = site_discover(cpu);
		if (!site || site_actuator(site) ||
		    !site_attach(site, site->wanted))
			continue;
		pr_warn("policy %u: cannot attach the actuator %s\n",
			site->first, site->wanted->name);
		site->wanted = NULL;
	}
	mutex_unlock(&choice_lock);
}

static DECLARE_WORK(site_walk_work, site_walk);

static int site_policy_event(struct notifier_block *nb, unsigned long event,
			     void *data)
{
	struct site *site;

	if (event == CPUFREQ_CREATE_POLICY) {
		queue_work(system_dfl_wq, &site_walk_work);
		return NOTIFY_OK;
	}
	mutex_lock(&site_lock);
	list_for_each_entry(site, &sites, node) {
		if (site->p == data) {
			site_detach(site);
			site->p = NULL;
		}
	}
	mutex_unlock(&site_lock);
	return NOTIFY_OK;
}

static int site_cpu_online(unsigned int cpu)
{
	queue_work(system_dfl_wq, &site_walk_work);
	return 0;
}

static struct notifier_block site_nb = { .notifier_call = site_policy_event };

__ATTRIBUTE_GROUPS(site);

const struct attribute_group **gchint_site_groups(void)
{
	return site_groups;
}

/* Follow policies as they come and go; creates no file yet. */
int gchint_site_init(void)
{
	int ret = cpufreq_register_notifier(&site_nb, CPUFREQ_POLICY_NOTIFIER);

	if (ret)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gchint/site:online",
					site_cpu_online, NULL);
	if (ret < 0) {
		cpufreq_unregister_notifier(&site_nb, CPUFREQ_POLICY_NOTIFIER);
		return ret;
	}
	hotplug_state = ret;
	return 0;
}

/* @device has the group of gchint_site_groups(). */
void gchint_site_register(struct kobject *device)
{
	mutex_lock(&choice_lock);
	device_kobj = device;
	mutex_unlock(&choice_lock);
	site_walk(NULL);
}

/*
 * The notifier stays: a driver that leaves meanwhile takes its policies out of
 * our sites, and waits while one of them is being detached.
 */
void gchint_site_unregister(void)
{
	struct site *site;

	/* After this a walk adds no file and attaches nothing. */
	mutex_lock(&choice_lock);
	sites_closing = true;
	mutex_unlock(&choice_lock);
	/* Waits for writers inside. No site is added any more. */
	list_for_each_entry(site, &sites, node)
		sysfs_remove_file_from_group(device_kobj, &site->attr.attr,
					     DIRECTORY);
	mutex_lock(&site_lock);
	list_for_each_entry(site, &sites, node)
		site_detach(site);
	mutex_unlock(&site_lock);
}

void gchint_site_exit(void)
{
	struct site *site, *next;

	cpuhp_remove_state_nocalls(hotplug_state);
	cpufreq_unregister_notifier(&site_nb, CPUFREQ_POLICY_NOTIFIER);
	cancel_work_sync(&site_walk_work);
	list_for_each_entry_safe(site, next, &sites, node) {
		list_del(&site->node);
		kfree(site);
	}
}
