// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: each key of the configuration at its bounds, and each option. */
#include "unit.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../daemon/common/root.h"
#include "../../daemon/gchintd/service/options.h"
#include "place.h"
#include "records.h"

/* All of it as text; only those sources that differ from the default. */
static const char *config_format(const struct config *c)
{
	static char text[2000];

	snprintf(text, sizeof(text),
		 "file '%s' label '%s' size %llu keep %u arguments %d durable %d queue %u genl "
		 "%llu %#x "
		 "hotspots %u iio %d trace %llu listen '%s' text '%s' token '%s' each %u",
		 c->record_file, c->label, (unsigned long long)c->max_size, c->keep, c->arguments,
		 c->durable, c->queue, (unsigned long long)c->genl_buffer, c->genl_phases,
		 c->hotspots.hz, c->iio_buffered, (unsigned long long)c->trace_buffer,
		 c->metrics_listen, c->metrics_textfile, c->metrics_token_file,
		 c->metrics_period_s);
	for (int i = 0; i < SOURCE_NR; i++) {
		const struct config_source *s = &c->source[i];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "\n%s %d %u %u '%s'",
			 config_source_name((enum source_id)i), s->enabled, s->period_ms,
			 s->budget_percent, s->match);
	}
	return text;
}

static const char usual[] = "file '' label '' size 0 keep 0 arguments 0 durable 1 queue 32768 genl "
			    "8388608 0x1ffe hotspots 999 "
			    "iio 1 trace 262144 listen '' text '' token '' each 15\n"
			    "cpufreq 1 1000 5 '*'\n"
			    "cpuidle 1 1000 5 '*'\n"
			    "genl 1 20 5 '*'\n"
			    "hotplug 1 1000 5 '*'\n"
			    "hotspots 0 20 5 '*'\n"
			    "hwmon 1 50 5 '*'\n"
			    "iio 1 50 5 '*'\n"
			    "library 1 50 5 '*'\n"
			    "perf 0 1000 5 '*'\n"
			    "power 1 100 5 '*'\n"
			    "powercap 1 100 5 '*'\n"
			    "regulator 1 100 5 '*'\n"
			    "sched 1 1000 5 '*'\n"
			    "thermal 1 1000 5 '*'\n"
			    "trace 1 250 5 '*'";

static int config_read(struct config *c, const char *text, char *error, size_t size)
{
	config_defaults(c);
	return config_parse(c, text, strlen(text), error, size);
}

/* Accepted at both of its bounds, refused beyond, with the bounds in the message. */
static void bounds_check(void)
{
	static const struct {
		const char *section, *key, *min, *max, *below, *above, *range;
	} all[] = {
		{ "genl", "buffer", "64K", "256M", "65535", "268435457", "65536 to 268435456" },
		{ "hotspots", "hz", "1", "2000", "0", "2001", "1 to 2000" },
		{ "metrics", "period_s", "1", "3600", "0", "3601", "1 to 3600" },
		{ "record", "keep", "0", "1000", NULL, "1001", "0 to 1000" },
		{ "record", "queue", "4096", "1048576", "4095", "1048577", "4096 to 1048576" },
		{ "record", "max_size", "0", "18446744073709551615", NULL, "18446744073709551616",
		  "0 to 18446744073709551615" },
		{ "trace", "buffer", "4K", "64M", "4095", "67108865", "4096 to 67108864" },
		{ "iio", "budget_percent", "1", "100", "0", "101", "1 to 100" },
		{ "genl", "period_ms", "1", "3600000", "0", "3600001", "1 to 3600000" },
	};
	char text[200], error[300], want[300];
	struct config c;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *good[] = { all[i].min, all[i].max };
		const char *bad[] = { all[i].below, all[i].above };
		bool taken = true;

		for (int n = 0; n < 2; n++) {
			snprintf(text, sizeof(text), "[%s]\n%s=%s", all[i].section, all[i].key,
				 good[n]);
			taken = taken && !config_read(&c, text, error, sizeof(error));
			if (!bad[n])
				continue;
			snprintf(text, sizeof(text), "[%s]\n%s=%s", all[i].section, all[i].key,
				 bad[n]);
			snprintf(want, sizeof(want), "line 2: %s = '%s': out of range, %s",
				 all[i].key, bad[n], all[i].range);
			taken = taken && config_read(&c, text, error, sizeof(error)) == -EINVAL &&
				!strcmp(error, want);
		}
		if (!taken)
			printf("# %s %s: %s\n", all[i].section, all[i].key, error);
		CHECK(taken, "a number is accepted only within its bounds");
	}
}

