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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "doorbell.h"
#include "owner.h"
#include "slot.h"
#include "stream.h"

#define SEND_US	 100000 /* how long a busy recorder is waited for */
#define AGAIN_MS 10 /* after that, between two attempts */

/* Values of <linux/memfd.h> and <linux/fcntl.h>, which older C libraries do not have. */
#define RING_FLAGS 0x0003u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */
#define RING_SEALS 0x0007 /* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW */
#define ADD_SEALS  1033 /* F_ADD_SEALS */

/* A socket that is connected to the recorder, or -errno. */
static int recorder_connect(const char *path)
{
	const struct timeval patience = { .tv_usec = SEND_US };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length;
	int fd, ret;

	for (length = 0; path[length]; length++) {
		if (length >= sizeof(to.sun_path) - 1)
			return -ENAMETOOLONG;
		to.sun_path[length] = path[length];
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	fd = fd_above_stdio(fd);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* @flags: MSG_DONTWAIT, or 0: waits for SEND_US. Returns -EAGAIN if the recorder is busy. */
static int ring_send(int ring, int socket, int flags)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte = 'G';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(ring));
	memcpy(CMSG_DATA(c), &ring, sizeof(ring));
	if (sendmsg(socket, &msg, MSG_NOSIGNAL | flags) == 1)
		return 0;
	/* Too many rings of this user wait in sockets. */
	return errno == ETOOMANYREFS || errno == ENOBUFS ? -EAGAIN : -errno;
}

/* Beyond this limit ftruncate(2) and write(2) would raise SIGXFSZ. */
static int size_is_allowed(size_t size)
{
	uint64_t limit[2];

	return !syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, limit) && size <= limit[0];
}

/* Appends a line feed to the file next to the recorder's socket, if there is one. */
static void recorder_count_late(const char *path)
{
	static const char suffix[] = ".late";
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(suffix)];
	const size_t length = strlen(path);
	struct stat st;
	int fd;

	/* recorder_connect() has checked the length. */
	memcpy(name, path, length);
	memcpy(name + length, suffix, sizeof(suffix));
	fd = open(name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	/* If it cannot be written there is nothing else to do. */
	if (fstat(fd, &st) || !size_is_allowed((size_t)st.st_size + 1) || write(fd, "\n", 1) != 1)
		errno = 0;
	close(fd);
}

static uint32_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint32_t)((uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u);
}

static void unsent_close(struct unsent_stream *u)
{
	int n;

	/* The program may have closed them, and use their numbers. */
	for (n = 0; n < 2; n++)
		if (fd_is(u->fds[n], &u->files[n]))
			close(u->fds[n]);
}

/* Keeps the ring to send it later. */
static void unsent_keep(struct gchint_session *s, int ring, int socket)
{
	struct unsent_stream *u = &s->unsent;

	u->fds[0] = ring;
	u->fds[1] = socket;
	fd_identify(ring, &u->files[0]);
	fd_identify(socket, &u->files[1]);
	u->again = now_ms() + AGAIN_MS;
	store_release(&u->state, UNSENT_WAITS);
}

/* Async-signal-safe. Waits only with @flags 0. */
static void unsent_try(struct gchint_session *s, int flags)
{
	struct unsent_stream *u = &s->unsent;
	uint32_t state = UNSENT_WAITS;
	int saved = errno, ret = -EBADF;

	if ((flags && (int32_t)(now_ms() - load_relaxed(&u->again)) < 0) ||
	    !cmpxchg_seq(&u->state, &state, UNSENT_TRIES))
		return;
	if (fd_is(u->fds[0], &u->files[0]) && fd_is(u->fds[1], &u->files[1]))
		ret = ring_send(u->fds[0], u->fds[1], flags);
	if (ret != -EAGAIN)
		unsent_close(u);
	store_relaxed(&u->again, now_ms() + AGAIN_MS);
	store_release(&u->state, ret == -EAGAIN ? UNSENT_WAITS : UNSENT_NONE);
	errno = saved;
}

