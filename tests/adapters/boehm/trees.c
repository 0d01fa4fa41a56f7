// SPDX-License-Identifier: MIT
/*
 * Binary trees on the Boehm collector, as many threads as wanted, beside threads that do
 * nothing but malloc. Prints what a test compares with the trace:
 *	gc_no=N explicit=N callback=N mutator=TID ...
 */
#define _GNU_SOURCE
#define GC_THREADS
#include <gc/gc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LINKED
#include <gchint-boehm.h>
#endif

#define THREADS 128

static struct {
	int threads, depth, rounds, explicit, mallocs, incremental, limit, fork, exec, callback,
		keep;
	int together;
} opt = { .threads = 1, .depth = 12, .rounds = 60 };

struct tree {
	struct tree *left, *right;
};

static struct tree *grow(int depth)
{
	struct tree *t = GC_MALLOC(sizeof(*t));

	if (depth) {
		t->left = grow(depth - 1);
		t->right = grow(depth - 1);
	}
	return t;
}

static int nodes(const struct tree *t)
{
	return t ? 1 + nodes(t->left) + nodes(t->right) : 0;
}

static pid_t tids[THREADS];
static pthread_barrier_t all; /* with together=1 none ends before each has collected */
static struct tree *kept;

static void *mutator(void *arg)
{
	int n, self = (int)(intptr_t)arg;

	tids[self] = (pid_t)syscall(SYS_gettid);
	if (opt.together)
		pthread_barrier_wait(&all);
	for (n = 0; n < opt.rounds; n++) {
		if (nodes(grow(opt.depth)) != (2 << opt.depth) - 1)
			abort();
		if (self == 0 && n < opt.explicit)
			GC_gcollect();
	}
	if (opt.together) {
		GC_gcollect();
		pthread_barrier_wait(&all);
	}
	return NULL;
}

static int stop;

/* Holds malloc's locks as much as it can. */
static void *allocator(void *arg)
{
	void *blocks[64] = { NULL };
	unsigned int n = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		free(blocks[n % 64]);
		blocks[n % 64] = malloc(16 + n % 5000);
		n++;
	}
	for (n = 0; n < 64; n++)
		free(blocks[n]);
	return NULL;
}

static unsigned long called;
static GC_on_collection_event_proc earlier;

static void GC_CALLBACK mine(GC_EventType event)
{
	called += event == GC_EVENT_PRE_STOP_WORLD;
	if (earlier)
		earlier(event);
}

static void parse(int argc, char **argv)
{
	static const struct {
		const char *name;
		int *value;
	} names[] = {
		{ "threads", &opt.threads },   { "depth", &opt.depth },
		{ "rounds", &opt.rounds },     { "explicit", &opt.explicit },
		{ "mallocs", &opt.mallocs },   { "incremental", &opt.incremental },
		{ "limit", &opt.limit },       { "fork", &opt.fork },
		{ "exec", &opt.exec },	       { "keep", &opt.keep },
		{ "callback", &opt.callback }, { "together", &opt.together },
	};
	size_t n, length;
	int i;

	for (i = 1; i < argc; i++) {
		for (n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			length = strlen(names[n].name);
			if (!strncmp(argv[i], names[n].name, length) && argv[i][length] == '=')
				break;
		}
		if (n == sizeof(names) / sizeof(names[0])) {
			fprintf(stderr, "trees: no option '%s'\n", argv[i]);
			exit(2);
		}
		*names[n].value = atoi(argv[i] + length + 1);
	}
}

static void collect_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		mutator((void *)0);
		printf("child=%d gc_no=%lu\n", getpid(), (unsigned long)GC_get_gc_no());
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		exit(3);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS], mallocs[THREADS];
	int n;

	parse(argc, argv);
	if (opt.fork)
		GC_set_handle_fork(1);
	if (opt.callback == 1)
		GC_set_on_collection_event(mine);
#ifdef LINKED
	if (gchint_boehm_install() < 0)
		return 4;
	/* Set after the adapter's, calling it as a good citizen does. */
	if (opt.callback == 2) {
		earlier = GC_get_on_collection_event();
		GC_set_on_collection_event(mine);
		if (gchint_boehm_install() < 0)
			return 4;
	}
#endif
	GC_INIT();
	pthread_barrier_init(&all, NULL, (unsigned int)opt.threads);
	if (opt.incremental) {
		GC_enable_incremental();
		if (opt.limit)
			GC_set_time_limit((unsigned long)opt.limit);
	}
	if (opt.keep)
		kept = grow(opt.keep);
	for (n = 0; n < opt.mallocs; n++)
		pthread_create(&mallocs[n], NULL, allocator, NULL);
	for (n = 1; n < opt.threads; n++)
		pthread_create(&threads[n], NULL, mutator, (void *)(intptr_t)n);
	mutator((void *)0);
	for (n = 1; n < opt.threads; n++)
		pthread_join(threads[n], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (n = 0; n < opt.mallocs; n++)
		pthread_join(mallocs[n], NULL);
	if (opt.fork)
		collect_in_child();
	if (opt.keep && nodes(kept) != (2 << opt.keep) - 1)
		return 5;
	printf("gc_no=%lu explicit=%d callback=%lu\n", (unsigned long)GC_get_gc_no(), opt.explicit,
	       called);
	for (n = 0; n < opt.threads; n++)
		printf("mutator=%d\n", tids[n]);
	fflush(stdout);
	/* The same process, another image, without a word of good-bye. */
	if (opt.exec)
		execl("/proc/self/exe", argv[0], "rounds=100", (char *)NULL);
	return opt.exec ? 6 : 0;
}
