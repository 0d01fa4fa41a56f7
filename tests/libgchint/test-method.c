// SPDX-License-Identifier: MIT
/* The tunnel of methods, their names, and what a thread answers to a sample. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <gchint-stream.h>
#include <gchint.h>

#include "clock.h"
#include "fakedev.h"
#include "tap.h"

static char directory[] = "/tmp/gchint-method-XXXXXX";
static struct gchint_session *s;
static int listener;

/* Machines on which a recorder can read a thread's method. */
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__)
#define METHODS GCHINT_STREAM_METHODS
#else
#define METHODS 0
#endif

#define NAMES	GCHINT_STREAM_NAMES
#define ANSWERS (GCHINT_STREAM_SAMPLES | GCHINT_STREAM_TIMERS)

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void remove_folder(void)
{
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", getpid());
	unlink(path_of(name));
	unlink(path_of("s"));
	rmdir(directory);
}

static void before(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	CHECK(mkdtemp(directory) != NULL);
	atexit(remove_folder);
	umask(0);
	strcpy(a.sun_path, path_of("s"));
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CHECK_IS(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	fake_reset();
	fake.present = 0;
	setenv("GCHINT_STREAM", path_of("s"), 1);
	setenv("GCHINT_SYMBOLS", directory, 1);
	setenv("GCHINT_PROFILE", "1", 1);
}

static struct gchint_stream *receive(void)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct gchint_stream *ring;
	struct stat st;
	uint32_t n;
	int fd;

	if (recvmsg(listener, &msg, MSG_CMSG_CLOEXEC) != 1)
		return NULL;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	CHECK_IS(fstat(fd, &st), 0);
	ring = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	CHECK_IS(st.st_size,
		 sizeof(*ring) + (ring->features & NAMES ? sizeof(struct gchint_stream_names) : 0));
	/* As if other events had used the entries before. */
	for (n = ring->tail; n < GCHINT_STREAM_EVENTS; n++) {
		memset(&ring->event[n], 0xa5, sizeof(ring->event[n]));
		ring->event[n].ticket = n;
	}
	return ring;
}

static void send_signal(int code, int value)
{
	siginfo_t info;
	long tid;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGURG;
	info.si_code = code;
	info.si_value.sival_int = value;
	/* The fake device reads six arguments of any call. */
	tid = syscall(SYS_gettid, 0L, 0L, 0L, 0L, 0L, 0L);
	CHECK_IS(syscall(SYS_rt_tgsigqueueinfo, (long)getpid(), tid, (long)SIGURG, &info, 0L, 0L),
		 0);
}

/* The signal of an overflow; a process may send it to itself. */
static void overflow(int code)
{
	send_signal(code, 0);
}

/* The recorder's request for a timer. */
static void ask(int hz)
{
	send_signal(SI_QUEUE, hz);
}

/* The samples in the ring, and the last of them. */
static int samples(const struct gchint_stream *ring, struct gchint_stream_event *last)
{
	uint32_t n;
	int found = 0;

	/* The ticket says that an event is whole. */
	for (n = 0; n < ring->tail && ring->event[n].ticket == n + 1; n++)
		if (ring->event[n].type == GCHINT_STREAM_SAMPLE) {
			*last = ring->event[n];
			found++;
		}
	return found;
}

static void nests(void)
{
	uintptr_t a = gchint_method_enter(0x1000), b = gchint_method_enter(0x2000);

	CHECK_IS(a, 0);
	CHECK_IS(b, 0x1000);
	CHECK_IS(gchint_method_enter(0x3000), 0x2000);
	gchint_method_leave(0x2000);
	gchint_method_leave(b);
	CHECK_IS(__gchint_method, 0x1000);
	gchint_method_leave(a);
	CHECK_IS(__gchint_method, 0);
	CHECK_IS(fake.opens, 0);
}

static void *another(void *data)
{
	struct gchint_stream_event e = { 0 };
	struct gchint_stream *ring = data;

	CHECK_IS(gchint_method_enter(0x77), 0);
	overflow(POLL_IN);
	CHECK_IS(samples(ring, &e), 2);
	CHECK_IS(e.work_done, 0x77);
	CHECK_IS(e.phase, GCHINT_PHASE_NONE);
	CHECK_IS(e.tid, gettid());
	return NULL;
}

