// SPDX-License-Identifier: MIT
/* GCHINT_STREAM: hints to a recorder, through a ring in memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "doorbell.h"
#include "owner.h"
#include "slot.h"
#include "stream.h"

#define SEND_US 100000 /* how long a busy recorder is waited for */

/* Values of <linux/memfd.h> and <linux/fcntl.h>, which older C libraries do not have. */
#define RING_FLAGS 0x0003u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */
#define RING_SEALS 0x0007 /* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW */
#define ADD_SEALS  1033 /* F_ADD_SEALS */

static int ring_send(int ring, const char *path)
{
	const struct timeval patience = { .tv_usec = SEND_US };
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte = 'G';
	struct iovec iov = { &byte, 1 };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = sizeof(to),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	size_t length;
	int fd, ret;

	for (length = 0; path[length]; length++) {
		if (length >= sizeof(to.sun_path) - 1)
			return -ENAMETOOLONG;
		to.sun_path[length] = path[length];
	}
	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(ring));
	memcpy(CMSG_DATA(c), &ring, sizeof(ring));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	ret = sendmsg(fd, &msg, MSG_NOSIGNAL) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

static void ring_init(struct gchint_stream *ring)
{
	uint32_t n;

	ring->abi = GCHINT_STREAM_ABI;
	ring->events = GCHINT_STREAM_EVENTS;
	ring->pid = getpid();
	for (n = 0; n < GCHINT_STREAM_EVENTS; n++)
		ring->event[n].ticket = n;
	ring->magic = GCHINT_STREAM_MAGIC;
}

static struct gchint_stream_names *names_of(struct gchint_stream *ring)
{
	return ring->features & GCHINT_STREAM_NAMES ? (void *)(ring + 1) : NULL;
}

static size_t ring_size(unsigned int features)
{
	return sizeof(struct gchint_stream) +
	       (features & GCHINT_STREAM_NAMES ? sizeof(struct gchint_stream_names) : 0);
}

/* Beyond this limit ftruncate(2) would raise SIGXFSZ. */
static int size_is_allowed(size_t size)
{
	uint64_t limit[2];

	return !syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, limit) && size <= limit[0];
}

/* Sizes and maps the file; MAP_FAILED with errno. */
static struct gchint_stream *ring_map(int fd, unsigned int features)
{
	const size_t size = ring_size(features);

	if (!size_is_allowed(size)) {
		errno = EFBIG;
		return MAP_FAILED;
	}
	if (ftruncate(fd, (off_t)size))
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

int stream_open(struct gchint_session *s, const char *path, int answered, long long method)
{
	/* With 2, names are for comparison with profilers that write files. */
	unsigned int features = s->profile == 1 ? GCHINT_STREAM_NAMES : 0;
	struct gchint_stream *ring;
	int fd, ret;

	fd = (int)syscall(SYS_memfd_create, "gchint", RING_FLAGS);
	if (fd < 0)
		return -errno;
	fd = fd_above_stdio(fd);
	if (fd < 0)
		return fd;
	ring = ring_map(fd, features);
	/* Little address space, or all memory is locked: names go to a file then. */
	if (ring == MAP_FAILED && features)
		ring = ring_map(fd, features = 0);
	if (ring == MAP_FAILED) {
		ret = -errno;
		goto close_fd;
	}
	if (fcntl(fd, ADD_SEALS, RING_SEALS)) {
		ret = -errno;
		munmap(ring, ring_size(features));
		goto close_fd;
	}
	ring_init(ring);
	ring->features = features;
	if (answered)
		ring->features |= GCHINT_STREAM_SAMPLES | GCHINT_STREAM_TIMERS;
	ring->method = method;
	if (method)
		ring->features |= GCHINT_STREAM_METHODS;
	store_relaxed(&s->profiled, ring->features & ~GCHINT_STREAM_NAMES ? s->profile : 0);
	/* Partner: on_sample(). A recorder asks for timers as soon as it has the ring. */
	store_release(&s->sending, 1);
	ret = ring_send(fd, path);
	if (ret) {
		store_relaxed(&s->profiled, 0);
		munmap(ring, ring_size(features));
	} else {
		store_release(&s->stream, ring);
	}
	store_release(&s->sending, 0);
close_fd:
	close(fd);
	return ret;
}

void stream_close(struct gchint_session *s, int mapped)
{
	struct gchint_stream *ring = s->stream;

	store_relaxed(&s->stream, NULL);
	/* With profiling a thread may be answering a sample now, which cannot be detected. */
	if (ring && !mapped && !s->profiled)
		munmap(ring, ring_size(ring->features));
	store_relaxed(&s->profiled, 0);
}

/* The next event to fill, or NULL when the reader is behind. Partner: the header. */
static struct gchint_stream_event *event_take(struct gchint_stream *ring, uint32_t *ticket)
{
	uint32_t tail = load_relaxed(&ring->tail), seen;
	struct gchint_stream_event *event;

