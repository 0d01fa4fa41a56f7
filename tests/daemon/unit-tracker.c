// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: events of the kernel become records: phases, their ends, and names. */
#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/recording/store.h"
#include "../../daemon/source/context.h"
#include "../../daemon/source/hint/tracker.h"
#include "records.h"

static struct message_event phase_event(uint64_t t, uint64_t session, uint32_t slot, int32_t tid,
					uint32_t number)
{
	return (struct message_event){
		.type = GCHINT_EVENT_PHASE,
		.has = HAS(GCHINT_EVENT_A_TID) | HAS(GCHINT_EVENT_A_SESSION),
		.time = t,
		.session = session,
		.slot = slot,
		.tgid = 70,
		.tid = tid,
		.phase = number,
	};
}

static struct message_event lease_event(uint64_t t, uint64_t session, uint32_t slot, int32_t tid,
					uint32_t what)
{
	return (struct message_event){
		.type = GCHINT_EVENT_LEASE,
		.has = HAS(GCHINT_EVENT_A_TID),
		.time = t,
		.session = session,
		.slot = slot,
		.tgid = 70,
		.tid = tid,
		.lease = what,
	};
}

/* The last record of that type, and their number; removes all. */
static unsigned int queue_take(struct queue *q, enum record_type type, struct record *last)
{
	unsigned int found = 0;
	size_t n = queue_fill(q);

	memset(last, 0, sizeof(*last));
	for (size_t i = 0; i < n; i++) {
		const struct record *r = queue_peek(q, i);

		if (r->type == type) {
			*last = *r;
			found++;
		}
		if (r->type == RECORD_DEFINE)
			definition_free(r->define);
	}
	queue_consume(q, n);
	return found;
}

static void event_send(struct tracker *t, struct message_event e)
{
	tracker_event(t, &e);
}

/* A cause that is reported when its phase has ended; the phase that begins then has none. */
static void late_check(struct source_context *context)
{
	struct tracker *t = context->tracker;
	struct queue *q = context->queue;
	struct record r;
	uint64_t id;
	bool good;

	queue_take(q, RECORD_PHASE, &r);
	event_send(t, phase_event(300, 1, 1, 71, GCHINT_PHASE_MARK));
	event_send(t, phase_event(301, 1, 1, 71, GCHINT_PHASE_NONE));
	good = queue_take(q, RECORD_PHASE, &r) == 2;
	id = r.phase.id;
	for (int n = 0; n < 2; n++) {
		struct message_event late = phase_event(310, 1, 1, 71, GCHINT_PHASE_NONE);

		late.has |= HAS(GCHINT_EVENT_A_CAUSE);
		late.cause = GCHINT_CAUSE_EXPLICIT;
		event_send(t, late);
		good = good && queue_take(q, RECORD_PHASE, &r) == !n;
		good = good &&
		       (n || (r.t == 301 && r.phase.id == id && r.phase.again &&
			      r.phase.how == PHASE_EDGE && r.phase.cause == GCHINT_CAUSE_EXPLICIT));
	}
	event_send(t, phase_event(320, 1, 1, 71, GCHINT_PHASE_MARK));
	event_send(t, phase_event(330, 1, 1, 71, GCHINT_PHASE_NONE));
	good = good && queue_take(q, RECORD_PHASE, &r) == 2 && !r.phase.again &&
	       r.phase.cause == UNKNOWN_U32;
	CHECK(good, "a cause that comes late is the ended phase's, once");
}

