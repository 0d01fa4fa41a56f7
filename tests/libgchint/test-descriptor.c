// SPDX-License-Identifier: MIT
/* The descriptor of the device, which must not disturb the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

static struct gchint_session *s;

/* A file's pages end, or go away: it is not taken for the device. */
static void not_a_device(void)
{
	char path[] = "/tmp/gchint-device-XXXXXX";
	struct gchint_info info = { .abi = GCHINT_ABI, .size = sizeof(info) };
	int fd = mkstemp(path);

	CHECK(write(fd, &info, sizeof(info)) == sizeof(info));
	CHECK_IS(ftruncate(fd, 0x20000), 0);
	/* Other files that resemble it are refused as well. */
	CHECK_IS(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	setenv("GCHINT_DEVICE", path, 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), -ENODEV);
	gchint_close(s);
	CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	CHECK_IS(ftruncate(fd, 0), 0);
	close(fd);
	unlink(path);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
}

/* The device does not become the program's standard output. */
static void not_stdio(void)
{
	int fd, kept;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		kept = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		close(fd);
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK(gchint_get_fd(s) > STDERR_FILENO);
		CHECK(fcntl(fd, F_GETFD) < 0);
		CHECK_IS(gchint_close(s), 0);
		if (kept < 0)
			continue;
		dup2(kept, fd);
		close(kept);
	}
}

static int descriptors(void)
{
	int fd, open = 0;

	for (fd = 0; fd < 64; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

/* Moved, not copied; and no descriptor above standard error is an error, not a wrong one. */
static void moved_off_stdio(void)
{
	struct rlimit limit, few;
	int before;

	close(0);
	before = descriptors();
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK(gchint_get_fd(s) > 2);
	CHECK_IS(descriptors(), before + 1);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(descriptors(), before);
	CHECK_IS(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 3;
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &few), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_get_reason(s), -EINVAL);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_IS(descriptors(), before);
}

static struct {
	pthread_t thread;
	pid_t tid;
} others[GCHINT_SLOTS + 1];
static pthread_barrier_t barrier;

static void *stay(void *tid)
{
	*(pid_t *)tid = gettid();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* The device's path is unknown by then, so no further session can be opened. */
static void gone_when_more_is_wanted(void)
{
	struct gchint_thread *first = NULL;
	int n, fd, pipes[2];

	pthread_barrier_init(&barrier, NULL, GCHINT_SLOTS + 2);
	for (n = 0; n <= GCHINT_SLOTS; n++)
		pthread_create(&others[n].thread, NULL, stay, &others[n].tid);
	pthread_barrier_wait(&barrier);
	setenv("GCHINT_MIN_US", "0", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	fd = gchint_get_fd(s);
	for (n = 0; n < GCHINT_SLOTS; n++)
		CHECK_IS(gchint_attach(s, others[n].tid, 0, NULL, n ? NULL : &first), 0);
	/* The program has another file there, which a ring finds out. */
	CHECK_IS(pipe(pipes), 0);
	CHECK_IS(dup2(pipes[0], fd), fd);
	fake_info()->doorbell_begin = ~0u;
	gchint_begin(first, GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(gchint_get_fd(s), -ENODEV);
	CHECK_IS(gchint_attach(s, others[n].tid, 0, NULL, NULL), -EBADF);
	CHECK_IS(fake.opens, 1);
	/* Threads that have a lease hint as before. */
	CHECK_IS(phase_of(fake_slot_of(others[0].tid)), GCHINT_PHASE_MARK);
	gchint_end(first);
	CHECK_IS(phase_of(fake_slot_of(others[0].tid)), GCHINT_PHASE_NONE);
	pthread_barrier_wait(&barrier);
	for (n = 0; n <= GCHINT_SLOTS; n++)
		pthread_join(others[n].thread, NULL);
}

static const struct tap_test tests[] = {
	{ "a file is not taken for the device", not_a_device },
	{ "the device is never standard input, output or error", not_stdio },
	{ "a descriptor below 3 is moved above standard error", moved_off_stdio },
	{ "a closed descriptor is an error when the session has to grow",
	  gone_when_more_is_wanted },
};

TAP_MAIN(tests, fake_reset)
