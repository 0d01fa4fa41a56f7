// SPDX-License-Identifier: GPL-2.0-or-later
/* Everything around the tables of a profile for the Firefox Profiler. */
#include "firefox.h"

#include <stdlib.h>

#include "../../common/names.h"
#include "../../recording/reader/db.h"

/*
 * Newer profilers convert older versions. From this version on, counters describe how they are
 * displayed.
 */
#define PROCESSED_VERSION 63

double firefox_ms(const struct recording *rec, uint64_t t)
{
	return recording_seconds(rec, t) * 1e3;
}

static void schema_write(struct json *j, const char *name, const char *label,
			 const char *const (*fields)[3])
{
	json_object(j, NULL);
	json_text(j, "name", name);
	json_text(j, "tooltipLabel", label);
	json_text(j, "tableLabel", label);
	json_text(j, "chartLabel", label);
	json_list(j, "display");
	json_text(j, NULL, "marker-chart");
	json_text(j, NULL, "marker-table");
	json_text(j, NULL, "timeline-overview");
	json_end(j);
	json_list(j, "fields");
	for (; (*fields)[0]; fields++) {
		json_object(j, NULL);
		json_text(j, "key", (*fields)[0]);
		json_text(j, "label", (*fields)[1]);
		json_text(j, "format", (*fields)[2]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void schemas_write(struct json *j)
{
	static const char *const phase[][3] = { { "cause", "Cause", "string" },
						{ "cpu", "CPU", "integer" },
						{ NULL } };
	static const char *const decision[][3] = { { "policy", "Policy", "integer" },
						   { "from_mhz", "From, MHz", "decimal" },
						   { "mhz", "To, MHz", "decimal" },
						   { "latency", "Hint to request", "nanoseconds" },
						   { NULL } };
	static const char *const mark[][3] = { { "text", "Text", "string" }, { NULL } };

	json_list(j, "markerSchema");
	schema_write(j, "gc-phase", "{marker.name}", phase);
	schema_write(j, "decision", "{marker.name}", decision);
	schema_write(j, "mark", "{marker.data.text}", mark);
	json_end(j);
}

/*
 * Same order as the FIREFOX_ categories. A phase class has two subcategories per phase: in user
 * space and in the kernel.
 */
static void categories_write(struct json *j)
{
	static const char *const list[FIREFOX_CATEGORIES][2] = {
		{ "Other", "grey" },	     { "Concurrent", "green" }, { "Foreground", "orange" },
		{ "Stop the world", "red" }, { "Urgent", "magenta" },	{ "Governor", "blue" },
		{ "Method", "yellow" },	     { "Native", "lightblue" }, { "Kernel", "purple" },
	};
	char text[64];

	json_list(j, "categories");
	for (size_t i = 0; i < FIREFOX_CATEGORIES; i++) {
		json_object(j, NULL);
		json_text(j, "name", list[i][0]);
		json_text(j, "color", list[i][1]);
		json_list(j, "subcategories");
		json_text(j, NULL, "Other");
		for (uint32_t n = 1; i < CLASS_NR && n < GCHINT_PHASE_NR; n++) {
			json_text(j, NULL, name_phase(n));
			snprintf(text, sizeof(text), "%s, in the kernel", name_phase(n));
			json_text(j, NULL, text);
		}
		if (i > FIREFOX_GOVERNOR)
			json_text(j, NULL, "phase not known");
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void meta_write_text(const struct recording *rec, struct json *j, const char *key,
			    const char *meta)
{
	char text[256];

	if (db_meta(rec->db, meta, text, sizeof(text)))
		json_text(j, key, text);
}

static void meta_write(const struct recording *rec, struct json *j, double seconds)
{
	json_object(j, "meta");
	json_int(j, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_int(j, "version", 31);
	json_text(j, "product", *rec->label ? rec->label : "gchint");
	json_text(j, "importedFrom", "gchint");
	json_real(j, "interval", seconds > 0 ? seconds * 1e3 : 1, 9);
	if (seconds > 0) {
		json_object(j, "sampleUnits");
		json_text(j, "time", "ms");
		json_text(j, "eventDelay", "ms");
		json_text(j, "threadCPUDelta", "ns");
		json_end(j);
	}
	json_fixed(j, "startTime",
		   rec->began_ns != RECORDING_UNKNOWN ? (double)rec->began_ns / 1e6 : 0, 3);
	json_uint(j, "startTimeAsClockMonotonicNanosecondsSinceBoot", rec->t0);
	json_int(j, "profilingStartTime", 0);
	json_fixed(j, "profilingEndTime", firefox_ms(rec, rec->t1), 6);
	json_int(j, "processType", 0);
	json_int(j, "stackwalk", 0);
	json_bool(j, "debug", false);
	json_bool(j, "symbolicated", true);
	json_bool(j, "symbolicationNotSupported", true);
	json_bool(j, "keepProfileThreadOrder", true);
	json_text(j, "platform", "Linux");
	meta_write_text(rec, j, "oscpu", "board.kernel");
	meta_write_text(rec, j, "device", "board.model");
	meta_write_text(rec, j, "misc", "program");
	categories_write(j);
	schemas_write(j);
	json_end(j);
}

void firefox_strings(struct firefox *x)
{
	struct json *j = &x->j;
	char name[48];

	json_list(j, "stringArray");
	for (unsigned int g = 0; g < PHASE_GROUPS; g++)
		json_text(j, NULL, phase_group_name(g, name, sizeof(name)));
	for (uint32_t r = 0; r <= GCHINT_REASON_NR; r++)
		json_text(j, NULL, name_reason(r));
	json_text(j, NULL, "mark");
}

static int phase_compare_thread(const void *a, const void *b)
{
	const struct recording_phase *p = *(struct recording_phase *const *)a;
	const struct recording_phase *q = *(struct recording_phase *const *)b;

	if (p->tgid != q->tgid)
		return p->tgid < q->tgid ? -1 : 1;
	if (p->tid != q->tid)
		return p->tid < q->tid ? -1 : 1;
	return (p->t0 > q->t0) - (p->t0 < q->t0);
}

bool firefox_open(struct firefox *x, const struct recording *rec, FILE *f)
{
	*x = (struct firefox){ .rec = rec, .j = { .f = f }, .names = threads_of(rec) };
	x->phase = calloc(rec->phases + 1, sizeof(struct recording_phase *));
	if (!x->names)
		return false;
	if (!x->phase) {
		db_missing(rec->path, "no memory for its phases");
		return false;
	}
	for (size_t i = 0; i < rec->phases; i++)
		x->phase[i] = &rec->phase[i];
	qsort(x->phase, rec->phases, sizeof(struct recording_phase *), phase_compare_thread);
	return true;
}

void firefox_close(struct firefox *x)
{
	threads_free(x->names);
	free(x->phase);
}

void firefox_begin(struct firefox *x, double seconds)
{
	json_object(&x->j, NULL);
	meta_write(x->rec, &x->j, seconds);
	json_list(&x->j, "libs");
	json_end(&x->j);
}

void firefox_end(struct firefox *x)
{
	json_end(&x->j);
}
