// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "run/run.h"

#include "lib/hiccup.h"
#include "lib/quiet.h"
#include "run/watch.h"
#include "workloads/registry.h"
#include "workloads/workload.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HICCUP_NS 1000000

struct runner {
	const struct workload *workload;
	struct bench bench;
	struct backend *backend;
	pthread_barrier_t start;
	struct backend_life life[WORKLOAD_THREADS_MAX];
	double elapsed_ms[WORKLOAD_THREADS_MAX];
	double delay_ms[WORKLOAD_THREADS_MAX];
	atomic_int code, running;
};

struct worker {
	struct runner *r;
	int index;
	pthread_t thread;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double ms_since(int64_t start)
{
	return (double)(now_ns() - start) / 1e6;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void runner_fail(struct runner *r, int code)
{
	int none = 0;

	atomic_compare_exchange_strong(&r->code, &none, code);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct runner *r = w->r;
	struct backend_life *life = &r->life[w->index];
	int64_t start;
	int code;

	pthread_barrier_wait(&r->start);
	start = now_ns();
	life->thread = heap_attach(r->bench.heap);
	if (!life->thread) {
		runner_fail(r, -ENOMEM);
		goto out;
	}
	life->begin = now_ns();
	code = r->workload->run(&r->bench, life->thread, w->index);
	life->end = now_ns();
	r->elapsed_ms[w->index] = ms_since(start);
	if (code)
		runner_fail(r, code);
	heap_detach(life->thread);
out:
	r->delay_ms[w->index] = watch_delay_ms();
	atomic_fetch_sub(&r->running, 1);
	return NULL;
}

/* ---- the hiccup meter as a thread of the program ------------------------- */

struct mutator_meter {
	struct bench_heap *heap;
	struct heap_thread *t;
};

static void meter_begin(void *arg)
{
	struct mutator_meter *m = arg;

	m->t = heap_attach(m->heap);
	if (m->t)
		heap_park(m->t);
}

static void meter_after(void *arg)
{
	struct mutator_meter *m = arg;

	if (!m->t)
		return;
	/* A thread that wakes up must reenter the program, which is part of the hiccup. */
	heap_unpark(m->t);
	heap_poll(m->t);
	heap_park(m->t);
}

static void meter_end(void *arg)
{
	struct mutator_meter *m = arg;

	if (!m->t)
		return;
	heap_unpark(m->t);
	heap_detach(m->t);
}

/* ---- results ------------------------------------------------------------- */

static void result_set_unknown(struct run_result *r)
{
	struct run_spread none = { 0, NAN, NAN, NAN, NAN, NAN };

	memset(r, 0, sizeof(*r));
	r->score_ms = r->wall_ms = r->cpu_ms = r->foreign = r->gc_cpu_ms = r->run_delay_ms = NAN;
	r->migrations = r->mark_ms = r->remark_ms = r->remark_max_ms = r->heap_after = NAN;
	r->worst_overall = r->overall = NAN;
	r->stop = r->safepoint = r->all_pauses = r->hiccup = r->control = none;
	r->simple = r->metered = r->metered_full = none;
	for (int i = 0; i < RUN_PAUSES; i++)
		r->pause[i] = none;
	for (int i = 0; i < RUN_WINDOWS; i++) {
		r->minmu[i] = r->mmu[i] = r->bmu[i] = NAN;
		for (int q = 0; q < RUN_QUANTILES; q++)
			r->mud[i][q] = NAN;
	}
}

static int result_set_failed(struct run_result *r, int code, const char *what)
{
	r->code = code;
	if (!*r->error)
		snprintf(r->error, sizeof(r->error), "%s", what);
	return code;
}

static const char *error_reason(int code)
{
	switch (code) {
	case -ENOMEM:
		return "out of memory: the heap is too small for the live set; give it more";
	case -EILSEQ:
		return "the heap lost or changed what was stored: a fault of the collector";
	default:
		return strerror(-code);
	}
}

static int apply_settings(struct runner *r, const struct run_request *q, struct run_result *result)
{
	struct settings_error err = { "" };
	int code = 0;

	settings_init(&r->bench.settings, r->workload->settings);
	if (q->profile)
		code = settings_load(&r->bench.settings, q->profile, &err);
	for (size_t i = 0; !code && i < q->settings; i++) {
		const char *value = strchr(q->setting[i], '=');
		char key[64];

		if (!value || value - q->setting[i] >= (ptrdiff_t)sizeof(key)) {
			snprintf(err.text, sizeof(err.text), "'%.100s': want KEY=VALUE",
				 q->setting[i]);
			code = -EINVAL;
			break;
		}
		memcpy(key, q->setting[i], (size_t)(value - q->setting[i]));
		key[value - q->setting[i]] = 0;
		code = settings_set(&r->bench.settings, key, value + 1, &err);
	}
	return code ? result_set_failed(result, code, err.text) : 0;
}

static void show_progress(const struct runner *r, int64_t start)
{
	uint64_t done = atomic_load(&((struct runner *)r)->bench.steps_done);
	uint64_t total = r->bench.steps_total;

	if (total)
		fprintf(stderr, "\r%s: %3.0f %%  %.1f s ", r->workload->name,
			100.0 * (double)done / (double)total, ms_since(start) / 1e3);
}

static int run_threads(struct runner *r, const struct run_request *q, struct run_result *result)
{
	struct worker *worker = calloc((size_t)r->bench.threads, sizeof(*worker));
	struct mutator_meter meter = { .heap = r->bench.heap };
	const struct hiccup_hooks hooks = { meter_begin, NULL, meter_after, meter_end, &meter };
	struct hiccup *hiccup = NULL;
	struct histogram *seen = NULL;
	int64_t start = now_ns();
	int made = 0;

	if (!worker)
		return result_set_failed(result, -ENOMEM, "out of memory");
	pthread_barrier_init(&r->start, NULL, (unsigned int)r->bench.threads + 1);
	atomic_store(&r->running, r->bench.threads);
	for (; made < r->bench.threads; made++) {
		worker[made].r = r;
		worker[made].index = made;
		if (pthread_create(&worker[made].thread, NULL, worker_run, &worker[made])) {
			/* The threads already made wait at the barrier for ever, so end the process. */
			fprintf(stderr, "cannot make thread %d of %d\n", made, r->bench.threads);
			_exit(1);
		}
	}
	if (q->hiccup) {
		seen = calloc(1, sizeof(*seen));
		hiccup = seen ? hiccup_start(HICCUP_NS, &hooks) : NULL;
	}
	start = now_ns();
	pthread_barrier_wait(&r->start);
	while (q->progress && atomic_load(&r->running)) {
		struct timespec nap = { 0, 100000000 };

		nanosleep(&nap, NULL);
		if (ms_since(start) > 2000)
			show_progress(r, start);
	}
	for (int i = 0; i < made; i++)
		pthread_join(worker[i].thread, NULL);
	result->wall_ms = ms_since(start);
	if (q->progress && result->wall_ms > 2000)
		fputs("\r\033[K", stderr);
	if (hiccup) {
		hiccup_stop(hiccup, seen);
		watch_spread(&result->hiccup, seen);
	}
	free(seen);
	pthread_barrier_destroy(&r->start);
	free(worker);
	return atomic_load(&r->code);
}

static void collect_results(struct runner *r, struct run_result *result)
{
	result->threads = r->bench.threads;
	result->score_ms = 0;
	result->run_delay_ms = watch_delay_others_ms(); /* workers are gone: the daemon */
	for (int i = 0; i < r->bench.threads; i++) {
		if (r->elapsed_ms[i] > result->score_ms)
			result->score_ms = r->elapsed_ms[i];
		result->run_delay_ms += r->delay_ms[i];
	}
	result->allocated_bytes = atomic_load(&r->bench.allocated_bytes);
	result->allocated_objects = atomic_load(&r->bench.allocated_objects);
	result->checksum = atomic_load(&r->bench.checksum);
	watch_latency(result, r->bench.requests, r->bench.request_count);
	watch_missed(result, r->bench.requests, r->bench.request_count, r->bench.deadline_ns);
	backend_results(r->backend, r->life, (size_t)r->bench.threads, result);
}

int run_here(const struct run_request *q, struct run_result *result)
{
	struct runner *r = calloc(1, sizeof(*r));
	struct settings_error err = { "" };
	struct rusage before, after;
	struct quiet quiet;
	double cpu;
	int migrations = -1;
	bool guarded;
	int code;

	result_set_unknown(result);
	if (!r)
		return result_set_failed(result, -ENOMEM, "out of memory");
	snprintf(result->heap, sizeof(result->heap), "%s", heap_name());
	r->workload = registry_find(q->workload);
	if (!r->workload) {
		free(r);
		return result_set_failed(result, -ENOENT, "no such workload; list shows them");
	}
	code = apply_settings(r, q, result);
	if (code)
		goto free_settings;
	migrations = watch_migrations_begin(); /* before the heap makes its threads */
	code = backend_open(&r->backend, q, result);
	if (code) {
		watch_migrations_end(migrations);
		goto free_settings;
	}
	r->bench.heap = backend_heap(r->backend);
	code = r->workload->prepare(&r->bench, &err);
	if (code) {
		result_set_failed(result, code, *err.text ? err.text : error_reason(code));
		goto close_backend;
	}
	guarded = !quiet_begin(&quiet);
	getrusage(RUSAGE_SELF, &before);
	cpu = cpu_ms();
	code = run_threads(r, q, result);
	result->cpu_ms = cpu_ms() - cpu;
	getrusage(RUSAGE_SELF, &after);
	result->foreign = guarded ? quiet_end(&quiet) : NAN;
	result->rss_bytes = (uint64_t)after.ru_maxrss << 10;
	result->pss_bytes = watch_pss();
	result->voluntary_switches = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
	result->involuntary_switches = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
	collect_results(r, result);
	if (code)
		result_set_failed(result, code, error_reason(code));
close_backend:
	result->migrations = watch_migrations_end(migrations);
	free(r->bench.state);
	backend_close(r->backend);
free_settings:
	free(r->bench.requests);
	settings_free(&r->bench.settings);
	free(r);
	return result->code;
}

static void child_await(pid_t pid, const struct run_request *q, struct run_result *result)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	result_set_unknown(result);
	snprintf(result->heap, sizeof(result->heap), "%s", heap_name());
	result->code = -ECHILD;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(result->error, sizeof(result->error), "not over after %u s", q->timeout_s);
	else if (WIFSIGNALED(status))
		snprintf(result->error, sizeof(result->error), "killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(result->error, sizeof(result->error), "exit status %d",
			 WEXITSTATUS(status));
}

int run_isolated(const struct run_request *q, struct run_result *result)
{
	struct hiccup_control *control = NULL;
	struct histogram *seen = NULL;
	struct run_result *shared;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		result_set_unknown(result);
		return result_set_failed(result, -ENOMEM, "out of memory");
	}
	fflush(NULL);
	if (q->hiccup) {
		seen = calloc(1, sizeof(*seen));
		control = seen ? hiccup_control_start(HICCUP_NS) : NULL;
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(q->timeout_s);
		run_here(q, shared);
		fflush(NULL);
		_exit(0);
	}
	if (pid < 0) {
		result_set_unknown(shared);
		result_set_failed(shared, -errno, "cannot fork");
	} else {
		child_await(pid, q, shared);
	}
	if (control) {
		hiccup_control_stop(control, seen);
		watch_spread(&shared->control, seen);
	}
	free(seen);
	*result = *shared;
	munmap(shared, sizeof(*shared));
	return result->code;
}
