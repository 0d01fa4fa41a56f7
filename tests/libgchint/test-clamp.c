// SPDX-License-Identifier: MIT
/* Utilisation clamps, where there is no device. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <gchint.h>

#include "fakedev.h"
#include "tap.h"

static struct gchint_session *s;

static void before(void)
{
	fake_reset();
	fake.present = 0;
	fake_clamp.supported = 1;
	setenv("GCHINT_MIN_US", "0", 1);
}

static void not_unless_allowed(void)
{
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 1024);
}

static void user_forbids(void)
{
	setenv("GCHINT_CLAMP", "0", 1);
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_NOTHING);
}

static void kernel_cannot(void)
{
	fake_clamp.supported = 0;
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_NOTHING);
}

/* A clamp that the kernel does not report cannot be restored. */
static void kernel_from_before(void)
{
	fake_clamp.size = 48;
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_NOTHING);
	CHECK_IS(fake_clamp.sets, 0);
}

/* A refused cap is not restored: the clamp may be that of another program by then. */
static void refused(void)
{
	CHECK_IS(fake_clamp_of(0), 1024);
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	fake_clamp.supported = 0;
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	fake_clamp.supported = 1;
	fake_clamp.thread[0].max = 300;
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 300);
}

static void device_goes_first(void)
{
	fake.present = 1;
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_DEVICE);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp.sets, 0);
}

static void concurrent_only(void)
{
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT | GCHINT_F_FOREGROUND);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_begin(GCHINT_PHASE_REMARK, GCHINT_F_STW); /* all mutators wait: removed */
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 1024);
	CHECK_IS(fake_clamp.sets, 4);
}

static void percent(void)
{
	setenv("GCHINT_CLAMP", "25", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 256);
	gchint_abandon(gchint_self());
	CHECK_IS(fake_clamp_of(0), 1024);
}

static void percent_rounded(void)
{
	setenv("GCHINT_CLAMP", "99", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 1013); /* of 1024, rounded down */
}

static void lower_stays(void)
{
	CHECK_IS(fake_clamp_of(0), 1024);
	fake_clamp.thread[0].max = 300;
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 300);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 300);
	fake_clamp.thread[0].max = 800;
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 800);
}

static pthread_barrier_t step;
static pid_t worker_tid;

static void *worker(void *arg)
{
	(void)arg;
	worker_tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	return NULL;
}

static void roles(void)
{
	struct gchint_thread *t;
	pthread_t thread;

	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_CONCURRENT, NULL, &t), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(fake_clamp_of(worker_tid), 1024);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	gchint_begin(t, GCHINT_PHASE_MARK, 0); /* a phase of no flag is no role */
	CHECK_IS(fake_clamp_of(worker_tid), 1024);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_STW, NULL), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 1024);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_BACKGROUND, NULL), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	/* A role that comes within a phase counts from its end on. */
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_STW, NULL), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	gchint_next(t, GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_CONCURRENT, NULL), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 1024);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	CHECK_IS(gchint_detach(t), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 1024);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_CONCURRENT, NULL, &t), 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 1024);
	CHECK_IS(fake_clamp_of(0), 1024);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
}

/*
 * The number of a thread that ended while it was leased may be that of a process that has
 * nothing to do with this one: such a process has the number here.
 */
static pid_t stranger_start(int *ends)
{
	int gate[2];
	pid_t pid;

	CHECK_IS(pipe(gate), 0);
	pid = fork();
	if (!pid) {
		close(gate[1]);
		_exit(read(gate[0], &pid, 1) != 0);
	}
	close(gate[0]);
	*ends = gate[1];
	return pid;
}

static void stranger_is_not_capped(void)
{
	struct gchint_thread *t;
	pthread_t thread;
	pid_t stranger;
	int ends;

	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_NONE, NULL, &t), 0);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	stranger = stranger_start(&ends);
	t->tid = stranger;
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(stranger), 1024);
	CHECK_IS(fake_clamp.sets, 0);
	gchint_end(t);
	CHECK_IS(fake_clamp.sets, 0);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_CONCURRENT, NULL), 0);
	CHECK_IS(fake_clamp_of(stranger), 1024);
	close(ends);
	CHECK_IS(waitpid(stranger, NULL, 0), stranger);
	CHECK_IS(gchint_detach(t), 0);
	CHECK_IS(gchint_close(s), 0);
}

