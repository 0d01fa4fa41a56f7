// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The calls that the fuzzer makes: structured, random, and judged by the ABI's
 * header and docs/abi.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "fuzz.h"
#include "genl.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define PAGE 4096

struct fuzz_counts *fuzz_counts;
struct fuzz_worker fuzz_worker;

#define w fuzz_worker

/* -- Dice -- */

static uint32_t any(void)
{
	w.dice ^= w.dice << 13;
	w.dice ^= w.dice >> 7;
	w.dice ^= w.dice << 17;
	return w.dice >> 16;
}

static uint32_t roll(uint32_t sides)
{
	return any() % sides;
}

/* Mostly small, sometimes at the limit of a width, sometimes anything. */
static uint64_t number(uint32_t sane)
{
	switch (roll(8)) {
	case 0:
		return (uint64_t)any() << 32 | any();
	case 1:
		return (1ull << roll(64)) - roll(3);
	case 2:
		return sane + roll(3) - 1;
	default:
		return roll(sane ? sane : 1);
	}
}

static void surprise(const char *what, long ret, uint64_t a, uint64_t b)
{
	if (!__atomic_fetch_add(&fuzz_counts->surprises, 1, __ATOMIC_RELAXED))
		snprintf(fuzz_counts->first, sizeof(fuzz_counts->first),
			 "%s(%#llx, %#llx): %ld (%s)", what, (unsigned long long)a,
			 (unsigned long long)b, ret, ret < 0 ? strerror(-ret) : "");
}

/* -ret must be in a list that ends with 0. */
static void judge(const char *what, long ret, uint64_t a, uint64_t b, const int *errors)
{
	if (ret >= 0) {
		__atomic_fetch_add(&fuzz_counts->passed, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&fuzz_counts->refused, 1, __ATOMIC_RELAXED);
	for (; *errors; errors++)
		if (-ret == *errors)
			return;
	surprise(what, ret, a, b);
}

#define MAY(...) ((const int[]){ __VA_ARGS__, 0 })

static int some_fd(void)
{
	return w.fd[roll(FUZZ_FILES)];
}

/* -- The device -- */

static void op_open(void)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR };
	int i = roll(FUZZ_FILES), fd;

	if (w.child)
		return;
	if (w.fd[i] >= 0)
		close(w.fd[i]);
	fd = open(DEVICE, flags[roll(8) ? 2 : roll(3)] | O_CLOEXEC);
	w.fd[i] = fd;
	judge("open", fd < 0 ? -errno : fd, 0, 0, MAY(EDQUOT, ENOMEM));
}

static void op_close(void)
{
	int i = roll(FUZZ_FILES);

	if (w.fd[i] < 0)
		return;
	close(w.fd[i]);
	w.fd[i] = -1;
}

static void op_dup(void)
{
	int i = roll(FUZZ_FILES), fd = some_fd();

	if (fd < 0 || w.fd[i] >= 0)
		return;
	w.fd[i] = dup(fd);
}

/* A structure of any size at any address, valid or not. */
static void op_ioctl_struct(void)
{
	union {
		struct gchint_attach attach;
		struct gchint_set_role role;
		uint32_t word[32];
	} arg;
	bool attach = roll(2);
	unsigned int size = attach ? sizeof(arg.attach) : sizeof(arg.role);
	unsigned int command;
	void *at = &arg;
	int fd = some_fd();
	size_t i;
	long ret;

	memset(&arg, 0, sizeof(arg));
	if (attach) {
		arg.attach.tid = roll(8) ? w.tid[roll(FUZZ_IDLERS)] : number(getpid() + 2);
		arg.attach.role = number(GCHINT_ROLE_NR);
		if (arg.attach.role == GCHINT_ROLE_FOLLOW || !roll(8))
			arg.attach.lead = number(GCHINT_SLOTS);
	} else {
		arg.role.slot = number(4);
		arg.role.role = number(GCHINT_ROLE_NR);
		if (arg.role.role == GCHINT_ROLE_FOLLOW || !roll(8))
			arg.role.lead = number(GCHINT_SLOTS);
	}
	if (!roll(8))
		for (i = 0; i < sizeof(arg) / 4; i++)
			if (!roll(4))
				arg.word[i] = any();
	if (!roll(8))
		size = number(128);
	command = _IOC(attach ? _IOC_READ | _IOC_WRITE : _IOC_WRITE, GCHINT_IOC_MAGIC,
		       attach ? 1 : 4, size & _IOC_SIZEMASK);
	if (!roll(16))
		at = (void *)(uintptr_t)number(PAGE);
	ret = ioctl(fd, command, at) ? -errno : 0;
	judge("ioctl", ret, command, (uintptr_t)at,
	      MAY(EBADF, EINVAL, E2BIG, EFAULT, ESRCH, ENOENT, EBUSY, ENOSPC, EDQUOT, ENOMEM,
		  ESTALE));
}

