// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gchintctl measure: repeated runs of one command, or of several in turns. Each run is a recording
 * of its own (recorder_run()), labelled with its command, and compared as gchintctl compare does. CPU
 * time and memory, which recordings do not have, are taken from wait4().
 */
#include <errno.h>
#include <fcntl.h>
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
#include "measure.h"
#include "result.h"

#define LABEL_IDLE "idle"

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
static int status_check(struct measure *m, const struct measure_command *c, int status)
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
		  c->label, c->text, status,
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

/* Runs a hook of a command. Returns an exit code. */
static int hook_run(struct measure *m, const struct measure_command *c, enum measure_hook hook)
{
	int status = c->hook[hook] ? unrecorded_run(m, c->hook[hook]) : 0;

	if (!status || child_caught)
		return CTL_OK;
	progress_clear(m);
	ctl_error("measure: --%s '%s': exit status %d", measure_hook_name(hook), c->hook[hook][0],
		  status);
	return CTL_UNMEASURED;
}

/* Setup of all commands, or cleanup. */
static int hooks_run(struct measure *m, enum measure_hook hook)
{
	int ret = CTL_OK;

	for (size_t i = 0; i < m->commands && !ret; i++)
		ret = hook_run(m, &m->command[i], hook);
	return ret;
}

static int warmup_run(struct measure *m, struct measure_command *c)
{
	int ret;

	progress_print(m, "warming up");
	ret = hook_run(m, c, HOOK_PREPARE);
	if (!ret)
		ret = status_check(m, c, unrecorded_run(m, c->argv));
	if (!ret)
		ret = hook_run(m, c, HOOK_CONCLUDE);
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

static int measured_run(struct measure *m, struct measure_command *c)
{
	struct recorder record;
	int status, ret;

	progress_print(m, c->label);
	if (asprintf(&m->file[m->files], "%s/%03zu-%s.db", m->keep ? m->keep : m->dir, m->files + 1,
		     c->label) < 0) {
		m->file[m->files] = NULL;
		ctl_error("measure: no memory");
		return CTL_FILE;
	}
	ret = hook_run(m, c, HOOK_PREPARE);
	if (ret)
		return ret;
	status = measure_record(m, &record, m->file[m->files++], c->label, c->argv);
	/* A command that cannot be executed fails; anything else is gchintd's failure. */
	if (!record.ran && status != 126 && status != 127)
		return status;
	ret = status_check(m, c, status);
	if (ret)
		return ret;
	if (!record.complete)
		return CTL_DAEMON;
	c->cpu_s[c->runs] = (double)record.usage.cpu_ns / 1e9;
	for (int k = 0; k < COUNTERS; k++)
		c->count[k][c->runs] = record.usage.count[k] == COUNTER_UNKNOWN ?
					       NAN :
					       (double)record.usage.count[k] / 1e6;
	c->peak_mib[c->runs++] = record.usage.peak_kib ? (double)record.usage.peak_kib / 1024 : NAN;
	m->left += record.usage.left;
	m->done++;
	return hook_run(m, c, HOOK_CONCLUDE);
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
	int ret, cleaned;

	m->all = m->commands * (m->warmup + m->runs);
	child_signals(&m->taken);
	/* Orphans of a run become children of ours, so that their CPU time is counted. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ret = hooks_run(m, HOOK_SETUP);
	if (!ret && m->idle_s > 0)
		ret = idle_run(m);
	m->began = clock_now();
	for (size_t i = 0; i < m->commands * m->warmup && !ret; i++)
		ret = warmup_run(m, &m->command[plan_command_at(i, m->commands)]);
	for (size_t i = 0; i < m->commands * m->runs && !ret; i++)
		ret = measured_run(m, &m->command[plan_command_at(i, m->commands)]);
	progress_clear(m);
	/* Also after a failure: what setup made is removed. */
	cleaned = hooks_run(m, HOOK_CLEANUP);
	return ret ? ret : cleaned;
}

/* Moves the last figure behind the one that is named @after. */
static void figure_move(struct comparison *c, const char *after)
{
	struct compare_figure *f = &c->figure[c->figures - 1], moved = *f;

	for (; f > c->figure && strcmp(f[-1].name, after); f--)
		*f = f[-1];
	*f = moved;
}

/* What recordings do not have. Groups are in the order of the commands. */
/* Of machines without such counters there is no figure. */
static bool comparison_add_counts(struct comparison *c, const struct measure *m)
{
	static const char *const name[COUNTERS] = { "cycles", "instructions" };

	for (int k = 0; k < COUNTERS; k++) {
		struct compare_figure *f;
		bool known = false;

		for (size_t g = 0; g < c->groups; g++)
			for (size_t i = 0; i < m->command[g].runs; i++)
				known = known || !isnan(m->command[g].count[k][i]);
		if (!known)
			continue;
		f = compare_add_figure(c, name[k], "million", -1, true);

		for (size_t g = 0; f && g < c->groups; g++)
			for (size_t i = 0; i < m->command[g].runs; i++)
				if (!isnan(m->command[g].count[k][i]))
					f->value[g][f->n[g]++] = m->command[g].count[k][i];
		if (!f)
			return false;
	}
	return true;
}

static bool comparison_add_usage(struct comparison *c, const struct measure *m)
{
	struct compare_figure *f = compare_add_figure(c, "CPU time", "s", -1, true);

	for (size_t g = 0; f && g < c->groups; g++) {
		f->n[g] = m->command[g].runs;
		memcpy(f->value[g], m->command[g].cpu_s, f->n[g] * sizeof(f->value[g][0]));
	}
	if (!f)
		return false;
	figure_move(c, "duration");
	f = compare_add_figure(c, "peak memory", "MiB", -1, true);
	for (size_t g = 0; f && g < c->groups; g++)
		for (size_t i = 0; i < m->command[g].runs; i++)
			if (!isnan(m->command[g].peak_mib[i]))
				f->value[g][f->n[g]++] = m->command[g].peak_mib[i];
	if (!f)
		return false;
	figure_move(c, "CPU time");
	return comparison_add_counts(c, m);
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
	struct result r = { .measure = m };
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
	if (!compare_make(rec, m->files, &energy, &c) || !comparison_add_usage(&c, m))
		goto close_runs;
	r.comparison = &c;
	if (!comparison_has_energy(&c))
		rails_explain_none(r.no_energy, sizeof(r.no_energy));
	if (m->json)
		result_write_json(&r, stdout);
	else
		result_print_text(&r);
	if (!m->json && m->keep)
		printf("recordings: gchintctl report %s/*.db\n", m->keep);
	code = result_export(&r);
	if (!code)
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
	measure_options_free(m);
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
	code = measure_options(m, argc, argv);
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
