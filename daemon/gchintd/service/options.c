// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../source/log.h"
#include "../../version.h"
#include "http.h"

static const char usage[] =
	"usage: gchintd [OPTION]...\n"
	"Records collection phases, frequency decisions, frequencies and power rails on\n"
	"one clock into one SQLite file. Without options it does what " CONFIG_PATH "\n"
	"says.\n"
	"\n"
	"  -r, --record FILE      record into FILE\n"
	"  -c, --config FILE      configuration (- for none)\n"
	"      --check            check the configuration and exit\n"
	"  -l, --label TEXT       name the run, for comparisons\n"
	"      --command TEXT     keep TEXT as the command of the run, and the arguments of\n"
	"                         hinted processes\n"
	"  -p, --period MS        rail sampling interval (default: 50 to 100, by source)\n"
	"      --keep N           rotate an old FILE away, keep N of them\n"
	"      --max-size SIZE    limit of one file, such as 64M\n"
	"      --annotations SOCKET\n"
	"                         take annotations here (gchintctl annotations --add)\n"
	"      --list-sources     name the sources and exit\n"
	"  -q, --quiet            say only warnings and errors\n"
	"  -h, --help             this text\n"
	"  -V, --version          version\n"
	"\n"
	"To try it without the machine's own kernel:\n"
	"      --sysfs DIR --procfs DIR --tracefs DIR --debugfs DIR\n"
	"\n"
	"Exit: 0 done, 1 broke while running, 2 usage, 3 configuration, 4 the recording\n"
	"could not be made, 5 nothing to do. See gchintd(8), gchintd.conf(5).\n";

enum {
	OPT_ANNOTATIONS = 256,
	OPT_CHECK,
	OPT_COMMAND,
	OPT_DEBUGFS,
	OPT_FEED,
	OPT_HTTP,
	OPT_KEEP,
	OPT_LIST,
	OPT_MAX_SIZE,
	OPT_PROCFS,
	OPT_SYSFS,
	OPT_TRACEFS,
};

/* An option that no help text names. */
#define UNDOCUMENTED(name, value)                                                                  \
	{                                                                                          \
		name, required_argument, NULL, value                                               \
	}

static const struct option longs[] = {
	{ "annotations", required_argument, NULL, OPT_ANNOTATIONS },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "command", required_argument, NULL, OPT_COMMAND },
	{ "config", required_argument, NULL, 'c' },
	{ "debugfs", required_argument, NULL, OPT_DEBUGFS },
	UNDOCUMENTED("feed", OPT_FEED), /* netlink messages from a local socket, for tests */
	{ "help", no_argument, NULL, 'h' },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "label", required_argument, NULL, 'l' },
	{ "list-sources", no_argument, NULL, OPT_LIST },
	{ HTTP_OPTION, no_argument, NULL, OPT_HTTP }, /* the daemon's own HTTP server */
	{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
	{ "period", required_argument, NULL, 'p' },
	{ "procfs", required_argument, NULL, OPT_PROCFS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "record", required_argument, NULL, 'r' },
	{ "sysfs", required_argument, NULL, OPT_SYSFS },
	{ "tracefs", required_argument, NULL, OPT_TRACEFS },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static bool options_exit(int *code, int with)
{
	*code = with;
	return false;
}

bool options_parse(struct options *o, struct root *root, const char **feed, int argc, char **argv,
		   int *code)
{
	static char self[] = "gchintd";
	int opt;

	*o = (struct options){ .config = CONFIG_PATH };
	argv[0] = self; /* getopt prefixes its messages with it */
	while ((opt = getopt_long(argc, argv, "c:hl:p:qr:V", longs, NULL)) >= 0) {
		switch (opt) {
		case 'c':
			o->config = strcmp(optarg, "-") ? optarg : NULL;
			o->config_given = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return options_exit(code, EXIT_OK);
		case 'l':
			o->label = optarg;
			break;
		case 'p':
			o->period_ms = optarg;
			break;
		case 'q':
			log_level(LOG_WARNING);
			break;
		case 'r':
			o->record = optarg;
			break;
		case 'V':
			puts("gchintd " GCHINTD_VERSION);
			return options_exit(code, EXIT_OK);
		case OPT_ANNOTATIONS:
			o->annotations = optarg;
			break;
		case OPT_CHECK:
			o->check = true;
			break;
		case OPT_COMMAND:
			o->command = optarg;
			break;
		case OPT_DEBUGFS:
			root->debugfs = optarg;
			break;
		case OPT_FEED:
			*feed = optarg;
			break;
		case OPT_HTTP:
			return options_exit(code, http_run());
		case OPT_KEEP:
			o->keep = optarg;
			break;
		case OPT_LIST:
			for (int i = 0; i < SOURCE_NR; i++)
				puts(config_source_name((enum source_id)i));
			return options_exit(code, EXIT_OK);
		case OPT_MAX_SIZE:
			o->max_size = optarg;
			break;
		case OPT_PROCFS:
			root->procfs = optarg;
			break;
		case OPT_SYSFS:
			root->sysfs = optarg;
			break;
		case OPT_TRACEFS:
			root->tracefs = optarg;
			break;
		default:
			fputs("gchintd: --help lists the options\n", stderr);
			return options_exit(code, EXIT_USAGE);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "gchintd: '%s': no arguments are taken; --help lists the options\n",
			argv[optind]);
		return options_exit(code, EXIT_USAGE);
	}
	return true;
}

/* Applies an option through the parser of the file, so that both accept the same values. */
static int option_override(struct config *config, const char *option, const char *section,
			   const char *key, const char *value, char *error, size_t size)
{
	char line[400], what[256];

	if (!value)
		return 0;
	snprintf(line, sizeof(line), "[%s]\n%s = %s\n", section, key, value);
	if (strlen(value) < 300 && !strchr(value, '\n') &&
	    !config_parse(config, line, strlen(line), what, sizeof(what)))
		return 0;
	if (strlen(value) >= 300 || strchr(value, '\n'))
		snprintf(what, sizeof(what), "line 2: not a possible value");
	snprintf(error, size, "%s: %s", option, what + strlen("line 2: "));
	return -EINVAL;
}

int options_config(const struct options *o, struct config *config, char *error, size_t size)
{
	static const char *const rails[] = { "hwmon", "iio", "power", "powercap", "regulator" };
	struct config fresh;
	int ret = 0;

	config_defaults(&fresh);
	/* The default file may be missing; one that --config names may not. */
	if (o->config && (o->config_given || !access(o->config, F_OK)))
		ret = config_load(&fresh, o->config, error, size);
	if (!ret)
		ret = option_override(&fresh, "--record", "record", "file", o->record, error, size);
	if (!ret)
		ret = option_override(&fresh, "--label", "record", "label", o->label, error, size);
	if (!ret)
		ret = option_override(&fresh, "--keep", "record", "keep", o->keep, error, size);
	if (!ret)
		ret = option_override(&fresh, "--max-size", "record", "max_size", o->max_size,
				      error, size);
	for (size_t i = 0; i < sizeof(rails) / sizeof(rails[0]) && !ret; i++)
		ret = option_override(&fresh, "--period", rails[i], "period_ms", o->period_ms,
				      error, size);
	/* The command of the run is kept together with those of its processes. */
	if (o->command)
		fresh.arguments = true;
	if (!ret)
		*config = fresh;
	return ret;
}