static void ends_check(struct source_context *context)
{
	struct tracker *t = context->tracker;
	struct queue *q = context->queue;
	unsigned int slots, in_phase;
	struct record r;
	uint64_t id;
	bool good;

	event_send(t, phase_event(100, 1, 1, 71, GCHINT_PHASE_MARK));
	tracker_gap(t);
	good = queue_take(q, RECORD_PHASE, &r) == 1 && !r.phase.uncertain;
	event_send(t, phase_event(200, 1, 1, 71, GCHINT_PHASE_NONE));
	good = good && queue_take(q, RECORD_PHASE, &r) == 1 && r.phase.uncertain &&
	       r.phase.how == PHASE_EDGE && r.t == 200;
	CHECK(good, "a phase with lost events has an uncertain end");
	event_send(t, phase_event(300, 1, 1, 71, GCHINT_PHASE_MARK));
	event_send(t, phase_event(290, 1, 1, 71, GCHINT_PHASE_NONE));
	CHECK(queue_take(q, RECORD_PHASE, &r) == 2 && r.t == 300 && r.phase.t0 == 300 &&
		      !r.phase.uncertain,
	      "an end with an earlier timestamp is clamped; the next one is certain");

	/* Three slots of one bucket (session 1: 67 + number, modulo 1024). */
	for (uint32_t slot = 2; slot < 4096; slot += 1024)
		event_send(t, phase_event(400, 1, slot, 71, GCHINT_PHASE_SWEEP));
	queue_take(q, RECORD_PHASE, &r);
	id = r.phase.id;
	event_send(t, lease_event(410, 1, 2, 71, GCHINT_LEASE_DETACH));
	good = queue_take(q, RECORD_PHASE, &r) == 1 && r.phase.how == PHASE_LEASE &&
	       r.phase.id != id;
	event_send(t, phase_event(420, 1, 2 + 3 * 1024, 71, GCHINT_PHASE_NONE));
	good = good && queue_take(q, RECORD_PHASE, &r) == 1 && r.phase.id == id && r.t == 420;
	tracker_count(t, &slots, &in_phase);
	CHECK(good && slots == 4 && in_phase == 2, "a released slot does not affect other slots");
	event_send(t, lease_event(430, 1, 2 + 1024, 71, GCHINT_LEASE_STALE));
	tracker_count(t, &slots, &in_phase);
	CHECK(queue_take(q, RECORD_PHASE, &r) == 1 && r.phase.how == PHASE_STALE && slots == 4 &&
		      in_phase == 1,
	      "a stale phase ends and its slot stays");
	tracker_module_gone(t, 500);
	tracker_count(t, &slots, &in_phase);
	CHECK(queue_take(q, RECORD_PHASE, &r) == 1 && r.phase.how == PHASE_MODULE && r.t == 500 &&
		      !slots && !in_phase,
	      "open phases end with the module");
}

static void thread_add(void *data, int32_t tgid, int32_t tid)
{
	*(int64_t *)data += tgid * 1000 + tid;
}

/* Slots in the first bucket and the last. */
static void every_bucket(struct source_context *context)
{
	struct tracker *t = context->tracker;
	unsigned int slots, in_phase;
	int64_t sum = 0;
	struct record r;

	event_send(t, phase_event(100, 1, 1024 - 67, 81, GCHINT_PHASE_MARK));
	event_send(t, phase_event(100, 1, 1023 - 67, 82, GCHINT_PHASE_MARK));
	event_send(t, phase_event(100, 1, 5, 0, GCHINT_PHASE_MARK));
	tracker_threads(t, thread_add, &sum);
	CHECK(sum == 2 * 70000 + 81 + 82, "every slot's thread is recorded once");
	queue_take(context->queue, RECORD_PHASE, &r);
	tracker_module_gone(t, 200);
	tracker_count(t, &slots, &in_phase);
	CHECK(queue_take(context->queue, RECORD_PHASE, &r) == 3 && !slots && !in_phase,
	      "every phase ends");
	event_send(t, phase_event(300, 1, 1024 - 67, 81, GCHINT_PHASE_NONE));
	event_send(t, phase_event(300, 1, 1023 - 67, 82, GCHINT_PHASE_NONE));
	CHECK(!queue_take(context->queue, RECORD_PHASE, &r), "an ended phase is not ended again");
}

