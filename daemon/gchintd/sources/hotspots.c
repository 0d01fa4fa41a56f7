// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the threads of programs are, so and so often a second of CPU time: a perf event on
 * each thread of a process that sent a ring. With the privilege, a program of ours in the
 * kernel writes the whole sample, the method and the phase with it: tunnel.h.
 *
 * Without it the event's own ring has the instruction and the call chain, in the kernel too
 * where perf_event_paranoid allows; at each overflow the kernel sends the thread a signal, to
 * which libgchint answers with the method and the phase. Sample and answer are joined by their
 * instants. A thread that does not answer has its samples, without a method.
 *
 * Off unless asked for: it costs the programs time.
 */
#include "hotspots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <syslog.h>

#include <uapi/linux/gchint.h>

#include "../../common/clock.h"
#include "filter.h"
#include "sampled.h"
#include "source.h"

#define PROCESSES 1024
#define PATIENCE  (150 * NSEC_PER_MSEC)

static void process_end(struct hotspots *h, struct process **at)
{
	struct process *p = *at;

	*at = p->next;
	while (p->threads)
		thread_end(h, p, &p->threads);
	free(p->images.image);
	free(p->word);
	methods_forget(&p->methods);
	free(p);
	h->nr_processes--;
}

/* It may never lease a thread, which is what names processes else. */
static void tell_name(const struct hotspots *h, int32_t pid)
{
	char comm[64];
	const char *strings[] = { comm, NULL };

	if (root_read(comm, sizeof(comm), "%s/%d/comm", h->host->root.procfs, pid) > 0)
		host_define(h->host, definition_new(DEFINE_PROCESS, clock_now(),
						    (const int64_t[]){ pid, pid, UNKNOWN_S64 }, 3,
						    strings, 2));
}

/* By the filter as it is now. */
static void choose(struct hotspots *h, struct process *p)
{
	const bool wanted = filter_process(h->host, &h->filter, p->pid);

	if (wanted && !p->wanted) {
		tell_name(h, p->pid);
		images_look(&p->images, h->host, p->pid);
		threads_walk(h, p);
	}
	while (!wanted && p->threads)
		thread_end(h, p, &p->threads);
	p->wanted = wanted;
}

/* What a filter let pass; nothing at all is said. */
static void tell_filter(struct hotspots *h)
{
	char text[1024];
	const char *words = filter_words(&h->filter, text, sizeof(text));

	/* Without a filter the text is not used. */
	if (!h->passed && words == text)
		host_note(h->host, LOG_WARNING, "hotspots",
			  "the filter %s let nothing pass of %llu samples", words,
			  (unsigned long long)h->stopped);
}

/* It may have been changed since. */
static void follow_filter(struct hotspots *h)
{
	const struct config_hotspots *now = &h->host->config.hotspots;
	const uint64_t from = clock_now();
	char text[1024];

	if (!memcmp(&h->filter, now, sizeof(*now)))
		return;
	for (struct process *p = h->processes; p; p = p->next) {
		for (struct thread *th = p->threads; th; th = th->next) {
			/* What came since @from is the new one's. */
			thread_drain(h, p, th);
			while (th->nr && th->pending[th->first].t < from)
				thread_flush(h, p, th);
		}
		methods_forget(&p->methods);
	}
	tell_filter(h);
	h->filter = *now;
	h->passed = h->stopped = 0;
	host_note_at(h->host, from, LOG_INFO, "hotspots", "what is sampled from here on: %s",
		     filter_words(now, text, sizeof(text)));
	for (struct process *p = h->processes; p; p = p->next)
		choose(h, p);
}

