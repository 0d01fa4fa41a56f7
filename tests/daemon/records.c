// SPDX-License-Identifier: GPL-2.0-or-later
#include "records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../daemon/recording/queue.h"
#include "faults.h"
#include "unit.h"

#define WATCHES 64

static struct watched watched[WATCHES];
static unsigned int nr_watched;

struct watch *__real_loop_fd(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *data);
struct watch *__wrap_loop_fd(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *data);
struct watch *__real_loop_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data);
struct watch *__wrap_loop_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data);
int __real_watch_period(struct watch *w, uint64_t period_ns);
int __wrap_watch_period(struct watch *w, uint64_t period_ns);
void __real_watch_free(struct watch *w);
void __wrap_watch_free(struct watch *w);
int __real_watch_again(struct watch *w);
int __wrap_watch_again(struct watch *w);

static struct watch *watch_add(const struct watched *w)
{
	if (w->watch && nr_watched < WATCHES)
		watched[nr_watched++] = *w;
	return w->watch;
}

struct watch *__wrap_loop_fd(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *data)
{
	return watch_add(&(struct watched){ __real_loop_fd(loop, fd, events, fn, data), fd, events,
					    0, fn, data, 0 });
}

struct watch *__wrap_loop_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data)
{
	return watch_add(&(struct watched){ __real_loop_timer(loop, period_ns, fn, data), -1, 0,
					    period_ns, fn, data, 0 });
}

int __wrap_watch_period(struct watch *w, uint64_t period_ns)
{
	for (unsigned int i = 0; i < nr_watched; i++)
		if (watched[i].watch == w)
			watched[i].period_ns = period_ns;
	return __real_watch_period(w, period_ns);
}

int __wrap_watch_again(struct watch *w)
{
	for (unsigned int i = 0; i < nr_watched; i++)
		if (watched[i].watch == w)
			watched[i].again++;
	return __real_watch_again(w);
}

void __wrap_watch_free(struct watch *w)
{
	for (unsigned int i = 0; w && i < nr_watched; i++)
		if (watched[i].watch == w)
			watched[i].watch = NULL;
	__real_watch_free(w);
}

unsigned int watched_open(void)
{
	unsigned int open = 0;

	for (unsigned int i = 0; i < nr_watched; i++)
		open += !!watched[i].watch;
	return open;
}

struct watched *watched_at(unsigned int i)
{
	return &watched[i];
}

unsigned int watched_count(void)
{
	return nr_watched;
}

void watched_forget(void)
{
	memset(watched, 0, sizeof(watched));
	nr_watched = 0;
}

static void put_number(FILE *f, int64_t v)
{
	if (v == UNKNOWN_S64)
		fputs(" ?", f);
	else
		fprintf(f, " %" PRId64, v);
}

static void put_definition(FILE *f, const struct definition *d)
{
	static const char *const kinds[DEFINE_NR] = {
		[DEFINE_META] = "meta",	       [DEFINE_CLOCK] = "clock",
		[DEFINE_RAIL] = "rail",	       [DEFINE_NOTE] = "note",
		[DEFINE_PROCESS] = "process",  [DEFINE_STACK] = "stack",
		[DEFINE_IMAGE] = "image",      [DEFINE_POLICY] = "policy",
		[DEFINE_OPP] = "opp",	       [DEFINE_ANNOTATION] = "annotation",
		[DEFINE_SOURCE] = "source",    [DEFINE_THERMAL] = "sensor",
		[DEFINE_IDLE_STATE] = "state", [DEFINE_ACTUATOR] = "actuator",
		[DEFINE_RUNTIME] = "runtime",
	};

	fprintf(f, "%s", kinds[d->kind]);
	for (int i = 0; i < DEFINITION_NUMBERS; i++)
		if (d->number[i] != UNKNOWN_S64)
			put_number(f, d->number[i]);
	for (int i = 0; i < DEFINITION_STRINGS; i++)
		if (d->string[i])
			fprintf(f, " '%s'", d->string[i]);
	fputc('\n', f);
}

/* Of reading a kernel file. */
static void put_look(FILE *f, const char *t, const struct record *r)
{
	switch (r->type) {
	case RECORD_POLICY_STATE:
		fprintf(f, "policy %s: %u '%s'", t, r->policy_state.policy,
			r->policy_state.governor);
		put_number(f, r->policy_state.min_khz == UNKNOWN_U32 ? UNKNOWN_S64 :
								       r->policy_state.min_khz);
		put_number(f, r->policy_state.max_khz == UNKNOWN_U32 ? UNKNOWN_S64 :
								       r->policy_state.max_khz);
		fputc('\n', f);
		break;
	case RECORD_RESIDENCY:
		fprintf(f, "residency %s: policy %u at %u %" PRIu64 "\n", t, r->residency.policy,
			r->residency.khz, r->residency.total_ns);
		break;
	case RECORD_IDLE:
		fprintf(f, "idle %s: cpu %u state %u %" PRIu64 " us %" PRIu64 " times\n", t,
			r->idle.cpu, r->idle.state, r->idle.total_us, r->idle.usage);
		break;
	case RECORD_THERMAL:
		fprintf(f, "thermal %s: %u of kind %d", t, r->thermal.sensor, (int)r->thermal.kind);
		put_number(f, r->thermal.value);
		fputc('\n', f);
		break;
	case RECORD_MEMORY_GROUP:
		fprintf(f, "memory group %s of %d:", t, r->memory_group.tgid);
		put_number(f, r->memory_group.used);
		put_number(f, r->memory_group.most);
		put_number(f, r->memory_group.pressed);
		fputc('\n', f);
		break;
	case RECORD_SCHED:
		fprintf(f,
			"sched %s of %d/%d: ran %" PRIu64 " waited %" PRIu64 " in %" PRIu64
			" slices;",
			t, r->sched.tgid, r->sched.tid, r->sched.run_ns, r->sched.wait_ns,
			r->sched.slices);
		put_number(f, r->sched.migrations);
		put_number(f, r->sched.utime_ns);
		put_number(f, r->sched.stime_ns);
		if (r->sched.cpu != UNKNOWN_U32)
			fprintf(f, " on %u", r->sched.cpu);
		if (r->sched.rss_kib != UNKNOWN_U32)
			fprintf(f, " with %u KiB", r->sched.rss_kib);
		fputc('\n', f);
		break;
	default:
		fprintf(f, "record %d\n", (int)r->type);
		break;
	}
}

