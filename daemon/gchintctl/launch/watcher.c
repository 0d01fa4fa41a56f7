// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The phases of a thread are a stack of frames, one for each call that has not returned. That a call
 * will never return, because of longjmp(3) or an exception, is seen at the next one: the stack pointer
 * is then not below that of the call, unless that jumped there as its last action. When such a phase ended is not known: it is given the time of
 * the last thing that is known of the thread, and reported as the end of its lease.
 */
#include "watcher.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../common/clock.h"
#include "../../symbols/sites.h"
#include "../ctl.h"
#include "probe-files.h"
#include "probes.h"
#include "ring-writer.h"

#define FRAMES	256 /* of a thread */
#define POINTS	256
#define POLL_MS 200
/* Room for the events of a hit, and how long to wait for it. */
#define ROOM_EVENTS  1024
#define ROOM_WAITS   50
#define ROOM_WAIT_NS (20 * NSEC_PER_MSEC)
#define SEND_TRIES   50 /* each after the recorder has read all rings that it was sent */

struct frame {
	unsigned int probe;
	bool returns; /* it ends when its function returns */
	bool within; /* a call within another one of the same phase, such as a recursion */
	uint64_t stack; /* pointer at the entry */
};

struct watched_thread {
	pid_t tid;
	uint64_t seen; /* when something was last known of it */
	unsigned int depth;
	struct frame frame[FRAMES];
};

struct thread_name {
	pid_t tid;
	char text[PROBE_NAME_SIZE];
};

struct watched {
	struct watched *next;
	pid_t pid;
	bool sent, leaderless; /* its ring was sent; its first thread has ended */
	struct ring_writer writer;
	struct watched_thread **thread;
	size_t threads;
	struct thread_name *name; /* of all its threads, as far as they are known */
	size_t names;
};

/* What a point means to a phase. */
struct point_use {
	unsigned int point, probe;
	bool ends;
};

struct watcher {
	struct phase_probe probe[PHASE_PROBES];
	size_t count;
	struct probe_point point[POINTS];
	unsigned int points;
	struct point_use use[2 * POINTS];
	unsigned int uses;
	struct probe_files files[PHASE_PROBES];

	struct probes *probes;
	const struct child *child;
	const char *socket;
	struct watched *processes;
	struct watched *first; /* the command, until it has ended */
	uint64_t left; /* calls that did not return */
	uint64_t unsent; /* processes */
	int error; /* of the first of these */
};

/* The number of a point that is probed once, however many phases it is of. POINTS: too many. */
static unsigned int point_add(struct watcher *w, const struct probe_point *p)
{
	unsigned int i = 0;

	while (i < w->points &&
	       (w->point[i].path != p->path || w->point[i].offset != p->offset ||
		w->point[i].semaphore != p->semaphore || w->point[i].returns != p->returns))
		i++;
	if (i == w->points && i < POINTS)
		w->point[w->points++] = *p;
	return i;
}

static bool use_add(struct watcher *w, const struct probe_point *p, unsigned int probe, bool ends)
{
	const unsigned int point = point_add(w, p);

	if (point == POINTS || w->uses == sizeof(w->use) / sizeof(w->use[0]))
		return false;
	w->use[w->uses++] = (struct point_use){ point, probe, ends };
	return true;
}

/* The path of a file that an earlier probe has too, so that its points are known to be the same. */
static const char *path_shared(const struct watcher *w, unsigned int probe, const char *path)
{
	for (unsigned int i = 0; i < probe; i++)
		for (size_t k = 0; k < w->files[i].nr; k++)
			if (!strcmp(w->files[i].path[k], path))
				return w->files[i].path[k];
	return path;
}

