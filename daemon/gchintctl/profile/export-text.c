// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exports profiles in the format of speedscope, and as the output of perf-script(1), which
 * stackcollapse-perf and inferno read.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../../common/escape.h"
#include "profile.h"

#define PHASE_IMAGE "[phases]"

/* Processes in the order of their first samples. */
struct processes {
	int32_t *tgid;
	size_t nr;
};

/* Returns true if the process was added; false if it is known already, or without memory. */
static bool processes_add(struct processes *known, int32_t tgid)
{
	int32_t *more;

	for (size_t i = known->nr; i-- > 0;)
		if (known->tgid[i] == tgid)
			return false;
	more = realloc(known->tgid, (known->nr + 1) * sizeof(*more));
	if (!more)
		return false;
	known->tgid = more;
	known->tgid[known->nr++] = tgid;
	return true;
}

static void speedscope_write_samples(const struct profile *p, int32_t tgid, FILE *f)
{
	struct profile_frame frame[PROFILE_DEPTH];
	size_t n = 0;

	for (size_t i = 0; i < p->samples; i++) {
		size_t nr;

		if (p->sample[i].tgid != tgid)
			continue;
		nr = profile_frames(p, &p->sample[i], frame);
		fputs(n++ ? ",[" : "[", f);
		for (size_t k = 0; k < nr; k++)
			fprintf(f, k ? ",%u" : "%u", frame[k].name);
		fputc(']', f);
	}
	fputs("],\"weights\":[", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, i ? ",%.9g" : "%.9g", p->seconds);
	fprintf(f, "],\"startValue\":0,\"endValue\":%.9g}", (double)n * p->seconds);
}

void profile_speedscope(const struct profile *p, FILE *f)
{
	const size_t names = p->names + GCHINT_PHASE_NR;
	struct processes known = { NULL, 0 };

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":\"", f);
	escape_json(f, p->rec->label);
	fputs("\",\"exporter\":\"gchintctl\",\"shared\":{\"frames\":[", f);
	for (size_t i = 0; i < names; i++) {
		fputs(i ? ",{\"name\":\"" : "{\"name\":\"", f);
		escape_json(f, profile_name(p, (uint32_t)i));
		fputs("\"}", f);
	}
	fputs("]},\"profiles\":[", f);
	for (size_t i = 0; i < p->samples; i++) {
		const struct profile_sample *s = &p->sample[i];

		if (!processes_add(&known, s->tgid))
			continue;
		fputs(known.nr > 1 ? ",{\"type\":\"sampled\",\"name\":\"" :
				     "{\"type\":\"sampled\",\"name\":\"",
		      f);
		escape_json(f, p->name[s->process]);
		fprintf(f, " %d\",\"unit\":\"seconds\",\"samples\":[", s->tgid);
		speedscope_write_samples(p, s->tgid, f);
	}
	fputs("]}\n", f);
	free(known.tgid);
}

/* Readers of perf-script end a symbol at '(' and separate words by blanks. */
static void script_write_symbol(const char *name, FILE *f)
{
	for (; *name; name++)
		fputc(*name == '(' ? '[' : *name == ')' ? ']' : *name == '\n' ? ' ' : *name, f);
}

static void script_write_word(const char *name, FILE *f)
{
	for (; *name; name++)
		fputc(*name == ' ' || *name == '\n' || *name == '(' || *name == ')' ? '_' : *name,
		      f);
}

static void script_write_stack(const struct profile *p, const struct profile_sample *s, FILE *f)
{
	struct profile_frame frame[PROFILE_DEPTH];
	size_t nr = profile_frames(p, s, frame);

	/* From the innermost frame; frame 0 is the program, which the line above names. */
	while (nr-- > 1) {
		const struct profile_frame *at = &frame[nr];

		fprintf(f, "\t%16" PRIx64 " ", at->address);
		script_write_symbol(
			at->name == PROFILE_UNKNOWN ? "[unknown]" : profile_name(p, at->name), f);
		fputs(" (", f);
		script_write_word(at->kind == PROFILE_PHASE    ? PHASE_IMAGE :
				  at->image != PROFILE_UNKNOWN ? p->name[at->image] :
				  at->address		       ? "[unknown]" :
								 PROFILE_METHODS,
				  f);
		fputs(")\n", f);
	}
}

void profile_script(const struct profile *p, FILE *f)
{
	for (size_t i = 0; i < p->samples; i++) {
		const struct profile_sample *s = &p->sample[i];

		script_write_word(p->name[s->process], f);
		fprintf(f, " %d/%d", s->tgid, s->tid);
		if (s->cpu >= 0)
			fprintf(f, " [%03d]", s->cpu);
		fprintf(f, " %" PRIu64 ".%06" PRIu64 ": %.0f ", s->t / 1000000000,
			s->t / 1000 % 1000000, p->seconds * 1e9);
		script_write_word(*p->event ? p->event : "samples", f);
		fputs(": \n", f);
		script_write_stack(p, s, f);
		fputc('\n', f);
	}
}
