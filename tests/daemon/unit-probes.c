// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: uprobes, from the kernel's buffer to the report of each hit. The buffer is a file of
 * the test, so that its content and timing are deterministic.
 */
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../daemon/gchintctl/launch/probes.h"
#include "faults.h"
#include "records.h"

#define PAGES  32
#define FIRST  70 /* the first probe's id */
#define NOW    5000000000
#define SLACK  10000000
#define SAMPLE 40 /* bytes of one */

bool unit_probes_asked;

struct probes *__real_probes_open(const char *path, const uint64_t *offset, unsigned int count);
struct probes *__real_probes_watch(const struct probe_point *point, unsigned int count);
void __real_probes_close(struct probes *p);
uint64_t __real_probes_read(struct probes *p, bool last,
			    void (*hit)(void *data, const struct probe_hit *hit), void *data);

static const uint64_t offsets[] = { 0x1000, 0x1040 };
static char asked[1024], hits[4096];
static struct perf_event_mmap_page *page;
static size_t size, pages;
static uint64_t config, mask; /* of the last event */
static bool opened_watch;
static int buffer; /* the first probe's descriptor */
static unsigned int opened, total;
/* The call that is refused, from 1 on, and its errno. */
static struct {
	unsigned int open, id, output;
	int error;
} refused;

long unit_probes_open(const struct perf_event_attr *attr, int tid, int cpu, int group,
		      unsigned long flags)
{
	const size_t at = strlen(asked);
	int fd;

	/* Other CPUs are offline. */
	errno = ENODEV;
	if (cpu)
		return -1;
	opened++;
	errno = refused.error;
	if (opened == refused.open)
		return -1;
	snprintf(asked + at, sizeof(asked) - at,
		 "%s%s at %#" PRIx64 ", each %" PRIu64 ", of %d in %d, %#" PRIx64
		 ", clock %d %d, %d%s\n",
		 attr->task && attr->comm && attr->comm_exec && attr->sample_id_all ? "tasks, " :
										      "",
		 (const char *)(uintptr_t)attr->config1, (uint64_t)attr->config2,
		 (uint64_t)attr->sample_period, tid, group, (uint64_t)attr->sample_type,
		 attr->use_clockid ? attr->clockid : -1, attr->watermark,
		 flags == PERF_FLAG_FD_CLOEXEC,
		 attr->wakeup_watermark == UINT32_MAX ? "" : ", wakes");
	config = attr->config;
	mask = attr->sample_regs_user;
	pages = opened_watch ? 1024 : PAGES;
	size = (size_t)sysconf(_SC_PAGESIZE);
	fd = memfd_create("uprobe", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)((1 + pages) * size)))
		abort();
	if (opened == 1) {
		buffer = fd;
		page = mmap(NULL, (1 + pages) * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	return fd;
}

int unit_probes_ioctl(int fd, unsigned long request, void *argument)
{
	const size_t at = strlen(asked);

	errno = refused.error;
	if (request == PERF_EVENT_IOC_ID) {
		if (opened == refused.id)
			return -1;
		*(uint64_t *)argument = FIRST + opened - 1;
		return 0;
	}
	if (opened == refused.output)
		return -1;
	snprintf(asked + at, sizeof(asked) - at, "%s into the first's\n",
		 request == PERF_EVENT_IOC_SET_OUTPUT && (int)(long)argument == buffer &&
				 fd != buffer ?
			 "all of it" :
			 "something");
	return 0;
}

static void ring_put(const void *what, size_t bytes)
{
	char *data = (char *)page + size;

	for (size_t i = 0; i < bytes; i++)
		data[(page->data_head + i) % (pages * size)] = ((const char *)what)[i];
	page->data_head += bytes;
}

static void sample_put(uint64_t id, uint32_t tid, uint64_t t)
{
	const struct {
		struct perf_event_header header;
		uint64_t id;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} s = { { PERF_RECORD_SAMPLE, 0, sizeof(s) }, id, 50, tid, t, 6, 0 };

	ring_put(&s, sizeof(s));
}

static void lost_put(uint64_t n)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} l = { { PERF_RECORD_LOST, 0, sizeof(l) }, FIRST, n };

	ring_put(&l, sizeof(l));
}