/* Finds what begins, or what ends, a phase, in all its files. */
static bool sites_add(struct watcher *w, unsigned int probe, const char *name, bool ends, char *why,
		      size_t size)
{
	const struct probe_files *files = &w->files[probe];
	struct site site[SITES_MAX];
	char reason[256] = "";
	bool found = false;

	for (size_t i = 0; i < files->nr; i++) {
		const char *path = path_shared(w, probe, files->path[i]);
		const size_t nr = sites_find(path, name, site, reason, sizeof(reason));

		found = found || nr;
		for (size_t k = 0; k < nr; k++) {
			struct probe_point p = { .path = path,
						 .offset = site[k].offset,
						 .semaphore = site[k].semaphore };
			bool good = use_add(w, &p, probe, ends);

			p.returns = true;
			if (good && !ends && !*w->probe[probe].end)
				good = use_add(w, &p, probe, true);
			if (!good) {
				snprintf(why, size, "over %d places to probe", POINTS);
				return false;
			}
		}
	}
	if (!found)
		snprintf(why, size, "%s in %s: %s", name, files->path[0], reason);
	return found || w->probe[probe].optional;
}

struct watcher *watcher_open(const struct phase_probe *probe, size_t count, const char *program,
			     pid_t pid, char *why, size_t size)
{
	struct watcher *w = calloc(1, sizeof(*w));

	if (!w) {
		snprintf(why, size, "not enough memory");
		return NULL;
	}
	w->count = count;
	memcpy(w->probe, probe, count * sizeof(*probe));
	for (unsigned int i = 0; i < count; i++) {
		const struct phase_probe *p = &w->probe[i];
		struct probe_files *files = &w->files[i];
		bool good;

		if (pid)
			probe_files_mapped(files, p->file, pid);
		else
			probe_files_find(files, p->file, program);
		good = files->nr;
		if (!good && pid)
			snprintf(why, size,
				 "%s: process %d has not loaded it; write its path before the "
				 "colon if it will",
				 p->file, (int)pid);
		else if (!good)
			snprintf(why, size,
				 "%s: no such file where libraries are searched; write its path "
				 "before the colon",
				 *p->file ? p->file : "the program");
		if (!good || !sites_add(w, i, p->begin, false, why, size) ||
		    (*p->end && !sites_add(w, i, p->end, true, why, size))) {
			watcher_close(w);
			return NULL;
		}
	}
	return w;
}

static void watched_free(struct watched *p)
{
	for (size_t i = 0; i < p->threads; i++)
		free(p->thread[i]);
	free(p->thread);
	free(p->name);
	if (p->writer.ring)
		ring_writer_close(&p->writer);
	free(p);
}

void watcher_close(struct watcher *w)
{
	while (w->processes) {
		struct watched *p = w->processes;

		w->processes = p->next;
		watched_free(p);
	}
	if (w->probes)
		probes_close(w->probes);
	for (size_t i = 0; i < w->count; i++)
		probe_files_free(&w->files[i]);
	free(w);
}

static const char *probes_error_text(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "the kernel probes functions for root or with CAP_SYS_ADMIN alone; run it "
		       "as root";
	case ENOENT:
		return "this kernel has no uprobes (CONFIG_UPROBE_EVENTS), or a file is not there "
		       "any more";
	case EINVAL:
		return "the kernel does not probe such a place: the first instruction of the "
		       "function, or the file system of the file, does not allow it";
	default:
		return strerror(error);
	}
}

static bool probes_start(struct watcher *w, char *why, size_t size)
{
	w->probes = probes_watch(w->point, w->points);
	if (!w->probes)
		snprintf(why, size, "uprobes: %s", probes_error_text(errno));
	return w->probes;
}

bool watcher_check(const struct watcher *w, char *why, size_t size)
{
	struct probes *p = probes_watch(w->point, w->points);

	if (p)
		probes_close(p);
	else
		snprintf(why, size, "uprobes: %s", probes_error_text(errno));
	return p;
}

bool watcher_throws(const struct watcher *w, char *why, size_t size)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct phase_probe *p = &w->probe[i];

		for (size_t k = 0; !*p->end && !*p->runtime && k < w->files[i].nr; k++)
			if (sites_throw(w->files[i].path[k])) {
				snprintf(why, size,
					 "%s has exceptions: one that leaves %s would end the "
					 "program, "
					 "which cannot be seen beforehand; name what ends the "
					 "phase, "
					 "as %s..END, if that may be",
					 w->files[i].path[k], p->begin, p->begin);
				return true;
			}
	}
	return false;
}

