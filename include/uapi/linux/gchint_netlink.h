/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * gchint's generic netlink family: events, and the present state. Included by
 * <linux/gchint.h>, which has the phases, flags, causes and roles.
 *
 * Family GCHINT_GENL_NAME, version GCHINT_GENL_VERSION. Requests are parsed
 * strictly: an unknown or missing attribute is EINVAL with a message in the
 * extended acknowledgment.
 *
 *	GCHINT_CMD_INFO_GET	do	-> GCHINT_A_ABI, _SESSIONS, _SLOTS,
 *					   _LOST, _RECORDERS
 *	GCHINT_CMD_POLICY_GET	do	GCHINT_A_CPU -> GCHINT_A_POLICY
 *				dump	-> one GCHINT_A_POLICY a message
 *	GCHINT_CMD_SESSION_GET	dump	-> one GCHINT_A_SESSION a message, with
 *					   one GCHINT_SESSION_A_SLOT a lease;
 *					   for a session that has grown, one
 *					   for each GCHINT_SLOTS of its slots
 *	GCHINT_CMD_RECORD_SET	do	GCHINT_A_RECORD: bit n asks for both
 *					edges of phase n on every CPU, while
 *					the requesting socket lives; 0 ends it
 *	GCHINT_CMD_OPPS_SET	do	GCHINT_A_CPU, GCHINT_A_OPPS: measured power
 *					of each OPP of that CPU's policy; an
 *					empty nest removes it
 *
 * SESSION_GET, RECORD_SET, OPPS_SET and the multicast groups need CAP_NET_ADMIN.
 * POLICY_GET without it returns how a policy is set up, which sysfs shows to every
 * user, too. The state of the policy (_CUR_KHZ, _REASON, _LOAD, _TRANSITIONS, _CAP_KHZ,
 * _FLOOR_KHZ) is left out, because it reveals what other users run there.
 *
 * Power set by OPPS_SET overrides every other source, whether or not the policy is
 * under gchint, until it is removed or the module is unloaded. Each OPP of the policy
 * must be listed once, in ascending order, and no other. For a driver without a table
 * list two or more frequencies, the first the lowest and the last the highest. Power
 * is what a busy CPU draws above an idle one, 1 uW to 1 kW, and must not decrease with
 * frequency. If any of it is invalid nothing is changed, and EINVAL names the
 * attribute. ENODEV: no cpufreq policy has that CPU now. While the policy has other
 * OPPs later (boost without a table, another driver) its power comes from the other
 * sources.
 *
 * Multicast group GCHINT_GENL_EVENT carries GCHINT_CMD_EVENT: edges, in the
 * order of their time for each CPU. A message holds one or more
 * GCHINT_A_EVENT and GCHINT_A_SEQ, the number of its first event; events are
 * numbered consecutively, so a listener that sees a gap knows how many it
 * missed. GCHINT_A_LOST counts events that did not fit into the kernel's own
 * ring since the module was loaded.
 *
 * Multicast group GCHINT_GENL_SAMPLING carries GCHINT_CMD_SAMPLE: every
 * 100 ms, one GCHINT_A_POLICY for each policy governed by gchint, in one or more
 * messages. Samples begin when a listener that has joined sends INFO_GET or
 * RECORD_SET; without that, within about a second if the machine is not idle.
 */
#ifndef _UAPI_LINUX_GCHINT_NETLINK_H
#define _UAPI_LINUX_GCHINT_NETLINK_H

#define GCHINT_GENL_NAME	"gchint"
#define GCHINT_GENL_VERSION	1
#define GCHINT_GENL_EVENT	"event"
#define GCHINT_GENL_SAMPLING	"sampling"

enum gchint_cmd {
	GCHINT_CMD_UNSPEC,
	GCHINT_CMD_INFO_GET,
	GCHINT_CMD_POLICY_GET,
	GCHINT_CMD_SESSION_GET,
	GCHINT_CMD_RECORD_SET,
	GCHINT_CMD_EVENT,
	GCHINT_CMD_SAMPLE,
	GCHINT_CMD_OPPS_SET,

