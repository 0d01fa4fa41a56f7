// SPDX-License-Identifier: GPL-2.0-or-later
#include "sampled.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <syslog.h>
#include <unistd.h>

#include <gchint-stream.h>
#include <uapi/linux/gchint.h>

#include "../privilege.h"

#define PAGES  4 /* of a thread's ring in the kernel; a power of two */
#define FRAMES SAMPLING_FRAMES

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

/* Without a method in the sample, the code at the instruction pointer decides. */
static bool sample_passes(struct hotspots *h, struct process *p, const struct sample *s)
{
	const struct config_hotspots *f = &h->filter;

	if (f->phases != CONFIG_PHASES &&
	    (!(s->known & HOTSPOT_PHASE) || !(f->phases >> s->phase & 1)))
		return false;
	if (!strcmp(f->method, "*"))
		return true;
	return methods_want(&p->methods, p->pid, f->method,
			    s->known & HOTSPOT_METHOD && s->method ? s->method : s->ip);
}

void thread_flush(struct hotspots *h, struct process *p, struct thread *th)
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
		.known = s->known & (HOTSPOT_METHOD | HOTSPOT_PHASE),
	};
	h->samples++;
	if (sample_passes(h, p, s)) {
		context_record(h->context, &r);
		h->passed++;
	} else {
		h->stopped++;
	}
	th->first = (th->first + 1) % PENDING;
	th->nr--;
	th->settled -= th->settled > 0;
}

struct parsed {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t nr, chain[FRAMES + 8];
};

static void sample_add_from_ring(struct hotspots *h, struct process *p, struct thread *th,
				 const struct parsed *r, bool in_kernel)
{
	uint64_t frame[FRAMES];
	struct sample *s;
	bool user = !in_kernel;
	size_t nr = 0;

	if (th->nr == PENDING)
		thread_flush(h, p, th);
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
	s->stack = stacks_id(&h->stacks, h->context, frame, nr, nr == FRAMES);
	if (s->ip)
		images_know(&p->images, h->context, p->pid, s->ip);
}

static void thread_copy_ring(const struct thread *th, uint64_t from, void *to, size_t size)
{
	const size_t room = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	const char *data = (const char *)th->page + room / PAGES;
	size_t at = from % room, first = size < room - at ? size : room - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, size - first);
}