void hotspots_process(struct hotspots *h, int32_t pid, bool same, uint32_t features, int64_t method)
{
	struct process *p;

	if (!h)
		return;
	follow_filter(h);
	hotspots_gone(h, pid);
	p = h->nr_processes < PROCESSES ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		host_drop(h->host, "hotspots", 1, "too many processes at once");
		return;
	}
	p->pid = pid;
	p->same = same;
	p->answers = features & GCHINT_STREAM_SAMPLES;
	p->place.tells = !!(features & GCHINT_STREAM_METHODS);
	p->place.method = method;
	/* Who cannot be looked into may still answer. */
	p->seen = h->tunnel && (p->place.tells || !p->answers);
	p->next = h->processes;
	h->processes = p;
	if (!h->nr_processes++)
		watch_period(h->timer,
			     h->host->config.source[SOURCE_hotspots].period_ms * NSEC_PER_MSEC);
	choose(h, p);
}

static struct process *process_of(struct hotspots *h, int32_t pid)
{
	struct process *p = h ? h->processes : NULL;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

/* Samples since @t that were taken before anybody knew where to look. */
static void forget_phases(struct hotspots *h, struct thread *th, uint64_t t)
{
	threads_drain(h);
	for (uint32_t i = 0; i < th->nr; i++) {
		struct sample *s = &th->pending[(th->first + i) % PENDING];

		if (s->t >= t && !(s->told & TUNNEL_WORD))
			s->told &= (uint8_t)~HOTSPOT_PHASE;
	}
}

static struct tunnel_place place_of(const struct process *p, const struct gchint_stream_event *e)
{
	struct tunnel_place place = p->place;