	__GCHINT_CMD_LAST,
	GCHINT_CMD_MAX = __GCHINT_CMD_LAST - 1
};

enum gchint_attr {
	GCHINT_A_UNSPEC,
	GCHINT_A_PAD,
	GCHINT_A_ABI,		/* u32 */
	/* Of all users, or without CAP_NET_ADMIN of the caller's. */
	GCHINT_A_SESSIONS,	/* u32, open now */
	GCHINT_A_SLOTS,		/* u32, leased now */
	GCHINT_A_LOST,		/* u64 */
	GCHINT_A_RECORDERS,	/* u32 */
	GCHINT_A_RECORD,	/* u32, bit mask of phases */
	GCHINT_A_CPU,		/* u32 */
	GCHINT_A_SEQ,		/* u64 */
	GCHINT_A_EVENT,		/* nest of gchint_event_attr */
	GCHINT_A_POLICY,	/* nest of gchint_policy_attr */
	GCHINT_A_SESSION,	/* nest of gchint_session_attr */
	GCHINT_A_OPPS,		/* nest of gchint_opps_attr */

	__GCHINT_A_LAST,
	GCHINT_A_MAX = __GCHINT_A_LAST - 1
};

/**
 * enum gchint_event - type of a GCHINT_A_EVENT
 * @GCHINT_EVENT_UNSPEC: none
 * @GCHINT_EVENT_PHASE: the kernel saw a slot's phase or its flags change, at a
 *	doorbell or when it read the slot of a running thread
 * @GCHINT_EVENT_DECISION: the governor asked for another frequency
 * @GCHINT_EVENT_LEASE: a lease began, changed or ended
 */
enum gchint_event {
	GCHINT_EVENT_UNSPEC,
	GCHINT_EVENT_PHASE,
	GCHINT_EVENT_DECISION,
	GCHINT_EVENT_LEASE,
};

enum gchint_event_attr {
	GCHINT_EVENT_A_UNSPEC,
	GCHINT_EVENT_A_PAD,
	GCHINT_EVENT_A_TYPE,		/* u32, enum gchint_event; in each */
	GCHINT_EVENT_A_TIME,		/* u64, CLOCK_MONOTONIC ns; in each */
	GCHINT_EVENT_A_CPU,		/* u32; in each */
	GCHINT_EVENT_A_TGID,		/* s32; phase, lease, decision if hinted */
	GCHINT_EVENT_A_TID,		/* s32; as TGID */
	GCHINT_EVENT_A_SESSION,		/* u64, number of the session; as TGID */
	GCHINT_EVENT_A_SLOT,		/* u32; as TGID */
	GCHINT_EVENT_A_PHASE,		/* u32, enum gchint_phase */
	GCHINT_EVENT_A_FLAGS,		/* u32, GCHINT_F_* */
	GCHINT_EVENT_A_CAUSE,		/* u32, enum gchint_cause */
	GCHINT_EVENT_A_PHASE_SEQ,	/* u32, sequence in the slot */
	GCHINT_EVENT_A_WORK_DONE,	/* u64; phase */
	GCHINT_EVENT_A_WORK_TOTAL,	/* u64; phase */
	GCHINT_EVENT_A_STALL_NS,	/* u64; phase */
	GCHINT_EVENT_A_POLICY,		/* u32, first CPU of the policy; decision */
	GCHINT_EVENT_A_KHZ_FROM,	/* u32; decision */
	GCHINT_EVENT_A_KHZ,		/* u32; decision */
	GCHINT_EVENT_A_REASON,		/* u32, enum gchint_reason; decision */
	GCHINT_EVENT_A_LOAD,		/* u32, 0..1024 of the highest frequency */
	GCHINT_EVENT_A_LATENCY,		/* u64, ns from hint to request */
	GCHINT_EVENT_A_ROLE,		/* u32, enum gchint_role; lease */
	GCHINT_EVENT_A_LEASE,		/* u32, enum gchint_lease; lease */

