// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gchintctl measure -- COMMAND: repeated runs of a command, alone or alternating with a baseline.
 * Each run is a recording of its own (recorder_run()), labelled with its side, and compared as
 * gchintctl compare does. CPU time, which recordings do not have, is taken from wait4().
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../recording/reader/several.h"
#include "../../source/source.h"
#include "../ctl.h"
#include "../launch/record.h"
#include "../launch/runtime.h"
#include "plan.h"
#include "result.h"

static const char usage[] =
	"usage: gchintctl [--json] measure [-b COMMAND] [-n N] [OPTION]... -- COMMAND\n"
	"                                  [ARGUMENT]...\n"
	"Runs COMMAND repeatedly and prints energy, time, CPU time and pauses with 95 %\n"
	"intervals; with a baseline also each difference in words. Each run is recorded by a\n"
	"gchintd of its own, so the rails are those of gchintctl record. Words are not given\n"
	"to a shell. Output of the commands is dropped.\n"
	"\n"
	"  -b, --baseline COMMAND    compare with this command, whose words are split at blanks;\n"
	"                            runs alternate in the order ABBA\n"
	"  -n, --runs N              measured runs of each, 2 to 64 (default: 10)\n"
	"  -w, --warmup N            runs of each that are not measured (default: 1)\n"
	"      --prepare COMMAND     run before each run, not measured\n"
	"  -I, --idle SECONDS        measure the idle machine first, and subtract its power\n"
	"  -f, --fail-above [F=]PCT  exit with 1 if a figure is larger than the baseline's by\n"
	"                            more than PCT percent and not by chance; F: energy, time,\n"
	"                            cpu or pause (default: all)\n"
	"  -i, --ignore-failure      measure commands that exit with an error, too\n"
	"  -o, --output DIR          keep the recordings in this new directory, for gchintctl\n"
	"                            report DIR/*.db (default: keep none)\n"
	"  -p, --period MS           rail sampling interval (default: 10)\n"
	"      --show-output         let the commands print, on standard error\n"
	"      --gchintd PROGRAM     the daemon to start (default: the one installed with\n"
	"                            gchintctl)\n"
	"\n"
	"Examples:\n"
	"  gchintctl measure -- sort -u words.txt\n"
	"  gchintctl measure -b 'sort words.txt' -- sort -u words.txt\n"
	"  gchintctl measure -n 20 -b 'sh -c \"sort a | uniq\"' -- sort -u a\n"
	"  gchintctl measure -b 'gchintctl run -q -- java -XX:+UseG1GC App' \\\n"
	"      -- gchintctl run -q -- java -XX:+UseZGC App      with pauses\n"
	"  gchintctl measure -f 5 -b ./app-main -- ./app-branch   for CI\n"
	"\n"
	"Exit status: 0 measured, and no figure above a limit; 1 a figure above its limit; 2\n"
	"usage; 3 a file cannot be written or read; 4 gchintd could not be started; 5 a\n"
	"command failed, or no run has a figure that --fail-above names.\n";

#define RUNS_MAX   COMPARE_RUNS
#define WARMUP_MAX 1000
#define IDLE_MAX   3600
#define PERIOD_MAX 10000
#define LABEL_IDLE "idle"
#define FILES	   (2 * RUNS_MAX + 1)

static const char *const label[PLAN_SIDES] = { "baseline", "command" };

struct measure {
	char **argv[PLAN_SIDES], **prepare; /* argv[PLAN_BASELINE] is NULL without a baseline */
	char *text[PLAN_SIDES];
	unsigned int runs, warmup, period_ms;
	double idle_s;
	bool ignore_failure, show, json;
	const char *keep, *program;
	struct plan_limits limits;
	sigset_t taken;
	char dir[64]; /* "" recordings are kept */
	char *file[FILES]; /* recordings of the runs, in order */
	size_t files;
	char idle_file[PATH_MAX];
	double cpu_s[PLAN_SIDES][RUNS_MAX];
	size_t measured[PLAN_SIDES], failed, left;
	uint64_t began;
	size_t done, all; /* runs, those to warm up included */
};

