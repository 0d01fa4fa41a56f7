// SPDX-License-Identifier: MIT
/* GCHINT_STREAM: what a recorder reads out of the ring. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <gchint-stream.h>
#include <gchint.h>

#include "clock.h"
#include "fakedev.h"
#include "tap.h"

static char path[] = "/tmp/gchint-stream-XXXXXX";
static int listener;
static struct gchint_session *s;

static pid_t owner;

static void path_remove(void)
{
	/* Not in children that a test forks. */
	if (getpid() == owner)
		unlink(path);
}

static void before(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	close(mkstemp(path));
	unlink(path);
	strcpy(a.sun_path, path);
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CHECK_IS(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	owner = getpid();
	atexit(path_remove);
	fake_reset();
	fake.present = 0;
	setenv("GCHINT_STREAM", path, 1);
}

/* The ring that was sent first, as its reader maps it; NULL none was. */
static struct gchint_stream *receive(void)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct gchint_stream *ring;
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct stat st;
	uint32_t n;
	int fd;

	if (recvmsg(listener, &msg, MSG_CMSG_CLOEXEC) != 1)
		return NULL;
	CHECK_IS(byte, 'G');
	CHECK(CMSG_FIRSTHDR(&msg) != NULL);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	CHECK_IS(fcntl(fd, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
	CHECK_IS(fstat(fd, &st), 0);
	CHECK_IS(st.st_size, sizeof(*ring));
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	CHECK_IS(ring->magic, GCHINT_STREAM_MAGIC);
	CHECK_IS(ring->abi, GCHINT_STREAM_ABI);
	CHECK_IS(ring->events, GCHINT_STREAM_EVENTS);
	/* No event follows it. */
	if (sizeof(*ring) % 4096)
		CHECK_IS(*(const uint32_t *)(const void *)(ring + 1), 0);
	/* As if other events had used the entries before. */
	for (n = ring->tail; n < GCHINT_STREAM_EVENTS; n++) {
		memset(&ring->event[n], 0xa5, sizeof(ring->event[n]));
		ring->event[n].ticket = n;
	}
	return ring;
}

static int read_event(struct gchint_stream *ring, uint32_t *at, struct gchint_stream_event *e)
{
	struct gchint_stream_event *from = &ring->event[*at % GCHINT_STREAM_EVENTS];

	if (__atomic_load_n(&from->ticket, __ATOMIC_ACQUIRE) != *at + 1)
		return 0;
	*e = *from;
	__atomic_store_n(&from->ticket, *at + GCHINT_STREAM_EVENTS, __ATOMIC_RELEASE);
	++*at;
	return 1;
}

static void want(struct gchint_stream *ring, uint32_t *at, unsigned int type, unsigned int phase,
		 unsigned int flags, unsigned int cause)
{
	struct gchint_stream_event e = { 0 };

	CHECK(read_event(ring, at, &e));
	CHECK_IS(e.type, type);
	CHECK_IS(e.phase, phase);
	CHECK_IS(e.flags, flags);
	CHECK_IS(e.cause, cause);
	CHECK_IS(e.tid, getpid());
	CHECK_IS(e.slot, 0);
	/* A thread may be detached by another one. */
	if (type == GCHINT_STREAM_DETACH)
		CHECK_IS(e.cpu, GCHINT_STREAM_NO_CPU);
	else
		CHECK(e.cpu < 8192);
	if (type != GCHINT_STREAM_ROLE)
		CHECK_IS(e.role, 0);
	CHECK_IS(e.time, CLOCK_NOW);
}

static void what_is_told(void)
{
	struct gchint_detail d = { .size = sizeof(d),
				   .cause = GCHINT_CAUSE_EXPLICIT,
				   .work_done = 1,
				   .work_total = 0x200000003,
				   .stall_ns = 4 };
	struct gchint_stream_event e;
	struct gchint_stream *ring;
	uint32_t at = 0;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	ring = receive();
	CHECK(ring);
	CHECK_IS(ring->pid, getpid());
	want(ring, &at, GCHINT_STREAM_ATTACH, 0, 0, 0);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW, &d);
	CHECK_IS(ring->event[at].work_done, 1);
	CHECK_IS(ring->event[at].work_total, 0x200000003);
	CHECK_IS(ring->event[at].stall_ns, 4);
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW,
	     GCHINT_CAUSE_EXPLICIT);
	gchint_phase_next(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(ring->event[at].work_done, 0);
	CHECK_IS(ring->event[at].work_total, 0);
	CHECK_IS(ring->event[at].stall_ns, 0);
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_MARK, GCHINT_F_STW,
	     GCHINT_CAUSE_EXPLICIT);
	gchint_phase_begin(GCHINT_PHASE_REFS, 0);
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_REFS, 0, 0);
	gchint_phase_end();
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_MARK, GCHINT_F_STW, 0);
	gchint_progress(gchint_self(), 7, 8, 9);
	CHECK_IS(ring->event[at].work_done, 7);
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_MARK, GCHINT_F_STW, 0);
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_OOM);
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_MARK, GCHINT_F_STW, GCHINT_CAUSE_OOM);
	gchint_abandon(gchint_self());
	want(ring, &at, GCHINT_STREAM_PHASE, 0, 0, 0);
	gchint_set_role(gchint_self(), GCHINT_ROLE_STW, NULL);
	CHECK_IS(ring->event[at].role, GCHINT_ROLE_STW);
	want(ring, &at, GCHINT_STREAM_ROLE, 0, 0, 0);
	gchint_detach(gchint_self());
	want(ring, &at, GCHINT_STREAM_DETACH, 0, 0, 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_close(s);
	CHECK(!read_event(ring, &at, &e));
}