static void op_ioctl_slot(void)
{
	unsigned int command = roll(3) ? GCHINT_IOC_RING : GCHINT_IOC_DETACH;
	unsigned long slot = number(4);

	judge("ioctl", ioctl(some_fd(), command, slot) ? -errno : 0, command, slot,
	      MAY(EBADF, EINVAL, ENOENT, ESTALE));
}

/* Rarely: a session keeps its slots. */
static void op_ioctl_grow(void)
{
	unsigned long slots = number(3 * GCHINT_SLOTS);

	judge("ioctl", ioctl(some_fd(), GCHINT_IOC_GROW, slots) ? -errno : 0,
	      GCHINT_IOC_GROW, slots, MAY(EBADF, EINVAL, EDQUOT, ENOMEM, ESTALE));
}

static void op_ioctl_any(void)
{
	char room[16384];
	unsigned int command = roll(2) ? any() : _IOC(roll(4), GCHINT_IOC_MAGIC, roll(8), any());

	/* Generic calls on any file, which may replace it. */
	if (_IOC_TYPE(command) != GCHINT_IOC_MAGIC)
		command = (command & ~0xff00u) | 0x2300;
	memset(room, roll(2) ? 0 : any(), sizeof(room));
	judge("ioctl", ioctl(some_fd(), command, room) < 0 ? -errno : 0, command, 0,
	      MAY(EBADF, ENOTTY, EINVAL, E2BIG, EFAULT, ESRCH, ENOENT, EBUSY, ENOSPC, EDQUOT,
		  EUSERS, ENOMEM, ESTALE));
}

static void op_read(void)
{
	char room[32];
	size_t size = number(16);
	ssize_t n = read(some_fd(), room, size < sizeof(room) ? size : sizeof(room));

	judge("read", n < 0 ? -errno : n, size, 0, MAY(EBADF, EINVAL, ESTALE));
	if (n >= 0 && n != 8)
		surprise("read", n, size, 0);
}

static void op_other_calls(void)
{
	struct pollfd p = { .fd = some_fd(), .events = any() };
	char byte = 0;

	switch (roll(5)) {
	case 0:
		poll(&p, 1, 0);
		break;
	case 1:
		if (p.fd >= 0 && write(p.fd, &byte, 1) >= 0)
			surprise("write", 1, 0, 0);
		break;
	case 2:
		if (p.fd >= 0 && lseek(p.fd, number(100), roll(3)) > 0)
			surprise("lseek", 1, 0, 0);
		break;
	case 3:
		if (p.fd >= 0 && pread(p.fd, &byte, 1, 0) >= 0)
			surprise("pread", 1, 0, 0);
		break;
	default:
		fsync(p.fd);
		break;
	}
}

/* -- Mappings -- */

static void unmap(struct fuzz_map *m)
{
	if (m->at)
		munmap(m->at, m->length);
	m->at = NULL;
}

static void op_mmap(void)
{
	static const off_t offsets[] = {
		GCHINT_MMAP_INFO, GCHINT_MMAP_SLOTS, GCHINT_MMAP_CPUS,
	};
	struct fuzz_map *m = &w.map[roll(FUZZ_MAPS)];
	size_t length = roll(8) ? PAGE : number(5 * PAGE);
	int protection = roll(4) ? PROT_READ : roll(8);
	bool slots = roll(2);
	off_t offset = roll(8) ? offsets[slots ? 1 : 2 * roll(2)] :
		       (off_t)(number(64) * PAGE);
	int flags = roll(8) ? MAP_SHARED : MAP_PRIVATE;

	if (slots && roll(4))
		protection = PROT_READ | PROT_WRITE;
	if (length > 64 * PAGE)
		length = 64 * PAGE;
	unmap(m);
	m->at = mmap(NULL, length, protection, flags, some_fd(), offset);
	if (m->at == MAP_FAILED)
		m->at = NULL;
	m->length = length;
	m->protection = protection;
	m->slots = offset >= GCHINT_MMAP_SLOTS && offset < GCHINT_MMAP_CPUS;
	judge("mmap", m->at ? 0 : -errno, length, offset,
	      MAY(EBADF, EINVAL, EACCES, ESTALE, ENOMEM, EOVERFLOW, EPERM));
}

