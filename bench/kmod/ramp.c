// SPDX-License-Identifier: MIT
/*
 * ramp POLICY N GOVERNOR... - how fast a frequency rises when a thread wakes; run in the guest
 *
 * For each duration of sleep and of work, and each governor in turn: a new thread sleeps and
 * works N times. It reads the frequency that the driver has set (scaling_cur_freq) 0.2, 1, 2
 * and 5 ms after it woke. A line for each wakeup:
 *	wake GOVERNOR SLEEP WORK SLEPT_US KHZ KHZ KHZ KHZ	(0: it had finished by then)
 * and one for each combination:
 *	cell GOVERNOR SLEEP WORK SWITCHES WAKEUPS
 * Switches are the kernel's count of them (stats/total_trans).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPUFREQ "/sys/devices/system/cpu/cpufreq/"
#define MS	1000000ull
/* Before each combination, for the load of the one before to decay. */
#define PAUSE_MS 500
/* Wakeups after the governor was set that are not counted: it has no history. */
#define WARM_UP 3

static const uint64_t sleeps_ms[] = { 4, 20, 60, 500 };
static const uint64_t works_ms[] = { 3, 10, 30, 60 };
static const uint64_t read_us[] = { 200, 1000, 2000, 5000 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void ramp_die(const char *what)
{
	fprintf(stderr, "ramp: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t file_number(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		ramp_die("reading a number");
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

static int file_open(const char *policy, const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), CPUFREQ "%s/%s", policy, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		ramp_die(path);
	return fd;
}

static void governor_set(const char *policy, const char *governor)
{
	int fd = file_open(policy, "scaling_governor", O_WRONLY);

	if (write(fd, governor, strlen(governor)) < 0)
		ramp_die(governor);
	close(fd);
}

static void thread_sleep(uint64_t ms)
{
	struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000 * MS) };

	nanosleep(&t, NULL);
}

/* Works for @ms and fills @khz. */
static void thread_work(int freq, uint64_t ms, uint64_t *khz)
{
	uint64_t begin = now_ns(), now = begin;
	volatile int spin;
	unsigned int i = 0;

	memset(khz, 0, COUNT(read_us) * sizeof(*khz));
	while (now < begin + ms * MS) {
		if (i < COUNT(read_us) && now >= begin + read_us[i] * 1000)
			khz[i++] = file_number(freq);
		/* Reading a clock that counts instructions is slow. */
		for (spin = 0; spin < 1000; spin++)
			;
		now = now_ns();
	}
}

static void cell_measure(const char *governor, int freq, int switches, int n, uint64_t sleep_ms,
			 uint64_t work_ms)
{
	uint64_t khz[COUNT(read_us)], before = 0, begin, slept_us;

	for (int i = -WARM_UP; i < n; i++) {
		if (i == 0)
			before = file_number(switches);
		begin = now_ns();
		thread_sleep(sleep_ms);
		slept_us = (now_ns() - begin) / 1000;
		thread_work(freq, work_ms, khz);
		if (i < 0)
			continue;
		printf("wake %s %llu %llu %llu", governor, (unsigned long long)sleep_ms,
		       (unsigned long long)work_ms, (unsigned long long)slept_us);
		for (unsigned int k = 0; k < COUNT(read_us); k++)
			printf(" %llu", (unsigned long long)khz[k]);
		printf("\n");
	}
	printf("cell %s %llu %llu %llu %d\n", governor, (unsigned long long)sleep_ms,
	       (unsigned long long)work_ms, (unsigned long long)(file_number(switches) - before),
	       n);
}

/* In a process of its own: the scheduler keeps the utilisation of a thread for long. */
static void child_run(const char *governor, int freq, int switches, int n, uint64_t sleep_ms,
		      uint64_t work_ms)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		ramp_die("fork");
	if (!child) {
		cell_measure(governor, freq, switches, n, sleep_ms, work_ms);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		ramp_die("the measuring process");
}

int main(int argc, char **argv)
{
	/* Buffered, so that no write wakes anything between two measurements. */
	static char buffer[1 << 20];
	int freq, switches, n;

	if (argc < 4) {
		fprintf(stderr, "usage: ramp POLICY N GOVERNOR...\n");
		return 2;
	}
	n = atoi(argv[2]);
	freq = file_open(argv[1], "scaling_cur_freq", O_RDONLY);
	switches = file_open(argv[1], "stats/total_trans", O_RDONLY);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (unsigned int s = 0; s < COUNT(sleeps_ms); s++) {
		for (unsigned int w = 0; w < COUNT(works_ms); w++) {
			for (int g = 3; g < argc; g++) {
				governor_set(argv[1], argv[g]);
				thread_sleep(PAUSE_MS);
				child_run(argv[g], freq, switches, n, sleeps_ms[s], works_ms[w]);
			}
		}
	}
	return 0;
}
