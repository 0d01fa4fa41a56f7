// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "../ctl.h"
#include "../recording/db.h"
#include "export.h"

static const char usage[] =
	"usage: gchintctl export FILE --format FORMAT [-o FILE] [--table TABLE]\n"
	"Writes a recording in another format.\n"
	"\n"
	"  -f, --format FORMAT  one of those below\n"
	"  -o, --output FILE    where to; standard output unless told\n"
	"  -t, --table TABLE    of csv, phase_list unless told\n"
	"\n"
	"  csv           one table, with a head line\n"
	"  firefox       for profiler.firefox.com: phases as markers of their threads, energy and\n"
	"                frequency as tracks\n"
	"  jsonl         every row of every table of events, one JSON object a line\n"
	"  chrome-trace  for ui.perfetto.dev or chrome://tracing: phases by thread,\n"
	"                frequencies and rails as counters, decisions, marks\n"
	"  openmetrics   totals of the recording, in OpenMetrics\n"
	"  perfetto      for ui.perfetto.dev, in its own format: the same as chrome-trace, to the\n"
	"                nanosecond, with board, label and clocks; smaller and faster to open\n"
	"  prometheus    totals in Prometheus' own text format, as promtool checks it\n";

static const struct {
	const char *name;
	int (*run)(sqlite3 *db, FILE *out, const char *table);
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
		ctl_error("export: FILE and --format are wanted; --help tells more");
		return CTL_USAGE;
	}
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(format, formats[i].name))
			break;
	if (i == sizeof(formats) / sizeof(formats[0])) {
		ctl_error("export: no format '%s'; --help lists them", format);
		return CTL_USAGE;
	}
	if (table && formats[i].run != export_csv) {
		ctl_error("export: --table is of csv; %s has all of them", format);
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
	ret = formats[i].run(db, out, table);
	if (output && ret)
		ctl_discard(out);
	else if (output && ctl_commit(out, output))
		ret = CTL_FILE;
	sqlite3_close(db);
	return ret;
}