/* In the command's process. */
static void output_redirect(void *data)
{
	const struct measure *m = data;
	int none = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(none, STDIN_FILENO);
	dup2(m->show ? STDERR_FILENO : none, STDOUT_FILENO);
	if (!m->show)
		dup2(none, STDERR_FILENO);
}

static void progress_print(const struct measure *m, const char *what)
{
	char left[48] = "";

	if (!isatty(STDERR_FILENO) || m->show)
		return;
	if (m->done)
		snprintf(left, sizeof(left), ", about %.0f s left",
			 (double)(clock_now() - m->began) / 1e9 / (double)m->done *
				 (double)(m->all - m->done));
	fprintf(stderr, "\rrun %zu of %zu: %s%s          ", m->done + 1, m->all, what, left);
}

static void progress_clear(const struct measure *m)
{
	if (isatty(STDERR_FILENO) && !m->show)
		fprintf(stderr, "\r%70s\r", "");
}

/* Whether the measurement goes on after a run. Returns an exit code. */
static int status_check(struct measure *m, enum plan_side side, int status)
{
	if (child_caught) {
		progress_clear(m);
		ctl_error("measure: interrupted in run %zu of %zu", m->done + 1, m->all);
		return 128 + child_caught;
	}
	if (!status)
		return CTL_OK;
	m->failed++;
	if (m->ignore_failure && status != 126 && status != 127)
		return CTL_OK;
	progress_clear(m);
	ctl_error("measure: run %zu of %zu, %s '%s': exit status %d%s", m->done + 1, m->all,
		  label[side], m->text[side], status,
		  m->show ? "; --ignore-failure measures it all the same" :
			    "; --show-output shows what it printed, --ignore-failure measures it "
			    "all the same");
	return CTL_UNMEASURED;
}

static int unrecorded_run(struct measure *m, char **argv)
{
	const struct child child = {
		.argv = argv, .taken = &m->taken, .setup = output_redirect, .data = m
	};

	return child_run(&child);
}

static int prepare_run(struct measure *m)
{
	int status = m->prepare ? unrecorded_run(m, m->prepare) : 0;

	if (!status || child_caught)
		return CTL_OK;
	progress_clear(m);
	ctl_error("measure: --prepare '%s': exit status %d", m->prepare[0], status);
	return CTL_UNMEASURED;
}

static int warmup_run(struct measure *m, enum plan_side side)
{
	int ret;

	progress_print(m, "warming up");
	ret = prepare_run(m);
	if (!ret)
		ret = status_check(m, side, unrecorded_run(m, m->argv[side]));
	/* Failures of measured runs alone are counted. */
	m->failed = 0;
	m->done++;
	return ret;
}

/* Returns as recorder_run() does. A reading of each rail must follow the command's end. */
static int measure_record(struct measure *m, struct recorder *r, const char *file, const char *name,
			  char **argv)
{
	char period[16];

	recorder_init(r);
	r->file = file;
	r->program = m->program;
	r->quiet = true;
	r->hints_optional = true;
	r->after_ms = 3 * m->period_ms;
	r->setup = output_redirect;
	r->data = m;
	snprintf(period, sizeof(period), "%u", m->period_ms);
	recorder_add_option(r, "--label");
	recorder_add_option(r, name);
	recorder_add_option(r, "--period");
	recorder_add_option(r, period);
	return recorder_run(r, argv);
}

