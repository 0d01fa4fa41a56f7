// SPDX-License-Identifier: MIT
/*
 * log LOG NAME... - what the agent announces of a collector's log. Its lines begin with [41] for
 * the thread NAME, [42] for the next one, and so on: threads of these names are started, and the
 * agent has to find them. GCHINT_TRACE has the announcements.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>

#include <jvm/phases.c>

#include <common/tasks.h>

#define THREADS	  8
#define FIRST_TID 41

static pid_t tids[THREADS];
static sem_t ready;

static void *thread_run(void *name)
{
	static int n;

	pthread_setname_np(pthread_self(), name);
	tids[n++] = gettid();
	sem_post(&ready);
	pause();
	return NULL;
}

int main(int argc, char **argv)
{
	FILE *log = argc > 2 ? fopen(argv[1], "r") : NULL;
	char line[512], with[512], *rest;
	pthread_t thread;
	long n;

	if (!log)
		return 2;
	sem_init(&ready, 0, 0);
	for (int i = 2; i < argc && i < THREADS; i++) {
		if (pthread_create(&thread, NULL, thread_run, argv[i]))
			return 2;
		sem_wait(&ready);
	}
	threads_watch();
	collector = threads_collector();
	while (fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		n = strtol(line + 1, &rest, 10) - FIRST_TID;
		if (n < 0 || n >= argc - 2 || n >= THREADS)
			return 2;
		snprintf(with, sizeof(with), "[%d%s", tids[n], rest);
		line_handle(with);
	}
	fclose(log);
	threads_release();
	return 0;
}
