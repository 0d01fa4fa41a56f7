// SPDX-License-Identifier: GPL-2.0-or-later
/* gchintctl profile: records and shows CPU time by method, phase, frequency and energy. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/names.h"
#include "../../common/root.h"
#include "../../recording/reader/db.h"
#include "../../source/sampling/sampling.h"
#include "../../symbols/perf-map.h"
#include "../ctl.h"
#include "../launch/hint-count.h"
#include "../launch/record.h"
#include "../launch/run.h"
#include "allocations.h"
#include "profile.h"
#include "sample-energy.h"

static const char usage[] =
	"usage: gchintctl profile record [-o FILE] [-F HZ] [WHAT]... [-q] -- PROGRAM "
	"[ARGUMENT]...\n"
	"       gchintctl profile filter [WHAT]... FILE\n"
	"       gchintctl profile report [FILTER]... [-n LINES] FILE\n"
	"       gchintctl profile annotate [FILTER]... [-s SYMBOL] [-n LINES] FILE\n"
	"       gchintctl profile flame [FILTER]... [--energy] [-o SVG | --folded] FILE\n"
	"       gchintctl profile flame [FILTER]... [-o SVG] BEFORE AFTER\n"
	"       gchintctl profile diff [FILTER]... [-n LINES] BEFORE AFTER\n"
	"       gchintctl profile export [FILTER]... --format FORMAT [-o OUTPUT] FILE\n"
	"Where CPU time goes: by instruction, by the method that an interpreter ran (which a\n"
	"profiler of instructions cannot see), by phase of the collector, frequency and energy.\n"
	"It needs neither the module nor privileges. With kernel.perf_event_paranoid at 2 it does\n"
	"not see what runs in the kernel; where perf events are refused, nor callers. The report\n"
	"states that.\n"
	"\n"
	"record runs PROGRAM with the adapter of its runtime and samples each of its threads.\n"
	"  -o, --output FILE      the recording (default: profile.db). flame: the picture\n"
	"  -F, --frequency HZ     samples a second of CPU time, 1 to 2000 (default: 999)\n"
	"  -A, --allocations      sample which functions allocate as well, and so cause\n"
	"                         collections: OpenJDK and Node.js\n"
	"      --signal           ask threads for their methods by a signal, as is done without\n"
	"                         privileges, even if the kernel can read them\n"
	"      --interpreted      a JVM compiles nothing and reports each call: all methods have\n"
	"                         names, and calls take some hundred times as long\n"
	"      --names-at-calls   for comparison: write the names at each call, as without a\n"
	"                         tunnel, not once: a call takes four more system calls\n"
	"  -f, --follow           wait for processes that PROGRAM leaves running when it ends,\n"
	"                         such as a daemon (default: report one)\n"
	"  -q, --quiet            do not print the next step\n"
	"  -R, --runtime NAME     load only the adapter of that runtime (gchintctl runtimes) into\n"
	"                         the command and what it starts (default: each its own)\n"
	"WHAT is sampled and kept (default: everything). filter changes that in the recorder that\n"
	"writes FILE and replaces the previous filter; the recording notes a filter that leaves\n"
	"nothing:\n"
	"  -c, --command PATTERN  processes whose name or command line matches\n"
	"      --cgroup PATTERN   processes in a matching control group or below it\n"
	"      --unit UNIT        processes of a systemd unit\n"
	"  -m, --method PATTERN   samples in matching methods; separate several patterns by |\n"
	"      --phase PHASES     samples in these phases, separated by commas; none: outside of\n"
	"                         phases\n"
	"FILTER applies when the recording is read; each may be a shell pattern, and one that\n"
	"leaves nothing is reported:\n"
	"  -m, --method PATTERN   samples in matching methods\n"
	"      --phase PHASE      samples in that phase; gc: in all phases of collection; none:\n"
	"                         outside of phases\n"
	"      --process PATTERN  samples of programs with a matching name\n"
	"report, flame:\n"
	"  -A, --allocations      what functions allocate, in place of CPU time; flame writes it "
	"as\n"
	"                         folded stacks, with bytes\n"
	"report, annotate, diff:\n"
	"  -n, --lines LINES      rows of each table (default: 20)\n"
	"annotate lists the samples of the symbol that has the most, by line of its source if the\n"
	"program has debugging information, otherwise by instruction:\n"
	"  -s, --symbol PATTERN   of all matching symbols\n"
	"flame draws frames in the colour of their layer, or, of two recordings, of the change of\n"
	"their CPU time. In a browser a click zooms, and frames can be searched and coloured by\n"
	"frequency and power:\n"
	"      --energy           the width of a frame is its energy, not its samples\n"
	"      --folded           one line per stack, for other tools; of energy in uJ\n"
	"export (default: to standard output):\n"
	"      --format FORMAT    firefox, for profiler.firefox.com: samples and phases by "
	"thread,\n"
	"                         energy and frequency as tracks; speedscope, for speedscope.app;\n"
	"                         pprof, for Pyroscope, Parca and go tool pprof: with phase,\n"
	"                         program and thread as labels; perf-script, as perf writes it:\n"
	"                         for stackcollapse, inferno\n"
	"\n"
	"Examples:\n"
	"  gchintctl profile record -o p.db -- lua5.4 program.lua\n"
	"  gchintctl profile report p.db\n"
	"  gchintctl profile flame p.db -o p.svg\n";

struct options {
	const char *output, *format;
	const struct runtime *runtime; /* of the programs that the command starts; NULL: its own */
	struct profile_keep keep;
	struct profile_filter filter;
	size_t lines;
	bool allocations, energy, folded, follow, interpreted, named_at_calls, quiet;
};