static int measured_run(struct measure *m, enum plan_side side)
{
	struct recorder record;
	int status, ret;

	progress_print(m, label[side]);
	if (asprintf(&m->file[m->files], "%s/%03zu-%s.db", m->keep ? m->keep : m->dir, m->files + 1,
		     label[side]) < 0) {
		m->file[m->files] = NULL;
		ctl_error("measure: no memory");
		return CTL_FILE;
	}
	ret = prepare_run(m);
	if (ret)
		return ret;
	status = measure_record(m, &record, m->file[m->files++], label[side], m->argv[side]);
	/* A command that cannot be executed fails; anything else is gchintd's failure. */
	if (!record.ran && status != 126 && status != 127)
		return status;
	ret = status_check(m, side, status);
	if (ret)
		return ret;
	if (!record.complete)
		return CTL_DAEMON;
	m->cpu_s[side][m->measured[side]++] = (double)record.usage.cpu_ns / 1e9;
	m->left += record.usage.left;
	m->done++;
	return CTL_OK;
}

static int idle_run(struct measure *m)
{
	char seconds[32], sleeps[] = "sleep", *argv[] = { sleeps, seconds, NULL };
	struct recorder record;
	int status;

	snprintf(seconds, sizeof(seconds), "%.3f", m->idle_s);
	snprintf(m->idle_file, sizeof(m->idle_file), "%s/" LABEL_IDLE ".db",
		 m->keep ? m->keep : m->dir);
	progress_print(m, "waiting idle");
	status = measure_record(m, &record, m->idle_file, LABEL_IDLE, argv);
	if (!record.ran)
		return status;
	if (child_caught || status) {
		progress_clear(m);
		ctl_error("measure: interrupted while the machine was idle");
		return child_caught ? 128 + child_caught : CTL_UNMEASURED;
	}
	return record.complete ? CTL_OK : CTL_DAEMON;
}