/* Nothing is filtered, since no edge costs a system call; the close is announced. */
static void all_and_the_end(void)
{
	struct gchint_stream *ring;
	struct gchint_stream_event e;
	uint32_t at = 0;
	int n, phases = 0;

	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_STREAM);
	ring = receive();
	for (n = 0; n < 1000; n++) {
		gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
		gchint_phase_end();
	}
	CHECK_IS(gchint_close(s), 0);
	while (read_event(ring, &at, &e))
		phases += e.type == GCHINT_STREAM_PHASE;
	CHECK_IS(phases, 2000);
	CHECK_IS(e.type, GCHINT_STREAM_CLOSE);
	CHECK_IS(e.cpu, GCHINT_STREAM_NO_CPU);
	CHECK_IS(e.tid, 0);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK(!read_event(ring, &at, &e));
}

/* A slow or missing reader: losses are counted without waiting. */
static void loss_is_counted(void)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;
	struct gchint_stream *ring;
	struct gchint_stream_event e;
	uint32_t at = 0, ends;
	int n;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	ring = receive();
	close(listener);
	for (n = 0; n < GCHINT_STREAM_EVENTS; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
	}
	CHECK_IS(ring->lost, GCHINT_STREAM_EVENTS + 1);
	/* A reading of the heap is no hint, so it is counted as what is none that is missing. */
	ends = ring->lost_ends;
	heap.when = GCHINT_HEAP_AFTER;
	heap.used = 1;
	gchint_heap(gchint_self(), &heap);
	CHECK_IS(ring->lost, GCHINT_STREAM_EVENTS + 2);
	CHECK_IS(ring->lost_ends, ends + 1);
	while (read_event(ring, &at, &e))
		;
	CHECK_IS(at, GCHINT_STREAM_EVENTS);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK(read_event(ring, &at, &e));
	CHECK_IS(e.flags, GCHINT_F_STW);
	CHECK_IS(ring->lost, GCHINT_STREAM_EVENTS + 2);
}

static void no_recorder(void)
{
	close(listener);
	errno = 4711;
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
	unlink(path);
	CHECK_IS(errno, 4711);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
}

#define AGAIN_NS 10000000 /* between two attempts to send a ring */

/* The recorder's socket takes no more. */
static void socket_fill(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	strcpy(a.sun_path, path);
	while (sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)) == 1)
		;
	close(fd);
}

/* Reads what socket_fill() wrote, and nothing else is there. */
static void socket_drain(void)
{
	char byte;

	while (recv(listener, &byte, 1, 0) == 1)
		CHECK_IS(byte, 'x');
}

static uint64_t descriptors_open(void)
{
	uint64_t open = 0;

	for (int fd = 0; fd < 64; fd++)
		open |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
	return open;
}

static void stuck_recorder(void)
{
	socket_fill();
	alarm(250);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	unlink(path);
}

