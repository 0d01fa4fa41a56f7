// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: samples of threads, from the kernel's ring to the record. The ring is a file of the
 * test, so that its content and the time of an answer are deterministic.
 */
#include "unit.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/source/context.h"
#include "../../daemon/source/sampling/filter.h"
#include "../../daemon/source/sampling/hotspots.h"
#include "../../daemon/source/sampling/sampling.h"
#include "../../daemon/source/source.h"
#include "faults.h"
#include "records.h"

#define PAGE	  4096
#define PAGES	  5 /* the header's and the ring's */
#define RING	  ((PAGES - 1) * PAGE)
#define RINGS	  16
#define IN_KERNEL PERF_RECORD_MISC_KERNEL
#define IN_USER	  PERF_RECORD_MISC_USER
#define BY_SIGNAL                                                                                  \
	"methods by a signal to the thread: the kernel does not report where a thread's pointer "  \
	"is"

#define BY_TIMER                                                                                   \
	"samples by each thread's own timer, without the kernel's own and without callers: perf "  \
	"events are refused: "

static struct {
	int tid;
	struct perf_event_mmap_page *page;
	char *data;
} ring[RINGS];
static unsigned int rings;
static int refused[4]; /* with which errno, by what is opened: in the order of choose() */
static int thread_refused, enable_refused;
static char asked[4096];

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	void *arg;
	va_list ap;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (unit_probes_asked)
		return unit_probes_ioctl(fd, request, arg);
	if (request != PERF_EVENT_IOC_ENABLE)
		return __real_ioctl(fd, request, arg);
	errno = enable_refused;
	return enable_refused ? -1 : 0;
}

bool unit_hotspots_owner(int command, const void *argument)
{
	const size_t at = strlen(asked);

	if (command == F_SETSIG)
		snprintf(asked + at, sizeof(asked) - at, "signal %ld\n", (long)argument);
	else if (command == F_SETOWN_EX)
		snprintf(asked + at, sizeof(asked) - at, "to %d of kind %d\n",
			 ((const struct f_owner_ex *)argument)->pid,
			 ((const struct f_owner_ex *)argument)->type);
	else if (command == F_SETFL && (long)argument & O_ASYNC)
		snprintf(asked + at, sizeof(asked) - at, "at once, %d\n",
			 !!((long)argument & O_RDWR));
	else
		return false;
	return true;
}

/* unit-perf.c passes on the opening of samples. */
long unit_hotspots_open(const struct perf_event_attr *attr, int tid)
{
	const unsigned int which = (attr->type == PERF_TYPE_SOFTWARE) * 2 + attr->exclude_kernel;
	const size_t at = strlen(asked);
	int fd;

	snprintf(asked + at, sizeof(asked) - at,
		 "%d: type %u, event %u, %u Hz %d, kernel %d, depth %u, sample %#x, %d%d%d %d %u\n",
		 tid, attr->type, (unsigned int)attr->config, (unsigned int)attr->sample_freq,
		 attr->freq, !attr->exclude_kernel, attr->sample_max_stack,
		 (unsigned int)attr->sample_type, attr->exclude_hv, attr->use_clockid,
		 attr->disabled, attr->clockid, attr->wakeup_events);
	errno = tid ? thread_refused : refused[which];
	if (errno)
		return -1;
	fd = memfd_create("ring", MFD_CLOEXEC);
	if (!tid || fd < 0)
		return fd;
	if (ftruncate(fd, PAGES * PAGE) || rings == RINGS)
		abort();
	ring[rings].tid = tid;
	ring[rings].page = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring[rings].page == MAP_FAILED)
		abort();
	ring[rings].data = (char *)ring[rings].page + PAGE;
	rings++;
	return fd;
}

