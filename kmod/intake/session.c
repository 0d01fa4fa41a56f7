// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/gchint. Each open file is a session; it is the only thing that user
 * space holds, so its release is where everything ends.
 */
#include <linux/compat.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <trace/events/power.h>
#include <trace/events/sched.h>

#include "compat/exit_probe.h"
#include "follow/probe.h"
#include "follow/thread.h"
#include "info.h"
#include "lease.h"
#include "page.h"
#include "session.h"
#include "user.h"

/*
 * A session with its first slots all leased: structures and a page. Debugging
 * kernels have more in their locks.
 */
#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC) && \
	PAGE_SIZE == 4096
static_assert(sizeof(struct gchint_session) + sizeof(struct gchint_bank) +
	      PAGE_SIZE + GCHINT_SLOTS * sizeof(struct gchint_thread) <= 24 * 1024);
#endif

/*
 * Serialises changes of the list, the count and the numbering, each a few stores:
 * open() takes it with the mutex of all miscellaneous devices held, so nothing is
 * done under it that could take long. Walks are readers under RCU.
 */
static DEFINE_SPINLOCK(sessions_lock);
static LIST_HEAD(sessions);
static unsigned int nr_sessions;
static u64 last_id;

/* Serialises those who make a session grow. */
static DEFINE_MUTEX(grow_lock);

static bool stale(const struct gchint_session *session)
{
	return current->mm != session->mm ||
	       task_tgid(current) != session->tgid;
}

/* So many banks share a page. */
#define SHARE (PAGE_SIZE / (GCHINT_SLOTS * sizeof(struct gchint_slot)))

static struct gchint_bank *make_bank(const struct gchint_session *session,
				     unsigned int n)
{
	struct gchint_bank *bank = kzalloc(sizeof(*bank), GFP_KERNEL_ACCOUNT);

	if (!bank)
		return NULL;
	if (n % SHARE)
		bank->slots = session->bank[n - 1]->slots + GCHINT_SLOTS;
	else
		bank->slots = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!bank->slots) {
		kfree(bank);
		return NULL;
	}
	return bank;
}

static void free_banks(struct gchint_session *session)
{
	unsigned int n;

	for (n = 0; n < session->nr_banks; n++) {
		if (n % SHARE == 0)
			put_page(virt_to_page(session->bank[n]->slots));
		kfree(session->bank[n]);
	}
}

static int grow(struct gchint_session *session, unsigned long slots)
{
	struct gchint_bank *bank;
	int ret = 0;

	if (!slots || slots > GCHINT_SLOTS_MAX)
		return -EINVAL;
	if (slots <= gchint_session_slots(session))
		return 0;
	if (slots > gchint_user_slots())
		return -EDQUOT;
	mutex_lock(&grow_lock);
	while (session->nr_banks < DIV_ROUND_UP(slots, GCHINT_SLOTS)) {
		bank = make_bank(session, session->nr_banks);
		if (!bank) {
			ret = -ENOMEM;
			break;
		}
		session->bank[session->nr_banks] = bank;
		/* Pairs with the acquire in gchint_session_slots(). */
		smp_store_release(&session->nr_banks, session->nr_banks + 1);
	}
	mutex_unlock(&grow_lock);
	return ret;
}

static void free_session(struct rcu_head *rcu)
{
	struct gchint_session *session;

	session = container_of(rcu, struct gchint_session, rcu);
	free_banks(session);
	kfree(session);
}

static int session_open(struct inode *inode, struct file *file)
{
	struct gchint_session *session;
	int ret;

	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return -ENOMEM;
	session->bank[0] = make_bank(session, 0);
	if (!session->bank[0]) {
		ret = -ENOMEM;
		goto free_session;
	}
	session->nr_banks = 1;
	session->uid = current_uid();
	session->user = gchint_user_get(session->uid);
	if (IS_ERR(session->user)) {
		ret = PTR_ERR(session->user);
		goto free_banks;
	}
	raw_spin_lock_init(&session->learn_lock);
	session->generation = gchint_info_generation();
	/* To go without the right is no offence: nothing for an audit log. */
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE))
		session->granted |= GCHINT_GRANT_RAISE;
	session->mm = current->mm;
	mmgrab(session->mm);
	session->tgid = get_pid(task_tgid(current));
	session->tgid_nr = task_tgid_nr(current);
	file->private_data = session;

	spin_lock(&sessions_lock);
	session->id = ++last_id;
	list_add_tail_rcu(&session->node, &sessions);
	WRITE_ONCE(nr_sessions, nr_sessions + 1);
	spin_unlock(&sessions_lock);

	/*
	 * To patch code takes long, and opens of all other miscellaneous devices
	 * would wait for it: GCHINT_IOC_ATTACH and read() do it if it is still due.
	 */
	gchint_probe_changed();
	return nonseekable_open(inode, file);

