/* SPDX-License-Identifier: MIT */
/*
 * USDT probes of provider gchint, for perf and bpftrace: no-operations until one is attached.
 * Built in where <sys/sdt.h> is installed (not with USDT=no). A plain edge is a store to the
 * kernel's slot in the program's own code and passes no probe; use the tracepoints gchint:*.
 *
 *	phase(tid, phase, flags, cause)		the thread's innermost phase changed; 0 none
 *	role(tid, role)				the thread was leased with a role, or it changed
 */
#ifndef GCHINT_PROBE_H
#define GCHINT_PROBE_H

#if defined(__has_include) && !defined(GCHINT_NO_USDT)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define PROBE_PHASE(tid, number, flags, cause)                                                     \
	DTRACE_PROBE4(gchint, phase, tid, number, flags, cause)
#define PROBE_ROLE(tid, number) DTRACE_PROBE2(gchint, role, tid, number)
#endif
#endif

#ifndef PROBE_PHASE
#define PROBE_PHASE(tid, number, flags, cause) ((void)(tid), (void)(cause))
#define PROBE_ROLE(tid, number)		       ((void)(tid))
#endif

#endif /* GCHINT_PROBE_H */
