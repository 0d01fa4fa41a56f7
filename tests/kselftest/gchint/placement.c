// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "klog.h"
#include "placement.h"
#include "sysfs.h"
#include "worker.h"

#define NAP_US 8000

/* symbol() - address of a kernel symbol, 0 if it is hidden */
static unsigned long long symbol(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address, found = 0;
	char word[256], type;

	while (file && !found &&
	       fscanf(file, "%llx %c %255s%*[^\n]", &address, &type, word) == 3)
		if (!strcmp(word, name))
			found = address;
	if (file)
		fclose(file);
	return found;
}

/* kernel_data() - physical address of the kernel's data section, 0 if unknown */
static unsigned long long kernel_data(void)
{
	FILE *file = fopen("/proc/iomem", "re");
	unsigned long long first, found = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, ": Kernel data") && sscanf(line, "%llx-", &first) == 1)
			found = first;
	if (file)
		fclose(file);
	return found;
}

/* logged() - which of the two the kernel logged last: 1, 0, or -errno */
static int logged(void)
{
	static const char *const said[] = { "starting EAS", "stopping EAS" };
	int count[2], fd, i;

	for (i = 0; i < 2; i++) {
		fd = klog_open();
		count[i] = fd < 0 ? fd : klog_count(fd, said[i]);
		if (fd >= 0)
			close(fd);
		if (count[i] < 0)
			return count[i];
	}
	/* Alternating, and off at first. */
	return count[0] ? count[0] > count[1] : -ENOENT;
}

/* switched() - the kernel's own switch, or -errno */
static int switched(void)
{
	static off_t where;
	int32_t enabled;	/* struct static_key begins with the count */
	int fd, ret = 0;

	if (!where) {
		unsigned long long key = symbol("sched_energy_present");
		unsigned long long data = symbol("_sdata"), physical = kernel_data();

		if (!key || !data || !physical)
			return -ENOENT;
		where = key - data + physical;
	}
	fd = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pread(fd, &enabled, sizeof(enabled), where) != sizeof(enabled))
		ret = -EIO;
	close(fd);
	return ret ? ret : enabled > 0;
}

int eas_on(void)
{
	int ret = switched();

	return ret < 0 ? logged() : ret;
}

bool await_eas(bool on, int ms)
{
	long long end = now_us() + ms * 1000LL;

	while (eas_on() != on && now_us() < end)
		sleep_us(10000);
	return eas_on() == on;
}

long cpu_capacity(int cpu)
{
	char path[80], text[32];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
	return file_get(path, text, sizeof(text)) > 0 ? atol(text) : 1024;
}

long capacity_least(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF), cpu;
	long least = 1024;

	for (cpu = 0; cpu < cpus; cpu++)
		least = cpu_capacity(cpu) < least ? cpu_capacity(cpu) : least;
	return least;
}

long capacity_fits(long capacity)
{
	return (capacity * 1024 - 1) / 1280;
}

static void spin_us(int us)
{
	long long end = now_us() + us;

	while (us && now_us() < end)
		;
}

static void *nap(void *arg)
{
	struct napper *n = arg;
	cpu_set_t all;
	int cpu;

	CPU_ZERO(&all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, &all);
	/* Starts where it was placed; free to move from here on. */
	sched_setaffinity(0, sizeof(all), &all);
	__atomic_store_n(&n->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&n->stop, __ATOMIC_ACQUIRE)) {
		spin_us(__atomic_load_n(&n->busy_us, __ATOMIC_RELAXED));
		sleep_us(NAP_US);
		n->cpu[n->wakes % NAP_WAKES] = sched_getcpu();
		__atomic_store_n(&n->wakes, n->wakes + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

int napper_start(struct napper *n, int cpu, int busy_us)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int ret;

	memset(n, 0, sizeof(*n));
	n->busy_us = busy_us;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	ret = pthread_create(&n->thread, &attr, nap, n);
	pthread_attr_destroy(&attr);
	if (ret)
		return -ret;
	while (!__atomic_load_n(&n->tid, __ATOMIC_ACQUIRE))
		sleep_us(500);
	return 0;
}

void napper_stop(struct napper *n)
{
	__atomic_store_n(&n->stop, 1, __ATOMIC_RELEASE);
	pthread_join(n->thread, NULL);
}

/* share() - percent of the last wake-ups that were on some CPUs */
static int share(struct napper *n, unsigned long cpus, unsigned int wakes)
{
	unsigned int last = __atomic_load_n(&n->wakes, __ATOMIC_ACQUIRE), i, there = 0;

	for (i = last - wakes; i != last; i++)
		there += cpus >> n->cpu[i % NAP_WAKES] & 1;
	return there * 100 / wakes;
}

int await_placement(struct napper *n, unsigned long cpus, int percent,
		    unsigned int wakes, int ms)
{
	unsigned int from = __atomic_load_n(&n->wakes, __ATOMIC_ACQUIRE);
	long long end = now_us() + ms * 1000LL;
	int now = 0;

	while (now < percent && now_us() < end) {
		sleep_us(20000);
		if (__atomic_load_n(&n->wakes, __ATOMIC_ACQUIRE) - from >= wakes)
			now = share(n, cpus, wakes);
	}
	return now;
}