/* Details that arrive during a phase. */
static void progress_check(struct source_context *context)
{
	struct message_event e = phase_event(100, 9, 1, 71, GCHINT_PHASE_MARK);
	struct record r;

	e.has |= HAS(GCHINT_EVENT_A_CAUSE);
	e.work_total = 50;
	queue_take(context->queue, RECORD_PHASE, &r);
	event_send(context->tracker, e);
	e.time = 200;
	e.has |= HAS(GCHINT_EVENT_A_WORK_DONE);
	e.cause = GCHINT_CAUSE_UNKNOWN + 1;
	e.work_done = 10;
	e.work_total = 0;
	e.stall_ns = 700;
	event_send(context->tracker, e);
	e.time = 300;
	e.cause = GCHINT_CAUSE_UNKNOWN;
	e.work_done = 9;
	e.work_total = 60;
	e.stall_ns = 0;
	event_send(context->tracker, e);
	/* Another interval of the same phase, and one whose end has more details. */
	e.time = 400;
	e.flags = GCHINT_F_STW;
	e.work_done = 0;
	event_send(context->tracker, e);
	e.time = 500;
	e.phase = GCHINT_PHASE_NONE;
	e.work_done = 30;
	e.stall_ns = 800;
	event_send(context->tracker, e);
	e.time = 600;
	event_send(context->tracker, e);
	e.time = 700;
	e.type = 99;
	event_send(context->tracker, e);
	records_are(
		context->queue,
		"process 70 70 'new main'\n"
		"process 70 71 'third'\n"
		"phase 100: 10 from 100, 4 of 70/71, end 0\n"
		"phase 200: 10 from 100, 4 of 70/71, end 0, 10 of 50 done, stall at 700, cause 1\n"
		"phase 300: 10 from 100, 4 of 70/71, end 0, 10 of 60 done, stall at 700, cause 1\n"
		"phase 400: 10 from 100, 4 of 70/71, end 1, 10 of 60 done, stall at 700, cause 1\n"
		"phase 400: 11 from 400, 4 of 70/71, end 0\n"
		"phase 500: 11 from 400, 4 of 70/71, end 1, 30 of 60 done, stall at 800, cause 0\n",
		"details that arrive during a phase belong to it");
}

/* More slots than the maximum, until one is released. */
static void too_many(struct source_context *context)
{
	unsigned int slots, in_phase;
	struct queue *q = context->queue;

	context->queue = NULL;
	tracker_module_gone(context->tracker, 50);
	for (uint32_t slot = 0; slot < 65536; slot++)
		event_send(context->tracker, phase_event(100, 1, slot, 0, GCHINT_PHASE_MARK));
	context->queue = q;
	tracker_count(context->tracker, &slots, &in_phase);
	for (uint32_t slot = 65536; slot < 65538; slot++)
		event_send(context->tracker, phase_event(200, 1, slot, 0, GCHINT_PHASE_MARK));
	event_send(context->tracker, lease_event(300, 1, 5, 0, GCHINT_LEASE_DETACH));
	event_send(context->tracker, phase_event(400, 1, 70000, 0, GCHINT_PHASE_MARK));
	event_send(context->tracker, phase_event(500, 1, 70001, 0, GCHINT_PHASE_MARK));
	CHECK(slots == 65536 && in_phase == 65536, "the number of tracked slots is limited");
	records_are(q,
		    "note 4 'genl' 'over 65536 slots at once: no more are followed'\n"
		    "drop 1 'genl' 'too many slots'\n"
		    "drop 1 'genl' 'too many slots'\n"
		    "lease 300: 2 of 70/0 slot 5 role ?\n"
		    "phase 300: 17 from 100, 4 of 70/0, end 2\n"
		    "phase 400: 65548 from 400, 4 of 70/0, end 0\n"
		    "note 4 'genl' 'over 65536 slots at once: no more are followed'\n"
		    "drop 1 'genl' 'too many slots'\n",
		    "slots beyond the maximum are reported once and counted");
	context->queue = NULL;
	tracker_module_gone(context->tracker, 600);
	context->queue = q;
}

/* A queue without space: the number of lost records precedes what follows. */
static void full_check(struct source_context *context)
{
	const struct record r = { .t = 1, .type = RECORD_SAMPLE };
	struct queue *q = context->queue;

	context->queue = queue_new(64);
	context->lost = context->lost_total = 0;
	for (int i = 0; i < 66; i++)
		context_record(context, &r);
	context_define(context, definition_new(DEFINE_META, 1, NULL, 0, NULL, 0));
	context_define(context, NULL);
	CHECK(context->lost == 3 && context->lost_total == 3,
	      "events without a free slot are counted");
	queue_consume(context->queue, 1);
	context_record(context, &r);
	CHECK(context->lost == 4 && context->lost_total == 4,
	      "one free entry is not enough for an event and its gap record");
	queue_consume(context->queue, 63);
	context_record(context, &r);
	CHECK(!context->lost && context->lost_total == 4,
	      "the gap is recorded once there is space");
	records_are(context->queue,
		    "drop 4 'record' 'queue full: the disk is too slow or full'\n"
		    "sample 1: rail 0 0 +- 0\n",
		    "the gap is recorded before what follows");
	queue_free(context->queue);
	context->queue = NULL;
	context_record(context, &r);
	context_define(context, definition_new(DEFINE_META, 1, NULL, 0, NULL, 0));
	CHECK(!context->lost && context->lost_total == 4,
	      "nothing is lost while nothing is recorded");
	context->queue = q;
}