	place.tid = (uint32_t)e->tid;
	place.word = e->work_done;
	place.owner = e->work_total;
	return place;
}

/* For when its threads are sampled again; false without memory, and it stays unknown. */
static bool remember_word(struct process *p, const struct gchint_stream_event *e)
{
	struct tunnel_place *more;
	size_t i = 0;

	while (i < p->words && p->word[i].tid != (uint32_t)e->tid)
		i++;
	if (i == p->words) {
		if (p->words == THREADS)
			return false;
		more = realloc(p->word, (p->words + 1) * sizeof(*more));
		if (!more)
			return false;
		p->word = more;
		p->words++;
	}
	p->word[i] = place_of(p, e);
	if (!e->work_done)
		p->word[i] = p->word[--p->words];
	return true;
}

void hotspots_word(struct hotspots *h, int32_t pid, const struct gchint_stream_event *e)
{
	struct process *p = process_of(h, pid);

	if (!p || !p->seen || !remember_word(p, e) || !p->wanted)
		return;
	/* One that began since the last walk is told of first here. */
	for (int walked = 0; walked < 2; walked++) {
		for (struct thread *th = p->threads; th; th = th->next)
			if (th->own_tid == e->tid && th->number) {
				const struct tunnel_place place = place_of(p, e);

				tunnel_place(h->tunnel, th->number, &place);
				if (place.word)
					forget_phases(h, th, e->time);
				return;
			}
		if (e->work_done && !walked)
			threads_walk(h, p);
		else
			return;
	}
}

void hotspots_answer(struct hotspots *h, int32_t pid, int32_t tid,
		     const struct gchint_stream_event *answer)
{
	struct process *p = process_of(h, pid);
	struct thread *th = NULL;
	uint32_t i;

	for (th = p ? p->threads : NULL; th && th->tid != tid; th = th->next)
		;
	if (!th || !p->same)
		return;
	thread_drain(h, p, th);
	/*
	 * The latest sample before it. Those before that one are of the same instant of the
	 * program only while it did not come back from the kernel.
	 */
	for (i = th->nr; i-- > 0;) {
		struct sample *s = &th->pending[(th->first + i) % PENDING];

		if (s->t > answer->time)
			continue;
		if (s->told)
			break;
		s->told = HOTSPOT_METHOD | HOTSPOT_PHASE;
		s->method = answer->work_done;
		s->phase = answer->phase < GCHINT_PHASE_NR ? answer->phase : GCHINT_PHASE_NONE;
		s->flags = answer->flags & GCHINT_F_ALL;
		if (!s->in_kernel || !i || !th->pending[(th->first + i - 1) % PENDING].in_kernel)
			break;
	}
}

void hotspots_gone(struct hotspots *h, int32_t pid)
{
	for (struct process **at = h ? &h->processes : NULL; at && *at; at = &(*at)->next)
		if ((*at)->pid == pid) {
			process_end(h, at);
			break;
		}
	if (h && !h->processes)
		watch_period(h->timer, 0);
}

static void on_timer(void *data, uint32_t events)
{
	const uint64_t old = clock_now() - PATIENCE;
	struct hotspots *h = data;

	(void)events;
	threads_drain(h);
	follow_filter(h);
	for (struct process *p = h->processes; p; p = p->next) {
		if (p->wanted)
			threads_walk(h, p);
		for (struct thread **at = &p->threads; *at;) {
			struct thread *th = *at;

			thread_drain(h, p, th);
			thread_lost(h, th);
			while (th->nr && th->pending[th->first].t < old)
				thread_flush(h, p, th);
			/* Its last answers may still be in the ring of its process. */
			if (!th->alive && !th->nr)
				thread_end(h, p, at);
			else
				at = &th->next;
		}
	}
}

static void stop(void *state)
{
	struct hotspots *h = state;

	h->host->hotspots = NULL;
	while (h->processes)
		process_end(h, &h->processes);
	tell_filter(h);
	watch_free(h->timer);
	if (h->tunnel)
		tunnel_close(h->tunnel);
	free(h);
}

/* Whether the kernel's side may be used, and can; @why what is missing. */
static int open_tunnel(const struct host *host, struct tunnel **t, const char **why)
{
	*why = "the configuration says so";
	return host->config.hotspots.signal ? -ECANCELED :
					      tunnel_open(t, THREADS, host->root.sysfs, why);
}

static int start(struct host *host, void **state)
{
	struct hotspots *h = calloc(1, sizeof(*h));
	struct rlimit files;
	const char *why;
	char text[16];

	if (!h)
		return -ENOMEM;
	h->host = host;
	h->timer = loop_timer(host->loop, 0, on_timer, h);
	if (!h->timer || sampling_choose(&h->sampling)) {
		watch_free(h->timer);
		free(h);
		return -ENOMEM;
	}
	h->sampling.hz = host->config.hotspots.hz;
	h->filter = host->config.hotspots;
	if (open_tunnel(host, &h->tunnel, &why))
		h->tunnel = NULL;
	/* A descriptor for each thread. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	snprintf(text, sizeof(text), "%u", h->sampling.hz);
	host_meta(host, "hotspots.hz", text);
	host_meta(host, "hotspots.event",
		  h->sampling.type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock");
	host_meta(host, "hotspots.kernel", h->sampling.in_kernel ? "yes" : "no");
	host_meta(host, "hotspots.way", h->tunnel ? "bpf" : "signal");
	host->hotspots = h;
	*state = h;
	return 0;
}

static int probe(const struct host *host, struct probe *p)
{
	const char *mend = "run as root, or lower kernel.perf_event_paranoid to 2";
	struct tunnel *tunnel;
	struct sampling s;
	const char *why;
	int ret = sampling_choose(&s);

	if (ret)
		return probe_absent(p, ret, ret == -EACCES || ret == -EPERM ? mend : "",
				    "no samples of threads: %s", strerror(-ret));
	ret = open_tunnel(host, &tunnel, &why);
	if (!ret)
		tunnel_close(tunnel);
	return probe_found(p, "samples by %s, %s the kernel's own; methods %s%s",
			   s.type == PERF_TYPE_HARDWARE ? "cycles" : "the clock (no cycles here)",
			   s.in_kernel ? "with" : "without",
			   ret ? "by a signal to the thread: " : "are read in the kernel",
			   ret ? why : "");
}

const struct source source_hotspots = { probe, start, stop };
