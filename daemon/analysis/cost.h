/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of recording: CPU time, wake-ups, memory and energy of the daemon. */
#ifndef ANALYSIS_COST_H
#define ANALYSIS_COST_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/json.h"

/**
 * struct record_cost - cost of recording, from the first to the last row that the daemon recorded
 * @ns: time between these rows
 * @cpu_ns: CPU time of the daemon in it
 * @wakeups: how often a thread of the daemon was woken in it
 * @rss_kib: peak resident memory; -1 not known
 * @low: modelled energy in J of the CPU time at the OPP with the lowest power; NAN if no OPP
 *	has a known power
 * @high: the same at the OPP with the highest power
 */
struct record_cost {
	int64_t ns, cpu_ns, wakeups, rss_kib;
	double low, high;
};

/* Returns false unless the cost was recorded at two instants at least. */
bool cost_read(sqlite3 *db, struct record_cost *p);

/* Writes the member "cost"; null if cost_read() returns false. */
void cost_print_json(sqlite3 *db, struct json *j);

/**
 * cost_format - format the cost of recording
 * @db: the recording
 * @buf: receives "0.12 % of one CPU, 3.4 wake-ups a second, 5678 KiB, 0.01 to 0.2 J modelled";
 *	"energy not known" if no OPP has a power
 * @size: of @buf
 *
 * Returns false, with an empty string, if cost_read() does.
 */
bool cost_format(sqlite3 *db, char *buf, size_t size);

#endif
