// SPDX-License-Identifier: MIT
/* Finds threads of the process that no callback reports, by their names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tasks.h"

static struct gchint_session *watched;
static tasks_fn *watcher;
static sem_t wakeup;
static struct timespec last_wakeup;

/* Not atoi(): newer C libraries replace it by a function that musl does not have. */
static int tid_parse(const char *digits)
{
	int tid = 0;

	for (; *digits >= '0' && *digits <= '9'; digits++)
		tid = tid * 10 + (*digits - '0');
	return tid;
}

void tasks_scan(struct gchint_session *session, tasks_fn *visit)
{
	struct dirent *entry;
	char path[64], name[32];
	ssize_t length;
	DIR *dir;
	int fd;

	dir = opendir("/proc/self/task");
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", entry->d_name);
		fd = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		length = read(fd, name, sizeof(name) - 1);
		close(fd);
		if (length <= 0)
			continue;
		name[length] = '\0';
		visit(session, tid_parse(entry->d_name), name);
	}
	if (dir)
		closedir(dir);
}

static void *watcher_run(void *arg)
{
	nlink_t last = 0;
	bool settled = false;
	struct stat st;

	(void)arg;
	prctl(PR_SET_NAME, "gchint");
	for (;;) {
		while (sem_wait(&wakeup))
			;
		if (stat("/proc/self/task", &st) || (settled && st.st_nlink == last))
			continue;
		/* A thread exists before it has its name: scan once more after a change. */
		settled = st.st_nlink == last;
		last = st.st_nlink;
		tasks_scan(watched, watcher);
	}
	return NULL;
}

void tasks_watch(struct gchint_session *session, tasks_fn *visit)
{
	sigset_t all, old;
	pthread_t thread;

	watched = session;
	watcher = visit;
	sem_init(&wakeup, 0, 1);
	/* This thread must not run the host's signal handlers. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, NULL, watcher_run, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* sem_post() is async-signal-safe. */
void tasks_rescan(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == last_wakeup.tv_sec)
		return;
	last_wakeup = now;
	sem_post(&wakeup);
}
