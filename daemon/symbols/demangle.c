// SPDX-License-Identifier: GPL-2.0-or-later
#include "demangle.h"

#include <stddef.h>
#include <string.h>

#ifdef HAVE_IBERTY
#include <libiberty/demangle.h>

char *demangle(const char *name)
{
	/* Itanium C++ and old Rust; Rust's own. Other schemes would take names of C for theirs. */
	if (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2))
		return NULL;
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}

#else

char *demangle(const char *name)
{
	(void)name;
	return NULL;
}

#endif
