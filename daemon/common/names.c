// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <stdio.h>

#include <gchint-names.h>
#include <uapi/linux/gchint.h>

/* A value of the ABI without a name would be printed as "unknown". */
_Static_assert(GCHINT_NAMES(GCHINT_PHASES) == GCHINT_PHASE_NR, "a phase has no name");
_Static_assert(GCHINT_NAMES(GCHINT_CAUSES) == GCHINT_CAUSE_NR, "a cause has no name");
_Static_assert(GCHINT_NAMES(GCHINT_ROLES) == GCHINT_ROLE_NR, "a role has no name");
_Static_assert(GCHINT_NAMES(GCHINT_REASONS) == GCHINT_REASON_NR, "a reason has no name");
_Static_assert(GCHINT_NAMES(GCHINT_LEASES) == GCHINT_LEASE_FRESH + 1, "a lease has no name");
_Static_assert(GCHINT_NAMES(GCHINT_MODES) == GCHINT_MODE_MODEL + 1, "a mode has no name");

#define PHASE(name, word)  [GCHINT_PHASE_##name] = #word,
#define CAUSE(name, word)  [GCHINT_CAUSE_##name] = #word,
#define ROLE(name, word)   [GCHINT_ROLE_##name] = #word,
#define REASON(name, word) [GCHINT_REASON_##name] = #word,
#define LEASE(name, word)  [GCHINT_LEASE_##name] = #word,
#define MODE(name, word)   [GCHINT_MODE_##name] = #word,

#define LOOKUP(table, i) ((i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "unknown")

const char *name_phase(uint32_t phase)
{
	static const char *const names[] = { GCHINT_PHASES(PHASE) };

	return LOOKUP(names, phase);
}

const char *name_cause(uint32_t cause)
{
	static const char *const names[] = { GCHINT_CAUSES(CAUSE) };

	return LOOKUP(names, cause);
}

const char *name_role(uint32_t role)
{
	static const char *const names[] = { GCHINT_ROLES(ROLE) };

	return LOOKUP(names, role);
}

const char *name_reason(uint32_t reason)
{
	static const char *const names[] = { GCHINT_REASONS(REASON) };

	return LOOKUP(names, reason);
}

const char *name_lease(uint32_t lease)
{
	static const char *const names[] = { GCHINT_LEASES(LEASE) };

	return LOOKUP(names, lease);
}

const char *name_mode(uint32_t mode)
{
	static const char *const names[] = { GCHINT_MODES(MODE) };

	return LOOKUP(names, mode);
}

const char *name_flags(uint32_t flags, char *buf, size_t size)
{
	static const char *const words[] = { "stw", "concurrent", "foreground", "urgent" };
	size_t used = 0;

	snprintf(buf, size, "-");
	for (size_t i = 0; i < 4; i++)
		if (flags & 1u << i && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "+" : "",
						 words[i]);
	return buf;
}
