// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of reading a rail at each end of a phase, compared with reading it periodically. A
 * thread is the program: at each edge it wakes another, which reads one rail, as gchintd does.
 * Prints and does not judge.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EDGES	4000
#define BETWEEN 500000 /* ns from one edge to the next */
#define ROUNDS	5

struct meter {
	int wake, rail;
	_Atomic uint64_t edge; /* time of the last one */
	uint64_t late[EDGES];
	uint64_t cpu;
};

static uint64_t clock_read(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void meter_read(const struct meter *m)
{
	char text[64];

	if (pread(m->rail, text, sizeof(text), 0) <= 0)
		abort();
}

/* The reader, woken by an edge or by a timer: eight bytes in both cases. */
static void *reader_run(void *data)
{
	struct meter *m = data;
	struct pollfd p = { .fd = m->wake, .events = POLLIN };
	uint64_t count;

	for (int i = 0; i < EDGES; i++) {
		if (poll(&p, 1, -1) != 1 || read(m->wake, &count, sizeof(count)) != sizeof(count))
			abort();
		clock_read(CLOCK_MONOTONIC);
		meter_read(m);
		m->late[i] = clock_read(CLOCK_MONOTONIC) - m->edge;
	}
	m->cpu = clock_read(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void by_edges(struct meter *m)
{
	static uint64_t notify_ns[EDGES];
	const uint64_t one = 1;
	pthread_t thread;

	m->wake = eventfd(0, EFD_CLOEXEC);
	pthread_create(&thread, NULL, reader_run, m);
	for (int i = 0; i < EDGES; i++) {
		uint64_t t = clock_read(CLOCK_MONOTONIC), cpu = clock_read(CLOCK_THREAD_CPUTIME_ID);

		m->edge = t;
		if (write(m->wake, &one, sizeof(one)) != sizeof(one))
			abort();
		notify_ns[i] = clock_read(CLOCK_THREAD_CPUTIME_ID) - cpu;
		while (clock_read(CLOCK_MONOTONIC) - t < BETWEEN)
			;
		/* A busy machine may not have run it yet: each edge waits for the previous one. */
		while (i + 1 < EDGES && !m->late[i])
			usleep(100);
	}
	pthread_join(thread, NULL);
	close(m->wake);
	qsort(notify_ns, EDGES, sizeof(*notify_ns), by_size);
	qsort(m->late, EDGES, sizeof(*m->late), by_size);
	printf("| at each edge | %.2f | %.2f | %.1f | %.1f |\n", (double)notify_ns[EDGES / 2] / 1e3,
	       (double)m->cpu / EDGES / 1e3, (double)m->late[EDGES / 2] / 1e3,
	       (double)m->late[EDGES * 99 / 100] / 1e3);
}

static void by_clock(struct meter *m)
{
	const struct itimerspec each = { { 0, BETWEEN }, { 0, BETWEEN } };
	pthread_t thread;

	m->wake = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(m->wake, 0, &each, NULL);
	pthread_create(&thread, NULL, reader_run, m);
	pthread_join(thread, NULL);
	close(m->wake);
	printf("| by a clock | 0 | %.2f | | |\n", (double)m->cpu / EDGES / 1e3);
}

int main(void)
{
	char path[] = "/dev/shm/gchint-edges.XXXXXX";
	static struct meter m;

	m.rail = mkstemp(path);
	if (m.rail < 0 || write(m.rail, "123456789\n", 10) != 10)
		return 1;
	unlink(path);
	puts("| read | program, us per edge | reader, us per read | after the edge, us: median | "
	     "99 % "
	     "|\n"
	     "|---|---|---|---|---|");
	for (int i = 0; i < ROUNDS; i++) {
		memset(m.late, 0, sizeof(m.late));
		by_edges(&m);
		memset(m.late, 0, sizeof(m.late));
		by_clock(&m);
	}
	return 0;
}
