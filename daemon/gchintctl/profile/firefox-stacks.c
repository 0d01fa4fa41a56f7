// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The profiler colours a frame by its category. Within a GC phase this is the class of the
 * phase, which depends on what waits for it; inner frames inherit it. Outside of phases it is
 * that of methods, of native code or of the kernel.
 */
#include "firefox-stacks.h"

#include <stdlib.h>

enum {
	STACK_PREFIX,
	STACK_FRAME,
	STACK_NUMBERS
};

enum {
	FRAME_FUNC,
	FRAME_CATEGORY, /* FIREFOX_CATEGORIES: inherited from the outer frame */
	FRAME_SUBCATEGORY,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_INLINED,
	FRAME_NUMBERS
};

enum {
	FUNC_NAME,
	FUNC_RESOURCE, /* index + 1; 0: none */
	FUNC_KIND,
	FUNC_NUMBERS
};

/* Values of firefox_stacks.source: no frame of the function has a line; several files. */
#define SOURCE_NONE  UINT32_MAX
#define SOURCE_MIXED (UINT32_MAX - 1)

/* resourceTable.type */
#define RESOURCE_LIBRARY 1

void firefox_stacks_init(struct firefox_stacks *s, const struct profile *p)
{
	*s = (struct firefox_stacks){
		.p = p,
		.stacks.width = STACK_NUMBERS,
		.frames.width = FRAME_NUMBERS,
		.funcs.width = FUNC_NUMBERS,
		.resources.width = 1,
		.sources.width = 1,
	};
}

void firefox_stacks_free(struct firefox_stacks *s)
{
	tuples_free(&s->stacks);
	tuples_free(&s->frames);
	tuples_free(&s->funcs);
	tuples_free(&s->resources);
	tuples_free(&s->sources);
	free(s->source);
}

static void frame_set_category(const struct profile_sample *s, enum profile_kind kind,
			       uint32_t *frame)
{
	const uint32_t phase = s->answered ? s->group / CLASS_NR : 0;

	frame[FRAME_CATEGORY] = FIREFOX_CATEGORIES;
	frame[FRAME_SUBCATEGORY] = 0;
	if (kind == PROFILE_PROGRAM)
		return;
	if (!phase) {
		frame[FRAME_CATEGORY] = kind == PROFILE_METHOD ? FIREFOX_METHOD :
					kind == PROFILE_KERNEL ? FIREFOX_KERNEL :
								 FIREFOX_NATIVE;
		frame[FRAME_SUBCATEGORY] = s->answered ? 0 : FIREFOX_PHASE_UNKNOWN;
	} else if (kind == PROFILE_PHASE || kind == PROFILE_KERNEL) {
		frame[FRAME_CATEGORY] = s->group % CLASS_NR;
		frame[FRAME_SUBCATEGORY] =
			kind == PROFILE_PHASE ? FIREFOX_IN_PHASE(phase) : FIREFOX_IN_KERNEL(phase);
	}
}

/*
 * Methods get no resource: a method is the same function whether its runtime reported it or its
 * address was resolved.
 */
static uint32_t frame_enter_func(struct firefox_stacks *s, const struct profile_frame *f)
{
	const bool in_image = f->kind == PROFILE_NATIVE || f->kind == PROFILE_KERNEL;
	uint32_t func[FUNC_NUMBERS] = { [FUNC_NAME] = f->name, [FUNC_KIND] = f->kind };

	if (in_image && f->image != PROFILE_UNKNOWN) {
		const uint32_t resource = tuples_enter(&s->resources, &f->image);

		if (resource == TUPLES_FULL)
			return TUPLES_FULL;
		func[FUNC_RESOURCE] = resource + 1;
	}
	return tuples_enter(&s->funcs, func);
}

uint32_t firefox_stack_of(struct firefox_stacks *s, const struct profile_sample *sample)
{
	struct profile_frame frame[PROFILE_DEPTH];
	const size_t nr = profile_frames(s->p, sample, frame);
	uint32_t stack[STACK_NUMBERS] = { 0, 0 }, index = TUPLES_FULL;

	for (size_t k = 0; k < nr; k++) {
		const struct profile_symbol *at = frame[k].at;
		uint32_t row[FRAME_NUMBERS] = { frame_enter_func(s, &frame[k]) };

		if (row[FRAME_FUNC] == TUPLES_FULL)
			return TUPLES_FULL;
		frame_set_category(sample, frame[k].kind, row);
		row[FRAME_INLINED] = frame[k].inlined;
		if (at && at->line > 0) {
			row[FRAME_FILE] = at->file;
			row[FRAME_LINE] = (uint32_t)at->line;
		}
		stack[STACK_FRAME] = tuples_enter(&s->frames, row);
		if (stack[STACK_FRAME] == TUPLES_FULL)
			return TUPLES_FULL;
		index = tuples_enter(&s->stacks, stack);
		if (index == TUPLES_FULL)
			return TUPLES_FULL;
		stack[STACK_PREFIX] = index + 1;
	}
	return index;
}