static int measure_run(struct measure *m)
{
	const unsigned int sides = m->argv[PLAN_BASELINE] ? 2 : 1;
	int ret = CTL_OK;

	m->all = (size_t)sides * (m->warmup + m->runs);
	child_signals(&m->taken);
	/* Orphans of a run become children of ours, so that their CPU time is counted. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (m->idle_s > 0)
		ret = idle_run(m);
	m->began = clock_now();
	for (size_t i = 0; i < sides * m->warmup && !ret; i++)
		ret = warmup_run(m, sides == 2 ? plan_side(i) : PLAN_COMMAND);
	for (size_t i = 0; i < sides * m->runs && !ret; i++)
		ret = measured_run(m, sides == 2 ? plan_side(i) : PLAN_COMMAND);
	progress_clear(m);
	return ret;
}

/* CPU time is printed after the duration. */
static void comparison_add_cpu_time(struct comparison *c, const struct measure *m)
{
	struct compare_figure *f = compare_add_figure(c, "CPU time", "s", -1, true);
	struct compare_figure cpu;

	for (size_t g = 0; g < c->groups; g++) {
		const enum plan_side side = strcmp(c->group[g].label, label[PLAN_BASELINE]) ?
						    PLAN_COMMAND :
						    PLAN_BASELINE;

		f->n[g] = m->measured[side];
		memcpy(f->value[g], m->cpu_s[side], f->n[g] * sizeof(f->value[g][0]));
	}
	cpu = *f;
	for (; f > c->figure && strcmp(f[-1].name, "duration"); f--)
		*f = f[-1];
	*f = cpu;
}

/* Why no rail measures energy here: a missing permission first, because that can be changed. */
static void rails_explain_none(char *buf, size_t size)
{
	static const enum source_id sensors[] = { SOURCE_hwmon, SOURCE_iio, SOURCE_power,
						  SOURCE_powercap };
	struct source_context context = { 0 };

	snprintf(buf, size,
		 "no rail of this machine measures power or energy; gchintctl status says what "
		 "each sensor lacks");
	root_init(&context.root);
	config_defaults(&context.config);
	for (size_t i = 0; i < sizeof(sensors) / sizeof(sensors[0]); i++) {
		struct probe p = { 0 };
		int ret = source_table[sensors[i]]->probe(&context, &p);

		if (ret == -EACCES || ret == -EPERM)
			snprintf(buf, size, "%s: %s; %s", config_source_name(sensors[i]), p.what,
				 p.remedy);
	}
}

static bool comparison_has_energy(const struct comparison *c)
{
	for (size_t i = 0; i < c->figures; i++)
		if (plan_figure_of(c->figure[i].name) == PLAN_ENERGY)
			return true;
	return false;
}

static int measure_print(const struct measure *m)
{
	struct result r = {
		.command = { m->text[PLAN_BASELINE], m->text[PLAN_COMMAND] },
		.runs = m->runs,
		.warmup = m->warmup,
		.period_ms = m->period_ms,
		.idle_s = m->idle_s,
		.failed = m->failed,
		.left = m->left,
		.limits = m->limits,
	};
	struct compare_energy energy = { NULL };
	struct recording **rec = recording_open_all(m->file, m->files, 0), *idle = NULL;
	struct comparison c = { 0 };
	int code = CTL_FILE;

	if (!rec)
		return CTL_FILE;
	if (m->idle_s > 0) {
		idle = recording_open(m->idle_file);
		if (!idle)
			goto close_runs;
		energy.idle = idle;
	}
	if (!compare_make(rec, m->files, &energy, &c))
		goto close_runs;
	comparison_add_cpu_time(&c, m);
	r.comparison = &c;
	if (!comparison_has_energy(&c))
		rails_explain_none(r.no_energy, sizeof(r.no_energy));
	if (m->json)
		result_print_json(&r);
	else
		result_print_text(&r);
	if (!m->json && m->keep)
		printf("recordings: gchintctl report %s/*.db\n", m->keep);
	code = result_judge(&r);
close_runs:
	compare_free(&c);
	if (idle)
		recording_close(idle);
	recording_close_all(rec, m->files);
	return code;
}

static int directory_create(struct measure *m)
{
	if (!m->keep) {
		const char *parent = getenv("TMPDIR");

		snprintf(m->dir, sizeof(m->dir), "%s/gchintctl.XXXXXX",
			 parent && *parent && strlen(parent) < 40 ? parent : "/tmp");
		if (mkdtemp(m->dir))
			return CTL_OK;
		ctl_error("measure: %s: %s", m->dir, strerror(errno));
		*m->dir = '\0';
		return CTL_FILE;
	}
	if (!mkdir(m->keep, 0777))
		return CTL_OK;
	ctl_error("measure: --output %s: %s%s", m->keep, strerror(errno),
		  errno == EEXIST ? "; name a new directory" : "");
	return CTL_FILE;
}

static void recording_remove(const char *file)
{
	static const char *const suffix[] = { "", "-wal", "-shm", "-journal" };
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", file, suffix[i]);
		unlink(path);
	}
}

static void measure_free(struct measure *m)
{
	for (size_t i = 0; i < m->files; i++) {
		if (!m->keep)
			recording_remove(m->file[i]);
		free(m->file[i]);
	}
	if (*m->idle_file && !m->keep)
		recording_remove(m->idle_file);
	if (*m->dir && rmdir(m->dir))
		ctl_error("measure: %s: %s", m->dir, strerror(errno));
	free(m->text[PLAN_BASELINE]);
	free(m->text[PLAN_COMMAND]);
	plan_words_free(m->argv[PLAN_BASELINE]);
	plan_words_free(m->prepare);
}

/* Splits the argument of an option that is a command. */
static bool option_take_words(const char *option, const char *text, char ***argv)
{
	const char *why;

	plan_words_free(*argv);
	why = plan_words(text, argv);
	if (why)
		ctl_error("measure: --%s '%s': %s", option, text, why);
	return !why;
}

static bool option_take_number(const char *option, const char *text, unsigned int low,
			       unsigned int high, unsigned int *value)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || errno || v < low || v > high) {
		ctl_error("measure: --%s takes a number from %u to %u, not %s", option, low, high,
			  text);
		return false;
	}
	*value = (unsigned int)v;
	return true;
}