static void file_write(const char *dir, const char *file, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static int64_t number_query(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t v = -1;

	if (!sqlite3_prepare_v2(db, sql, -1, &s, NULL) && sqlite3_step(s) == SQLITE_ROW)
		v = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return v;
}

static void queue_drain(struct queue *q, struct store *s)
{
	size_t n = queue_fill(q);

	store_begin(s);
	for (size_t i = 0; i < n; i++) {
		const struct record *r = queue_peek(q, i);

		if (r->type == RECORD_DEFINE) {
			store_define(s, r->define);
			definition_free(r->define);
		} else {
			store_record(s, r);
		}
	}
	store_commit(s);
	queue_consume(q, n);
}

/* Thread 71 of process 70 ends; both numbers are reused by others. */
static void names_check(struct source_context *context, const char *dir)
{
	struct tracker *t = context->tracker;
	char path[64], environ_path[80], error[300];
	struct store *s;
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/r.db", dir);
	s = store_open(path, false, error, sizeof(error));
	if (!s) {
		CHECK(false, "a recording for names");
		return;
	}
	file_write(dir, "70/task/70/comm", "old main\n");
	file_write(dir, "70/task/71/comm", "old gc\n");
	file_write(dir, "70/environ", "GCHINT_HINTS=clamp");
	event_send(t, lease_event(1000, 5, 1, 71, GCHINT_LEASE_ATTACH));
	event_send(t, phase_event(1100, 5, 1, 71, GCHINT_PHASE_MARK));
	event_send(t, phase_event(1200, 5, 1, 71, GCHINT_PHASE_NONE));
	event_send(t, lease_event(1300, 5, 1, 71, GCHINT_LEASE_EXIT));
	file_write(dir, "70/task/70/comm", "new main\n");
	file_write(dir, "70/task/71/comm", "new gc\n");
	file_write(dir, "70/environ", "X=GCHINT_HINTS=clamp");
	event_send(t, lease_event(2000, 6, 1, 71, GCHINT_LEASE_ATTACH));
	event_send(t, phase_event(2100, 6, 1, 71, GCHINT_PHASE_MARK));
	event_send(t, phase_event(2200, 6, 1, 71, GCHINT_PHASE_NONE));
	/* A thread of the same process whose number is reused. */
	file_write(dir, "70/task/71/comm", "third\n");
	event_send(t, lease_event(2300, 6, 1, 71, GCHINT_LEASE_EXIT));
	event_send(t, lease_event(3000, 6, 1, 71, GCHINT_LEASE_ATTACH));
	event_send(t, phase_event(3100, 6, 1, 71, GCHINT_PHASE_MARK));
	event_send(t, phase_event(3200, 6, 1, 71, GCHINT_PHASE_NONE));
	queue_drain(context->queue, s);
	snprintf(environ_path, sizeof(environ_path), "%s/70/environ", dir);
	unlink(environ_path);
	store_close(s);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL)) {
		CHECK(false, "the recording's file");
		return;
	}
	CHECK(number_query(db, "SELECT group_concat(comm) = 'old gc,new gc,third' FROM "
			       "(SELECT comm FROM phase_list ORDER BY t0)") == 1,
	      "a phase has its thread's name at that time");
	CHECK(number_query(db, "SELECT group_concat(comm) = 'old main,new main' FROM "
			       "(SELECT comm FROM processes WHERE tid = 70 ORDER BY t)") == 1,
	      "a process is named once, and again when its PID is reused");
	CHECK(number_query(db, "SELECT group_concat(t || actuator) = '1000clamp,2000none' FROM "
			       "(SELECT * FROM actuators WHERE tgid = 70 ORDER BY t)") == 1,
	      "whether a process clamps its threads is recorded, and again when that changes");
	sqlite3_close(db);
	unlink(path);
}

