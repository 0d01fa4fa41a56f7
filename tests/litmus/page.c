// SPDX-License-Identifier: MIT
/*
 * The slot's protocol, libgchint's writer against the module's reader, each as it is built:
 * whatever a weak memory shows to the reader, details that it accepts belong to the state word that
 * it read. And each ordering in it is needed.
 */
#include "host.h"
#include <gchint.h>

#include "../libgchint/fakedev.h"
#include "../libgchint/tap.h"
#include "model.h"
#include "snapshot.h"

#define NOW 1000000000ULL

static const struct gchint_slot *slot;

/* What the writer published, in order. The first is an attached slot. */
static struct gchint_slot published[32];
static unsigned int nr_published;

static void store_publish(const volatile void *p)
{
	if (p != &slot->state || slot->state & GCHINT_STATE_WRITING)
		return;
	memcpy(&published[nr_published++], slot, sizeof(*slot));
}

static void writer_start(enum model_weak weak, bool torn)
{
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	CHECK(fake_slot_of(getpid()));
	/* The library's view: its word is the slot's first. */
	slot = (const struct gchint_slot *)__gchint_self.state;
	published[0] = (struct gchint_slot){ 0 };
	nr_published = 1;
	model_begin(slot, weak, torn, store_publish);
}

static struct gchint_detail detail_make(uint64_t n)
{
	uint64_t both = n << 32 | n;

	return (struct gchint_detail){
		.size = sizeof(struct gchint_detail),
		.cause = (uint32_t)(GCHINT_CAUSE_ALLOCATION + n % 3),
		.work_done = n << 20 << (n & 1 ? 0 : 16) | n,
		.work_total = n << 48 | n,
		.stall_ns = NOW + both % 599000000000ULL,
		.method = both,
	};
}

/* Each of them goes through different stores of the library. */
static void plain_write(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
}

static void with_details(void)
{
	struct gchint_detail d = detail_make(1);

	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_phase_end();
}

static void one_after_another(void)
{
	struct gchint_detail d = detail_make(1), e = detail_make(2);

	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_next_detail(gchint_self(), GCHINT_PHASE_COPY, GCHINT_F_STW, &e);
}

static void progress_write(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	gchint_progress(gchint_self(), 5, 9, NOW + 7);
	gchint_phase_end();
}

static void cause_and_method(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	gchint_set_method(gchint_self(), 77);
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_TIMER);
	gchint_phase_end();
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_OOM);
}

/* Details of the previous phase must not appear as those of one without details. */
static void details_forget(void)
{
	struct gchint_detail d = detail_make(1);

	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_TRIM, GCHINT_F_CONCURRENT);
}

static void phase_nest(void)
{
	struct gchint_detail d = detail_make(3);

	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_phase_begin(GCHINT_PHASE_REMARK, GCHINT_F_STW);
	gchint_phase_end();
}

/**
 * struct writer - one path through the library
 * @name: for the output
 * @write: the function
 * @chained: an edge without details follows one that cleared them: that the reader of the later one
 * knows of the clearing relies on the chain of stores that a release heads, which C11 and the
 * processors guarantee (chain.litmus), and the kernel's model does not
 */
struct writer {
	const char *name;
	void (*write)(void);
	bool chained;
};

static const struct writer writers[] = {
	{ "plain", plain_write, false },
	{ "with details", with_details, false },
	{ "one after another", one_after_another, false },
	{ "progress", progress_write, false },
	{ "cause and method", cause_and_method, false },
	{ "forgotten", details_forget, true },
	{ "nested", phase_nest, true },
};

struct seen {
	unsigned long runs;
	unsigned long whole; /* with details */
	unsigned long newest; /* with those published last */
	unsigned int published;
	struct gchint_snapshot bad;
	bool is_bad;
};

static struct seen seen;

static bool detail_matches(const struct gchint_snapshot *s, const struct gchint_slot *p)
{
	bool phase = p->state & 0xff;

	return s->work_done == p->work_done && s->work_total == p->work_total &&
	       s->cause == p->cause && s->method == p->method &&
	       s->stall_ns == (phase ? p->stall_ns : 0) &&
	       !(s->ignored & ~(1u << GCHINT_IGNORED_WRITING));
}