/* unit-perf.c passes on signals to threads. */
long unit_hotspots_queue(int pid, int tid, int number, const siginfo_t *info)
{
	const size_t at = strlen(asked);

	snprintf(asked + at, sizeof(asked) - at, "%d/%d: signal %d, from %d, %d %d\n", pid, tid,
		 number, info->si_pid == getpid(), info->si_code, info->si_value.sival_int);
	errno = thread_refused;
	return errno ? -1 : 0;
}

static void ring_put(unsigned int i, const void *bytes, size_t size)
{
	const uint64_t head = ring[i].page->data_head;

	for (size_t n = 0; n < size; n++)
		ring[i].data[(head + n) % RING] = ((const char *)bytes)[n];
	ring[i].page->data_head = head + size;
}

/* As the kernel writes it: nr addresses of the call chain, with context markers. */
static void sample_put(unsigned int i, uint16_t mode, uint64_t t, uint64_t ip, uint32_t cpu,
		       const uint64_t *chain, uint64_t nr)
{
	const struct {
		struct perf_event_header header;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t nr;
	} sample = { { PERF_RECORD_SAMPLE, mode, (uint16_t)(sizeof(sample) + 8 * nr) },
		     ip,
		     70,
		     (uint32_t)ring[i].tid,
		     t,
		     cpu,
		     0,
		     nr };

	ring_put(i, &sample, sizeof(sample));
	ring_put(i, chain, 8 * nr);
}

static void sample_put_user(unsigned int i, uint64_t t, uint64_t ip)
{
	const uint64_t chain[] = { PERF_CONTEXT_USER, ip, 0xabc };

	sample_put(i, IN_USER, t, ip, 1, chain, 3);
}

static void sample_put_kernel(unsigned int i, uint64_t t, uint64_t ip, uint64_t back)
{
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, ip, PERF_CONTEXT_USER, back };

	sample_put(i, IN_KERNEL, t, ip, 2, chain, back ? 4 : 2);
}

static void answers_of(struct source_context *context, int32_t pid, int32_t tid, uint64_t t,
		       uint64_t method, uint8_t phase)
{
	const struct gchint_stream_event e = {
		.time = t, .tid = tid, .work_done = method, .phase = phase, .flags = 0xff
	};

	hotspots_answer(context->hotspots, pid, &e);
}

static void answer_send(struct source_context *context, int32_t tid, uint64_t t, uint64_t method,
			uint8_t phase)
{
	answers_of(context, 70, tid, t, method, phase);
}

/* Until when the answers of process 70 have been read. */
static uint64_t read_until = UINT64_MAX;

static void timer_run(void)
{
	hotspots_read(watched_at(0)->data, 70, read_until);
	watched_at(0)->fn(watched_at(0)->data, 0);
}

static void probe_check(struct source_context *context)
{
	static const int errors[][4] = { { 0 },
					 { EACCES },
					 { ENOENT, ENOENT },
					 { ENOENT, ENOENT, EACCES },
					 { EACCES, EACCES, EACCES, EACCES },
					 { EPERM, EPERM, EPERM, EPERM },
					 { ENOSYS, ENOSYS, ENOSYS, ENOSYS } };
	char text[2048] = "";

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct probe p = { "", "" };
		const size_t at = strlen(text);
		int ret;

		memcpy(refused, errors[i], sizeof(refused));
		ret = source_table[SOURCE_hotspots]->probe(context, &p);
		snprintf(text + at, sizeof(text) - at, "%d '%s' '%s'\n", ret, p.what, p.remedy);
	}
	memset(refused, 0, sizeof(refused));
	text_is(text,
		"0 'samples by cycles, with the kernel's own; " BY_SIGNAL "' ''\n"
		"0 'samples by cycles, without the kernel's own; " BY_SIGNAL "' ''\n"
		"0 'samples by the clock (no cycles here), with the kernel's own; " BY_SIGNAL
		"' ''\n"
		"0 'samples by the clock (no cycles here), without the kernel's own; " BY_SIGNAL
		"' ''\n"
		"0 '" BY_TIMER "Permission denied: run as root, or lower "
		"kernel.perf_event_paranoid to 2' ''\n"
		"0 '" BY_TIMER "Operation not permitted: run as root, or lower "
		"kernel.perf_event_paranoid to 2' ''\n"
		"0 '" BY_TIMER "Function not implemented' ''\n",
		"the available sampling is found, or the reason reported");
	text_is(asked,
		"0: type 0, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 0, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"0: type 1, event 0, 100 Hz 1, kernel 0, depth 127, sample 0xa7, 111 1 1\n",
		"the best event is tried first");
	asked[0] = '\0';
}

