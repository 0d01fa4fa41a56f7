// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the threads of programs are, so and so often a second of CPU time: a perf event on
 * each thread of a process that sent a ring, cycles where the machine counts them, else the
 * clock. The kernel's own ring has the instruction and the call chain, in the kernel too
 * where perf_event_paranoid allows; at each overflow it sends the thread a signal, to which
 * libgchint answers with the method and the phase. Sample and answer are joined by their
 * instants. A thread that does not answer has its samples, without a method.
 *
 * Off unless asked for: it costs the programs time.
 */
#include "hotspots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../common/clock.h"
#include "images.h"
#include "source.h"

#define PROCESSES 1024
#define THREADS	  4096 /* of all processes */
#define PAGES	  4 /* of a thread's ring in the kernel; a power of two */
#define FRAMES	  16 /* of a call chain, from the innermost */
#define PENDING	  512 /* samples of a thread that wait for their answer */
#define PATIENCE  (150 * NSEC_PER_MSEC)
#define STACKS	  65536 /* distinct call chains that are remembered; a power of two */

#ifndef F_SETOWN_EX
struct f_owner_ex {
	int type;
	pid_t pid;
};
#define F_SETOWN_EX 15
#define F_OWNER_TID 0
#endif
#ifndef F_SETSIG
#define F_SETSIG 10
#endif

struct sample {
	uint64_t t, ip, kernel, method;
	uint32_t cpu, stack;
	uint8_t phase, flags;
	bool in_kernel, answered;
};

struct thread {
	struct thread *next;
	struct perf_event_mmap_page *page; /* NULL: could not be sampled, not tried again */
	int32_t tid;
	int fd;
	bool alive; /* at the last walk */
	uint32_t first, nr; /* of pending */
	struct sample pending[PENDING];
};

struct process {
	struct process *next;
	struct thread *threads;
	struct images images;
	int32_t pid;
	bool same, answers;
};

struct hotspots {
	struct host *host;
	struct watch *timer;
	struct process *processes;
	unsigned int nr_processes, nr_threads;
	uint64_t type, config;
	uint32_t hz;
	bool in_kernel, told;
	uint32_t stacks; /* told so far */
	struct {
		uint64_t hash;
		uint32_t id;
	} stack[STACKS];
};

static void attr_of(struct perf_event_attr *attr, uint32_t type, uint64_t config, uint32_t hz,
		    bool in_kernel)
{
	*attr = (struct perf_event_attr){
		.type = type,
		.size = sizeof(*attr),
		.config = config,
		.sample_freq = hz,
		.freq = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
		.sample_max_stack = FRAMES,
		.exclude_kernel = !in_kernel,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = 1,
		.disabled = 1,
	};
}

static int open_event(int32_t tid, const struct perf_event_attr *attr)
{
	long fd = syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* What this machine lets us sample, the best first; 0 or -errno. */
static int choose(uint32_t *type, uint64_t *config, bool *in_kernel)
{
	static const struct {
		uint32_t type;
		uint64_t config;
	} events[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	};
	int fd = -ENODEV;

	for (int i = 0; i < 4; i++) {
		struct perf_event_attr attr;

		*type = events[i / 2].type;
		*config = events[i / 2].config;
		*in_kernel = !(i & 1);
		attr_of(&attr, *type, *config, 100, *in_kernel);
		fd = open_event(0, &attr);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
	}
	return fd;
}

static void flush_one(struct hotspots *h, const struct process *p, struct thread *th)
{
	const struct sample *s = &th->pending[th->first];
	struct record r = { .t = s->t, .type = RECORD_HOTSPOT };

	r.hotspot = (struct record_hotspot){
		.ip = s->ip,
		.kernel = s->kernel,
		.method = s->method,
		.tgid = p->pid,
		.tid = th->tid,
		.cpu = s->cpu,
		.phase = s->phase,
		.flags = s->flags,
		.stack = s->stack,
		.answered = s->answered,
	};
	host_record(h->host, &r);
	th->first = (th->first + 1) % PENDING;
	th->nr--;
}

/* One row for each chain, however often it is seen. 0: it has none. */
static uint32_t stack_of(struct hotspots *h, const uint64_t *frame, size_t nr)
{
	const uint64_t t = clock_now();
	uint64_t hash = 14695981039346656037u;
	char text[FRAMES * 17 + 1];
	const char *string = text;
	size_t at, length = 0;
	int64_t id;

	if (!nr)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		hash = (hash ^ frame[i]) * 1099511628211u;
		hash ^= hash >> 29;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%" PRIx64,
					   i ? " " : "", frame[i]);
	}
	at = hash & (STACKS - 1);
	if (h->stack[at].id && h->stack[at].hash == hash)
		return h->stack[at].id;
	/* Whose place it takes is told again if it comes again. */
	h->stack[at].hash = hash;
	h->stack[at].id = ++h->stacks;
	id = h->stacks;
	host_define(h->host, definition_new(DEFINE_STACK, t, &id, 1, &string, 1));
	return h->stacks;
}

