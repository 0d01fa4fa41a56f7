// SPDX-License-Identifier: GPL-2.0-or-later
#include "demangle.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IBERTY
#include <libiberty/demangle.h>

char *demangle(const char *name)
{
	const char *stub = strstr(name, "@plt");
	char *alone, *plain, *whole;

	/* Itanium C++ and old Rust; Rust's own. Other schemes would take names of C for theirs. */
	if (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2))
		return NULL;
	if (!stub)
		return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	alone = strndup(name, (size_t)(stub - name));
	plain = alone ? demangle(alone) : NULL;
	if (!plain || asprintf(&whole, "%s%s", plain, stub) < 0)
		whole = NULL;
	free(alone);
	free(plain);
	return whole;
}

#else

char *demangle(const char *name)
{
	(void)name;
	return NULL;
}

#endif