static void file_write(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void directory_make(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	mkdir(path, 0755);
}

static void start_check(struct source_context *context, const char *dir, void **state)
{
	const struct source *hotspots = source_table[SOURCE_hotspots];

	context->config.hotspots.hz = 499;
	context->config.source[SOURCE_hotspots].period_ms = 40;
	memset(refused, 0, sizeof(refused));
	refused[0] = refused[1] = EACCES;
	CHECK(!hotspots->start(context, state) && context->hotspots && watched_count() == 1 &&
		      !watched_at(0)->period_ns,
	      "nothing is polled before a process registers");
	records_are(context->queue,
		    "meta 'hotspots.hz' '499'\n"
		    "meta 'hotspots.event' 'cpu-clock'\n"
		    "meta 'hotspots.kernel' 'yes'\n"
		    "meta 'hotspots.way' 'signal'\n",
		    "the event and its frequency are recorded");
	asked[0] = '\0';
	hotspots_process(context->hotspots, 70, true, GCHINT_STREAM_SAMPLES, 0);
	directory_make(dir, "70/task/71");
	timer_run();
	CHECK(rings == 2 && watched_at(0)->period_ns == 40000000,
	      "each thread of a process has a ring");
	text_is(asked,
		"70: type 1, event 0, 499 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"signal 23\n"
		"to 70 of kind 0\n"
		"at once, 1\n"
		"71: type 1, event 0, 499 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n"
		"signal 23\n"
		"to 71 of kind 0\n"
		"at once, 1\n",
		"threads are sampled with the event that was found");
	records_are(context->queue,
		    "process 70 70 'program'\n"
		    "image 70 4096 8191 64 '/bin/program'\n"
		    "image 70 12288 16383 0 ''\n"
		    "image 70 20480 26623 65 '/with blank'\n",
		    "the program's name and executable mappings are recorded");
}

static void joins_check(struct source_context *context)
{
	const uint64_t deep[] = {
		PERF_CONTEXT_USER, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
	};

	sample_put_user(0, 1000, 0x1010);
	sample_put_user(0, 2000, 0x1020);
	answer_send(context, ring[0].tid, 2000, 0x77, GCHINT_PHASE_MARK);
	sample_put_kernel(0, 3000, 0xffff0001, 0x1030);
	sample_put_kernel(0, 3100, 0xffff0002, 0x1030);
	answer_send(context, ring[0].tid, 3500, 0x78, GCHINT_PHASE_NR);
	sample_put_kernel(0, 4000, 0xffff0003, 0);
	sample_put_user(0, 4100, 0x1040);
	/* Older than everything there; of an unknown thread. */
	answer_send(context, ring[0].tid, 999, 0x79, GCHINT_PHASE_SWEEP);
	answer_send(context, 99, 5000, 0x7a, GCHINT_PHASE_SWEEP);
	sample_put(0, IN_USER, 5000, 1, 3, deep, sizeof(deep) / sizeof(deep[0]));
	sample_put(0, IN_USER, 6000, 0x9999, 3, deep, 0);
	timer_run();
	records_are(
		context->queue,
		"stack 1 '1010 abc'\n"
		"stack 2 '1020 abc'\n"
		"stack 3 'ffff0001 1030'\n"
		"stack 4 'ffff0002 1030'\n"
		"stack 5 'ffff0003'\n"
		"stack 6 '1040 abc'\n"
		"stack 7 '1 2 3 4 5 6 7 8 9 a b c d e f 10 11 12'\n"
		"hotspot 1000: 1010 kernel 0 method 0 of 70/70 cpu 1 stack 1\n"
		"hotspot 2000: 1020 kernel 0 method 77 of 70/70 cpu 1 stack 2 phase 4 flags 15\n"
		"hotspot 3000: 1030 kernel ffff0001 method 78 of 70/70 cpu 2 stack 3 phase 0 flags "
		"15\n"
		"hotspot 3100: 1030 kernel ffff0002 method 78 of 70/70 cpu 2 stack 4 phase 0 flags "
		"15\n"
		"hotspot 4000: 0 kernel ffff0003 method 0 of 70/70 cpu 2 stack 5\n"
		"hotspot 4100: 1040 kernel 0 method 0 of 70/70 cpu 1 stack 6\n"
		"hotspot 5000: 1 kernel 0 method 0 of 70/70 cpu 3 stack 7\n"
		"hotspot 6000: 9999 kernel 0 method 0 of 70/70 cpu 3 stack 0\n",
		"samples are matched with their answers, oldest first");
}

static void ring_runs_over(struct source_context *context)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} lost = { { PERF_RECORD_LOST, 0, sizeof(lost) }, 1, 17 };
	const struct perf_event_header other = { PERF_RECORD_THROTTLE, 0, sizeof(other) };
	const struct {
		struct perf_event_header header;
		uint64_t ip;
	} brief = { { PERF_RECORD_SAMPLE, IN_USER, sizeof(brief) }, 0x1234 };
	const struct perf_event_header none = { PERF_RECORD_SAMPLE, 0, sizeof(none) - 1 };
	const struct perf_event_header beyond = { PERF_RECORD_SAMPLE, 0, 200 };
	unsigned int records = 0, first = 0;

	ring_put(1, &other, sizeof(other));
	ring_put(1, &lost, sizeof(lost));
	sample_put_user(1, 10, 0x1050);
	timer_run();
	records_are(context->queue,
		    "drop 17 'hotspots' 'a thread's samples ran over'\n"
		    "stack 8 '1050 abc'\n"
		    "hotspot 10: 1050 kernel 0 method 0 of 70/71 cpu 1 stack 8\n",
		    "samples lost in the ring are counted");
	ring_put(1, &brief, sizeof(brief));
	sample_put_user(1, 15, 0x1050);
	timer_run();
	records_are(context->queue,
		    "hotspot 0: 1234 kernel 0 method 0 of 70/71 cpu 0 stack 0\n"
		    "hotspot 15: 1050 kernel 0 method 0 of 70/71 cpu 1 stack 8\n",
		    "a short sample does not read into the next one");
	ring_put(1, &none, sizeof(none));
	sample_put_user(1, 20, 0x1050);
	timer_run();
	ring_put(1, &beyond, sizeof(beyond));
	timer_run();
	records_are(context->queue, "", "an invalid event ends the read");
	/* An answer may come for that long. */
	faults.at_ns = NSEC_PER_SEC;
	sample_put_user(1, 850000000 - 1, 0x1050);
	sample_put_user(1, 850000000, 0x1050);
	timer_run();
	records_are(context->queue,
		    "hotspot 849999999: 1050 kernel 0 method 0 of 70/71 cpu 1 stack 8\n",
		    "a sample waits for its answer");
	faults.at_ns++;
	timer_run();
	records_are(context->queue,
		    "hotspot 850000000: 1050 kernel 0 method 0 of 70/71 cpu 1 stack 8\n",
		    "a sample does not wait longer");
	/* The thread may wait for a CPU, and its answer be unread while the queue is full. */
	faults.at_ns = 10 * NSEC_PER_SEC;
	sample_put_user(1, 850000000, 0x1050);
	read_until = 850000000 + 2 * NSEC_PER_SEC;
	timer_run();
	records_are(context->queue, "", "a sample waits until its answer is overdue");
	read_until++;
	timer_run();
	records_are(context->queue,
		    "hotspot 850000000: 1050 kernel 0 method 0 of 70/71 cpu 1 stack 8\n",
		    "a sample whose answer is overdue has no method");
	read_until = 0;
	sample_put_user(1, 860000000, 0x1050);
	sample_put_user(1, 870000000, 0x1050);
	sample_put_user(1, 880000000, 0x1050);
	answer_send(context, ring[1].tid, 870000001, 0x77, GCHINT_PHASE_MARK);
	timer_run();
	records_are(context->queue,
		    "hotspot 860000000: 1050 kernel 0 method 0 of 70/71 cpu 1 stack 8\n"
		    "hotspot 870000000: 1050 kernel 0 method 77 of 70/71 cpu 1 stack 8 phase 4 "
		    "flags 15\n",
		    "after an answer no earlier sample waits");
	read_until = UINT64_MAX;
	timer_run();
	records_are(context->queue,
		    "hotspot 880000000: 1050 kernel 0 method 0 of 70/71 cpu 1 stack 8\n",
		    "the samples after it waited");
	faults.at_ns = 0;
	/* Past the ring's end, more at once than can wait for an answer, with the current time. */
	for (unsigned int i = 0; i < 600; i++) {
		sample_put_user(1, clock_now() + NSEC_PER_SEC, 0x1060 + i % 2);
		if (i % 100 == 99)
			timer_run();
	}
	for (size_t i = 0; i < queue_fill(context->queue); i++) {
		const struct record *r = queue_peek(context->queue, i);

		records += r->type == RECORD_HOTSPOT;
		first += r->type == RECORD_HOTSPOT && r->hotspot.ip == 0x1060;
		if (r->type == RECORD_DEFINE)
			definition_free(r->define);
	}
	queue_consume(context->queue, queue_fill(context->queue));
	CHECK(records == 88 && first == 44,
	      "samples beyond the queue are recorded without methods");
	CHECK(ring[1].page->data_tail == ring[1].page->data_head, "the ring's tail is advanced");
}

