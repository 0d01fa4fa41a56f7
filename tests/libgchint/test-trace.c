// SPDX-License-Identifier: MIT
/* GCHINT_TRACE: what is in the file, from threads and children at once. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <gchint.h>

#include "clock.h"
#include "fakedev.h"
#include "state.h"
#include "tap.h"

static char path[] = "/tmp/gchint-trace-XXXXXX";
static char text[1 << 22];

static void before(void)
{
	int fd = mkstemp(path);

	close(fd);
	fake_reset();
	fake.present = 0;
	setenv("GCHINT_TRACE", path, 1);
	setenv("GCHINT_MIN_US", "0", 1);
}

/* The file's lines without the time. */
static void load(void)
{
	unsigned long long now;
	char line[1024], *rest;
	size_t length = 0;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		now = strtoull(line, &rest, 10);
		CHECK(now == CLOCK_NOW && *rest == ' ');
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", rest + 1);
	}
	CHECK(f);
	fclose(f);
}

static void want(const char *expected)
{
	load();
	if (strcmp(text, expected) != 0) {
		printf("# trace is:\n%s# and should be:\n%s", text, expected);
		tap_bad = 1;
	}
	unlink(path);
}

static const char *all_of_it(const char *backend, const char *slot)
{
	static char expected[4096];
	char id[32];

	snprintf(id, sizeof(id), "%d %d", getpid(), getpid());
	snprintf(
		expected, sizeof(expected),
		"%s open backend=%s\n"
		"%s attach role=none%s\n"
		"%s begin mark concurrent cause=explicit done=1 total=2 stall=3 method=0xdeadbeef\n"
		"%s progress mark concurrent done=18446744073709551615 total=2\n"
		"%s begin refs stw,urgent\n"
		"%s end refs stw,urgent in=mark\n"
		"%s cause mark concurrent cause=threshold\n"
		"%s method mark concurrent method=0x10\n"
		"%s heap when=before used=1 limit=18446744073709551614\n"
		"%s heap when=after at=9 committed=0 allocated=3 freed=0 generation=2\n"
		"%s end mark concurrent\n"
		"%s end - -\n"
		"%s begin ? foreground\n"
		"%s abandon ? foreground\n"
		"%s role role=background%s\n"
		"%s detach\n"
		"%s close backend=%s\n",
		id, backend, id, slot, id, id, id, id, id, id, id, id, id, id, id, id, id, slot, id,
		id, backend);
	return expected;
}

static void hint_all(void)
{
	struct gchint_detail d = { .size = sizeof(d),
				   .cause = GCHINT_CAUSE_EXPLICIT,
				   .work_done = 1,
				   .work_total = 2,
				   .stall_ns = 3,
				   .method = 0xdeadbeef };
	struct gchint_heap h = GCHINT_HEAP_INIT;
	struct gchint_session *s;

	gchint_open(&s, 0);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_progress(gchint_self(), UINT64_MAX, 2, 0);
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_STW | GCHINT_F_URGENT);
	gchint_phase_end();
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_THRESHOLD);
	gchint_set_method(gchint_self(), 16);
	h.when = GCHINT_HEAP_BEFORE;
	h.used = 1;
	h.limit = GCHINT_HEAP_UNKNOWN - 1;
	gchint_heap(gchint_self(), &h);
	h = (struct gchint_heap)GCHINT_HEAP_INIT;
	h.when = GCHINT_HEAP_AFTER;
	h.time_ns = 9;
	h.committed = 0;
	h.allocated = 3;
	h.freed = 0;
	h.generation = 2;
	gchint_heap(gchint_self(), &h);
	gchint_phase_end();
	gchint_phase_end();
	gchint_phase_begin(200, GCHINT_F_FOREGROUND);
	gchint_abandon(gchint_self());
	gchint_set_role(gchint_self(), GCHINT_ROLE_BACKGROUND, NULL);
	gchint_detach(gchint_self());
	gchint_close(s);
}

/* A file that was not there is as the user wants his files. */
static void without_device(void)
{
	struct stat st;

	unlink(path);
	umask(0);
	hint_all();
	CHECK_IS(stat(path, &st), 0);
	CHECK_IS(st.st_mode & 07777, 0666);
	want(all_of_it("trace", ""));
}

