// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exports profiles in the format of pprof (github.com/google/pprof, proto/profile.proto), which
 * Pyroscope, Parca and Go's tools read. Phase, program and thread are labels of a sample, so that a
 * back end can select by them; methods that the thread reported are the callers of native code.
 */
#include <math.h>
#include <stdlib.h>

#include "../../common/protobuf.h"
#include "../ctl.h"
#include "profile.h"
#include "sample-energy.h"
#include "tuple-table.h"

/* Numbers of the fields of each message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,

	TYPE_TYPE = 1,
	TYPE_UNIT = 2,

	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,

	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,

	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,

	LINE_FUNCTION = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

/* Strings that are no names of the profile; the first one has to be empty. */
enum text {
	TEXT_EMPTY,
	TEXT_SAMPLES,
	TEXT_COUNT,
	TEXT_CPU,
	TEXT_NANOSECONDS,
	TEXT_ENERGY,
	TEXT_MICROJOULES,
	TEXT_PHASE,
	TEXT_NONE,
	TEXT_PROGRAM,
	TEXT_PID,
	TEXT_THREAD,
	TEXT_UNKNOWN,
	TEXT_METHOD,
	TEXT_COMMENT,
	TEXT_NR
};

/* A location is a function in a file at a line; each is a function of its own to the reader. */
enum {
	AT_NAME,
	AT_IMAGE,
	AT_FILE,
	AT_LINE,
	AT_NR
};

struct pprof {
	const struct profile *p;
	const struct profile_energy *e; /* NULL: no energy is known */
	bool timed; /* it is known for how much CPU time a sample is */
	struct tuples locations, images;
	struct wire w;
	FILE *f;
	bool failed;
};

/* The index of a name of the profile in the table of strings. */
static uint64_t text_of_name(uint32_t name)
{
	return (uint64_t)TEXT_NR + name;
}

/* One message of the profile is in memory at a time. */
static size_t message_begin(struct pprof *x, uint32_t field)
{
	wire_clear(&x->w);
	return wire_begin(&x->w, field);
}

static void message_end(struct pprof *x, size_t at)
{
	wire_end(&x->w, at);
	if (!x->w.broken)
		fwrite(x->w.data, 1, x->w.nr, x->f);
}

static void number_write(struct pprof *x, uint32_t field, uint64_t number)
{
	wire_clear(&x->w);
	wire_uint(&x->w, field, number);
	if (!x->w.broken)
		fwrite(x->w.data, 1, x->w.nr, x->f);
}

static void type_write(struct pprof *x, uint32_t field, enum text type, enum text unit)
{
	const size_t at = message_begin(x, field);

	wire_uint(&x->w, TYPE_TYPE, type);
	wire_uint(&x->w, TYPE_UNIT, unit);
	message_end(x, at);
}

static void label_write(struct pprof *x, enum text key, uint64_t text, uint64_t number)
{
	const size_t at = wire_begin(&x->w, SAMPLE_LABEL);

	wire_uint(&x->w, LABEL_KEY, key);
	if (text)
		wire_uint(&x->w, LABEL_TEXT, text);
	else
		wire_uint(&x->w, LABEL_NUMBER, number);
	wire_end(&x->w, at);
}

/* Identifiers begin with 1. Returns 0 without memory. */
static uint64_t location_of(struct pprof *x, const struct profile_frame *frame)
{
	const uint32_t tuple[AT_NR] = {
		[AT_NAME] = frame->name,
		[AT_IMAGE] = frame->image,
		[AT_FILE] = frame->at ? frame->at->file : PROFILE_UNKNOWN,
		[AT_LINE] = frame->at && frame->at->line > 0 ? (uint32_t)frame->at->line : 0,
	};
	const uint32_t location = tuples_enter(&x->locations, tuple);

	if (location == TUPLES_FULL || (frame->image != PROFILE_UNKNOWN &&
					tuples_enter(&x->images, &frame->image) == TUPLES_FULL)) {
		x->failed = true;
		return 0;
	}
	return (uint64_t)location + 1;
}

/* Energy that is not known is no value, but a value is wanted: a label marks such samples. */
static void sample_write(struct pprof *x, size_t index)
{
	const struct profile *p = x->p;
	const struct profile_sample *s = &p->sample[index];
	struct profile_frame frame[PROFILE_DEPTH];
	const size_t nr = profile_frames(p, s, frame), at = message_begin(x, PROFILE_SAMPLE);
	const double joules = x->e ? x->e->joules[index] : 0;
	uint64_t phase = s->answered ? TEXT_NONE : TEXT_UNKNOWN;
	size_t locations = 0;

	for (size_t i = nr; i-- > 1;) {
		if (frame[i].kind == PROFILE_PHASE) {
			phase = text_of_name(frame[i].name);
			continue;
		}
		wire_uint(&x->w, SAMPLE_LOCATION, location_of(x, &frame[i]));
		locations++;
	}
	/* Nothing is known of it but the program. */
	if (!locations)
		wire_uint(&x->w, SAMPLE_LOCATION, location_of(x, &frame[0]));
	wire_uint(&x->w, SAMPLE_VALUE, 1);
	if (x->timed)
		wire_uint(&x->w, SAMPLE_VALUE, (uint64_t)llround(p->seconds * 1e9));
	if (x->e)
		wire_uint(&x->w, SAMPLE_VALUE, isnan(joules) ? 0 : (uint64_t)llround(joules * 1e6));
	label_write(x, TEXT_PHASE, phase, 0);
	label_write(x, TEXT_PROGRAM, text_of_name(s->process), 0);
	if (s->method >= PROFILE_FIRST)
		label_write(x, TEXT_METHOD, text_of_name(s->method), 0);
	if (s->tgid > 0)
		label_write(x, TEXT_PID, 0, (uint64_t)s->tgid);
	if (s->tid > 0)
		label_write(x, TEXT_THREAD, 0, (uint64_t)s->tid);
	if (x->e && isnan(joules))
		label_write(x, TEXT_ENERGY, TEXT_UNKNOWN, 0);
	message_end(x, at);
}

