/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording. docs/recording.md describes them for readers; the
 * version goes up when a reader of the old one would go wrong.
 */
#ifndef GCHINT_SCHEMA_H
#define GCHINT_SCHEMA_H

#define SCHEMA_VERSION	   1
#define SCHEMA_APPLICATION 0x67636869 /* "gchi": PRAGMA application_id */

/* Everything but the rows. */
extern const char schema_sql[];

/* rails.kind */
enum rail_kind {
	RAIL_POWER,
	RAIL_ENERGY,
	RAIL_VOLTAGE,
	RAIL_CURRENT
};

#endif
