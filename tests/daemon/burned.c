// SPDX-License-Identifier: MIT
/*
 * Description: collects for a tenth of a second and ends at once. Prints the CPU time, in ns, of
 * the main thread in its four pauses and in all, and that of a worker with a role, which runs all
 * of it in the first one, in a phase of its own, and still exists at the end.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <gchint.h>

#define MS 1000000ull

static pthread_barrier_t attached, worked;
static uint64_t worker_ns;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void cpu_burn(uint64_t ms)
{
	const uint64_t end = cpu_ns() + ms * MS;

	while (cpu_ns() < end)
		;
}

static void *worker_run(void *unused)
{
	struct gchint_session *session;
	struct gchint_thread *thread;

	(void)unused;
	if (gchint_open(&session, 0) < 0 ||
	    gchint_attach(session, 0, GCHINT_ROLE_STW, NULL, &thread))
		return NULL;
	pthread_barrier_wait(&attached);
	gchint_begin(thread, GCHINT_PHASE_MARK, GCHINT_F_STW);
	cpu_burn(30);
	gchint_end(thread);
	worker_ns = cpu_ns();
	pthread_barrier_wait(&worked);
	pause();
	return NULL;
}

int main(void)
{
	uint64_t in = 0, begin;
	pthread_t thread;

	if (gchint_init(0) < 0 || pthread_barrier_init(&attached, NULL, 2) ||
	    pthread_barrier_init(&worked, NULL, 2))
		return 1;
	cpu_burn(10);
	for (int i = 0; i < 4; i++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
		begin = cpu_ns();
		cpu_burn(10);
		if (!i && !pthread_create(&thread, NULL, worker_run, NULL)) {
			pthread_barrier_wait(&attached);
			pthread_barrier_wait(&worked);
		}
		in += cpu_ns() - begin;
		gchint_phase_end();
		cpu_burn(5);
	}
	printf("%llu %llu %llu\n", (unsigned long long)in, (unsigned long long)cpu_ns(),
	       (unsigned long long)worker_ns);
	return 0;
}