/* The kernel's read of the slot. Stops at the first impossible one. */
static bool read_slot(void)
{
	struct gchint_snapshot s;
	unsigned int i;

	gchint_snapshot_take(&s, slot, NOW);
	for (i = 0; i < nr_published; i++)
		if (s.state == published[i].state)
			break;
	if (i == nr_published || s.phase != (published[i].state & 0xff) ||
	    (s.details && !detail_matches(&s, &published[i]))) {
		seen.bad = s;
		seen.is_bad = true;
		return false;
	}
	seen.whole += s.details;
	seen.newest += s.details && i == nr_published - 1;
	return true;
}

/* In a separate child: a process has one session. */
static struct seen writer_explore(const struct writer *w, enum model_weak weak, bool torn)
{
	struct seen *out =
		mmap(NULL, sizeof(*out), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t child;

	CHECK(out != MAP_FAILED);
	fflush(stdout);
	child = fork();
	if (!child) {
		writer_start(weak, torn);
		w->write();
		seen.runs = model_explore(read_slot);
		seen.published = nr_published - 1;
		*out = seen;
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK_IS(waitpid(child, &status, 0), child);
	CHECK_IS(status, 0);
	return *out;
}

static void orders_hold(enum model_weak weak, bool torn)
{
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		struct seen s;

		if (weak == MODEL_NO_CHAIN && writers[i].chained)
			continue;
		s = writer_explore(&writers[i], weak, torn);
		printf("# %s: %u published, %lu executions, %lu with details\n", writers[i].name,
		       s.published, s.runs, s.whole);
		if (s.is_bad)
			printf("# state %#x: work %#llx of %#llx, stall %#llx, method %#llx\n",
			       s.bad.state, (unsigned long long)s.bad.work_done,
			       (unsigned long long)s.bad.work_total,
			       (unsigned long long)s.bad.stall_ns,
			       (unsigned long long)s.bad.method);
		CHECK(!s.is_bad);
		/* A reader that accepted nothing would be right, too. */
		CHECK(s.newest);
	}
}

static void details_belong_to_their_state(void)
{
	orders_hold(MODEL_AS_WRITTEN, false);
}

static void even_where_they_tear(void)
{
	orders_hold(MODEL_AS_WRITTEN, true);
}

/* Details that are new at an edge, or that an end leaves behind, are ordered by it. */
static void details_need_no_chain(void)
{
	orders_hold(MODEL_NO_CHAIN, false);
}

/* Without an ordering some writer's details are attributed to another phase. */
static void is_needed(enum model_weak weak)
{
	bool bad = false;

	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		struct seen s = writer_explore(&writers[i], weak, false);

		if (s.is_bad)
			printf("# %s: state %#x with work %#llx\n", writers[i].name, s.bad.state,
			       (unsigned long long)s.bad.work_done);
		bad |= s.is_bad;
	}
	CHECK(bad);
}

static void writers_release_is_needed(void)
{
	is_needed(MODEL_NO_RELEASE);
}

static void writers_fence_is_needed(void)
{
	is_needed(MODEL_NO_WRITER_FENCE);
}

static void readers_acquire_is_needed(void)
{
	is_needed(MODEL_NO_ACQUIRE);
}

static void readers_fence_is_needed(void)
{
	is_needed(MODEL_NO_READER_FENCE);
}

static const struct tap_test tests[] = {
	{ "details belong to their state", details_belong_to_their_state },
	{ "even where they tear", even_where_they_tear },
	{ "details need no chain of releases", details_need_no_chain },
	{ "the writer's release is needed", writers_release_is_needed },
	{ "the writer's fence is needed", writers_fence_is_needed },
	{ "the reader's acquire is needed", readers_acquire_is_needed },
	{ "the reader's fence is needed", readers_fence_is_needed },
};

TAP_MAIN(tests, fake_reset)