/* For every key with a text value, and for lines and sections. */
static void lengths_check(void)
{
	static const struct {
		const char *section, *key;
		int room;
	} all[] = {
		{ "metrics", "listen", 63 },	  { "metrics", "textfile", 255 },
		{ "metrics", "token_file", 255 }, { "record", "file", 255 },
		{ "record", "label", 63 },	  { "hwmon", "match", 63 },
		{ "library", "socket", 107 },
	};
	char text[1100], error[300], want[100];
	struct config c;
	bool good = true;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (int more = 0; more < 2; more++) {
			int ret;

			snprintf(text, sizeof(text), "[%s]\n%s = %0*d\n", all[i].section,
				 all[i].key, all[i].room + more, 0);
			ret = config_read(&c, text, error, sizeof(error));
			snprintf(want, sizeof(want), "line 2: %s: longer than %d bytes", all[i].key,
				 all[i].room);
			good = good && (more ? ret == -EINVAL && !strcmp(error, want) : !ret);
		}
	CHECK(good, "a text is limited by its buffer");
	snprintf(text, sizeof(text), "#%0510d\n#%0510d\n", 0, 0);
	CHECK(!config_read(&c, text, error, sizeof(error)),
	      "a line of the maximum length is accepted");
	snprintf(text, sizeof(text), "\n#%0511d\n", 0);
	CHECK(config_read(&c, text, error, sizeof(error)) == -EINVAL &&
		      !strcmp(error, "line 2: longer than 511 bytes"),
	      "a longer line is reported");
	snprintf(text, sizeof(text), "[%031d]", 0);
	snprintf(want, sizeof(want), "line 1: no section '%031d': record, metrics, or", 0);
	CHECK(config_read(&c, text, error, sizeof(error)) == -EINVAL &&
		      !strncmp(error, want, strlen(want)),
	      "a section name of the maximum length is accepted");
	snprintf(text, sizeof(text), "[%032d]", 0);
	CHECK(config_read(&c, text, error, sizeof(error)) == -EINVAL &&
		      !strcmp(error, "line 1: no section has so long a name"),
	      "a longer section name is reported");
	memset(error, 'x', sizeof(error));
	CHECK(config_read(&c, "x", error, 8) == -EINVAL && !strcmp(error, "line 1:"),
	      "an error message is cut to its buffer");
}

static void words_check(void)
{
	static const char *const yes[] = { "yes", "true", "1" };
	static const char *const no[] = { "no", "false", "0" };
	char text[100], error[300];
	bool good = true;
	struct config c;

	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "[perf]\nenabled=%s\n[iio]\nbuffered=%s", yes[i],
			 no[i]);
		good = good && !config_read(&c, text, error, sizeof(error)) &&
		       c.source[SOURCE_perf].enabled && !c.iio_buffered;
	}
	CHECK(good, "yes and no have three spellings each");
	CHECK(!config_read(&c, "[genl]\nphases = mark,\tsweep  mark", error, sizeof(error)) &&
		      c.genl_phases == (1u << 4 | 1u << 7) &&
		      config_read(&c, "[genl]\nphases = mark none", error, sizeof(error)) ==
			      -EINVAL &&
		      !strcmp(error, "line 2: phases: no phase 'none': all, none, or names such as "
				     "mark,sweep"),
	      "phases are parsed by name");
	CHECK(config_read(&c, "[hwmon]\nbuffered=yes", error, sizeof(error)) == -EINVAL &&
		      !strcmp(error, "line 2: no key 'buffered' in [hwmon]: see gchintd.conf(5)") &&
		      config_read(&c, "[record]\nperiod_ms=5", error, sizeof(error)) == -EINVAL &&
		      config_read(&c, "[hwmon]\n[record]\nperiod_ms=5", error, sizeof(error)) ==
			      -EINVAL,
	      "a key is valid in its own section only");
	CHECK(config_read(&c, "[record]\nmax_size=5X", error, sizeof(error)) == -EINVAL &&
		      !strcmp(error, "line 2: max_size = '5X': a size such as 64M is wanted") &&
		      config_read(&c, "[record]\nkeep=5X", error, sizeof(error)) == -EINVAL &&
		      !strcmp(error, "line 2: keep = '5X': a number is wanted") &&
		      config_read(&c, "[record]\ndurable=2", error, sizeof(error)) == -EINVAL &&
		      !strcmp(error, "line 2: durable = '2': yes or no is wanted"),
	      "the expected value is reported");
}