static void op_protect(void)
{
	struct fuzz_map *m = &w.map[roll(FUZZ_MAPS)];
	size_t length = number(4 * PAGE) % (16 * PAGE);
	int protection = roll(8);
	void *at;

	if (!m->at)
		return;
	switch (roll(5)) {
	case 0:
		unmap(m);
		break;
	case 1:
		at = mremap(m->at, m->length, length, MREMAP_MAYMOVE);
		if (at != MAP_FAILED) {
			m->at = at;
			m->length = length;
		}
		unmap(m);
		break;
	case 2:
		madvise(m->at, m->length, roll(26));
		/* Some advice removes the mapping from forked children. */
		madvise(m->at, m->length, MADV_DOFORK);
		break;
	default:
		if (!mprotect(m->at, m->length, protection)) {
			if (!m->slots && protection & PROT_WRITE)
				surprise("mprotect", protection, 0, 0);
			m->protection = protection;
		}
		break;
	}
}

static void op_store(void)
{
	struct fuzz_map *m = &w.map[roll(FUZZ_MAPS)];
	volatile struct gchint_slot *slot;
	volatile uint32_t *word;

	if (!m->at || !m->slots || !(m->protection & PROT_WRITE) || m->length > PAGE)
		return;
	slot = &((volatile struct gchint_slot *)m->at)[number(4) % GCHINT_SLOTS];
	word = (volatile uint32_t *)slot;
	switch (roll(4)) {
	case 0:
		word[roll(sizeof(*slot) / 4)] = any();
		break;
	case 1:
		slot->cause = number(GCHINT_CAUSE_NR);
		slot->work_done = number(1000);
		slot->work_total = number(1000);
		slot->stall_ns = roll(2) ? now_us() * 1000 + number(1000000) : number(1);
		slot->method = number(1);
		break;
	default:
		slot->state = GCHINT_STATE(slot->state + (roll(8) ? GCHINT_STATE_EDGE : any()),
					   number(GCHINT_PHASE_NR) & 0xff, number(16) & 0xff);
		break;
	}
}

/* -- Netlink -- */

