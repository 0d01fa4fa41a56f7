/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording. docs/recording.md describes them for readers; the
 * version goes up when a reader of the old one would go wrong.
 */
#ifndef GCHINT_SCHEMA_H
#define GCHINT_SCHEMA_H

#define SCHEMA_VERSION	   2
#define SCHEMA_OLDEST	   1 /* that is still read: processes had one row a thread */
#define SCHEMA_APPLICATION 0x67636869 /* "gchi": PRAGMA application_id */

#define SCHEMA_TABLES	    31
#define SCHEMA_TABLES_FIRST 26 /* those behind may be missing in older files */
#define SCHEMA_VIEWS	    5

/* The tables; indexes for a file that grows no more. */
extern const char schema_sql[];
extern const char schema_index_sql[];
/* Those that may be missing. */
extern const char schema_profile_sql[];

/* In the order of the way of the data. */
extern const char *const schema_tables[SCHEMA_TABLES];

/*
 * Views by name and meaning. A file has them for people; gchintctl takes its own,
 * for what a file calls a view may be any statement.
 */
struct schema_view {
	const char *name, *select;
};
extern const struct schema_view schema_views[SCHEMA_VIEWS];

/* rails.kind */
enum rail_kind {
	RAIL_POWER,
	RAIL_ENERGY,
	RAIL_VOLTAGE,
	RAIL_CURRENT
};

#endif
