/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints, for perf, ftrace and bpf. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gchint

#if !defined(_GCHINT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GCHINT_TRACE_H

#include <linux/gchint.h>
#include <linux/tracepoint.h>

#include "event.h"

/* The formats that user space parses then have numbers, not these names. */
TRACE_DEFINE_ENUM(GCHINT_PHASE_NONE);
TRACE_DEFINE_ENUM(GCHINT_PHASE_COLLECT);
TRACE_DEFINE_ENUM(GCHINT_PHASE_SAFEPOINT);
TRACE_DEFINE_ENUM(GCHINT_PHASE_ROOTS);
TRACE_DEFINE_ENUM(GCHINT_PHASE_MARK);
TRACE_DEFINE_ENUM(GCHINT_PHASE_REMARK);
TRACE_DEFINE_ENUM(GCHINT_PHASE_REFS);
TRACE_DEFINE_ENUM(GCHINT_PHASE_SWEEP);
TRACE_DEFINE_ENUM(GCHINT_PHASE_COPY);
TRACE_DEFINE_ENUM(GCHINT_PHASE_COMPACT);
TRACE_DEFINE_ENUM(GCHINT_PHASE_TRIM);
TRACE_DEFINE_ENUM(GCHINT_PHASE_WAIT);
TRACE_DEFINE_ENUM(GCHINT_PHASE_WORK);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_UNKNOWN);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_ALLOCATION);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_THRESHOLD);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_EXPLICIT);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_NATIVE);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_OOM);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_TIMER);
TRACE_DEFINE_ENUM(GCHINT_CAUSE_SYSTEM);
TRACE_DEFINE_ENUM(GCHINT_REASON_LOAD);
TRACE_DEFINE_ENUM(GCHINT_REASON_STW);
TRACE_DEFINE_ENUM(GCHINT_REASON_FOREGROUND);
TRACE_DEFINE_ENUM(GCHINT_REASON_URGENT);
TRACE_DEFINE_ENUM(GCHINT_REASON_TABLE);
TRACE_DEFINE_ENUM(GCHINT_REASON_MODEL);
TRACE_DEFINE_ENUM(GCHINT_REASON_PACE);
TRACE_DEFINE_ENUM(GCHINT_REASON_PROBE);
TRACE_DEFINE_ENUM(GCHINT_REASON_LIMITS);
TRACE_DEFINE_ENUM(GCHINT_REASON_HOLD);
TRACE_DEFINE_ENUM(GCHINT_ROLE_NONE);
TRACE_DEFINE_ENUM(GCHINT_ROLE_CONCURRENT);
TRACE_DEFINE_ENUM(GCHINT_ROLE_STW);
TRACE_DEFINE_ENUM(GCHINT_ROLE_BACKGROUND);
TRACE_DEFINE_ENUM(GCHINT_ROLE_FOLLOW);
TRACE_DEFINE_ENUM(GCHINT_LEASE_ATTACH);
TRACE_DEFINE_ENUM(GCHINT_LEASE_ROLE);
TRACE_DEFINE_ENUM(GCHINT_LEASE_DETACH);
TRACE_DEFINE_ENUM(GCHINT_LEASE_EXIT);
TRACE_DEFINE_ENUM(GCHINT_LEASE_EXEC);
TRACE_DEFINE_ENUM(GCHINT_LEASE_CLOSE);
TRACE_DEFINE_ENUM(GCHINT_LEASE_STALE);
TRACE_DEFINE_ENUM(GCHINT_LEASE_FRESH);
TRACE_DEFINE_ENUM(GCHINT_MODE_OFF);
TRACE_DEFINE_ENUM(GCHINT_MODE_TABLE);
TRACE_DEFINE_ENUM(GCHINT_MODE_MODEL);

#define GCHINT_SHOW_PHASE(phase)				\
	__print_symbolic(phase,					\
			 { GCHINT_PHASE_NONE, "none" },		\
			 { GCHINT_PHASE_COLLECT, "collect" },	\
			 { GCHINT_PHASE_SAFEPOINT, "safepoint" }, \
			 { GCHINT_PHASE_ROOTS, "roots" },	\
			 { GCHINT_PHASE_MARK, "mark" },		\
			 { GCHINT_PHASE_REMARK, "remark" },	\
			 { GCHINT_PHASE_REFS, "refs" },		\
			 { GCHINT_PHASE_SWEEP, "sweep" },	\
			 { GCHINT_PHASE_COPY, "copy" },		\
			 { GCHINT_PHASE_COMPACT, "compact" },	\
			 { GCHINT_PHASE_TRIM, "trim" },		\
			 { GCHINT_PHASE_WAIT, "wait" },		\
			 { GCHINT_PHASE_WORK, "work" })