static void files_check(void)
{
	static char large[262200];
	struct config c;
	char error[300];

	config_defaults(&c);
	text_is(config_format(&c), usual, "an empty file leaves the defaults");
	c.keep = 77;
	CHECK(config_load(&c, "none.conf", error, sizeof(error)) == -ENOENT &&
		      !strcmp(error, "none.conf: No such file or directory") && c.keep == 77,
	      "a missing file is reported");
	place_file("a.conf", "[record]\nkeep = 5\nkept = 6\n");
	CHECK(config_load(&c, "a.conf", error, sizeof(error)) == -EINVAL &&
		      !strcmp(error, "a.conf:3: no key 'kept' in [record]: see gchintd.conf(5)") &&
		      c.keep == 77,
	      "a wrong file changes nothing");
	place_file("a.conf", "[record]\nkeep = 5\n");
	CHECK(!config_load(&c, "a.conf", error, sizeof(error)) && c.keep == 5,
	      "a valid file is applied");
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = i % 100 ? '#' : '\n';
	large[(256 << 10) - 2] = '\0';
	place_file("a.conf", large);
	CHECK(!config_load(&c, "a.conf", error, sizeof(error)) && c.keep == 0,
	      "a large file is read completely");
	large[(256 << 10) - 2] = '#';
	large[(256 << 10) - 1] = '\0';
	place_file("a.conf", large);
	CHECK(config_load(&c, "a.conf", error, sizeof(error)) == -EFBIG &&
		      !strcmp(error, "a.conf: longer than 256 KiB: this is no configuration"),
	      "a file that is too large is refused");
	unit_memory_left(0);
	CHECK(config_load(&c, "a.conf", error, sizeof(error)) == -ENOMEM &&
		      !strcmp(error, "a.conf: no memory"),
	      "a file is refused without memory");
	unit_memory_left(-1);
}

static bool options_take(struct options *o, struct root *root, const char **feed, char **argv,
			 int *code)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	/* The previous value of optind. */
	optind = 0;
	return options_parse(o, root, feed, argc, argv, code);
}

#define OR_NONE(s) ((s) ? (s) : "none")

static void options_check(void)
{
	static const char *const longs[] = { "--record", "--config",   "--label",	"--period",
					     "--keep",	 "--max-size", "--annotations", "--sysfs",
					     "--procfs", "--tracefs",  "--debugfs",	"--feed" };
	char *shorts[] = { "x", "-r", "R", "-cC", "-l", "L", "-pP", NULL };
	char *none[] = { "x", NULL }, *of_none[] = { "x", "-c", "-", "--check", NULL };
	char text[1000] = "", *all[26] = { "x" }, values[12][16];
	struct root root = { "s", "p", "t", "d", "v" };
	const char *feed = NULL;
	struct options o;
	int code = 99;
	bool good;

	CHECK(options_take(&o, &root, &feed, none, &code) && !strcmp(o.config, CONFIG_PATH) &&
		      !o.config_given && !o.check && !o.record && !o.label && !o.keep &&
		      !o.max_size && !o.period_ms && !o.annotations && !feed && code == 99,
	      "without options the defaults remain");
	CHECK(options_take(&o, &root, &feed, of_none, &code) && !o.config && o.config_given &&
		      o.check,
	      "-c - and --check are parsed");
	for (int i = 0; i < 12; i++) {
		snprintf(values[i], sizeof(values[i]), "v%d", i);
		all[1 + 2 * i] = (char *)longs[i];
		all[2 + 2 * i] = values[i];
	}
	good = options_take(&o, &root, &feed, all, &code) && o.config_given && !o.check;
	snprintf(text, sizeof(text), "%d %s %s %s %s %s %s %s; %s %s %s %s %s", good,
		 OR_NONE(o.record), OR_NONE(o.config), OR_NONE(o.label), OR_NONE(o.period_ms),
		 OR_NONE(o.keep), OR_NONE(o.max_size), OR_NONE(o.annotations), root.sysfs,
		 root.procfs, root.tracefs, root.debugfs, OR_NONE(feed));
	text_is(text, "1 v0 v1 v2 v3 v4 v5 v6; v7 v8 v9 v10 v11",
		"each long option sets its value");
	good = options_take(&o, &root, &feed, shorts, &code);
	snprintf(text, sizeof(text), "%d %s %s %s %s", good, OR_NONE(o.record), OR_NONE(o.config),
		 OR_NONE(o.label), OR_NONE(o.period_ms));
	text_is(text, "1 R C L P", "short options set their values");
}

