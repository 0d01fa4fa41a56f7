// SPDX-License-Identifier: MIT
/*
 * The performance counters of a HotSpot JVM, in /tmp/hsperfdata_USER/PID (jvmstat's "perfdata"
 * format 2.0). The JVM writes the file in place. A cause's name that is read while it changes
 * matches no known name, and the cause is then unknown.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gchint.h>

#include "jvm.h"

static const unsigned char magic[4] = { 0xca, 0xfe, 0xc0, 0xc0 };
#define LITTLE_ENDIAN_HERE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

struct prologue {
	unsigned char magic[4];
	uint8_t little_endian, major, minor, accessible;
	uint32_t used, overflow;
	uint64_t modified;
	uint32_t entry_offset, entries;
};

struct entry {
	uint32_t length, name_offset, vector_length;
	uint8_t type, flags, units, variability;
	uint32_t data_offset;
};

static const char *cause_now, *cause_last;
static int late;

static const struct {
	const char *name;
	uint32_t cause;
	unsigned int phase; /* 0: the cause does not determine it */
} causes[] = {
	{ "Allocation Failure", GCHINT_CAUSE_ALLOCATION, 0 },
	{ "Allocation Rate", GCHINT_CAUSE_THRESHOLD, 0 },
	{ "Allocation Stall", GCHINT_CAUSE_ALLOCATION, 0 },
	{ "CodeCache GC Threshold", GCHINT_CAUSE_NATIVE, 0 },
	{ "Concurrent GC", GCHINT_CAUSE_THRESHOLD, 0 },
	{ "Diagnostic Command", GCHINT_CAUSE_EXPLICIT, 0 },
	{ "Ergonomics", GCHINT_CAUSE_THRESHOLD, 0 },
	{ "G1 Compaction Pause", GCHINT_CAUSE_ALLOCATION, GCHINT_PHASE_COMPACT },
	{ "G1 Evacuation Pause", GCHINT_CAUSE_ALLOCATION, GCHINT_PHASE_COPY },
	{ "G1 Humongous Allocation", GCHINT_CAUSE_ALLOCATION, GCHINT_PHASE_COPY },
	{ "G1 Periodic Collection", GCHINT_CAUSE_TIMER, 0 },
	{ "G1 Preventive Collection", GCHINT_CAUSE_THRESHOLD, GCHINT_PHASE_COPY },
	{ "GCLocker Initiated GC", GCHINT_CAUSE_ALLOCATION, 0 },
	{ "Heap Inspection Initiated GC", GCHINT_CAUSE_EXPLICIT, 0 },
	{ "High Usage", GCHINT_CAUSE_THRESHOLD, 0 },
	{ "JvmtiEnv ForceGarbageCollection", GCHINT_CAUSE_EXPLICIT, 0 },
	{ "Last ditch collection", GCHINT_CAUSE_OOM, 0 },
	{ "Metadata GC Clear Soft References", GCHINT_CAUSE_OOM, 0 },
	{ "Metadata GC Threshold", GCHINT_CAUSE_NATIVE, 0 },
	{ "Proactive", GCHINT_CAUSE_TIMER, 0 },
	{ "System.gc()", GCHINT_CAUSE_EXPLICIT, 0 },
	{ "Timer", GCHINT_CAUSE_TIMER, 0 },
	{ "Warmup", GCHINT_CAUSE_THRESHOLD, 0 },
};

static int g1;

/*
 * G1 reports two pauses of its concurrent cycle without a cause: a remark and then a cleanup.
 * A full collection in between ends the cycle.
 */
static const uint64_t *full_count;
static uint64_t full_seen;
static int cleanup_due;

/*
 * The value of a counter, a text or, with @number, a number; NULL if there is none. All offsets
 * in the file are checked, because its contents are not trusted.
 */
