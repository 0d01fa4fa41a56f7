// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/gchint. Each open file is a session, and releasing it ends all that
 * belongs to it: user space has no other reference to the module.
 *
 * All opens of miscellaneous devices wait for each other, and an allocation may
 * sleep for as long as the caller's memory cgroup is full. So open only records
 * who the opener is, and the first other call creates the session.
 *
 * Mappings are filled by faults, never at mmap: fork does not copy a shared
 * mapping without page tables of its own, so that the child faults too and gets
 * another page.
 */
#include <linux/compat.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/gchint.h>
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
#include "compat/vm_flags.h"
#include "info.h"
#include "lease.h"
#include "session.h"
#include "task/probe.h"
#include "task/thread.h"
#include "user.h"

/* A session whose first slots are all leased; debugging makes locks larger. */
#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC) && \
	PAGE_SIZE == 4096
static_assert(sizeof(struct gchint_session) + sizeof(struct gchint_slot_block) +
	      PAGE_SIZE + GCHINT_SLOTS * sizeof(struct gchint_thread) <= 24 * 1024);
#endif

#define SLOTS_PER_PAGE (PAGE_SIZE / sizeof(struct gchint_slot))
#define BLOCKS_PER_PAGE (SLOTS_PER_PAGE / GCHINT_SLOTS)

/*
 * Serialises changes of the list, the count and the numbering, and the creation
 * of a file's session. The list is walked under RCU.
 */
static DEFINE_SPINLOCK(sessions_lock);
static LIST_HEAD(sessions);
static unsigned int nr_sessions;
static u64 last_id;

/**
 * struct session_file - what is known of an open file before its session exists
 * @mm: address space that opened it; counted, only compared
 * @tgid: process that opened it; counted
 * @granted: GCHINT_GRANT_*, decided at open
 * @session: NULL until it is needed
 * @grow_lock: serialises session_grow()
 */
struct session_file {
	struct mm_struct *mm;
	struct pid *tgid;
	u32 granted;
	struct gchint_session *session;
	struct mutex grow_lock; /* of session_grow() */
};

/* The caller is a forked child, or another program since an exec. */
static bool file_is_stale(const struct session_file *f)
{
	return current->mm != f->mm || task_tgid(current) != f->tgid;
}

/* -- Slots -- */

static struct gchint_slot_block *
slot_block_alloc(const struct gchint_session *session, unsigned int n)
{
	struct gchint_slot_block *block = kzalloc(sizeof(*block), GFP_KERNEL_ACCOUNT);

	if (!block)
		return NULL;
	if (n % BLOCKS_PER_PAGE)
		block->slots = session->blocks[n - 1]->slots + GCHINT_SLOTS;
	else
		block->slots = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!block->slots) {
		kfree(block);
		return NULL;
	}
	return block;
}

/* Blocks @from up to @to - 1. */
static void session_free_slots(struct gchint_session *session,
			       unsigned int from, unsigned int to)
{
	unsigned int n;

	for (n = from; n < to; n++) {
		if (n % BLOCKS_PER_PAGE == 0)
			put_page(virt_to_page(session->blocks[n]->slots));
		kfree(session->blocks[n]);
	}
}

/* All or nothing: a call that fails changes nothing. */
static int session_add_blocks(struct gchint_session *session, unsigned int nr)
{
	unsigned int n;

	for (n = session->nr_blocks; n < nr; n++) {
		session->blocks[n] = slot_block_alloc(session, n);
		if (!session->blocks[n]) {
			session_free_slots(session, session->nr_blocks, n);
			return -ENOMEM;
		}
	}
	if (session->nr_blocks < nr)
		/* Pairs with the acquire in gchint_session_slots(). */
		smp_store_release(&session->nr_blocks, nr);
	return 0;
}

static int session_grow(struct session_file *f, unsigned long slots)
{
	int ret;

	if (!slots || slots > GCHINT_SLOTS_MAX)
		return -EINVAL;
	if (slots <= gchint_session_slots(f->session))
		return 0;
	if (slots > gchint_user_max_slots())
		return -EDQUOT;
	mutex_lock(&f->grow_lock);
	ret = session_add_blocks(f->session, DIV_ROUND_UP(slots, GCHINT_SLOTS));
	mutex_unlock(&f->grow_lock);
	return ret;
}

/* -- Open and release -- */

static void session_free(struct gchint_session *session)
{
	session_free_slots(session, 0, session->nr_blocks);
	kfree(session);
}

static void session_free_rcu(struct rcu_head *rcu)
{
	session_free(container_of(rcu, struct gchint_session, rcu));
}

