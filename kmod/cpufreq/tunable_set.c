// SPDX-License-Identifier: GPL-2.0-only
/* docs/abi/sysfs-cpufreq-gchint says what each file is for. */
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "policy.h"
#include "tunable_set.h"

/* Serialises shared_set and the life of sets. */
static DEFINE_MUTEX(sets_lock);
/* The set of all policies, if the driver has one governor for them. */
static struct gchint_tunable_set *shared_set;

static void (*tunables_changed)(void);

static const char * const mode_names[] = {
	[GCHINT_MODE_OFF] = "off",
	[GCHINT_MODE_TABLE] = "table",
	[GCHINT_MODE_MODEL] = "model",
};

static struct gchint_tunable_set *to_set(struct gov_attr_set *attr_set)
{
	return container_of(attr_set, struct gchint_tunable_set, attr_set);
}

/* Under attr_set->update_lock, which keeps the policies in the list. */
static void set_changed(struct gov_attr_set *attr_set)
{
	struct gchint_policy *policy;

	list_for_each_entry(policy, &attr_set->policy_list, set_node) {
		gchint_policy_update_rules(policy);
		gchint_policy_poke(policy->policy->cpu);
	}
	tunables_changed();
}

static ssize_t set_store_value(struct gov_attr_set *attr_set, u32 *value,
			       u32 min, u32 max, const char *buf, size_t count)
{
	unsigned int num;
	int ret = kstrtouint(buf, 10, &num);

	if (ret)
		return ret;
	if (num < min || num > max)
		return -EINVAL;
	WRITE_ONCE(*value, num);
	set_changed(attr_set);
	return count;
}

#define TUNABLE_VALUE(_name, ...)					\
static u32 *_name##_value(struct gov_attr_set *attr_set)		\
{									\
	return &to_set(attr_set)->tunables._name;			\
}

/* A callback per file, since cpufreq does not pass the attribute. */
#define TUNABLE_FILE(_name, _def, _lo, _hi)				\
static ssize_t _name##_show(struct gov_attr_set *attr_set, char *buf)	\
{									\
	return sysfs_emit(buf, "%u\n", *_name##_value(attr_set));	\
}									\
static ssize_t _name##_store(struct gov_attr_set *attr_set,		\
			     const char *buf, size_t count);		\
static struct governor_attr _name##_attr =				\
	__ATTR(_name, 0644, _name##_show, _name##_store);		\
static ssize_t _name##_store(struct gov_attr_set *attr_set,		\
			     const char *buf, size_t count)		\
{									\
	return set_store_value(attr_set, _name##_value(attr_set),	\
			       _lo, _hi, buf, count);			\
}

GCHINT_TUNABLES(TUNABLE_VALUE)
GCHINT_TUNABLES(TUNABLE_FILE)

static ssize_t mode_show(struct gov_attr_set *attr_set, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  mode_names[to_set(attr_set)->tunables.mode]);
}

static ssize_t mode_store(struct gov_attr_set *attr_set, const char *buf,
			  size_t count)
{
	int mode = sysfs_match_string(mode_names, buf);

	if (mode < 0)
		return -EINVAL;
	WRITE_ONCE(to_set(attr_set)->tunables.mode, mode);
	set_changed(attr_set);
	return count;
}

static struct governor_attr mode = __ATTR_RW(mode);

#define TUNABLE_ATTR(_name, ...) (&_name##_attr.attr),

static struct attribute *gchint_attrs[] = {
	&mode.attr,
	GCHINT_TUNABLES(TUNABLE_ATTR)
	NULL
};
ATTRIBUTE_GROUPS(gchint);

static void set_release(struct kobject *kobj)
{
	kfree(to_set(to_gov_attr_set(kobj)));
}

static struct kobj_type set_ktype = {
	.default_groups = gchint_groups,
	.sysfs_ops = &governor_sysfs_ops,
	.release = set_release,
};

/* Give a policy its tunables: those of all policies, or a new set. */
int gchint_tunable_set_attach(struct gchint_policy *policy)
{
	struct gchint_tunable_set *set;
	int ret = 0;

	mutex_lock(&sets_lock);
	if (shared_set) {
		if (WARN_ON(have_governor_per_policy())) {
			ret = -EINVAL;
			goto unlock;
		}
		policy->set = shared_set;
		policy->rules.tun = &shared_set->tunables;
		gov_attr_set_get(&shared_set->attr_set, &policy->set_node);
		goto unlock;
	}

	set = kzalloc(sizeof(*set), GFP_KERNEL);
	if (!set) {
		ret = -ENOMEM;
		goto unlock;
	}
	gchint_tunables_init(&set->tunables);
	/* Before a store can find the policy in the set. */
	policy->set = set;
	policy->rules.tun = &set->tunables;
	gov_attr_set_init(&set->attr_set, &policy->set_node);
	ret = kobject_init_and_add(&set->attr_set.kobj, &set_ktype,
				   get_governor_parent_kobj(policy->policy),
				   "gchint");
	if (ret)
		kobject_put(&set->attr_set.kobj);
	else if (!have_governor_per_policy())
		shared_set = set;
unlock:
	mutex_unlock(&sets_lock);
	return ret;
}

void gchint_tunable_set_detach(struct gchint_policy *policy)
{
	struct gov_attr_set *attr_set = &policy->set->attr_set;

	mutex_lock(&sets_lock);
	/*
	 * The last put destroys the mutex of the set before it removes the
	 * files, and a concurrent write would take it. Remove the files first:
	 * that waits for such writes.
	 */
	if (attr_set->usage_count == 1)
		kobject_del(&attr_set->kobj);
	if (!gov_attr_set_put(attr_set, &policy->set_node) &&
	    shared_set == policy->set)
		shared_set = NULL;
	mutex_unlock(&sets_lock);
}

/*
 * Before the first policy. changed() is called after a write, and must take no
 * policy's rwsem.
 */
void gchint_tunable_set_init(void (*changed)(void))
{
	tunables_changed = changed;
}
