// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "repro/claim.h"

#include "lib/quiet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S    120
#define MAX_SETTINGS 24

unsigned int repro_runs = 3;

static void append(char *text, size_t size, const char *format, va_list args)
{
	size_t used = strlen(text);

	vsnprintf(text + used, size - used, format, args);
}

void ours(struct outcome *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(o->ours, sizeof(o->ours), format, args);
	va_end(args);
}

void why(struct outcome *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(o->why, sizeof(o->why), format, args);
	va_end(args);
}

void decide(struct outcome *o, bool full, bool shape)
{
	o->verdict = full ? VERDICT_REPRODUCES : shape ? VERDICT_SHAPE : VERDICT_DOES_NOT;
}

bool probe(struct outcome *o, const char *workload, const char *profile, const char *setting,
	   const char *options, struct run_result *r)
{
	char path[600], copy[512], *save = NULL;
	const char *list[MAX_SETTINGS];
	struct run_request q = {
		.workload = workload,
		.setting = list,
		.options = options,
		.timeout_s = TIMEOUT_S,
	};

	snprintf(copy, sizeof(copy), "%s", setting ? setting : "");
	for (char *word = strtok_r(copy, " ", &save); word && q.settings < MAX_SETTINGS;
	     word = strtok_r(NULL, " ", &save))
		list[q.settings++] = word;
	if (profile) {
		snprintf(path, sizeof(path), "%s/%s.profile", PROFILE_DIR, profile);
		q.profile = path;
	}
	if (run_isolated(&q, r)) {
		o->verdict = VERDICT_FAILED;
		why(o, "%s %s with %s: %s", workload, profile ? profile : "", options, r->error);
		return false;
	}
	return true;
}

bool probe_least(struct outcome *o, const char *workload, const char *profile, const char *setting,
		 const char *options, struct run_result *r)
{
	struct run_result once;
	bool quiet = false;

	o->timed = true;
	r->cpu_ms = INFINITY;
	for (unsigned int i = 0; i < repro_runs; i++) {
		if (!probe(o, workload, profile, setting, options, &once))
			return false;
		quiet = quiet || quiet_ok(once.foreign);
		if (once.cpu_ms < r->cpu_ms)
			*r = once;
	}
	o->disturbed = o->disturbed || !quiet;
	return true;
}
