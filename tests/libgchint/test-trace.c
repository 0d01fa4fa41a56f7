// SPDX-License-Identifier: MIT
/* GCHINT_TRACE: what is in the file, from threads and children at once. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <gchint.h>

#include "fakedev.h"
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

/* The file's lines without the time, which must not run backwards. */
static void load(void)
{
	unsigned long long last = 0, now;
	char line[1024], *rest;
	size_t length = 0;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		now = strtoull(line, &rest, 10);
		CHECK(now >= last && *rest == ' ');
		last = now;
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
		"%s end mark concurrent\n"
		"%s end - -\n"
		"%s begin ? foreground\n"
		"%s abandon ? foreground\n"
		"%s role role=background%s\n"
		"%s detach\n"
		"%s close backend=%s\n",
		id, backend, id, slot, id, id, id, id, id, id, id, id, id, id, id, slot, id, id,
		backend);
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
	struct gchint_session *s;

	gchint_open(&s, 0);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_progress(gchint_self(), UINT64_MAX, 2, 0);
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_STW | GCHINT_F_URGENT);
	gchint_phase_end();
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_THRESHOLD);
	gchint_set_method(gchint_self(), 16);
	gchint_phase_end();
	gchint_phase_end();
	gchint_phase_begin(200, GCHINT_F_FOREGROUND);
	gchint_abandon(gchint_self());
	gchint_set_role(gchint_self(), GCHINT_ROLE_BACKGROUND, NULL);
	gchint_detach(gchint_self());
	gchint_close(s);
}

static void without_device(void)
{
	hint_all();
	want(all_of_it("trace", ""));
}

static void with_device(void)
{
	fake.present = 1;
	hint_all();
	CHECK_IS(fake.attaches, 1);
	want(all_of_it("device", " slot=0"));
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

/* One write a line: no line is torn, none is lost, whoever wrote it. */
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

static const struct tap_test tests[] = {
	{ "every kind of line, without the device", without_device },
	{ "every kind of line, with the device", with_device },
	{ "nothing when disabled", disabled },
	{ "what was filtered and what rang", short_and_ring },
	{ "four threads and a child share the file", many_writers },
	{ "a forked child is silent until it opens anew", child_without_init },
	{ "a file of the program is not written to", not_into_another_file },
};

TAP_MAIN(tests, before)