static struct watched *process_find(struct watcher *w, pid_t pid)
{
	struct watched *p = w->processes;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static struct watched *process_add(struct watcher *w, pid_t pid)
{
	struct watched *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	p->next = w->processes;
	w->processes = p;
	return p;
}

static struct thread_name *name_find(const struct watched *p, pid_t tid)
{
	for (size_t i = 0; i < p->names; i++)
		if (p->name[i].tid == tid)
			return &p->name[i];
	return NULL;
}

static void name_set(struct watched *p, pid_t tid, const char text[PROBE_NAME_SIZE])
{
	struct thread_name *n = name_find(p, tid), *more;

	if (!n) {
		more = realloc(p->name, (p->names + 1) * sizeof(*more));
		if (!more)
			return;
		p->name = more;
		n = &p->name[p->names++];
		n->tid = tid;
	}
	memcpy(n->text, text, sizeof(n->text));
}

static void name_remove(struct watched *p, pid_t tid)
{
	struct thread_name *n = name_find(p, tid);

	if (n)
		*n = p->name[--p->names];
}

/* A thread is called as the one that starts it. */
static void name_inherit(struct watched *p, pid_t tid, const struct watched *parent,
			 pid_t parent_tid)
{
	const struct thread_name *n = name_find(parent, parent_tid);
	char text[PROBE_NAME_SIZE];

	if (!n)
		return;
	memcpy(text, n->text, sizeof(text));
	name_set(p, tid, text);
}

/* Reports what a thread is called, if that is known. */
static void name_report(struct watched *p, pid_t tid, uint64_t time)
{
	const struct thread_name *n = name_find(p, tid);

	if (n && p->writer.ring)
		ring_writer_name(&p->writer, tid, time, n->text);
}

/* Those of a process that runs already. */
static void names_read(struct watched *p)
{
	char path[320], text[PROBE_NAME_SIZE];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid);
	dir = opendir(path);
	for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int)p->pid, e->d_name);
		f = *e->d_name == '.' ? NULL : fopen(path, "re");
		memset(text, 0, sizeof(text));
		if (f && fgets(text, sizeof(text), f) && *text) {
			text[strcspn(text, "\n")] = '\0';
			name_set(p, atoi(e->d_name), text);
		}
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
}

/* If this process is the recorder itself, the socket is full until it reads. */
static int ring_send_behalf(const struct watcher *w, struct ring_writer *ring)
{
	const bool own = w->child && w->child->poll;
	int ret = ring_writer_send(ring, w->socket, true, !own);

	for (int n = 0; n < SEND_TRIES && ret == -EAGAIN; n++) {
		w->child->poll(w->child->data);
		ret = ring_writer_send(ring, w->socket, true, false);
	}
	return ret;
}

/* Opens the ring of a process at its first phase, at @time. Returns whether it has one. */
static bool process_send_ring(struct watcher *w, struct watched *p, uint64_t time)
{
	int ret;

	if (p->sent)
		return p->writer.ring;
	p->sent = true;
	if (!ring_writer_open(&p->writer, p->pid)) {
		p->writer.ring = NULL;
		ret = -ENOMEM;
	} else {
		p->writer.ring->features |= GCHINT_STREAM_NAMED;
		ret = ring_send_behalf(w, &p->writer);
	}
	if (!ret) {
		name_report(p, p->pid, time);
		return true;
	}
	if (p->writer.ring)
		ring_writer_close(&p->writer);
	p->writer.ring = NULL;
	w->error = w->unsent++ ? w->error : ret;
	return false;
}

static struct watched_thread *thread_find(struct watched *p, pid_t tid, bool add)
{
	struct watched_thread **more, *t;

	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->tid == tid)
			return p->thread[i];
	if (!add)
		return NULL;
	t = calloc(1, sizeof(*t));
	more = t ? realloc(p->thread, (p->threads + 1) * sizeof(*more)) : NULL;
	if (!more) {
		free(t);
		return NULL;
	}
	t->tid = tid;
	p->thread = more;
	p->thread[p->threads++] = t;
	return t;
}

/* RING_LEASES: it has none. */
static uint32_t thread_slot(const struct watched *p, const struct watched_thread *t)
{
	uint32_t slot = 0;

	while (slot < RING_LEASES && p->writer.tid[slot] != t->tid)
		slot++;
	return slot;
}