/* The number changes hands within a phase: what the other process has set is its own. */
static void stranger_keeps_its_clamp(void)
{
	struct gchint_thread *t;
	pthread_t thread;
	pid_t stranger;
	int ends;

	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_NONE, NULL, &t), 0);
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	stranger = stranger_start(&ends);
	t->tid = stranger;
	fake_clamp_set(stranger, 512);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(stranger), 512);
	close(ends);
	CHECK_IS(waitpid(stranger, NULL, 0), stranger);
	CHECK_IS(gchint_close(s), 0);
}

static void short_is_free(void)
{
	int n;

	setenv("GCHINT_MIN_US", "1000000", 1);
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	for (n = 0; n < 10; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		gchint_phase_end();
	}
	CHECK_IS(fake_clamp.sets, 2);
}

static void forked_child_is_quiet(void)
{
	pid_t pid, parent = getpid();
	int status;

	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	pid = fork();
	if (!pid) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		CHECK_IS(fake_clamp_of(parent), 1024);
		CHECK_IS(fake_clamp.sets, 0);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* GCHINT_HINTS=clamp: clamps are what acts, and nothing else. */
static void asked_for(void)
{
	char path[64], text[512];
	int fd = memfd_create("trace", 0);
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("GCHINT_TRACE", path, 1);
	fake.present = 1;
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_CLAMP);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), -ECANCELED);
	CHECK_IS(fake.opens, 0);
	gchint_explain(text, sizeof(text));
	CHECK(strcmp(text, "clamp") == 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 1024);
	/* From the first cap on there may be threads that inherited it. */
	gchint_explain(text, sizeof(text));
	CHECK(strcmp(text, "clamp; threads and programs started in a capped phase may keep the "
			   "cap") == 0);
	/* A recorder or a trace hears all, those too that clamps do nothing about. */
	gchint_phase_begin(GCHINT_PHASE_REMARK, GCHINT_F_STW);
	gchint_phase_end();
	length = pread(fd, text, sizeof(text) - 1, 0);
	text[length > 0 ? length : 0] = '\0';
	CHECK(strstr(text, " begin mark concurrent capped\n"));
	CHECK(strstr(text, " begin remark stw\n"));
}

/* Standard error of a function, and what gchint_explain() says behind it. */
static char *said(void (*what)(void))
{
	static char text[2048];
	int out = memfd_create("stderr", MFD_CLOEXEC), err = dup(STDERR_FILENO);
	ssize_t length;

	dup2(out, STDERR_FILENO);
	what();
	dup2(err, STDERR_FILENO);
	length = pread(out, text, sizeof(text) - 1, 0);
	text[length > 0 ? length : 0] = '\0';
	close(out);
	close(err);
	return text;
}

#define CHECK_SAID(what, text)                                                                     \
	do {                                                                                       \
		const char *tap_said = said(what);                                                 \
		CHECK(strcmp(tap_said, text) == 0 || (printf("# said: %s\n", tap_said), 0));       \
	} while (0)

static void opens(void)
{
	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_phase_end();
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_close(s), 0);
	/* Once in the life of the process. */
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_close(s), 0);
}

static void opens_and_closes(void)
{
	int n;

	for (n = 0; n < 2; n++) {
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_CLAMP);
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		gchint_phase_end();
		CHECK_IS(gchint_close(s), 0);
	}
}

static void *keep_cap(void *arg)
{
	worker_tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	return arg;
}

/* The fake kernel copies no clamps: what the creator has is given to the thread by hand. */
static void closes_with_heir(void)
{
	pthread_t thread;

	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, keep_cap, NULL);
	pthread_barrier_wait(&step);
	fake_clamp_set(worker_tid, 512);
	gchint_phase_end();
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	/* Once in the life of the process. */
	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	gchint_phase_end();
	CHECK_IS(gchint_close(s), 0);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
}

static void thread_keeps_cap(void)
{
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(closes_with_heir, "libgchint: clamps: threads that never hint keep the cap that "
				     "they inherited: 1, at 512 of 1024\n");
}

static void program_keeps_cap(void)
{
	fake_clamp_set(0, 512);
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(opens_and_closes, "libgchint: clamps: the program keeps the cap that it was "
				     "started with, or inherited in a capped phase: 512 of 1024\n");
}

