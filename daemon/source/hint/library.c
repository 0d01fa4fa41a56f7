// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hints of programs without the module: libgchint sends a ring in shared memory to the
 * socket that GCHINT_STREAM names, else to the service's; <gchint-stream.h> documents its protocol. Its events
 * become the same phases and leases as the kernel's, in sessions with numbers of their own.
 * Rings are polled once a period, and the timer runs only while there is one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/message.h"
#include "../../common/ring.h"
#include "../../recording/queue.h"
#include "../../symbols/perf-map.h"
#include "../local.h"
#include "../sampling/hotspots.h"
#include "../source.h"
#include "tracker.h"

#define RINGS	1024
#define HEAPS	8 /* readings of one ring whose second event has not arrived yet */
#define THREADS 4096 /* of one process in another pid namespace */
#define SCANS	4 /* of these, each time its ring is read: a program may name threads it has not */
#define ROUND	4096 /* events read from one ring before the next ring is read */
/* Part of the queue to leave to the other sources: one process has dozens of definitions. */
#define QUEUE_RESERVE(size) ((size) / 8)

struct ring {
	struct ring *next;
	struct ring_reader in;
	int32_t own_pid; /* in its own pid namespace */
	uint64_t session;
	int64_t ahead_ns; /* of its clock: it may be in another time namespace */
	bool closed;
	bool named; /* its runtime was recorded */
	bool late; /* the note that its clock is ahead was emitted */
	/* Events were lost before a ticket of these, the last one included. */
	bool gap;
	uint32_t gap_first, gap_last;
	uint32_t counted; /* the reader's position when lost events were last counted */
	/* Of GCHINT_STREAM_HEAP_MORE, until GCHINT_STREAM_HEAP; by thread. */
	struct heap_more {
		uint64_t t, allocated, freed;
		int32_t tid;
	} heap[HEAPS];
	int32_t tid[RING_LEASES]; /* 0 none */
};

struct library {
	struct source_context *context;
	struct watch *listen, *timer;
	struct ring *rings;
	unsigned int count;
	uint64_t sessions, late; /* rings that arrived after their program had waited */
	bool foreign; /* the note that programs of other pid namespaces are not recorded was emitted */
	int fd, late_fd;
	char path[108];
	/* Of the ring that is read now */
	struct context_thread thread[THREADS];
	size_t threads;
	unsigned int scans;
};

/* That of gchintctl record, which its command inherits, or the service's. */
static const char *socket_path(const struct config *config)
{
	const char *path = getenv("GCHINT_STREAM");

	if (path && *path)
		return path;
	return *config->library_socket ? config->library_socket : NULL;
}

static void lease_report(struct library *l, const struct ring *ring, uint32_t slot, uint64_t t,
			 enum gchint_lease what, uint32_t role)
{
	const struct message_event e = {
		.has = HAS(GCHINT_EVENT_A_TID) | HAS(GCHINT_EVENT_A_SESSION) |
		       (what == GCHINT_LEASE_ATTACH || what == GCHINT_LEASE_ROLE ?
				HAS(GCHINT_EVENT_A_ROLE) :
				0),
		.type = GCHINT_EVENT_LEASE,
		.time = t,
		.tgid = ring->in.pid,
		.tid = ring->tid[slot],
		.session = ring->session,
		.slot = slot,
		.role = role,
		.lease = what,
	};

	tracker_event(l->context->tracker, &e);
}

static void phase_report(struct library *l, const struct ring *ring,
			 const struct gchint_stream_event *s)
{
	const struct message_event e = {
		.has = HAS(GCHINT_EVENT_A_TID) | HAS(GCHINT_EVENT_A_SESSION) |
		       (s->cause ? HAS(GCHINT_EVENT_A_CAUSE) : 0) |
		       (s->work_done ? HAS(GCHINT_EVENT_A_WORK_DONE) : 0),
		.type = GCHINT_EVENT_PHASE,
		.time = s->time,
		.cpu = s->cpu < CPUS_MAX ? s->cpu : UNKNOWN_U32,
		.tgid = ring->in.pid,
		.tid = ring->tid[s->slot],
		.session = ring->session,
		.slot = s->slot,
		.phase = s->phase < GCHINT_PHASE_NR ? s->phase : GCHINT_PHASE_NONE,
		.flags = s->flags & GCHINT_F_ALL,
		.cause = s->cause < GCHINT_CAUSE_NR ? s->cause : GCHINT_CAUSE_UNKNOWN,
		.work_done = s->work_done,
		.work_total = s->work_total,
		.stall_ns = s->stall_ns,
	};

	tracker_event(l->context->tracker, &e);
}

