// SPDX-License-Identifier: MIT
/* Threads of the process that no callback tells of, by their names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tasks.h"

static struct gchint_session *watched;
static tasks_fn *watcher;
static sem_t look;
static struct timespec looked;

void tasks_scan(struct gchint_session *session, tasks_fn *look_at)
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
		look_at(session, atoi(entry->d_name), name);
	}
	if (dir)
		closedir(dir);
}

static void *watch(void *arg)
{
	nlink_t last = 0;
	bool settled = false;
	struct stat st;

	(void)arg;
	pthread_setname_np(pthread_self(), "gchint");
	for (;;) {
		while (sem_wait(&look))
			;
		if (stat("/proc/self/task", &st) || (settled && st.st_nlink == last))
			continue;
		/* A thread is there before it has its name: look once more. */
		settled = st.st_nlink == last;
		last = st.st_nlink;
		tasks_scan(watched, watcher);
	}
	return NULL;
}

void tasks_watch(struct gchint_session *session, tasks_fn *look_at)
{
	sigset_t all, old;
	pthread_t thread;

	watched = session;
	watcher = look_at;
	sem_init(&look, 0, 1);
	/* The host's signals are not for this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, NULL, watch, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* sem_post() is async-signal-safe. */
void tasks_look_again(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == looked.tv_sec)
		return;
	looked = now;
	sem_post(&look);
}