static struct gchint_session *session_new(const struct session_file *f,
					  const struct cred *opener)
{
	struct gchint_session *session;
	int ret;

	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return ERR_PTR(-ENOMEM);
	ret = session_add_blocks(session, 1);
	if (ret)
		goto free_session;
	session->uid = opener->uid;
	session->user = gchint_user_get(opener);
	ret = PTR_ERR_OR_ZERO(session->user);
	if (ret)
		goto free_session;
	session->bucket = gchint_user_bucket(session->user);
	raw_spin_lock_init(&session->learn_lock);
	session->collector = GCHINT_NO_LEAD;
	session->generation = gchint_info_generation();
	session->granted = f->granted;
	session->mm = f->mm;
	session->tgid_nr = pid_nr(f->tgid);
	return session;

free_session:
	session_free(session);
	return ERR_PTR(ret);
}

static noinline struct gchint_session *session_create(struct session_file *f,
						      const struct file *file)
{
	struct gchint_session *session = session_new(f, file->f_cred), *other;

	if (IS_ERR(session))
		return session;
	spin_lock(&sessions_lock);
	other = f->session;
	if (!other) {
		session->id = ++last_id;
		list_add_tail_rcu(&session->node, &sessions);
		WRITE_ONCE(nr_sessions, nr_sessions + 1);
		/* Pairs with the acquire in session_get(). */
		smp_store_release(&f->session, session);
	}
	spin_unlock(&sessions_lock);
	if (other) {
		gchint_user_put(session->user);
		session_free(session);
		return other;
	}
	/* GCHINT_IOC_ATTACH and read() wait until it is done. */
	gchint_probe_queue_update();
	return session;
}

/* Of a file that is not stale. Or an errno. */
static inline struct gchint_session *session_get(struct file *file)
{
	struct session_file *f = file->private_data;
	/* Pairs with the release in session_create(). */
	struct gchint_session *session = smp_load_acquire(&f->session);

	return likely(session) ? session : session_create(f, file);
}

static int session_open(struct inode *inode, struct file *file)
{
	struct session_file *f;

	/* Neither waits nor is charged; it is a small part of an open file. */
	f = kzalloc(sizeof(*f), GFP_NOWAIT | __GFP_NOWARN);
	if (!f)
		return -ENOMEM;
	mutex_init(&f->grow_lock);
	/* It is normal to lack the capability: no entry in the audit log. */
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE))
		f->granted |= GCHINT_GRANT_RAISE;
	f->mm = current->mm;
	mmgrab(f->mm);
	f->tgid = get_pid(task_tgid(current));
	file->private_data = f;
	return nonseekable_open(inode, file);
}

static void session_close(struct gchint_session *session)
{
	spin_lock(&sessions_lock);
	list_del_rcu(&session->node);
	WRITE_ONCE(nr_sessions, nr_sessions - 1);
	spin_unlock(&sessions_lock);

	/* Without its file the session gets no new lease. */
	gchint_lease_close(session);
	gchint_probe_queue_unregister();

	gchint_user_put(session->user);
	/*
	 * The exit of a thread, or a CPU, that found a lease just before may
	 * still use the session and its slots, but nothing released above.
	 */
	call_rcu(&session->rcu, session_free_rcu);
}

static int session_release(struct inode *inode, struct file *file)
{
	struct session_file *f = file->private_data;

	if (f->session)
		session_close(f->session);
	put_pid(f->tgid);
	mmdrop(f->mm);
	mutex_destroy(&f->grow_lock);
	kfree(f);
	return 0;
}

/* -- Calls -- */

/* The size that user space has compiled in may differ from the kernel's. */
static int ioctl_copy_in(void *to, size_t size, size_t ver0, unsigned int cmd,
			 const void __user *from)
{
	size_t user_size = _IOC_SIZE(cmd);

	if (user_size < ver0)
		return -EINVAL;
	return copy_struct_from_user(to, size, from, user_size);
}

static long ioctl_attach(struct gchint_session *session, unsigned int cmd,
			 void __user *arg)
{
	struct gchint_attach attach;
	int ret;

	ret = ioctl_copy_in(&attach, sizeof(attach), GCHINT_ATTACH_SIZE_VER0,
			    cmd, arg);
	if (ret)
		return ret;
	ret = gchint_lease_attach(session, &attach);
	if (ret)
		return ret;
	if (copy_to_user(arg, &attach, min_t(size_t, sizeof(attach),
					     _IOC_SIZE(cmd)))) {
		gchint_lease_end(session, attach.slot, GCHINT_LEASE_DETACH, false);
		return -EFAULT;
	}
	gchint_lease_report(session, attach.slot, GCHINT_LEASE_ATTACH);
	return 0;
}

static long ioctl_set_role(struct gchint_session *session, unsigned int cmd,
			   const void __user *arg)
{
	struct gchint_set_role role;
	int ret;

	ret = ioctl_copy_in(&role, sizeof(role), GCHINT_SET_ROLE_SIZE_VER0,
			    cmd, arg);
	if (ret)
		return ret;
	return gchint_lease_set_role(session, &role);
}