/* When a recorder reads its socket again it receives the ring, at a phase. */
static void ring_is_sent_later(void)
{
	const uint64_t before = descriptors_open();
	struct gchint_stream *ring;
	uint32_t at = 0;

	socket_fill();
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	socket_drain();
	/* Not at each phase. */
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK(!receive());
	clock_passed_ns = AGAIN_NS;
	gchint_phase_end();
	ring = receive();
	CHECK(ring != NULL);
	if (!ring)
		return;
	CHECK(ring->features & GCHINT_STREAM_LATE);
	CHECK_IS(descriptors_open(), before);
	clock_passed_ns = 0;
	want(ring, &at, GCHINT_STREAM_ATTACH, 0, 0, 0);
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_MARK, 0, 0);
	/* Once. */
	clock_passed_ns = 2 * AGAIN_NS;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK(!receive());
	unlink(path);
}

/* A program that closes all descriptors may have others of these numbers: they are its own. */
static void number_is_taken(void)
{
	const uint64_t before = descriptors_open();
	uint64_t ours;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

	for (int n = 0; n < 2; n++) {
		clock_passed_ns = 0;
		socket_fill();
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_STREAM);
		ours = descriptors_open() & ~before & ~(1ull << null);
		CHECK_IS(__builtin_popcountll(ours), 2);
		/* The one or the other of the two. */
		fd = n ? 63 - __builtin_clzll(ours) : __builtin_ctzll(ours);
		CHECK_IS(dup2(null, fd), fd);
		socket_drain();
		clock_passed_ns = AGAIN_NS;
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		CHECK(!receive());
		CHECK_IS(descriptors_open(), before | 1ull << null | 1ull << fd);
		CHECK_IS(gchint_close(s), 0);
		CHECK_IS(close(fd), 0);
	}
	unlink(path);
}

/* No ring is no error, and leaves nothing behind. */
static void no_ring(void)
{
	const struct rlimit none = { 0, 0 };
	struct rlimit few, files;
	int fd;

	errno = 4711;
	fake.map_errno = ENOMEM;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_close(s), 0);
	fake.map_errno = 0;
	/* No descriptor at all, and none above standard error. */
	fd = dup(listener);
	close(fd);
	CHECK_IS(getrlimit(RLIMIT_NOFILE, &files), 0);
	few = files;
	few.rlim_cur = (rlim_t)fd;
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &few), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(close(STDIN_FILENO), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_close(s), 0);
	CHECK(fcntl(STDIN_FILENO, F_GETFD) < 0);
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &files), 0);
	CHECK_IS(dup2(fd - 1, STDIN_FILENO), STDIN_FILENO);
	/* A ring larger than a file may be. */
	CHECK_IS(setrlimit(RLIMIT_FSIZE, &none), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(dup(listener), fd);
	CHECK(!receive());
	unlink(path);
}

static void want_heap(struct gchint_stream *ring, uint32_t *at, unsigned int type, uint64_t first,
		      uint64_t second, uint64_t third)
{
	struct gchint_stream_event e = { 0 };

	CHECK(read_event(ring, at, &e));
	CHECK_IS(e.type, type);
	CHECK_IS(e.tid, getpid());
	CHECK_IS(e.work_done, first);
	CHECK_IS(e.work_total, second);
	CHECK_IS(e.stall_ns, third);
}

/* What is not set is unknown, also by callers that know less of the structure. */
static void heap_is_reported(void)
{
	struct gchint_heap h = GCHINT_HEAP_INIT, wrong = GCHINT_HEAP_INIT;
	struct gchint_stream *ring;
	uint32_t at = 0;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	ring = receive();
	want(ring, &at, GCHINT_STREAM_ATTACH, 0, 0, 0);
	h.when = GCHINT_HEAP_BEFORE;
	h.used = 0x100000001;
	h.committed = 0;
	gchint_heap(gchint_self(), &h);
	CHECK_IS(ring->event[at].time, CLOCK_NOW);
	CHECK_IS(ring->event[at].phase, GCHINT_HEAP_BEFORE);
	CHECK_IS(ring->event[at].role, GCHINT_HEAP_UNKNOWN_GENERATION);
	want_heap(ring, &at, GCHINT_STREAM_HEAP, 0x100000001, 0, UINT64_MAX);
	h = (struct gchint_heap)GCHINT_HEAP_INIT;
	h.when = GCHINT_HEAP_AFTER;
	h.time_ns = 7;
	h.limit = 1;
	h.freed = 0;
	h.generation = 2;
	gchint_heap(gchint_self(), &h);
	CHECK_IS(ring->event[at].time, 7);
	want_heap(ring, &at, GCHINT_STREAM_HEAP_MORE, UINT64_MAX, 0, 0);
	CHECK_IS(ring->event[at].time, 7);
	CHECK_IS(ring->event[at].phase, GCHINT_HEAP_AFTER);
	CHECK_IS(ring->event[at].role, 2);
	want_heap(ring, &at, GCHINT_STREAM_HEAP, UINT64_MAX, UINT64_MAX, 1);
	h.size = offsetof(struct gchint_heap, committed);
	h.used = 3;
	gchint_heap(gchint_self(), &h);
	want_heap(ring, &at, GCHINT_STREAM_HEAP, 3, UINT64_MAX, UINT64_MAX);
	wrong.when = 3;
	gchint_heap(gchint_self(), &wrong);
	CHECK_IS(ring->tail, at);
	unlink(path);
}