static const void *counter_find(const char *base, size_t size, const char *name, int number)
{
	const struct prologue *p = (const void *)base;
	const struct entry *e;
	size_t at = p->entry_offset;
	uint32_t n;

	for (n = 0; n < p->entries && at + sizeof(*e) <= size; n++, at += e->length) {
		e = (const void *)(base + at);
		if (e->length < sizeof(*e) || e->length > size - at ||
		    e->name_offset >= e->length || e->data_offset >= e->length ||
		    e->vector_length > e->length - e->data_offset)
			return NULL;
		if (strncmp(base + at + e->name_offset, name, e->length - e->name_offset) != 0)
			continue;
		if (number)
			return e->type == 'J' && !e->vector_length &&
					       !((at + e->data_offset) % 8) &&
					       e->length - e->data_offset >= 8 ?
				       base + at + e->data_offset :
				       NULL;
		return e->vector_length ? base + at + e->data_offset : NULL;
	}
	return NULL;
}

static const char *counters_map(size_t *size)
{
	struct passwd *user = getpwuid(geteuid());
	const char *base = MAP_FAILED;
	char path[256];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/tmp/hsperfdata_%s/%d", user ? user->pw_name : "", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    st.st_size >= (off_t)sizeof(struct prologue)) {
		*size = (size_t)st.st_size;
		base = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	}
	close(fd);
	return base == MAP_FAILED ? NULL : base;
}

void counters_open(void)
{
	const struct prologue *p;
	const char *base, *collector;
	const uint64_t *halves;
	size_t size = 0;

	base = counters_map(&size);
	p = (const void *)base;
	if (!p || memcmp(p->magic, magic, sizeof(magic)) != 0 ||
	    p->little_endian != LITTLE_ENDIAN_HERE || p->major != 2) {
		fputs("libgchint-jvm.so: causes are unknown, and G1's copies are collections: no "
		      "counters in /tmp/hsperfdata_USER, as with -XX:+PerfDisableSharedMem\n",
		      stderr);
		return;
	}
	collector = counter_find(base, size, "sun.gc.collector.0.name", 0);
	g1 = collector && strncmp(collector, "G1 ", 3) == 0;
	full_count = counter_find(base, size, "sun.gc.collector.1.invocations", 1);
	full_seen = full_count ? *full_count : 0;
	/* If the agent is attached within a cycle, the remark may be over. */
	halves = counter_find(base, size, "sun.gc.collector.2.invocations", 1);
	cleanup_due = halves && *halves & 1;
	cause_last = counter_find(base, size, "sun.gc.lastCause", 0);
	cause_now = counter_find(base, size, "sun.gc.cause", 0);
}

static uint32_t cause_lookup(const char *text, unsigned int *phase)
{
	size_t n;

	for (n = 0; n < sizeof(causes) / sizeof(causes[0]); n++) {
		if (strcmp(text, causes[n].name) != 0)
			continue;
		if (phase && causes[n].phase)
			*phase = causes[n].phase;
		return causes[n].cause;
	}
	return GCHINT_CAUSE_UNKNOWN;
}

static unsigned int g1_next_phase(void)
{
	uint64_t full = full_count ? __atomic_load_n(full_count, __ATOMIC_RELAXED) : 0;
	int cleanup = cleanup_due && full == full_seen;

	full_seen = full;
	cleanup_due = !cleanup;
	return cleanup ? GCHINT_PHASE_COLLECT : GCHINT_PHASE_REMARK;
}

uint32_t counters_cause(unsigned int *phase)
{
	late = 0;
	if (!cause_now)
		return GCHINT_CAUSE_UNKNOWN;
	if (strcmp(cause_now, "No GC") != 0)
		return cause_lookup(cause_now, phase);
	if (g1)
		*phase = g1_next_phase();
	late = !g1;
	return GCHINT_CAUSE_UNKNOWN;
}

uint32_t counters_late_cause(void)
{
	return late && cause_last ? cause_lookup(cause_last, NULL) : GCHINT_CAUSE_UNKNOWN;
}