	__GCHINT_EVENT_A_LAST,
	GCHINT_EVENT_A_MAX = __GCHINT_EVENT_A_LAST - 1
};

/**
 * enum gchint_lease - how a lease changed
 * @GCHINT_LEASE_ATTACH: a thread got a slot
 * @GCHINT_LEASE_ROLE: its role changed
 * @GCHINT_LEASE_DETACH: the slot was detached
 * @GCHINT_LEASE_EXIT: the thread ended
 * @GCHINT_LEASE_EXEC: the process image was replaced
 * @GCHINT_LEASE_CLOSE: the session was closed
 * @GCHINT_LEASE_STALE: no progress for hint_ttl_ms: ignored from now on
 * @GCHINT_LEASE_FRESH: a stale one made progress again
 */
enum gchint_lease {
	GCHINT_LEASE_ATTACH,
	GCHINT_LEASE_ROLE,
	GCHINT_LEASE_DETACH,
	GCHINT_LEASE_EXIT,
	GCHINT_LEASE_EXEC,
	GCHINT_LEASE_CLOSE,
	GCHINT_LEASE_STALE,
	GCHINT_LEASE_FRESH,
};

/**
 * enum gchint_reason - why the governor chose a frequency
 * @GCHINT_REASON_LOAD: load alone
 * @GCHINT_REASON_STW: boost: mutators are stopped
 * @GCHINT_REASON_FOREGROUND: boost: a mutator collects or waits
 * @GCHINT_REASON_URGENT: boost: a stall is near
 * @GCHINT_REASON_TABLE: cap: fixed percentage of the phase
 * @GCHINT_REASON_MODEL: cap: least energy within the slowdown bound
 * @GCHINT_REASON_PACE: the lowest that ends before the stall instant
 * @GCHINT_REASON_PROBE: a neighbouring OPP tried, to learn
 * @GCHINT_REASON_LIMITS: the policy's limits decided
 * @GCHINT_REASON_HOLD: a switch would not pay for its latency
 * @GCHINT_REASON_NR: number of reasons known to this version
 */
enum gchint_reason {
	GCHINT_REASON_LOAD,
	GCHINT_REASON_STW,
	GCHINT_REASON_FOREGROUND,
	GCHINT_REASON_URGENT,
	GCHINT_REASON_TABLE,
	GCHINT_REASON_MODEL,
	GCHINT_REASON_PACE,
	GCHINT_REASON_PROBE,
	GCHINT_REASON_LIMITS,
	GCHINT_REASON_HOLD,
	GCHINT_REASON_NR
};

/**
 * enum gchint_mode - how a policy under gchint decides
 * @GCHINT_MODE_OFF: load only
 * @GCHINT_MODE_TABLE: fixed percentage of each phase
 * @GCHINT_MODE_MODEL: learned slowdown, energy model, pacing
 */
enum gchint_mode {
	GCHINT_MODE_OFF,
	GCHINT_MODE_TABLE,
	GCHINT_MODE_MODEL,
};

enum gchint_actuator_id {
	GCHINT_ACTUATOR_NONE,		/* hints have no effect */
	GCHINT_ACTUATOR_GOVERNOR,	/* gchint is the policy's governor */
	GCHINT_ACTUATOR_LIMITS,		/* limits, alongside any governor */
};

#define GCHINT_CAN_EXACT	0x01	/* asks for one frequency */
#define GCHINT_CAN_LIMITS	0x02	/* bounds frequency; others choose it */

