// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"

/*
 * Pages of a CPU's buffer, a power of two as perf requires: without arguments; with them; and with
 * them but without CAP_IPC_LOCK, as many as perf_event_mlock_kb allows by default.
 */
#define PAGES	    32
#define PAGES_WATCH 1024
#define PAGES_LEAST 128
#define SLACK_NS    (10 * NSEC_PER_MSEC) /* from a hit's timestamp until it is in the buffer */
#define RETURNS	    1 /* bit of attr.config */
#define SEMAPHORE   32 /* shift in attr.config of the offset of a counter */
#define SAMPLE	    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/*
 * Registers with the stack pointer, the first arguments of a function and the address to which it
 * returns, by their numbers in a sample; they are in it in the order of these. Without a register
 * that address is the first word on the stack.
 */
#if defined(__x86_64__)
static const unsigned char registers[] = { PERF_REG_X86_DI, PERF_REG_X86_SI, PERF_REG_X86_DX,
					   PERF_REG_X86_CX, PERF_REG_X86_R8, PERF_REG_X86_R9 };
#define STACK_REGISTER PERF_REG_X86_SP
#elif defined(__aarch64__)
static const unsigned char registers[] = {
	PERF_REG_ARM64_X0, PERF_REG_ARM64_X1, PERF_REG_ARM64_X2,
	PERF_REG_ARM64_X3, PERF_REG_ARM64_X4, PERF_REG_ARM64_X5
};
#define RETURN_REGISTER PERF_REG_ARM64_LR
#define STACK_REGISTER	PERF_REG_ARM64_SP
#elif defined(__arm__)
static const unsigned char registers[] = { PERF_REG_ARM_R0, PERF_REG_ARM_R1, PERF_REG_ARM_R2,
					   PERF_REG_ARM_R3 };
#define RETURN_REGISTER PERF_REG_ARM_LR
#define STACK_REGISTER	PERF_REG_ARM_SP
#elif defined(__riscv)
static const unsigned char registers[] = {
	PERF_REG_RISCV_A0, PERF_REG_RISCV_A1, PERF_REG_RISCV_A2,
	PERF_REG_RISCV_A3, PERF_REG_RISCV_A4, PERF_REG_RISCV_A5
};
#define RETURN_REGISTER PERF_REG_RISCV_RA
#define STACK_REGISTER	PERF_REG_RISCV_SP
#elif defined(__i386__)
static const unsigned char registers[] = { PERF_REG_X86_SP };
#define STACK_REGISTER PERF_REG_X86_SP
#define ARGUMENTS_ON_STACK
#else
#error "which registers have a function's arguments?"
#endif

#define REGISTERS_MAX (PROBE_ARGUMENTS + 2)

/* Of the stack: its size, as many bytes, and how many of these are known. */
#define STACK_BYTES 8
#define STACK_WORDS 3

/* Where the kernel lets a function return whose return is probed: the first byte of a page. */
#define TRAMPOLINE_ALIGN 4096

struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t abi, value[REGISTERS_MAX + STACK_WORDS]; /* only with registers */
};

