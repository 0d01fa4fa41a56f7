// SPDX-License-Identifier: MIT
/* Phase edges, as the kernel sees them in the slot. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

static const struct gchint_slot *slot;

/* The calling thread announces itself; slot is where. */
static void start(void)
{
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	slot = fake_slot_of(getpid());
	CHECK(slot);
}

static void plain_edge(void)
{
	start();
	CHECK_IS(fake.calls, 1);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(state_of(slot),
		 GCHINT_STATE(GCHINT_STATE_EDGE, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT));
	gchint_phase_end();
	CHECK_IS(state_of(slot), GCHINT_STATE(2 * GCHINT_STATE_EDGE, 0, 0));
	gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_STW | GCHINT_F_URGENT);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_SWEEP);
	CHECK_IS(flags_of(slot), GCHINT_F_STW | GCHINT_F_URGENT);
	CHECK_IS(edges_of(slot), 3);
	gchint_phase_end();
	CHECK_IS(fake.calls, 1); /* attaching, and no doorbell */
}

static void sequence_wraps(void)
{
	int n;

	start();
	for (n = 0; n < 40000; n++) {
		gchint_phase_begin(GCHINT_PHASE_COPY, GCHINT_F_STW);
		if (phase_of(slot) != GCHINT_PHASE_COPY || state_of(slot) & GCHINT_STATE_WRITING)
			break;
		gchint_phase_end();
	}
	CHECK_IS(n, 40000);
	CHECK_IS(edges_of(slot), 80000 % 32768);
}

static void before_init_nothing(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_next(GCHINT_PHASE_SWEEP, 0);
	gchint_phase_end();
	CHECK_IS(fake.opens, 0);
	start();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
}

static void nested(void)
{
	start();
	gchint_phase_begin(GCHINT_PHASE_COLLECT, GCHINT_F_STW);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_FOREGROUND);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_REFS);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK_IS(flags_of(slot), GCHINT_F_STW);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_COLLECT);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	CHECK_IS(edges_of(slot), 6);
}

/* Its last end leaves the handle as the next plain edge wants it: no call. */
static void plain_after_nesting(void)
{
	const uint32_t *plain;

	start();
	gchint_phase_begin(GCHINT_PHASE_COLLECT, GCHINT_F_STW);
	gchint_phase_end();
	plain = gchint_self()->state;
	gchint_phase_begin(GCHINT_PHASE_COLLECT, GCHINT_F_STW);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK(gchint_self()->state != plain);
	gchint_phase_end();
	gchint_phase_end();
	CHECK(gchint_self()->state == plain);
	gchint_phase_end();
	CHECK(gchint_self()->state == plain);
}

/* Each edge is one, the outer phase stays where it was, the cause stays. */
static void next(void)
{
	struct gchint_detail d = { .size = sizeof(d), .cause = GCHINT_CAUSE_OOM, .work_done = 3 };

	start();
	gchint_phase_next(GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW); /* nothing was open */
	CHECK_IS(phase_of(slot), GCHINT_PHASE_SAFEPOINT);
	gchint_phase_next(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK_IS(edges_of(slot), 2);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_end();

	gchint_begin_detail(gchint_self(), GCHINT_PHASE_COLLECT, GCHINT_F_STW, &d);
	gchint_next(gchint_self(), GCHINT_PHASE_SWEEP, GCHINT_F_FOREGROUND);
	CHECK_IS(slot->cause, GCHINT_CAUSE_OOM);
	CHECK_IS(slot->work_done, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_SWEEP);
	gchint_phase_begin(GCHINT_PHASE_REFS, 0);
	gchint_phase_next(GCHINT_PHASE_TRIM, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_TRIM);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_SWEEP);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_begin(GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW);
	CHECK_IS(slot->cause, 0);
	gchint_next_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_STW, &d);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK_IS(slot->cause, GCHINT_CAUSE_OOM);
	CHECK_IS(slot->work_done, 3);
	gchint_phase_end();
	CHECK_IS(slot->work_done, 3);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(slot->work_done, 0);
	CHECK_IS(slot->cause, 0);
	gchint_phase_end();

	fake_info()->doorbell_begin = ~0u;
	fake_info()->doorbell_end = ~0u;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_next(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(fake.ring_count, 2); /* one for both */
	CHECK_IS(fake_last_ring().state & 0xff, GCHINT_PHASE_SWEEP);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 3);
}

/* Five are remembered; the sixth further out counts as none, and the depth is right. */
static void nested_deep(void)
{
	unsigned int n;

	start();
	for (n = 1; n <= 7; n++)
		gchint_phase_begin(n, 0);
	for (n = 7; n > 3; n--) {
		CHECK_IS(phase_of(slot), n);
		gchint_phase_end();
	}
	CHECK_IS(phase_of(slot), 3);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_end();
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_SWEEP);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
}