static void with_device(void)
{
	fake.present = 1;
	hint_all();
	CHECK_IS(fake.attaches, 1);
	want(all_of_it("device", " slot=0"));
}

/* Followers; and leases are refused as by the device. */
static void leaders(void)
{
	struct gchint_thread *t;
	struct gchint_session *s;
	char expected[512];

	gchint_open(&s, 0);
	CHECK_IS(gchint_attach(s, 1, GCHINT_ROLE_NONE, NULL, &t), -ESRCH);
	CHECK_IS(gchint_attach(s, -1, GCHINT_ROLE_NONE, NULL, &t), -ESRCH);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_STW, NULL, &t), 0);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_NONE, NULL, NULL), -EBUSY);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_FOLLOW, t), 0);
	snprintf(
		expected, sizeof(expected),
		"%d %d open backend=trace\n%d %d attach role=stw\n%d %d role role=follow lead=%d\n",
		getpid(), getpid(), getpid(), getpid(), getpid(), getpid(), getpid());
	want(expected);
}

static void disabled(void)
{
	struct gchint_session *s;

	setenv("GCHINT_DISABLE", "1", 1);
	gchint_open(&s, 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	want("");
}

static void short_and_ring(void)
{
	char expected[512], id[32];

	fake.present = 1;
	fake_info()->doorbell_begin = ~0u;
	unsetenv("GCHINT_MIN_US");
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	gchint_expect(NULL, 0, 0, 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_URGENT);
	gchint_phase_end();
	fake_info()->min_phase_us = 1000000;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	snprintf(id, sizeof(id), "%d %d", getpid(), getpid());
	snprintf(expected, sizeof(expected),
		 "%s open backend=device\n%s attach role=none slot=0\n"
		 "%s begin mark urgent ring\n%s end mark urgent\n"
		 "%s begin mark - ring\n%s end mark -\n"
		 "%s begin mark - short\n%s end mark - short\n",
		 id, id, id, id, id, id, id, id);
	want(expected);
}

#define LOOPS 300

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

static int count(const char *what)
{
	const char *p;
	int n = 0;

	for (p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

/* One write a line: no line is torn or lost, whichever thread wrote it. */
static void many_writers(void)
{
	char line[64], *p, *end;
	pthread_t threads[4];
	int n, status, bad = 0, pid, tid;
	pid_t child;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	child = fork();
	if (!child) {
		gchint_init(0);
		announce(NULL);
		_exit(0);
	}
	for (n = 0; n < 4; n++)
		pthread_create(&threads[n], NULL, announce, NULL);
	for (n = 0; n < 4; n++)
		pthread_join(threads[n], NULL);
	waitpid(child, &status, 0);

	FILE *f = fopen(path, "re");
	size_t length = fread(text, 1, sizeof(text) - 1, f);

	fclose(f);
	text[length] = '\0';
	CHECK_IS(count(" begin mark concurrent\n"), 5 * LOOPS);
	CHECK_IS(count(" end mark concurrent\n"), 5 * LOOPS);
	CHECK_IS(count("\n"), 10 * LOOPS + 2 + 6); /* opens and attaches */
	for (p = text; (end = strchr(p, '\n')); p = end + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)(end - p), p);
		bad += sscanf(line, "%*u %d %d %*s", &pid, &tid) != 2 ||
		       (pid != getpid() && pid != child) || (pid == child && tid != child);
	}
	CHECK_IS(bad, 0);
	unlink(path);
}

static void mark_once(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
}

static int descriptors(void)
{
	int fd, open = 0;

	for (fd = 0; fd < 64; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

/* One descriptor while it is open, none afterwards; a child that opens has only its own. */
static void closed_with_the_session(void)
{
	const int before_open = descriptors();
	struct gchint_session *s;
	pid_t child;
	int n, status;

	for (n = 0; n < 2; n++) {
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(descriptors(), before_open + 1);
		mark_once();
		CHECK_IS(gchint_close(s), 0);
		CHECK_IS(descriptors(), before_open);
	}
	CHECK_IS(gchint_open(&s, 0), 0);
	child = fork();
	if (!child) {
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(descriptors(), before_open + 1);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK_IS(waitpid(child, &status, 0), child);
	CHECK_IS(status, 0);
	CHECK_IS(gchint_close(s), 0);
	setenv("GCHINT_TRACE", "/nonexistent/trace", 1);
	CHECK_IS(gchint_open(&s, 0), -ENOENT);
	CHECK_IS(descriptors(), before_open);
	unlink(path);
}

static void child_without_init(void)
{
	pid_t child;
	int status;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	child = fork();
	if (!child) {
		announce(NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	load();
	CHECK_IS(count("begin"), 0);
	unlink(path);
}

/* The program closed our descriptor and opened a file of its own. */
static void not_into_another_file(void)
{
	char other[] = "/tmp/gchint-other-XXXXXX";
	struct stat st;
	int fd, low;

	low = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(low);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	fd = mkstemp(other);
	CHECK(dup2(fd, low > 2 ? low : 3) >= 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fstat(fd, &st), 0);
	CHECK_IS(st.st_size, 0);
	load();
	CHECK_IS(count("begin"), 0);
	unlink(other);
	unlink(path);
}

static char fifo[] = "/tmp/gchint-fifo-XXXXXX";

static void make_fifo(void)
{
	int fd = mkstemp(fifo);

	unlink(path);
	close(fd);
	unlink(fifo);
	CHECK_IS(mkfifo(fifo, 0600), 0);
	setenv("GCHINT_TRACE", fifo, 1);
}

/* Opening must not wait for a reader. */
static void fifo_without_reader(void)
{
	make_fifo();
	CHECK_IS(gchint_init(0), -ENXIO);
	unlink(fifo);
}

/* No SIGPIPE, and a program's own that is pending stays pending. */
static void fifo_reader_goes(void)
{
	sigset_t set;
	int fd;

	make_fifo();
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	mark_once();
	CHECK(read(fd, text, sizeof(text)) > 0);
	close(fd);
	errno = 4711;
	mark_once();
	CHECK_IS(errno, 4711);
	sigpending(&set);
	CHECK(!sigismember(&set, SIGPIPE));
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	CHECK(!sigismember(&set, SIGPIPE));
	/* Without a reader nothing is written any more, also not to a later reader. */
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	mark_once();
	CHECK(read(fd, text, sizeof(text)) <= 0);
	unlink(fifo);
}

static void pending_signal_stays(void)
{
	sigset_t set;
	int fd;

	make_fifo();
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_kill(pthread_self(), SIGPIPE);
	CHECK(read(fd, text, sizeof(text)) > 0);
	close(fd);
	mark_once();
	sigpending(&set);
	CHECK(sigismember(&set, SIGPIPE));
	/* The missing reader was noticed nevertheless. */
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	mark_once();
	CHECK(read(fd, text, sizeof(text)) <= 0);
	unlink(fifo);
}

/* A full pipe delays no thread; lost lines are reported once it has space. */
static void fifo_is_full(void)
{
	static char rest[1 << 20];
	unsigned long lost = 0;
	ssize_t length;
	size_t all = 0;
	int fd, n;
	char *p;

	make_fifo();
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	for (n = 0; n < 5000; n++)
		mark_once();
	do {
		length = read(fd, rest + all, sizeof(rest) - 1 - all);
		all += length > 0 ? (size_t)length : 0;
	} while (length > 0);
	mark_once();
	length = read(fd, rest + all, sizeof(rest) - 1 - all);
	CHECK(length > 0);
	rest[all + (size_t)length] = '\0';
	p = strstr(rest, " lost lines=");
	CHECK(p);
	if (p)
		sscanf(p, " lost lines=%lu", &lost);
	CHECK(lost > 0);
	for (n = 0, p = rest; (p = strstr(p, " mark -")); p++)
		n++;
	CHECK_IS(n + lost, 10002);
	unlink(fifo);
}

/* Lines that one reader missed are not reported to the next. */
static void loss_is_the_files_own(void)
{
	struct gchint_session *s;
	int fd, n;

	make_fifo();
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK_IS(gchint_open(&s, 0), 0);
	for (n = 0; n < 5000; n++)
		mark_once();
	CHECK_IS(gchint_close(s), 0);
	setenv("GCHINT_TRACE", path, 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	mark_once();
	CHECK_IS(gchint_close(s), 0);
	load();
	CHECK_IS(count("begin"), 1);
	CHECK_IS(count("lost"), 0);
	close(fd);
	unlink(fifo);
	unlink(path);
}

/* A file as large as the program may make it: no SIGXFSZ. */
static void file_at_its_limit(void)
{
	const struct rlimit limit = { 2000, 2000 };
	struct stat st;
	int n;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	CHECK_IS(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (n = 0; n < 1000; n++)
		mark_once();
	CHECK_IS(stat(path, &st), 0);
	CHECK(st.st_size > 1000 && st.st_size <= 2000);
	unlink(path);
}

/* A trace changes nothing for the kernel. */
static void kernel_hears_the_same(void)
{
	__u32 edges[2];
	int n, with;

	fake.present = 1;
	unsetenv("GCHINT_MIN_US");
	for (with = 0; with < 2; with++) {
		struct gchint_session *s;

		if (!with)
			unsetenv("GCHINT_TRACE");
		else
			setenv("GCHINT_TRACE", path, 1);
		gchint_open(&s, 0);
		gchint_self();
		for (n = 0; n < 1000; n++)
			mark_once();
		edges[with] = edges_of(fake_slot_of(getpid()));
		gchint_close(s);
	}
	CHECK_IS(edges[0], 2000);
	CHECK_IS(edges[1], 2000);
	load();
	CHECK_IS(count(" short"), 0);
	unlink(path);
}

static void *die_in_a_phase(void *arg)
{
	(void)arg;
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	return NULL;
}

/* A thread that ends within a phase leaves a begin without an end: readers must accept it. */
static void begin_without_end(void)
{
	pthread_t thread;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_TRACE);
	pthread_create(&thread, NULL, die_in_a_phase, NULL);
	pthread_join(thread, NULL);
	mark_once();
	load();
	CHECK_IS(count(" begin mark"), 2);
	CHECK_IS(count(" end mark"), 1);
	CHECK_IS(count(" begin mark stw"), 1);
	unlink(path);
}

static pthread_barrier_t step;

static void *end_alone(void *arg)
{
	(void)arg;
	gchint_self();
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	gchint_phase_end();
	return NULL;
}

/* The pages of a session of before, which a thread still had, are no thread's slots now. */
static void after_the_device(void)
{
	struct gchint_session *s;
	pthread_t thread;

	fake.present = 1;
	pthread_barrier_init(&step, NULL, 2);
	CHECK_IS(gchint_open(&s, 0), 0);
	pthread_create(&thread, NULL, end_alone, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_close(s), 0);
	fake.present = 0;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_TRACE);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	load();
	CHECK_IS(count(" begin mark"), 1);
	CHECK_IS(count(" end - -"), 1);
	unlink(path);
}

static const struct tap_test tests[] = {
	{ "the trace has every line without the device", without_device },
	{ "the trace has every line with the device", with_device },
	{ "the trace has leaders, and invalid leases are refused", leaders },
	{ "GCHINT_DISABLE disables the trace", disabled },
	{ "the trace has the words short and ring", short_and_ring },
	{ "four threads and a child share a trace file", many_writers },
	{ "the trace is closed with the session", closed_with_the_session },
	{ "a forked child does not trace until it opens a session", child_without_init },
	{ "a file of the program is not written to", not_into_another_file },
	{ "a FIFO without a reader is refused at once", fifo_without_reader },
	{ "a FIFO whose reader exits ends the trace without a signal", fifo_reader_goes },
	{ "a signal that was pending stays pending", pending_signal_stays },
	{ "a full FIFO loses lines without waiting, and reports them", fifo_is_full },
	{ "lost lines are reported in their own file", loss_is_the_files_own },
	{ "a file at its size limit raises no signal", file_at_its_limit },
	{ "a trace does not change the kernel's view", kernel_hears_the_same },
	{ "a thread that ends in a phase leaves a begin without an end", begin_without_end },
	{ "a trace after a session with the device works", after_the_device },
};

TAP_MAIN(tests, before)