free_banks:
	free_banks(session);
free_session:
	kfree(session);
	return ret;
}

static int session_release(struct inode *inode, struct file *file)
{
	struct gchint_session *session = file->private_data;

	spin_lock(&sessions_lock);
	list_del_rcu(&session->node);
	WRITE_ONCE(nr_sessions, nr_sessions - 1);
	spin_unlock(&sessions_lock);

	/* No lease can be made any more: the file is gone. */
	gchint_lease_close(session);
	gchint_probe_relax();

	gchint_user_put(session->user);
	put_pid(session->tgid);
	mmdrop(session->mm);
	/*
	 * The exit of a thread, or a CPU, that found a lease just before may
	 * still look at the session and its slots, though at nothing that was
	 * given back above.
	 */
	call_rcu(&session->rcu, free_session);
	return 0;
}

/* Copies a structure whose size, given by the caller, may differ from ours. */
static int copy_in(void *to, size_t size, size_t ver0, unsigned int cmd,
		   const void __user *from)
{
	size_t given = _IOC_SIZE(cmd);

	if (given < ver0)
		return -EINVAL;
	return copy_struct_from_user(to, size, from, given);
}

static long ioctl_attach(struct gchint_session *session, unsigned int cmd,
			 void __user *arg)
{
	struct gchint_attach attach;
	int ret;

	ret = copy_in(&attach, sizeof(attach), GCHINT_ATTACH_SIZE_VER0, cmd,
		      arg);
	if (ret)
		return ret;
	ret = gchint_lease_attach(session, &attach);
	if (ret)
		return ret;
	if (copy_to_user(arg, &attach, min_t(size_t, sizeof(attach),
					     _IOC_SIZE(cmd)))) {
		gchint_lease_unattach(session, attach.slot);
		return -EFAULT;
	}
	gchint_lease_tell(session, attach.slot, GCHINT_LEASE_ATTACH);
	return 0;
}

static long ioctl_set_role(struct gchint_session *session, unsigned int cmd,
			   const void __user *arg)
{
	struct gchint_set_role role;
	int ret;

	ret = copy_in(&role, sizeof(role), GCHINT_SET_ROLE_SIZE_VER0, cmd, arg);
	if (ret)
		return ret;
	return gchint_lease_set_role(session, &role);
}

/* The number of a call without the size of its structure. */
#define CALL(cmd) ((cmd) & ~((unsigned int)_IOC_SIZEMASK << _IOC_SIZESHIFT))

/* Apart, so that a doorbell needs no stack for it. */
static noinline long rare_call(struct gchint_session *session, unsigned int cmd,
			       unsigned long arg, void __user *uarg)
{
	if (cmd == GCHINT_IOC_DETACH)
		return arg < GCHINT_SLOTS_MAX ?
			gchint_lease_detach(session, arg) : -EINVAL;
	if (cmd == GCHINT_IOC_GROW)
		return grow(session, arg);
	switch (CALL(cmd)) {
	case CALL(GCHINT_IOC_ATTACH):
		return ioctl_attach(session, cmd, uarg);
	case CALL(GCHINT_IOC_SET_ROLE):
		return ioctl_set_role(session, cmd, uarg);
	}
	return -ENOTTY;
}

static long call(struct gchint_session *session, unsigned int cmd,
		 unsigned long arg, void __user *uarg)
{
	if (stale(session))
		return -ESTALE;
	if (cmd == GCHINT_IOC_RING)
		return arg < gchint_session_slots(session) ?
			gchint_lease_ring(session, arg) : -EINVAL;
	return rare_call(session, cmd, arg, uarg);
}

static long session_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	return call(file->private_data, cmd, arg, (void __user *)arg);
}

#ifdef CONFIG_COMPAT
static long session_compat_ioctl(struct file *file, unsigned int cmd,
				 unsigned long arg)
{
	return call(file->private_data, cmd, arg, compat_ptr(arg));
}
#endif

static int session_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct gchint_session *session = file->private_data;

	return stale(session) ? -ESTALE : gchint_page_mmap(session, vma);
}

