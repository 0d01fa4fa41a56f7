// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: events of the kernel in, records out: phases, their ends, and names. */
#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/gchintd/host.h"
#include "../../daemon/gchintd/queue.h"
#include "../../daemon/gchintd/store.h"
#include "../../daemon/gchintd/tracker.h"

static struct message_event phase(uint64_t t, uint64_t session, uint32_t slot, int32_t tid,
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

static struct message_event lease(uint64_t t, uint64_t session, uint32_t slot, int32_t tid,
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

/* The record made last of that type, and how many there were; takes all. */
static unsigned int take(struct queue *q, enum record_type type, struct record *last)
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

static void event(struct tracker *t, struct message_event e)
{
	tracker_event(t, &e);
}

static void ends(struct host *host)
{
	struct tracker *t = host->tracker;
	struct queue *q = host->queue;
	unsigned int slots, in_phase;
	struct record r;
	uint64_t id;
	bool good;

	event(t, phase(100, 1, 1, 71, GCHINT_PHASE_MARK));
	tracker_gap(t);
	good = take(q, RECORD_PHASE, &r) == 1 && !r.phase.uncertain;
	event(t, phase(200, 1, 1, 71, GCHINT_PHASE_NONE));
	good = good && take(q, RECORD_PHASE, &r) == 1 && r.phase.uncertain &&
	       r.phase.how == PHASE_EDGE && r.t == 200;
	CHECK(good, "a phase in which events were lost has an uncertain end");
	event(t, phase(300, 1, 1, 71, GCHINT_PHASE_MARK));
	event(t, phase(290, 1, 1, 71, GCHINT_PHASE_NONE));
	CHECK(take(q, RECORD_PHASE, &r) == 2 && r.t == 300 && r.phase.t0 == 300 &&
		      !r.phase.uncertain,
	      "an end that another CPU stamped earlier is no earlier, and the next one is sure");

	/* Three slots of one bucket (session 1: 67 + number, modulo 1024). */
	for (uint32_t slot = 2; slot < 4096; slot += 1024)
		event(t, phase(400, 1, slot, 71, GCHINT_PHASE_SWEEP));
	take(q, RECORD_PHASE, &r);
	id = r.phase.id;
	event(t, lease(410, 1, 2, 71, GCHINT_LEASE_DETACH));
	good = take(q, RECORD_PHASE, &r) == 1 && r.phase.how == PHASE_LEASE && r.phase.id != id;
	event(t, phase(420, 1, 2 + 3 * 1024, 71, GCHINT_PHASE_NONE));
	good = good && take(q, RECORD_PHASE, &r) == 1 && r.phase.id == id && r.t == 420;
	tracker_count(t, &slots, &in_phase);
	CHECK(good && slots == 4 && in_phase == 2, "a slot given back takes no other with it");
	event(t, lease(430, 1, 2 + 1024, 71, GCHINT_LEASE_STALE));
	tracker_count(t, &slots, &in_phase);
	CHECK(take(q, RECORD_PHASE, &r) == 1 && r.phase.how == PHASE_STALE && slots == 4 &&
		      in_phase == 1,
	      "a stale phase ends, its slot stays");
	tracker_module_gone(t, 500);
	tracker_count(t, &slots, &in_phase);
	CHECK(take(q, RECORD_PHASE, &r) == 1 && r.phase.how == PHASE_MODULE && r.t == 500 &&
		      !slots && !in_phase,
	      "the rest ends with the module");
}

static void put(const char *dir, const char *file, const char *text)
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

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t v = -1;

	if (!sqlite3_prepare_v2(db, sql, -1, &s, NULL) && sqlite3_step(s) == SQLITE_ROW)
		v = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return v;
}

static void drain(struct queue *q, struct store *s)
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

/* Thread 71 of process 70 ends; both numbers come again, as somebody else's. */
static void names(struct host *host, const char *dir)
{
	struct tracker *t = host->tracker;
	char path[64], error[300];
	struct store *s;
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/r.db", dir);
	s = store_open(path, false, error, sizeof(error));
	if (!s) {
		CHECK(false, "a recording for names");
		return;
	}
	put(dir, "70/task/70/comm", "old main\n");
	put(dir, "70/task/71/comm", "old gc\n");
	event(t, lease(1000, 5, 1, 71, GCHINT_LEASE_ATTACH));
	event(t, phase(1100, 5, 1, 71, GCHINT_PHASE_MARK));
	event(t, phase(1200, 5, 1, 71, GCHINT_PHASE_NONE));
	event(t, lease(1300, 5, 1, 71, GCHINT_LEASE_EXIT));
	put(dir, "70/task/70/comm", "new main\n");
	put(dir, "70/task/71/comm", "new gc\n");
	event(t, lease(2000, 6, 1, 71, GCHINT_LEASE_ATTACH));
	event(t, phase(2100, 6, 1, 71, GCHINT_PHASE_MARK));
	event(t, phase(2200, 6, 1, 71, GCHINT_PHASE_NONE));
	/* A thread of the same process whose number comes again. */
	put(dir, "70/task/71/comm", "third\n");
	event(t, lease(2300, 6, 1, 71, GCHINT_LEASE_EXIT));
	event(t, lease(3000, 6, 1, 71, GCHINT_LEASE_ATTACH));
	event(t, phase(3100, 6, 1, 71, GCHINT_PHASE_MARK));
	event(t, phase(3200, 6, 1, 71, GCHINT_PHASE_NONE));
	drain(host->queue, s);
	store_close(s);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL)) {
		CHECK(false, "its file");
		return;
	}
	CHECK(number(db, "SELECT group_concat(comm) = 'old gc,new gc,third' FROM "
			 "(SELECT comm FROM phase_list ORDER BY t0)") == 1,
	      "a phase has the name that its thread had then");
	CHECK(number(db, "SELECT group_concat(comm) = 'old main,new main' FROM "
			 "(SELECT comm FROM processes WHERE tid = 70 ORDER BY t)") == 1,
	      "a process is named once, and again when its number is another's");
	sqlite3_close(db);
	unlink(path);
}

/* What is still in a queue that goes is freed: the sanitizer sees what is not. */
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
	      "a queue takes what it has room for");
	queue_free(q);
}

void unit_tracker(void)
{
	static const char *const dirs[] = { "70", "70/task", "70/task/70", "70/task/71" };
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64], command[80];
	struct host host = { 0 };

	if (!mkdtemp(dir)) {
		CHECK(false, "a folder of its own");
		return;
	}
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
		mkdir(path, 0755);
	}
	host.root.procfs = dir;
	host.queue = queue_new(4096);
	host.tracker = tracker_new(&host);
	ends(&host);
	names(&host, dir);
	tracker_free(host.tracker);
	queue_free(host.queue);
	left_behind();
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		printf("# %s is left\n", dir);
}
