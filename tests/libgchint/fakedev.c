// SPDX-License-Identifier: MIT
/* A /dev/gchint in user space. */
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
int __real_fstat(int fd, struct stat *st);
int __real_ioctl(int fd, unsigned long request, ...);
void *__real_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
long __real_syscall(long number, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
long __wrap_syscall(long number, ...);

struct fake_dev fake;
struct fake_clamp fake_clamp;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int info_fd = -1, cpus_fd = -1;
static char *cpus;
static struct gchint_info *info;
static struct session {
	dev_t dev;
	ino_t ino; /* 0 closed */
	pid_t pid;
	struct gchint_slot *slots; /* the kernel's view */
	unsigned int nr; /* its slots */
	void *user_slots[FAKE_SESSIONS]; /* by page */
} sessions[FAKE_SESSIONS];

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

#define CPUS_SIZE  ((size_t)FAKE_CPUS * FAKE_CPU_SIZE)
#define SLOTS_SIZE (FAKE_SESSIONS * GCHINT_SLOTS * sizeof(struct gchint_slot))

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void die(const char *what)
{
	perror(what);
	abort();
}

static void *view(int fd, size_t size)
{
	void *p = __real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("fakedev: mmap");
	return p;
}

static int backing(size_t size)
{
	int fd = memfd_create("gchint", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		die("fakedev: memfd_create");
	return fd;
}

/* Which thread forks. */
static __thread pid_t forks;

static struct fake_clamp_thread *clamp_of(pid_t tid);

static void before_fork(void)
{
	forks = (pid_t)__real_syscall(SYS_gettid);
}

/*
 * Stores of a forked child go to a page without a reader. Its thread has the clamp
 * of the one that forked.
 */
static void in_child(void)
{
	fake_clamp_set(0, fake_clamp_of(forks));
	void *copy = malloc(page()), *p;
	unsigned int n;

	for (n = 0; n < FAKE_SESSIONS * FAKE_SESSIONS; n++) {
		p = sessions[n / FAKE_SESSIONS].user_slots[n % FAKE_SESSIONS];
		if (!p)
			continue;
		memcpy(copy, p, page());
		__real_mmap(p, page(), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		memcpy(p, copy, page());
	}
	free(copy);
}

void fake_reset(void)
{
	static int once;

	if (!once++) {
		pthread_atfork(before_fork, NULL, in_child);
		info_fd = backing(page());
		info = view(info_fd, page());
		cpus_fd = backing(CPUS_SIZE);
		cpus = view(cpus_fd, CPUS_SIZE);
	}
	memset(&fake, 0, sizeof(fake));
	memset(&fake_clamp, 0, sizeof(fake_clamp));
	memset(info, 0, page());
	memset(cpus, 0, CPUS_SIZE);
	memset(sessions, 0, sizeof(sessions));
	fake.present = 1;
	fake.no_map = -1;
	fake.sessions = FAKE_SESSIONS;
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

struct gchint_info_cpu *fake_cpu(unsigned int cpu)
{
	return (struct gchint_info_cpu *)(cpus + (size_t)cpu * FAKE_CPU_SIZE);
}

void fake_cpus(void)
{
	unsigned int cpu;

	info->features |= GCHINT_FEATURE_CPUS;
	info->nr_cpus = FAKE_CPUS;
	info->cpu_size = FAKE_CPU_SIZE;
	for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
		fake_cpu(cpu)->policy = info->policy[0];
		fake_cpu(cpu)->policy.cur_khz = 1000 + cpu;
	}
}

struct gchint_info *fake_info(void)
{
	return info;
}

void fake_grows(void)
{
	info->features |= GCHINT_FEATURE_GROW;
	fake.sessions = 1;
}

const struct gchint_slot *fake_slot(unsigned int n)
{
	if (info->features & GCHINT_FEATURE_GROW)
		return &sessions[0].slots[n];
	return &sessions[n / GCHINT_SLOTS].slots[n % GCHINT_SLOTS];
}

struct fake_ring fake_last_ring(void)
{
	return fake.ring[(unsigned int)(fake.ring_count - 1) % FAKE_RINGS];
}

static struct session *session_of(int fd)
{
	struct session *s;
	struct stat st;

	if (fd < 0 || __real_fstat(fd, &st) != 0)
		return NULL;
	for (s = sessions; s < sessions + FAKE_SESSIONS; s++)
		if (s->ino && st.st_ino == s->ino && st.st_dev == s->dev)
			return s;
	return NULL;
}

static unsigned int first_of(const struct session *s)
{
	return (unsigned int)(s - sessions) * GCHINT_SLOTS;
}

static int lives(pid_t tid)
{
	return __real_syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

/* The kernel ends a lease with its thread. */
static void reap(void)
{
	unsigned int n;

	for (n = 0; n < FAKE_SESSIONS * GCHINT_SLOTS; n++)
		if (fake.lease[n].tid && !lives(fake.lease[n].tid))
			fake.lease[n].tid = 0;
}

const struct gchint_slot *fake_slot_of(pid_t tid)
{
	const struct gchint_slot *slot = NULL;
	unsigned int n;
	sigset_t old;

	lock_all(&old);
	for (n = 0; n < FAKE_SESSIONS * GCHINT_SLOTS; n++)
		if (fake.lease[n].tid == tid)
			slot = fake_slot(n);
	unlock_all(&old);
	return slot;
}

/* A call that a test keeps from going on. */
static void hold(const int *held_by)
{
	__atomic_add_fetch(&fake.held, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(held_by, __ATOMIC_SEQ_CST))
		usleep(200);
	__atomic_add_fetch(&fake.held, -1, __ATOMIC_SEQ_CST);
}

static int is_device(const char *path)
{
	const char *fd = "/proc/self/fd/";

	if (!strncmp(path, fd, strlen(fd)))
		return session_of(atoi(path + strlen(fd))) != NULL;
	return !strcmp(path, fake.path ? fake.path : "/dev/" GCHINT_DEVICE);
}

#define SYSFS_CPUS "/sys/devices/system/cpu/"

/* The CPUs of the test's machine, whatever this one has. */
static int open_cpus(const char *name)
{
	unsigned int cpu = 0;
	char text[32];
	int fd, length;

	if (!strcmp(name, "possible"))
		length = snprintf(text, sizeof(text), "0-%d\n", FAKE_CAPACITIES - 1);
	else if (sscanf(name, "cpu%u/cpu_capacity", &cpu) == 1 && cpu < FAKE_CAPACITIES &&
		 fake.capacity[cpu])
		length = snprintf(text, sizeof(text), "%u\n", fake.capacity[cpu]);
	else
		length = 0;
	if (!length) {
		errno = ENOENT;
		return -1;
	}
	fd = backing(0);
	if (pwrite(fd, text, (size_t)length, 0) != length)
		die("fakedev: pwrite");
	return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	struct session *s = sessions;
	struct stat st;
	va_list args;
	mode_t mode;
	sigset_t old;
	int fd;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (!strncmp(path, SYSFS_CPUS, strlen(SYSFS_CPUS)))
		return open_cpus(path + strlen(SYSFS_CPUS));
	if (!is_device(path))
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
	hold(&fake.hold_open);
	sched_yield();
	fd = backing(SLOTS_SIZE);
	__real_fstat(fd, &st);
	lock_all(&old);
	while (s < sessions + fake.sessions && s->ino)
		s++;
	if (s == sessions + fake.sessions) {
		unlock_all(&old);
		__real_close(fd);
		errno = EDQUOT;
		return -1;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->pid = getpid();
	s->slots = view(fd, SLOTS_SIZE);
	s->nr = GCHINT_SLOTS;
	memset(&fake.lease[first_of(s)], 0, GCHINT_SLOTS * sizeof(fake.lease[0]));
	fake.opens++;
	unlock_all(&old);
	return fd;
}

/* A file backs the session; it is not the device. */
int __wrap_fstat(int fd, struct stat *st)
{
	int ret = __real_fstat(fd, st);

	if (!ret && session_of(fd))
		st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFCHR;
	else if (!ret && fake.alike)
		st->st_ino = fake.alike;
	return ret;
}

static int is_last(const struct session *s, int fd)
{
	int other;

	for (other = 0; other < 1024; other++)
		if (other != fd && session_of(other) == s)
			return 0;
	return 1;
}

/*
 * Closing ends every lease, unless another descriptor or a forked child's has it open. Threads that
 * opened one session too many close at once. A child does not lock: a thread of its parent may have.
 */
int __wrap_close(int fd)
{
	struct session *s = session_of(fd);
	sigset_t old;
	int ret;

	if (!s || s->pid != getpid())
		return __real_close(fd);
	lock_all(&old);
	if (is_last(s, fd)) {
		memset(&fake.lease[first_of(s)], 0, s->nr * sizeof(fake.lease[0]));
		s->ino = 0;
		memset(s->user_slots, 0, sizeof(s->user_slots));
		fake.closes++;
	}
	ret = __real_close(fd);
	unlock_all(&old);
	return ret;
}

void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	struct session *s = session_of(fd);
	void *p;

	if (!s && fake.map_errno) {
		errno = fake.map_errno;
		return MAP_FAILED;
	}
	if (!s)
		return __real_mmap(addr, length, prot, flags, fd, offset);
	errno = 0;
	if (s->pid != getpid())
		errno = ESTALE;
	else if (!(flags & MAP_SHARED) ||
		 length > (offset == GCHINT_MMAP_CPUS ? CPUS_SIZE : page()))
		errno = EINVAL;
	else if (offset == fake.no_map)
		errno = ENOMEM;
	else if (offset == GCHINT_MMAP_CPUS && info->nr_cpus && prot == PROT_READ)
		return __real_mmap(addr, length, prot, flags, cpus_fd, 0);
	else if (offset == GCHINT_MMAP_INFO && prot == PROT_READ)
		return __real_mmap(addr, length, prot, flags, info_fd, 0);
	else if (offset < GCHINT_MMAP_SLOTS ||
		 offset >= (off_t)(GCHINT_MMAP_SLOTS + s->nr * sizeof(struct gchint_slot)))
		errno = offset ? EINVAL : EACCES;
	else if (prot & PROT_EXEC)
		errno = EACCES;
	if (errno)
		return MAP_FAILED;
	offset -= GCHINT_MMAP_SLOTS;
	p = __real_mmap(addr, length, prot, flags, fd, offset);
	s->user_slots[offset / (off_t)page()] = p;
	return p;
}

static int attach(struct session *s, struct gchint_attach *a)
{
	struct fake_lease *lease = &fake.lease[first_of(s)];
	pid_t tid = a->tid ? a->tid : (pid_t)__real_syscall(SYS_gettid);
	unsigned int n;

	reap();
	if (fake.attach_errno)
		return fake.attach_errno;
	if (a->flags || a->role >= GCHINT_ROLE_NR || a->lead >= s->nr ||
	    (a->role != GCHINT_ROLE_FOLLOW && a->lead))
		return EINVAL;
	if (tid < 0 || !lives(tid))
		return ESRCH;
	for (n = 0; n < FAKE_SESSIONS * GCHINT_SLOTS; n++)
		if (fake.lease[n].tid == tid)
			return EBUSY;
	for (n = 0; n < s->nr && lease[n].tid; n++)
		;
	if (n == s->nr)
		return ENOSPC;
	if (a->role == GCHINT_ROLE_FOLLOW && !lease[a->lead].tid)
		return EINVAL;
	lease[n] = (struct fake_lease){ .tid = tid, .role = a->role, .lead = a->lead };
	memset(&s->slots[n], 0, sizeof(s->slots[n]));
	a->slot = n;
	fake.attaches++;
	return 0;
}

static int set_role(const struct session *s, const struct gchint_set_role *r)
{
	struct fake_lease *lease = &fake.lease[first_of(s)];

	reap();
	if (r->slot >= s->nr || (r->role == GCHINT_ROLE_FOLLOW && r->lead >= s->nr) ||
	    r->role >= GCHINT_ROLE_NR || r->flags || (r->role != GCHINT_ROLE_FOLLOW && r->lead))
		return EINVAL;
	if (!lease[r->slot].tid || (r->role == GCHINT_ROLE_FOLLOW && !lease[r->lead].tid))
		return ENOENT;
	lease[r->slot].role = r->role;
	lease[r->slot].lead = r->lead;
	fake.roles++;
	return 0;
}

static int grow(struct session *s, unsigned long slots)
{
	if (!(info->features & GCHINT_FEATURE_GROW))
		return ENOTTY;
	if (!slots || slots > GCHINT_SLOTS_MAX)
		return EINVAL;
	if (slots > FAKE_SESSIONS * GCHINT_SLOTS)
		return EDQUOT;
	if (slots > s->nr)
		s->nr = (unsigned int)(slots + GCHINT_SLOTS - 1) / GCHINT_SLOTS * GCHINT_SLOTS;
	fake.grown++;
	return 0;
}

static int detach(const struct session *s, unsigned long n)
{
	struct fake_lease *lease = &fake.lease[first_of(s)];

	reap();
	if (n >= s->nr)
		return EINVAL;
	if (!lease[n].tid)
		return ENOENT;
	lease[n].tid = 0;
	fake.detaches++;
	return 0;
}

static int ring(const struct session *s, unsigned long n)
{
	const struct fake_lease *lease = &fake.lease[first_of(s)];
	struct fake_ring *r = &fake.ring[(unsigned int)fake.ring_count % FAKE_RINGS];

	if (n >= s->nr)
		return EINVAL;
	if (!lease[n].tid)
		return ENOENT;
	r->slot = (__u32)n + first_of(s);
	r->state = __atomic_load_n(&s->slots[n].state, __ATOMIC_ACQUIRE);
	fake.ring_count++;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct session *s = session_of(fd);
	unsigned long number;
	sigset_t old;
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	number = (unsigned long)(uintptr_t)arg;
	if (!s) {
		fake.strays += _IOC_TYPE(request) == GCHINT_IOC_MAGIC;
		return __real_ioctl(fd, request, arg);
	}
	if (request == GCHINT_IOC_ATTACH)
		hold(&fake.hold_attach);
	lock_all(&old);
	fake.calls++;
	if (s->pid != getpid())
		ret = ESTALE;
	else if (request == GCHINT_IOC_ATTACH)
		ret = attach(s, arg);
	else if (request == GCHINT_IOC_SET_ROLE)
		ret = set_role(s, arg);
	else if (request == GCHINT_IOC_DETACH)
		ret = detach(s, number);
	else if (request == GCHINT_IOC_GROW)
		ret = grow(s, number);
	else if (request == GCHINT_IOC_RING)
		ret = ring(s, number);
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

static struct fake_clamp_thread *clamp_of(pid_t tid)
{
	int n;

	if (!tid)
		tid = (pid_t)__real_syscall(SYS_gettid);
	for (n = 0; n < fake_clamp.tids; n++)
		if (fake_clamp.thread[n].tid == tid)
			return &fake_clamp.thread[n];
	fake_clamp.thread[n].tid = tid;
	fake_clamp.thread[n].max = 1024;
	fake_clamp.tids++;
	return &fake_clamp.thread[n];
}

__u32 fake_clamp_of(pid_t tid)
{
	return clamp_of(tid)->max;
}

int fake_clamp_user(pid_t tid)
{
	return clamp_of(tid)->user;
}

void fake_clamp_set(pid_t tid, __u32 max)
{
	struct fake_clamp_thread *clamp = clamp_of(tid);

	clamp->max = max;
	clamp->user = max != 1024;
}

static long clamp_call(long number, pid_t tid, struct attr *a)
{
	struct fake_clamp_thread *clamp;
	sigset_t old;
	long ret = 0;
	__u32 max;

	lock_all(&old);
	fake_clamp.calls++;
	clamp = clamp_of(tid);
	if (number == SYS_sched_getattr) {
		ret = fake_clamp.get_errno;
		a->size = fake_clamp.size ? fake_clamp.size : sizeof(*a);
		if (a->size == sizeof(*a))
			a->util_max = clamp->max;
	} else if (fake_clamp.set_errno) {
		ret = fake_clamp.set_errno;
	} else if (!fake_clamp.supported) {
		ret = EOPNOTSUPP;
	} else if (a->size != sizeof(*a) || a->flags != (0x08 | 0x10 | 0x40) ||
		   (a->util_max > 1024 && (a->util_max != UINT32_MAX || fake_clamp.no_reset))) {
		ret = EINVAL;
	} else {
		max = a->util_max > 1024 ? 1024 : a->util_max;
		fake_clamp.sets += clamp->max != max;
		clamp->max = max;
		clamp->user = a->util_max <= 1024;
	}
	if (ret) {
		errno = (int)ret;
		ret = -1;
	}
	unlock_all(&old);
	return ret;
}

/* It reads as many arguments as a call may have: some of them may be the caller's stack. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;
	int n;

	va_start(args, number);
	for (n = 0; n < 6; n++)
		a[n] = va_arg(args, long);
	va_end(args);
	/* The answer whether a thread lives may be outdated by the time it is used. */
	if (number == SYS_tgkill)
		sched_yield();
	if (number == SYS_sched_getattr || number == SYS_sched_setattr)
		return clamp_call(number, (pid_t)a[0], (void *)a[1]);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
