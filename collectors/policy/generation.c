// SPDX-License-Identifier: MIT
#include "generation.h"

#define FADE 0.97 /* weight of a minor collection's measurements after each major collection */

bool gc_generation_end(struct gc_generation *g, bool major, double work, double kept, double room)
{
	double left;

	if (major) {
		g->minor *= FADE;
		g->kept *= FADE;
		g->work = work;
		g->room = room;
	} else {
		g->minor = work;
		g->kept = kept;
		g->work += work;
		g->room += room;
	}
	left = room - g->kept;
	return left <= 0 || g->minor / left > g->work / g->room;
}