static void no_cap_is_kept(void)
{
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(opens_and_closes, "");
}

/* GCHINT_HINTS=clamp without clamps is reported, with the reason and the remedy. */
#define NO_CLAMPS "libgchint: no clamps: GCHINT_HINTS=clamp: "
static void no_config(void)
{
	fake_clamp.supported = 0;
	fake.present = 1; /* and the device does not act in their place */
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(opens, NO_CLAMPS "the kernel is built without CONFIG_UCLAMP_TASK, as Debian's "
				    "are; boot one that has it\n");
	CHECK_IS(fake.opens, 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), -EOPNOTSUPP);
}

static void old_kernel(void)
{
	fake_clamp.size = 48;
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(opens, NO_CLAMPS "utilisation clamps need Linux 5.3 or newer\n");
}

static void sandboxed(void)
{
	fake_clamp.set_errno = EPERM;
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(opens, NO_CLAMPS "sched_setattr(2) is not permitted; allow it in the seccomp "
				    "filter of the container or service\n");
	CHECK_IS(fake_clamp.sets, 0);
}

static void sandboxed_otherwise(void)
{
	fake_clamp.get_errno = ENOSYS;
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(opens, NO_CLAMPS
		   "the kernel is older than 3.14, or a seccomp filter hides sched_setattr(2)\n");
}

static void forbidden_and_asked_for(void)
{
	setenv("GCHINT_CLAMP", "0", 1);
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_SAID(opens, NO_CLAMPS "GCHINT_CLAMP=0 forbids clamps\n");
}

static void opens_nothing(void)
{
	CHECK_IS(gchint_open(&s, 0), -EINVAL);
	CHECK_IS(gchint_init(0), -EINVAL);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_phase_end();
}

static void no_such_hints(void)
{
	setenv("GCHINT_HINTS", "clamps", 1);
	CHECK_SAID(opens_nothing, "libgchint: no hints: GCHINT_HINTS=clamps: wants all, boost, cap "
				  "or clamp\n");
}

static void opens_past_the_limit(void)
{
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), -EDQUOT);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	gchint_phase_end();
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_close(s), 0);
}

/* A server whose last processes have no hints must be able to find out why. */
static void limit_of_the_user(void)
{
	fake.present = 1;
	fake.open_errno = EDQUOT;
	CHECK_SAID(opens_past_the_limit, "libgchint: no hints: /dev/gchint: the user's limit is "
					 "reached\n");
}

/* A program that allows clamps did not ask for them. */
static void allows(void)
{
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_NOTHING);
}

static void silent_unless_asked_for(void)
{
	fake_clamp.supported = 0;
	CHECK_SAID(allows, "");
	setenv("GCHINT_DISABLE", "1", 1);
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_SAID(allows, "");
}

/* fits_capacity() of the scheduler: a fifth of the small core is left over. */
static void fits_a_small_core(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < FAKE_CAPACITIES; cpu++)
		fake.capacity[cpu] = cpu == 11 ? 485 : 1024;
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), (485 * 1024 - 1) / 1280);
	CHECK(fake_clamp_of(0) * 1280 < 485 * 1024);
	CHECK((fake_clamp_of(0) + 1) * 1280 >= 485 * 1024);
	gchint_phase_end();
}

static void user_before_capacity(void)
{
	fake.capacity[0] = 1024;
	fake.capacity[1] = 381;
	setenv("GCHINT_CLAMP", "60", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 614);
	gchint_phase_end();
}

static void equal_cores(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < FAKE_CAPACITIES; cpu++)
		fake.capacity[cpu] = 1024;
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_end();
}

/* The test for clamps sets none, and a clamp that was never set is unset again. */
static void default_is_default_again(void)
{
	CHECK_IS(fake_clamp_user(0), 0);
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	CHECK_IS(fake_clamp_user(0), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_user(0), 1);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 1024);
	CHECK_IS(fake_clamp_user(0), 0);
}

static void before_reset_existed(void)
{
	fake_clamp.no_reset = 1;
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 1024);
}

static void foreign_change_wins(void)
{
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	fake_clamp_set(0, 700); /* uclampset(1) meanwhile */
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 700);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	fake_clamp_set(0, 300);
	gchint_phase_begin(GCHINT_PHASE_REMARK, GCHINT_F_STW);
	CHECK_IS(fake_clamp_of(0), 300);
	gchint_phase_end();
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 300);
	fake_clamp_set(0, 800);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	fake_clamp_set(0, 400);
	gchint_detach(gchint_self());
	CHECK_IS(fake_clamp_of(0), 400);
}

