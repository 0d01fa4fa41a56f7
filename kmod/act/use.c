// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files "all" and "policyN" in the device's folder actuator. Policies are known
 * from a walk at load, which is repeated when a CPU comes online, for nobody tells
 * of a policy that slept meanwhile, and when cpufreq's notifier tells of a new one,
 * for it calls with that policy's rwsem held. When a policy goes it calls without
 * it, and what is ours must be gone when it returns.
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
#include <linux/workqueue.h>

#include "actuator.h"
#include "limits.h"
#include "policy.h"
#include "tunable_set.h"
#include "use.h"

#define FOLDER "actuator"

/* In the order of enum gchint_actuator_id. NULL: nothing. */
static const struct gchint_actuator * const actuators[] = {
	[GCHINT_ACTUATOR_LIMITS] = &gchint_limits,
};

/**
 * struct site - a place where a cpufreq policy is, or was
 * @node: in the list of all
 * @attr: its file
 * @name: of the file
 * @first: its first CPU
 * @p: the policy, or NULL while there is none
 * @wanted: what was chosen; in force as soon as a CPU of the policy is online
 * @policy: what acts there, if it was chosen by a file
 * @before: what was chosen, while all are being given another
 *
 * Stays until the module goes: a policy may come back.
 */
struct site {
	struct list_head node;
	struct kobj_attribute attr;
	char name[16];
	unsigned int first;
	struct cpufreq_policy *p;
	const struct gchint_actuator *wanted;
	struct gchint_policy *policy;
	const struct gchint_actuator *before;
};

/*
 * Serialises those who choose, and the list of sites. Outermost: a policy's rwsem,
 * under which cpufreq calls its notifiers, is taken below it, so the notifier must not
 * take it.
 */
static DEFINE_MUTEX(choice_lock);
/*
 * Below that: serialises what is in force at the sites with policies that go. Taken
 * before all other locks of this room, never with a policy's rwsem, nor that below it.
 */
static DEFINE_MUTEX(use_lock);
static LIST_HEAD(sites);
static enum cpuhp_state hotplug;
/* The device's directory; NULL until it is there. Under choice_lock. */
static struct kobject *folder_of;
/* The module goes: nothing is attached any more. Under choice_lock. */
static bool closing;
/* What policies get that come later. */
static const struct gchint_actuator *preferred;

static void discard(struct gchint_policy *policy)
{
	gchint_actuator_remove(policy);
	gchint_tunable_set_detach(policy);
	gchint_actuator_free(policy);
}

static void take_away(struct site *site)
{
	struct gchint_policy *policy = site->policy;

	lockdep_assert_held(&use_lock);
	if (!policy)
		return;
	site->policy = NULL;
	gchint_actuator_started(policy, false);
	policy->act->detach(policy);
	discard(policy);
}

static int take_place(struct gchint_policy *policy)
{
	int ret = gchint_tunable_set_attach(policy);

	if (ret)
		return ret;
	ret = gchint_actuator_add(policy);
	if (ret)
		gchint_tunable_set_detach(policy);
	return ret;
}

/*
 * Under the rwsem: with its last CPU the driver takes away the table that is read; and
 * so that the governor, which would be refused by the time that CPU comes back, is not
 * away for the moment.
 *
 * Return: NULL if no CPU of it is online. -EAGAIN: something was measured meanwhile.
 */
static struct gchint_policy *make(struct cpufreq_policy *p, const struct gchint_actuator *act)
{
	struct gchint_policy *policy = NULL;
	int ret = 0;

	down_read(&p->rwsem);
	if (policy_is_inactive(p))
		goto unlock;
	policy = gchint_actuator_new(p, act);
	ret = policy ? take_place(policy) : -ENOMEM;
unlock:
	up_read(&p->rwsem);
	if (!ret)
		return policy;
	if (policy)
		gchint_actuator_free(policy);
	return ERR_PTR(ret);
}

/* What it is given is the site's, or freed. Not under the rwsem: what is begun may take it. */
static int put_in(struct site *site, struct gchint_policy *policy)
{
	int ret;

	lockdep_assert_held(&use_lock);
	/* Another may come in the place of one that went. */
	ret = site->p == policy->policy ? policy->act->attach(policy) : -EAGAIN;
	if (ret) {
		discard(policy);
		return ret;
	}
	gchint_actuator_started(policy, true);
	site->policy = policy;
	return 0;
}

/* A policy that is held may go, but nothing else comes to be at its address. */
static struct cpufreq_policy *hold(struct site *site)
{
	struct cpufreq_policy *p;

	mutex_lock(&use_lock);
	p = site->p;
	if (p)
		kobject_get(&p->kobj);
	mutex_unlock(&use_lock);
	return p;
}

/* 0 as well if it has to wait: for a CPU of the policy, or for the policy. */
static int give(struct site *site, const struct gchint_actuator *act)
{
	struct gchint_policy *policy;
	struct cpufreq_policy *p;
	int ret;

	lockdep_assert_held(&choice_lock);
	if (!act)
		return 0;
	do {
		p = hold(site);
		if (!p)
			return 0;
		policy = make(p, act);
		ret = PTR_ERR_OR_ZERO(policy);
		if (!IS_ERR_OR_NULL(policy)) {
			mutex_lock(&use_lock);
			ret = put_in(site, policy);
			mutex_unlock(&use_lock);
		}
		kobject_put(&p->kobj);
	} while (ret == -EAGAIN);
	return ret;
}

static const struct gchint_actuator *given(struct site *site)
{
	const struct gchint_actuator *act;

	mutex_lock(&use_lock);
	act = site->policy ? site->policy->act : NULL;
	mutex_unlock(&use_lock);
	return act;
}