/* Its own method and phase; also of a thread that never hinted, and of the next on its stack. */
static void answers(void)
{
	struct gchint_stream_event e = { 0 };
	struct gchint_stream *ring;
	pthread_t thread;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	ring = receive();
	CHECK(ring);
	CHECK_IS(ring->features, NAMES | ANSWERS | METHODS);
	CHECK_IS(gchint_is_profiled(), 1);
	gchint_method_enter(0x4000);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	errno = 99;
	overflow(POLL_IN);
	CHECK_IS(errno, 99);
	CHECK_IS(samples(ring, &e), 1);
	CHECK_IS(e.work_done, 0x4000);
	CHECK_IS(e.phase, GCHINT_PHASE_MARK);
	CHECK_IS(e.flags, GCHINT_F_STW);
	CHECK_IS(e.slot, 0);
	CHECK_IS(e.cause, 0);
	CHECK_IS(e.role, 0);
	CHECK_IS(e.work_total, 0);
	CHECK_IS(e.stall_ns, 0);
	CHECK_IS(e.time, CLOCK_NOW);
	CHECK_IS(e.tid, getpid());
	CHECK(e.cpu < 8192);
	CHECK_IS(pthread_create(&thread, NULL, another, ring), 0);
	pthread_join(thread, NULL);
	/* Urgent data on a socket of the program's is none of ours. */
	overflow(SI_KERNEL);
	CHECK_IS(samples(ring, &e), 2);
}

/* CPU time of the process, whose clock_gettime() is the test's. */
static __attribute__((noinline)) void spin(int ms)
{
	const clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);
	volatile unsigned int n;

	do
		for (n = 0; n < 10000; n++)
			;
	while (clock() < end);
}

/* Timers that the kernel has of this process; -1 if it does not tell. */
static int timers(void)
{
	FILE *f = fopen("/proc/self/timers", "re");
	char line[256];
	int found = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		found += !strncmp(line, "ID:", 3);
	fclose(f);
	return found;
}

static void *asked_once(void *data)
{
	(void)data;
	ask(100);
	return NULL;
}

/* Where no perf event is allowed: by its own CPU time, until it is told to stop. */
static void by_timer(void)
{
	struct gchint_stream_event e = { 0 };
	const int told = timers();
	struct gchint_stream *ring;
	int tries, n;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	ring = receive();
	gchint_method_enter(0x4000);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	errno = 99;
	ask(1000);
	CHECK_IS(errno, 99);
	for (tries = 0; samples(ring, &e) < 3 && tries < 1000; tries++)
		spin(10);
	CHECK(samples(ring, &e) >= 3);
	CHECK_IS(e.work_done, 0x4000);
	CHECK_IS(e.phase, GCHINT_PHASE_MARK);
	CHECK_IS(e.flags, GCHINT_F_STW);
	CHECK_IS(e.tid, getpid());
#if defined(__x86_64__) || defined(__aarch64__) || defined(__arm__)
	CHECK(e.work_total > 0);
#endif
	CHECK_IS(timers(), told < 0 ? told : 1);
	/* Again is not twice. */
	ask(500);
	CHECK_IS(timers(), told < 0 ? told : 1);
	ask(0);
	CHECK_IS(timers(), told);
	n = samples(ring, &e);
	spin(50);
	CHECK_IS(samples(ring, &e), n);
	/* A timer that is still there when the session ends removes itself. */
	CHECK_IS(gchint_open(&s, 0), 0);
	ask(1000);
	gchint_close(s);
	gchint_close(s);
	for (tries = 0; timers() > 0 && tries < 1000; tries++)
		spin(10);
	CHECK_IS(timers(), told);
	/* So does one that is asked for afterwards. */
	ask(1000);
	for (tries = 0; timers() > 0 && tries < 1000; tries++)
		spin(10);
	CHECK_IS(timers(), told);
}

ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);

/* What a recorder does when it has received the ring, while the sender is not running. */
static void (*received)(void);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	const ssize_t ret = __real_sendmsg(fd, msg, flags);

	if (received)
		received();
	return ret;
}

static volatile sig_atomic_t expired;

static void count_expiry(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	expired += info->si_code == SI_TIMER;
}