/* Reports before the program starts if samples will have less than they could. */
static void sampling_report(void)
{
	struct sampling s;
	const int ret = sampling_choose(&s);

	if (ret)
		fprintf(stderr,
			"gchintctl: perf events are refused here (%s): samples are by a timer of "
			"each thread, without callers and without the kernel's code%s\n",
			strerror(-ret),
			ret == -EACCES || ret == -EPERM ? "; for those run as root, or lower "
							  "kernel.perf_event_paranoid to 2" :
							  "");
}

/* Whether the recording has a sample; reports why not. */
static bool samples_exist(const char *file, const char *program)
{
	sqlite3 *db = db_open(file);
	struct hint_count hints;
	int64_t samples = 0;
	char sampled_by[16];
	bool adapted;

	if (!db)
		return false;
	db_number(db, "SELECT count(*) FROM (SELECT 1 FROM hotspots LIMIT 1)", 0, &samples);
	if (!db_meta(db, "hotspots.way", sampled_by, sizeof(sampled_by)))
		*sampled_by = '\0';
	sqlite3_close(db);
	if (samples)
		return true;
	adapted = hint_count_read(&hints, file) && hints.programs;
	if (access("/proc/self/task", F_OK))
		ctl_error("%s has no samples: /proc is not mounted, where the threads of %s are "
			  "found",
			  file, program);
	else if (adapted && !strcmp(sampled_by, "timer"))
		ctl_error(
			"%s has no samples: perf events are refused here, and the timers of %s "
			"did not expire: it used little CPU time, the filter rejected all samples, "
			"or its threads block or use SIGURG",
			file, program);
	else if (adapted)
		ctl_error("%s has no samples: %s used less CPU time than there is between two, or "
			  "the filter rejected all samples",
			  file, program);
	else
		ctl_error("%s has no samples: no process of %s had an adapter or used libgchint; "
			  "gchintctl runtimes lists the programs that can be profiled",
			  file, program);
	return false;
}

static int map_remove(void *data, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", (const char *)data, name);
	unlink(path);
	return 0;
}

static int profile_record_into(const struct options *o, const struct profile_maps *maps,
			       char **command)
{
	char config[96], option[128];
	struct recorder r;
	int ret;

	snprintf(config, sizeof(config), "%s/conf", maps->directory);
	ret = profile_keep_write(config, &o->keep);
	if (ret) {
		ctl_error("%s: %s", config, strerror(-ret));
		return CTL_FAILED;
	}
	snprintf(option, sizeof(option), "--config=%s", config);
	recorder_init(&r);
	r.file = o->output ? o->output : "profile.db";
	r.quiet = true;
	r.hints_optional = true;
	r.left = o->follow ? CHILD_LEFT_FOLLOW : CHILD_LEFT_REPORT;
	recorder_add_option(&r, option);
	setenv("GCHINT_SYMBOLS", maps->directory, 1);
	ret = recorder_run(&r, command);
	/* Files are still to be removed if what we print is not read, as behind "| grep -q". */
	signal(SIGPIPE, SIG_IGN);
	if (!r.ran || r.abandoned || access(r.file, R_OK))
		return ret;
	if (!profile_resolve(r.file, maps) ||
	    (o->allocations && !allocations_store(r.file, maps->directory)))
		return CTL_FILE;
	if (!samples_exist(r.file, command[0]))
		return ret ? ret : CTL_FAILED;
	if (!o->quiet)
		fprintf(stderr, "gchintctl: profiled into %s; next: gchintctl profile report %s\n",
			r.file, r.file);
	return ret;
}

