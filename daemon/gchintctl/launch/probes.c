// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"

#define PAGES	 32 /* size of a CPU's buffer; a power of two, as perf requires */
#define SLACK_NS (10 * NSEC_PER_MSEC) /* from a hit's timestamp until it is in the buffer */
#define SAMPLE	 (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
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

static int event_open(int type, int cpu, const char *path, uint64_t offset)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = SAMPLE,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* never: the buffers are polled */
		.config1 = (uintptr_t)path,
		.config2 = offset,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Opens events per CPU, not per process: for an inherited event the kernel reads the name of the
 * probed file from the new thread's memory, which fails, and the program could then create no
 * thread.
 *
 * Returns 0 or -errno; a CPU that is offline gets no buffer.
 */
static int cpu_open(struct probes *p, int cpu, int type, const char *path, const uint64_t *offset)
{
	struct buffer *b = &p->buffer[cpu];
	void *map;

	for (unsigned int i = 0; i < p->count; i++) {
		b->fd[i] = event_open(type, cpu, path, offset[i]);
		if (b->fd[i] < 0)
			return errno == ENODEV ? 0 : -errno;
		if (ioctl(b->fd[i], PERF_EVENT_IOC_ID, &b->id[i]))
			return -errno;
		if (i && ioctl(b->fd[i], PERF_EVENT_IOC_SET_OUTPUT, b->fd[0]))
			return -errno;
		if (i)
			continue;
		map = mmap(NULL, (1 + PAGES) * p->page, PROT_READ | PROT_WRITE, MAP_SHARED,
			   b->fd[0], 0);
		if (map == MAP_FAILED)
			return -errno;
		b->map = map;
	}
	return 0;
}

struct probes *probes_open(const char *path, const uint64_t *offset, unsigned int count)
{
	struct probes *p = calloc(1, sizeof(*p));
	int type = probe_read_type(), ret = type < 0 ? -ENOENT : 0;

	if (!p)
		return NULL;
	p->page = (size_t)sysconf(_SC_PAGESIZE);
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
			ret = cpu_open(p, cpu, type, path, offset);
	}
	if (!ret)
		return p;
	probes_close(p);
	errno = -ret;
	return NULL;
}

void probes_close(struct probes *p)
{
	for (int cpu = 0; cpu < p->cpus; cpu++) {
		struct buffer *b = &p->buffer[cpu];

		if (b->map)
			munmap(b->map, (1 + PAGES) * p->page);
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

static bool probes_add_hit(struct probes *p, const struct buffer *b, const struct sample *s)
{
	unsigned int probe = 0;

	while (probe < p->count && b->id[probe] != s->id)
		probe++;
	if (probe == p->count)
		return true;
	if (p->used == p->room) {
		size_t room = p->room ? 2 * p->room : 1024;
		struct probe_hit *more = realloc(p->hits, room * sizeof(*more));

		if (!more)
			return false;
		p->hits = more;
		p->room = room;
	}
	p->hits[p->used++] = (struct probe_hit){
		.time = s->time,
		.pid = (pid_t)s->pid,
		.tid = (pid_t)s->tid,
		.cpu = s->cpu,
		.probe = probe,
	};
	return true;
}

/*
 * Moves hits from the ring buffer to the list and returns how many were lost. A record may wrap
 * around the end of the buffer, so that it is copied byte by byte.
 */
static uint64_t buffer_read(struct probes *p, struct buffer *b)
{
	const size_t size = PAGES * p->page;
	const char *data = (const char *)b->map + p->page;
	uint64_t head = __atomic_load_n(&b->map->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = b->map->data_tail, lost = 0;
	union {
		struct perf_event_header header;
		struct sample sample;
		struct lost lost;
		char bytes[sizeof(struct sample)];
	} record;

	while (tail < head) {
		for (size_t i = 0; i < sizeof(record); i++)
			record.bytes[i] = data[(tail + i) % size];
		if (record.header.size < sizeof(record.header))
			break;
		if (record.header.type == PERF_RECORD_SAMPLE &&
		    !probes_add_hit(p, b, &record.sample))
			lost++;
		if (record.header.type == PERF_RECORD_LOST)
			lost += record.lost.lost;
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
