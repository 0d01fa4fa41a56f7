// SPDX-License-Identifier: MIT
/* The descriptor that the library holds: of the device, and in nobody's way. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <gchint.h>

#include "fakedev.h"
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
	/* Nor is what else could be taken for it. */
	CHECK_IS(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	setenv("GCHINT_DEVICE", path, 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_why(s), -ENODEV);
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
		CHECK(gchint_fd(s) > STDERR_FILENO);
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
	CHECK(gchint_fd(s) > 2);
	CHECK_IS(descriptors(), before + 1);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(descriptors(), before);
	CHECK_IS(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 3;
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &few), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_why(s), -EINVAL);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_IS(descriptors(), before);
}

static const struct tap_test tests[] = {
	{ "a file is not taken for the device", not_a_device },
	{ "the device is never standard input, output or error", not_stdio },
	{ "it is moved there, and nowhere else", moved_off_stdio },
};

TAP_MAIN(tests, fake_reset)
