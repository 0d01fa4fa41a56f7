// SPDX-License-Identifier: GPL-2.0-or-later
#include "tracker.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../context.h"
#include "service.h"

#define BUCKETS	  1024
#define SLOTS_MAX 65536 /* bounds the memory that events can claim */
#define NAMED	  1024

struct slot {
	struct slot *next;
	uint64_t session;
	uint32_t number;
	int32_t tgid, tid;
	uint64_t gaps; /* tracker's count when the phase began */
	struct record_phase phase; /* open if phase.id */
	struct record last; /* the end of the phase before, until another one begins */
};

struct tracker {
	struct source_context *context;
	struct slot *bucket[BUCKETS];
	unsigned int slots, in_phase;
	uint64_t next_id, gaps;
	bool full;
	struct {
		tracker_fn fn; /* NULL: free */
		void *data;
	} listener[TRACKER_LISTENERS];
	/*
	 * Small cache of threads whose names are recorded; a new entry replaces the one in its
	 * place. A session belongs to one process image: in another session the same number is
	 * another thread.
	 */
	struct {
		int32_t tid;
		uint64_t session;
	} named[NAMED];
};

struct tracker *tracker_new(struct source_context *context)
{
	struct tracker *t = calloc(1, sizeof(*t));

	if (t) {
		t->context = context;
		t->next_id = 1;
	}
	return t;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < BUCKETS; i++)
		while (t->bucket[i]) {
			struct slot *s = t->bucket[i];

			t->bucket[i] = s->next;
			free(s);
		}
	free(t);
}

/* Whether a process applies hints to its threads by clamps, NULL if not known. */
static const char *process_actuator(const char *procfs, int32_t tgid)
{
	char env[32768];
	int n = root_read(env, sizeof(env), "%s/%d/environ", procfs, tgid);

	if (n < 0)
		return NULL;
	for (const char *p = env; p < env + n; p += strlen(p) + 1)
		if (!strcmp(p, "GCHINT_HINTS=clamp"))
			return "clamp";
	return "none";
}

/*
 * The command line with its arguments, which may be passwords, only where that is configured.
 * The name of the program is its main thread's comm.
 */
static const char *process_command(const struct source_context *context, int32_t tgid, char *buf,
				   size_t size)
{
	int n = context->config.arguments ?
			root_read(buf, size, "%s/%d/cmdline", context->root.procfs, tgid) :
			0;

	for (int i = 0; i < n - 1; i++)
		if (!buf[i])
			buf[i] = ' ';
	return n > 0 ? buf : NULL;
}

/* The label of its metrics: what was configured, its service, or its main thread's name. */
static void process_set_service(struct tracker *t, int32_t tgid, const char *comm)
{
	struct source_context *context = t->context;
	char name[64] = "", cgroup[4096];

	if (*context->config.metrics_service)
		snprintf(name, sizeof(name), "%s", context->config.metrics_service);
	else if (root_read(cgroup, sizeof(cgroup), "%s/%d/cgroup", context->root.procfs, tgid) <=
			 0 ||
		 !service_of_cgroup(cgroup, name, sizeof(name))) {
		if (comm)
			snprintf(name, sizeof(name), "%s", comm);
		else
			root_read(name, sizeof(name), "%s/%d/comm", context->root.procfs, tgid);
	}
	context_service(context, tgid, name);
}

