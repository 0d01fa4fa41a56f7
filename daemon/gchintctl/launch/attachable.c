// SPDX-License-Identifier: GPL-2.0-or-later
/* gchintctl attach without a process: which there are, and why one cannot be attached to. */
#include "attachable.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ctl.h"
#include "dotnet.h"
#include "hsperf.h"
#include "runtime.h"

#define HSPERF_BYTES (64 << 10) /* 32 KiB by default (-XX:PerfDataMemorySize) */

/* What is listed of a process. */
struct attachable {
	struct attach_target target;
	const char *runtime, *lack; /* NULL: it can be attached to */
	char program[64];
	struct hsperf perf;
};

bool process_is_jvm(pid_t pid)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "/libjvm.so") != NULL;
	if (f)
		fclose(f);
	return found;
}

int attach_target_read(struct attach_target *target)
{
	char path[64], line[256];
	unsigned long long caught = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", target->pid);
	f = fopen(path, "r");
	if (!f)
		return -errno;
	target->own = target->pid;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "SigCgt:", 7))
			caught = strtoull(line + 7, NULL, 16);
		/* The last number is the pid in the innermost namespace. */
		if (!strncmp(line, "NSpid:", 6) && strrchr(line, '\t'))
			target->own = atoi(strrchr(line, '\t') + 1);
	}
	fclose(f);
	target->quits = !(caught >> (SIGQUIT - 1) & 1);
	snprintf(target->socket, sizeof(target->socket), "/proc/%d/root/tmp/.java_pid%d",
		 target->pid, target->own);
	return 0;
}

/* The JVM's own counters, in its /tmp, in the directory of its user. */
static bool jvm_counters(const struct attach_target *target, struct hsperf *perf)
{
	char pattern[128];
	unsigned char *data;
	bool good = false;
	glob_t found;
	ssize_t n = -1;
	int fd;

	snprintf(pattern, sizeof(pattern), "/proc/%d/root/tmp/hsperfdata_*/%d", target->pid,
		 target->own);
	if (glob(pattern, 0, NULL, &found))
		return false;
	data = malloc(HSPERF_BYTES);
	fd = data ? open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1;
	if (fd >= 0) {
		n = read(fd, data, HSPERF_BYTES);
		close(fd);
	}
	if (n > 0)
		good = hsperf_parse(data, (size_t)n, perf);
	free(data);
	globfree(&found);
	return good;
}

static void program_name(pid_t pid, char *name, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, (int)size, f))
		snprintf(name, size, "?");
	name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* Returns whether the process is of a runtime with an adapter. */
static bool process_read(pid_t pid, struct attachable *a)
{
	const struct runtime *runtime;
	struct runtime_none none;
	char exe[64];

	*a = (struct attachable){ .target.pid = pid,
				  .perf = { .used = HSPERF_UNKNOWN, .limit = HSPERF_UNKNOWN } };
	if (attach_target_read(&a->target))
		return false;
	program_name(pid, a->program, sizeof(a->program));
	if (process_is_jvm(pid)) {
		a->runtime = "jvm";
		if (jvm_counters(&a->target, &a->perf) && *a->perf.program)
			snprintf(a->program, sizeof(a->program), "%s", a->perf.program);
		if (a->target.quits)
			a->lack = "started with -Xrs, or still starting";
		return true;
	}
	a->target.dotnet = dotnet_reach(pid, a->target.own);
	if (a->target.dotnet >= 0) {
		close(a->target.dotnet);
		a->runtime = "dotnet";
		return true;
	}
	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	runtime = runtime_of(exe, &none);
	if (!runtime)
		return false;
	a->runtime = runtime->name;
	a->lack = "only from its start, by gchintctl run";
	return true;
}

static void heap_format(const struct hsperf *perf, char *text, size_t size)
{
	if (perf->used == HSPERF_UNKNOWN)
		snprintf(text, size, "?");
	else if (perf->limit == HSPERF_UNKNOWN)
		snprintf(text, size, "%.0f", (double)perf->used / (1 << 20));
	else
		snprintf(text, size, "%.0f of %.0f", (double)perf->used / (1 << 20),
			 (double)perf->limit / (1 << 20));
}

static void attachable_print(const struct attachable *a)
{
	char heap[48];

	heap_format(&a->perf, heap, sizeof(heap));
	printf("%7d  %-10s %-14s %12s  %-20s %s\n", a->target.pid, a->runtime,
	       *a->perf.collector ? a->perf.collector : "?", heap, a->program,
	       a->lack ? a->lack : "yes");
}

/* Threads of the kernel have no command line, for anybody. */
static bool process_is_kernel(const char *pid)
{
	char path[64], byte;
	bool none;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	none = fd < 0 || read(fd, &byte, 1) <= 0;
	if (fd >= 0)
		close(fd);
	return none;
}

int attachable_list(void)
{
	DIR *proc = opendir("/proc");
	unsigned int listed = 0, hidden = 0;
	struct attachable a;
	struct dirent *e;
	char exe[64], target[2];

	if (!proc) {
		ctl_error("/proc: %s", strerror(errno));
		return CTL_FAILED;
	}
	while ((e = readdir(proc))) {
		if (!isdigit((unsigned char)*e->d_name) || atoi(e->d_name) == getpid())
			continue;
		snprintf(exe, sizeof(exe), "/proc/%.20s/exe", e->d_name);
		if (readlink(exe, target, sizeof(target)) < 0) {
			hidden += errno == EACCES && !process_is_kernel(e->d_name);
			continue;
		}
		if (!process_read(atoi(e->d_name), &a))
			continue;
		if (!listed++)
			printf("%7s  %-10s %-14s %12s  %-20s %s\n", "PID", "RUNTIME", "COLLECTOR",
			       "HEAP MiB", "PROGRAM", "ATTACHES");
		attachable_print(&a);
	}
	closedir(proc);
	if (!listed)
		puts("no process of a runtime with an adapter runs (gchintctl runtimes lists "
		     "them)");
	else
		puts("\nHEAP: used at the last collection, and the most that it may have; ? not "
		     "known. Attach by\n"
		     "gchintctl record -o run.db -- gchintctl attach --wait PID");
	if (hidden)
		printf("%u process%s of other users %s not shown: ask as root\n", hidden,
		       hidden == 1 ? "" : "es", hidden == 1 ? "is" : "are");
	return CTL_OK;
}
