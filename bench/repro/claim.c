// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "repro/claim.h"

#include "lib/quiet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S    240
#define MAX_SETTINGS 24
#define KEPT	     512

struct effort effort = { .runs = 3 };

static const struct alteration *altered;
static unsigned int epoch = 1;

/* Finished runs by their request, which includes the control in force. */
static struct {
	char key[640];
	struct run_result result;
} * kept;
static size_t keeping;

size_t claim_terms(const struct claim *claim)
{
	size_t n = 0;

	while (n < CLAIM_TERMS && claim->term[n].name)
		n++;
	return n;
}

void outcome_init(struct outcome *o, const struct claim *claim)
{
	memset(o, 0, sizeof(*o));
	o->claim = claim;
	for (size_t i = 0; i < CLAIM_TERMS; i++)
		o->figure[i] = NAN;
}

void found(struct outcome *o, const char *name, double figure)
{
	for (size_t i = 0; i < claim_terms(o->claim); i++) {
		if (!strcmp(o->claim->term[i].name, name)) {
			o->figure[i] = figure;
			return;
		}
	}
	fprintf(stderr, "gchint-repro: %s declares no term '%s'\n", o->claim->id, name);
	abort();
}

static void text_append(char *text, size_t size, const char *format, va_list args)
{
	size_t used = strlen(text);

	vsnprintf(text + used, size - used, format, args);
}

void ours(struct outcome *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_append(o->ours, sizeof(o->ours), format, args);
	va_end(args);
}

void failed(struct outcome *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_append(o->error, sizeof(o->error), format, args);
	va_end(args);
	o->failed = true;
}

void probe_alter(const struct alteration *alteration)
{
	altered = alteration;
	epoch++;
}

unsigned int probe_epoch(void)
{
	return epoch;
}

/* @text with every whole word of the alteration replaced. Words end at ',', ' ' or the end. */
static void text_alter(struct outcome *o, const char *text, char *out, size_t size)
{
	size_t length = altered && altered->from ? strlen(altered->from) : 0, used = 0;
	bool start = true;

	while (*text && used + 1 < size) {
		if (length && start && !strncmp(text, altered->from, length) &&
		    strchr(", ", text[length])) {
			used += (size_t)snprintf(out + used, size - used, "%s", altered->to);
			used = used < size ? used : size - 1;
			text += length;
			o->altered++;
			start = false;
			continue;
		}
		start = strchr(", ", *text);
		out[used++] = *text++;
	}
	out[used] = 0;
}

void probe_setting(struct outcome *o, const char *setting, char *out, size_t size)
{
	text_alter(o, setting ? setting : "", out, size);
	if (altered && !altered->from) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, "%s%s", used ? " " : "", altered->to);
		o->altered++;
	}
}

static bool run_words(struct outcome *o, const char *workload, const char *profile, char *setting,
		      const char *options, struct run_result *r)
{
	const char *list[MAX_SETTINGS];
	struct run_request q = {
		.workload = workload,
		.setting = list,
		.options = options,
		.timeout_s = TIMEOUT_S,
	};
	char path[600], *save = NULL;

	for (char *word = strtok_r(setting, " ", &save); word && q.settings < MAX_SETTINGS;
	     word = strtok_r(NULL, " ", &save))
		list[q.settings++] = word;
	if (*profile) {
		snprintf(path, sizeof(path), "%s/%s.profile", PROFILE_DIR, profile);
		q.profile = path;
	}
	if (!run_isolated(&q, r))
		return true;
	failed(o, "%s %s with %s: %s", workload, profile, options, r->error);
	return false;
}

static bool run_probe(struct outcome *o, const char *workload, const char *profile,
		      const char *setting, const char *options, bool keep, struct run_result *r)
{
	char words[256], heap[256], name[32], key[640];

	probe_setting(o, setting, words, sizeof(words));
	text_alter(o, options, heap, sizeof(heap));
	text_alter(o, profile ? profile : "", name, sizeof(name));
	if (!keep)
		return run_words(o, workload, name, words, heap, r);
	snprintf(key, sizeof(key), "%s|%s|%s|%s", workload, name, words, heap);
	for (size_t i = 0; i < keeping; i++) {
		if (!strcmp(kept[i].key, key)) {
			*r = kept[i].result;
			return true;
		}
	}
	if (!run_words(o, workload, name, words, heap, r))
		return false;
	if (!kept)
		kept = calloc(KEPT, sizeof(*kept));
	if (kept && keeping < KEPT) {
		memcpy(kept[keeping].key, key, sizeof(key));
		kept[keeping++].result = *r;
	}
	return true;
}

bool probe(struct outcome *o, const char *workload, const char *profile, const char *setting,
	   const char *options, struct run_result *r)
{
	return run_probe(o, workload, profile, setting, options, true, r);
}

bool probe_again(struct outcome *o, const char *workload, const char *profile, const char *setting,
		 const char *options, struct run_result *r)
{
	return run_probe(o, workload, profile, setting, options, false, r);
}

bool probe_least(struct outcome *o, const char *workload, const char *profile, const char *setting,
		 const char *options, struct run_result *r)
{
	struct run_result once;
	bool quiet = false;

	r->cpu_ms = INFINITY;
	for (unsigned int i = 0; i < effort.runs; i++) {
		if (!probe_again(o, workload, profile, setting, options, &once))
			return false;
		quiet = quiet || quiet_ok(once.foreign);
		if (once.cpu_ms < r->cpu_ms)
			*r = once;
	}
	o->disturbed = o->disturbed || !quiet;
	return true;
}