/* A record that is no hit but resembles one. */
static void record_put(uint32_t type, uint16_t bytes)
{
	const struct {
		struct perf_event_header header;
		uint64_t word[2];
	} o = { { type, 0, bytes }, { FIRST, 9 } };

	ring_put(&o, sizeof(o));
}

static void on_hit(void *data, const struct probe_hit *h)
{
	const size_t at = strlen(hits);

	total++;
	if (h->probe == PROBE_EXEC || h->probe == PROBE_NAME) {
		snprintf(hits + at, sizeof(hits) - at, "%d: %d of %d at %" PRIu64 ", %s\n",
			 (int)h->probe, h->tid, h->pid, h->time, h->name);
		return;
	}
	if (opened_watch) {
		snprintf(hits + at, sizeof(hits) - at,
			 "%d: %d of %d at %" PRIu64 ", %" PRIu64 " %" PRIu64 " %" PRIu64 "%s\n",
			 (int)h->probe, h->tid, h->pid, h->time, h->stack, h->argument[0],
			 h->argument[3], h->tail ? ", by a jump" : "");
		return;
	}
	snprintf(hits + at, sizeof(hits) - at, "%s%u: %d of %d on %u at %" PRIu64 "\n",
		 (const char *)data, h->probe, h->tid, h->pid, h->cpu, h->time);
}

/* Number of lost hits. */
static uint64_t hits_read(struct probes *p, bool last)
{
	uint64_t n;

	hits[0] = '\0';
	faults.at_ns = NOW;
	n = __real_probes_read(p, last, on_hit, (char *)"probe ");
	faults.at_ns = 0;
	return n;
}

static void reads_check(struct probes *p)
{
	static const char two[] = "probe 1: 2 of 50 on 6 at 100\nprobe 0: 1 of 50 on 6 at 200\n";
	bool good;

	CHECK(!hits_read(p, true) && !*hits, "an empty buffer has no hits");
	/* Across the buffer's end, with a foreign record between them. */
	page->data_tail = page->data_head = PAGES * size - 60;
	sample_put(FIRST, 1, 200);
	sample_put(FIRST + 2, 3, 150);
	sample_put(FIRST + 1, 2, 100);
	record_put(PERF_RECORD_COMM, 24);
	CHECK(!hits_read(p, true), "an empty buffer has no losses");
	text_is(hits, two, "hits are sorted by time");
	CHECK(page->data_tail == page->data_head, "the buffer is released to the kernel");
	CHECK(!hits_read(p, true) && !*hits, "each hit is reported once");
	lost_put(5);
	sample_put(FIRST, 1, 300);
	lost_put(2);
	CHECK(hits_read(p, true) == 7, "lost hits are counted");
	text_is(hits, "probe 0: 1 of 50 on 6 at 300\n", "lost hits are reported with the next one");
	/* Another CPU's hits may still precede these. */
	sample_put(FIRST, 1, NOW - SLACK);
	sample_put(FIRST, 2, NOW - SLACK - 1);
	sample_put(FIRST, 3, NOW);
	hits_read(p, false);
	text_is(hits, "probe 0: 2 of 50 on 6 at 4989999999\n", "recent hits are delayed");
	sample_put(FIRST + 1, 4, NOW - SLACK + 1);
	hits_read(p, true);
	text_is(hits,
		"probe 0: 1 of 50 on 6 at 4990000000\n"
		"probe 1: 4 of 50 on 6 at 4990000001\n"
		"probe 0: 3 of 50 on 6 at 5000000000\n",
		"they are reported once in order or when the program has ended");
	/* A record of length zero would never end. */
	record_put(PERF_RECORD_COMM, sizeof(struct perf_event_header) - 1);
	sample_put(FIRST, 1, 1);
	CHECK(!hits_read(p, true) && !*hits && page->data_tail == page->data_head,
	      "an invalid record ends the read");
	total = 0;
	for (uint32_t i = 0; i < 2500; i++)
		sample_put(FIRST, i, 1000 + i);
	hits_read(p, false);
	CHECK(total == 2500, "many hits are read at once");
	/* The array has doubled: 4096 entries by now. */
	for (uint32_t i = 0; i < 2500; i++)
		sample_put(FIRST, i, NOW + i);
	hits_read(p, false);
	unit_memory_left(0);
	for (uint32_t i = 0; i < 1597; i++)
		sample_put(FIRST, i, NOW + i);
	good = hits_read(p, false) == 1;
	unit_memory_left(-1);
	CHECK(good, "without memory one hit is lost, and no other");
}