/* The kernel reports the phases that it sees, and the ring has what it does not. */
static void device_goes_first(void)
{
	struct gchint_heap h = GCHINT_HEAP_INIT;
	struct gchint_stream *ring;
	uint32_t at = 0;

	fake.present = 1;
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	ring = receive();
	CHECK(ring);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(ring->tail, 0);
	h.when = GCHINT_HEAP_BEFORE;
	h.used = 5;
	gchint_heap(gchint_self(), &h);
	want_heap(ring, &at, GCHINT_STREAM_HEAP, 5, UINT64_MAX, UINT64_MAX);
	if (!fork()) {
		gchint_heap(gchint_self(), &h);
		_exit(0);
	}
	wait(NULL);
	CHECK_IS(ring->tail, at);
	unlink(path);
}

static void runtime_is_named(void)
{
	struct gchint_stream *ring;
	struct gchint_session *other;

	CHECK_IS(gchint_set_runtime(NULL, "jvm"), -EINVAL);
	CHECK_IS(gchint_open(&s, 0), 0);
	ring = receive();
	CHECK_IS(ring->runtime[0], 0);
	CHECK_IS(gchint_set_runtime(s, ""), -EINVAL);
	CHECK_IS(gchint_set_runtime(s, "Java"), -EINVAL);
	CHECK_IS(gchint_set_runtime(s, "a-name-that-is-2"), -EINVAL);
	CHECK_IS(ring->runtime[0], 0);
	CHECK_IS(gchint_set_runtime(s, "a-name-that-is1"), 0);
	CHECK(!strcmp(ring->runtime, "a-name-that-is1"));
	CHECK_IS(gchint_set_runtime(s, "another"), 0);
	CHECK(!strcmp(ring->runtime, "a-name-that-is1"));
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_open(&other, 0), 0);
	ring = receive();
	CHECK(!strcmp(ring->runtime, "a-name-that-is1"));
	unlink(path);
}

static int text_write(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY), good = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return good;
}

/* For users that may make one only together with a user namespace. */
static int namespace_make(void)
{
	char uid[32], gid[32];

	snprintf(uid, sizeof(uid), "0 %d 1\n", (int)getuid());
	snprintf(gid, sizeof(gid), "0 %d 1\n", (int)getgid());
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       text_write("/proc/self/setgroups", "deny") &&
	       text_write("/proc/self/uid_map", uid) && text_write("/proc/self/gid_map", gid);
}