static unsigned int records_take(struct source_context *context)
{
	unsigned int records = 0;

	for (size_t i = 0; i < queue_fill(context->queue); i++) {
		records += queue_peek(context->queue, i)->type == RECORD_HOTSPOT;
		if (queue_peek(context->queue, i)->type == RECORD_DEFINE)
			definition_free(queue_peek(context->queue, i)->define);
	}
	queue_consume(context->queue, queue_fill(context->queue));
	return records;
}

static void stop_check(struct source_context *context, const char *dir, void *state)
{
	char path[128];

	/* A thread ends, another one starts and cannot be sampled. */
	snprintf(path, sizeof(path), "%s/70/task/71", dir);
	rmdir(path);
	directory_make(dir, "70/task/72");
	thread_refused = EMFILE;
	sample_put_user(0, 7000, 0x1010);
	timer_run();
	records_are(context->queue,
		    "drop 1 'hotspots' 'a thread could not be sampled'\n"
		    "note 4 'hotspots' 'thread 72 of process 70 could not be sampled: Too many "
		    "open files: raise ulimit -n'\n"
		    "hotspot 7000: 1010 kernel 0 method 0 of 70/70 cpu 1 stack 1\n",
		    "a thread that cannot be sampled is reported with a remedy");
	directory_make(dir, "70/task/73");
	thread_refused = ESRCH;
	timer_run();
	directory_make(dir, "70/task/74");
	thread_refused = 0;
	enable_refused = EPERM;
	timer_run();
	enable_refused = 0;
	records_are(context->queue, "drop 1 'hotspots' 'a thread could not be sampled'\n",
		    "it is reported once; a thread that has ended is not");
	CHECK(watched_at(0)->period_ns, "polling continues while there is a process");
	directory_make(dir, "75");
	directory_make(dir, "75/task");
	directory_make(dir, "75/task/75");
	file_write(dir, "75/task/75/status", "Pid:\t75\nNSpid:\t75\t300\t7\nNSsid:\t1\t2\t3\n");
	file_write(dir, "75/comm", "other\n");
	file_write(dir, "75/cmdline", "other program");
	snprintf(context->config.source[SOURCE_hotspots].match, 64, "other p*");
	hotspots_process(context->hotspots, 76, true, GCHINT_STREAM_SAMPLES, 0);
	hotspots_gone(context->hotspots, 76);
	hotspots_process(context->hotspots, 75, false, GCHINT_STREAM_SAMPLES, 0);
	snprintf(context->config.source[SOURCE_hotspots].match, 64, "o*r");
	hotspots_process(context->hotspots, 75, false, GCHINT_STREAM_SAMPLES, 0);
	records_are(context->queue,
		    "process 75 75 'other'\n"
		    "process 75 75 'other'\n",
		    "a process is selected by name or command line");
	sample_put_user(rings - 1, 8000, 0x1010);
	answers_of(context, 75, 75, 8000, 1, 1);
	answers_of(context, 75, 300, 8000, 1, 1);
	answers_of(context, 75, 7, 8000, 2, 1);
	hotspots_gone(context->hotspots, 70);
	CHECK(records_take(context) == 512 && watched_at(0)->period_ns,
	      "pending samples are recorded when a process ends");
	hotspots_gone(context->hotspots, 75);
	records_are(context->queue,
		    "hotspot 8000: 1010 kernel 0 method 2 of 75/75 cpu 1 stack 1 phase 1 flags "
		    "15\n",
		    "a thread in another PID namespace answers by its number there");
	CHECK(!watched_at(0)->period_ns, "polling ends with the last process");
	hotspots_gone(context->hotspots, 75);
	hotspots_process(NULL, 1, true, GCHINT_STREAM_SAMPLES, 0);
	hotspots_word(NULL, 1, NULL);
	hotspots_gone(NULL, 1);
	hotspots_answer(NULL, 1, NULL);
	hotspots_process(context->hotspots, 75, true, GCHINT_STREAM_SAMPLES, 0);
	records_take(context);
	asked[0] = '\0';
	hotspots_process(context->hotspots, 75, true, 0, 0);
	text_is(asked, "75: type 1, event 0, 499 Hz 1, kernel 1, depth 127, sample 0xa7, 111 1 1\n",
		"a process that does not answer is not signalled");
	records_take(context);
	sample_put_user(rings - 1, 9000, 0x1010);
	source_table[SOURCE_hotspots]->stop(state);
	records_are(context->queue,
		    "hotspot 9000: 1010 kernel 0 method 0 of 75/75 cpu 1 stack 1\n"
		    "meta 'hotspots.cpu_ns' '0'\n"
		    "meta 'hotspots.samples' '620'\n",
		    "pending samples are recorded at the end");
	CHECK(!context->hotspots, "sampling ends with the last process");
}

