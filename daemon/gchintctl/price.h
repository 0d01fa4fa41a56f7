/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording itself took of the machine. */
#ifndef GCHINTCTL_PRICE_H
#define GCHINTCTL_PRICE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * price_words - as a clause, from the daemon's own account
 * @db: the recording
 * @buf: receives "0.12 % of one CPU, 3.4 wake-ups a second, 5678 KiB, 0.01 to 0.2 J modelled";
 *	the last where OPPs have powers: its CPU time at the cheapest and at the dearest
 * @size: of @buf
 *
 * Returns false, and an empty string, where no two instants of it are recorded.
 */
bool price_words(sqlite3 *db, char *buf, size_t size);

#endif
