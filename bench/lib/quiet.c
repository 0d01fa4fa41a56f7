// SPDX-License-Identifier: MIT
#include "quiet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TICK_ERROR 0.02 /* seconds: both readings are cut to whole ticks of 10 ms */

static double timeval_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/*
 * Busy is what is not idle: the kernel counts idle time exactly where the tick stops in
 * idle, while it may only sample user and system time.
 */
static int machine_busy(double wall, double *busy)
{
	unsigned long long user, nice, system, idle, iowait;
	FILE *f = fopen("/proc/stat", "re");
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, "cpu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait);
	fclose(f);
	if (n != 5)
		return -EINVAL;
	*busy = wall * (double)sysconf(_SC_NPROCESSORS_ONLN) -
		(double)(idle + iowait) / (double)sysconf(_SC_CLK_TCK);
	return 0;
}

int quiet_begin(struct quiet *q)
{
	struct rusage self, children;
	struct timespec now;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	q->wall = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	err = machine_busy(q->wall, &q->busy);
	q->own = timeval_seconds(self.ru_utime) + timeval_seconds(self.ru_stime) +
		 timeval_seconds(children.ru_utime) + timeval_seconds(children.ru_stime);
	return err;
}

double quiet_end(const struct quiet *q)
{
	struct quiet now;
	double others;

	if (quiet_begin(&now) || now.wall <= q->wall)
		return NAN;
	others = (now.busy - q->busy) - (now.own - q->own) - TICK_ERROR;
	return others > 0 ? others / (now.wall - q->wall) : 0;
}