static void close_spares_foreign(void)
{
	struct gchint_thread *t;

	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_BACKGROUND, NULL, &t), 0);
	CHECK_IS(fake_clamp_of(0), 512);
	fake_clamp_set(0, 900);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake_clamp_of(0), 900);
}

static void phases_of_another(void)
{
	struct gchint_thread *t;
	pthread_t thread;

	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&step);
	fake_clamp_set(worker_tid, 800);
	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_NONE, NULL, &t), 0);
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_next(t, GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	gchint_next(t, GCHINT_PHASE_REFS, GCHINT_F_FOREGROUND);
	CHECK_IS(fake_clamp_of(worker_tid), 800);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(worker_tid), 800);
	CHECK_IS(fake_clamp.sets, 2);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
}

/* The kernel copies a clamp to the threads that a capped thread creates. */
static void *heir(void *arg)
{
	fake_clamp_set(0, 512);
	if (arg)
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	else
		gchint_self();
	CHECK_IS(fake_clamp_of(0), 1024);
	CHECK_IS(fake_clamp_user(0), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 1024);
	return NULL;
}

static void inherited_by_thread(void)
{
	struct gchint_thread *t;
	pthread_t thread;
	int n;

	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	for (n = 0; n < 2; n++) {
		pthread_create(&thread, NULL, heir, n ? &n : NULL);
		pthread_join(thread, NULL);
	}
	gchint_phase_end();
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&step);
	fake_clamp_set(worker_tid, 512);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_NONE, NULL, &t), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 1024);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
}

static void *same_by_user(void *arg)
{
	(void)arg;
	fake_clamp_set(0, 512);
	gchint_self();
	CHECK_IS(fake_clamp_of(0), 512);
	return NULL;
}

/* A program that its user caps to the very same value has not got it from us. */
static void same_as_the_users(void)
{
	struct gchint_thread *t;
	pthread_t thread;

	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	/* No thread was capped yet. */
	pthread_create(&thread, NULL, same_by_user, NULL);
	pthread_join(thread, NULL);
	CHECK_IS(gchint_close(s), 0);
	/* The program began with a lower one, and has no other to put back. */
	fake_clamp_set(0, 300);
	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_CONCURRENT, NULL, &t), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, same_by_user, NULL);
	pthread_join(thread, NULL);
}

#define IN_CHILD(check)                                                                            \
	do {                                                                                       \
		int tap_status;                                                                    \
		pid_t tap_pid = fork();                                                            \
                                                                                                   \
		if (!tap_pid) {                                                                    \
			check;                                                                     \
			fflush(stdout);                                                            \
			_exit(tap_bad);                                                            \
		}                                                                                  \
		CHECK(waitpid(tap_pid, &tap_status, 0) == tap_pid && tap_status == 0);             \
	} while (0)

static void forked_child_is_free(void)
{
	pid_t parent = getpid();

	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(fake_clamp_of(0), 512);
	IN_CHILD({
		CHECK_IS(fake_clamp_of(0), 1024);
		CHECK_IS(fake_clamp_user(0), 0);
		gchint_phase_end();
		CHECK_IS(fake_clamp_of(parent), 512);
		CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
		CHECK_IS(fake_clamp_of(0), 1024);
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		CHECK_IS(fake_clamp_of(0), 512);
		gchint_phase_end();
		CHECK_IS(fake_clamp_of(0), 1024);
		CHECK_IS(fake_clamp_of(parent), 512);
	});
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_phase_end();
	CHECK_IS(fake_clamp_of(0), 1024);
}

/* Each child has the clamp that its creator had before. */
static void *forks(void *arg)
{
	(void)arg;
	fake_clamp_set(0, 700);
	worker(NULL);
	IN_CHILD(CHECK_IS(fake_clamp_of(0), 700));
	return NULL;
}

