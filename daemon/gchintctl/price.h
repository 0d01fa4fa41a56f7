/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording itself took of the machine. */
#ifndef GCHINTCTL_PRICE_H
#define GCHINTCTL_PRICE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/json.h"

/**
 * struct price - by the daemon's own account, from its first row to its last
 * @ns: how long that was
 * @cpu_ns: CPU time of it
 * @wakeups: how often one of its threads had slept
 * @rss_kib: memory at the most; -1 not known
 * @low: J of that CPU time at the cheapest OPP, modelled; NAN where no OPP has a power
 * @high: J at the dearest
 */
struct price {
	int64_t ns, cpu_ns, wakeups, rss_kib;
	double low, high;
};

/* False where no two instants of it are recorded. */
bool price_of(sqlite3 *db, struct price *p);

/* The member "cost"; null where price_of() is false. */
void price_json(sqlite3 *db, struct json *j);

/**
 * price_words - as a clause, from the daemon's own account
 * @db: the recording
 * @buf: receives "0.12 % of one CPU, 3.4 wake-ups a second, 5678 KiB, 0.01 to 0.2 J modelled";
 *	"energy not known" where no OPP has a power
 * @size: of @buf
 *
 * Returns false, and an empty string, where no two instants of it are recorded.
 */
bool price_words(sqlite3 *db, char *buf, size_t size);

#endif