/* Asks for a timer, and returns when it has expired at least three times. */
static void ask_before_open(void)
{
	struct sigaction watched = { .sa_sigaction = count_expiry, .sa_flags = SA_SIGINFO };
	struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigevent to = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t clock;

	ask(1000);
	/* A timer of the same clock and period, started later, expires later. */
	CHECK_IS(sigaction(SIGUSR1, &watched, NULL), 0);
	CHECK_IS(timer_create(CLOCK_THREAD_CPUTIME_ID, &to, &clock), 0);
	CHECK_IS(timer_settime(clock, 0, &every, NULL), 0);
	while (expired < 3)
		;
	CHECK_IS(timer_delete(clock), 0);
}

/* A recorder that has the ring may ask long before the session is known to be open. */
static void asked_early(void)
{
	const int told = timers();
	struct gchint_stream_event e;
	struct gchint_stream *ring;
	sigset_t samples_blocked;
	int tries;

	received = ask_before_open;
	CHECK_IS(gchint_open(&s, 0), 0);
	received = NULL;
	CHECK(expired >= 3);
	/* receive() fills entries that the handler would take. */
	sigemptyset(&samples_blocked);
	sigaddset(&samples_blocked, SIGURG);
	CHECK_IS(sigprocmask(SIG_BLOCK, &samples_blocked, NULL), 0);
	ring = receive();
	CHECK_IS(sigprocmask(SIG_UNBLOCK, &samples_blocked, NULL), 0);
	CHECK_IS(timers(), told < 0 ? told : 1);
	for (tries = 0; samples(ring, &e) < 3 && tries < 1000; tries++)
		spin(10);
	CHECK(samples(ring, &e) >= 3);
	/* It ends with the session. */
	gchint_close(s);
	for (tries = 0; timers() > 0 && tries < 1000; tries++)
		spin(10);
	CHECK_IS(timers(), told);
}

/* The kernel keeps the timers of threads that ended. */
static void few_timers(void)
{
	pthread_t thread;
	pid_t child;
	int n, status;

	if (timers() < 0)
		tap_skip("the kernel does not list timers");
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_STREAM);
	for (n = 0; n < 1500; n++) {
		CHECK_IS(pthread_create(&thread, NULL, asked_once, NULL), 0);
		pthread_join(thread, NULL);
	}
	CHECK(timers() > 0);
	CHECK(timers() <= 1024);
	/* A child has none of them, and removes none of its own by their numbers. */
	child = fork();
	if (!child) {
		struct sigevent none = { .sigev_notify = SIGEV_NONE };
		timer_t own;

		timer_create(CLOCK_MONOTONIC, &none, &own);
		gchint_init(0);
		ask(100);
		ask(0);
		_exit(timers() == 1 ? 0 : 1);
	}
	CHECK_IS(waitpid(child, &status, 0), child);
	CHECK_IS(status, 0);
}

/* Full: losses are counted without waiting. Closed: there is no ring to write to. */
static void never_waits(void)
{
	struct gchint_stream_event e;
	struct gchint_stream *ring;
	int n;

	CHECK_IS(gchint_open(&s, 0), 0);
	ring = receive();
	for (n = 0; n < GCHINT_STREAM_EVENTS + 5; n++)
		overflow(POLL_IN);
	CHECK_IS(ring->lost, 5);
	CHECK_IS(samples(ring, &e), GCHINT_STREAM_EVENTS);
	gchint_close(s);
	CHECK_IS(gchint_is_profiled(), 0);
	n = (int)ring->lost;
	overflow(POLL_IN);
	CHECK_IS(ring->lost, n);
	/* The handler that is there already is its own. */
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_is_profiled(), 1);
	ring = receive();
	CHECK_IS(ring->features, NAMES | ANSWERS | METHODS);
	overflow(POLL_IN);
	CHECK_IS(samples(ring, &e), 1);
}

static void not_asked(void)
{
	struct gchint_stream *ring;

	unsetenv("GCHINT_PROFILE");
	CHECK_IS(gchint_open(&s, 0), 0);
	ring = receive();
	CHECK_IS(ring->features, 0);
	CHECK_IS(gchint_is_profiled(), 0);
	overflow(POLL_IN);
	CHECK_IS(ring->tail, 0);
	setenv("GCHINT_PROFILE", "3", 1);
	gchint_close(s);
	CHECK_IS(gchint_open(&s, 0), -EINVAL);
}

