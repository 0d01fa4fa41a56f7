// SPDX-License-Identifier: MIT
#include "quiet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int machine_busy(double *busy)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
	FILE *f = fopen("/proc/stat", "re");
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
		   &iowait, &irq, &softirq, &steal);
	fclose(f);
	if (n != 8)
		return -EINVAL;
	*busy = (double)(user + nice + system + irq + softirq + steal) /
		(double)sysconf(_SC_CLK_TCK);
	return 0;
}

int quiet_begin(struct quiet *q)
{
	struct rusage self, children;
	struct timespec now;
	int err = machine_busy(&q->busy);

	if (err)
		return err;
	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	q->wall = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	q->own = seconds(self.ru_utime) + seconds(self.ru_stime) + seconds(children.ru_utime) +
		 seconds(children.ru_stime);
	return 0;
}

double quiet_end(const struct quiet *q)
{
	struct quiet now;
	double others;

	if (quiet_begin(&now) || now.wall <= q->wall)
		return NAN;
	others = (now.busy - q->busy) - (now.own - q->own);
	return others > 0 ? others / (now.wall - q->wall) : 0;
}