/* What cannot be given leaves what was there before. */
static int put(struct site *site, const struct gchint_actuator *act)
{
	const struct gchint_actuator *before = site->wanted;
	int ret;

	lockdep_assert_held(&choice_lock);
	if (before == act && given(site) == act)
		return 0;
	mutex_lock(&use_lock);
	take_away(site);
	mutex_unlock(&use_lock);
	site->wanted = act;
	ret = give(site, act);
	if (!ret)
		return 0;
	site->wanted = before;
	if (give(site, before)) {
		pr_warn("policy %u lost %s\n", site->first, before->name);
		site->wanted = NULL;
	}
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
	if (gchint_actuator_each(governed_by_us, site->p))
		return "governor";
	return site->wanted ? site->wanted->name : "off";
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

static bool present(struct site *site)
{
	bool is;

	mutex_lock(&use_lock);
	is = site->p;
	mutex_unlock(&use_lock);
	return is;
}

static ssize_t one_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *buf, size_t count)
{
	struct site *site = container_of(attr, struct site, attr);
	const struct gchint_actuator *act;
	int ret = parse(buf, &act);

	if (ret)
		return ret;
	mutex_lock(&choice_lock);
	ret = present(site) && !closing ? put(site, act) : -ENODEV;
	mutex_unlock(&choice_lock);
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
	mutex_lock(&choice_lock);
	if (closing) {
		mutex_unlock(&choice_lock);
		return -ENODEV;
	}
	list_for_each_entry(site, &sites, node) {
		site->before = site->wanted;
		ret = put(site, act);
		if (ret)
			break;
	}
	if (ret) {
		list_for_each_entry_continue_reverse(site, &sites, node)
			put(site, site->before);
	} else {
		preferred = act;
	}
	mutex_unlock(&choice_lock);
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

static struct site *add_site(unsigned int first)
{
	struct site *site = kzalloc(sizeof(*site), GFP_KERNEL);

	if (!site)
		return NULL;
	site->first = first;
	site->wanted = preferred;
	snprintf(site->name, sizeof(site->name), "policy%u", first);
	sysfs_attr_init(&site->attr.attr);
	site->attr.attr.name = site->name;
	site->attr.attr.mode = 0644;
	site->attr.show = one_show;
	site->attr.store = one_store;
	if (sysfs_add_file_to_group(folder_of, &site->attr.attr, FOLDER)) {
		kfree(site);
		return NULL;
	}
	list_add_tail(&site->node, &sites);
	return site;
}

/* Not one that is told to go: it is found no more when that begins, and waits for us. */
static struct site *meet(unsigned int cpu)
{
	struct cpufreq_policy *p;
	struct site *site = NULL;
	unsigned int first;

	mutex_lock(&use_lock);
	p = cpufreq_cpu_get(cpu);
	if (p) {
		first = cpumask_first(p->related_cpus);
		site = site_of(first) ?: add_site(first);
		if (site)
			site->p = p;
		cpufreq_cpu_put(p);
	}
	mutex_unlock(&use_lock);
	return site;
}

static void walk(struct work_struct *work)
{
	struct site *site;
	unsigned int cpu;

	mutex_lock(&choice_lock);
	for_each_online_cpu(cpu) {
		if (!folder_of || closing)
			break;
		site = meet(cpu);
		if (!site || given(site) || !give(site, site->wanted))
			continue;
		pr_warn("policy %u cannot be given %s\n", site->first, site->wanted->name);
		site->wanted = NULL;
	}
	mutex_unlock(&choice_lock);
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

static int came_online(unsigned int cpu)
{
	queue_work(system_unbound_wq, &walk_work);
	return 0;
}

static struct notifier_block policy_nb = { .notifier_call = policy_event };

/* All that userspace chooses by, but for the files of policies. */
static const struct attribute_group *groups[] = { &group, NULL };

const struct attribute_group **gchint_use_groups(void)
{
	return groups;
}

/**
 * gchint_use_init - follow policies as they come and go
 *
 * Nothing is offered yet.
 *
 * Return: 0 or a negative errno.
 */
int gchint_use_init(void)
{
	int ret;

	ret = cpufreq_register_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	if (ret)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gchint/use:online",
					came_online, NULL);
	if (ret < 0) {
		cpufreq_unregister_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
		return ret;
	}
	hotplug = ret;
	return 0;
}

/**
 * gchint_use_begin - offer the choice for each policy
 * @device: whose directory has the group of gchint_use_groups()
 */
void gchint_use_begin(struct kobject *device)
{
	mutex_lock(&choice_lock);
	folder_of = device;
	mutex_unlock(&choice_lock);
	walk(NULL);
}

/**
 * gchint_use_end - give every policy back, and offer nothing any more
 *
 * The notifier is still there: a driver that leaves meanwhile takes its policies out
 * of our sites, and waits while one of them is being detached.
 */
void gchint_use_end(void)
{
	struct site *site;

	/* No walk adds a file or attaches anything after this. */
	mutex_lock(&choice_lock);
	closing = true;
	mutex_unlock(&choice_lock);
	/* Waits for writers that are inside. Nobody adds sites any more. */
	list_for_each_entry(site, &sites, node)
		sysfs_remove_file_from_group(folder_of, &site->attr.attr,
					     FOLDER);
	mutex_lock(&use_lock);
	list_for_each_entry(site, &sites, node)
		take_away(site);
	mutex_unlock(&use_lock);
}

void gchint_use_exit(void)
{
	struct site *site, *next;

	cpuhp_remove_state_nocalls(hotplug);
	cpufreq_unregister_notifier(&policy_nb, CPUFREQ_POLICY_NOTIFIER);
	cancel_work_sync(&walk_work);
	list_for_each_entry_safe(site, next, &sites, node) {
		list_del(&site->node);
		kfree(site);
	}
}
