/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording. docs/recording.md describes them for readers. A change that
 * would mislead a reader of the old version increments the version. Version 3 is that of release
 * 0.1.0; there was none before it.
 */
#ifndef RECORDING_SCHEMA_H
#define RECORDING_SCHEMA_H

#define SCHEMA_VERSION	   3
#define SCHEMA_APPLICATION 0x67636869 /* "gchi": PRAGMA application_id */

#define SCHEMA_TABLES 32
#define SCHEMA_VIEWS  6

/*
 * Stop-the-world phases of one process that are no further apart than this, in ns, are one pause.
 * A collector that ends a phase and then begins the next makes two calls of 0.1 to 2 us each; to
 * wake a stopped thread takes longer, so no mutator gets any work done meanwhile. Collections of a
 * single-threaded program, which needs no wake-up, are tens of us apart and stay pauses of their
 * own.
 */
#define SCHEMA_PAUSE_GAP_NS 5000

/* Creates the tables; and the indexes, once the file is complete. */
extern const char schema_sql[];
extern const char schema_index_sql[];
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

#define ANNOTATION_MAX 400 /* bytes of a text of annotations */

/* rails.kind */
enum rail_kind {
	RAIL_POWER,
	RAIL_ENERGY,
	RAIL_VOLTAGE,
	RAIL_CURRENT
};

#endif
