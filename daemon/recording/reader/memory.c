// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory.h"

#include <stdlib.h>

#include "db.h"

bool recording_no_memory(const struct recording *rec)
{
	db_missing(rec->path, "no memory for all of it");
	return false;
}

bool recording_grow(void *array, size_t nr, size_t size)
{
	void **at = array, *more;

	if (nr && (nr & (nr - 1) || nr < 16))
		return true;
	more = realloc(*at, (nr ? nr * 2 : 16) * size);
	if (more)
		*at = more;
	return more;
}