static struct heap_more *ring_heap(struct ring *ring, const struct gchint_stream_event *s)
{
	return &ring->heap[(uint32_t)s->tid % HEAPS];
}

static void heap_remember(struct ring *ring, const struct gchint_stream_event *s)
{
	*ring_heap(ring, s) = (struct heap_more){ s->time, s->work_done, s->work_total, s->tid };
}

/* All bits set, or a number that no heap has: unknown. */
static int64_t heap_number(uint64_t value)
{
	return value > INT64_MAX ? UNKNOWN_S64 : (int64_t)value;
}

/* @tid: the thread's number here */
static void heap_report(struct library *l, struct ring *ring, const struct gchint_stream_event *s,
			int32_t tid)
{
	const struct heap_more *more = ring_heap(ring, s);
	const bool known = more->t == s->time && more->tid == s->tid;
	const struct record r = {
		.t = s->time,
		.type = RECORD_HEAP,
		.heap = {
			.tgid = ring->in.pid,
			.tid = tid,
			.after = s->phase == GCHINT_STREAM_AFTER,
			.used = heap_number(s->work_done),
			.committed = heap_number(s->work_total),
			.most = heap_number(s->stall_ns),
			.allocated = known ? heap_number(more->allocated) : UNKNOWN_S64,
			.freed = known ? heap_number(more->freed) : UNKNOWN_S64,
			.generation = s->role,
		},
	};

	if (s->phase == GCHINT_STREAM_BEFORE || s->phase == GCHINT_STREAM_AFTER)
		context_record(l->context, &r);
}

/* @tid: the thread's number here, which is that of the process if it is not known */
static void name_report(struct library *l, const struct ring *ring,
			const struct gchint_stream_event *s, int32_t tid)
{
	char name[2 * sizeof(uint64_t) + 1] = "";

	memcpy(name, &s->work_done, sizeof(s->work_done));
	memcpy(name + sizeof(s->work_done), &s->work_total, sizeof(s->work_total));
	if (*name && (s->tid == ring->own_pid) == (tid == ring->in.pid))
		tracker_name(l->context->tracker, ring->in.pid, tid, ring->session, s->time, name);
}

/* Ends every lease of the ring. */
static void ring_end_leases(struct library *l, struct ring *ring, enum gchint_lease how)
{
	const uint64_t now = clock_now();

	for (uint32_t slot = 0; slot < RING_LEASES; slot++)
		if (ring->tid[slot]) {
			lease_report(l, ring, slot, now, how, 0);
			ring->tid[slot] = 0;
		}
}

/* 0 if the last scan has not found it */
static int32_t thread_find(const struct library *l, int32_t own)
{
	for (size_t i = 0; i < l->threads; i++)
		if (l->thread[i].own == own)
			return l->thread[i].tid;
	return 0;
}

/* The number of one of its threads in our pid namespace; the process's if it is unknown. */
static int32_t ring_map_tid(struct library *l, const struct ring *ring, int32_t tid)
{
	int32_t found = tid;

	if (ring->in.pid != ring->own_pid)
		found = tid == ring->own_pid ? ring->in.pid : thread_find(l, tid);
	if (!found && l->scans < SCANS) {
		l->scans++;
		l->threads = context_threads(l->context, ring->in.pid, l->thread, THREADS);
		found = thread_find(l, tid);
	}
	return found > 0 ? found : ring->in.pid;
}

/* A library that fakes the time, or a namespace whose offset is not known. */
static void ring_note_late(struct library *l, struct ring *ring, uint64_t ns)
{
	if (ring->late || ns < NSEC_PER_SEC)
		return;
	ring->late = true;
	context_note(l->context, LOG_WARNING, "library",
		     "process %d: its clock is %.3f s ahead: its phases are recorded when they are "
		     "read, and their lengths are not known",
		     ring->in.pid, (double)ns * 1e-9);
}