static void fork_on_behalf(void)
{
	struct gchint_thread *t, *own;
	pthread_t thread;

	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_CONCURRENT, NULL, &own), 0);
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, forks, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_attach(s, worker_tid, GCHINT_ROLE_CONCURRENT, NULL, &t), 0);
	CHECK_IS(fake_clamp_of(worker_tid), 512);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	/* A thread that is not capped, and one that has a cap by its creator. */
	CHECK_IS(gchint_detach(own), 0);
	fake_clamp_set(0, 600);
	IN_CHILD(CHECK_IS(fake_clamp_of(0), 600));
	fake_clamp_set(0, 512);
	IN_CHILD(CHECK_IS(fake_clamp_of(0), 1024));
}

/* Adapters open the session of a child in a handler that may run before the library's. */
static void opens_in_child(void)
{
	gchint_init(GCHINT_OPEN_CLAMP);
	CHECK_IS(fake_clamp_of(0), 1024);
}

static void forked_where_a_handler_opens(void)
{
	pthread_atfork(NULL, NULL, opens_in_child);
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	IN_CHILD(CHECK_IS(fake_clamp_of(0), 1024));
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void past_deadline(void)
{
	struct gchint_detail d = { .size = sizeof(d), .stall_ns = 1 };
	struct gchint_thread *t;

	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	t = gchint_self();
	gchint_begin_detail(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	CHECK_IS(fake_clamp_of(0), 1024);
	d.stall_ns = now_ns() + 1000000000000;
	gchint_next_detail(t, GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT, &d);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_progress(t, 1, 2, d.stall_ns);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_progress(t, 1, 2, 0);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_progress(t, 1, 2, 1);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_progress(t, 1, 2, d.stall_ns);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(0), 1024);
}

/* A millisecond, unless the user says otherwise. */
static void threshold(void)
{
	struct gchint_detail d = { .size = sizeof(d), .expect_ns = 999999 };
	struct gchint_thread *t;
	int calls;

	unsetenv("GCHINT_MIN_US");
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	t = gchint_self();
	calls = fake_clamp.calls;
	gchint_begin_detail(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_end(t);
	CHECK_IS(fake_clamp.calls, calls);
	d.expect_ns = 1000000;
	gchint_begin_detail(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	CHECK_IS(fake_clamp_of(0), 512);
	/* Inside of a capped one a short one changes nothing, but for one that is waited for. */
	d.expect_ns = 200000;
	calls = fake_clamp.calls;
	gchint_begin_detail(t, GCHINT_PHASE_REFS, 0, &d);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(0), 512);
	CHECK_IS(fake_clamp.calls, calls);
	gchint_begin_detail(t, GCHINT_PHASE_REMARK, GCHINT_F_STW, &d);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_end(t);
	/* A cap costs four calls of the scheduler. */
	calls = fake_clamp.calls;
	gchint_begin(t, GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	gchint_end(t);
	CHECK_IS(fake_clamp.calls, calls + 4);
}

/* Short phases are not capped, but a trace or a recorder receives them. */
static void short_is_heard(void)
{
	char path[64], text[4096];
	int fd = memfd_create("trace", 0), n;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("GCHINT_TRACE", path, 1);
	setenv("GCHINT_MIN_US", "1000000", 1);
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	for (n = 0; n < 3; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		gchint_phase_end();
	}
	CHECK_IS(fake_clamp.sets, 2);
	length = pread(fd, text, sizeof(text) - 1, 0);
	text[length > 0 ? length : 0] = '\0';
	CHECK(!strstr(text, "short"));
	CHECK(strstr(text, " begin mark concurrent capped\n"));
	CHECK(strstr(text, " begin mark concurrent\n"));
}

/* A role is set once, however many phases come and go under it. */
static void role_is_set_once(void)
{
	struct gchint_thread *t;
	int n, calls;

	setenv("GCHINT_MIN_US", "1000000", 1);
	CHECK_IS(gchint_open(&s, GCHINT_OPEN_CLAMP), 0);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_CONCURRENT, NULL, &t), 0);
	CHECK_IS(fake_clamp_of(0), 512);
	calls = fake_clamp.calls;
	for (n = 0; n < 10; n++) {
		gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		gchint_begin(t, GCHINT_PHASE_REFS, GCHINT_F_CONCURRENT);
		gchint_end(t);
		gchint_end(t);
	}
	CHECK_IS(fake_clamp.calls, calls);
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_STW);
	for (n = 0; n < 6; n++) /* more than are remembered */
		gchint_begin(t, GCHINT_PHASE_REFS, GCHINT_F_STW);
	CHECK_IS(fake_clamp_of(0), 1024);
	for (n = 0; n < 7; n++)
		gchint_end(t);
	CHECK_IS(fake_clamp_of(0), 512);
	/* Five are remembered. */
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_STW);
	for (n = 0; n < 4; n++)
		gchint_begin(t, GCHINT_PHASE_REFS, GCHINT_F_STW);
	for (n = 0; n < 4; n++)
		gchint_end(t);
	CHECK_IS(fake_clamp_of(0), 1024);
	gchint_end(t);
	CHECK_IS(fake_clamp_of(0), 512);
	/* Phases further out count as none, and then the role counts. */
	for (n = 0; n < 6; n++)
		gchint_begin(t, GCHINT_PHASE_REFS, GCHINT_F_STW);
	for (n = 0; n < 5; n++)
		gchint_end(t);
	CHECK_IS(fake_clamp_of(0), 512);
	gchint_end(t);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake_clamp_of(0), 1024);
}