/* For adapters; it is sampled as it is otherwise. */
static void names_at_calls(void)
{
	struct gchint_stream *ring;

	setenv("GCHINT_PROFILE", "2", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	ring = receive();
	CHECK_IS(ring->features, ANSWERS | METHODS);
	CHECK_IS(gchint_is_profiled(), 2);
	gchint_close(s);
	CHECK_IS(gchint_is_profiled(), 0);
}

static int taken;

static void on_urgent(int number)
{
	taken = number;
}

static void on_urgent_with_more(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	taken = number;
}

static void the_programs_signal(void)
{
	const struct sigaction more = { .sa_sigaction = on_urgent_with_more,
					.sa_flags = SA_SIGINFO };
	struct gchint_stream *ring;
	int n;

	for (n = 0; n < 2; n++) {
		taken = 0;
		if (!n)
			signal(SIGURG, on_urgent);
		else
			sigaction(SIGURG, &more, NULL);
		CHECK_IS(gchint_open(&s, 0), 0);
		ring = receive();
		CHECK_IS(ring->features, NAMES | METHODS);
		CHECK_IS(gchint_is_profiled(), METHODS != 0);
		overflow(POLL_IN);
		CHECK_IS(taken, SIGURG);
		CHECK_IS(ring->tail, 0);
		CHECK_IS(gchint_close(s), 0);
	}
}

/* A signal that the program ignores may be handled: its default action is to be ignored. */
static void an_ignored_signal(void)
{
	signal(SIGURG, SIG_IGN);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_is_profiled(), 1);
}

/* The module reports phases itself; samples come through memory nevertheless. */
static void beside_the_device(void)
{
	struct gchint_stream_event e = { 0 };
	struct gchint_stream *ring;

	fake.present = 1;
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	ring = receive();
	CHECK(ring);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	gchint_method_enter(5);
	overflow(POLL_IN);
	CHECK_IS(samples(ring, &e), 1);
	CHECK_IS(ring->tail, METHODS ? 2 : 1);
	CHECK_IS(e.phase, GCHINT_PHASE_SWEEP);
	CHECK_IS(e.work_done, 5);
}

/* The last event about the thread's word. */
static const struct gchint_stream_event *last_word(const struct gchint_stream *ring, pid_t tid)
{
	const struct gchint_stream_event *found = NULL;

	for (uint32_t n = 0; n < ring->tail; n++)
		if (ring->event[n].type == GCHINT_STREAM_WORD && ring->event[n].tid == tid)
			found = &ring->event[n];
	return found;
}

static int pointed(uint64_t address)
{
	return *(const volatile int *)(uintptr_t)address;
}

struct looked_into {
	struct gchint_stream *ring;
	const char *pointer;
	pid_t tid;
	pthread_barrier_t step;
};

static void *is_looked_into(void *data)
{
	struct looked_into *l = data;

	gchint_method_enter(0x99);
	l->tid = gettid();
	l->pointer = __builtin_thread_pointer();
	pthread_barrier_wait(&l->step);
	pthread_barrier_wait(&l->step);
	return NULL;
}