/*
 * The format has one file per function, and a frame's line is a line of that file. Frames of
 * inlined code can have lines of another file; then the function's own file is unknown.
 */
static bool funcs_find_sources(struct firefox_stacks *s)
{
	s->source = malloc((s->funcs.nr + 1) * sizeof(*s->source));
	if (!s->source)
		return false;
	for (size_t i = 0; i < s->funcs.nr; i++)
		s->source[i] = SOURCE_NONE;
	for (size_t i = 0; i < s->frames.nr; i++) {
		const uint32_t *frame = tuples_at(&s->frames, i);
		uint32_t *source = &s->source[frame[FRAME_FUNC]], file;

		if (!frame[FRAME_LINE])
			continue;
		file = tuples_enter(&s->sources, &frame[FRAME_FILE]);
		if (file == TUPLES_FULL)
			return false;
		*source = *source == SOURCE_NONE || *source == file ? file : SOURCE_MIXED;
	}
	return true;
}

struct column {
	const char *name;
	void (*put)(const struct firefox_stacks *s, struct json *j, size_t row);
};

static void table_write(struct json *j, const char *name, const struct column *columns,
			const struct firefox_stacks *s, size_t rows)
{
	json_line(j);
	json_object(j, name);
	for (; columns->name; columns++) {
		json_list(j, columns->name);
		for (size_t i = 0; i < rows; i++)
			columns->put(s, j, i);
		json_end(j);
	}
	json_uint(j, "length", rows);
	json_end(j);
}

static void put_null(const struct firefox_stacks *s, struct json *j, size_t row)
{
	(void)s;
	(void)row;
	json_null(j, NULL);
}

static void put_0(const struct firefox_stacks *s, struct json *j, size_t row)
{
	(void)s;
	(void)row;
	json_int(j, NULL, 0);
}

static void put_1(const struct firefox_stacks *s, struct json *j, size_t row)
{
	(void)s;
	(void)row;
	json_int(j, NULL, 1);
}

/* The format's value for an unknown address; known ones are relative to the library. */
static void put_no_address(const struct firefox_stacks *s, struct json *j, size_t row)
{
	(void)s;
	(void)row;
	json_int(j, NULL, -1);
}

static void put_name(struct json *j, uint32_t name)
{
	json_uint(j, NULL, FIREFOX_STRINGS + (uint64_t)name);
}

static void put_frame(const struct firefox_stacks *s, struct json *j, size_t row)
{
	json_uint(j, NULL, tuples_at(&s->stacks, row)[STACK_FRAME]);
}

static void put_prefix(const struct firefox_stacks *s, struct json *j, size_t row)
{
	const uint32_t prefix = tuples_at(&s->stacks, row)[STACK_PREFIX];

	if (prefix)
		json_uint(j, NULL, prefix - 1);
	else
		json_null(j, NULL);
}

static bool frame_inherits_category(const struct firefox_stacks *s, size_t row)
{
	return tuples_at(&s->frames, row)[FRAME_CATEGORY] == FIREFOX_CATEGORIES;
}

static void put_inlined(const struct firefox_stacks *s, struct json *j, size_t row)
{
	json_uint(j, NULL, tuples_at(&s->frames, row)[FRAME_INLINED]);
}

static void put_category(const struct firefox_stacks *s, struct json *j, size_t row)
{
	if (frame_inherits_category(s, row))
		json_null(j, NULL);
	else
		json_uint(j, NULL, tuples_at(&s->frames, row)[FRAME_CATEGORY]);
}

static void put_subcategory(const struct firefox_stacks *s, struct json *j, size_t row)
{
	if (frame_inherits_category(s, row))
		json_null(j, NULL);
	else
		json_uint(j, NULL, tuples_at(&s->frames, row)[FRAME_SUBCATEGORY]);
}

