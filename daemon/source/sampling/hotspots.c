// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples where threads run, at a fixed rate of CPU time: a perf event on each thread of a
 * process that sent a ring. With the privileges for it, a BPF program writes the whole
 * sample, including the method and the phase: tunnel.h.
 *
 * Without them the event's own ring has the instruction and the call chain, including the
 * kernel's where perf_event_paranoid allows; at each overflow the kernel sends the thread a
 * signal, to which libgchint answers with the method and the phase. Samples and answers are
 * matched by time. Samples of a thread that does not answer have no method.
 *
 * Where no event is allowed, the thread's own timer sends it that signal, and its answer
 * has the instruction as well: no call chain, nothing of the kernel.
 *
 * Off by default: it costs the programs time.
 */
#include "hotspots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../common/clock.h"
#include "../source.h"
#include "filter.h"
#include "sampled.h"

#define PROCESSES  1024
#define CPU_PERIOD (20 * NSEC_PER_MSEC) /* between readings of a process's CPU time */
/* A sample waits for more of its process's ring and of the filter's names, */
#define PATIENCE (150 * NSEC_PER_MSEC)
/* and for its answer: the tick that took it may have given the CPU to many other threads. */
#define ANSWER (2 * NSEC_PER_SEC)

/*
 * The CPU time of a process, with that of threads that lived too briefly to be sampled. It is gone
 * with the process: the last reading counts.
 */
static void process_read_cpu(const struct hotspots *h, struct process *p, uint64_t now)
{
	unsigned long long user;
	char text[512];
	struct timespec all;
	const char *at;
	clockid_t clock;

	if (now - p->cpu_at < CPU_PERIOD)
		return;
	if (h->sampling.in_kernel) {
		if (clock_getcpuclockid(p->pid, &clock) || clock_gettime(clock, &all))
			return;
		p->cpu_ns = (uint64_t)all.tv_sec * NSEC_PER_SEC + (uint64_t)all.tv_nsec;
	} else {
		/* No clock has the time in user space alone. The name may have blanks and brackets. */
		if (root_read(text, sizeof(text), "%s/%d/stat", h->context->root.procfs, p->pid) <=
		    0)
			return;
		at = strrchr(text, ')');
		if (!at ||
		    sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu", &user) != 1)
			return;
		p->cpu_ns = user * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	}
	if (!p->cpu_at)
		p->cpu_first_ns = p->cpu_ns;
	p->cpu_at = now;
}

static void process_end(struct hotspots *h, struct process **at)
{
	struct process *p = *at;

	process_read_cpu(h, p, clock_now());
	h->cpu_ns += p->cpu_ns - p->cpu_first_ns;
	*at = p->next;
	while (p->threads)
		thread_end(h, p, &p->threads);
	if (p->task)
		closedir(p->task);
	free(p->images.image);
	free(p->word);
	methods_forget(&p->methods);
	free(p);
	h->nr_processes--;
}

/* Otherwise a process is named when it leases a thread, which this one may never do. */
static void process_record_name(const struct hotspots *h, int32_t pid)
{
	char comm[64];
	const char *strings[] = { comm, NULL };

	if (root_read(comm, sizeof(comm), "%s/%d/comm", h->context->root.procfs, pid) > 0)
		context_define(h->context,
			       definition_new(DEFINE_PROCESS, clock_now(),
					      (const int64_t[]){ pid, pid, UNKNOWN_S64 }, 3,
					      strings, 2));
}

/* Starts or stops sampling a process, as the filter now says. */
static void process_apply_filter(struct hotspots *h, struct process *p)
{
	const bool wanted = filter_process(h->context, &h->filter, p->pid);

	if (wanted && !p->wanted) {
		process_read_cpu(h, p, clock_now());
		process_record_name(h, p->pid);
		images_scan(&p->images, h->context, p->pid);
		threads_walk(h, p);
	}
	while (!wanted && p->threads)
		thread_end(h, p, &p->threads);
	p->wanted = wanted;
}

/* Warns about a filter that matched no sample. */
static void filter_report(struct hotspots *h)
{
	char text[1024];
	const char *words = filter_words(&h->filter, text, sizeof(text));

	/* Without a filter filter_words() returns a constant and leaves the text unused. */
	if (!h->passed && words == text)
		context_note(h->context, LOG_WARNING, "hotspots",
			     "filter %s rejected all %llu samples", words,
			     (unsigned long long)h->stopped);
}

/* Applies the configuration's filter if it has changed. */
static void filter_update(struct hotspots *h)
{
	const struct config_hotspots *now = &h->context->config.hotspots;
	const uint64_t from = clock_now();
	char text[1024];

	if (!memcmp(&h->filter, now, sizeof(*now)))
		return;
	for (struct process *p = h->processes; p; p = p->next) {
		for (struct thread *th = p->threads; th; th = th->next) {
			/* Samples from @from on belong to the new filter. */
			thread_drain(h, p, th);
			while (th->nr && th->pending[th->first].t < from)
				thread_flush(h, p, th);
		}
		methods_forget(&p->methods);
	}
	filter_report(h);
	h->filter = *now;
	h->passed = h->stopped = 0;
	context_note_at(h->context, from, LOG_INFO, "hotspots", "what is sampled from here on: %s",
			filter_words(now, text, sizeof(text)));
	for (struct process *p = h->processes; p; p = p->next)
		process_apply_filter(h, p);
}

void hotspots_process(struct hotspots *h, int32_t pid, bool same, uint32_t features, int64_t method)
{
	struct process *p;

	if (!h)
		return;
	filter_update(h);
	hotspots_gone(h, pid);
	p = h->nr_processes < PROCESSES ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		context_drop(h->context, "hotspots", 1, "too many processes at once");
		return;
	}
	p->pid = pid;
	p->same = same;
	p->answers = features & GCHINT_STREAM_SAMPLES;
	p->timers = features & GCHINT_STREAM_TIMERS;
	p->place.valid = !!(features & GCHINT_STREAM_METHODS);
	p->place.method = method;
	/* Prefer answers of the thread to BPF samples without a method. */
	p->seen = h->tunnel && (p->place.valid || !p->answers);
	p->next = h->processes;
	h->processes = p;
	if (!h->nr_processes++)
		watch_period(h->timer,
			     h->context->config.source[SOURCE_hotspots].period_ms * NSEC_PER_MSEC);
	process_apply_filter(h, p);
}