/* Reports the innermost phase of a thread at the time and on the CPU of @h. */
static void thread_report(struct watcher *w, struct watched *p, const struct watched_thread *t,
			  const struct probe_hit *h)
{
	const struct phase_probe none = { .phase = GCHINT_PHASE_NONE }, *probe = &none;
	struct probe_hit at = *h;
	const bool attached = thread_slot(p, t) < RING_LEASES;
	uint32_t slot;

	if (t->depth)
		probe = &w->probe[t->frame[t->depth - 1].probe];
	at.tid = t->tid;
	slot = ring_writer_slot(&p->writer, &at);
	if (!attached)
		name_report(p, t->tid, h->time);
	ring_writer_runtime(&p->writer, probe->runtime);
	ring_writer_phase(&p->writer, &at, slot, probe->phase, probe->flags, probe->cause);
}

/* Drops the frames from @depth on, which ended at the hit. */
static void thread_end(struct watcher *w, struct watched *p, struct watched_thread *t,
		       unsigned int depth, const struct probe_hit *h)
{
	bool within = true;

	for (unsigned int i = depth; i < t->depth; i++)
		within = within && t->frame[i].within;
	t->depth = depth;
	if (!within)
		thread_report(w, p, t, h);
}

/* The same of calls that were left without a return: nothing says when. */
static void thread_abandon(struct watcher *w, struct watched *p, struct watched_thread *t,
			   unsigned int depth, const struct probe_hit *h)
{
	struct probe_hit then = *h;
	unsigned int left = 0;

	for (unsigned int i = depth; i < t->depth; i++)
		left += !t->frame[i].within;
	w->left += left;
	t->depth = depth;
	if (!left)
		return;
	then.time = t->seen;
	then.cpu = GCHINT_STREAM_NO_CPU;
	ring_writer_detach(&p->writer, thread_slot(p, t), t->seen);
	if (depth)
		thread_report(w, p, t, &then);
}

static bool probes_alike(const struct phase_probe *a, const struct phase_probe *b)
{
	return a->phase == b->phase && a->flags == b->flags && a->cause == b->cause;
}

static void thread_begin(struct watcher *w, struct watched *p, unsigned int probe,
			 const struct probe_hit *h)
{
	struct watched_thread *t = thread_find(p, h->tid, true);
	unsigned int depth;
	bool within = false;

	if (!t)
		return;
	for (depth = t->depth; depth; depth--) {
		const struct frame *f = &t->frame[depth - 1];

		if (!f->returns || !h->stack || h->stack < f->stack ||
		    (h->tail && h->stack == f->stack))
			break;
	}
	if (depth < t->depth)
		thread_abandon(w, p, t, depth, h);
	/* What jumped here has nothing left to do. */
	while (h->tail && depth && t->frame[depth - 1].returns &&
	       t->frame[depth - 1].stack == h->stack &&
	       !probes_alike(&w->probe[t->frame[depth - 1].probe], &w->probe[probe]))
		depth--;
	if (depth < t->depth)
		thread_end(w, p, t, depth, h);
	for (unsigned int i = 0; i < t->depth; i++) {
		/* Without a return the phase has missed its end, and begins again. */
		if (t->frame[i].probe == probe && !t->frame[i].returns) {
			thread_end(w, p, t, i, h);
			break;
		}
		within = within || probes_alike(&w->probe[t->frame[i].probe], &w->probe[probe]);
	}
	if (t->depth == FRAMES)
		return;
	t->frame[t->depth++] = (struct frame){ .probe = probe,
					       .returns = !*w->probe[probe].end,
					       .within = within,
					       .stack = h->stack };
	if (!within)
		thread_report(w, p, t, h);
}

/* A function of the phase has returned. */
static void thread_return(struct watcher *w, struct watched *p, unsigned int probe,
			  const struct probe_hit *h)
{
	struct watched_thread *t = thread_find(p, h->tid, false);
	unsigned int depth;

	if (!t)
		return;
	for (depth = t->depth; depth; depth--) {
		const struct frame *f = &t->frame[depth - 1];

		/* Programs of 32 bits have shorter addresses. */
		if (f->returns && f->probe == probe &&
		    (h->stack - f->stack <= PROBE_RETURN_ADDRESS || !h->stack))
			break;
	}
	if (!depth)
		return;
	/* Calls within it that did not return. */
	if (depth < t->depth)
		thread_abandon(w, p, t, depth, h);
	thread_end(w, p, t, depth - 1, h);
}

