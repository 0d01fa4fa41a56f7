/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_HSPERF_H
#define GCHINTCTL_HSPERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HSPERF_UNKNOWN UINT64_MAX

/**
 * struct hsperf - what a JVM counts for jps(1) and jstat(1)
 * @program: its main class or archive, without arguments; "" not known
 * @collector: a name such as G1, or what the JVM calls its policy; "" not known
 * @used: bytes of the heap in use; HSPERF_UNKNOWN
 * @limit: bytes that the heap may have; HSPERF_UNKNOWN
 */
struct hsperf {
	char program[64], collector[32];
	uint64_t used, limit;
};

/**
 * hsperf_parse - read the counters of a file hsperfdata_USER/PID
 * @data: its content
 * @size: bytes
 * @perf: filled in
 *
 * The file is another process's: nothing in it is trusted. Returns false if it is no such file.
 */
bool hsperf_parse(const unsigned char *data, size_t size, struct hsperf *perf);

#endif
