// SPDX-License-Identifier: MIT
/* The names that the trace prints: those of the ABI in lower case. */
#include <stddef.h>

#include <gchint-names.h>
#include <gchint.h>

#include "names.h"

_Static_assert(GCHINT_NAMES(GCHINT_PHASES) == GCHINT_PHASE_NR, "a phase has no name");
_Static_assert(GCHINT_NAMES(GCHINT_CAUSES) == GCHINT_CAUSE_NR, "a cause has no name");
_Static_assert(GCHINT_NAMES(GCHINT_ROLES) == GCHINT_ROLE_NR, "a role has no name");

#define PHASE(name, word) [GCHINT_PHASE_##name] = #word,
#define CAUSE(name, word) [GCHINT_CAUSE_##name] = #word,
#define ROLE(name, word)  [GCHINT_ROLE_##name] = #word,

static const char *name_lookup(const char *const *names, size_t count, uint32_t value)
{
	return value < count && names[value] ? names[value] : "?";
}

#define NAME(names, value) name_lookup(names, sizeof(names) / sizeof(*(names)), value)

const char *name_of_phase(uint32_t phase)
{
	static const char *const names[] = { GCHINT_PHASES(PHASE) };

	return NAME(names, phase);
}

const char *name_of_cause(uint32_t cause)
{
	static const char *const names[] = { GCHINT_CAUSES(CAUSE) };

	return NAME(names, cause);
}

const char *name_of_role(uint32_t role)
{
	static const char *const names[] = { GCHINT_ROLES(ROLE) };

	return NAME(names, role);
}

const char *name_of_backend(uint32_t backend)
{
	static const char *const names[] = {
		[GCHINT_BACKEND_NOTHING] = "nothing", [GCHINT_BACKEND_TRACE] = "trace",
		[GCHINT_BACKEND_CLAMP] = "clamp",     [GCHINT_BACKEND_DEVICE] = "device",
		[GCHINT_BACKEND_STREAM] = "stream",
	};

	return NAME(names, backend);
}