static void put_record(FILE *f, const struct record *r)
{
	char t[24] = "-";

	if (r->t < 1000000 || faults.at_ns)
		snprintf(t, sizeof(t), "%" PRIu64, r->t);
	switch (r->type) {
	case RECORD_DEFINE:
		put_definition(f, r->define);
		break;
	case RECORD_DROP:
		fprintf(f, "drop %" PRIu64 " '%s' '%s'\n", r->drop.count, r->drop.source,
			r->drop.why);
		break;
	case RECORD_LEASE:
		fprintf(f, "lease %s: %u of %d/%d slot %u role", t, r->lease.lease, r->lease.tgid,
			r->lease.tid, r->lease.slot);
		put_number(f, r->lease.role == UNKNOWN_U32 ? UNKNOWN_S64 : r->lease.role);
		fputc('\n', f);
		break;
	case RECORD_PERF:
		fprintf(f, "perf %s of %d/%d:", t, r->perf.tgid, r->perf.tid);
		put_number(f, r->perf.cycles);
		put_number(f, r->perf.instructions);
		put_number(f, r->perf.misses);
		fputs(" in", f);
		put_number(f, r->perf.running_ns);
		fputs(" of", f);
		put_number(f, r->perf.enabled_ns);
		fputs("\n", f);
		break;
	case RECORD_PHASE:
		fprintf(f, "phase %s: %" PRIu64 " from %" PRIu64 ", %u of %d/%d, end %u%s", t,
			r->phase.id, r->phase.t0, r->phase.phase, r->phase.tgid, r->phase.tid,
			r->phase.how, r->phase.uncertain ? ", uncertain" : "");
		if (r->phase.has_work)
			fprintf(f,
				", %" PRIu64 " of %" PRIu64 " done, stall at %" PRIu64 ", cause %u",
				r->phase.work_done, r->phase.work_total, r->phase.stall_ns,
				r->phase.cause);
		fputc('\n', f);
		break;
	case RECORD_HEAP:
		fprintf(f, "heap %s: %s of %d/%d", t, r->heap.after ? "after" : "before",
			r->heap.tgid, r->heap.tid);
		put_number(f, r->heap.used);
		put_number(f, r->heap.committed);
		put_number(f, r->heap.most);
		put_number(f, r->heap.allocated);
		put_number(f, r->heap.freed);
		put_number(f, r->heap.generation == UNKNOWN_U32 ? UNKNOWN_S64 : r->heap.generation);
		fputc('\n', f);
		break;
	case RECORD_SAMPLE:
		fprintf(f, "sample %s: rail %u", t, r->sample.rail);
		put_number(f, r->sample.value);
		fprintf(f, " +- %u\n", r->sample.error_ns);
		break;
	case RECORD_TRANSITION:
		fprintf(f, "transition %s: cpu %u %u kHz by %u\n", t, r->transition.cpu,
			r->transition.khz, r->transition.how);
		break;
	case RECORD_HOTPLUG:
		fprintf(f, "cpu %u %s\n", r->hotplug.cpu, r->hotplug.online ? "on" : "off");
		break;
	case RECORD_HOTSPOT:
		fprintf(f,
			"hotspot %s: %" PRIx64 " kernel %" PRIx64 " method %" PRIx64
			" of %d/%d cpu %u stack %u",
			t, r->hotspot.ip, r->hotspot.kernel, r->hotspot.method, r->hotspot.tgid,
			r->hotspot.tid, r->hotspot.cpu, r->hotspot.stack);
		if (r->hotspot.known & HOTSPOT_PHASE)
			fprintf(f, " phase %u flags %u", r->hotspot.phase, r->hotspot.flags);
		fputc('\n', f);
		break;
	default:
		put_look(f, t, r);
		break;
	}
}

void text_is(const char *got, const char *want, const char *name)
{
	const char *g = got, *w = want;
	if (strcmp(got, want)) {
		while (*g && strcspn(g, "\n") == strcspn(w, "\n") &&
		       !strncmp(g, w, strcspn(g, "\n") + 1)) {
			g += strcspn(g, "\n") + 1;
			w += strcspn(w, "\n") + 1;
		}
		printf("# wanted '%.*s'\n# got    '%.*s'\n", (int)strcspn(w, "\n"), w,
		       (int)strcspn(g, "\n"), g);
	}
	CHECK(!strcmp(got, want), name);
}

void records_are(struct queue *q, const char *want, const char *name)
{
	static char text[65536];
	FILE *f = fmemopen(text, sizeof(text), "w");
	const size_t n = queue_fill(q);

	if (!f) {
		CHECK(false, name);
		return;
	}
	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct record *r = queue_peek(q, i);

		put_record(f, r);
		if (r->type == RECORD_DEFINE)
			definition_free(r->define);
	}
	queue_consume(q, n);
	fclose(f);
	text_is(text, want, name);
}