/* A thread begins or ends. */
struct task {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

/* A thread has another name, which ends with a zero; followed by the same words as a sample. */
struct name {
	struct perf_event_header header;
	uint32_t pid, tid;
	char text[PROBE_NAME_SIZE];
};

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct buffer {
	struct perf_event_mmap_page *map;
	int *fd;
	uint64_t *id;
};

struct probes {
	struct buffer *buffer;
	long cpus;
	unsigned int count;
	size_t page;
	struct probe_hit *hits;
	size_t used, room;
	size_t pages;
	uint64_t mask; /* of registers; 0: without, and without tasks */
};

static int probe_read_type(void)
{
	FILE *f = fopen(PROBES_TYPE, "r");
	int type = -1;

	if (f && fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

static uint64_t registers_mask(void)
{
	uint64_t mask = UINT64_C(1) << STACK_REGISTER;

	for (size_t i = 0; i < sizeof(registers); i++)
		mask |= UINT64_C(1) << registers[i];
#ifdef RETURN_REGISTER
	mask |= UINT64_C(1) << RETURN_REGISTER;
#endif
	return mask;
}

static int event_open(const struct probes *p, int type, int cpu, const struct probe_point *point,
		      bool tasks)
{
#ifdef RETURN_REGISTER
	const bool stack = false;
#else
	const bool stack = p->mask && !point->returns;
#endif
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof(attr),
		.config = (point->returns ? RETURNS : 0) | point->semaphore << SEMAPHORE,
		.sample_period = 1,
		.sample_type = SAMPLE | (p->mask ? PERF_SAMPLE_REGS_USER : 0) |
			       (stack ? PERF_SAMPLE_STACK_USER : 0),
		.sample_stack_user = stack ? STACK_BYTES : 0,
		.sample_regs_user = p->mask,
		.task = tasks,
		.comm = tasks,
		.comm_exec = tasks,
		.sample_id_all = p->mask != 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* never: the buffers are polled */
		.config1 = (uintptr_t)point->path,
		.config2 = point->offset,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A smaller one, from the first CPU on, if such buffers are not allowed. */
static void *buffer_map(struct probes *p, int fd)
{
	void *map = mmap(NULL, (1 + p->pages) * p->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED && errno == EPERM && p->pages > PAGES_LEAST) {
		p->pages = PAGES_LEAST;
		map = buffer_map(p, fd);
	}
	return map;
}

/*
 * Opens events per CPU, not per process: for an inherited event the kernel reads the name of the
 * probed file from the new thread's memory, which fails, and the program could then create no
 * thread.
 *
 * Returns 0 or -errno; a CPU that is offline gets no buffer.
 */
static int cpu_open(struct probes *p, int cpu, int type, const struct probe_point *point)
{
	struct buffer *b = &p->buffer[cpu];
	void *map;

	for (unsigned int i = 0; i < p->count; i++) {
		b->fd[i] = event_open(p, type, cpu, &point[i], p->mask && !i);
		if (b->fd[i] < 0)
			return errno == ENODEV ? 0 : -errno;
		if (ioctl(b->fd[i], PERF_EVENT_IOC_ID, &b->id[i]))
			return -errno;
		if (i && ioctl(b->fd[i], PERF_EVENT_IOC_SET_OUTPUT, b->fd[0]))
			return -errno;
		if (i)
			continue;
		map = buffer_map(p, b->fd[0]);
		if (map == MAP_FAILED)
			return -errno;
		b->map = map;
	}
	return 0;
}

static struct probes *points_open(const struct probe_point *point, unsigned int count, bool watch)
{
	struct probes *p = calloc(1, sizeof(*p));
	int type = probe_read_type(), ret = type < 0 ? -ENOENT : 0;

	if (!p) {
		errno = ENOMEM;
		return NULL;
	}
	p->page = (size_t)sysconf(_SC_PAGESIZE);
	p->pages = watch ? PAGES_WATCH : PAGES;
	p->mask = watch ? registers_mask() : 0;
	p->count = count;
	p->cpus = sysconf(_SC_NPROCESSORS_CONF);
	p->buffer = calloc((size_t)p->cpus, sizeof(*p->buffer));
	if (!p->buffer) {
		p->cpus = 0;
		ret = -ENOMEM;
	}
	for (int cpu = 0; cpu < p->cpus; cpu++) {
		p->buffer[cpu].fd = malloc(count * sizeof(int));
		p->buffer[cpu].id = calloc(count, sizeof(uint64_t));
		if (p->buffer[cpu].fd)
			memset(p->buffer[cpu].fd, 0xff, count * sizeof(int));
		if (!p->buffer[cpu].fd || !p->buffer[cpu].id)
			ret = -ENOMEM;
		if (!ret)
			ret = cpu_open(p, cpu, type, point);
	}
	if (!ret)
		return p;
	probes_close(p);
	errno = -ret;
	return NULL;
}

struct probes *probes_open(const char *path, const uint64_t *offset, unsigned int count)
{
	struct probe_point *point = calloc(count, sizeof(*point));
	struct probes *p;

	if (!point) {
		errno = ENOMEM;
		return NULL;
	}
	for (unsigned int i = 0; i < count; i++)
		point[i] = (struct probe_point){ .path = path, .offset = offset[i] };
	p = points_open(point, count, false);
	free(point);
	return p;
}

struct probes *probes_watch(const struct probe_point *point, unsigned int count)
{
	return points_open(point, count, true);
}

void probes_close(struct probes *p)
{
	for (int cpu = 0; cpu < p->cpus; cpu++) {
		struct buffer *b = &p->buffer[cpu];

		if (b->map)
			munmap(b->map, (1 + p->pages) * p->page);
		for (unsigned int i = 0; b->fd && i < p->count; i++)
			if (b->fd[i] >= 0)
				close(b->fd[i]);
		free(b->fd);
		free(b->id);
	}
	free(p->buffer);
	free(p->hits);
	free(p);
}

static bool hit_add(struct probes *p, const struct probe_hit *hit)
{
	if (p->used == p->room) {
		size_t room = p->room ? 2 * p->room : 1024;
		struct probe_hit *more = realloc(p->hits, room * sizeof(*more));

		if (!more)
			return false;
		p->hits = more;
		p->room = room;
	}
	p->hits[p->used++] = *hit;
	return true;
}

/* The register @number of a sample, which has those of the mask from the lowest on. */
static uint64_t sample_register(const struct probes *p, const struct sample *s, unsigned int number)
{
	return s->value[__builtin_popcountll(p->mask & ((UINT64_C(1) << number) - 1))];
}

/* The address to which a function will return that was entered; 0 if it is not known. */
static uint64_t sample_return_address(const struct probes *p, const struct sample *s)
{
#ifdef RETURN_REGISTER
	return sample_register(p, s, RETURN_REGISTER);
#else
	const uint64_t *stack = &s->value[__builtin_popcountll(p->mask)];

	if (s->header.size < (size_t)((const char *)(stack + STACK_WORDS) - (const char *)s) ||
	    stack[0] != STACK_BYTES || stack[2] != STACK_BYTES)
		return 0;
	return (uintptr_t)stack[1];
#endif
}

static bool sample_add(struct probes *p, const struct buffer *b, const struct sample *s)
{
	struct probe_hit hit = {
		.time = s->time,
		.pid = (pid_t)s->pid,
		.tid = (pid_t)s->tid,
		.cpu = s->cpu,
	};

	while (hit.probe < p->count && b->id[hit.probe] != s->id)
		hit.probe++;
	if (hit.probe == p->count)
		return true;
	if (p->mask && s->header.size >= sizeof(*s) - sizeof(s->value) && s->abi) {
		const uint64_t address = sample_return_address(p, s);

		hit.stack = sample_register(p, s, STACK_REGISTER);
		hit.tail = address && !(address % TRAMPOLINE_ALIGN);
#ifndef ARGUMENTS_ON_STACK
		for (size_t i = 0; i < sizeof(registers); i++)
			hit.argument[i] = sample_register(p, s, registers[i]);
#endif
	}
	return hit_add(p, &hit);
}

static bool task_add(struct probes *p, const struct task *t)
{
	const bool ends = t->header.type == PERF_RECORD_EXIT;
	const struct probe_hit hit = {
		.time = t->time,
		.pid = (pid_t)t->pid,
		.tid = (pid_t)t->tid,
		.argument = { ends ? 0 : t->parent, ends ? 0 : t->parent_tid },
		.probe = ends ? PROBE_EXIT : PROBE_FORK,
	};

	return hit_add(p, &hit);
}

/* @time: from the words of a sample that end the record */
static bool name_add(struct probes *p, const struct name *n, uint64_t time)
{
	struct probe_hit hit = {
		.time = time,
		.pid = (pid_t)n->pid,
		.tid = (pid_t)n->tid,
		.probe = n->header.misc & PERF_RECORD_MISC_COMM_EXEC ? PROBE_EXEC : PROBE_NAME,
	};

	memcpy(hit.name, n->text, strnlen(n->text, sizeof(n->text) - 1));
	return hit_add(p, &hit);
}

/* How far from the end of a record without a sample its time is: before CPU and id. */
#define TIME_FROM_END (3 * sizeof(uint64_t))

/*
 * Moves hits from the ring buffer to the list and returns how many were lost. A record may wrap
 * around the end of the buffer, so that it is copied byte by byte.
 */
static uint64_t buffer_read(struct probes *p, struct buffer *b)
{
	const size_t size = p->pages * p->page;
	const char *data = (const char *)b->map + p->page;
	uint64_t head = __atomic_load_n(&b->map->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = b->map->data_tail, lost = 0, time;
	union {
		struct perf_event_header header;
		struct sample sample;
		struct lost lost;
		struct task task;
		struct name name;
		char bytes[sizeof(struct sample)];
	} record;
	bool kept;

	while (tail < head) {
		for (size_t i = 0; i < sizeof(record); i++)
			record.bytes[i] = data[(tail + i) % size];
		if (record.header.size < sizeof(record.header))
			break;
		kept = true;
		switch (record.header.type) {
		case PERF_RECORD_SAMPLE:
			kept = sample_add(p, b, &record.sample);
			break;
		case PERF_RECORD_LOST:
			lost += record.lost.lost;
			break;
		case PERF_RECORD_FORK:
		case PERF_RECORD_EXIT:
			kept = task_add(p, &record.task);
			break;
		case PERF_RECORD_COMM:
			if (!p->mask ||
			    record.header.size < offsetof(struct name, text) + TIME_FROM_END)
				break;
			for (size_t i = 0; i < sizeof(time); i++)
				((char *)&time)[i] =
					data[(tail + record.header.size - TIME_FROM_END + i) %
					     size];
			kept = name_add(p, &record.name, time);
			break;
		default:
			break;
		}
		lost += !kept;
		tail += record.header.size;
	}
	__atomic_store_n(&b->map->data_tail, head, __ATOMIC_RELEASE);
	return lost;
}

static int by_time(const void *a, const void *b)
{
	const struct probe_hit *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

uint64_t probes_read(struct probes *p, bool last,
		     void (*hit)(void *data, const struct probe_hit *hit), void *data)
{
	const uint64_t until = last ? UINT64_MAX : clock_now() - SLACK_NS;
	uint64_t lost = 0;
	size_t n = 0;

	for (int cpu = 0; cpu < p->cpus; cpu++)
		if (p->buffer[cpu].map)
			lost += buffer_read(p, &p->buffer[cpu]);
	if (p->used)
		qsort(p->hits, p->used, sizeof(*p->hits), by_time);
	for (; n < p->used && p->hits[n].time < until; n++)
		hit(data, &p->hits[n]);
	p->used -= n;
	if (n)
		memmove(p->hits, p->hits + n, p->used * sizeof(*p->hits));
	return lost;
}