struct parsed {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t nr, chain[FRAMES + 8];
};

static void take_sample(struct hotspots *h, struct process *p, struct thread *th,
			const struct parsed *r, bool in_kernel)
{
	uint64_t frame[FRAMES];
	struct sample *s;
	bool user = !in_kernel;
	size_t nr = 0;

	if (th->nr == PENDING)
		flush_one(h, p, th);
	s = &th->pending[(th->first + th->nr++) % PENDING];
	*s = (struct sample){ .t = r->time, .cpu = r->cpu, .in_kernel = in_kernel };
	if (in_kernel)
		s->kernel = r->ip;
	else
		s->ip = r->ip;
	for (uint64_t i = 0; i < r->nr && i < FRAMES + 8; i++) {
		if (r->chain[i] >= PERF_CONTEXT_MAX) {
			user = r->chain[i] == PERF_CONTEXT_USER;
			continue;
		}
		if (user && !s->ip)
			s->ip = r->chain[i];
		if (nr < FRAMES)
			frame[nr++] = r->chain[i];
	}
	s->stack = stack_of(h, frame, nr);
	if (s->ip)
		images_know(&p->images, h->host, p->pid, s->ip);
}

static void copy_out(const struct thread *th, uint64_t from, void *to, size_t size)
{
	const size_t room = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	const char *data = (const char *)th->page + room / PAGES;
	size_t at = from % room, first = size < room - at ? size : room - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, size - first);
}