/* @name: of the thread; NULL: as the kernel says now */
static void process_define(struct tracker *t, int32_t tgid, int32_t tid, uint64_t now,
			   const char *name)
{
	const char *procfs = t->context->root.procfs;
	char comm[64], cmdline[256], status[1024];
	const char *strings[] = { name, NULL };
	int64_t numbers[] = { tgid, tid, UNKNOWN_S64 };
	const char *uid;

	if (!name && root_read(comm, sizeof(comm), "%s/%d/task/%d/comm", procfs, tgid, tid) > 0)
		strings[0] = comm;
	if (tid == tgid)
		strings[1] = process_command(t->context, tgid, cmdline, sizeof(cmdline));
	if (root_read(status, sizeof(status), "%s/%d/status", procfs, tgid) > 0) {
		uid = strstr(status, "\nUid:");
		if (uid)
			numbers[2] = strtoll(uid + 5, NULL, 10);
	}
	process_set_service(t, tgid, tid == tgid ? name : NULL);
	context_define(t->context, definition_new(DEFINE_PROCESS, now, numbers, 3, strings, 2));
	if (tid == tgid) {
		const int64_t whose[] = { UNKNOWN_S64, tgid };
		const char *actuator = process_actuator(procfs, tgid);

		if (actuator)
			context_define(t->context, definition_new(DEFINE_ACTUATOR, now, whose, 2,
								  &actuator, 1));
	}
}

/* True if the thread was not in the cache. */
static bool thread_remember(struct tracker *t, int32_t tid, uint64_t session)
{
	unsigned int i = (uint32_t)tid % NAMED;

	if (t->named[i].tid == tid && t->named[i].session == session)
		return false;
	t->named[i].tid = tid;
	t->named[i].session = session;
	return true;
}

void tracker_process(struct tracker *t, int32_t tgid, uint64_t session, uint64_t now)
{
	if (thread_remember(t, tgid, session))
		process_define(t, tgid, tgid, now, NULL);
}

void tracker_name(struct tracker *t, int32_t tgid, int32_t tid, uint64_t session, uint64_t now,
		  const char *name)
{
	thread_remember(t, tid, session);
	process_define(t, tgid, tid, now, name);
}

static void thread_define(struct tracker *t, const struct message_event *e)
{
	if (e->tid <= 0 || !thread_remember(t, e->tid, e->session))
		return;
	if (e->tgid != e->tid)
		tracker_process(t, e->tgid, e->session, e->time);
	process_define(t, e->tgid, e->tid, e->time, NULL);
}

static struct slot **slot_find(struct tracker *t, uint64_t session, uint32_t number)
{
	struct slot **at = &t->bucket[(session * 67 + number) % BUCKETS];

	while (*at && ((*at)->session != session || (*at)->number != number))
		at = &(*at)->next;
	return at;
}

static struct slot *slot_get(struct tracker *t, const struct message_event *e)
{
	struct slot **at = slot_find(t, e->session, e->slot), *s;