enum gchint_policy_attr {
	GCHINT_POLICY_A_UNSPEC,
	GCHINT_POLICY_A_PAD,
	GCHINT_POLICY_A_CPU,		/* u32, first CPU */
	GCHINT_POLICY_A_CPUS,		/* binary, bitmap: bit 0 of byte 0 is CPU 0 */
	GCHINT_POLICY_A_MODE,		/* u32, enum gchint_mode */
	GCHINT_POLICY_A_CUR_KHZ,	/* u32 */
	GCHINT_POLICY_A_MIN_KHZ,	/* u32 */
	GCHINT_POLICY_A_MAX_KHZ,	/* u32 */
	GCHINT_POLICY_A_HW_MAX_KHZ,	/* u32 */
	GCHINT_POLICY_A_FAST,		/* flag: fast switch */
	GCHINT_POLICY_A_REASON,		/* u32, enum gchint_reason of the last */
	GCHINT_POLICY_A_LOAD,		/* u32, 0..1024, highest of its CPUs */
	GCHINT_POLICY_A_TRANSITIONS,	/* u64, requests made */
	GCHINT_POLICY_A_TIME,		/* u64, CLOCK_MONOTONIC ns of this sample */
	GCHINT_POLICY_A_ACTUATOR,	/* u32, enum gchint_actuator_id */
	GCHINT_POLICY_A_CAN,		/* u32, GCHINT_CAN_* */
	GCHINT_POLICY_A_CAP_KHZ,	/* u32, of the actuator limits, if any */
	GCHINT_POLICY_A_FLOOR_KHZ,	/* u32, of the actuator limits, if any */
	GCHINT_POLICY_A_MEASURED,	/* flag: its power was set by OPPS_SET */
	GCHINT_POLICY_A_OPPS,		/* nest of gchint_opps_attr; not in samples */

	__GCHINT_POLICY_A_LAST,
	GCHINT_POLICY_A_MAX = __GCHINT_POLICY_A_LAST - 1
};

enum gchint_opps_attr {
	GCHINT_OPPS_A_UNSPEC,
	GCHINT_OPPS_A_PAD,
	GCHINT_OPPS_A_IDLE,		/* u32, uW drawn while every CPU is idle, if known */
	GCHINT_OPPS_A_OPP,		/* nest of gchint_opp_attr; many, ascending */

	__GCHINT_OPPS_A_LAST,
	GCHINT_OPPS_A_MAX = __GCHINT_OPPS_A_LAST - 1
};

enum gchint_opp_attr {
	GCHINT_OPP_A_UNSPEC,
	GCHINT_OPP_A_PAD,
	GCHINT_OPP_A_KHZ,		/* u32 */
	GCHINT_OPP_A_POWER,		/* u32, uW; left out if not known in uW */

	__GCHINT_OPP_A_LAST,
	GCHINT_OPP_A_MAX = __GCHINT_OPP_A_LAST - 1
};

enum gchint_session_attr {
	GCHINT_SESSION_A_UNSPEC,
	GCHINT_SESSION_A_PAD,
	GCHINT_SESSION_A_ID,		/* u64 */
	GCHINT_SESSION_A_TGID,		/* s32 */
	GCHINT_SESSION_A_UID,		/* u32 */
	GCHINT_SESSION_A_GRANTED,	/* u32, GCHINT_GRANT_* */
	GCHINT_SESSION_A_SLOT,		/* nest of gchint_slot_attr; many */

	__GCHINT_SESSION_A_LAST,
	GCHINT_SESSION_A_MAX = __GCHINT_SESSION_A_LAST - 1
};

enum gchint_slot_attr {
	GCHINT_SLOT_A_UNSPEC,
	GCHINT_SLOT_A_PAD,
	GCHINT_SLOT_A_SLOT,		/* u32 */
	GCHINT_SLOT_A_TID,		/* s32 */
	GCHINT_SLOT_A_ROLE,		/* u32 */
	GCHINT_SLOT_A_LEAD,		/* u32, with GCHINT_ROLE_FOLLOW */
	GCHINT_SLOT_A_PHASE,		/* u32, as last seen */
	GCHINT_SLOT_A_FLAGS,		/* u32, as last seen */
	GCHINT_SLOT_A_STALE,		/* flag */

	__GCHINT_SLOT_A_LAST,
	GCHINT_SLOT_A_MAX = __GCHINT_SLOT_A_LAST - 1
};

#endif /* _UAPI_LINUX_GCHINT_NETLINK_H */