static void op_netlink(void)
{
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		char room[512];
	} m;
	char answer[8192];
	size_t used = 0, left;
	int i;

	memset(&m, 0, sizeof(m));
	for (i = roll(4); i && used < 256; i--) {
		char data[64];
		size_t size = roll(4) ? 4 : number(16) % sizeof(data), j;

		for (j = 0; j < sizeof(data); j++)
			data[j] = any();
		if (roll(2)) {
			uint32_t sane = number(1u << GCHINT_PHASE_NR);

			memcpy(data, &sane, 4);
		}
		used += genl_put(m.room + used, number(GCHINT_A_MAX + 2), data, size);
		if (!roll(16))
			((struct nlattr *)m.room)->nla_len = any();
	}
	left = roll(16) ? used : number(sizeof(m.room)) % sizeof(m.room);
	m.n.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + left;
	m.n.nlmsg_type = w.family;
	m.n.nlmsg_flags = NLM_F_REQUEST | (roll(2) ? NLM_F_ACK : 0) |
			  (roll(4) ? 0 : NLM_F_DUMP) | (roll(16) ? 0 : any());
	m.n.nlmsg_seq = any();
	m.g.cmd = number(GCHINT_CMD_MAX + 2);
	m.g.version = roll(4) ? GCHINT_GENL_VERSION : any();
	if (!roll(32))
		m.n.nlmsg_len = any();
	send(w.netlink, &m, NLMSG_HDRLEN + GENL_HDRLEN + left, MSG_DONTWAIT);
	/* Sometimes it reads, sometimes it lets its socket fill. */
	while (roll(8) && recv(w.netlink, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
}

/* Powers of OPPs, most of them valid. */
static void op_power(void)
{
	static long khz[MAX_OPPS];
	static int nr;
	char out[4096] __attribute__((aligned(8))), nest[3072] __attribute__((aligned(8)));
	char opp[32] __attribute__((aligned(8)));
	uint32_t power = 1 + roll(1000);
	size_t len = 0, used, n;
	struct genl g;
	int i, cut;

	if (!nr)
		nr = opps(0, khz, MAX_OPPS);
	cut = roll(4) ? nr : (int)roll(nr + 1);
	for (i = 0; i < cut; i++) {
		power += roll(1000);
		n = genl_put_u32(opp, GCHINT_OPP_A_KHZ, roll(16) ? khz[i] : any());
		if (roll(32))
			n += genl_put_u32(opp + n, GCHINT_OPP_A_POWER,
					  roll(16) ? power : any());
		len += genl_put(nest + len, GCHINT_OPPS_A_OPP |
				(roll(32) ? NLA_F_NESTED : 0), opp, n);
	}
	if (roll(2))
		len += genl_put_u32(nest + len, number(GCHINT_OPPS_A_MAX + 1), any());
	used = genl_put_u32(out, GCHINT_A_CPU, roll(8) ? 0 : any());
	used += genl_put(out + used, GCHINT_A_OPPS | NLA_F_NESTED, nest, len);
	if (genl_open(&g))
		return;
	genl_request(&g, GCHINT_CMD_OPPS_SET, 0, out, used);
	genl_close(&g);
}

static void op_socket(void)
{
	int option = roll(2) ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP;
	struct genl g;

	if (roll(4)) {
		setsockopt(w.netlink, SOL_NETLINK, option, &w.groups[roll(2)], 4);
		return;
	}
	close(w.netlink);
	w.netlink = -1;
	if (!genl_open(&g)) {
		w.netlink = g.fd;
		w.family = g.family;
		w.groups[0] = g.event;
		w.groups[1] = g.sampling;
	}
}

/* -- Tunables: only the first worker sets them, so that it can check them -- */

static const char * const tunables[] = {
	"awake_pct", "boost_unprivileged", "budget", "cap_pct", "hold_us", "min_latencies", "mode",
};

static void some_text(char *text, size_t size)
{
	static const char * const words[] = {
		"off", "table", "model", "OFF", "", "\n", "0x10", "-1", " 5", "5 ", "1e3",
		"99999999999999999999", "off\n\n", "tablet", "mod",
	};
	size_t i, n;

	switch (roll(4)) {
	case 0:
		snprintf(text, size, "%s", words[roll(sizeof(words) / sizeof(*words))]);
		break;
	case 1:
		n = roll(size - 1);
		for (i = 0; i < n; i++)
			text[i] = any() & 0xff ? any() & 0xff : 1;
		text[n] = '\0';
		break;
	default:
		snprintf(text, size, "%lld", (long long)number(200));
		break;
	}
}

static void op_tunable(void)
{
	const char *name = tunables[roll(sizeof(tunables) / sizeof(*tunables))];
	char before[64], after[64], text[64];
	int ret;

	if (w.number || w.child || tunable_get(0, name, before, sizeof(before)) < 0)
		return;
	some_text(text, sizeof(text));
	if (!text[0])
		return;
	ret = tunable_put(0, name, text);
	judge("tunable", ret, 0, 0, MAY(EINVAL, ERANGE));
	tunable_get(0, name, after, sizeof(after));
	if (ret < 0 && strcmp(before, after))
		surprise(name, ret, strtoul(before, NULL, 0), strtoul(after, NULL, 0));
	/* Back to values that let the other workers proceed. */
	if (!strcmp(name, "mode"))
		tunable_put(0, "mode", before);
}

static void op_parameter(void)
{
	char text[64];

	some_text(text, sizeof(text));
	if (text[0] && w.number != FUZZ_NOBODY)
		judge("parameter", parameter_put("hint_ttl_ms", text), 0, 0,
		      MAY(EINVAL, ERANGE));
}

static void op_read_files(void)
{
	static const char * const files[] = {
		"ignored", "latency", "model", "opps", "sessions", "switches",
		"time_in_phase",
	};
	char path[80], text[512];

	snprintf(path, sizeof(path), "/sys/kernel/debug/gchint/%s",
		 files[roll(sizeof(files) / sizeof(*files))]);
	file_get(path, text, sizeof(text));
}

/* -- Processes and threads -- */

static void *thread_main(void *arg)
{
	struct gchint_attach attach = { .role = GCHINT_ROLE_CONCURRENT };

	ioctl((int)(intptr_t)arg, GCHINT_IOC_ATTACH, &attach);
	return NULL;
}

static void op_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_main, (void *)(intptr_t)some_fd()))
		pthread_join(thread, NULL);
}

static void op_fork(void)
{
	pid_t child;
	int i;

	if (w.child || roll(8))
		return;
	child = fork();
	if (!child) {
		w.child = true;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = roll(20); i; i--)
			fuzz_step();
		if (!roll(4))
			execl("/proc/self/exe", "fuzz", "--exit", NULL);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static const struct {
	void (*run)(void);
	unsigned int weight;
} ops[] = {
	{ op_store, 24 },	{ op_ioctl_slot, 24 },	{ op_ioctl_struct, 16 },
	{ op_ioctl_any, 6 },	{ op_ioctl_grow, 1 },	{ op_open, 3 },		{ op_close, 1 },
	{ op_dup, 1 },		{ op_read, 4 },		{ op_other_calls, 4 },
	{ op_mmap, 4 },		{ op_protect, 2 },	{ op_netlink, 12 },
	{ op_power, 2 },
	{ op_socket, 1 },	{ op_tunable, 4 },	{ op_parameter, 1 },
	{ op_read_files, 1 },		{ op_thread, 1 },	{ op_fork, 1 },
};

void fuzz_step(void)
{
	unsigned int total = 0, at, i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		total += ops[i].weight;
	at = roll(total);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	ops[i].run();
	__atomic_fetch_add(&fuzz_counts->done, 1, __ATOMIC_RELAXED);
}