/* In a mount namespace of its own; returns false where none can be made. */
static int service_listen(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = GCHINT_STREAM_SERVICE };

	if ((unshare(CLONE_NEWNS) && !namespace_make()) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/run", "tmpfs", 0, NULL))
		return 0;
	CHECK_IS(mkdir("/run/gchint", 0700), 0);
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CHECK_IS(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	return 1;
}

/* What the kernel does not report reaches the service as it reaches gchintctl record. */
static void service_beside_the_device(void)
{
	struct gchint_heap h = GCHINT_HEAP_INIT;
	struct gchint_stream *ring;
	uint32_t at = 0;

	unlink(path);
	unsetenv("GCHINT_STREAM");
	fake.present = 1;
	if (!service_listen()) {
		printf("# no mount namespace can be made here\n");
		return;
	}
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	ring = receive();
	CHECK(ring);
	if (!ring)
		return;
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	h.when = GCHINT_HEAP_AFTER;
	h.used = 5;
	gchint_heap(gchint_self(), &h);
	want_heap(ring, &at, GCHINT_STREAM_HEAP, 5, UINT64_MAX, UINT64_MAX);
	CHECK_IS(ring->tail, at);
}

#define LOOPS 20000

static void *announce(void *arg)
{
	int n;

	(void)arg;
	for (n = 0; n < LOOPS; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		gchint_phase_end();
	}
	return NULL;
}

static volatile int told_in_handler;

static void in_handler(int sig)
{
	(void)sig;
	gchint_phase_begin(GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW);
	gchint_phase_end();
	told_in_handler += 2;
}

/* Each thread's events arrive complete and in order with a concurrent reader; none twice. */
static void many_writers(void)
{
	struct sigaction sa = { .sa_handler = in_handler };
	struct gchint_stream *ring;
	struct gchint_stream_event e;
	uint64_t last[512] = { 0 };
	unsigned int count = 0, bad = 0;
	pthread_t threads[4];
	uint32_t at = 0;
	int n, joined = 0;

	sigaction(SIGUSR1, &sa, NULL);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	ring = receive();
	for (n = 0; n < 4; n++)
		pthread_create(&threads[n], NULL, announce, NULL);
	for (;;) {
		while (read_event(ring, &at, &e)) {
			count++;
			bad += e.slot >= 512 || e.time < last[e.slot % 512] ||
			       (e.phase && e.phase != GCHINT_PHASE_MARK &&
				e.phase != GCHINT_PHASE_SAFEPOINT) ||
			       (e.phase == GCHINT_PHASE_MARK && e.flags != GCHINT_F_CONCURRENT);
			last[e.slot % 512] = e.time;
		}
		if (joined)
			break;
		if (n++ < 2000) {
			raise(SIGUSR1);
			continue;
		}
		for (n = 0; n < 4; n++)
			joined += pthread_join(threads[n], NULL) == 0;
	}
	CHECK_IS(bad, 0);
	CHECK(told_in_handler > 0);
	/* All that did not find the ring full is there. */
	CHECK_IS(count + ring->lost, 5 + 4 * 2 * LOOPS + (unsigned int)told_in_handler);
}

/* The parent's ring is not the child's, which has its own when it asks. */
static void forked(void)
{
	struct gchint_stream *ring;
	struct gchint_stream_event e;
	uint32_t at = 0;
	pid_t pid;
	int status;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	ring = receive();
	want(ring, &at, GCHINT_STREAM_ATTACH, 0, 0, 0);
	pid = fork();
	if (!pid) {
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
		CHECK(!read_event(ring, &at, &e));
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, 0);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	want(ring, &at, GCHINT_STREAM_PHASE, GCHINT_PHASE_SWEEP, 0, 0);
	pid = fork();
	if (!pid) {
		CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
		gchint_phase_begin(GCHINT_PHASE_COPY, 0);
		_exit(tap_bad);
	}
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, 0);
	CHECK(!read_event(ring, &at, &e));
	ring = receive();
	CHECK_IS(ring->pid, pid);
	CHECK_IS(ring->event[1].phase, GCHINT_PHASE_COPY);
	CHECK_IS(ring->event[1].tid, pid);
}

static const struct tap_test tests[] = {
	{ "the ring has all fields of each event", what_is_told },
	{ "the ring has all phases and the close", all_and_the_end },
	{ "a full ring counts losses without waiting", loss_is_counted },
	{ "a missing recorder is no error", no_recorder },
	{ "a recorder that does not receive delays opening only briefly", stuck_recorder },
	{ "the ring is sent once when the recorder receives again", ring_is_sent_later },
	{ "a descriptor that has become the program's is neither sent nor closed",
	  number_is_taken },
	{ "without memory or descriptors for a ring hints go nowhere", no_ring },
	{ "readings of the heap, unknown values and older callers included", heap_is_reported },
	{ "the device takes precedence", device_goes_first },
	{ "the service has the heap also with the device", service_beside_the_device },
	{ "the name of a runtime is checked, the first counts", runtime_is_named },
	{ "many threads and their signal handlers write one ring", many_writers },
	{ "a forked child does not write into its parent's ring", forked },
};

TAP_MAIN(tests, before)
