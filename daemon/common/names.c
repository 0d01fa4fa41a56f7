// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <stdio.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#define LOOKUP(table, i) ((i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "unknown")

const char *name_phase(uint32_t phase)
{
	static const char *const names[GCHINT_PHASE_NR] = {
		[GCHINT_PHASE_NONE] = "none",		[GCHINT_PHASE_COLLECT] = "collect",
		[GCHINT_PHASE_SAFEPOINT] = "safepoint", [GCHINT_PHASE_ROOTS] = "roots",
		[GCHINT_PHASE_MARK] = "mark",		[GCHINT_PHASE_REMARK] = "remark",
		[GCHINT_PHASE_REFS] = "refs",		[GCHINT_PHASE_SWEEP] = "sweep",
		[GCHINT_PHASE_COPY] = "copy",		[GCHINT_PHASE_COMPACT] = "compact",
		[GCHINT_PHASE_TRIM] = "trim",		[GCHINT_PHASE_WAIT] = "wait",
	};

	return LOOKUP(names, phase);
}

const char *name_cause(uint32_t cause)
{
	static const char *const names[GCHINT_CAUSE_NR] = {
		[GCHINT_CAUSE_UNKNOWN] = "unknown",	[GCHINT_CAUSE_ALLOCATION] = "allocation",
		[GCHINT_CAUSE_THRESHOLD] = "threshold", [GCHINT_CAUSE_EXPLICIT] = "explicit",
		[GCHINT_CAUSE_NATIVE] = "native",	[GCHINT_CAUSE_OOM] = "oom",
		[GCHINT_CAUSE_TIMER] = "timer",		[GCHINT_CAUSE_SYSTEM] = "system",
	};

	return LOOKUP(names, cause);
}

const char *name_role(uint32_t role)
{
	static const char *const names[GCHINT_ROLE_NR] = {
		[GCHINT_ROLE_NONE] = "none",	 [GCHINT_ROLE_CONCURRENT] = "concurrent",
		[GCHINT_ROLE_STW] = "stw",	 [GCHINT_ROLE_BACKGROUND] = "background",
		[GCHINT_ROLE_FOLLOW] = "follow",
	};

	return LOOKUP(names, role);
}

const char *name_reason(uint32_t reason)
{
	static const char *const names[GCHINT_REASON_NR] = {
		[GCHINT_REASON_LOAD] = "load",
		[GCHINT_REASON_STW] = "stw",
		[GCHINT_REASON_FOREGROUND] = "foreground",
		[GCHINT_REASON_URGENT] = "urgent",
		[GCHINT_REASON_TABLE] = "table",
		[GCHINT_REASON_MODEL] = "model",
		[GCHINT_REASON_PACE] = "pace",
		[GCHINT_REASON_PROBE] = "probe",
		[GCHINT_REASON_LIMITS] = "limits",
		[GCHINT_REASON_HOLD] = "hold",
	};

	return LOOKUP(names, reason);
}

const char *name_lease(uint32_t lease)
{
	static const char *const names[] = {
		[GCHINT_LEASE_ATTACH] = "attach", [GCHINT_LEASE_ROLE] = "role",
		[GCHINT_LEASE_DETACH] = "detach", [GCHINT_LEASE_EXIT] = "exit",
		[GCHINT_LEASE_EXEC] = "exec",	  [GCHINT_LEASE_CLOSE] = "close",
		[GCHINT_LEASE_STALE] = "stale",	  [GCHINT_LEASE_FRESH] = "fresh",
	};

	return LOOKUP(names, lease);
}

const char *name_mode(uint32_t mode)
{
	static const char *const names[] = {
		[GCHINT_MODE_OFF] = "off",
		[GCHINT_MODE_TABLE] = "table",
		[GCHINT_MODE_MODEL] = "model",
	};

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