#define GCHINT_SHOW_FLAGS(flags)				\
	__print_flags(flags, "|",				\
		      { GCHINT_F_STW, "stw" },			\
		      { GCHINT_F_CONCURRENT, "concurrent" },	\
		      { GCHINT_F_FOREGROUND, "foreground" },	\
		      { GCHINT_F_URGENT, "urgent" })

#define GCHINT_SHOW_CAUSE(cause)				\
	__print_symbolic(cause,					\
			 { GCHINT_CAUSE_UNKNOWN, "unknown" },	\
			 { GCHINT_CAUSE_ALLOCATION, "allocation" }, \
			 { GCHINT_CAUSE_THRESHOLD, "threshold" }, \
			 { GCHINT_CAUSE_EXPLICIT, "explicit" },	\
			 { GCHINT_CAUSE_NATIVE, "native" },	\
			 { GCHINT_CAUSE_OOM, "oom" },		\
			 { GCHINT_CAUSE_TIMER, "timer" },	\
			 { GCHINT_CAUSE_SYSTEM, "system" })

#define GCHINT_SHOW_REASON(reason)				\
	__print_symbolic(reason,				\
			 { GCHINT_REASON_LOAD, "load" },	\
			 { GCHINT_REASON_STW, "stw" },		\
			 { GCHINT_REASON_FOREGROUND, "foreground" }, \
			 { GCHINT_REASON_URGENT, "urgent" },	\
			 { GCHINT_REASON_TABLE, "table" },	\
			 { GCHINT_REASON_MODEL, "model" },	\
			 { GCHINT_REASON_PACE, "pace" },	\
			 { GCHINT_REASON_PROBE, "probe" },	\
			 { GCHINT_REASON_LIMITS, "limits" },	\
			 { GCHINT_REASON_HOLD, "hold" })

/*
 * Arguments are numbers, so that BPF programs and probes of other modules need
 * no type of this module. BPF allows at most twelve arguments.
 *
 * While gchint_phase is enabled, every edge asks for a doorbell: see
 * gchint_event_trace_on().
 */
TRACE_EVENT_FN(gchint_phase,
	       TP_PROTO(u64 session, pid_t tgid, pid_t tid, u32 slot, u8 phase,
			u8 flags, u8 cause, u32 phase_seq, u64 work_done,
			u64 work_total, u64 stall_ns, u64 method),
	       TP_ARGS(session, tgid, tid, slot, phase, flags, cause, phase_seq,
		       work_done, work_total, stall_ns, method),
	       TP_STRUCT__entry(__field(u64, session)
				__field(u64, work_done)
				__field(u64, work_total)
				__field(u64, stall_ns)
				__field(u64, method)
				__field(pid_t, tgid)
				__field(pid_t, tid)
				__field(u32, slot)
				__field(u32, phase_seq)
				__field(u8, phase)
				__field(u8, flags)
				__field(u8, cause)),
	       TP_fast_assign(__entry->session = session;
			      __entry->work_done = work_done;
			      __entry->work_total = work_total;
			      __entry->stall_ns = stall_ns;
			      __entry->method = method;
			      __entry->tgid = tgid;
			      __entry->tid = tid;
			      __entry->slot = slot;
			      __entry->phase_seq = phase_seq;
			      __entry->phase = phase;
			      __entry->flags = flags;
			      __entry->cause = cause;),
	       TP_printk("tgid=%d tid=%d session=%llu slot=%u phase=%s flags=%s cause=%s seq=%u work_done=%llu work_total=%llu stall_ns=%llu method=0x%llx",
			 __entry->tgid, __entry->tid, __entry->session, __entry->slot,
			 GCHINT_SHOW_PHASE(__entry->phase),
			 GCHINT_SHOW_FLAGS(__entry->flags),
			 GCHINT_SHOW_CAUSE(__entry->cause), __entry->phase_seq,
			 __entry->work_done, __entry->work_total, __entry->stall_ns,
			 __entry->method),
	       gchint_event_trace_on, gchint_event_trace_off);

