// SPDX-License-Identifier: MIT
/*
 * Description: the listeners: histogram, statistics, chain, and the one that passes phases to
 * libgchint, observed in the file of GCHINT_TRACE.
 */
#include "tap.h"

#include <gchint/gc-listener-gchint.h>

struct node {
	struct gc_header header;
	struct node *next;
	long pad;
};

static void churn(struct gc_heap *heap, struct gc_mutator *m, long count)
{
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 2 };
	const struct gc_type *type = gc_type_register(heap, &d, NULL);
	struct {
		struct gc_frame head;
		struct node *list, *fresh;
	} f;

	GC_PUSH(m, f);
	for (long i = 0; i < count; i++) {
		f.fresh = GC_NEW(m, type, struct node);
		gc_init(&f.fresh->next, i % 20000 ? f.list : NULL);
		f.list = f.fresh;
	}
	GC_POP(m, f);
}

static void run(const char *options, struct gc_listener *l, struct gc_heap_stats *s)
{
	struct gc_mutator *m;
	struct gc_heap *heap;

	memset(s, 0, sizeof(*s));
	if (gc_heap_create(&heap, options, l, NULL) || gc_mutator_attach(heap, &m))
		return;
	churn(heap, m, 600000);
	gc_collect(m);
	gc_heap_stats(heap, s);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

static void histogram(void)
{
	static struct gc_histogram h;
	bool good = true;

	for (uint64_t ns = 1; ns <= 1000000; ns++)
		gc_histogram_add(&h, ns);
	for (int q = 1; q <= 9; q++) {
		double want = q / 10.0 * 1000000;
		double got = (double)gc_histogram_quantile(&h, q / 10.0);

		/* eight buckets an octave: at most an eighth too high, never too low */
		good &= got >= want - 1 && got <= want * 1.125 + 1;
	}
	ok(good, "histogram: quantiles lie within a bucket");
	ok(h.max_ns == 1000000 && gc_histogram_quantile(&h, 1) == 1000000 && h.count == 1000000,
	   "histogram: the maximum is exact");
}

/* The last event of a cycle, as the listener got it. */
struct cycle_listener {
	struct gc_listener base;
	struct gc_event begin, end;
};

static void cycle_began(struct gc_listener *self, const struct gc_event *event)
{
	((struct cycle_listener *)self)->begin = *event;
}

static void cycle_ended(struct gc_listener *self, const struct gc_event *event)
{
	((struct cycle_listener *)self)->end = *event;
}

/* By the counters of the heap, just after its last cycle. */
static void heap_of_cycle(const char *options)
{
	static const struct gc_listener_ops cycle_ops = { .cycle_begin = cycle_began,
							  .cycle_end = cycle_ended };
	struct cycle_listener l = { .base = { &cycle_ops } };
	struct gc_heap_stats s;

	run(options, &l.base, &s);
	ok(l.end.heap_bytes == s.heap_bytes && l.end.footprint_bytes == s.footprint_bytes &&
		   l.end.allocated_bytes == s.allocated_bytes && l.end.max_bytes == 32 << 20,
	   "%s: the end of a cycle has the heap's counters", options);
	ok(l.begin.heap_bytes > l.end.heap_bytes && l.begin.max_bytes == 32 << 20 &&
		   l.begin.footprint_bytes >= l.begin.heap_bytes,
	   "%s: its begin has what was in use", options);
}

static long count(const char *text, const char *word)
{
	long n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static struct gc_listener_gchint told;
static char told_path[] = "/tmp/gchint-trace-XXXXXX";

/* When the heap runs out, of events of the second 1 */
static uint64_t exhaust_ns = 1000000010;

/* What libgchint heard last of @op */
static const char *last_of(gc_listen_fn op, bool stw)
{
	struct gc_event event = { .time_ns = 1000000000,
				  .exhaust_ns = exhaust_ns,
				  .cause = GC_CAUSE_CONCURRENT,
				  .phase = GC_PHASE_MARK,
				  .pause = GC_PAUSE_WAIT,
				  .stw = stw };
	static char text[1 << 16];
	char *line = text, *next;
	FILE *file;

	op(&told.base, &event);
	file = fopen(told_path, "re");
	if (!file)
		return "";
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	while ((next = strchr(line, '\n')) && next[1])
		line = next + 1;
	return line;
}

/* Somebody waits for a concurrent cycle, whether he helps or not. */
static void waits(void)
{
	const struct gc_listener_ops *ops;
	const char *line;

	close(mkstemp(told_path));
	setenv("GCHINT_TRACE", told_path, 1);
	ok(!gc_listener_gchint_open(&told, 0), "a session opens");
	ops = told.base.ops;
	line = last_of(ops->mark_begin, false);
	ok(strstr(line, "concurrent,urgent") && strstr(line, "stall="), "a near stall is urgent");
	exhaust_ns = 3000000000;
	ok(!strstr(last_of(ops->mark_begin, false), "urgent"), "a distant stall is not urgent");
	ops->mutator_paused(&told.base, &(struct gc_event){ .pause = GC_PAUSE_WAIT });
	ok(strstr(last_of(ops->mark_begin, false), "concurrent,urgent"),
	   "a waiting mutator makes the phase urgent");
	line = last_of(ops->help_begin, false);
	ok(strstr(line, "concurrent,urgent"), "concurrent help is urgent while the helper waits");
	ok(strstr(last_of(ops->mark_begin, false), "concurrent,urgent"),
	   "concurrent help stays urgent when all mutators help");
	ok(strstr(last_of(ops->help_begin, true), "stw"), "help in a stop is part of the stop");
	last_of(ops->help_end, true);
	last_of(ops->help_end, false);
	ops->mutator_resumed(&told.base, &(struct gc_event){ .pause = GC_PAUSE_WAIT });
	ok(!strstr(last_of(ops->mark_begin, false), "urgent"),
	   "without waiting mutators the phase is not urgent");
	gc_listener_gchint_close(&told);
	unlink(told_path);
}

/* How often thread @tid did @op, by the text of a trace: other threads' leases come when they run. */
static long count_of(const char *text, pid_t tid, const char *op)
{
	char word[64];

	snprintf(word, sizeof(word), " %d %s", (int)tid, op);
	return count(text, word);
}

/* A mutator for which no collection comes, and that waits for nothing. */
static void alone(void)
{
	char text[4096], path[] = "/tmp/gchint-trace-XXXXXX";
	int fd = mkstemp(path);
	struct gc_listener_gchint l;
	const pid_t tid = getpid(); /* of the first thread */
	struct gc_mutator *m;
	struct gc_heap *heap;
	ssize_t n;

	setenv("GCHINT_TRACE", path, 1);
	if (gc_listener_gchint_open(&l, 0) || gc_heap_create(&heap, "heap=64M", &l.base, NULL) ||
	    gc_mutator_attach(heap, &m)) {
		ok(false, "a heap with hints is created");
		return;
	}
	churn(heap, m, 1000);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	if (!ok(count_of(text, tid, "attach role=none") == 1 && !count_of(text, tid, "detach"),
		"a mutator that never waits is leased"))
		printf("# %s\n", text);
	gc_mutator_detach(m);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	if (!ok(count_of(text, tid, "attach") == 1 && count_of(text, tid, "detach") == 1 &&
			!count(text, " begin"),
		"the lease ends when it detaches"))
		printf("# %s\n", text);
	gc_heap_destroy(heap);
	gc_listener_gchint_close(&l);
	close(fd);
	unlink(path);
}

static void hints(const char *options, const char *const *words)
{
	static char text[1 << 20];
	char path[] = "/tmp/gchint-trace-XXXXXX";
	int fd = mkstemp(path);
	struct gc_listener_gchint l;
	struct gc_heap_stats s;
	ssize_t n;

	setenv("GCHINT_TRACE", path, 1);
	ok(!gc_listener_gchint_open(&l, 0), "%s: the session opens", options);
	run(options, &l.base, &s);
	gc_listener_gchint_close(&l);
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	unlink(path);
	for (; *words; words++)
		if (!ok(count(text, *words) > 0, "%s: libgchint receives %s", options, *words))
			printf("# %.600s\n", text);
}

int main(void)
{
	static const char *const marking[] = {
		"mark", "remark", "sweep", "roots", "safepoint", NULL
	};
	static const char *const copying[] = { "copy", "roots", "safepoint", NULL };
	struct gc_listener_stats one, two;
	struct gc_listener_chain chain;
	struct gc_heap_stats s;

	heap_of_cycle("plan=cms,heap=8M,max=32M,policy=fg,trim=0");
	heap_of_cycle("plan=semispace,heap=8M,max=32M,workers=1,trim=0");
	histogram();
	ok(!gc_listener_stats_init(&one, 1000) && !gc_listener_stats_init(&two, 0),
	   "statistics are created");
	gc_listener_chain_init(&chain, &one.base, &two.base);
	run("plan=cms,heap=2M,policy=fg", &chain.base, &s);
	ok(one.cycles[1] && one.cycles[1] == two.cycles[1] && one.cycles[1] == s.cycles,
	   "a chain fires both listeners");
	ok(one.ttsp.count == two.ttsp.count && one.ttsp.count >= s.cycles &&
		   one.stw.count == one.ttsp.count,
	   "every stop restarts");
	ok(one.by_cause[GC_CAUSE_EXPLICIT] == 1, "causes are counted");
	ok(one.record_count && one.records[0].end_ns >= one.records[0].begin_ns,
	   "pauses are recorded");
	ok(one.phase_count[GC_PHASE_SWEEP] == s.cycles, "each cycle sweeps once");
	gc_listener_stats_fini(&one);
	gc_listener_stats_fini(&two);
	run("plan=cms,heap=2M", &gc_listener_null, &s);
	ok(s.cycles > 0, "the null listener does nothing");
	hints("plan=cms,heap=2M,policy=fg", marking);
	hints("plan=gss,nursery=1M", copying);
	waits();
	alone();
	return done();
}
