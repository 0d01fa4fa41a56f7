// SPDX-License-Identifier: MIT
/* Mappings of the device: all that are needed or none, and none after the close. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <gchint.h>

#include "fakedev.h"
#include "tap.h"

/* Mappings that the fake device itself has of each session. */
#define VIEW (FAKE_SESSIONS * GCHINT_SLOTS * sizeof(struct gchint_slot))

static struct gchint_session *s;
static long before_all;

static long device_bytes(void)
{
	unsigned long from, to, bytes = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "memfd:gchint") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			bytes += to - from;
	CHECK(f);
	fclose(f);
	return (long)(bytes - (unsigned long)fake.opens * VIEW);
}

static void before(void)
{
	setenv("GCHINT_MIN_US", "0", 1);
	fake_reset();
	before_all = device_bytes();
}

static long mapped(void)
{
	return device_bytes() - before_all;
}

static int descriptors(void)
{
	int fd, open = 0;

	for (fd = 0; fd < 64; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

static void refused(void)
{
	const long offsets[] = { GCHINT_MMAP_INFO, GCHINT_MMAP_SLOTS };
	const int before_open = descriptors();
	unsigned int n;

	for (n = 0; n < 2; n++) {
		fake.no_map = offsets[n];
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
		CHECK_IS(gchint_get_reason(s), -ENOMEM);
		CHECK_IS(mapped(), 0);
		CHECK_IS(descriptors(), before_open);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		CHECK_IS(gchint_close(s), 0);
	}
}

/* An ABI that is not ours is no reason to hold on to it. */
static void another_abi(void)
{
	const int before_open = descriptors();

	fake_info()->size = sizeof(struct gchint_info) - 1;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), -EPROTONOSUPPORT);
	CHECK_IS(mapped(), 0);
	CHECK_IS(descriptors(), before_open);
}

/* The mapping of all CPUs is not required. */
static void without_cpus(void)
{
	struct gchint_policy p = { .size = sizeof(p) };

	fake_cpus();
	fake.no_map = GCHINT_MMAP_CPUS;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_get_policy(s, 0, &p), 0);
	CHECK_IS(p.cur_khz, 500000);
	CHECK_IS(mapped(), 2 * 4096);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(mapped(), 0);
}

/* The kernel defines the number of entries and their size. */
static void gone_at_the_close(void)
{
	int n;

	fake_cpus();
	for (n = 0; n < 2; n++) {
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(mapped(), 2 * 4096 + FAKE_CPUS * FAKE_CPU_SIZE);
		CHECK_IS(gchint_close(s), 0);
		CHECK_IS(mapped(), 0);
	}
}

static pthread_barrier_t step, silence;

static void *announce(void *arg)
{
	(void)arg;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	return NULL;
}

/* Also under a thread that stores there: its stores go to private pages. */
static void gone_under_a_thread(void)
{
	pthread_t thread;

	fake_cpus();
	pthread_barrier_init(&step, NULL, 2);
	CHECK_IS(gchint_open(&s, 0), 0);
	pthread_create(&thread, NULL, announce, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(mapped(), 0);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(mapped(), 2 * 4096 + FAKE_CPUS * FAKE_CPU_SIZE);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
}

/* Pages of no file. */
static long private_pages(void)
{
	unsigned long from, to, bytes = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (!strchr(line, '/') && sscanf(line, "%lx-%lx", &from, &to) == 2)
			bytes += to - from;
	fclose(f);
	return (long)(bytes / 4096);
}

static void *announce_often(void *arg)
{
	long *rounds = arg;

	while (__atomic_load_n(rounds, __ATOMIC_SEQ_CST) >= 0) {
		pthread_barrier_wait(&step);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
		pthread_barrier_wait(&step);
	}
	return NULL;
}

static void *announce_once(void *arg)
{
	pid_t *tid = arg;

	*tid = (pid_t)syscall(SYS_gettid);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	pthread_barrier_wait(&silence);
	pthread_barrier_wait(&silence);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	pthread_barrier_wait(&silence);
	pthread_barrier_wait(&silence);
	return NULL;
}

static unsigned int phase_of_slot(unsigned int n)
{
	return fake_slot(n)->state >> GCHINT_STATE_PHASE_SHIFT & 0xff;
}

/* So many sessions that a thread announces itself in, and that are closed under it. */
static void reopen(int times)
{
	while (times--) {
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_DEVICE);
		pthread_barrier_wait(&step);
		pthread_barrier_wait(&step);
		CHECK_IS(gchint_close(s), 0);
		CHECK_IS(mapped(), 0);
	}
}

