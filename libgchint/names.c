// SPDX-License-Identifier: MIT
/* The words of the trace: the ABI's names in lower case. */
#include <stddef.h>

#include "trace.h"

static const char *name(const char *const *names, size_t count, uint32_t value)
{
	return value < count && names[value] ? names[value] : "?";
}

#define NAME(names, value) name(names, sizeof(names) / sizeof(*(names)), value)

const char *name_of_phase(uint32_t phase)
{
	static const char *const names[] = {
		[GCHINT_PHASE_NONE] = "none",		[GCHINT_PHASE_COLLECT] = "collect",
		[GCHINT_PHASE_SAFEPOINT] = "safepoint", [GCHINT_PHASE_ROOTS] = "roots",
		[GCHINT_PHASE_MARK] = "mark",		[GCHINT_PHASE_REMARK] = "remark",
		[GCHINT_PHASE_REFS] = "refs",		[GCHINT_PHASE_SWEEP] = "sweep",
		[GCHINT_PHASE_COPY] = "copy",		[GCHINT_PHASE_COMPACT] = "compact",
		[GCHINT_PHASE_TRIM] = "trim",		[GCHINT_PHASE_WAIT] = "wait",
	};

	return NAME(names, phase);
}

const char *name_of_cause(uint32_t cause)
{
	static const char *const names[] = {
		[GCHINT_CAUSE_UNKNOWN] = "unknown",	[GCHINT_CAUSE_ALLOCATION] = "allocation",
		[GCHINT_CAUSE_THRESHOLD] = "threshold", [GCHINT_CAUSE_EXPLICIT] = "explicit",
		[GCHINT_CAUSE_NATIVE] = "native",	[GCHINT_CAUSE_OOM] = "oom",
		[GCHINT_CAUSE_TIMER] = "timer",		[GCHINT_CAUSE_SYSTEM] = "system",
	};

	return NAME(names, cause);
}

const char *name_of_role(uint32_t role)
{
	static const char *const names[] = {
		[GCHINT_ROLE_NONE] = "none",	 [GCHINT_ROLE_CONCURRENT] = "concurrent",
		[GCHINT_ROLE_STW] = "stw",	 [GCHINT_ROLE_BACKGROUND] = "background",
		[GCHINT_ROLE_FOLLOW] = "follow",
	};

	return NAME(names, role);
}

const char *name_of_backend(uint32_t backend)
{
	static const char *const names[] = {
		[GCHINT_BACKEND_NOTHING] = "nothing",
		[GCHINT_BACKEND_TRACE] = "trace",
		[GCHINT_BACKEND_CLAMP] = "clamp",
		[GCHINT_BACKEND_DEVICE] = "device",
	};

	return NAME(names, backend);
}