static void locations_write(struct pprof *x)
{
	size_t at, line;

	for (size_t i = 0; i < x->images.nr; i++) {
		at = message_begin(x, PROFILE_MAPPING);
		wire_uint(&x->w, MAPPING_ID, i + 1);
		wire_uint(&x->w, MAPPING_FILE, text_of_name(*tuples_at(&x->images, i)));
		wire_uint(&x->w, MAPPING_HAS_FUNCTIONS, 1);
		message_end(x, at);
	}
	for (size_t i = 0; i < x->locations.nr; i++) {
		const uint32_t *tuple = tuples_at(&x->locations, i);

		at = message_begin(x, PROFILE_LOCATION);
		wire_uint(&x->w, LOCATION_ID, i + 1);
		if (tuple[AT_IMAGE] != PROFILE_UNKNOWN)
			wire_uint(&x->w, LOCATION_MAPPING,
				  (uint64_t)tuples_enter(&x->images, &tuple[AT_IMAGE]) + 1);
		line = wire_begin(&x->w, LOCATION_LINE);
		wire_uint(&x->w, LINE_FUNCTION, i + 1);
		if (tuple[AT_LINE])
			wire_uint(&x->w, LINE_LINE, tuple[AT_LINE]);
		wire_end(&x->w, line);
		message_end(x, at);
		at = message_begin(x, PROFILE_FUNCTION);
		wire_uint(&x->w, FUNCTION_ID, i + 1);
		wire_uint(&x->w, FUNCTION_NAME, text_of_name(tuple[AT_NAME]));
		wire_uint(&x->w, FUNCTION_SYSTEM_NAME, text_of_name(tuple[AT_NAME]));
		if (tuple[AT_FILE] != PROFILE_UNKNOWN)
			wire_uint(&x->w, FUNCTION_FILE, text_of_name(tuple[AT_FILE]));
		message_end(x, at);
	}
}

static void text_write(struct pprof *x, const char *text)
{
	wire_clear(&x->w);
	wire_text(&x->w, PROFILE_STRING, text);
	if (!x->w.broken)
		fwrite(x->w.data, 1, x->w.nr, x->f);
}

static void texts_write(struct pprof *x)
{
	const char *const fixed[TEXT_NR] = {
		[TEXT_EMPTY] = "",
		[TEXT_SAMPLES] = "samples",
		[TEXT_COUNT] = "count",
		[TEXT_CPU] = "cpu",
		[TEXT_NANOSECONDS] = "nanoseconds",
		[TEXT_ENERGY] = "energy",
		[TEXT_MICROJOULES] = "microjoules",
		[TEXT_PHASE] = "phase",
		[TEXT_NONE] = "none",
		[TEXT_PROGRAM] = "program",
		[TEXT_PID] = "pid",
		[TEXT_THREAD] = "thread",
		[TEXT_UNKNOWN] = "unknown",
		[TEXT_METHOD] = "method",
		[TEXT_COMMENT] = x->p->rec->label,
	};

	for (size_t i = 0; i < TEXT_NR; i++)
		text_write(x, fixed[i]);
	for (size_t i = 0; i < x->p->names + GCHINT_PHASE_NR; i++)
		text_write(x, profile_name(x->p, (uint32_t)i));
}

static void profile_write_pprof(struct pprof *x)
{
	const struct recording *rec = x->p->rec;

	type_write(x, PROFILE_SAMPLE_TYPE, TEXT_SAMPLES, TEXT_COUNT);
	if (x->timed)
		type_write(x, PROFILE_SAMPLE_TYPE, TEXT_CPU, TEXT_NANOSECONDS);
	if (x->e)
		type_write(x, PROFILE_SAMPLE_TYPE, TEXT_ENERGY, TEXT_MICROJOULES);
	for (size_t i = 0; i < x->p->samples && !x->failed; i++)
		sample_write(x, i);
	locations_write(x);
	texts_write(x);
	if (rec->began_ns != RECORDING_UNKNOWN)
		number_write(x, PROFILE_TIME_NANOS, (uint64_t)rec->began_ns);
	number_write(x, PROFILE_DURATION_NANOS, rec->t1 - rec->t0);
	if (x->timed) {
		type_write(x, PROFILE_PERIOD_TYPE, TEXT_CPU, TEXT_NANOSECONDS);
		number_write(x, PROFILE_PERIOD, (uint64_t)llround(x->p->seconds * 1e9));
	}
	if (*rec->label)
		number_write(x, PROFILE_COMMENT, TEXT_COMMENT);
	number_write(x, PROFILE_DEFAULT_TYPE, x->timed ? TEXT_CPU : TEXT_SAMPLES);
}

int profile_pprof(const struct profile *p, FILE *f)
{
	struct profile_energy e = { 0 };
	struct pprof x = { .p = p,
			   .timed = p->seconds > 0,
			   .locations = { .width = AT_NR },
			   .images = { .width = 1 },
			   .f = f };
	int ret = CTL_FAILED;

	if (profile_energy(p, &e)) {
		x.e = e.how ? &e : NULL;
		profile_write_pprof(&x);
		if (x.failed || x.w.broken)
			ctl_error("profile export: no memory");
		else
			ret = CTL_OK;
	}
	profile_energy_free(&e);
	tuples_free(&x.locations);
	tuples_free(&x.images);
	wire_free(&x.w);
	return ret;
}