/* Where no event is allowed threads sample themselves. */
static void timers_check(struct source_context *context)
{
	const struct gchint_stream_event own = { .time = 100,
						 .cpu = 1,
						 .phase = GCHINT_PHASE_MARK,
						 .work_done = 0x5000,
						 .work_total = 0x1010,
						 .stall_ns = 2,
						 .tid = 75 };
	const uint32_t both = GCHINT_STREAM_SAMPLES | GCHINT_STREAM_TIMERS;
	void *state;

	watched_forget();
	refused[0] = refused[1] = refused[2] = refused[3] = EACCES;
	context->config.hotspots.hz = 20;
	CHECK(!source_table[SOURCE_hotspots]->start(context, &state) && context->hotspots,
	      "without perf events threads have timers");
	records_are(context->queue,
		    "meta 'hotspots.hz' '20'\n"
		    "meta 'hotspots.event' 'cpu-timer'\n"
		    "meta 'hotspots.kernel' 'no'\n"
		    "meta 'hotspots.way' 'timer'\n",
		    "that is recorded");
	asked[0] = '\0';
	hotspots_process(context->hotspots, 75, true, both, 0);
	text_is(asked, "75/75: signal 23, from 1, -1 20\n", "each thread is asked once");
	records_take(context);
	timer_run();
	text_is(asked, "75/75: signal 23, from 1, -1 20\n", "each thread is asked once");
	hotspots_answer(context->hotspots, 75, &own);
	timer_run();
	records_are(
		context->queue,
		"drop 2 'hotspots' 'a thread did not take its timer's signal'\n"
		"stack 1 '1010'\n"
		"hotspot 100: 1010 kernel 0 method 5000 of 75/75 cpu 1 stack 1 phase 4 flags 0\n",
		"the answer is the sample");
	asked[0] = '\0';
	hotspots_gone(context->hotspots, 75);
	text_is(asked, "75/75: signal 23, from 1, -1 0\n", "the timer is stopped");
	asked[0] = '\0';
	hotspots_process(context->hotspots, 75, true, GCHINT_STREAM_SAMPLES, 0);
	text_is(asked, "", "an older library is not asked");
	hotspots_process(context->hotspots, 75, false, both, 0);
	text_is(asked, "75/75: signal 23, from 1, -1 20\n",
		"a thread in another PID namespace is asked by its number here");
	records_are(context->queue,
		    "process 75 75 'other'\n"
		    "drop 1 'hotspots' 'a thread could not be sampled'\n"
		    "note 4 'hotspots' 'thread 75 of process 75 could not be sampled: Operation "
		    "not supported: its libgchint has no timers, or it uses SIGURG'\n"
		    "process 75 75 'other'\n",
		    "and that is reported");
	source_table[SOURCE_hotspots]->stop(state);
	CHECK(sampling_timer_hz(10) == 10 && sampling_timer_hz(100000) <= 1000,
	      "a timer is no faster than the kernel's tick");
}