static struct process *process_find(struct hotspots *h, int32_t pid)
{
	struct process *p = h ? h->processes : NULL;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

void hotspots_names(struct hotspots *h, int32_t pid, const struct ring_reader *ring)
{
	struct process *p = process_find(h, pid);

	if (p)
		p->methods.ring = ring;
}

/* Makes the phase of samples since @t unknown if they were taken before its address was known. */
static void thread_forget_phases(struct hotspots *h, struct thread *th, uint64_t t)
{
	threads_drain(h);
	for (uint32_t i = 0; i < th->nr; i++) {
		struct sample *s = &th->pending[(th->first + i) % PENDING];

		if (s->t >= t && !(s->known & TUNNEL_WORD))
			s->known &= (uint8_t)~HOTSPOT_PHASE;
	}
}

static struct tunnel_place place_from_event(const struct process *p,
					    const struct gchint_stream_event *e)
{
	struct tunnel_place place = p->place;

	place.tid = (uint32_t)e->tid;
	place.word = e->work_done;
	place.owner = e->work_total;
	return place;
}

/* Kept for when its threads are sampled again; false without memory: the phase stays unknown. */
static bool process_store_word(struct process *p, const struct gchint_stream_event *e)
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
	p->word[i] = place_from_event(p, e);
	if (!e->work_done)
		p->word[i] = p->word[--p->words];
	return true;
}

void hotspots_word(struct hotspots *h, int32_t pid, const struct gchint_stream_event *e)
{
	struct process *p = process_find(h, pid);

	if (!p || !p->seen || !process_store_word(p, e) || !p->wanted)
		return;
	/* A thread that started since the last walk is found in the second pass. */
	for (int walked = 0; walked < 2; walked++) {
		for (struct thread *th = p->threads; th; th = th->next)
			if (th->own_tid == e->tid && th->number) {
				const struct tunnel_place place = place_from_event(p, e);

				tunnel_place(h->tunnel, th->number, &place);
				if (place.word)
					thread_forget_phases(h, th, e->time);
				return;
			}
		if (e->work_done && !walked)
			threads_walk(h, p);
		else
			return;
	}
}