/* @how: reason, phase, flags and mode, from the lowest byte up. */
TRACE_EVENT(gchint_decision,
	    TP_PROTO(u32 policy, u32 cpu, u32 khz, u32 khz_from, u32 load,
		     pid_t tid, u32 raw_khz, u32 min_khz, u32 max_khz,
		     u64 latency, u32 how),
	    TP_ARGS(policy, cpu, khz, khz_from, load, tid, raw_khz, min_khz,
		    max_khz, latency, how),
	    TP_STRUCT__entry(__field(u64, latency)
			     __field(u32, policy)
			     __field(u32, cpu)
			     __field(u32, khz_from)
			     __field(u32, khz)
			     __field(u32, raw_khz)
			     __field(u32, min_khz)
			     __field(u32, max_khz)
			     __field(u32, load)
			     __field(pid_t, tid)
			     __field(u8, reason)
			     __field(u8, phase)
			     __field(u8, flags)
			     __field(u8, mode)),
	    TP_fast_assign(__entry->latency = latency;
			   __entry->policy = policy;
			   __entry->cpu = cpu;
			   __entry->khz_from = khz_from;
			   __entry->khz = khz;
			   __entry->raw_khz = raw_khz;
			   __entry->min_khz = min_khz;
			   __entry->max_khz = max_khz;
			   __entry->load = load;
			   __entry->tid = tid;
			   __entry->reason = (u8)how;
			   __entry->phase = (u8)(how >> 8);
			   __entry->flags = (u8)(how >> 16);
			   __entry->mode = (u8)(how >> 24);),
	    TP_printk("policy=%u cpu=%u khz=%u from=%u reason=%s load=%u phase=%s flags=%s tid=%d raw_khz=%u min_khz=%u max_khz=%u mode=%s latency_ns=%llu",
		      __entry->policy, __entry->cpu, __entry->khz,
		      __entry->khz_from, GCHINT_SHOW_REASON(__entry->reason),
		      __entry->load, GCHINT_SHOW_PHASE(__entry->phase),
		      GCHINT_SHOW_FLAGS(__entry->flags), __entry->tid,
		      __entry->raw_khz, __entry->min_khz, __entry->max_khz,
		      __print_symbolic(__entry->mode,
				       { GCHINT_MODE_OFF, "off" },
				       { GCHINT_MODE_TABLE, "table" },
				       { GCHINT_MODE_MODEL, "model" }),
		      __entry->latency));

TRACE_EVENT(gchint_lease,
	    TP_PROTO(u64 session, pid_t tgid, pid_t tid, u32 slot, u8 role, u8 what),
	    TP_ARGS(session, tgid, tid, slot, role, what),
	    TP_STRUCT__entry(__field(u64, session)
			     __field(pid_t, tgid)
			     __field(pid_t, tid)
			     __field(u32, slot)
			     __field(u8, role)
			     __field(u8, what)),
	    TP_fast_assign(__entry->session = session;
			   __entry->tgid = tgid;
			   __entry->tid = tid;
			   __entry->slot = slot;
			   __entry->role = role;
			   __entry->what = what;),
	    TP_printk("tgid=%d tid=%d session=%llu slot=%u role=%s what=%s",
		      __entry->tgid, __entry->tid, __entry->session, __entry->slot,
		      __print_symbolic(__entry->role,
				       { GCHINT_ROLE_NONE, "none" },
				       { GCHINT_ROLE_CONCURRENT, "concurrent" },
				       { GCHINT_ROLE_STW, "stw" },
				       { GCHINT_ROLE_BACKGROUND, "background" },
				       { GCHINT_ROLE_FOLLOW, "follow" }),
		      __print_symbolic(__entry->what,
				       { GCHINT_LEASE_ATTACH, "attach" },
				       { GCHINT_LEASE_ROLE, "role" },
				       { GCHINT_LEASE_DETACH, "detach" },
				       { GCHINT_LEASE_EXIT, "exit" },
				       { GCHINT_LEASE_EXEC, "exec" },
				       { GCHINT_LEASE_CLOSE, "close" },
				       { GCHINT_LEASE_STALE, "stale" },
				       { GCHINT_LEASE_FRESH, "fresh" })));

#endif /* _GCHINT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH event
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