/* The number of a call without the size of its structure. */
#define CALL(cmd) ((cmd) & ~((unsigned int)_IOC_SIZEMASK << _IOC_SIZESHIFT))

/* noinline: keeps the structures of these calls off a doorbell's stack. */
static noinline long ioctl_rare(struct session_file *f, unsigned int cmd,
				unsigned long arg, void __user *uarg)
{
	struct gchint_session *session = f->session;

	if (cmd == GCHINT_IOC_DETACH)
		return gchint_lease_end(session, arg, GCHINT_LEASE_DETACH, true);
	if (cmd == GCHINT_IOC_GROW)
		return session_grow(f, arg);
	switch (CALL(cmd)) {
	case CALL(GCHINT_IOC_ATTACH):
		return ioctl_attach(session, cmd, uarg);
	case CALL(GCHINT_IOC_SET_ROLE):
		return ioctl_set_role(session, cmd, uarg);
	}
	return -ENOTTY;
}

/* Any other must not open a session, as isatty(3) would. */
static bool ioctl_is_known(unsigned int cmd)
{
	return cmd == GCHINT_IOC_RING || cmd == GCHINT_IOC_DETACH ||
	       cmd == GCHINT_IOC_GROW || CALL(cmd) == CALL(GCHINT_IOC_ATTACH) ||
	       CALL(cmd) == CALL(GCHINT_IOC_SET_ROLE);
}

static long ioctl_call(struct file *file, unsigned int cmd, unsigned long arg,
		       void __user *uarg)
{
	struct gchint_session *session;

	if (!ioctl_is_known(cmd))
		return -ENOTTY;
	if (file_is_stale(file->private_data))
		return -ESTALE;
	session = session_get(file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	if (cmd == GCHINT_IOC_RING)
		return gchint_lease_ring(session, arg);
	return ioctl_rare(file->private_data, cmd, arg, uarg);
}

static long session_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	return ioctl_call(file, cmd, arg, (void __user *)arg);
}

#ifdef CONFIG_COMPAT
static long session_compat_ioctl(struct file *file, unsigned int cmd,
				 unsigned long arg)
{
	return ioctl_call(file, cmd, arg, compat_ptr(arg));
}
#endif