void hotspots_answer(struct hotspots *h, int32_t pid, const struct gchint_stream_event *answer)
{
	struct process *p = process_find(h, pid);
	struct thread *th = NULL;
	uint32_t i;

	for (th = p ? p->threads : NULL; th && th->own_tid != answer->tid; th = th->next)
		;
	if (!th)
		return;
	if (h->sampling.timers) {
		const struct sample own = {
			.t = answer->time,
			.ip = answer->work_total,
			.method = answer->work_done,
			.cpu = answer->cpu,
			.phase = answer->phase < GCHINT_PHASE_NR ? answer->phase :
								   (uint8_t)GCHINT_PHASE_NONE,
			.flags = answer->flags & GCHINT_F_ALL,
			.known = HOTSPOT_METHOD | HOTSPOT_PHASE,
		};

		thread_add_own(h, th, &own, answer->stall_ns);
		return;
	}
	thread_drain(h, p, th);
	/*
	 * The answer belongs to the latest sample before it, and to earlier samples only if the
	 * thread did not return from the kernel between them.
	 */
	for (i = th->nr; i-- > 0;) {
		struct sample *s = &th->pending[(th->first + i) % PENDING];

		if (s->t > answer->time)
			continue;
		/* Later answers belong to later samples. */
		if (th->settled < i + 1)
			th->settled = i + 1;
		if (s->known)
			break;
		s->known = HOTSPOT_METHOD | HOTSPOT_PHASE;
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

void hotspots_read(struct hotspots *h, int32_t pid, uint64_t t)
{
	struct process *p = process_find(h, pid);

	if (p)
		p->read = t;
}

/* Whether nothing more will be known about the oldest sample of a thread. */
static bool sample_is_due(const struct hotspots *h, const struct process *p,
			  const struct thread *th, uint64_t now)
{
	const struct sample *s = &th->pending[th->first];
	const bool asked = p->answers && !p->seen && !h->sampling.timers;

	if (s->t + PATIENCE >= now)
		return false;
	if (!asked || th->settled)
		return true;
	/* As long as the queue is full the ring is not read. */
	return p->read > s->t + (th->alive ? ANSWER : PATIENCE);
}

static void hotspots_on_timer(void *data, uint32_t events)
{
	const uint64_t now = clock_now();
	struct hotspots *h = data;

	(void)events;
	threads_drain(h);
	filter_update(h);
	for (struct process *p = h->processes; p; p = p->next) {
		bool sampled = false;

		if (p->wanted)
			threads_walk(h, p);
		for (struct thread **at = &p->threads; *at;) {
			struct thread *th = *at;

			thread_drain(h, p, th);
			thread_lost(h, th);
			sampled = sampled || th->nr;
			while (th->nr && sample_is_due(h, p, th, now))
				thread_flush(h, p, th);
			/* The last answers may still be in the ring of the process. */
			if (!th->alive && !th->nr)
				thread_end(h, p, at);
			else
				at = &th->next;
		}
		if (p->wanted)
			process_read_cpu(h, p, now);
		if (sampled)
			images_refresh(&p->images, h->context, p->pid);
	}
}

static void hotspots_stop(void *state)
{
	struct hotspots *h = state;
	char text[24];

	h->context->hotspots = NULL;
	while (h->processes)
		process_end(h, &h->processes);
	filter_report(h);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)h->cpu_ns);
	context_meta(h->context, "hotspots.cpu_ns", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)h->samples);
	context_meta(h->context, "hotspots.samples", text);
	watch_free(h->timer);
	if (h->tunnel)
		tunnel_close(h->tunnel);
	free(h);
}

/* Opens the tunnel unless the configuration forbids it; *@why says what is missing. */
static int tunnel_try_open(const struct source_context *context, struct tunnel **t,
			   const char **why)
{
	*why = "the configuration says so";
	return context->config.hotspots.signal ? -ECANCELED :
						 tunnel_open(t, THREADS, context->root.sysfs, why);
}

static int hotspots_start(struct source_context *context, void **state)
{
	struct hotspots *h = calloc(1, sizeof(*h));
	struct rlimit files;
	const char *why;
	char text[16];

	if (!h)
		return -ENOMEM;
	h->context = context;
	h->timer = loop_timer(context->loop, 0, hotspots_on_timer, h);
	if (!h->timer) {
		free(h);
		return -ENOMEM;
	}
	if (sampling_choose(&h->sampling))
		h->sampling = (struct sampling){ .timers = true };
	h->sampling.hz = h->sampling.timers ? sampling_timer_hz(context->config.hotspots.hz) :
					      context->config.hotspots.hz;
	h->filter = context->config.hotspots;
	hotspots_keep_limit(h);
	if (h->sampling.timers || tunnel_try_open(context, &h->tunnel, &why))
		h->tunnel = NULL;
	/* Each thread needs a descriptor. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	snprintf(text, sizeof(text), "%u", h->sampling.hz);
	context_meta(context, "hotspots.hz", text);
	context_meta(context, "hotspots.event",
		     h->sampling.timers			    ? "cpu-timer" :
		     h->sampling.type == PERF_TYPE_HARDWARE ? "cycles" :
							      "cpu-clock");
	context_meta(context, "hotspots.kernel", h->sampling.in_kernel ? "yes" : "no");
	context_meta(context, "hotspots.way",
		     h->sampling.timers ? "timer" :
		     h->tunnel		? "bpf" :
					  "signal");
	context->hotspots = h;
	*state = h;
	return 0;
}

static int hotspots_probe(const struct source_context *context, struct probe *p)
{
	const char *remedy = "run as root, or lower kernel.perf_event_paranoid to 2";
	struct tunnel *tunnel;
	struct sampling s;
	const char *why;
	int ret = sampling_choose(&s);

	if (ret)
		return probe_found(
			p,
			"samples by each thread's own timer, without the kernel's own and "
			"without callers: perf events are refused: %s%s%s",
			strerror(-ret), ret == -EACCES || ret == -EPERM ? ": " : "",
			ret == -EACCES || ret == -EPERM ? remedy : "");
	ret = tunnel_try_open(context, &tunnel, &why);
	if (!ret)
		tunnel_close(tunnel);
	return probe_found(p, "samples by %s, %s the kernel's own; methods %s%s",
			   s.type == PERF_TYPE_HARDWARE ? "cycles" : "the clock (no cycles here)",
			   s.in_kernel ? "with" : "without",
			   ret ? "by a signal to the thread: " : "are read in the kernel",
			   ret ? why : "");
}

const struct source source_hotspots = { hotspots_probe, hotspots_start, hotspots_stop };