/* Whether NODE_OPTIONS makes Node write a map to /tmp, which it does not remove. */
static bool node_map_requested(void)
{
	const char *options = getenv("NODE_OPTIONS");

	return options && strstr(options, NODE_MAP);
}

/* It makes each Node do so. */
static bool launcher_is_preloaded(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "libgchint-launch.so");
}

static int profile_record(const struct options *o, char **command, int count)
{
	char directory[64];
	struct profile_maps maps = { .directory = directory, .since = time(NULL) };
	const bool asked = node_map_requested();
	char config[96], **with;
	int ret;

	if (!count) {
		ctl_error("profile record: no program given; see gchintctl profile --help");
		return CTL_USAGE;
	}
	if (!profile_keep_good(&o->keep))
		return CTL_USAGE;
	sampling_report();
	ret = ctl_directory(directory, sizeof(directory), "gchint-profile");
	if (ret) {
		ctl_error("%s: %s", directory, strerror(-ret));
		return CTL_FAILED;
	}
	setenv("GCHINT_PROFILE", o->named_at_calls ? "2" : "1", 1);
	if (o->allocations)
		setenv("GCHINT_ALLOCATIONS", directory, 1);
	/* Without an adapter the program may still write the names of its methods itself. */
	with = launch_command(o->runtime, command, &count, o->interpreted);
	maps.remove = !asked && (node_map_requested() || launcher_is_preloaded());
	ret = profile_record_into(o, &maps, with);
	root_list(directory, "perf-", map_remove, directory);
	snprintf(config, sizeof(config), "%s/conf", directory);
	unlink(config);
	rmdir(directory);
	return ret;
}

/* @before: the profile that it is compared with; NULL for a picture of @p alone. */
static int flame_write_picture(const struct profile *p, const struct profile_energy *e,
			       const struct profile *before, const struct options *o)
{
	const char *file = o->output ? o->output : "flame.svg";
	FILE *f = ctl_create(file);
	int ret;

	if (!f)
		return CTL_FILE;
	ret = before ? profile_flame_change(before, p, f) : profile_flame(p, e, o->energy, true, f);
	if (ret) {
		ctl_discard(f);
		return ret;
	}
	return ctl_commit(f, file);
}

static int flame_write(const struct profile *p, const struct options *o)
{
	struct profile_energy e = { 0 };
	int ret = CTL_FAILED;

	if (profile_energy(p, &e)) {
		if (o->energy && !e.how)
			ctl_error("%s: the energy of its samples is not known: it has no rail, and "
				  "no OPP has a power; leave out --energy",
				  p->rec->path);
		else if (o->folded)
			ret = profile_folded(p, o->energy ? &e : NULL, stdout);
		else
			ret = flame_write_picture(p, &e, NULL, o);
	}
	profile_energy_free(&e);
	return ret;
}

static int profile_write(const struct profile *p, const struct options *o)
{
	FILE *f = o->output ? ctl_create(o->output) : stdout;
	int ret = CTL_OK;

	if (!f)
		return CTL_FILE;
	if (!strcmp(o->format, "firefox"))
		ret = profile_firefox(p, f);
	else if (!strcmp(o->format, "pprof"))
		ret = profile_pprof(p, f);
	else if (!strcmp(o->format, "speedscope"))
		profile_speedscope(p, f);
	else
		profile_script(p, f);
	if (!o->output)
		return ret;
	if (!ret)
		return ctl_commit(f, o->output);
	ctl_discard(f);
	return ret;
}

