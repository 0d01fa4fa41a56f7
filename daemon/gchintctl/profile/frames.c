// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stack of a sample, outermost frame first: the program, the phase of the collector if it
 * is in one, the method, then the native frames.
 */
#include <stdlib.h>
#include <string.h>

#include "../../common/names.h"
#include "profile.h"

/* Frames of a chain; the program, the phase, the method and the mark of a cut are four others. */
#define NATIVE_MAX (PROFILE_DEPTH - 4)

/* Phases are numbered after the names that the profile holds. */
const char *profile_name(const struct profile *p, uint32_t name)
{
	return name < p->names ? p->name[name] : name_phase(name - (uint32_t)p->names);
}

/* A frame without a name is named after its image. */
static struct profile_frame native_frame(const struct profile *p, const struct profile_symbol *at,
					 uint64_t address, bool kernel)
{
	struct profile_frame frame = {
		.kind = kernel ? PROFILE_KERNEL : PROFILE_NATIVE,
		.name = at ? at->name : PROFILE_UNKNOWN,
		.image = at ? at->image : PROFILE_UNKNOWN,
		.address = address,
		.at = at,
	};

	if (frame.name == PROFILE_UNKNOWN)
		frame.name = frame.image;
	else if (!strcmp(p->name[frame.image], PROFILE_METHODS))
		frame.kind = PROFILE_METHOD;
	return frame;
}

/* The symbol at an address of a sample's call chain; NULL if none is known. */
static const struct profile_symbol *chain_symbol(const struct profile *p,
						 const struct profile_sample *s, uint64_t address)
{
	const bool kernel = profile_is_kernel(address);
	const int32_t tgid = kernel ? 0 : s->tgid;
	const struct profile_symbol *at = profile_symbol_at(p, tgid, address, s->t);

	/* Recordings of older versions have names of return addresses. */
	if (!at)
		at = profile_symbol_at(p, tgid, address + 1, s->t);
	return at;
}

/* Appends a frame; those of the same name in sequence are one, such as unresolved ones. */
static size_t native_append(struct profile_frame *native, size_t natives,
			    struct profile_frame frame)
{
	if (natives && native[natives - 1].name == frame.name) {
		native[natives - 1].inlined = frame.inlined;
		return natives;
	}
	native[natives] = frame;
	return natives + 1;
}

/* Appends the frames at an address: the functions inlined there, then the one around them. */
static size_t native_append_at(const struct profile *p, const struct profile_symbol *at,
			       uint64_t address, bool kernel, struct profile_frame *native,
			       size_t natives)
{
	for (uint32_t i = 0; at && i < at->inlines && natives < NATIVE_MAX; i++) {
		struct profile_frame frame =
			native_frame(p, &p->inlined[at->inlined - 1 + i], address, kernel);

		frame.inlined = at->inlines - 1 - i;
		/* A function has several names; tables show that of the symbol. */
		if (!frame.inlined && at->name != PROFILE_UNKNOWN)
			frame.name = at->name;
		natives = native_append(native, natives, frame);
	}
	if (!at || !at->inlines)
		natives = native_append(native, natives, native_frame(p, at, address, kernel));
	return natives;
}

/* The frames of a sample without a call chain. */
static size_t native_append_only(const struct profile *p, const struct profile_sample *s,
				 struct profile_frame *native)
{
	const struct profile_symbol *at = s->place ? &p->symbol[s->place - 1] : NULL;
	const size_t natives = native_append_at(p, at, 0, s->kernel, native, 0);

	if (!at)
		native[0].name = native[0].image = s->image;
	return natives;
}

size_t profile_frames(const struct profile *p, const struct profile_sample *s,
		      struct profile_frame *frame)
{
	struct profile_chain chain = { .text = s->stack ? p->stack[s->stack - 1].frames : "" };
	struct profile_frame native[PROFILE_DEPTH];
	size_t nr = 0, natives = 0;
	uint64_t address;

	frame[nr++] = (struct profile_frame){ .kind = PROFILE_PROGRAM, .name = s->process };
	if (s->answered && s->group / CLASS_NR)
		frame[nr++] = (struct profile_frame){
			.kind = PROFILE_PHASE,
			.name = (uint32_t)p->names + s->group / CLASS_NR,
		};
	if (s->method >= PROFILE_FIRST && !s->compiled)
		frame[nr++] = (struct profile_frame){ .kind = PROFILE_METHOD, .name = s->method };
	while (natives < NATIVE_MAX && profile_chain_next(&chain, &address))
		natives = native_append_at(p, chain_symbol(p, s, address), address,
					   profile_is_kernel(address), native, natives);
	if (!natives)
		natives = native_append_only(p, s, native);
	if (*chain.text == '+')
		native[natives++] = (struct profile_frame){
			.kind = PROFILE_NATIVE,
			.name = p->cut,
			.image = PROFILE_UNKNOWN,
		};
	/* Unknown frames at the outer end carry no information. */
	while (natives > 1 && native[natives - 1].name == PROFILE_UNKNOWN)
		natives--;
	while (natives)
		frame[nr++] = native[--natives];
	return nr;
}
