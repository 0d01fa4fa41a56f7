// SPDX-License-Identifier: MIT
/*
 * The log: one record for each change of a core's state or clock, and for each mark. A core's
 * power is constant between two records, so the energy of any interval follows exactly.
 */
#include "timed.h"

#include <stdio.h>

static FILE *log_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int trace_open(const char *path)
{
	log_file = fopen(path, "wbe");
	return log_file ? 0 : -1;
}

/*
 * Memory transfers of one core; at a mark, of all cores, whose counters may advance during the
 * sum.
 */
static uint64_t lines_count(const struct timed_core *c, enum trace_type type)
{
	uint64_t lines = 0;
	unsigned int i;

	if (type != TRACE_MARK)
		return c->count.l2_miss + c->count.writeback;
	for (i = 0; i < timed.board.cores; i++)
		lines += timed.core[i].count.l2_miss + timed.core[i].count.writeback;
	return lines;
}

void trace_put(struct timed_core *c, enum trace_type type, unsigned int arg, uint64_t ns)
{
	struct trace_record r = {
		.ns = ns,
		.type = (uint8_t)type,
		.cpu = (uint8_t)c->cpu,
		.arg = (uint16_t)arg,
		.khz = timed_domain(c->cpu)->opp->khz,
		.insns = c->count.insns,
		.stall_ns = (uint64_t)c->count.stall_ns,
		.lines = lines_count(c, type),
	};

	if (!log_file)
		return;
	pthread_mutex_lock(&lock);
	if (fwrite(&r, sizeof(r), 1, log_file) != 1) {
		perror("timed: the log");
		fclose(log_file);
		log_file = NULL;
	}
	pthread_mutex_unlock(&lock);
}

int trace_close(void)
{
	return log_file && fclose(log_file) ? -1 : 0;
}