static int profile_compare(const struct options *o, const char *what, char **files)
{
	struct recording *rec[2] = { recording_open(files[0]), NULL };
	struct profile p[2] = { 0 };
	int ret = CTL_FILE;

	if (rec[0])
		rec[1] = recording_open(files[1]);
	if (rec[1] && profile_load(&p[0], rec[0], &o->filter) &&
	    profile_load(&p[1], rec[1], &o->filter))
		ret = !strcmp(what, "flame") ? flame_write_picture(&p[1], NULL, &p[0], o) :
					       profile_diff(&p[0], &p[1], o->lines);
	for (int i = 0; i < 2; i++) {
		profile_free(&p[i]);
		recording_close(rec[i]);
	}
	return ret;
}

static int allocations_read(const struct options *o, const char *what, const char *file)
{
	struct recording *rec = recording_open(file);
	FILE *f = stdout;
	int ret;

	if (!rec)
		return CTL_FILE;
	if (strcmp(what, "flame") != 0) {
		ret = allocations_report(rec, o->lines);
	} else if (o->output && !(f = ctl_create(o->output))) {
		ret = CTL_FILE;
	} else {
		ret = allocations_fold(rec, f);
		if (o->output && ret)
			ctl_discard(f);
		else if (o->output)
			ret = ctl_commit(f, o->output);
	}
	recording_close(rec);
	return ret;
}

static int profile_read(const struct options *o, const char *what, const char *file)
{
	struct recording *rec = recording_open(file);
	struct profile p = { 0 };
	int ret = CTL_FILE;

	if (rec && profile_load(&p, rec, &o->filter))
		ret = !strcmp(what, "flame")	? flame_write(&p, o) :
		      !strcmp(what, "export")	? profile_write(&p, o) :
		      !strcmp(what, "annotate") ? profile_annotate(&p, o->lines, o->filter.symbol) :
						  profile_report(&p, o->lines);
	profile_free(&p);
	recording_close(rec);
	return ret;
}

static bool option_in_range(const char *text, long low, long high, const char *option)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end != text && !*end && n >= low && n <= high)
		return true;
	ctl_error("profile: %s takes a number from %ld to %ld, not %s", option, low, high, text);
	return false;
}

static void phase_report_unknown(const char *name, bool several)
{
	char known[256] = "";
	size_t used = 0;

	for (uint32_t n = 1; n < GCHINT_PHASE_NR && used < sizeof(known); n++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s, ", name_phase(n));
	ctl_error("profile: there is no phase '%s'; name %s%s%s", name,
		  several ? "some of " : "one of ", known, several ? "none" : "gc (all), none");
}

static bool phases_are_known(const char *name, bool several)
{
	const size_t length = several ? strcspn(name, ",") : strlen(name);

	if (!several && !strcmp(name, "gc"))
		return true;
	for (uint32_t n = 0; n < GCHINT_PHASE_NR; n++)
		if (strlen(name_phase(n)) == length && !strncmp(name, name_phase(n), length))
			return !name[length] || phases_are_known(name + length + 1, several);
	phase_report_unknown(name, several);
	return false;
}

static bool format_is_known(const char *name)
{
	static const char *const known[] = { "firefox", "perf-script", "pprof", "speedscope" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i]))
			return true;
	ctl_error("profile export: there is no format '%s'; use firefox, perf-script, pprof or "
		  "speedscope",
		  name);
	return false;
}

/* Whether there is such a subcommand; if not, reports it and returns false. */
static bool action_is_known(const char *what)
{
	static const char *const known[] = { "record", "filter", "report", "annotate",
					     "flame",  "diff",	 "export" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(what, known[i]))
			return true;
	ctl_error("profile: name one of record, filter, report, annotate, flame, diff, export; see "
		  "gchintctl profile --help");
	return false;
}

