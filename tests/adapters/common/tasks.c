// SPDX-License-Identifier: MIT
/* tasks - is a thread found that is named only after it was looked at? */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <common/tasks.h>

#define LOOKS 50 /* a tenth of a second apart: one a second is taken */

static sem_t may_have_name, scanned, found;

static void *worker(void *arg)
{
	sem_wait(&may_have_name);
	pthread_setname_np(pthread_self(), "late");
	pause();
	return arg;
}

static void look_at(struct gchint_session *session, pid_t tid, const char *name)
{
	(void)session;
	if (!strcmp(name, "late\n"))
		sem_post(&found);
	/* Its own thread is the last to be there. */
	if (tid == gettid())
		sem_post(&scanned);
}

int main(void)
{
	pthread_t thread;

	sem_init(&may_have_name, 0, 0);
	sem_init(&scanned, 0, 0);
	sem_init(&found, 0, 0);
	if (pthread_create(&thread, NULL, worker, NULL))
		return 1;
	tasks_watch(NULL, look_at);
	sem_wait(&scanned);
	sem_post(&may_have_name);
	for (int n = 0; n < LOOKS; n++) {
		usleep(100000);
		tasks_rescan();
		if (!sem_trywait(&found))
			return 0;
	}
	puts("never found");
	return 1;
}