static int descriptor_lowest(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

/* errno on failure; otherwise it is closed again. */
static int probes_attempt(void)
{
	struct probes *p;

	opened = 0;
	asked[0] = '\0';
	errno = 0;
	p = __real_probes_open("a program", offsets, 2);
	if (!p)
		return errno;
	__real_probes_close(p);
	return 0;
}

static void refusals_check(void)
{
	const int fd = descriptor_lowest();
	bool good = true;

	for (unsigned int n = 1; n <= 2; n++) {
		memset(&refused, 0, sizeof(refused));
		refused.error = EACCES;
		refused.open = n;
		good = good && probes_attempt() == EACCES && descriptor_lowest() == fd;
		refused.open = 0;
		refused.id = n;
		good = good && probes_attempt() == EACCES && descriptor_lowest() == fd;
	}
	refused.id = 0;
	refused.output = 2;
	good = good && probes_attempt() == EACCES && descriptor_lowest() == fd;
	memset(&refused, 0, sizeof(refused));
	CHECK(good, "a refusal of the kernel is reported and nothing stays open");
	/* The C library reports the first case by itself. */
	for (long n = 1; n < 40 && good; n++) {
		unit_memory_left(n);
		good = (probes_attempt() == ENOMEM || !unit_memory_failed()) &&
		       descriptor_lowest() == fd;
	}
	unit_memory_left(-1);
	CHECK(good, "a failed allocation is reported");
}

/* With registers, of which each has its number times 10, or without. */
static void registers_put(uint64_t id, bool known, uint64_t returns_to)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t abi, value[64 + 3];
	} s = { { PERF_RECORD_SAMPLE, 0, 0 }, id, 50, 51, 100, 6, 0, known, { 0 } };
	size_t n = 0;

	for (unsigned int i = 0; known && i < 64; i++)
		if (mask >> i & 1)
			s.value[n++] = 10 * i;
#if defined(__x86_64__)
	s.value[n] = s.value[n + 2] = returns_to ? 8 : 0;
	s.value[n + 1] = returns_to;
	n += returns_to ? 3 : 1;
#elif defined(__aarch64__)
	s.value[__builtin_popcountll(mask & ((1ull << 30) - 1))] = returns_to;
#endif
	s.header.size = (uint16_t)(offsetof(typeof(s), value) + n * sizeof(uint64_t));
	ring_put(&s, s.header.size);
}

static void task_put(uint32_t type, uint32_t pid, uint32_t parent, uint32_t tid, uint64_t t)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, parent, tid, parent_tid;
		uint64_t time, trailer[4];
	} e = { { type, 0, sizeof(e) }, pid, parent, tid, parent, t, { 0 } };

	ring_put(&e, sizeof(e));
}