/* Refused with @want; nothing is changed then. */
static void config_is_refused(struct options o, const char *want)
{
	struct config c = { .keep = 77 };
	char error[700] = "";

	CHECK(options_config(&o, &c, error, sizeof(error)) < 0 && c.keep == 77,
	      "a wrong option changes nothing");
	text_is(error, want, "a wrong option value is reported");
}

static void options_combine(void)
{
	struct options o = { .config = "b.conf",
			     .config_given = true,
			     .record = "r.db",
			     .label = "a label",
			     .keep = "5",
			     .max_size = "64M",
			     .period_ms = "7" };
	char error[700], text[400], want[500];
	struct config c;

	place_file("b.conf", "[record]\nfile = f.db\nqueue = 5000\n[hwmon]\nperiod_ms = 9\n");
	CHECK(!options_config(&o, &c, error, sizeof(error)) && c.queue == 5000 &&
		      !strcmp(c.record_file, "r.db") && !strcmp(c.label, "a label") &&
		      c.keep == 5 && c.max_size == 64 << 20,
	      "options override the file");
	CHECK(c.source[SOURCE_hwmon].period_ms == 7 && c.source[SOURCE_iio].period_ms == 7 &&
		      c.source[SOURCE_power].period_ms == 7 &&
		      c.source[SOURCE_powercap].period_ms == 7 &&
		      c.source[SOURCE_regulator].period_ms == 7 &&
		      c.source[SOURCE_thermal].period_ms == 1000,
	      "--period applies to rails only");
	config_is_refused((struct options){ .keep = "x" },
			  "--keep: keep = 'x': a number is wanted");
	config_is_refused((struct options){ .max_size = "x" },
			  "--max-size: max_size = 'x': a size such as 64M is wanted");
	config_is_refused((struct options){ .period_ms = "0" },
			  "--period: period_ms = '0': out of range, 1 to 3600000");
	config_is_refused((struct options){ .record = "a\nkeep = 3" },
			  "--record: not a possible value");
	memset(text, 'x', sizeof(text));
	text[299] = '\0';
	config_is_refused((struct options){ .record = text },
			  "--record: file: longer than 255 bytes");
	text[299] = 'x';
	text[300] = '\0';
	config_is_refused((struct options){ .record = text }, "--record: not a possible value");
	text[64] = '\0';
	config_is_refused((struct options){ .label = text },
			  "--label: label: longer than 63 bytes");
	config_is_refused((struct options){ .config = "none.conf", .config_given = true },
			  "none.conf: No such file or directory");
	o = (struct options){ .config = "none.conf" };
	CHECK(!options_config(&o, &c, error, sizeof(error)), "the default file may be missing");
	text_is(config_format(&c), usual, "a wrong option value leaves the defaults");
	o.config = "b.conf";
	snprintf(want, sizeof(want), "%s", "f.db");
	CHECK(!options_config(&o, &c, error, sizeof(error)) && !strcmp(c.record_file, want),
	      "the default file is read if it exists");
}

void unit_config(void)
{
	struct place place;

	if (!place_enter(&place))
		return;
	bounds_check();
	lengths_check();
	words_check();
	files_check();
	options_check();
	options_combine();
	place_leave(&place);
}