int cmd_profile(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "allocations", no_argument, NULL, 'A' },
		{ "cgroup", required_argument, NULL, 'g' },
		{ "command", required_argument, NULL, 'c' },
		{ "energy", no_argument, NULL, 'e' },
		{ "folded", no_argument, NULL, 'd' },
		{ "follow", no_argument, NULL, 'f' },
		{ "format", required_argument, NULL, 't' },
		{ "frequency", required_argument, NULL, 'F' },
		{ "help", no_argument, NULL, 'h' },
		{ "interpreted", no_argument, NULL, 'i' },
		{ "lines", required_argument, NULL, 'n' },
		{ "method", required_argument, NULL, 'm' },
		{ "names-at-calls", no_argument, NULL, 'N' },
		{ "output", required_argument, NULL, 'o' },
		{ "phase", required_argument, NULL, 'P' },
		{ "process", required_argument, NULL, 'p' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "runtime", required_argument, NULL, 'R' },
		{ "signal", no_argument, NULL, 'S' },
		{ "symbol", required_argument, NULL, 's' },
		{ "unit", required_argument, NULL, 'u' },
		{ 0 },
	};
	const char *what = argc > 1 ? argv[1] : "";
	const bool recording = !strcmp(what, "record"), live = recording || !strcmp(what, "filter");
	struct options o = { .lines = 20, .keep.frequency = "999" };
	int opt;

	(void)ctl;
	if (!strcmp(what, "--help") || !strcmp(what, "-h")) {
		fputs(usage, stdout);
		return CTL_OK;
	}
	if (!action_is_known(what))
		return CTL_USAGE;
	argv[1] = argv[0];
	argc--;
	argv++;
	while ((opt = getopt_long(argc, argv, recording ? "+Ac:fF:hm:o:qR:" : "Ac:hm:n:o:s:", longs,
				  NULL)) >= 0) {
		switch (opt) {
		case 'A':
			o.allocations = true;
			break;
		case 'c':
			o.keep.command = optarg;
			break;
		case 'e':
			o.energy = true;
			break;
		case 'd':
			o.folded = true;
			break;
		case 'f':
			o.follow = true;
			break;
		case 'F':
			if (!option_in_range(optarg, 1, 2000, "--frequency"))
				return CTL_USAGE;
			o.keep.frequency = optarg;
			break;
		case 't':
			if (!format_is_known(optarg))
				return CTL_USAGE;
			o.format = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'i':
			o.interpreted = true;
			break;
		case 'm':
			o.filter.method = o.keep.method = optarg;
			break;
		case 'n':
			if (!option_in_range(optarg, 1, 1000000, "--lines"))
				return CTL_USAGE;
			o.lines = (size_t)strtol(optarg, NULL, 10);
			break;
		case 'N':
			o.named_at_calls = true;
			break;
		case 'o':
			o.output = optarg;
			break;
		case 'P':
			if (!phases_are_known(optarg, live))
				return CTL_USAGE;
			o.filter.phase = o.keep.phase = optarg;
			break;
		case 'p':
			o.filter.process = optarg;
			break;
		case 'q':
			o.quiet = true;
			break;
		case 'R':
			o.runtime = launch_runtime("profile", optarg);
			if (!o.runtime)
				return CTL_USAGE;
			break;
		case 'g':
			o.keep.cgroup = optarg;
			break;
		case 'u':
			o.keep.unit = optarg;
			break;
		case 's':
			o.filter.symbol = optarg;
			break;
		case 'S':
			o.keep.signal = true;
			break;
		default:
			return ctl_usage("profile");
		}
	}
	if (recording)
		return profile_record(&o, argv + optind, argc - optind);
	if (!strcmp(what, "diff")) {
		if (optind == argc - 2)
			return profile_compare(&o, what, argv + optind);
		ctl_error("profile diff: name two recordings; see gchintctl profile --help");
		return CTL_USAGE;
	}
	if (!strcmp(what, "flame") && optind == argc - 2) {
		if (!o.energy && !o.folded)
			return profile_compare(&o, what, argv + optind);
		ctl_error("profile flame: --energy and --folded are for one recording");
		return CTL_USAGE;
	}
	if (optind != argc - 1) {
		ctl_error("profile %s: name one recording; see gchintctl profile --help", what);
		return CTL_USAGE;
	}
	if (live)
		return profile_keep_good(&o.keep) ? profile_filter(argv[optind], &o.keep) :
						    CTL_USAGE;
	if (!strcmp(what, "export") && !o.format) {
		ctl_error("profile export: name a --format: firefox, perf-script, pprof or "
			  "speedscope");
		return CTL_USAGE;
	}
	if (!o.allocations)
		return profile_read(&o, what, argv[optind]);
	if (strcmp(what, "report") != 0 && strcmp(what, "flame") != 0) {
		ctl_error("profile %s: --allocations is for record, report and flame", what);
		return CTL_USAGE;
	}
	return allocations_read(&o, what, argv[optind]);
}
