// SPDX-License-Identifier: MIT
/*
 * A program as it was written for 1.0: every call of the library, its edges in line, and
 * the kernel's interface without the library. test-frozen compiles it with the headers of
 * 1.0 and with today's; on-device runs it on a board. Argument:
 *
 *	load	nothing: all that it needs was found when it was loaded
 *	raw	the device without the library
 *	kernel	the same, and structures that are shorter or longer, which no fake device has
 *	device	hints go to the device
 *	trace	there is no device
 *
 * Prints what is not as it was in 1.0, and ends with 1 then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <gchint.h>

static int wrong;

#define IS(got, want)                                                                              \
	do {                                                                                       \
		long long is = (long long)(got), be = (long long)(want);                           \
		if (is != be) {                                                                    \
			printf("line %d: %s is %lld, not %lld\n", __LINE__, #got, is, be);         \
			wrong = 1;                                                                 \
		}                                                                                  \
	} while (0)

/* An ioctl's error, or 0. */
static int error_of(int ret)
{
	return ret < 0 ? errno : 0;
}

/* The first version of a structure, and one with an unknown tail. */
static void sizes(int fd)
{
	struct {
		struct gchint_set_role role;
		unsigned int tail;
	} longer = { .role = { .slot = 0, .role = GCHINT_ROLE_STW }, .tail = 0 };
	unsigned long request = _IOC(_IOC_WRITE, GCHINT_IOC_MAGIC, 4, sizeof(longer));

	IS(error_of(ioctl(fd, request, &longer)), 0);
	longer.tail = 1;
	IS(error_of(ioctl(fd, request, &longer)), E2BIG);
	request = _IOC(_IOC_WRITE, GCHINT_IOC_MAGIC, 4, GCHINT_SET_ROLE_SIZE_VER0 - 4);
	IS(error_of(ioctl(fd, request, &longer)), EINVAL);
	IS(error_of(ioctl(fd, _IO(GCHINT_IOC_MAGIC, 99), 0)), ENOTTY);
}

static void raw(int kernel)
{
	struct gchint_attach attach = { .tid = 0, .role = GCHINT_ROLE_NONE };
	struct gchint_set_role role = { .slot = 0, .role = GCHINT_ROLE_CONCURRENT };
	const struct gchint_info *info;
	struct gchint_slot *slot;
	int fd = open("/dev/" GCHINT_DEVICE, O_RDWR | O_CLOEXEC);
	size_t bytes = GCHINT_SLOTS * sizeof(*slot);

	if (fd < 0) {
		perror(GCHINT_DEVICE);
		wrong = 1;
		return;
	}
	info = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, GCHINT_MMAP_INFO);
	slot = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, GCHINT_MMAP_SLOTS);
	IS(info == MAP_FAILED || slot == MAP_FAILED, 0);
	if (wrong)
		return;
	IS(info->abi, GCHINT_ABI);
	IS(info->size >= sizeof(*info), 1);
	IS(error_of(ioctl(fd, GCHINT_IOC_ATTACH, &attach)), 0);
	IS(attach.slot, 0);
	IS(slot[attach.slot].state, 0);
	__atomic_store_n(&slot[attach.slot].state,
			 GCHINT_STATE(GCHINT_STATE_EDGE, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT),
			 __ATOMIC_RELAXED);
	IS(error_of(ioctl(fd, GCHINT_IOC_RING, attach.slot)), 0);
	IS(error_of(ioctl(fd, GCHINT_IOC_SET_ROLE, &role)), 0);
	if (kernel)
		sizes(fd);
	IS(error_of(ioctl(fd, GCHINT_IOC_ATTACH, &attach)), EBUSY);
	IS(error_of(ioctl(fd, GCHINT_IOC_DETACH, attach.slot)), 0);
	IS(error_of(ioctl(fd, GCHINT_IOC_DETACH, attach.slot)), ENOENT);
	IS(error_of(ioctl(fd, GCHINT_IOC_RING, attach.slot)), ENOENT);
	close(fd);
}