/* A thread gets the name of a program that it executes, or another one. */
static void name_put(uint16_t misc, uint64_t t)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char name[8];
		uint32_t also_pid, also_tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} e = { { PERF_RECORD_COMM, misc, sizeof(e) }, 60, 61, "program", 60, 61, t, 1, 0, FIRST };

	ring_put(&e, sizeof(e));
}

/* Of an entry the word on the stack is read that has the address to which it returns. */
#if defined(__x86_64__) || defined(__i386__)
#define ENTRY_SAMPLE "0x13086"
#else
#define ENTRY_SAMPLE "0x11086"
#endif

#if defined(__x86_64__)
#define WITH_REGISTERS "0: 51 of 50 at 100, 70 50 20" /* sp, di, cx */
#elif defined(__aarch64__)
#define WITH_REGISTERS "0: 51 of 50 at 100, 310 0 30"
#else
#define WITH_REGISTERS NULL
#endif

static void watch_check(void)
{
	static const struct probe_point points[] = { { "a library", 0x1000, 0, false },
						     { "another", 0x1040, 0x2000, true } };
	struct probes *p;

	opened = 0;
	asked[0] = '\0';
	opened_watch = true;
	p = __real_probes_watch(points, 2);
	CHECK(p && config == (1 | UINT64_C(0x2000) << 32),
	      "returns of a function are probed, and a counter enables a probe");
	text_is(asked,
		"tasks, a library at 0x1000, each 1, of -1 in -1, " ENTRY_SAMPLE ", clock 1 1, 1\n"
		"another at 0x1040, each 1, of -1 in -1, 0x11086, clock 1 1, 1\n"
		"all of it into the first's\n",
		"one event of a CPU reports what becomes of tasks");
	if (p && WITH_REGISTERS) {
		registers_put(FIRST, true, 0x401234);
		hits_read(p, true);
		text_is(hits, WITH_REGISTERS "\n", "a hit has the stack and the arguments");
		registers_put(FIRST, true, 0x7fff12345000);
		registers_put(FIRST, true, 0);
		hits_read(p, true);
		text_is(hits, WITH_REGISTERS ", by a jump\n" WITH_REGISTERS "\n",
			"a function that will return to the kernel was entered by a jump");
	}
	if (p) {
		registers_put(FIRST + 1, false, 0);
		task_put(PERF_RECORD_FORK, 60, 50, 60, 200);
		task_put(PERF_RECORD_FORK, 50, 50, 52, 250);
		name_put(PERF_RECORD_MISC_COMM_EXEC, 300);
		name_put(0, 350);
		task_put(PERF_RECORD_EXIT, 60, 50, 61, 400);
		hits_read(p, true);
		text_is(hits,
			"1: 51 of 50 at 100, 0 0 0\n"
			"-1: 60 of 60 at 200, 0 50 0\n"
			"-1: 52 of 50 at 250, 0 50 0\n"
			"-3: 61 of 60 at 300, program\n"
			"-4: 61 of 60 at 350, program\n"
			"-2: 61 of 60 at 400, 0 0 0\n",
			"new processes and threads, new programs, names and ends are reported");
		__real_probes_close(p);
	}
	opened_watch = false;
}

void unit_probes(void)
{
	struct probes *p;

	if (access(PROBES_TYPE, R_OK)) {
		CHECK(probes_attempt() == ENOENT, "a kernel without uprobes is reported");
		return;
	}
	unit_probes_asked = true;
	p = __real_probes_open("a program", offsets, 2);
	CHECK(p, "probes are set");
	text_is(asked,
		"a program at 0x1000, each 1, of -1 in -1, 0x10086, clock 1 1, 1\n"
		"a program at 0x1040, each 1, of -1 in -1, 0x10086, clock 1 1, 1\n"
		"all of it into the first's\n",
		"each entry is probed in each process, with the monotonic clock");
	if (p) {
		reads_check(p);
		__real_probes_close(p);
	}
	refusals_check();
	watch_check();
	unit_probes_asked = false;
}
