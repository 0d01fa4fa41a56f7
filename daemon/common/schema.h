/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording. docs/recording.md describes them for readers. A change that
 * would mislead a reader of the old version increments the version.
 */
#ifndef GCHINT_SCHEMA_H
#define GCHINT_SCHEMA_H

#define SCHEMA_VERSION	   2
#define SCHEMA_OLDEST	   1 /* still readable; in version 1, processes has one row per thread */
#define SCHEMA_APPLICATION 0x67636869 /* "gchi": PRAGMA application_id */

#define SCHEMA_TABLES	    31
#define SCHEMA_TABLES_FIRST 26 /* tables after these may be missing in older files */
#define SCHEMA_VIEWS	    5

/* Creates the tables; and the indexes, once the file is complete. */
extern const char schema_sql[];
extern const char schema_index_sql[];
/* Creates the tables that may be missing. */
extern const char schema_profile_sql[];

/* In the order in which data flows. */
extern const char *const schema_tables[SCHEMA_TABLES];

/*
 * Views, by name and statement. A file contains them for its users; gchintctl uses those
 * of this table, since a view of a file may be any statement.
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