/* A thread entered what ends the phase: its own, else the one of another thread. */
static void process_end_phase(struct watcher *w, struct watched *p, unsigned int probe,
			      const struct probe_hit *h)
{
	struct watched_thread *own = thread_find(p, h->tid, false);

	for (size_t n = 0; n <= p->threads; n++) {
		struct watched_thread *t = n ? p->thread[n - 1] : own;

		for (unsigned int depth = t ? t->depth : 0; depth; depth--)
			if (!t->frame[depth - 1].returns && t->frame[depth - 1].probe == probe) {
				thread_end(w, p, t, depth - 1, h);
				return;
			}
	}
}

static void thread_gone(struct watched *p, struct watched_thread *t, uint64_t time)
{
	size_t i = 0;

	if (p->writer.ring)
		ring_writer_detach(&p->writer, thread_slot(p, t), time);
	while (p->thread[i] != t)
		i++;
	p->thread[i] = p->thread[--p->threads];
	free(t);
}

/* A process whose first thread has ended, and all others with phases, has no more phases. */
static void process_drop_ended(struct watcher *w, struct watched *p, uint64_t time)
{
	struct watched **at = &w->processes;

	if (!p->leaderless || p->threads || p == w->first)
		return;
	if (p->writer.ring)
		ring_writer_end(&p->writer, time);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	watched_free(p);
}

/* A process, or a thread of one, begins. */
static void on_fork(struct watcher *w, const struct probe_hit *h)
{
	const pid_t parent = (pid_t)h->argument[0];
	struct watched *p = process_find(w, h->pid), *from = process_find(w, parent);

	if (h->pid != parent) {
		/* A number that is in use again. */
		if (p && p != w->first) {
			p->leaderless = true;
			while (p->threads)
				thread_gone(p, p->thread[0], h->time);
			process_drop_ended(w, p, h->time);
			p = NULL;
		}
		if (!p && from)
			p = process_add(w, h->pid);
	}
	if (p && from)
		name_inherit(p, h->tid, from, (pid_t)h->argument[1]);
}

static void on_name(struct watched *p, const struct probe_hit *h)
{
	if (h->probe == PROBE_EXEC) {
		while (p->threads)
			thread_gone(p, p->thread[0], h->time);
		p->names = 0;
	}
	name_set(p, h->tid, h->name);
	if (h->tid == p->pid || thread_find(p, h->tid, false))
		name_report(p, h->tid, h->time);
}

static void on_task(struct watcher *w, const struct probe_hit *h)
{
	struct watched *p = process_find(w, h->pid);
	struct watched_thread *t;

	switch (h->probe) {
	case PROBE_FORK:
		on_fork(w, h);
		break;
	case PROBE_EXEC:
	case PROBE_NAME:
		if (p)
			on_name(p, h);
		break;
	default:
		t = p ? thread_find(p, h->tid, false) : NULL;
		if (t)
			thread_gone(p, t, h->time);
		if (p) {
			name_remove(p, h->tid);
			p->leaderless = p->leaderless || h->tid == h->pid;
			process_drop_ended(w, p, h->time);
		}
		break;
	}
}

/*
 * Waits until the recorder has read of the ring, which is not as large as the buffers of the probes:
 * the program does not wait for this process.
 */
static void process_wait_room(const struct watcher *w, const struct watched *p)
{
	const struct timespec interval = { 0, ROOM_WAIT_NS };

	for (int n = 0; n < ROOM_WAITS && !ring_writer_has_room(&p->writer, ROOM_EVENTS); n++)
		if (w->child && w->child->poll)
			w->child->poll(w->child->data);
		else
			nanosleep(&interval, NULL);
}