/* @now: the last reading of the clock. */
static void library_on_event(struct library *l, struct ring *ring, struct gchint_stream_event *s,
			     uint64_t *now)
{
	s->time -= (uint64_t)ring->ahead_ns;
	if (s->stall_ns && s->type == GCHINT_STREAM_PHASE)
		s->stall_ns -= (uint64_t)ring->ahead_ns;
	/* The program may write events while its ring is read. */
	if (s->time > *now)
		*now = clock_now();
	/* Still in the future: it is of another clock, or garbage. */
	if (s->time > *now) {
		ring_note_late(l, ring, s->time - *now);
		s->time = *now;
	}
	if (s->type == GCHINT_STREAM_CLOSE) {
		ring_end_leases(l, ring, GCHINT_LEASE_CLOSE);
		ring->closed = true;
		return;
	}
	if (s->type == GCHINT_STREAM_SAMPLE) {
		hotspots_answer(l->context->hotspots, ring->in.pid, s);
		return;
	}
	if (s->type == GCHINT_STREAM_WORD) {
		hotspots_word(l->context->hotspots, ring->in.pid, s);
		return;
	}
	if (s->type == GCHINT_STREAM_HEAP_MORE) {
		heap_remember(ring, s);
		return;
	}
	if (s->type == GCHINT_STREAM_HEAP) {
		heap_report(l, ring, s, ring_map_tid(l, ring, s->tid));
		return;
	}
	if (s->type == GCHINT_STREAM_NAME) {
		name_report(l, ring, s, ring_map_tid(l, ring, s->tid));
		return;
	}
	if (s->slot >= RING_LEASES)
		return;
	if (s->type == GCHINT_STREAM_ATTACH && ring->tid[s->slot])
		lease_report(l, ring, s->slot, s->time, GCHINT_LEASE_EXIT, 0);
	if (s->type == GCHINT_STREAM_ATTACH || !ring->tid[s->slot])
		ring->tid[s->slot] = ring_map_tid(l, ring, s->tid);
	switch (s->type) {
	case GCHINT_STREAM_PHASE:
		phase_report(l, ring, s);
		break;
	case GCHINT_STREAM_ATTACH:
	case GCHINT_STREAM_ROLE:
		lease_report(l, ring, s->slot, s->time,
			     s->type == GCHINT_STREAM_ROLE ? GCHINT_LEASE_ROLE :
							     GCHINT_LEASE_ATTACH,
			     s->role < GCHINT_ROLE_NR ? s->role : GCHINT_ROLE_NONE);
		break;
	case GCHINT_STREAM_DETACH:
		lease_report(l, ring, s->slot, s->time, GCHINT_LEASE_DETACH, 0);
		ring->tid[s->slot] = 0;
		break;
	default:
		break;
	}
}

static void ring_note_runtime(struct library *l, struct ring *ring)
{
	const int64_t pid = ring->in.pid;
	char name[GCHINT_STREAM_RUNTIME];
	const char *string = name;

	if (ring->named || !ring_runtime(&ring->in, name))
		return;
	ring->named = true;
	context_define(l->context,
		       definition_new(DEFINE_RUNTIME, clock_now(), &pid, 1, &string, 1));
}

/*
 * The program lost events while the ring was full, so behind all that the ring had then. A reader
 * that stopped before the end of the ring has not come to that place.
 */
static void ring_count_lost(struct library *l, struct ring *ring)
{
	const uint32_t lost = ring_lost(&ring->in);

	if (lost) {
		context_drop(l->context, "library", lost, "a program's ring ran over");
		if (!ring->gap)
			ring->gap_first = ring->counted + GCHINT_STREAM_EVENTS;
		ring->gap_last = __atomic_load_n(&ring->in.map->tail, __ATOMIC_RELAXED);
		ring->gap = true;
	}
	ring->counted = ring->in.position;
}

/* What is open at the reader's position is uncertain if events were lost there. */
static void ring_pass_gap(struct library *l, struct ring *ring, bool empty)
{
	if (!ring->gap)
		return;
	if (empty || (int32_t)(ring->in.position - ring->gap_first) >= 0)
		tracker_gap(l->context->tracker);
	if (empty || (int32_t)(ring->in.position - ring->gap_last) >= 0)
		ring->gap = false;
}

/* Are events to stay in their rings for now? */
static bool queue_is_short(const struct library *l)
{
	const struct queue *q = l->context->queue;

	return q && !context_waits(l->context) && queue_room(q) < QUEUE_RESERVE(queue_size(q));
}

/*
 * @dead: the program has ended, so an unfinished event stays unfinished. Returns whether the ring
 * is empty. If the queue is full, events stay in the ring, also in that of a dead program, unless
 * the context waits for the writer.
 */