static ssize_t session_read(struct file *file, char __user *buf, size_t count,
			    loff_t *pos)
{
	struct gchint_session *session = file->private_data;
	u64 generation;
	int ret;

	if (stale(session))
		return -ESTALE;
	if (count < sizeof(generation))
		return -EINVAL;
	ret = gchint_probe_need();
	if (ret)
		return ret;
	/* A change that the page is to follow may be on its way still. */
	gchint_info_refresh();
	generation = gchint_info_generation();
	if (copy_to_user(buf, &generation, sizeof(generation)))
		return -EFAULT;
	WRITE_ONCE(session->generation, generation);
	return sizeof(generation);
}

static __poll_t session_poll(struct file *file, poll_table *wait)
{
	struct gchint_session *session = file->private_data;

	if (stale(session))
		return EPOLLERR;
	poll_wait(file, &gchint_info_wait, wait);
	if (gchint_info_generation() != READ_ONCE(session->generation))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static const struct file_operations session_fops = {
	.owner = THIS_MODULE,
	.open = session_open,
	.release = session_release,
	.unlocked_ioctl = session_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = session_compat_ioctl,
#endif
	.mmap = session_mmap,
	.read = session_read,
	.poll = session_poll,
};

/* Anybody may hint: what a hint may do depends on who opened. */
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = GCHINT_DEVICE,
	.fops = &session_fops,
	.mode = 0666,
};

/**
 * gchint_session_count - how many sessions are open
 *
 * Return: the number.
 */
unsigned int gchint_session_count(void)
{
	return READ_ONCE(nr_sessions);
}

/**
 * gchint_session_each - call a function for each session
 * @fn: the function; a value other than 0 stops the walk
 * @priv: passed through
 *
 * The sessions are in the order of their numbers; of those that come or go
 * meanwhile some may be missed. @fn runs under RCU and must not sleep. What a
 * closed session has given back (its user, process and address space) is not @fn's
 * to look at.
 *
 * Return: what the last call of @fn returned, or 0.
 */
int gchint_session_each(int (*fn)(struct gchint_session *session, void *priv),
			void *priv)
{
	struct gchint_session *session;
	int ret = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(session, &sessions, node) {
		ret = fn(session, priv);
		if (ret)
			break;
	}
	rcu_read_unlock();
	return ret;
}

static bool wanted(void)
{
	return gchint_session_count();
}

static void at_exit(GCHINT_EXIT_PROBE_ARGS)
{
	gchint_lease_gone(task, GCHINT_LEASE_EXIT);
}

static void at_exec(void *data, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	gchint_lease_gone(task, GCHINT_LEASE_EXEC);
}

static struct gchint_probe probes[] = {
	{ .name = "sched_process_exit", .func = at_exit, .wanted = wanted },
	{ .name = "sched_process_exec", .func = at_exec, .wanted = wanted },
	{ .name = "cpu_frequency", .func = gchint_info_probe_frequency,
	  .wanted = wanted, .ended = gchint_info_idle },
	{ .name = "cpu_frequency_limits", .func = gchint_info_probe_limits,
	  /* The last of those that keep the page true. */
	  .begun = gchint_info_refresh,
	  .wanted = wanted },
};

/**
 * gchint_session_init - offer the device
 * @groups: what else its directory in sysfs has
 *
 * Once it is there it may be opened, which keeps the module: nothing that can fail
 * may come after it.
 *
 * Return: 0 or a negative errno.
 */
int gchint_session_init(const struct attribute_group **groups)
{
	unsigned int i;
	int ret;

	BUILD_BUG_ON(!SHARE);
	BUILD_BUG_ON(GCHINT_SLOTS_MAX * sizeof(struct gchint_slot) >
		     GCHINT_MMAP_CPUS - GCHINT_MMAP_SLOTS);
	check_trace_callback_type_sched_process_exit(at_exit);
	check_trace_callback_type_sched_process_exec(at_exec);
	check_trace_callback_type_cpu_frequency(gchint_info_probe_frequency);
	check_trace_callback_type_cpu_frequency_limits(gchint_info_probe_limits);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = gchint_probe_add(&probes[i]);
		if (ret)
			return ret;
	}
	device.groups = groups;
	return misc_register(&device);
}

/**
 * gchint_session_kobj - the device's folder in sysfs
 *
 * Return: valid between init and exit.
 */
struct kobject *gchint_session_kobj(void)
{
	return &device.this_device->kobj;
}

void gchint_session_exit(void)
{
	misc_deregister(&device);
	/* free_session() is ours and must have run. */
	rcu_barrier();
}
