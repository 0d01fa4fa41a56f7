// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "peers/peer.h"

#include "lib/quiet.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start and length of field @index of the CSV line at @line. */
static const char *csv_field(const char *line, size_t index, size_t *length)
{
	const char *end;

	for (;; line = end + 1) {
		if (*line == '"') {
			end = line + 1;
			while (*end && (*end != '"' || end[1] == '"'))
				end += *end == '"' ? 2 : 1;
			end += *end == '"';
		} else {
			end = line + strcspn(line, ",\n");
		}
		if (!index--) {
			*length = (size_t)(end - line);
			return line;
		}
		if (*end != ',')
			return NULL;
	}
}

double peer_csv(const char *text, const char *heading)
{
	const char *row = strchr(text, '\n'), *cell, *name;
	size_t length;
	char *end;
	double value;

	if (!row)
		return NAN;
	row++;
	for (size_t i = 0; (name = csv_field(text, i, &length)); i++) {
		if (length != strlen(heading) || strncmp(name, heading, length))
			continue;
		cell = csv_field(row, i, &length);
		if (!cell || !length)
			return NAN;
		value = strtod(cell, &end);
		return end == cell + length ? value : NAN;
	}
	return NAN;
}

void peer_safepoints(const char *path, double *total_ms, double *longest_ms)
{
	FILE *f = fopen(path, "re");
	char line[512];

	*total_ms = *longest_ms = NAN;
	if (!f)
		return;
	*total_ms = *longest_ms = 0;
	while (fgets(line, sizeof(line), f)) {
		const char *total = strstr(line, "Total:");
		double ms;

		if (!strstr(line, "Safepoint ") || !total)
			continue;
		ms = strtod(total + strlen("Total:"), NULL) / 1e6;
		*total_ms += ms;
		*longest_ms = fmax(*longest_ms, ms);
	}
	fclose(f);
}

static void run_set_unknown(struct peer_run *run)
{
	memset(run, 0, sizeof(*run));
	run->score_ms = run->cpu_ms = run->foreign = run->gc_cpu_ms = run->stop_total_ms = NAN;
	run->stop_max_ms = run->pause_max_ms = run->heap_mib = run->collections = NAN;
	run->bytes = run->objects = run->checksum = NAN;
	run->system_ms = run->faults = NAN;
}

static int run_set_failed(struct peer_run *run, int code, const char *text)
{
	run_set_unknown(run);
	run->code = code;
	snprintf(run->error, sizeof(run->error), "%s", text);
	run->error[strcspn(run->error, "\n")] = 0;
	return code;
}

/* The child's output goes to files: a pipe could fill while the parent waits. */
static pid_t peer_start(const struct peer *peer, unsigned int timeout_s, FILE *out, FILE *err)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(err), STDERR_FILENO);
	setpgid(0, 0);
	alarm(timeout_s); /* survives exec; a JVM does not catch it */
	execvp(peer->argv[0], (char *const *)peer->argv);
	fprintf(stderr, "%s: %s\n", peer->argv[0], strerror(errno));
	_exit(127);
}

static void file_read_text(FILE *f, char *text, size_t size)
{
	size_t n;

	rewind(f);
	n = fread(text, 1, size - 1, f);
	text[n] = 0;
}

static double timeval_ms(const struct timeval *t)
{
	return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

static void read_figures(const struct peer *peer, const char *text, struct peer_run *run)
{
	run->score_ms = peer_csv(text, "score_ms");
	run->gc_cpu_ms = peer_csv(text, "gc_cpu_ms");
	run->stop_total_ms = peer_csv(text, "stw_total_ms");
	run->stop_max_ms = peer_csv(text, "stw_max_ms");
	run->pause_max_ms = peer_csv(text, "max_pause_ms");
	run->heap_mib = peer_csv(text, "heap_mib");
	run->collections = peer_csv(text, "collections");
	run->bytes = peer_csv(text, "asked_bytes");
	run->objects = peer_csv(text, "asked_objects");
	run->checksum = peer_csv(text, "checksum");
	if (peer->safepoint_log)
		peer_safepoints(peer->safepoint_log, &run->stop_total_ms, &run->stop_max_ms);
	/* Where only a stopped world delays a mutator, the longest stop is its longest pause. */
	if (isnan(run->pause_max_ms))
		run->pause_max_ms = run->stop_max_ms;
}

int peer_run(const struct peer *peer, unsigned int timeout_s, struct peer_run *run)
{
	FILE *out = tmpfile(), *err = tmpfile();
	static char text[1 << 16];
	struct quiet quiet;
	struct rusage usage;
	int status = 0;
	bool guarded;
	pid_t pid;

	run_set_unknown(run);
	if (!out || !err) {
		run_set_failed(run, -errno, "cannot make a temporary file");
		goto close;
	}
	if (peer->safepoint_log)
		unlink(peer->safepoint_log);
	guarded = !quiet_begin(&quiet);
	pid = peer_start(peer, timeout_s, out, err);
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0) {
		run_set_failed(run, -errno, "cannot start it");
		goto close;
	}
	if (WIFSIGNALED(status) || WEXITSTATUS(status)) {
		file_read_text(err, text, sizeof(text));
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
			snprintf(text, sizeof(text), "not over after %u s", timeout_s);
		run_set_failed(run, -ECHILD, *text ? text : "ended badly and said nothing");
		goto close;
	}
	file_read_text(out, text, sizeof(text));
	run->cpu_ms = timeval_ms(&usage.ru_utime) + timeval_ms(&usage.ru_stime);
	run->system_ms = timeval_ms(&usage.ru_stime);
	run->faults = (double)(usage.ru_minflt + usage.ru_majflt);
	run->foreign = guarded ? quiet_end(&quiet) : NAN;
	read_figures(peer, text, run);
	if (isnan(run->score_ms))
		run_set_failed(run, -EPROTO, "printed no score");
close:
	if (out)
		fclose(out);
	if (err)
		fclose(err);
	return run->code;
}

void peer_rounds(const struct peer *peer, struct peer_series *series, size_t count, size_t rounds,
		 unsigned int timeout_s, void (*say)(const char *what, size_t round))
{
	if (rounds > PEER_ROUNDS_MAX)
		rounds = PEER_ROUNDS_MAX;
	for (size_t i = 0; i < count; i++) {
		series[i].rounds = rounds;
		series[i].disturbed = false;
	}
	for (size_t r = 0; r < rounds; r++) {
		for (size_t i = 0; i < count; i++) {
			struct peer_run *run = &series[i].run[r];

			if (peer[i].missing) {
				run_set_failed(run, -ENOENT, peer[i].missing);
				continue;
			}
			/* A contender that failed once is not run again. */
			if (r && series[i].run[r - 1].code) {
				*run = series[i].run[r - 1];
				continue;
			}
			for (int try = 0; try < PEER_TRIES; try++) {
				if (say)
					say(peer[i].name, r);
				if (peer_run(&peer[i], timeout_s, run) || quiet_ok(run->foreign))
					break;
			}
			if (!run->code && !quiet_ok(run->foreign))
				series[i].disturbed = true;
		}
	}
}

void peer_figures(const struct peer_series *s, size_t offset, double *out)
{
	for (size_t r = 0; r < s->rounds; r++)
		memcpy(&out[r], (const char *)&s->run[r] + offset, sizeof(*out));
}