static ssize_t session_read(struct file *file, char __user *buf, size_t count,
			    loff_t *pos)
{
	struct gchint_session *session;
	u64 generation;
	int ret;

	if (file_is_stale(file->private_data))
		return -ESTALE;
	if (count < sizeof(generation))
		return -EINVAL;
	session = session_get(file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	ret = gchint_probe_register_wanted();
	if (ret)
		return ret;
	/* The work that updates the page after a change may still be queued. */
	gchint_info_refresh();
	generation = gchint_info_generation();
	if (copy_to_user(buf, &generation, sizeof(generation)))
		return -EFAULT;
	WRITE_ONCE(session->generation, generation);
	return sizeof(generation);
}

static __poll_t session_poll(struct file *file, poll_table *wait)
{
	struct gchint_session *session;

	if (file_is_stale(file->private_data))
		return EPOLLERR;
	session = session_get(file);
	if (IS_ERR(session))
		return EPOLLERR;
	poll_wait(file, &gchint_info_wait, wait);
	if (gchint_info_generation() != READ_ONCE(session->generation))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

/* -- Mappings: each holds the file, and so the session and the module -- */

static vm_fault_t info_fault(struct vm_fault *vmf)
{
	struct page *page;

	if (vmf->pgoff == GCHINT_MMAP_INFO >> PAGE_SHIFT)
		page = gchint_info_page();
	else
		page = gchint_info_cpus_page(vmf->pgoff -
					     (GCHINT_MMAP_CPUS >> PAGE_SHIFT));
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

/* How many pages of slots there are from @pgoff on, 0 if there is none. */
static unsigned long slots_pages(const struct gchint_session *session,
				 unsigned long pgoff)
{
	unsigned long pages = DIV_ROUND_UP(gchint_session_slots(session),
					   SLOTS_PER_PAGE);
	unsigned long first = GCHINT_MMAP_SLOTS >> PAGE_SHIFT;

	return pgoff >= first && pgoff - first < pages ?
		pages - (pgoff - first) : 0;
}

static vm_fault_t slots_fault(struct vm_fault *vmf)
{
	struct gchint_session *session = vmf->vma->vm_private_data;
	struct page *page;
	unsigned long n;

	if (!slots_pages(session, vmf->pgoff))
		return VM_FAULT_SIGBUS;

	if (vmf->vma->vm_mm == session->mm) {
		n = vmf->pgoff - (GCHINT_MMAP_SLOTS >> PAGE_SHIFT);
		page = virt_to_page(gchint_session_slot(session,
							n * SLOTS_PER_PAGE));
		get_page(page);
	} else {
		/*
		 * A forked child gets a page that the module never reads,
		 * charged to it and freed with its mapping.
		 */
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
	}
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct info_ops = { .fault = info_fault };
static const struct vm_operations_struct slots_ops = { .fault = slots_fault };

static int session_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = &info_ops;
	struct gchint_session *session;
	unsigned long size = PAGE_SIZE;
	vm_flags_t allowed = VM_READ;

	if (file_is_stale(file->private_data))
		return -ESTALE;
	session = session_get(file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	if (vma->vm_pgoff == GCHINT_MMAP_CPUS >> PAGE_SHIFT) {
		size = gchint_info_cpus_size();
	} else if (vma->vm_pgoff != GCHINT_MMAP_INFO >> PAGE_SHIFT) {
		ops = &slots_ops;
		allowed |= VM_WRITE;
		/* 0, and so -EINVAL, at any offset without slots. */
		size = slots_pages(session, vma->vm_pgoff) << PAGE_SHIFT;
	}
	if (vma->vm_end - vma->vm_start > size ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_ACCESS_FLAGS & ~allowed)
		return -EACCES;

	vma->vm_ops = ops;
	vma->vm_private_data = session;
	/* mprotect obeys the VM_MAY flags: the access flags shifted by four. */
	gchint_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP,
			    (VM_ACCESS_FLAGS & ~allowed) << 4);
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

/* Every user may hint: what hints may do depends on the opener's rights. */
static struct miscdevice session_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = GCHINT_DEVICE,
	.fops = &session_fops,
	.mode = 0666,
};

unsigned int gchint_session_count(void)
{
	return READ_ONCE(nr_sessions);
}

/**
 * gchint_session_for_each - call a function for each session
 * @fn: the function; a value other than 0 stops the walk
 * @priv: second argument of @fn
 *
 * In the order of their numbers; sessions that come or go meanwhile may be
 * missed. @fn runs under RCU, must not sleep, and must not use a session's
 * user and mm, which are released at close.
 *
 * Return: what the last call of @fn returned, or 0.
 */
int gchint_session_for_each(int (*fn)(struct gchint_session *session, void *priv),
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

static bool sessions_exist(void)
{
	return gchint_session_count();
}

static void session_probe_exit(GCHINT_EXIT_PROBE_ARGS)
{
	gchint_lease_end_task(task, GCHINT_LEASE_EXIT);
}

static void session_probe_exec(void *data, struct task_struct *task,
			       pid_t old_pid, struct linux_binprm *bprm)
{
	gchint_lease_end_task(task, GCHINT_LEASE_EXEC);
}

/* The last probe that keeps the information page up to date refreshes it. */
static struct gchint_probe session_probes[] = {
	{ .name = "sched_process_exit", .func = session_probe_exit,
	  .wanted = sessions_exist },
	{ .name = "sched_process_exec", .func = session_probe_exec,
	  .wanted = sessions_exist },
	{ .name = "cpu_frequency", .func = gchint_info_probe_frequency,
	  .wanted = sessions_exist, .begun = gchint_info_follow,
	  .ended = gchint_info_clear_khz },
	{ .name = "cpu_frequency_limits", .func = gchint_info_probe_limits,
	  .begun = gchint_info_refresh, .wanted = sessions_exist },
};

/*
 * @groups: attributes of the device's sysfs directory. An open may take a
 * reference to the module at once, so nothing that can fail may come after it.
 */
int gchint_session_init(const struct attribute_group **groups)
{
	unsigned int i;
	int ret;

	BUILD_BUG_ON(!BLOCKS_PER_PAGE);
	BUILD_BUG_ON(GCHINT_SLOTS_MAX * sizeof(struct gchint_slot) >
		     GCHINT_MMAP_CPUS - GCHINT_MMAP_SLOTS);
	check_trace_callback_type_sched_process_exit(session_probe_exit);
	check_trace_callback_type_sched_process_exec(session_probe_exec);
	check_trace_callback_type_cpu_frequency(gchint_info_probe_frequency);
	check_trace_callback_type_cpu_frequency_limits(gchint_info_probe_limits);
	for (i = 0; i < ARRAY_SIZE(session_probes); i++) {
		ret = gchint_probe_add(&session_probes[i]);
		if (ret)
			return ret;
	}
	session_device.groups = groups;
	return misc_register(&session_device);
}

/* The device's directory in sysfs, valid between init and exit. */
struct kobject *gchint_session_kobj(void)
{
	return &session_device.this_device->kobj;
}

void gchint_session_exit(void)
{
	misc_deregister(&session_device);
	/* Waits for session_free_rcu(), which is part of the module. */
	rcu_barrier();
}