static struct gchint_session *session;
static pid_t worker;
static int step;

static void *work(void *unused)
{
	__atomic_store_n(&worker, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) < 1)
		usleep(1000);
	return unused;
}

/* On behalf of another thread. */
static void other(int attached)
{
	struct gchint_thread *t = NULL;
	pthread_t thread;

	IS(pthread_create(&thread, NULL, work, NULL), 0);
	while (!__atomic_load_n(&worker, __ATOMIC_ACQUIRE))
		usleep(1000);
	IS(gchint_attach(session, worker, GCHINT_ROLE_CONCURRENT, NULL, &t), attached);
	gchint_begin(t, GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	gchint_begin(t, GCHINT_PHASE_TRIM, GCHINT_F_CONCURRENT);
	gchint_end(t);
	gchint_abandon(t);
	IS(gchint_set_role(t, GCHINT_ROLE_FOLLOW, gchint_self()), attached);
	IS(gchint_detach(t), attached);
	IS(gchint_detach(t), -EINVAL);
	__atomic_store_n(&step, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

static void edges(void)
{
	struct gchint_detail detail = { .size = sizeof(detail),
					.cause = GCHINT_CAUSE_ALLOCATION,
					.work_done = 1,
					.work_total = 8,
					.expect_ns = 50000000 };

	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	gchint_phase_begin(GCHINT_PHASE_WAIT, GCHINT_F_STW);
	gchint_phase_end();
	gchint_phase_next(GCHINT_PHASE_REMARK, GCHINT_F_STW);
	gchint_phase_end();
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_COPY, GCHINT_F_FOREGROUND, &detail);
	gchint_progress(gchint_self(), 4, 8, 0);
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_EXPLICIT);
	gchint_set_method(gchint_self(), 0x1000);
	detail.cause = GCHINT_CAUSE_TIMER;
	gchint_next_detail(gchint_self(), GCHINT_PHASE_COMPACT, 0, &detail);
	gchint_next(gchint_self(), GCHINT_PHASE_REFS, GCHINT_F_URGENT);
	gchint_end(gchint_self());
	gchint_phase_end();
}

static void calls(int device)
{
	struct gchint_policy policy = { .size = sizeof(policy) };
	struct gchint_session *none;
	enum gchint_backend backend = device ? GCHINT_BACKEND_DEVICE : GCHINT_BACKEND_TRACE;
	uintptr_t method, outer;
	char text[200];
	int ret;

	IS(gchint_init(0), backend);
	IS(gchint_open(&session, 0), 0);
	IS(gchint_open(&none, 0x8000), -EINVAL);
	IS(gchint_get_backend(session), backend);
	IS(gchint_get_reason(session), device ? 0 : -ENOENT);
	IS(gchint_explain(text, sizeof(text)), strlen(text));
	IS(gchint_explain(NULL, 0) > 10, 1);
	IS(gchint_get_fd(session) >= 0, device);
	ret = gchint_get_policy(session, 0, &policy);
	IS(ret == 0 || (ret == -ENOENT && device) || (ret == -ENODEV && !device), 1);
	IS(gchint_get_policy(session, 0, &(struct gchint_policy){ .size = 4 }), -EINVAL);
	IS(gchint_expect(session, GCHINT_PHASE_MARK, 0, 50000000), 0);
	IS(gchint_expect(session, (enum gchint_phase)200, 0, 1), -EINVAL);
	edges();
	other(0);
	method = gchint_symbol_add(0, 0, "old");
	outer = gchint_method_enter(method);
	gchint_method_leave(outer);
	gchint_symbol_remove(method, 1);
	IS(gchint_is_profiled(), 0);
	IS(gchint_close(session), 0);
	IS(gchint_close(session), 0);
	IS(gchint_close(session), -EBADF);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (!strcmp(what, "raw") || !strcmp(what, "kernel"))
		raw(what[0] == 'k');
	else if (!strcmp(what, "device") || !strcmp(what, "trace"))
		calls(what[0] == 'd');
	else if (strcmp(what, "load"))
		return 2;
	return wrong;
}