/* Method and phase of a thread are at the addresses in the ring, as long as they are valid. */
static void look_from_outside(void)
{
	const struct gchint_stream_event *word;
	struct gchint_thread *handle;
	struct looked_into l;
	pthread_t thread;
	int *owner;

	CHECK_IS(gchint_open(&s, 0), 0);
	l.ring = receive();
	if (!METHODS)
		return;
	pthread_barrier_init(&l.step, NULL, 2);
	CHECK_IS(pthread_create(&thread, NULL, is_looked_into, &l), 0);
	pthread_barrier_wait(&l.step);
	CHECK_IS(*(const uint64_t *)(l.pointer + l.ring->method), 0x99);
	CHECK(!last_word(l.ring, l.tid));
	CHECK_IS(gchint_attach(s, l.tid, GCHINT_ROLE_NONE, NULL, &handle), 0);
	word = last_word(l.ring, l.tid);
	CHECK(word && word->work_done && word->work_total);
	gchint_begin(handle, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
	CHECK_IS(pointed(word->work_done) & 0xff, GCHINT_PHASE_SWEEP);
	CHECK_IS(pointed(word->work_done) >> GCHINT_STATE_FLAGS_SHIFT & 0xff, GCHINT_F_STW);
	owner = (int *)(uintptr_t)word->work_total;
	CHECK_IS(*owner, l.tid);
	gchint_detach(handle);
	CHECK(*owner != l.tid);
	CHECK_IS(last_word(l.ring, l.tid)->work_done, 0);
	pthread_barrier_wait(&l.step);
	pthread_join(thread, NULL);
}

/* The process's file; "" if there is none. */
static const char *map_text(void)
{
	static char text[4096], name[64];
	ssize_t n = 0;
	int fd;

	snprintf(name, sizeof(name), "perf-%d.map", getpid());
	fd = open(path_of(name), O_RDONLY);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Before the first name: the range cannot be mapped, and can later. */
static void no_room_for_names(void)
{
	fake.map_errno = ENOMEM;
	errno = EDOM;
	CHECK_IS(gchint_symbol_add(0, 0, "nowhere"), 0);
	CHECK_IS(errno, EDOM);
	fake.map_errno = 0;
}

static void names(void)
{
	uintptr_t one = gchint_symbol_add(0, 0, "fib (fib.lua:3)");
	uintptr_t two = gchint_symbol_add(0, 7, "two\nlines\x1b");
	char want[256], long_name[1000];
	unsigned long long when;
	const char *text;
	struct stat st;
	int at = 0;

	CHECK(one);
	CHECK_IS(two, one + 1);
	/* Addresses of code are private to the user. */
	snprintf(want, sizeof(want), "perf-%d.map", getpid());
	CHECK_IS(stat(path_of(want), &st), 0);
	CHECK_IS(st.st_mode & 07777, 0600);
	snprintf(want, sizeof(want), "%" PRIxPTR " 1 fib (fib.lua:3)\n%" PRIxPTR " 1 two?lines?\n",
		 one, two);
	CHECK(!strcmp(map_text(), want));
	/* Code of its own has an instant before it. */
	CHECK_IS(gchint_symbol_add(0x1000, 0x20, "jit"), 0x1000);
	gchint_symbol_remove(0x1000, 0x20);
	text = map_text() + strlen(want);
	CHECK_IS(sscanf(text, "0 0 @%llu\n1000 20 jit\n%n", &when, &at), 1);
	CHECK(at > 0);
	CHECK_IS(when, CLOCK_NOW);
	CHECK_IS(sscanf(text + at, "0 0 @%llu\n", &when), 1);
	CHECK(strstr(text + at, "1000 20 [unloaded]\n") != NULL);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	at = (int)strlen(map_text());
	CHECK(gchint_symbol_add(0, 0, long_name) == two + 1);
	/* As much of it as fits. */
	snprintf(want, sizeof(want), "%" PRIxPTR " 1 x", two + 1);
	CHECK(!strncmp(map_text() + at, want, strlen(want)));
	CHECK_IS(strlen(map_text() + at), strlen(want) - 1 + 400 + 1);
	CHECK(map_text()[strlen(map_text()) - 1] == '\n');
	CHECK(gchint_symbol_add(0, 0, "") == two + 2);
	CHECK(strstr(map_text(), " 1 ?\n") != NULL);
}

/* The range is one that nothing can be in; it ends. */
static void a_range_of_its_own(void)
{
	uintptr_t first, last = 0, next;
	unsigned int n = 1;
	char vec;

	unsetenv("GCHINT_SYMBOLS");
	first = gchint_symbol_add(0, 0, "a");
	CHECK(first);
	CHECK_IS(mincore((void *)(first & ~4095ul), 4096, (void *)&vec), 0);
	while ((next = gchint_symbol_add(0, 0, "a"))) {
		last = next;
		n++;
	}
	CHECK_IS(n, 1 << 20);
	CHECK_IS(last - first, (1 << 20) - 1);
	CHECK_IS(gchint_symbol_add(0x10, 1, "b"), 0x10);
	CHECK(!*map_text());
}

/* The code and the range of the parent are the child's as well. */
static void forked_names(void)
{
	struct gchint_session *session;
	uintptr_t mine;
	char want[64];
	int status = 0;
	pid_t child;

	/* Without a recorder. */
	unsetenv("GCHINT_STREAM");
	CHECK_IS(gchint_open(&session, 0), 0);
	mine = gchint_symbol_add(0, 0, "of the parent");
	snprintf(want, sizeof(want), "%" PRIxPTR " 1 of the parent\n", mine);
	child = fork();
	if (!child) {
		int good = !*map_text();

		errno = EDOM;
		good &= gchint_open(&session, 0) == 0 && errno == EDOM;
		good &= !strcmp(map_text(), want);
		good &= gchint_symbol_add(0, 0, "of the child") == mine + 1;
		good &= strstr(map_text(), " 1 of the child\n") != NULL;
		_exit(good ? 0 : 1);
	}
	CHECK_IS(waitpid(child, &status, 0), child);
	CHECK_IS(status, 0);
	CHECK(!strcmp(map_text(), want));
	snprintf(want, sizeof(want), "perf-%d.map", child);
	CHECK_IS(unlink(path_of(want)), 0);
	gchint_close(session);
}

static struct gchint_stream_names *names_of(struct gchint_stream *ring)
{
	return (void *)(ring + 1);
}

/* Lines go to a recorder, whatever the user is by then; what does not fit goes to the file. */
static void names_in_the_ring(void)
{
	struct gchint_stream_names *received;
	struct gchint_stream *ring;
	uintptr_t one, two;
	char want[256];
	size_t length;

	one = gchint_symbol_add(0, 0, "early");
	snprintf(want, sizeof(want), "%" PRIxPTR " 1 early\n", one);
	CHECK(!strcmp(map_text(), want));
	CHECK_IS(gchint_open(&s, 0), 0);
	ring = receive();
	received = names_of(ring);
	CHECK_IS(received->tail, 0);
	CHECK_IS(gchint_symbol_add(0x1000, 0x20, "jit"), 0x1000);
	two = gchint_symbol_add(0, 0, "two\nlines");
	CHECK(!strcmp(map_text(), want));
	length = (size_t)snprintf(want, sizeof(want),
				  "0 0 @%llu\n1000 20 jit\n%" PRIxPTR " 1 two?lines\n",
				  (unsigned long long)CLOCK_NOW, two);
	CHECK(!strcmp(received->text, want));
	CHECK_IS(received->tail, length);
	/* Room for one byte less than the line, and for the line. */
	length = (size_t)snprintf(want, sizeof(want), "%" PRIxPTR " 1 last\n", two + 1);
	received->tail = sizeof(received->text) - (uint32_t)length + 1;
	CHECK_IS(gchint_symbol_add(0, 0, "last"), two + 1);
	CHECK_IS(received->tail, sizeof(received->text) - length + 1);
	CHECK(strstr(map_text(), want) != NULL);
	received->tail--;
	CHECK_IS(gchint_symbol_add(0, 0, "last"), two + 2);
	CHECK_IS(received->tail, sizeof(received->text));
	CHECK(!memcmp(received->text + sizeof(received->text) - 5, "last\n", 5));
	CHECK_IS(gchint_symbol_add(0, 0, "over"), two + 3);
	CHECK(strstr(map_text(), " 1 over\n") != NULL);
	CHECK_IS(gchint_close(s), 0);
	gchint_symbol_add(0, 0, "closed");
	CHECK(strstr(map_text(), " 1 closed\n") != NULL);
}

/* A forked child sends its parent's finished lines before its own. */
static void forked_ring(void)
{
	struct gchint_stream *ring;
	int status = 0;
	pid_t child;

	unsetenv("GCHINT_SYMBOLS");
	CHECK_IS(gchint_open(&s, 0), 0);
	ring = receive();
	gchint_symbol_add(0x1000, 1, "of the parent");
	/* Two that threads of the parent have begun, a line between them. */
	names_of(ring)->tail += 20;
	gchint_symbol_add(0x2000, 1, "after it");
	memset(names_of(ring)->text + names_of(ring)->tail, 'x', 5);
	names_of(ring)->tail += 20;
	child = fork();
	if (!child) {
		const char *text;
		char want[200];
		int good;

		gchint_symbol_add(0x3000, 1, "of the child, early");
		good = gchint_open(&s, 0) == 0;
		ring = receive();
		good &= ring->pid == getpid();
		gchint_symbol_add(0x4000, 1, "of the child");
		text = names_of(ring)->text;
		snprintf(want, sizeof(want),
			 "0 0 @%1$llu\n1000 1 of the parent\n0 0 @%1$llu\n2000 1 after it\n"
			 "0 0 @%1$llu\n4000 1 of the child\n",
			 (unsigned long long)CLOCK_NOW);
		if (strcmp(text, want))
			printf("# the child has: %s", text);
		good &= !strcmp(text, want);
		_exit(good ? 0 : 1);
	}
	CHECK_IS(waitpid(child, &status, 0), child);
	CHECK_IS(status, 0);
	CHECK(!memmem(names_of(ring)->text, sizeof(names_of(ring)->text), "child", 5));
	gchint_close(s);
}

/* No names in a ring that would be larger than a file may be, and no signal. */
static void limited_names(void)
{
	const struct rlimit limit = { sizeof(struct gchint_stream) + 1000, RLIM_INFINITY };
	struct gchint_stream *ring;

	CHECK_IS(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	ring = receive();
	CHECK_IS(ring->features, ANSWERS | METHODS);
	gchint_symbol_add(0, 0, "a");
	CHECK(strstr(map_text(), " 1 a\n") != NULL);
	CHECK_IS(gchint_close(s), 0);
}

/* The longest path that fits, and one byte more. */
static void long_folder(void)
{
	char deep[1000], name[64];
	const size_t rest = (size_t)snprintf(name, sizeof(name), "/perf-%d.map", getpid());

	memset(deep, '/', sizeof(deep));
	memcpy(deep, directory, strlen(directory));
	deep[528 - rest] = '\0';
	setenv("GCHINT_SYMBOLS", deep, 1);
	CHECK(gchint_symbol_add(0, 0, "a") != 0);
	CHECK(!*map_text());
	deep[527 - rest] = '\0';
	setenv("GCHINT_SYMBOLS", deep, 1);
	CHECK(gchint_symbol_add(0, 0, "a") != 0);
	CHECK(strstr(map_text(), " 1 a\n") != NULL);
}

/* A world-writable directory: another user's link or pipe is not written to. */
static void hostile_files(void)
{
	char name[64], target[160], deep[1000];
	const int next = dup(listener);
	struct stat st;
	int fd;

	close(next);
	snprintf(name, sizeof(name), "perf-%d.map", getpid());
	snprintf(target, sizeof(target), "%s/target", directory);
	CHECK_IS(symlink(target, path_of(name)), 0);
	CHECK(gchint_symbol_add(0, 0, "a") != 0);
	CHECK_IS(stat(target, &st), -1);
	unlink(path_of(name));
	CHECK_IS(mkfifo(path_of(name), 0600), 0);
	CHECK(gchint_symbol_add(0, 0, "b") != 0);
	/* A FIFO with a reader, and another user's file, could be written to. */
	fd = open(path_of(name), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(gchint_symbol_add(0, 0, "b") != 0);
	CHECK(read(fd, target, sizeof(target)) <= 0);
	close(fd);
	unlink(path_of(name));
	if (!geteuid()) {
		fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		CHECK_IS(fchown(fd, 1, 1), 0);
		CHECK(gchint_symbol_add(0, 0, "b") != 0);
		CHECK(!*map_text());
		CHECK_IS(close(fd), 0);
		unlink(path_of(name));
	}
	/* None of them is left open. */
	CHECK_IS(dup(listener), next);
	setenv("GCHINT_SYMBOLS", "/nowhere/at/all", 1);
	CHECK(gchint_symbol_add(0, 0, "c") != 0);
	errno = EDOM;
	gchint_symbol_remove(0x1000, 1);
	CHECK_IS(errno, EDOM);
	memset(deep, '/', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	setenv("GCHINT_SYMBOLS", deep, 1);
	CHECK(gchint_symbol_add(0, 0, "d") != 0);
}

static const struct tap_test tests[] = {
	{ "methods nest, with one store each way", nests },
	{ "a thread answers with its own method and phase", answers },
	{ "an answer never waits", never_waits },
	{ "a thread samples itself by its CPU time", by_timer },
	{ "a request for a timer may come before the session is open", asked_early },
	{ "threads that ended leave few timers", few_timers },
	{ "without GCHINT_PROFILE the signal is not taken", not_asked },
	{ "GCHINT_PROFILE=2 is reported", names_at_calls },
	{ "a program's own signal handler stays", the_programs_signal },
	{ "an ignored signal is taken", an_ignored_signal },
	{ "samples are answered with the device in use", beside_the_device },
	{ "a recorder can read method and phase by address", look_from_outside },
	{ "without address space a method gets no address", no_room_for_names },
	{ "names go to a file that perf reads", names },
	{ "a forked child has its parent's names", forked_names },
	{ "names go to the recorder, and to the file what it cannot take", names_in_the_ring },
	{ "a forked child sends its parent's names", forked_ring },
	{ "a limit on the size of files leaves the names to the file", limited_names },
	{ "interpreted methods have a range of their own", a_range_of_its_own },
	{ "the path of the names may be up to 527 bytes", long_folder },
	{ "files of other users, links and FIFOs are not written", hostile_files },
};

TAP_MAIN(tests, before)