/* Deeper than can be counted: what is remembered is still so. */
static void nested_without_end(void)
{
	int n;

	start();
	for (n = 0; n < 256; n++)
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_begin(GCHINT_PHASE_REFS, 0);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
}

static void end_without_begin(void)
{
	start();
	gchint_phase_end();
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	gchint_phase_end();
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
}

static void abandoned(void)
{
	start();
	gchint_phase_begin(GCHINT_PHASE_COLLECT, GCHINT_F_STW);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	gchint_abandon(gchint_self());
	CHECK_IS(state_of(slot) & 0xffff, 0);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	gchint_phase_begin(GCHINT_PHASE_TRIM, 0);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_SWEEP);
	/* The end of the innermost phase rings; an end without a phase does not. */
	gchint_phase_begin(GCHINT_PHASE_COPY, 0);
	fake_info()->doorbell_end = BIT(GCHINT_PHASE_COPY) | BIT(GCHINT_PHASE_NONE);
	gchint_abandon(gchint_self());
	CHECK_IS(fake.ring_count, 1);
	gchint_abandon(gchint_self());
	CHECK_IS(fake.ring_count, 1);
}

static void details(void)
{
	struct gchint_detail d = { .size = sizeof(d) };

	start();
	d.cause = GCHINT_CAUSE_EXPLICIT;
	d.work_done = 5;
	d.work_total = 0x100000002;
	d.stall_ns = 0x300000004;
	d.method = 0x500000006;
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK(!(state_of(slot) & GCHINT_STATE_WRITING));
	CHECK_IS(slot->cause, GCHINT_CAUSE_EXPLICIT);
	CHECK_IS(slot->work_done, 5);
	CHECK_IS(slot->work_total, 0x100000002);
	CHECK_IS(slot->stall_ns, 0x300000004);
	CHECK_IS(slot->method, 0x500000006);

	gchint_progress(gchint_self(), 77, 88, 99);
	CHECK_IS(edges_of(slot), 2);
	CHECK_IS(slot->work_done, 77);
	CHECK_IS(slot->work_total, 88);
	CHECK_IS(slot->stall_ns, 99);
	CHECK_IS(slot->cause, GCHINT_CAUSE_EXPLICIT);
	/* The thread's own work is no detail of a phase, and no edge. */
	gchint_own_work(gchint_self(), 0x700000008);
	CHECK_IS(slot->own_work, 0x700000008);
	CHECK_IS(edges_of(slot), 2);
	CHECK_IS(slot->work_done, 77);
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_NATIVE);
	gchint_set_method(gchint_self(), 1234);
	CHECK_IS(slot->cause, GCHINT_CAUSE_NATIVE);
	CHECK_IS(slot->method, 1234);
	CHECK_IS(slot->work_done, 77);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK_IS(edges_of(slot), 4);

	/* They outlive the phase, so that the kernel can learn from phases between two samples. */
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	CHECK_IS(slot->cause, GCHINT_CAUSE_NATIVE);
	CHECK_IS(slot->work_done, 77);
	CHECK_IS(slot->work_total, 88);
	CHECK(!(state_of(slot) & GCHINT_STATE_WRITING));
	CHECK_IS(fake.calls, 1);
	/* The next phase does not inherit them, however it begins. */
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(edges_of(slot), 6);
	CHECK_IS(slot->cause, 0);
	CHECK_IS(slot->work_done, 0);
	CHECK_IS(slot->stall_ns, 0);
	CHECK_IS(slot->method, 0);
	gchint_phase_end();
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_phase_end();
	gchint_phase_next(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(slot->work_done, 0);
	gchint_phase_end();
	/* The outer phase does not get them back. */
	gchint_phase_begin(GCHINT_PHASE_COLLECT, 0);
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	CHECK_IS(slot->work_done, 5);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_COLLECT);
	CHECK_IS(slot->work_done, 0);
	gchint_phase_end();
	/* An abandoned phase leaves nothing. */
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_abandon(gchint_self());
	CHECK_IS(slot->work_done, 0);
}

static void details_nested(void)
{
	struct gchint_detail d = { .size = sizeof(d), .cause = GCHINT_CAUSE_OOM, .work_total = 9 };

	start();
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_COLLECT, GCHINT_F_STW, &d);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	CHECK_IS(slot->cause, 0);
	CHECK_IS(slot->work_total, 0);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_COLLECT);
	CHECK_IS(slot->cause, 0);
}