/* Before the process ends: the recorder cannot receive the ring any more then. */
__attribute__((destructor)) static void unsent_try_last(void)
{
	struct gchint_session *s = &gchint_page.session;

	if (load_relaxed(&s->unsent.state) == UNSENT_WAITS && load_relaxed(&s->pid) == getpid())
		unsent_try(s, 0);
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
	int fd, to, ret;

	s->unsent.state = UNSENT_NONE;
	to = recorder_connect(path);
	if (to < 0)
		return to;
	fd = (int)syscall(SYS_memfd_create, "gchint", RING_FLAGS);
	if (fd < 0) {
		ret = -errno;
		goto close_to;
	}
	fd = fd_above_stdio(fd);
	if (fd < 0) {
		ret = fd;
		goto close_to;
	}
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
	ret = ring_send(fd, to, 0);
	if (ret == -EAGAIN) {
		ring->features |= GCHINT_STREAM_LATE;
		recorder_count_late(path);
		unsent_keep(s, fd, to);
		store_release(&s->stream, ring);
		store_release(&s->sending, 0);
		return 0;
	}
	if (ret) {
		store_relaxed(&s->profiled, 0);
		munmap(ring, ring_size(features));
	} else {
		store_release(&s->stream, ring);
	}
	store_release(&s->sending, 0);
close_fd:
	close(fd);
close_to:
	close(to);
	if (ret)
		recorder_count_late(path);
	return ret;
}

void stream_close(struct gchint_session *s, int mapped)
{
	struct gchint_stream *ring = s->stream;
	uint32_t state = UNSENT_WAITS;

	/* In a forked child these are copies, of which it has no use. */
	if (cmpxchg_seq(&s->unsent.state, &state, UNSENT_TRIES)) {
		if (s->pid == getpid() && fd_is(s->unsent.fds[0], &s->unsent.files[0]) &&
		    fd_is(s->unsent.fds[1], &s->unsent.files[1]))
			ring_send(s->unsent.fds[0], s->unsent.fds[1], 0);
		unsent_close(&s->unsent);
		store_release(&s->unsent.state, UNSENT_NONE);
	}
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

/*
 * As event_take(), with the fields that all events share; time is now, the CPU unknown.
 * @ends: the event is the end of a phase, or a reading of the heap: if it is lost, it is none that is
 *	missing from a count of hints
 */
static struct gchint_stream_event *event_begin(struct gchint_stream *ring, pid_t tid,
					       unsigned int type, int ends, uint32_t *ticket)
{
	struct gchint_stream_event *event;
	struct timespec ts;

	if (load_relaxed(&gchint_page.session.unsent.state) == UNSENT_WAITS)
		unsent_try(&gchint_page.session, MSG_DONTWAIT);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	event = event_take(ring, ticket);
	if (!event) {
		/* Partner: ring_lost(), which reads them in the other order. */
		if (ends)
			add_fetch_seq(&ring->lost_ends, 1);
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
	event = event_begin(ring, r ? r->handle.tid : 0, type,
			    type == GCHINT_STREAM_PHASE && !phase_of(word), &ticket);
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
	event = event_begin(ring, tid, GCHINT_STREAM_SAMPLE, 0, &ticket);
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

_Static_assert((int)GCHINT_HEAP_BEFORE == GCHINT_STREAM_BEFORE &&
		       (int)GCHINT_HEAP_AFTER == GCHINT_STREAM_AFTER,
	       "the numbers of both headers are the same");

/* One of the two events of a reading. */
static void heap_put(struct gchint_stream *ring, const struct record *r, unsigned int type,
		     const struct gchint_heap *h, uint64_t first, uint64_t second, uint64_t third)
{
	struct gchint_stream_event *event;
	uint32_t ticket;

	event = event_begin(ring, r->handle.tid, type, 1, &ticket);
	if (!event)
		return;
	event->time = h->time_ns;
	event->slot = r->handle.index - 1u;
	event->phase = (uint8_t)h->when;
	event->role = h->generation;
	event->work_done = first;
	event->work_total = second;
	event->stall_ns = third;
	store_release(&event->ticket, ticket + 1);
}

void stream_heap(struct gchint_session *s, const struct record *r, const struct gchint_heap *heap)
{
	struct gchint_stream *ring = load_acquire(&s->stream);
	struct gchint_heap h = *heap;
	struct timespec ts;

	if (!ring)
		return;
	if (!h.time_ns) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		h.time_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	}
	if (h.allocated != GCHINT_HEAP_UNKNOWN || h.freed != GCHINT_HEAP_UNKNOWN)
		heap_put(ring, r, GCHINT_STREAM_HEAP_MORE, &h, h.allocated, h.freed, 0);
	heap_put(ring, r, GCHINT_STREAM_HEAP, &h, h.used, h.committed, h.limit);
}

void stream_word(struct gchint_session *s, struct record *r, int there)
{
	struct gchint_stream *ring = load_acquire(&s->stream);
	struct gchint_stream_event *event;
	uint32_t ticket;

	if (!ring || !(ring->features & GCHINT_STREAM_METHODS))
		return;
	event = event_begin(ring, r->handle.tid, GCHINT_STREAM_WORD, 0, &ticket);
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
