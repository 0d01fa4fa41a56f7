// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "../../common/escape.h"
#include "../../common/json.h"
#include "../../recording/reader/db.h"
#include "../../recording/schema.h"
#include "../ctl.h"
#include "../profile/firefox-stacks.h"
#include "../profile/firefox.h"
#include "export.h"

static const char usage[] =
	"usage: gchintctl export FILE --format FORMAT [-o FILE] [--table TABLE]\n"
	"Writes a recording in another format.\n"
	"\n"
	"  -f, --format FORMAT  one of the formats below\n"
	"  -o, --output FILE    where to (default: standard output)\n"
	"  -t, --table TABLE    of csv (default: phase_list)\n"
	"\n"
	"  csv           one table, with a header line\n"
	"  firefox       for profiler.firefox.com: phases as markers of their threads, energy and\n"
	"                frequency as tracks\n"
	"  jsonl         every row of every table of events, one JSON object a line\n"
	"  chrome-trace  for ui.perfetto.dev or chrome://tracing: phases by thread,\n"
	"                frequencies, rails and heaps as counters, decisions,\n"
	"                annotations\n"
	"  openmetrics   totals of the recording, in OpenMetrics\n"
	"  perfetto      for ui.perfetto.dev, in its own format: the same as chrome-trace, to the\n"
	"                nanosecond, with board, label and clocks; smaller and faster to open\n"
	"  prometheus    totals in Prometheus' own text format, as promtool checks it\n";

static bool table_known(const char *table)
{
	for (size_t i = 0; i < SCHEMA_TABLES; i++)
		if (!strcmp(table, schema_tables[i]))
			return true;
	for (size_t i = 0; i < SCHEMA_VIEWS; i++)
		if (!strcmp(table, schema_views[i].name))
			return true;
	return false;
}

static sqlite3_stmt *table_query(sqlite3 *db, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	sqlite3_stmt *stmt = sql ? db_query(db, sql) : NULL;

	sqlite3_free(sql);
	return stmt;
}

static int export_csv(sqlite3 *db, FILE *out, const char *table)
{
	sqlite3_stmt *s;
	int n;

	if (!table)
		table = "phase_list";
	if (!table_known(table)) {
		ctl_error("export: there is no table '%s'; docs/recording.md lists the tables",
			  table);
		return CTL_USAGE;
	}
	s = table_query(db, table);
	if (!s)
		return CTL_FILE;
	n = sqlite3_column_count(s);
	for (int c = 0; c < n; c++) {
		escape_csv(out, sqlite3_column_name(s, c));
		fputc(c + 1 < n ? ',' : '\n', out);
	}
	while (db_next(s))
		for (int c = 0; c < n; c++) {
			escape_csv(out, db_text(s, c, NULL));
			fputc(c + 1 < n ? ',' : '\n', out);
		}
	sqlite3_finalize(s);
	return CTL_OK;
}

static int export_jsonl(sqlite3 *db, FILE *out, const char *table)
{
	struct json j = { .f = out };

	(void)table;
	for (size_t i = 0; i < SCHEMA_TABLES; i++) {
		sqlite3_stmt *s = table_query(db, schema_tables[i]);

		if (!s)
			return CTL_FILE;
		while (db_next(s)) {
			json_object(&j, NULL);
			json_text(&j, "table", schema_tables[i]);
			for (int c = 0; c < sqlite3_column_count(s); c++)
				db_json(&j, sqlite3_column_name(s, c), s, c);
			json_end(&j);
		}
		sqlite3_finalize(s);
	}
	return CTL_OK;
}

/* Phases as markers, and no samples. */
static int export_firefox(sqlite3 *db, FILE *out, const char *table)
{
	struct recording *rec = recording_open(sqlite3_db_filename(db, "main"));
	struct firefox x;
	bool whole;

	(void)table;
	if (!rec)
		return CTL_FILE;
	whole = firefox_open(&x, rec, out);
	if (whole) {
		firefox_begin(&x, 0);
		firefox_shared(&x, NULL);
		json_list(&x.j, "threads");
		firefox_instants(&x);
		for (size_t i = 0, n; i < rec->phases; i += n) {
			const struct recording_phase *p = x.phase[i];

			n = firefox_phases_of_thread(&x, i);
			firefox_thread(&x, p->tgid, p->tid, p->t0);
			firefox_no_samples(&x);
			firefox_phases(&x, i, n);
		}
		json_end(&x.j);
		whole = firefox_counters(&x);
		firefox_end(&x);
	}
	firefox_close(&x);
	recording_close(rec);
	return whole ? CTL_OK : CTL_FILE;
}

static const struct {
	const char *name;
	int (*rec)(sqlite3 *db, FILE *out, const char *table);
} formats[] = {
	{ "chrome-trace", export_chrome_trace }, { "csv", export_csv },
	{ "firefox", export_firefox },		 { "jsonl", export_jsonl },
	{ "openmetrics", export_openmetrics },	 { "perfetto", export_perfetto },
	{ "prometheus", export_prometheus },
};

int cmd_export(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "table", required_argument, NULL, 't' },
		{ 0 },
	};
	const char *format = NULL, *output = NULL, *table = NULL;
	FILE *out = stdout;
	sqlite3 *db;
	size_t i;
	int opt, ret;

	(void)ctl;
	while ((opt = getopt_long(argc, argv, "f:ho:t:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'f':
			format = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'o':
			output = optarg;
			break;
		case 't':
			table = optarg;
			break;
		default:
			return ctl_usage("export");
		}
	}
	if (optind + 1 != argc || !format) {
		ctl_error("export: name one recording and a --format; see gchintctl export --help");
		return CTL_USAGE;
	}
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(format, formats[i].name))
			break;
	if (i == sizeof(formats) / sizeof(formats[0])) {
		ctl_error("export: there is no format '%s'; see gchintctl export --help", format);
		return CTL_USAGE;
	}
	if (table && formats[i].rec != export_csv) {
		ctl_error("export: --table works only with csv; %s contains all tables", format);
		return CTL_USAGE;
	}
	db = db_open(argv[optind]);
	if (!db)
		return CTL_FILE;
	if (output) {
		out = ctl_create(output);
		if (!out) {
			sqlite3_close(db);
			return CTL_FILE;
		}
	}
	ret = formats[i].rec(db, out, table);
	if (output && ret)
		ctl_discard(out);
	else if (output && ctl_commit(out, output))
		ret = CTL_FILE;
	sqlite3_close(db);
	return ret;
}
