// SPDX-License-Identifier: GPL-2.0-or-later
#include "place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/hint/tracker.h"
#include "../../daemon/source/metrics.h"
#include "../../daemon/source/sensor/rail.h"
#include "faults.h"
#include "records.h"
#include "unit.h"

bool place_enter(struct place *p)
{
	strcpy(p->dir, "/tmp/gchint-unit.XXXXXX");
	p->before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->before >= 0 && mkdtemp(p->dir) && !chdir(p->dir))
		return true;
	CHECK(false, "a folder of its own");
	return false;
}

void place_leave(struct place *p)
{
	if (fchdir(p->before))
		abort();
	close(p->before);
	unit_remove(p->dir);
}

void place_file(const char *path, const char *text)
{
	char folder[300];
	FILE *f;

	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		mkdir(folder, 0755);
	}
	f = fopen(path, "w");
	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

void place_gone(const char *path)
{
	if (remove(path))
		unit_remove(path);
}

const char *place_line(const char *path)
{
	static char line[256];
	FILE *f = fopen(path, "r");

	if (!f)
		return "none";
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

void place_context(struct source_context *context)
{
	*context = (struct source_context){ .root = { "sys", "proc", "trace", "debug", "dev" } };
	context->loop = loop_new();
	context->queue = queue_new(8192);
	context->metrics = metrics_new();
	context->tracker = tracker_new(context);
	config_defaults(&context->config);
	watched_forget();
}

void place_context_free(struct source_context *context)
{
	watched_forget();
	rails_forget(context);
	tracker_free(context->tracker);
	metrics_free(context->metrics);
	queue_free(context->queue);
	loop_free(context->loop);
}

void *place_start(struct source_context *context, enum source_id id)
{
	void *state = NULL;

	watched_forget();
	faults.at_ns = 1000;
	faults.ahead_ns = 0;
	CHECK(!source_table[id]->start(context, &state), "a source of rails starts");
	return state;
}

void place_stop(enum source_id id, void *state)
{
	source_table[id]->stop(state);
	CHECK(!watched_open(), "nothing of it is waited for");
}

void place_low(bool low)
{
	static int kept = -1;

	if (low) {
		kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 200);
		close(STDIN_FILENO);
	} else if (kept >= 0) {
		dup2(kept, STDIN_FILENO);
		close(kept);
		kept = -1;
	}
}

const char *place_probe(const struct source *source, const struct source_context *context)
{
	static char text[600];
	struct probe p = { "", "" };
	int ret = source->probe(context, &p);

	snprintf(text, sizeof(text), "%d '%s' '%s'", ret, p.what, p.remedy);
	return text;
}