void thread_drain(struct hotspots *h, struct process *p, struct thread *th)
{
	uint64_t head, tail;

	if (!th->page)
		return;
	head = __atomic_load_n(&th->page->data_head, __ATOMIC_ACQUIRE);
	for (tail = th->page->data_tail; tail < head;) {
		struct perf_event_header header;
		struct parsed r = { 0 };
		size_t body;

		thread_copy_ring(th, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		body = header.size - sizeof(header);
		thread_copy_ring(th, tail + sizeof(header), &r,
				 body < sizeof(r) ? body : sizeof(r));
		if (header.type == PERF_RECORD_SAMPLE)
			sample_add_from_ring(h, p, th, &r,
					     (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
						     PERF_RECORD_MISC_KERNEL);
		else if (header.type == PERF_RECORD_LOST) /* id, then how many */
			context_drop(h->context, "hotspots",
				     ((const uint64_t *)(const void *)&r)[1],
				     "a thread's samples ran over");
		tail += header.size;
	}
	__atomic_store_n(&th->page->data_tail, head, __ATOMIC_RELEASE);
}

static void sample_add_from_tunnel(struct hotspots *h, const struct tunnel_sample *seen)
{
	struct thread *th = seen->thread < THREADS ? h->numbered[seen->thread] : NULL;
	const size_t in_kernel = seen->in_kernel > 0 ? (size_t)seen->in_kernel / 8 : 0;
	const size_t in_user = seen->in_user > 0 ? (size_t)seen->in_user / 8 : 0;
	const uint32_t phase = seen->word & 0xff;
	uint64_t frame[FRAMES];
	struct sample *s;
	size_t nr = 0;

	if (!th)
		return;
	for (size_t i = 0; i < in_kernel && nr < FRAMES; i++)
		frame[nr++] = seen->kernel[i];
	for (size_t i = 0; i < in_user && nr < FRAMES; i++)
		frame[nr++] = seen->user[i];
	if (th->nr == PENDING)
		thread_flush(h, th->process, th);
	s = &th->pending[(th->first + th->nr++) % PENDING];
	*s = (struct sample){
		.t = seen->t,
		.ip = in_user ? seen->user[0] : 0,
		.kernel = in_kernel ? seen->kernel[0] : 0,
		.method = seen->method,
		.cpu = seen->cpu,
		.stack = stacks_id(&h->stacks, h->context, frame, nr,
				   nr == FRAMES || in_user == TUNNEL_FRAMES),
		.phase = phase < GCHINT_PHASE_NR ? (uint8_t)phase : (uint8_t)GCHINT_PHASE_NONE,
		.flags = seen->word >> GCHINT_STATE_FLAGS_SHIFT & GCHINT_F_ALL,
		.known = (uint8_t)seen->known,
	};
	if (s->ip)
		images_know(&th->process->images, h->context, th->process->pid, s->ip);
}

void threads_drain(struct hotspots *h)
{
	struct tunnel_sample sample;

	while (h->tunnel && tunnel_next(h->tunnel, &sample))
		sample_add_from_tunnel(h, &sample);
}

void thread_lost(struct hotspots *h, struct thread *th)
{
	const uint64_t lost = th->number ? tunnel_lost(h->tunnel, th->number) : 0;

	if (lost)
		context_drop(h->context, "hotspots", lost, "a thread's samples ran over");
}

void thread_add_own(struct hotspots *h, struct thread *th, const struct sample *own,
		    uint64_t missed)
{
	struct sample *s;

	if (missed)
		context_drop(h->context, "hotspots", missed,
			     "a thread did not take its timer's signal");
	if (th->nr == PENDING)
		thread_flush(h, th->process, th);
	s = &th->pending[(th->first + th->nr++) % PENDING];
	*s = *own;
	s->stack = stacks_id(&h->stacks, h->context, &own->ip, !!own->ip, false);
	if (s->ip)
		images_know(&th->process->images, h->context, th->process->pid, s->ip);
}

static void thread_close(struct hotspots *h, struct thread *th)
{
	if (h->sampling.timers && th->process->timers && th->alive)
		sampling_ask(th->process->pid, th->tid, 0);
	if (th->number) {
		if (th->fd >= 0)
			close(th->fd);
		th->fd = -1;
		/*
		 * Its last samples must not be taken for those of the next thread with its number.
		 */
		threads_drain(h);
		thread_lost(h, th);
		h->numbered[th->number] = NULL;
	}
	if (th->page)
		munmap(th->page, (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE));
	if (th->fd >= 0)
		close(th->fd);
	h->nr_threads--;
	free(th);
}

void thread_end(struct hotspots *h, struct process *p, struct thread **at)
{
	struct thread *th = *at;

	*at = th->next;
	thread_drain(h, p, th);
	while (th->nr)
		thread_flush(h, p, th);
	thread_close(h, th);
}

/* Numbers are reused as late as possible. */
static uint32_t number_alloc(struct hotspots *h)
{
	for (uint32_t i = 1; i < THREADS; i++) {
		const uint32_t number = (h->number + i) % THREADS;

		if (number && !h->numbered[number])
			return h->number = number;
	}
	return 0;
}

/* Attaches the BPF program, which holds the event from then on. */
static int thread_attach_tunnel(struct hotspots *h, struct thread *th)
{
	struct tunnel_place place = th->process->place;
	const uint32_t number = number_alloc(h);
	int link, ret;

	if (!number)
		return -ENOMEM;
	th->number = number;
	h->numbered[number] = th;
	place.tid = (uint32_t)th->own_tid;
	for (size_t i = 0; i < th->process->words; i++)
		if (th->process->word[i].tid == place.tid)
			place = th->process->word[i];
	tunnel_place(h->tunnel, number, &place);
	link = tunnel_attach(h->tunnel, th->fd, number);
	if (link < 0)
		return link;
	ret = ioctl(th->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
	close(th->fd);
	th->fd = link;
	return ret;
}

static int thread_request_signals(struct thread *th)
{
	const struct f_owner_ex owner = { F_OWNER_TID, th->tid };
	const struct process *p = th->process;
	void *page = mmap(NULL, (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			  MAP_SHARED, th->fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	th->page = page;
	if (p->answers &&
	    (fcntl(th->fd, F_SETSIG, GCHINT_STREAM_SIGNAL) || fcntl(th->fd, F_SETOWN_EX, &owner) ||
	     fcntl(th->fd, F_SETFL, fcntl(th->fd, F_GETFL) | O_ASYNC)))
		return -errno;
	return ioctl(th->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

/* The kernel lowers the limit by itself where samples take it too long. */
bool hotspots_keep_limit(struct hotspots *h)
{
	uint64_t limit;

	if (h->sampling.timers ||
	    root_u64(&limit, "%s/sys/kernel/perf_event_max_sample_rate", h->context->root.procfs) ||
	    !limit || h->sampling.hz <= limit)
		return false;
	context_note(
		h->context, LOG_WARNING, "hotspots",
		"kernel.perf_event_max_sample_rate is %llu: that many samples a second, in place "
		"of %u",
		(unsigned long long)limit, h->sampling.hz);
	h->sampling.hz = (uint32_t)limit;
	return true;
}

/* Opens and starts the thread's event; -ESRCH if the thread has ended. */
static int thread_sample(struct hotspots *h, struct thread *th)
{
	int ret;

	if (h->sampling.timers)
		return th->process->timers ?
			       sampling_ask(th->process->pid, th->tid, h->sampling.hz) :
			       -ENOTSUP;
	privilege_raise();
	ret = th->fd = sampling_open(&h->sampling, th->tid, !th->process->seen);
	if (ret == -EINVAL && hotspots_keep_limit(h))
		ret = th->fd = sampling_open(&h->sampling, th->tid, !th->process->seen);
	if (ret >= 0)
		ret = th->process->seen ? thread_attach_tunnel(h, th) : thread_request_signals(th);
	privilege_lower();
	return ret;
}

static void thread_add(struct hotspots *h, struct process *p, int32_t tid)
{
	struct thread *th = h->nr_threads < THREADS ? calloc(1, sizeof(*th)) : NULL;
	int ret = -ENOMEM;

	if (th) {
		h->nr_threads++;
		th->tid = tid;
		th->own_tid = p->same ? tid : context_own_tid(h->context, p->pid, tid);
		th->process = p;
		th->fd = -1;
		th->alive = true;
		th->next = p->threads;
		p->threads = th;
		ret = thread_sample(h, th);
	}
	if (!ret || ret == -ESRCH)
		return;
	context_drop(h->context, "hotspots", 1, "a thread could not be sampled");
	if (!h->warned)
		context_note(h->context, LOG_WARNING, "hotspots",
			     "thread %d of process %d could not be sampled: %s%s", tid, p->pid,
			     strerror(-ret),
			     ret == -EPERM   ? ": raise kernel.perf_event_mlock_kb, or ulimit -l" :
			     ret == -EMFILE  ? ": raise ulimit -n" :
			     ret == -ENOTSUP ? ": its libgchint has no timers, or it uses SIGURG" :
					       "");
	h->warned = true;
}

void threads_walk(struct hotspots *h, struct process *p)
{
	struct dirent *entry;
	struct thread *th;
	char path[64];

	for (th = p->threads; th; th = th->next)
		th->alive = false;
	/* Stays open: opening takes longer than reading it, and it is read at each tick. */
	if (p->task) {
		rewinddir(p->task);
	} else {
		snprintf(path, sizeof(path), "%s/%d/task", h->context->root.procfs, p->pid);
		p->task = opendir(path);
	}
	while (p->task && (entry = readdir(p->task))) {
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
}