/* Records in a freed queue are freed: the sanitizer detects leaks. */
static void left_behind(void)
{
	struct record r = { .type = RECORD_DEFINE };
	struct queue *q = queue_new(64);
	bool good;

	r.define = definition_new(DEFINE_META, 1, NULL, 0, (const char *[]){ "a", "b" }, 2);
	good = queue_push(q, &r);
	r = (struct record){ .type = RECORD_SAMPLE };
	for (int i = 0; i < 63; i++)
		good = good && queue_push(q, &r);
	CHECK(good && queue_room(q) == 0 && !queue_push(q, &r),
	      "a queue accepts as many records as it holds");
	queue_free(q);
}

/* A woken writer sleeps again until it is woken or the time is over. */
static void sleeps_check(void)
{
	struct queue *q = queue_new(64);
	uint64_t until;

	queue_kick(q);
	queue_wait(q, clock_now() + 3600 * NSEC_PER_SEC);
	until = clock_now() + 20 * NSEC_PER_MSEC;
	queue_wait(q, until);
	CHECK(clock_now() >= until, "one kick wakes once");
	for (int i = 0; i < 17; i++)
		queue_push(q, &(struct record){ .type = RECORD_SAMPLE });
	until = clock_now() + 20 * NSEC_PER_SEC;
	queue_wait(q, until);
	CHECK(clock_now() < until, "a queue that is a quarter full wakes the writer");
	queue_free(q);
	queue_free(NULL);
}

/* One letter for each: a thread seen, a phase or a lease ended; its number follows. */
static void news_add(void *data, int32_t tgid, int32_t tid, enum tracker_news news)
{
	char one[16];

	snprintf(one, sizeof(one), "%c%d ", "SPL"[news], tid);
	CHECK(tgid == 70, "a listener is called with the process");
	strcat(data, one);
}

static void news_check(struct source_context *context)
{
	struct message_event e[] = {
		lease_event(10, 900, 0, 70, GCHINT_LEASE_ATTACH),
		lease_event(11, 900, 1, 71, GCHINT_LEASE_ATTACH),
		phase_event(20, 900, 1, 71, GCHINT_PHASE_MARK),
		phase_event(30, 900, 1, 71, GCHINT_PHASE_SWEEP),
		phase_event(40, 900, 1, 71, GCHINT_PHASE_NONE),
		phase_event(50, 900, 2, 71, GCHINT_PHASE_MARK),
		phase_event(60, 900, 2, 70, GCHINT_PHASE_NONE),
		lease_event(70, 900, 0, 70, GCHINT_LEASE_DETACH),
		lease_event(80, 900, 1, 71, GCHINT_LEASE_EXIT),
		lease_event(90, 900, 2, 70, GCHINT_LEASE_CLOSE),
	};
	char text[200] = "";

	tracker_listen(context->tracker, news_add, text);
	for (size_t i = 0; i < sizeof(e) / sizeof(e[0]); i++) {
		e[i].has |= HAS(GCHINT_EVENT_A_TID);
		tracker_event(context->tracker, &e[i]);
	}
	tracker_unlisten(context->tracker, text);
	CHECK(!strcmp(text, "S70 S71 P71 P71 S71 S70 P70 L70 L71 L70 "),
	      "a listener hears of new threads and of ends");
	tracker_event(context->tracker, &e[0]);
	tracker_event(context->tracker, &e[7]);
	CHECK(!strstr(text, "L70 L71 L70 S"), "a listener that left hears nothing");
}

void unit_tracker(void)
{
	static const char *const dirs[] = { "70", "70/task", "70/task/70", "70/task/71" };
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64], command[80];
	struct source_context context = { 0 };

	if (!mkdtemp(dir)) {
		CHECK(false, "a temporary directory");
		return;
	}
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
		mkdir(path, 0755);
	}
	context.root.procfs = dir;
	context.queue = queue_new(4096);
	context.tracker = tracker_new(&context);
	ends_check(&context);
	names_check(&context, dir);
	progress_check(&context);
	too_many(&context);
	full_check(&context);
	every_bucket(&context);
	news_check(&context);
	late_check(&context);
	tracker_free(context.tracker);
	queue_free(context.queue);
	left_behind();
	sleeps_check();
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		printf("# %s is left\n", dir);
}