	for (;;) {
		event = &ring->event[tail % GCHINT_STREAM_EVENTS];
		seen = load_acquire(&event->ticket);
		if (seen == tail) {
			if (cmpxchg_seq(&ring->tail, &tail, tail + 1)) {
				*ticket = tail;
				return event;
			}
		} else if ((int32_t)(seen - tail) < 0) {
			return NULL;
		} else {
			tail = load_relaxed(&ring->tail);
		}
	}
}

/* As event_take(), with the fields that all events share; time is now, the CPU unknown. */
static struct gchint_stream_event *event_begin(struct gchint_stream *ring, pid_t tid,
					       unsigned int type, uint32_t *ticket)
{
	struct gchint_stream_event *event;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	event = event_take(ring, ticket);
	if (!event) {
		add_fetch_seq(&ring->lost, 1);
		return NULL;
	}
	memset(&event->tid, 0, sizeof(*event) - offsetof(struct gchint_stream_event, tid));
	event->tid = tid;
	event->time = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	event->cpu = GCHINT_STREAM_NO_CPU;
	event->type = (uint8_t)type;
	return event;
}

static void event_set_cpu(struct gchint_stream_event *event)
{
	int cpu = current_cpu();

	if (cpu >= 0)
		event->cpu = (uint32_t)cpu;
}

void stream_put(struct gchint_session *s, const struct record *r, unsigned int type, int own,
		uint32_t word, const struct gchint_detail *d, unsigned int role)
{
	struct gchint_stream *ring = load_acquire(&s->stream);
	struct gchint_stream_event *event;
	uint32_t ticket;

	/* The kernel reports hints of this backend itself; the ring is for samples only. */
	if (!ring || backend_of(s) == GCHINT_BACKEND_DEVICE)
		return;
	event = event_begin(ring, r ? r->handle.tid : 0, type, &ticket);
	if (!event)
		return;
	if (own)
		event_set_cpu(event);
	event->slot = r ? r->handle.index - 1u : 0;
	event->phase = (uint8_t)phase_of(word);
	event->flags = (uint8_t)flags_of(word);
	event->cause = (uint8_t)(r ? r->cause : 0);
	event->role = role;
	if (d) {
		event->work_done = d->work_done;
		event->work_total = d->work_total;
		event->stall_ns = d->stall_ns;
	}
	store_release(&event->ticket, ticket + 1);
}

void stream_sample(struct gchint_session *s, pid_t tid, uint32_t word, uintptr_t method,
		   uintptr_t ip, unsigned int missed)
{
	struct gchint_stream *ring = load_acquire(&s->stream);
	struct gchint_stream_event *event;
	uint32_t ticket;

	if (!ring)
		return;
	event = event_begin(ring, tid, GCHINT_STREAM_SAMPLE, &ticket);
	if (!event)
		return;
	event_set_cpu(event);
	event->phase = (uint8_t)phase_of(word);
	event->flags = (uint8_t)flags_of(word);
	event->work_done = method;
	event->work_total = ip;
	event->stall_ns = missed;
	store_release(&event->ticket, ticket + 1);
}

void stream_word(struct gchint_session *s, struct record *r, int there)
{
	struct gchint_stream *ring = load_acquire(&s->stream);
	struct gchint_stream_event *event;
	uint32_t ticket;

	if (!ring || !(ring->features & GCHINT_STREAM_METHODS))
		return;
	event = event_begin(ring, r->handle.tid, GCHINT_STREAM_WORD, &ticket);
	if (!event)
		return;
	if (there) {
		event->work_done = (uintptr_t)state_of(s, r);
		event->work_total = (uintptr_t)&r->handle.tid;
	}
	store_release(&event->ticket, ticket + 1);
}

int stream_name(struct gchint_session *s, const char *text, size_t length)
{
	struct gchint_stream *ring = load_acquire(&s->stream);
	struct gchint_stream_names *names = ring ? names_of(ring) : NULL;
	uint32_t at;

	/*
	 * Without profiling the ring may be unmapped any time. A forked child has one of its
	 * own from when it opens its session.
	 */
	if (!names || !load_relaxed(&s->profiled) || !owner_is_caller(s))
		return 0;
	at = load_relaxed(&names->tail);
	do {
		if (length > sizeof(names->text) - at)
			return 0;
	} while (!cmpxchg_seq(&names->tail, &at, at + (uint32_t)length));
	memcpy(names->text + at, text, length - 1);
	store_release(&names->text[at + length - 1], text[length - 1]);
	return 1;
}

void stream_inherit(struct gchint_session *s, const struct gchint_stream *parent)
{
	const struct gchint_stream_names *from;
	uint32_t at, begin = 0, tail;

	if (!parent || !(parent->features & GCHINT_STREAM_NAMES))
		return;
	from = (const void *)(parent + 1);
	tail = load_acquire(&from->tail);
	for (at = 0; at < tail; at++) {
		const char c = load_acquire(&from->text[at]);

		/* A thread of the parent has not finished that line. */
		if (!c)
			begin = at + 1;
		if (c != '\n')
			continue;
		if (!stream_name(s, from->text + begin, at + 1 - begin))
			return;
		begin = at + 1;
	}
}
