// SPDX-License-Identifier: MIT
/*
 * measured COMMAND...: runs the command between two marks of the timed board, and prints its
 * begin and end, context switches, CPU times and exit status.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

static uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct rusage used;
	uint64_t begin, end;
	int status;
	pid_t child;

	if (argc < 2) {
		fputs("usage: measured COMMAND...\n", stderr);
		return 2;
	}
	MARK(MARK_ARM);
	begin = clock_now();
	MARK(MARK_BEGIN);
	child = fork();
	if (child == 0) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) < 0) {
		perror("measured");
		return 1;
	}
	end = clock_now();
	MARK(MARK_END);
	printf("measured begin_ns %llu end_ns %llu voluntary %ld involuntary %ld utime_ms %.3f "
	       "stime_ms %.3f exit %d\n",
	       (unsigned long long)begin, (unsigned long long)end, used.ru_nvcsw, used.ru_nivcsw,
	       (double)used.ru_utime.tv_sec * 1e3 + (double)used.ru_utime.tv_usec / 1e3,
	       (double)used.ru_stime.tv_sec * 1e3 + (double)used.ru_stime.tv_usec / 1e3,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