static bool ring_drain(struct library *l, struct ring *ring, bool dead)
{
	const uint64_t begin = clock_now();
	uint64_t now = begin, unfinished = 0;
	bool empty = false;

	/* A number may be another thread's now. */
	l->threads = l->scans = 0;
	ring_note_runtime(l, ring);
	for (int n = 0; n < (dead ? GCHINT_STREAM_EVENTS : ROUND) && !ring->closed; n++) {
		struct gchint_stream_event event;
		enum ring_found found;

		if (queue_is_short(l))
			break;
		ring_pass_gap(l, ring, false);
		found = ring_next(&ring->in, &event, dead);
		empty = found == RING_EMPTY;
		if (empty)
			break;
		if (found == RING_EVENT)
			library_on_event(l, ring, &event, &now);
		else
			unfinished++;
	}
	/* It may have been named since, and the ring ended. */
	ring_note_runtime(l, ring);
	ring_count_lost(l, ring);
	ring_pass_gap(l, ring, empty);
	if (unfinished)
		context_drop(l->context, "library", unfinished,
			     "a program ended while it wrote an event");
	if (empty)
		hotspots_read(l->context->hotspots, ring->in.pid, begin);
	return empty || ring->closed;
}

/* Before the ring is freed: counts what the queue had no space for. */
static void ring_drain_all(struct library *l, struct ring *ring)
{
	/* A ring that another process writes for a dead one may go on: its size is enough. */
	if (!ring_drain(l, ring, true) && queue_is_short(l))
		context_lose(l->context, ring_unread(&ring->in));
}

/* The same of a ring that another one replaces: the loop waits for the writer. */
static void ring_drain_patiently(struct library *l, struct ring *ring)
{
	const bool patient = l->context->patient;

	l->context->patient = true;
	ring_drain_all(l, ring);
	l->context->patient = patient;
}

/*
 * Appends the names of its methods to the map of perf's format from which gchintctl resolves them
 * after the recording, if GCHINT_SYMBOLS asks for one.
 */
static void ring_save_names(struct library *l, const struct ring *ring)
{
	const char *directory = getenv("GCHINT_SYMBOLS");
	char path[512], line[RING_NAME];
	uint32_t at = 0;
	FILE *f = NULL;
	struct stat st;
	bool good;
	int fd;

	if (!directory || !*directory || !ring_name(&ring->in, &at, true, line))
		return;
	perf_map_path(path, sizeof(path), directory, ring->in.pid);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	/* Other users may write to the directory. */
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		f = fdopen(fd, "a");
	if (!f && fd >= 0)
		close(fd);
	do
		good = f && fprintf(f, "%s\n", line) > 0;
	while (good && ring_name(&ring->in, &at, true, line));
	if (f && fclose(f))
		good = false;
	if (!good)
		context_note(l->context, LOG_WARNING, "library",
			     "%s: names of methods are lost: %s", path, strerror(errno));
}

static void ring_free(struct library *l, struct ring **at)
{
	struct ring *ring = *at;

	*at = ring->next;
	l->count--;
	ring_save_names(l, ring);
	hotspots_gone(l->context->hotspots, ring->in.pid);
	ring_close(&ring->in);
	free(ring);
}

static void on_period(void *data, uint32_t events)
{
	struct library *l = data;

	(void)events;
	for (struct ring **at = &l->rings; *at;) {
		struct ring *ring = *at;
		/* Check this first: all that a dead program wrote is in the ring then. */
		bool dead = ring_dead(&ring->in);

		bool read = ring_drain(l, ring, dead);

		if (dead && read)
			ring_end_leases(l, ring, GCHINT_LEASE_EXIT);
		if ((dead && read) || ring->closed)
			ring_free(l, at);
		else
			at = &ring->next;
	}
	if (!l->rings)
		watch_period(l->timer, 0);
}

static void ring_add(struct library *l, struct ring_reader *in)
{
	struct ring *ring = l->count < RINGS ? calloc(1, sizeof(*ring)) : NULL;

	if (!ring) {
		context_drop(l->context, "library", 1,
			     l->count < RINGS ? LATE_WHY ": no memory for a ring" :
						LATE_WHY ": too many at once");
		ring_close(in);
		return;
	}
	/* The program called exec, or opened a new ring: its previous leases end. */
	for (struct ring **at = &l->rings; *at; at = &(*at)->next)
		if ((*at)->in.pid == in->pid) {
			ring_drain_patiently(l, *at);
			ring_end_leases(l, *at, GCHINT_LEASE_EXEC);
			ring_free(l, at);
			break;
		}
	/* There is little address space, or the file is too short for them. */
	if ((in->map->features & GCHINT_STREAM_NAMES) && !in->names)
		context_drop(l->context, "library", 1,
			     "names of a program's methods cannot be read");
	if (in->map->features & GCHINT_STREAM_LATE)
		l->late++;
	ring->in = *in;
	ring->own_pid = in->map->pid;
	ring->session = TRACKER_LIBRARY | ++l->sessions;
	if (!context_clock_ahead(l->context, in->pid, &ring->ahead_ns)) {
		ring->ahead_ns = 0;
		context_note(
			l->context, LOG_WARNING, "library",
			"process %d made a time namespace for its children and is in another one: "
			"its phases may be at the wrong time",
			in->pid);
	}
	ring->next = l->rings;
	l->rings = ring;
	l->count++;
	hotspots_process(l->context->hotspots, in->pid, in->pid == ring->own_pid, in->map->features,
			 in->map->method);
	hotspots_names(l->context->hotspots, in->pid, &ring->in);
	if (!(in->map->features & GCHINT_STREAM_NAMED))
		tracker_process(l->context->tracker, in->pid, ring->session, clock_now());
	watch_period(l->timer, l->context->config.source[SOURCE_library].period_ms * NSEC_PER_MSEC);
}