/* A runtime that learns the cause when the pause is over (JVM). */
static void cause_after_the_end(void)
{
	start();
	gchint_phase_begin(GCHINT_PHASE_COLLECT, GCHINT_F_STW);
	gchint_phase_end();
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_ALLOCATION);
	CHECK_IS(slot->cause, GCHINT_CAUSE_ALLOCATION);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_progress(gchint_self(), 1, 2, 3); /* work of no phase */
	gchint_own_work(gchint_self(), 4);
	CHECK_IS(slot->work_done, 0);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(slot->cause, 0);
	CHECK_IS(slot->own_work, 4);
}

/* A caller compiled against a shorter structure, and one against a longer. */
static void detail_sizes(void)
{
	struct {
		struct gchint_detail d;
		uint64_t more;
	} newer = { .d = { .size = sizeof(newer), .cause = 3, .method = 7 }, .more = ~0ull };
	struct gchint_detail older = { .size = 16, .cause = 2, .work_done = 4, .method = 7 };

	start();
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, 0, &newer.d);
	CHECK_IS(slot->method, 7);
	gchint_phase_end();
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, 0, &older);
	CHECK_IS(slot->work_done, 4);
	CHECK_IS(slot->method, 0);
	gchint_phase_end();
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, 0, NULL);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK_IS(slot->work_done, 0);
}

static void bell_only_when_asked(void)
{
	start();
	fake_info()->doorbell_begin = BIT(GCHINT_PHASE_MARK);
	fake_info()->doorbell_end = BIT(GCHINT_PHASE_MARK) | BIT(GCHINT_PHASE_SWEEP);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(fake.ring_count, 1);
	CHECK_IS(fake_last_ring().state, GCHINT_STATE(GCHINT_STATE_EDGE, GCHINT_PHASE_MARK, 0));
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 2);
	CHECK_IS(fake_last_ring().state, GCHINT_STATE(2 * GCHINT_STATE_EDGE, 0, 0));
	gchint_phase_begin(GCHINT_PHASE_COPY, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 2);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(fake.ring_count, 2);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 3);
	fake_info()->doorbell_begin = 0;
	fake_info()->doorbell_end = 0;
	gchint_phase_begin(GCHINT_PHASE_REMARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 3);
	CHECK_IS(edges_of(slot), 8);
}

/* The inner phase's end brings the outer one back: the kernel asked for its begin. */
static void bell_back_in_the_outer(void)
{
	start();
	fake_info()->doorbell_begin = BIT(GCHINT_PHASE_MARK) | BIT(GCHINT_PHASE_REFS);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_begin(GCHINT_PHASE_REFS, 0);
	CHECK_IS(fake.ring_count, 2);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 3);
	CHECK_IS(fake_last_ring().state & 0xff, GCHINT_PHASE_MARK);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 3);
}

/* The mask appears in the middle: the next edge obeys. */
static void bell_in_the_middle(void)
{
	start();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	fake_info()->doorbell_begin = ~0u;
	fake_info()->doorbell_end = ~0u;
	gchint_phase_begin(GCHINT_PHASE_REFS, 0);
	CHECK_IS(fake.ring_count, 1);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 2);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
}

static void set_cpus(__u8 policy)
{
	memset(fake_info()->cpu_policy, policy, GCHINT_INFO_CPUS);
}

/* The first CPU that the test may run on; the thread stays there. */
static int stay(void)
{
	cpu_set_t may, one;
	int cpu = 0;

	CHECK_IS(sched_getaffinity(0, sizeof(may), &may), 0);
	while (!CPU_ISSET(cpu, &may))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_IS(sched_setaffinity(0, sizeof(one), &one), 0);
	return cpu;
}

/* Only on CPUs whose policy is governed by gchint, or with a recorder. */
static void bell_by_policy(void)
{
	const int cpu = stay();

	start();
	fake_info()->doorbell_begin = BIT(GCHINT_PHASE_MARK);
	fake_info()->policy[1].flags = GCHINT_POLICY_PRESENT;
	set_cpus(1);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 0);
	set_cpus(GCHINT_INFO_NO_POLICY);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 0);
	/* A newer kernel has something else where the next entry would be. */
	memset(fake_info() + 1, 0xff, 4096 - sizeof(struct gchint_info));
	set_cpus(GCHINT_INFO_POLICIES);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 0);
	fake_info()->record = BIT(GCHINT_PHASE_MARK);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 1);
	fake_info()->record = 0;
	fake_info()->cpu_policy[cpu] = 0;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 2);
	/* One that does not fit into the page may be. */
	set_cpus(GCHINT_INFO_UNLISTED);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 3);
}