void unit_hotspots(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX", command[80];
	struct source_context context = { .root = { "/absent", dir, "/absent", "/absent",
						    "/absent" } };
	void *state = NULL;

	if (sysconf(_SC_PAGESIZE) != PAGE || !mkdtemp(dir)) {
		printf("# of pages of 4096 bytes only\n");
		return;
	}
	directory_make(dir, "70");
	directory_make(dir, "70/task");
	directory_make(dir, "70/task/70");
	file_write(dir, "70/comm", "program\n");
	file_write(dir, "70/maps",
		   "1000-2000 r-xp 00000040 08:01 7 /bin/program\n"
		   "2000-3000 r--p 00001000 08:01 7 /bin/program\n"
		   "nothing\n"
		   "3000-4000 rwxp 00000000 00:00 0 \n"
		   "1000-2000 r-xp 00000040 08:01 7 /bin/program\n"
		   "5000-6800 r-xs 00000041 08:01 7 /with blank\n");
	context.loop = loop_new();
	context.queue = queue_new(4096);
	config_defaults(&context.config);
	CHECK(filter_process(&context, &context.config.hotspots, 4711),
	      "without a filter no name is read");
	watched_forget();
	probe_check(&context);
	start_check(&context, dir, &state);
	joins_check(&context);
	ring_runs_over(&context);
	stop_check(&context, dir, state);
	timers_check(&context);
	watched_forget();
	for (unsigned int i = 0; i < rings; i++)
		munmap(ring[i].page, PAGES * PAGE);
	queue_free(context.queue);
	loop_free(context.loop);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		printf("# %s is left\n", dir);
}