/* Once: each of them is counted as lost. */
static void library_note_foreign(struct library *l)
{
	if (l->foreign)
		return;
	l->foreign = true;
	context_note(l->context, LOG_WARNING, "library",
		     "programs outside of the pid namespace of gchintd sent hints, which are not "
		     "recorded: run it in that of the host (docker and podman run --pid=host, "
		     "Kubernetes hostPID: true)");
}

static void on_message(void *data, uint32_t events)
{
	struct library *l = data;

	(void)events;
	for (int i = 0; i < 64; i++) {
		struct ring_reader in;
		const char *why;
		int ret = ring_receive(l->fd, &in, &why);

		if (ret == -EAGAIN)
			return;
		if (!ret) {
			ring_add(l, &in);
			continue;
		}
		context_drop(l->context, "library", 1, why);
		if (!strcmp(why, FOREIGN_WHY))
			library_note_foreign(l);
	}
}

static void library_stop(void *state)
{
	struct library *l = state;
	uint64_t late;

	if (l->fd >= 0)
		on_message(l, 0);
	while (l->rings) {
		ring_drain_all(l, l->rings);
		ring_end_leases(l, l->rings, GCHINT_LEASE_CLOSE);
		ring_free(l, &l->rings);
	}
	late = late_count(l->late_fd);
	if (late > l->late)
		context_drop(
			l->context, "library", late - l->late,
			LATE_WHY
			" before it ended: the recorder did not run, or a limit of the program "
			"forbids its ring");
	late_close(l->late_fd, l->path);
	watch_free(l->listen);
	watch_free(l->timer);
	if (l->fd >= 0)
		local_close(l->fd, SOCK_DGRAM, l->path);
	free(l);
}

static int library_start(struct source_context *context, void **state)
{
	struct library *l = calloc(1, sizeof(*l));
	const char *path = socket_path(&context->config);
	const int on = 1;

	if (!l)
		return -ENOMEM;
	l->context = context;
	l->late_fd = -1;
	l->fd = local_bind(SOCK_DGRAM, path);
	if (l->fd < 0) {
		int ret = l->fd;

		free(l);
		return ret;
	}
	strcpy(l->path, path);
	/* Its directory has the group of those who may hint, and gives it to the socket. */
	if (path == context->config.library_socket) {
		chmod(path, 0660);
	} else {
		/* Its directory protects it; programs of root may change their user. */
		chmod(path, 0666);
		l->late_fd = late_open(path);
	}
	l->timer = loop_timer(context->loop, 0, on_period, l);
	l->listen = loop_fd(context->loop, l->fd, EPOLLIN, on_message, l);
	if (!l->timer || !l->listen ||
	    setsockopt(l->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on))) {
		library_stop(l);
		return -ENOMEM;
	}
	context_clock(context, "library", "CLOCK_MONOTONIC", 0, 0,
		      "stamped by the program at the edge");
	*state = l;
	return 0;
}

static int library_probe(const struct source_context *context, struct probe *p)
{
	const char *path = socket_path(&context->config);
	char dir[108];

	if (!path)
		return probe_absent(p, -ENOENT, "gchintctl record -- PROGRAM",
				    "no program streams its hints to us");
	if (strlen(path) >= sizeof(((struct library *)0)->path))
		return probe_absent(p, -ENAMETOOLONG, "a shorter GCHINT_STREAM", "%s", path);
	snprintf(dir, sizeof(dir), "%s", path);
	if (strrchr(dir, '/'))
		*strrchr(dir, '/') = '\0';
	if (strchr(path, '/') && *dir && root_access(dir, W_OK | X_OK))
		return probe_absent(p, -errno, "systemd-tmpfiles --create gchint.conf", "%s: %s",
				    dir, strerror(errno));
	return probe_found(p, "hints of programs without the module");
}

const struct source source_library = { library_probe, library_start, library_stop };
