// SPDX-License-Identifier: MIT
/* A /dev/gchint in user space. One session at a time, which is all the library opens. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fakedev.h"

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
int __real_ioctl(int fd, unsigned long request, ...);
void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
long __real_syscall(long number, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
long __wrap_syscall(long number, ...);

struct fake_dev fake;
struct fake_clamp fake_clamp;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int info_fd = -1;
static struct gchint_info *info;
static dev_t session_dev;
static ino_t session_ino;
static pid_t session_pid;
static struct gchint_slot *slots; /* the kernel's view */
static void *user_slots;

/* A handler that hints must not find the lock held by what it interrupted. */
static void lock_all(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, old);
	pthread_mutex_lock(&lock);
}

static void unlock_all(const sigset_t *old)
{
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void die(const char *what)
{
	perror(what);
	abort();
}

static void *view(int fd)
{
	void *p = __real_mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("fakedev: mmap");
	return p;
}

static int backing(void)
{
	int fd = memfd_create("gchint", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)page()))
		die("fakedev: memfd_create");
	return fd;
}

/* What a forked child stores goes to a page that nobody reads. */
static void in_child(void)
{
	void *copy;

	if (!user_slots)
		return;
	copy = malloc(page());
	memcpy(copy, user_slots, page());
	__real_mmap(user_slots, page(), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(user_slots, copy, page());
	free(copy);
}

void fake_reset(void)
{
	static int once;

	if (!once++) {
		pthread_atfork(NULL, NULL, in_child);
		info_fd = backing();
		info = view(info_fd);
	}
	memset(&fake, 0, sizeof(fake));
	memset(&fake_clamp, 0, sizeof(fake_clamp));
	memset(info, 0, page());
	session_ino = 0;
	user_slots = NULL;
	fake.present = 1;
	info->abi = GCHINT_ABI;
	info->size = sizeof(*info);
	info->min_phase_us = 100;
	info->hint_ttl_ms = 2000;
	info->nr_policies = 1;
	strcpy(info->policy[0].governor, "gchint");
	info->policy[0].cur_khz = 500000;
	info->policy[0].max_khz = 900000;
	info->policy[0].hw_max_khz = 1000000;
	info->policy[0].flags = GCHINT_POLICY_PRESENT | GCHINT_POLICY_GCHINT;
}

struct gchint_info *fake_info(void)
{
	return info;
}

const struct gchint_slot *fake_slot(unsigned int n)
{
	return &slots[n];
}

struct fake_ring fake_last_ring(void)
{
	return fake.ring[(unsigned int)(fake.ring_count - 1) % FAKE_RINGS];
}

static int is_session(int fd)
{
	struct stat st;

	return fd >= 0 && session_ino && fstat(fd, &st) == 0 && st.st_ino == session_ino &&
	       st.st_dev == session_dev;
}

static int lives(pid_t tid)
{
	return __real_syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

/* The kernel ends a lease with its thread. */
static void reap(void)
{
	unsigned int n;

	for (n = 0; n < GCHINT_SLOTS; n++)
		if (fake.lease[n].tid && !lives(fake.lease[n].tid))
			fake.lease[n].tid = 0;
}

const struct gchint_slot *fake_slot_of(pid_t tid)
{
	const struct gchint_slot *slot = NULL;
	unsigned int n;
	sigset_t old;

	lock_all(&old);
	for (n = 0; n < GCHINT_SLOTS; n++)
		if (fake.lease[n].tid == tid)
			slot = &slots[n];
	unlock_all(&old);
	return slot;
}

int __wrap_open(const char *path, int flags, ...)
{
	struct stat st;
	va_list args;
	mode_t mode;
	int fd;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (strcmp(path, "/dev/" GCHINT_DEVICE) != 0)
		return __real_open(path, flags, mode);
	if (!info)
		fake_reset();
	if (!fake.present || fake.open_errno) {
		errno = fake.open_errno ? fake.open_errno : ENOENT;
		return -1;
	}
	if (!(flags & O_CLOEXEC) || (flags & O_ACCMODE) != O_RDWR) {
		errno = EINVAL;
		return -1;
	}
	fd = backing();
	fstat(fd, &st);
	session_dev = st.st_dev;
	session_ino = st.st_ino;
	session_pid = getpid();
	slots = view(fd);
	memset(fake.lease, 0, sizeof(fake.lease));
	fake.opens++;
	return fd;
}

/* Closing ends every lease, unless it is a forked child's copy. */
int __wrap_close(int fd)
{
	if (is_session(fd) && session_pid == getpid()) {
		memset(fake.lease, 0, sizeof(fake.lease));
		fake.closes++;
	}
	return __real_close(fd);
}

void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *p;

	if (!is_session(fd))
		return __real_mmap(addr, length, prot, flags, fd, offset);
	errno = 0;
	if (session_pid != getpid())
		errno = ESTALE;
	else if (!(flags & MAP_SHARED) || length > page())
		errno = EINVAL;
	else if (offset == GCHINT_MMAP_INFO && prot == PROT_READ)
		return __real_mmap(addr, length, prot, flags, info_fd, 0);
	else if (offset != GCHINT_MMAP_SLOTS)
		errno = offset ? EINVAL : EACCES;
	else if (prot & PROT_EXEC)
		errno = EACCES;
	if (errno)
		return MAP_FAILED;
	p = __real_mmap(addr, length, prot, flags, fd, 0);
	user_slots = p;
	return p;
}

static int attach(struct gchint_attach *a)
{
	pid_t tid = a->tid ? a->tid : (pid_t)__real_syscall(SYS_gettid);
	unsigned int n;

	reap();
	if (fake.attach_errno)
		return fake.attach_errno;
	if (a->flags || a->role >= GCHINT_ROLE_NR || a->lead >= GCHINT_SLOTS ||
	    (a->role != GCHINT_ROLE_FOLLOW && a->lead))
		return EINVAL;
	if (tid < 0 || !lives(tid))
		return ESRCH;
	for (n = 0; n < GCHINT_SLOTS; n++)
		if (fake.lease[n].tid == tid)
			return EBUSY;
	for (n = 0; n < GCHINT_SLOTS && fake.lease[n].tid; n++)
		;
	if (n == GCHINT_SLOTS)
		return ENOSPC;
	if (a->role == GCHINT_ROLE_FOLLOW && !fake.lease[a->lead].tid)
		return EINVAL;
	fake.lease[n] = (struct fake_lease){ .tid = tid, .role = a->role, .lead = a->lead };
	memset(&slots[n], 0, sizeof(slots[n]));
	a->slot = n;
	fake.attaches++;
	return 0;
}

static int set_role(const struct gchint_set_role *r)
{
	reap();
	if (r->slot >= GCHINT_SLOTS || r->role >= GCHINT_ROLE_NR || r->flags ||
	    (r->role != GCHINT_ROLE_FOLLOW && r->lead))
		return EINVAL;
	if (!fake.lease[r->slot].tid || (r->role == GCHINT_ROLE_FOLLOW && !fake.lease[r->lead].tid))
		return ENOENT;
	fake.lease[r->slot].role = r->role;
	fake.lease[r->slot].lead = r->lead;
	fake.roles++;
	return 0;
}

static int detach(unsigned long n)
{
	reap();
	if (n >= GCHINT_SLOTS)
		return EINVAL;
	if (!fake.lease[n].tid)
		return ENOENT;
	fake.lease[n].tid = 0;
	fake.detaches++;
	return 0;
}

static int ring(unsigned long n)
{
	struct fake_ring *r = &fake.ring[(unsigned int)fake.ring_count % FAKE_RINGS];

	if (n >= GCHINT_SLOTS)
		return EINVAL;
	if (!fake.lease[n].tid)
		return ENOENT;
	r->slot = (__u32)n;
	r->state = __atomic_load_n(&slots[n].state, __ATOMIC_ACQUIRE);
	fake.ring_count++;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	unsigned long number;
	sigset_t old;
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	number = (unsigned long)(uintptr_t)arg;
	if (!is_session(fd))
		return __real_ioctl(fd, request, arg);
	lock_all(&old);
	fake.calls++;
	if (session_pid != getpid())
		ret = ESTALE;
	else if (request == GCHINT_IOC_ATTACH)
		ret = attach(arg);
	else if (request == GCHINT_IOC_SET_ROLE)
		ret = set_role(arg);
	else if (request == GCHINT_IOC_DETACH)
		ret = detach(number);
	else if (request == GCHINT_IOC_RING)
		ret = ring(number);
	else
		ret = ENOTTY;
	fake.stale += ret == ESTALE;
	unlock_all(&old);
	errno = ret ? ret : errno;
	return ret ? -1 : 0;
}

/* struct sched_attr up to the clamps. */
struct attr {
	__u32 size, policy;
	__u64 flags;
	__s32 nice;
	__u32 priority;
	__u64 runtime, deadline, period;
	__u32 util_min, util_max;
};

static __u32 *clamp_of(pid_t tid)
{
	int n;

	if (!tid)
		tid = (pid_t)__real_syscall(SYS_gettid);
	for (n = 0; n < fake_clamp.tids; n++)
		if (fake_clamp.thread[n].tid == tid)
			return &fake_clamp.thread[n].max;
	fake_clamp.thread[n].tid = tid;
	fake_clamp.thread[n].max = 1024;
	fake_clamp.tids++;
	return &fake_clamp.thread[n].max;
}

__u32 fake_clamp_of(pid_t tid)
{
	return *clamp_of(tid);
}

static long clamp_call(long number, pid_t tid, struct attr *a)
{
	sigset_t old;
	long ret = 0;

	lock_all(&old);
	if (number == SYS_sched_getattr) {
		a->size = sizeof(*a);
		a->util_max = *clamp_of(tid);
	} else if (!fake_clamp.supported) {
		errno = EOPNOTSUPP;
		ret = -1;
	} else if (a->size != sizeof(*a) || a->flags != (0x08 | 0x10 | 0x40) ||
		   a->util_max > 1024) {
		errno = EINVAL;
		ret = -1;
	} else {
		fake_clamp.sets += *clamp_of(tid) != a->util_max;
		*clamp_of(tid) = a->util_max;
	}
	unlock_all(&old);
	return ret;
}

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;
	int n;

	va_start(args, number);
	for (n = 0; n < 6; n++)
		a[n] = va_arg(args, long);
	va_end(args);
	/* Who asks whether a thread lives must stand that the answer grows old. */
	if (number == SYS_tgkill)
		sched_yield();
	if (number == SYS_sched_getattr || number == SYS_sched_setattr)
		return clamp_call(number, (pid_t)a[0], (void *)a[1]);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