static void drain(struct hotspots *h, struct process *p, struct thread *th)
{
	uint64_t head, tail;

	if (!th->page)
		return;
	head = __atomic_load_n(&th->page->data_head, __ATOMIC_ACQUIRE);
	for (tail = th->page->data_tail; tail < head;) {
		struct perf_event_header header;
		struct parsed r = { 0 };
		size_t body;

		copy_out(th, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		body = header.size - sizeof(header);
		copy_out(th, tail + sizeof(header), &r, body < sizeof(r) ? body : sizeof(r));
		if (header.type == PERF_RECORD_SAMPLE)
			take_sample(h, p, th, &r,
				    (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					    PERF_RECORD_MISC_KERNEL);
		else if (header.type == PERF_RECORD_LOST) /* id, then how many */
			host_drop(h->host, "hotspots", ((const uint64_t *)(const void *)&r)[1],
				  "a thread's samples ran over");
		tail += header.size;
	}
	__atomic_store_n(&th->page->data_tail, head, __ATOMIC_RELEASE);
}

static void thread_close(struct hotspots *h, struct thread *th)
{
	if (th->page)
		munmap(th->page, (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE));
	if (th->fd >= 0)
		close(th->fd);
	h->nr_threads--;
	free(th);
}

static void thread_end(struct hotspots *h, struct process *p, struct thread **at)
{
	struct thread *th = *at;

	*at = th->next;
	drain(h, p, th);
	while (th->nr)
		flush_one(h, p, th);
	thread_close(h, th);
}

/* Of a thread that ended meanwhile there is nothing to tell. */
static int thread_sample(struct hotspots *h, const struct process *p, struct thread *th)
{
	const struct f_owner_ex owner = { F_OWNER_TID, th->tid };
	struct perf_event_attr attr;
	void *page;

	attr_of(&attr, (uint32_t)h->type, h->config, h->hz, h->in_kernel);
	th->fd = open_event(th->tid, &attr);
	if (th->fd < 0)
		return th->fd;
	page = mmap(NULL, (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, th->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	th->page = page;
	/* A thread whose numbers are others in its own eyes could not be told from the rest. */
	if (p->answers && p->same &&
	    (fcntl(th->fd, F_SETSIG, GCHINT_STREAM_SIGNAL) || fcntl(th->fd, F_SETOWN_EX, &owner) ||
	     fcntl(th->fd, F_SETFL, fcntl(th->fd, F_GETFL) | O_ASYNC)))
		return -errno;
	return ioctl(th->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

static void thread_add(struct hotspots *h, struct process *p, int32_t tid)
{
	struct thread *th = h->nr_threads < THREADS ? calloc(1, sizeof(*th)) : NULL;
	int ret = -ENOMEM;

	if (th) {
		h->nr_threads++;
		th->tid = tid;
		th->fd = -1;
		th->alive = true;
		th->next = p->threads;
		p->threads = th;
		ret = thread_sample(h, p, th);
	}
	if (!ret || ret == -ESRCH)
		return;
	host_drop(h->host, "hotspots", 1, "a thread could not be sampled");
	if (!h->told)
		host_note(h->host, LOG_WARNING, "hotspots",
			  "thread %d of process %d could not be sampled: %s%s", tid, p->pid,
			  strerror(-ret),
			  ret == -EPERM	 ? ": raise kernel.perf_event_mlock_kb, or ulimit -l" :
			  ret == -EMFILE ? ": raise ulimit -n" :
					   "");
	h->told = true;
}

static void walk_threads(struct hotspots *h, struct process *p)
{
	struct dirent *entry;
	struct thread *th;
	char path[64];
	DIR *dir;

	for (th = p->threads; th; th = th->next)
		th->alive = false;
	snprintf(path, sizeof(path), "%s/%d/task", h->host->root.procfs, p->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		for (th = p->threads; th && th->tid != tid; th = th->next)
			;
		if (th)
			th->alive = true;
		else
			thread_add(h, p, tid);
	}
	if (dir)
		closedir(dir);
}

static void process_end(struct hotspots *h, struct process **at)
{
	struct process *p = *at;

	*at = p->next;
	while (p->threads)
		thread_end(h, p, &p->threads);
	free(p->images.image);
	free(p);
	h->nr_processes--;
}

/* By the name of the program, or by its command line. */
static bool wanted(const struct hotspots *h, int32_t pid)
{
	const char *match = h->host->config.source[SOURCE_hotspots].match;
	char text[1024];
	int n;

	if (!strcmp(match, "*"))
		return true;
	if (root_read(text, sizeof(text), "%s/%d/comm", h->host->root.procfs, pid) > 0 &&
	    !fnmatch(match, text, 0))
		return true;
	n = root_read(text, sizeof(text), "%s/%d/cmdline", h->host->root.procfs, pid);
	for (int i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	return n > 0 && !fnmatch(match, text, 0);
}

/* It may never lease a thread, which is what names processes else. */
static void tell_name(const struct hotspots *h, int32_t pid)
{
	char comm[64];
	const char *strings[] = { comm, NULL };

	if (root_read(comm, sizeof(comm), "%s/%d/comm", h->host->root.procfs, pid) > 0)
		host_define(h->host, definition_new(DEFINE_PROCESS, clock_now(),
						    (const int64_t[]){ pid, pid, UNKNOWN_S64 }, 3,
						    strings, 2));
}

void hotspots_process(struct hotspots *h, int32_t pid, bool same, bool answers)
{
	struct process *p;

	if (!h || !wanted(h, pid))
		return;
	hotspots_gone(h, pid);
	p = h->nr_processes < PROCESSES ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		host_drop(h->host, "hotspots", 1, "too many processes at once");
		return;
	}
	p->pid = pid;
	p->same = same;
	p->answers = answers;
	p->next = h->processes;
	h->processes = p;
	if (!h->nr_processes++)
		watch_period(h->timer,
			     h->host->config.source[SOURCE_hotspots].period_ms * NSEC_PER_MSEC);
	tell_name(h, pid);
	images_look(&p->images, h->host, p->pid);
	walk_threads(h, p);
}

void hotspots_answer(struct hotspots *h, int32_t pid, int32_t tid,
		     const struct gchint_stream_event *answer)
{
	struct process *p = h ? h->processes : NULL;
	struct thread *th = NULL;
	uint32_t i;

	while (p && p->pid != pid)
		p = p->next;
	for (th = p ? p->threads : NULL; th && th->tid != tid; th = th->next)
		;
	if (!th || !p->same)
		return;
	drain(h, p, th);
	/*
	 * The latest sample before it. Those before that one are of the same instant of the
	 * program only while it did not come back from the kernel.
	 */
	for (i = th->nr; i-- > 0;) {
		struct sample *s = &th->pending[(th->first + i) % PENDING];

		if (s->t > answer->time)
			continue;
		if (s->answered)
			break;
		s->answered = true;
		s->method = answer->work_done;
		s->phase = answer->phase < GCHINT_PHASE_NR ? answer->phase : GCHINT_PHASE_NONE;
		s->flags = answer->flags & GCHINT_F_ALL;
		if (!s->in_kernel || !i || !th->pending[(th->first + i - 1) % PENDING].in_kernel)
			break;
	}
}

void hotspots_gone(struct hotspots *h, int32_t pid)
{
	for (struct process **at = h ? &h->processes : NULL; at && *at; at = &(*at)->next)
		if ((*at)->pid == pid) {
			process_end(h, at);
			break;
		}
	if (h && !h->processes)
		watch_period(h->timer, 0);
}

static void on_timer(void *data, uint32_t events)
{
	const uint64_t old = clock_now() - PATIENCE;
	struct hotspots *h = data;

	(void)events;
	for (struct process *p = h->processes; p; p = p->next) {
		walk_threads(h, p);
		for (struct thread **at = &p->threads; *at;) {
			struct thread *th = *at;

			drain(h, p, th);
			while (th->nr && th->pending[th->first].t < old)
				flush_one(h, p, th);
			/* Its last answers may still be in the ring of its process. */
			if (!th->alive && !th->nr)
				thread_end(h, p, at);
			else
				at = &th->next;
		}
	}
}

static void stop(void *state)
{
	struct hotspots *h = state;

	h->host->hotspots = NULL;
	while (h->processes)
		process_end(h, &h->processes);
	watch_free(h->timer);
	free(h);
}

static int start(struct host *host, void **state)
{
	struct hotspots *h = calloc(1, sizeof(*h));
	struct rlimit files;
	uint32_t type;
	char text[16];

	if (!h)
		return -ENOMEM;
	h->host = host;
	h->hz = host->config.hotspots_hz;
	h->timer = loop_timer(host->loop, 0, on_timer, h);
	if (!h->timer || choose(&type, &h->config, &h->in_kernel)) {
		watch_free(h->timer);
		free(h);
		return -ENOMEM;
	}
	h->type = type;
	/* A descriptor for each thread. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	snprintf(text, sizeof(text), "%u", h->hz);
	host_meta(host, "hotspots.hz", text);
	host_meta(host, "hotspots.event", type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock");
	host_meta(host, "hotspots.kernel", h->in_kernel ? "yes" : "no");
	host->hotspots = h;
	*state = h;
	return 0;
}

static int probe(const struct host *host, struct probe *p)
{
	const char *mend = "run as root, or lower kernel.perf_event_paranoid to 2";
	uint64_t config;
	bool in_kernel;
	uint32_t type;
	int ret = choose(&type, &config, &in_kernel);

	(void)host;
	if (ret)
		return probe_absent(p, ret, ret == -EACCES || ret == -EPERM ? mend : "",
				    "no samples of threads: %s", strerror(-ret));
	return probe_found(p, "samples by %s, %s the kernel's own",
			   type == PERF_TYPE_HARDWARE ? "cycles" : "the clock (no cycles here)",
			   in_kernel ? "with" : "without");
}

const struct source source_hotspots = { probe, start, stop };