/* The mapping of all CPUs takes precedence over the table of the first policies. */
static void bell_by_cpu(void)
{
	const int cpu = stay();

	fake_cpus();
	start();
	fake_info()->doorbell_begin = BIT(GCHINT_PHASE_MARK);
	set_cpus(GCHINT_INFO_UNLISTED);
	fake_cpu((unsigned int)cpu)->policy.flags = GCHINT_POLICY_PRESENT;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 0);
	set_cpus(GCHINT_INFO_NO_POLICY);
	fake_cpu((unsigned int)cpu)->policy.flags |= GCHINT_POLICY_GCHINT;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 1);
}

/* errno is the caller's, whatever an edge does. */
static void errno_kept(void)
{
	errno = 4711;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(errno, 4711);
	start();
	errno = 4711;
	fake_info()->doorbell_begin = ~0u;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(errno, 4711);
	memset(fake.lease, 0, sizeof(fake.lease));
	gchint_phase_begin(GCHINT_PHASE_MARK, 0); /* ENOENT */
	CHECK_IS(errno, 4711);
	gchint_phase_end();
	CHECK_IS(gchint_detach(gchint_self()), 0);
	CHECK_IS(errno, 4711);
}

/* The kernel says that the slot is free: nothing is written there again. */
static void slot_gone(void)
{
	__u32 before;

	start();
	memset(fake.lease, 0, sizeof(fake.lease));
	fake_info()->doorbell_begin = ~0u;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	before = state_of(slot);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(state_of(slot), before);
}

/* A daemon closes all descriptors; its next file may have our number. */
static void descriptor_taken(void)
{
	struct gchint_session *s;
	int fd, pipes[2];

	start();
	gchint_open(&s, 0);
	fd = gchint_get_fd(s);
	CHECK(fd > 2);
	CHECK_IS(pipe(pipes), 0);
	CHECK_IS(dup2(pipes[0], fd), fd);
	fake_info()->doorbell_begin = ~0u;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK); /* the pages work without */
	gchint_phase_end();
	/* Found out once, it is not asked again. */
	CHECK_IS(gchint_get_fd(s), -ENODEV);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 0);
	CHECK_IS(fake.strays, 1);
	CHECK(write(pipes[1], "x", 1) == 1);
	CHECK(read(fd, &(char){ 0 }, 1) == 1); /* the program's file is still open */
}

/* Another file with that number is not closed, whatever it is. */
static void descriptor_of_another(void)
{
	const int files[] = { memfd_create("other", MFD_CLOEXEC), open("/dev/null", O_RDWR) };
	struct gchint_session *s;
	struct stat st;
	int fd, n;

	for (n = 0; n < 2; n++) {
		fake.alike = 0;
		CHECK_IS(gchint_open(&s, 0), 0);
		fd = gchint_get_fd(s);
		CHECK_IS(fstat(fd, &st), 0);
		if (n)
			fake.alike = st.st_ino;
		CHECK_IS(dup2(files[n], fd), fd);
		CHECK_IS(gchint_close(s), 0);
		CHECK(fcntl(fd, F_GETFD) >= 0);
		close(fd);
	}
}

static const struct tap_test tests[] = {
	{ "a plain edge is one store of the next word", plain_edge },
	{ "the sequence wraps", sequence_wraps },
	{ "edges before gchint_init() do nothing", before_init_nothing },
	{ "phases nest", nested },
	{ "after nested phases an edge is a plain one again", plain_after_nesting },
	{ "gchint_next() replaces the phase in one store", next },
	{ "phases nest deeper than the remembered levels", nested_deep },
	{ "phases nest deeper than the counter", nested_without_end },
	{ "an end without a begin does nothing", end_without_begin },
	{ "gchint_abandon() ends all nested phases", abandoned },
	{ "details and progress reach the slot", details },
	{ "an inner phase has no details of the outer one", details_nested },
	{ "the cause may come after the end", cause_after_the_end },
	{ "shorter and longer struct gchint_detail are accepted", detail_sizes },
	{ "doorbells ring only for phases in the mask", bell_only_when_asked },
	{ "a doorbell rings when the outer phase resumes", bell_back_in_the_outer },
	{ "a mask may change within a phase", bell_in_the_middle },
	{ "doorbells ring only on CPUs under gchint, or for a recorder", bell_by_policy },
	{ "doorbells follow the mapping of all CPUs", bell_by_cpu },
	{ "errno is preserved", errno_kept },
	{ "a slot that the kernel reclaimed is not written", slot_gone },
	{ "a descriptor that the program closed and reused is not used", descriptor_taken },
	{ "another file with the descriptor's number is not closed", descriptor_of_another },
};

static void before(void)
{
	setenv("GCHINT_MIN_US", "0", 1);
	fake_reset();
}

TAP_MAIN(tests, before)