static void on_hit(void *data, const struct probe_hit *h)
{
	struct watcher *w = data;
	struct watched *p = process_find(w, h->pid);
	struct watched_thread *t;

	if (h->probe >= PROBE_NAME) {
		on_task(w, h);
		return;
	}
	if (!p || !process_send_ring(w, p, h->time))
		return;
	process_wait_room(w, p);
	/* What ends with it first: the same place may begin the next phase. */
	for (unsigned int i = 0; i < w->uses; i++) {
		const struct point_use *u = &w->use[i];

		if (u->point != h->probe || !u->ends)
			continue;
		if (w->point[u->point].returns)
			thread_return(w, p, u->probe, h);
		else
			process_end_phase(w, p, u->probe, h);
	}
	for (unsigned int i = 0; i < w->uses; i++) {
		const struct point_use *u = &w->use[i];

		if (u->point == h->probe && !u->ends &&
		    phase_probe_matches(&w->probe[u->probe], h->argument))
			thread_begin(w, p, u->probe, h);
	}
	t = thread_find(p, h->tid, false);
	if (t)
		t->seen = h->time;
}

static void watcher_drain(struct watcher *w, bool last)
{
	uint64_t lost = w->probes ? probes_read(w->probes, last, on_hit, w) : 0;

	for (struct watched *p = w->processes; lost && p; p = p->next)
		if (p->writer.ring)
			ring_writer_lose(&p->writer, lost);
}

static void watcher_poll(void *data)
{
	struct watcher *w = data;

	/* The command has its number by now. */
	if (w->first)
		w->first->pid = w->first->writer.ring->pid;
	watcher_drain(w, false);
	if (w->child && w->child->poll)
		w->child->poll(w->child->data);
}

/* Runs in the command's process: it sends its ring itself, for which it needs no right. */
static void watcher_setup_child(void *data)
{
	struct watcher *w = data;
	int ret;

	if (w->child->setup)
		w->child->setup(w->child->data);
	w->first->writer.ring->pid = getpid();
	ret = ring_writer_send(&w->first->writer, w->socket, false, true);
	if (ret)
		ctl_error("%s: %s: the recorder cannot be reached, nothing is recorded", w->socket,
			  strerror(-ret));
}

/* Reads the last hits, ends all rings, and says what is missing in the recording. */
static void watcher_finish(struct watcher *w)
{
	const uint64_t now = clock_now();

	watcher_drain(w, true);
	for (struct watched *p = w->processes; p; p = p->next)
		if (p->writer.ring)
			ring_writer_end(&p->writer, now);
	if (w->left)
		ctl_error("%" PRIu64 " calls did not return, by longjmp or an exception: when "
			  "these phases ended is not known",
			  w->left);
	if (w->unsent)
		ctl_error("%" PRIu64 " processes are not in the recording: %s", w->unsent,
			  strerror(-w->error));
}

int watcher_run(struct watcher *w, const struct child *child, const char *socket)
{
	struct child with = *child;
	char why[256];
	int status;

	w->child = child;
	w->socket = socket;
	w->first = process_add(w, 0);
	if (!w->first || !ring_writer_open(&w->first->writer, 0)) {
		ctl_error("not enough memory or file descriptors");
		return CTL_FAILED;
	}
	w->first->sent = true;
	if (probes_start(w, why, sizeof(why)))
		w->first->writer.ring->features |= GCHINT_STREAM_NAMED;
	else
		ctl_error("%s", why);
	with.setup = watcher_setup_child;
	with.poll = watcher_poll;
	with.data = w;
	status = child_run(&with);
	w->first->pid = w->first->writer.ring->pid;
	watcher_finish(w);
	/* If this process is the recorder itself, it counts the last events here. */
	if (child->poll)
		child->poll(child->data);
	return status;
}

int watcher_attach(struct watcher *w, pid_t pid, const char *socket)
{
	struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	char why[256];
	sigset_t taken;

	w->socket = socket;
	if (ended.fd < 0 || !process_add(w, pid)) {
		ctl_error("process %d: %s", (int)pid, strerror(errno));
		return CTL_FAILED;
	}
	if (!probes_start(w, why, sizeof(why))) {
		ctl_error("%s", why);
		close(ended.fd);
		return CTL_FAILED;
	}
	/* Those that are started from here on are known from the kernel. */
	names_read(w->processes);
	child_signals(&taken);
	while (poll(&ended, 1, POLL_MS) <= 0 && !child_caught)
		watcher_drain(w, false);
	watcher_finish(w);
	close(ended.fd);
	return CTL_OK;
}
