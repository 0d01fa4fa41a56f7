// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "hiccup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct sampler {
	uint64_t interval_ns;
	uint64_t shortest; /* least oversleep: the cost of waking up itself */
	atomic_int stop;
	struct histogram seen;
};

struct hiccup {
	struct sampler sampler;
	struct hiccup_hooks hooks;
	pthread_t thread;
};

struct hiccup_control {
	struct sampler *sampler;
	pid_t pid;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void hiccup_sample(struct sampler *s, const struct hiccup_hooks *hooks)
{
	struct timespec nap = { (time_t)(s->interval_ns / 1000000000u),
				(long)(s->interval_ns % 1000000000u) };
	uint64_t before, took, over;

	if (hooks->before)
		hooks->before(hooks->arg);
	before = now_ns();
	nanosleep(&nap, NULL);
	if (hooks->after)
		hooks->after(hooks->arg);
	took = now_ns() - before;
	over = took > s->interval_ns ? took - s->interval_ns : 0;
	if (over < s->shortest)
		s->shortest = over;
	histogram_add_corrected(&s->seen, over - s->shortest, s->interval_ns);
}

static void *hiccup_thread(void *arg)
{
	struct hiccup *meter = arg;

	prctl(PR_SET_TIMERSLACK, 1);
	if (meter->hooks.begin)
		meter->hooks.begin(meter->hooks.arg);
	while (!atomic_load(&meter->sampler.stop))
		hiccup_sample(&meter->sampler, &meter->hooks);
	if (meter->hooks.end)
		meter->hooks.end(meter->hooks.arg);
	return NULL;
}

struct hiccup *hiccup_start(uint64_t interval_ns, const struct hiccup_hooks *hooks)
{
	struct hiccup *meter = calloc(1, sizeof(*meter));
	int err;

	if (!meter)
		return NULL;
	meter->sampler.interval_ns = interval_ns;
	meter->sampler.shortest = UINT64_MAX;
	if (hooks)
		meter->hooks = *hooks;
	err = pthread_create(&meter->thread, NULL, hiccup_thread, meter);
	if (err) {
		free(meter);
		errno = err;
		return NULL;
	}
	return meter;
}

void hiccup_stop(struct hiccup *meter, struct histogram *out)
{
	atomic_store(&meter->sampler.stop, 1);
	pthread_join(meter->thread, NULL);
	memcpy(out, &meter->sampler.seen, sizeof(*out));
	free(meter);
}

struct hiccup_control *hiccup_control_start(uint64_t interval_ns)
{
	static const struct hiccup_hooks none;
	struct hiccup_control *c = calloc(1, sizeof(*c));
	pid_t parent = getpid();

	if (!c)
		return NULL;
	c->sampler = mmap(NULL, sizeof(*c->sampler), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->sampler == MAP_FAILED)
		goto free_control;
	c->sampler->interval_ns = interval_ns;
	c->sampler->shortest = UINT64_MAX;
	c->pid = fork();
	if (c->pid < 0)
		goto unmap;
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_TIMERSLACK, 1);
		while (!atomic_load(&c->sampler->stop) && getppid() == parent)
			hiccup_sample(c->sampler, &none);
		_exit(0);
	}
	return c;

unmap:
	munmap(c->sampler, sizeof(*c->sampler));
free_control:
	free(c);
	return NULL;
}

void hiccup_control_stop(struct hiccup_control *c, struct histogram *out)
{
	atomic_store(&c->sampler->stop, 1);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	memcpy(out, &c->sampler->seen, sizeof(*out));
	munmap(c->sampler, sizeof(*c->sampler));
	free(c);
}
