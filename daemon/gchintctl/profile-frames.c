// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stack of a sample, from the outermost: the program, the phase if it collects, the
 * method, then the native frames.
 */
#include <stdlib.h>

#include "../common/names.h"
#include "profile.h"

/* Phases are no names of the profile's: behind all of those. */
const char *profile_name(const struct profile *p, uint32_t name)
{
	return name < p->names ? p->name[name] : name_phase(name - (uint32_t)p->names);
}

/* Without a name, where it is. */
static struct profile_frame native_frame(const struct profile *p, const struct profile_sample *s,
					 uint64_t address)
{
	const bool kernel = address >> (sizeof(long) * 8 - 1);
	const struct profile_symbol *at = profile_symbol_at(p, kernel ? 0 : s->tgid, address, s->t);

	return (struct profile_frame){ !at			   ? PROFILE_UNKNOWN :
				       at->name != PROFILE_UNKNOWN ? at->name :
								     at->image,
				       at ? at->image : PROFILE_UNKNOWN, address };
}

size_t profile_frames(const struct profile *p, const struct profile_sample *s,
		      struct profile_frame *frame)
{
	const char *text = s->stack ? p->stack[s->stack - 1].frames : "";
	struct profile_frame native[PROFILE_DEPTH];
	size_t nr = 0, natives = 0;

	frame[nr++] = (struct profile_frame){ .name = s->process };
	if (s->answered && s->group / CLASS_NR)
		frame[nr++] = (struct profile_frame){
			.name = (uint32_t)p->names + s->group / CLASS_NR,
		};
	if (s->method >= PROFILE_FIRST && !s->compiled)
		frame[nr++] = (struct profile_frame){ .name = s->method };
	while (*text && natives < PROFILE_DEPTH - 4) {
		char *end;
		uint64_t address = strtoull(text, &end, 16);

		if (end == text)
			break;
		native[natives++] = native_frame(p, s, address);
		/* A chain that leads nowhere is one frame. */
		if (natives > 1 && native[natives - 1].name == native[natives - 2].name)
			natives--;
		text = *end ? end + 1 : end;
	}
	if (!natives)
		native[natives++] =
			(struct profile_frame){ s->symbol != PROFILE_UNKNOWN ? s->symbol : s->image,
						s->image, 0 };
	/* Frames that are nothing at the outer end say nothing. */
	while (natives > 1 && native[natives - 1].name == PROFILE_UNKNOWN)
		natives--;
	while (natives)
		frame[nr++] = native[--natives];
	return nr;
}