static void bounded_under_a_thread(void)
{
	pthread_t thread;
	long rounds = 0, few;

	fake_cpus();
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, announce_often, &rounds);
	reopen(20);
	few = private_pages();
	reopen(500);
	CHECK(private_pages() <= few);
	CHECK_IS(gchint_open(&s, 0), 0);
	rounds = -1;
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	CHECK_IS(gchint_close(s), 0);
}

/* Its page is that of its own session for as long as it may store there. */
static void silent_thread_keeps_its_page(void)
{
	pthread_t silent, thread;
	long rounds = 0, few;
	unsigned int n;
	pid_t tid;

	fake_cpus();
	pthread_barrier_init(&step, NULL, 2);
	pthread_barrier_init(&silence, NULL, 2);
	CHECK_IS(gchint_open(&s, 0), 0);
	pthread_create(&silent, NULL, announce_once, &tid);
	pthread_barrier_wait(&silence);
	CHECK_IS(gchint_close(s), 0);
	pthread_create(&thread, NULL, announce_often, &rounds);
	reopen(20);
	few = private_pages();
	reopen(100);
	CHECK(private_pages() <= few);
	CHECK_IS(gchint_open(&s, 0), 0);
	rounds = -1;
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	CHECK(!fake_slot_of(tid));
	/* Its next edge finds that it has no slot in this session. */
	pthread_barrier_wait(&silence);
	pthread_barrier_wait(&silence);
	CHECK(fake_slot_of(tid));
	for (n = 0; n < GCHINT_SLOTS; n++)
		CHECK_IS(phase_of_slot(n),
			 fake_slot(n) == fake_slot_of(tid) ? GCHINT_PHASE_MARK : 0);
	pthread_barrier_wait(&silence);
	pthread_join(silent, NULL);
	CHECK_IS(gchint_close(s), 0);
}

static void *attach_once(void *arg)
{
	gchint_self();
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&silence);
	return arg;
}

/* The bound of <gchint.h>, gchint_open(3) and libgchint/README.md. */
static void pages_of_a_further_block(void)
{
	pthread_t thread[GCHINT_SLOTS];
	long own, kernel;
	unsigned int n;

	pthread_barrier_init(&step, NULL, GCHINT_SLOTS + 1);
	pthread_barrier_init(&silence, NULL, GCHINT_SLOTS + 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	for (n = 0; n < GCHINT_SLOTS; n++)
		pthread_create(&thread[n], NULL, attach_once, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(mapped(), 2 * 4096);
	own = private_pages();
	kernel = mapped();
	gchint_self();
	CHECK_IS(private_pages() - own, 1);
	CHECK_IS(mapped() - kernel, 4096);
	pthread_barrier_wait(&silence);
	for (n = 0; n < GCHINT_SLOTS; n++)
		pthread_join(thread[n], NULL);
	CHECK_IS(gchint_close(s), 0);
}

static const struct tap_test tests[] = {
	{ "one thread more than a block holds takes a page, and one of the kernel",
	  pages_of_a_further_block },
	{ "a page that cannot be mapped leaves no device", refused },
	{ "an unknown ABI leaves no device", another_abi },
	{ "a kernel without the mapping of all CPUs works", without_cpus },
	{ "the last close unmaps everything", gone_at_the_close },
	{ "a close under a running thread leaves private pages", gone_under_a_thread },
	{ "sessions closed under a running thread take bounded memory", bounded_under_a_thread },
	{ "a thread that is silent meanwhile stores to no other session",
	  silent_thread_keeps_its_page },
};

TAP_MAIN(tests, before)
