// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

#define STEPS 8
#define PARAMETERS "/sys/module/cpufreq_gchint/parameters"

int file_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int file_get(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return n < 0 ? n : (int)strlen(text);
}

int cpu_plug(int cpu, bool online)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	err = file_put(path, online ? "1" : "0");
	if (!err && !online)
		usleep(PLUG_US);
	return err;
}

static void policy_path(char *path, size_t size, int policy, const char *file)
{
	snprintf(path, size, CPUFREQ "/policy%d/%s", policy, file);
}

int policy_put(int policy, const char *file, const char *text)
{
	char path[160];

	policy_path(path, sizeof(path), policy, file);
	return file_put(path, text);
}

int policy_get(int policy, const char *file, char *text, size_t size)
{
	char path[160];

	policy_path(path, sizeof(path), policy, file);
	return file_get(path, text, size);
}

long policy_number(int policy, const char *file)
{
	char text[64];
	int ret = policy_get(policy, file, text, sizeof(text));

	return ret < 0 ? ret : atol(text);
}

static int ascending_int(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int ascending_long(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

int policies(int *numbers, int max)
{
	glob_t found;
	size_t i;
	int n = 0;

	if (glob(CPUFREQ "/policy[0-9]*", 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc && n < max; i++)
		numbers[n++] = atoi(found.gl_pathv[i] + strlen(CPUFREQ "/policy"));
	globfree(&found);
	qsort(numbers, n, sizeof(*numbers), ascending_int);
	return n;
}

int policy_of(int cpu)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES), i;
	char list[256], *p;

	for (i = 0; i < n; i++) {
		policy_get(number[i], "related_cpus", list, sizeof(list));
		for (p = strtok(list, " "); p; p = strtok(NULL, " "))
			if (atoi(p) == cpu)
				return number[i];
	}
	return -ENODEV;
}

bool has_table(int policy)
{
	char list[512];

	return policy_get(policy, "scaling_available_frequencies", list, sizeof(list)) > 0;
}

/* Steps that the boards without a table can represent exactly. */
static int steps(int policy, long *khz)
{
	long min = policy_number(policy, "cpuinfo_min_freq");
	long max = policy_number(policy, "cpuinfo_max_freq");
	int i;

	for (i = 0; i <= STEPS; i++)
		khz[i] = min + (max - min) * i / STEPS;
	return min > 0 && max > min ? STEPS + 1 : 0;
}

int opps(int policy, long *khz, int max)
{
	char list[512], *p;
	int n = 0;

	if (!has_table(policy) && max > STEPS)
		return steps(policy, khz);
	policy_get(policy, "scaling_available_frequencies", list, sizeof(list));
	for (p = strtok(list, " "); p && n < max; p = strtok(NULL, " "))
		khz[n++] = atol(p);
	qsort(khz, n, sizeof(*khz), ascending_long);
	return n;
}

/* The directory of the tunables: one per policy, or one for all. */
static void tunable_path(char *path, size_t size, int policy, const char *name)
{
	snprintf(path, size, CPUFREQ "/policy%d/gchint/%s", policy, name);
	if (access(path, F_OK))
		snprintf(path, size, CPUFREQ "/gchint/%s", name);
}

int tunable_put(int policy, const char *name, const char *text)
{
	char path[160];

	tunable_path(path, sizeof(path), policy, name);
	return file_put(path, text);
}

int tunable_get(int policy, const char *name, char *text, size_t size)
{
	char path[160];

	tunable_path(path, sizeof(path), policy, name);
	return file_get(path, text, size);
}

int parameter_put(const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), PARAMETERS "/%s", name);
	return file_put(path, text);
}

int parameter_get(const char *name, char *text, size_t size)
{
	char path[160];

	snprintf(path, sizeof(path), PARAMETERS "/%s", name);
	return file_get(path, text, size);
}

static char saved[MAX_POLICIES][32];

void governor_save(void)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES), i;

	for (i = 0; i < n; i++)
		policy_get(number[i], "scaling_governor", saved[i], sizeof(saved[i]));
}

int governor_all(const char *name)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES), i;
	int ret = n ? 0 : -ENODEV;

	for (i = 0; i < n && !ret; i++)
		ret = policy_put(number[i], "scaling_governor", name);
	return ret;
}

void governor_restore(void)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES), i;

	for (i = 0; i < n; i++)
		if (saved[i][0])
			policy_put(number[i], "scaling_governor", saved[i]);
}