	s = *at;
	if (s)
		return s;
	if (t->slots >= SLOTS_MAX) {
		if (!t->full)
			context_note(t->context, 4, "genl",
				     "over %u slots at once: no more are followed", SLOTS_MAX);
		t->full = true;
		context_drop(t->context, "genl", 1, "too many slots");
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->session = e->session;
	s->number = e->slot;
	t->slots++;
	*at = s;
	return s;
}

static void slot_report(const struct tracker *t, const struct slot *s, enum tracker_news news)
{
	for (int i = 0; i < TRACKER_LISTENERS && s->tid > 0; i++)
		if (t->listener[i].fn)
			t->listener[i].fn(t->listener[i].data, s->tgid, s->tid, news);
}

static void slot_set_thread(const struct tracker *t, struct slot *s, const struct message_event *e)
{
	const bool same = s->tid == e->tid && s->tgid == e->tgid;

	s->tgid = e->tgid;
	s->tid = e->tid;
	if (!same)
		slot_report(t, s, TRACKER_THREAD_SEEN);
}

static void phase_record(struct tracker *t, struct slot *s, uint64_t now, enum record_end how)
{
	s->last = (struct record){ .t = now, .type = RECORD_PHASE, .phase = s->phase };
	s->last.phase.how = (uint8_t)how;
	s->last.phase.uncertain = how != PHASE_OPEN && s->gaps != t->gaps;
	context_record(t->context, &s->last);
}

/* A cause that is reported just after the end belongs to the phase that ended. */
static void phase_explain(struct tracker *t, struct slot *s, const struct message_event *e)
{
	struct record_phase *last = &s->last.phase;

	if (!(e->has & HAS(GCHINT_EVENT_A_CAUSE)) || e->cause == GCHINT_CAUSE_UNKNOWN ||
	    !last->id || last->how == PHASE_OPEN || last->cause == e->cause)
		return;
	last->cause = e->cause;
	last->again = true;
	context_record(t->context, &s->last);
}

static void phase_end(struct tracker *t, struct slot *s, uint64_t now, enum record_end how)
{
	if (!s->phase.id)
		return;
	/* Events of one CPU are in order, but the ring may swap those of different CPUs. */
	if (now < s->phase.t0)
		now = s->phase.t0;
	phase_record(t, s, now, how);
	s->phase.id = 0;
	t->in_phase--;
	slot_report(t, s, TRACKER_PHASE_ENDED);
}

static void phase_begin(struct tracker *t, struct slot *s, const struct message_event *e)
{
	s->phase = (struct record_phase){
		.id = t->next_id++,
		.t0 = e->time,
		.session = e->session,
		.tgid = s->tgid,
		.tid = s->tid,
		.cpu = e->cpu,
		.slot = e->slot,
		.phase = e->phase,
		.flags = e->flags,
		.cause = e->has & HAS(GCHINT_EVENT_A_CAUSE) ? e->cause : UNKNOWN_U32,
		.seq = e->has & HAS(GCHINT_EVENT_A_PHASE_SEQ) ? e->phase_seq : UNKNOWN_U32,
		.work_total = e->work_total,
		.stall_ns = e->stall_ns,
		.hinted = e->has & HAS(GCHINT_EVENT_A_SESSION),
	};
	s->gaps = t->gaps;
	t->in_phase++;
	phase_record(t, s, e->time, PHASE_OPEN);
}

/* Takes over details that arrive while a phase lasts, or with its end. */
static void phase_update(struct record_phase *p, const struct message_event *e)
{
	if (e->has & HAS(GCHINT_EVENT_A_CAUSE) && e->cause != GCHINT_CAUSE_UNKNOWN)
		p->cause = e->cause;
	if (e->work_total)
		p->work_total = e->work_total;
	if (e->stall_ns)
		p->stall_ns = e->stall_ns;
	if (e->has & HAS(GCHINT_EVENT_A_WORK_DONE) && e->work_done >= p->work_done) {
		p->work_done = e->work_done;
		p->has_work = p->has_work || e->work_done;
	}
}

static void on_phase(struct tracker *t, const struct message_event *e)
{
	struct slot *s = slot_get(t, e);

	if (!s)
		return;
	if (e->has & HAS(GCHINT_EVENT_A_TID)) {
		slot_set_thread(t, s, e);
		thread_define(t, e);
	}
	if (s->phase.id && s->phase.phase == e->phase && s->phase.flags == e->flags) {
		/* Progress, or a cause that came late. */
		phase_update(&s->phase, e);
		phase_record(t, s, e->time, PHASE_OPEN);
		return;
	}
	/* An end without a next phase carries details of the phase that ends. */
	if (s->phase.id && e->phase == GCHINT_PHASE_NONE)
		phase_update(&s->phase, e);
	if (!s->phase.id && e->phase == GCHINT_PHASE_NONE)
		phase_explain(t, s, e);
	phase_end(t, s, e->time, PHASE_EDGE);
	if (e->phase != GCHINT_PHASE_NONE)
		phase_begin(t, s, e);
}

static void on_lease(struct tracker *t, const struct message_event *e)
{
	struct slot **at = slot_find(t, e->session, e->slot), *s = *at;
	const struct record r = {
		.t = e->time,
		.type = RECORD_LEASE,
		.lease = {
			.session = e->session,
			.tgid = e->tgid,
			.tid = e->tid,
			.slot = e->slot,
			.role = e->has & HAS(GCHINT_EVENT_A_ROLE) ? e->role : UNKNOWN_U32,
			.lease = e->lease,
		},
	};

	context_record(t->context, &r);
	switch (e->lease) {
	case GCHINT_LEASE_DETACH:
	case GCHINT_LEASE_EXIT:
	case GCHINT_LEASE_EXEC:
	case GCHINT_LEASE_CLOSE:
		if (!s)
			return;
		phase_end(t, s, e->time, PHASE_LEASE);
		slot_report(t, s, TRACKER_LEASE_ENDED);
		*at = s->next;
		free(s);
		t->slots--;
		t->full = false;
		break;
	case GCHINT_LEASE_STALE:
		if (s)
			phase_end(t, s, e->time, PHASE_STALE);
		break;
	default:
		s = slot_get(t, e);
		if (s)
			slot_set_thread(t, s, e);
		/* The thread number may have been reused: record the name again. */
		if (e->lease == GCHINT_LEASE_ATTACH && e->tid > 0)
			t->named[(uint32_t)e->tid % NAMED].tid = 0;
		thread_define(t, e);
		break;
	}
}

static void on_decision(struct tracker *t, const struct message_event *e)
{
	const bool hinted = e->has & HAS(GCHINT_EVENT_A_TID);
	const struct record r = {
		.t = e->time,
		.type = RECORD_DECISION,
		.decision = {
			.latency_ns = e->latency,
			.tgid = e->tgid,
			.tid = e->tid,
			.cpu = e->cpu,
			.policy = e->has & HAS(GCHINT_EVENT_A_POLICY) ? e->policy : UNKNOWN_U32,
			.khz_from = e->khz_from ? e->khz_from : UNKNOWN_U32,
			.khz = e->khz ? e->khz : UNKNOWN_U32,
			.reason = e->has & HAS(GCHINT_EVENT_A_REASON) ? e->reason : UNKNOWN_U32,
			.load = e->has & HAS(GCHINT_EVENT_A_LOAD) ? e->load : UNKNOWN_U32,
			.slot = e->slot,
			.phase = e->has & HAS(GCHINT_EVENT_A_PHASE) ? e->phase : UNKNOWN_U32,
			.flags = e->has & HAS(GCHINT_EVENT_A_FLAGS) ? e->flags : UNKNOWN_U32,
			.hinted = hinted,
			.has_latency = e->has & HAS(GCHINT_EVENT_A_LATENCY),
		},
	};

	context_record(t->context, &r);
}

void tracker_event(struct tracker *t, const struct message_event *e)
{
	switch (e->type) {
	case GCHINT_EVENT_PHASE:
		on_phase(t, e);
		break;
	case GCHINT_EVENT_DECISION:
		on_decision(t, e);
		break;
	case GCHINT_EVENT_LEASE:
		on_lease(t, e);
		break;
	default:
		break;
	}
}

void tracker_gap(struct tracker *t)
{
	t->gaps++;
}

void tracker_module_gone(struct tracker *t, uint64_t now)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		while (t->bucket[i]) {
			struct slot *s = t->bucket[i];

			phase_end(t, s, now, PHASE_MODULE);
			slot_report(t, s, TRACKER_LEASE_ENDED);
			t->bucket[i] = s->next;
			free(s);
			t->slots--;
		}
}

void tracker_listen(struct tracker *t, tracker_fn fn, void *data)
{
	for (int i = 0; i < TRACKER_LISTENERS; i++)
		if (!t->listener[i].fn) {
			t->listener[i].fn = fn;
			t->listener[i].data = data;
			return;
		}
}

void tracker_unlisten(struct tracker *t, const void *data)
{
	for (int i = 0; i < TRACKER_LISTENERS; i++)
		if (t->listener[i].data == data)
			t->listener[i].fn = NULL;
}

void tracker_threads(struct tracker *t, void (*fn)(void *data, int32_t tgid, int32_t tid),
		     void *data)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct slot *s = t->bucket[i]; s; s = s->next)
			if (s->tid > 0)
				fn(data, s->tgid, s->tid);
}

void tracker_count(const struct tracker *t, unsigned int *slots, unsigned int *in_phase)
{
	*slots = t->slots;
	*in_phase = t->in_phase;
}