static void put_func(const struct firefox_stacks *s, struct json *j, size_t row)
{
	json_uint(j, NULL, tuples_at(&s->frames, row)[FRAME_FUNC]);
}

static void put_line(const struct firefox_stacks *s, struct json *j, size_t row)
{
	const uint32_t *frame = tuples_at(&s->frames, row);

	if (frame[FRAME_LINE] && s->source[frame[FRAME_FUNC]] < SOURCE_MIXED)
		json_uint(j, NULL, frame[FRAME_LINE]);
	else
		json_null(j, NULL);
}

static void put_func_name(const struct firefox_stacks *s, struct json *j, size_t row)
{
	put_name(j, tuples_at(&s->funcs, row)[FUNC_NAME]);
}

/* The profiler's JavaScript view shows the methods. */
static void put_method(const struct firefox_stacks *s, struct json *j, size_t row)
{
	json_bool(j, NULL, tuples_at(&s->funcs, row)[FUNC_KIND] == PROFILE_METHOD);
}

/* Programs and phases stay visible around the methods in the JavaScript view. */
static void put_relevant(const struct firefox_stacks *s, struct json *j, size_t row)
{
	json_bool(j, NULL, tuples_at(&s->funcs, row)[FUNC_KIND] < PROFILE_METHOD);
}

static void put_resource(const struct firefox_stacks *s, struct json *j, size_t row)
{
	json_int(j, NULL, (int64_t)tuples_at(&s->funcs, row)[FUNC_RESOURCE] - 1);
}

static void put_source(const struct firefox_stacks *s, struct json *j, size_t row)
{
	if (s->source[row] < SOURCE_MIXED)
		json_uint(j, NULL, s->source[row]);
	else
		json_null(j, NULL);
}

static void put_image(const struct firefox_stacks *s, struct json *j, size_t row)
{
	put_name(j, *tuples_at(&s->resources, row));
}

static void put_library(const struct firefox_stacks *s, struct json *j, size_t row)
{
	(void)s;
	(void)row;
	json_int(j, NULL, RESOURCE_LIBRARY);
}

static void put_file(const struct firefox_stacks *s, struct json *j, size_t row)
{
	put_name(j, *tuples_at(&s->sources, row));
}

static const struct column stacks[] = { { "frame", put_frame }, { "prefix", put_prefix }, { 0 } };
static const struct column frames[] = {
	{ "address", put_no_address }, { "inlineDepth", put_inlined },
	{ "category", put_category },  { "subcategory", put_subcategory },
	{ "func", put_func },	       { "nativeSymbol", put_null },
	{ "innerWindowID", put_0 },    { "line", put_line },
	{ "column", put_null },	       { 0 },
};
static const struct column funcs[] = {
	{ "name", put_func_name },	   { "isJS", put_method },
	{ "relevantForJS", put_relevant }, { "resource", put_resource },
	{ "source", put_source },	   { "lineNumber", put_null },
	{ "columnNumber", put_null },	   { 0 },
};
static const struct column resources[] = {
	{ "lib", put_null },
	{ "name", put_image },
	{ "host", put_null },
	{ "type", put_library },
	{ 0 },
};
static const struct column symbols[] = {
	{ "libIndex", put_null },
	{ "address", put_null },
	{ "name", put_null },
	{ "functionSize", put_null },
	{ 0 },
};
static const struct column sources[] = {
	{ "id", put_null },	  { "filename", put_file },	{ "startLine", put_1 },
	{ "startColumn", put_1 }, { "sourceMapURL", put_null }, { 0 },
};

bool firefox_shared(struct firefox *x, struct firefox_stacks *s)
{
	struct json *j = &x->j;

	if (s && !funcs_find_sources(s))
		return false;
	json_object(j, "shared");
	firefox_strings(x);
	for (size_t i = 0; s && i < s->p->names + GCHINT_PHASE_NR; i++)
		json_text(j, NULL, profile_name(s->p, (uint32_t)i));
	json_end(j);
	table_write(j, "stackTable", stacks, s, s ? s->stacks.nr : 0);
	table_write(j, "frameTable", frames, s, s ? s->frames.nr : 0);
	table_write(j, "funcTable", funcs, s, s ? s->funcs.nr : 0);
	table_write(j, "resourceTable", resources, s, s ? s->resources.nr : 0);
	table_write(j, "nativeSymbols", symbols, s, 0);
	table_write(j, "sources", sources, s, s ? s->sources.nr : 0);
	json_end(j);
	return true;
}