static bool option_take_idle(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && !*end && *seconds >= 1 && *seconds <= IDLE_MAX)
		return true;
	ctl_error("measure: --idle takes seconds, from 1 to %d, not %s", IDLE_MAX, text);
	return false;
}

/* Returns -1 to go on, or an exit code. */
static int options_take(struct measure *m, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "baseline", required_argument, NULL, 'b' },
		{ "fail-above", required_argument, NULL, 'f' },
		{ "gchintd", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ "idle", required_argument, NULL, 'I' },
		{ "ignore-failure", no_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "period", required_argument, NULL, 'p' },
		{ "prepare", required_argument, NULL, 'P' },
		{ "runs", required_argument, NULL, 'n' },
		{ "show-output", no_argument, NULL, 's' },
		{ "warmup", required_argument, NULL, 'w' },
		{ 0 },
	};
	bool good = true, limited = false;
	int opt;

	while (good && (opt = getopt_long(argc, argv, "+b:f:hI:in:o:p:w:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'b':
			good = option_take_words("baseline", optarg, &m->argv[PLAN_BASELINE]);
			break;
		case 'f':
			limited = true;
			good = plan_limits_set(&m->limits, optarg);
			if (!good)
				ctl_error("measure: --fail-above takes a percentage, or one of "
					  "energy, time, cpu and pause with it, such as 5 or "
					  "energy=5, not %s",
					  optarg);
			break;
		case 'g':
			m->program = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'I':
			good = option_take_idle(optarg, &m->idle_s);
			break;
		case 'i':
			m->ignore_failure = true;
			break;
		case 'n':
			good = option_take_number("runs", optarg, 2, RUNS_MAX, &m->runs);
			break;
		case 'o':
			m->keep = optarg;
			break;
		case 'p':
			good = option_take_number("period", optarg, 1, PERIOD_MAX, &m->period_ms);
			break;
		case 'P':
			good = option_take_words("prepare", optarg, &m->prepare);
			break;
		case 's':
			m->show = true;
			break;
		case 'w':
			good = option_take_number("warmup", optarg, 0, WARMUP_MAX, &m->warmup);
			break;
		default:
			return ctl_usage("measure");
		}
	}
	if (!good)
		return CTL_USAGE;
	if (optind == argc) {
		ctl_error("measure: no command given; see gchintctl measure --help");
		return CTL_USAGE;
	}
	if (limited && !m->argv[PLAN_BASELINE]) {
		ctl_error("measure: --fail-above compares with a baseline: add --baseline COMMAND");
		return CTL_USAGE;
	}
	m->argv[PLAN_COMMAND] = argv + optind;
	return -1;
}

/* A mistyped program is reported before the first run. */
static bool program_check(char *const *argv)
{
	char path[PATH_MAX];

	if (!argv || runtime_file(argv[0], path, sizeof(path)))
		return true;
	ctl_error("measure: %s: no such program", argv[0]);
	return false;
}

int cmd_measure(const struct ctl *ctl, int argc, char **argv)
{
	struct measure *m = calloc(1, sizeof(*m));
	int code;

	if (!m) {
		ctl_error("measure: no memory");
		return CTL_FILE;
	}
	m->json = ctl->json;
	m->runs = 10;
	m->warmup = 1;
	m->period_ms = 10;
	plan_limits_init(&m->limits);
	code = options_take(m, argc, argv);
	if (code < 0 && (!program_check(m->prepare) || !program_check(m->argv[PLAN_BASELINE]) ||
			 !program_check(m->argv[PLAN_COMMAND])))
		code = CTL_UNMEASURED;
	for (int side = 0; side < PLAN_SIDES && code < 0; side++)
		m->text[side] = m->argv[side] ? command_text(m->argv[side]) : NULL;
	if (code < 0) {
		code = directory_create(m);
		if (!code)
			code = measure_run(m);
		if (!code)
			code = measure_print(m);
	}
	measure_free(m);
	free(m);
	return code;
}