static const struct tap_test tests[] = {
	{ "no clamps unless the caller allows them", not_unless_allowed },
	{ "GCHINT_CLAMP=0 forbids clamps", user_forbids },
	{ "a kernel without clamps leaves hints without effect", kernel_cannot },
	{ "a kernel older than clamps leaves hints without effect", kernel_from_before },
	{ "a refused cap is not restored", refused },
	{ "the device takes precedence", device_goes_first },
	{ "only concurrent phases are capped", concurrent_only },
	{ "GCHINT_CLAMP gives the percentage", percent },
	{ "the percentage is rounded down", percent_rounded },
	{ "a lower clamp stays, and each thread's own clamp is restored", lower_stays },
	{ "roles are capped, and phases take precedence", roles },
	{ "a process that has the number of an ended thread is not capped",
	  stranger_is_not_capped },
	{ "a process that has the number of an ended thread keeps its clamp",
	  stranger_keeps_its_clamp },
	{ "short phases cost no system call", short_is_free },
	{ "a forked child clamps no thread", forked_child_is_quiet },
	{ "GCHINT_HINTS=clamp takes precedence over the device", asked_for },
	{ "a kernel without CONFIG_UCLAMP_TASK is reported", no_config },
	{ "a kernel older than clamps is reported", old_kernel },
	{ "a seccomp filter that refuses clamps is reported", sandboxed },
	{ "a seccomp filter that hides the call is reported", sandboxed_otherwise },
	{ "GCHINT_CLAMP=0 with GCHINT_HINTS=clamp is reported", forbidden_and_asked_for },
	{ "an unknown GCHINT_HINTS is reported", no_such_hints },
	{ "the user's limit of sessions is reported once", limit_of_the_user },
	{ "nothing is printed without GCHINT_HINTS", silent_unless_asked_for },
	{ "with heterogeneous cores the cap fits a small one", fits_a_small_core },
	{ "GCHINT_CLAMP takes precedence over the capacity", user_before_capacity },
	{ "with equal cores the cap is half of one", equal_cores },
	{ "a clamp that was never set is unset again", default_is_default_again },
	{ "a kernel that cannot unset a clamp gets 1024", before_reset_existed },
	{ "a clamp set by another program during a phase stays", foreign_change_wins },
	{ "a clamp set by another program stays when the session closes", close_spares_foreign },
	{ "phases on behalf of another thread cap that thread", phases_of_another },
	{ "a new thread does not keep its creator's cap", inherited_by_thread },
	{ "a thread that keeps an inherited cap is reported once, at the close", thread_keeps_cap },
	{ "a program that was started with the cap reports it once", program_keeps_cap },
	{ "nothing is reported where no cap was inherited", no_cap_is_kept },
	{ "a user's clamp of the same value stays", same_as_the_users },
	{ "a forked child is not capped", forked_child_is_free },
	{ "a child forked by a thread that another one attached is not capped", fork_on_behalf },
	{ "a child whose session an earlier fork handler opens is not capped",
	  forked_where_a_handler_opens },
	{ "a phase past its deadline is not capped", past_deadline },
	{ "phases shorter than a millisecond change no clamp", threshold },
	{ "phases too short for a clamp are traced", short_is_heard },
	{ "a role is set once", role_is_set_once },
};

TAP_MAIN(tests, before)
