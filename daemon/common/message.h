/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the payload of gchint's generic netlink messages. Pure: reads a buffer and calls
 * functions. The buffer may hold anything; malformed parts are counted and left out. The
 * ABI is include/uapi/linux/gchint.h.
 */
#ifndef GCHINT_MESSAGE_H
#define GCHINT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpus.h"

/* message_event::has: which attributes the event carried */
#define HAS(attr) (1u << (attr))

/**
 * struct message_event - one GCHINT_A_EVENT
 * @has: HAS(GCHINT_EVENT_A_...) for each attribute of the event; the other fields are
 *	zero and have no meaning
 *
 * The other fields are named after GCHINT_EVENT_A_*.
 */
struct message_event {
	uint32_t has;
	uint32_t type;
	uint64_t time;
	uint32_t cpu;
	int32_t tgid;
	int32_t tid;
	uint32_t slot;
	uint64_t session;
	uint32_t phase;
	uint32_t flags;
	uint32_t cause;
	uint32_t phase_seq;
	uint64_t work_done;
	uint64_t work_total;
	uint64_t stall_ns;
	uint32_t policy;
	uint32_t khz_from;
	uint32_t khz;
	uint32_t reason;
	uint32_t load;
	uint32_t role;
	uint64_t latency;
	uint32_t lease;
};

struct message_policy {
	uint32_t has; /* HAS(GCHINT_POLICY_A_...) */
	uint32_t cpu;
	uint32_t mode;
	uint32_t cur_khz;
	uint32_t min_khz;
	uint32_t max_khz;
	uint32_t hw_max_khz;
	uint32_t reason;
	uint32_t load;
	uint32_t actuator;
	uint32_t can;
	uint32_t cap_khz;
	uint32_t floor_khz;
	bool fast;
	uint64_t transitions;
	uint64_t time;
	uint8_t cpus[CPUS_MAX / 8]; /* bitmap */
};

struct message_slot {
	uint32_t has; /* HAS(GCHINT_SLOT_A_...) */
	uint32_t slot;
	int32_t tid;
	uint32_t role;
	uint32_t lead;
	uint32_t phase;
	uint32_t flags;
	bool stale;
};

struct message_session {
	uint32_t has; /* HAS(GCHINT_SESSION_A_...) */
	uint64_t id;
	int32_t tgid;
	uint32_t uid;
	uint32_t granted;
};

struct message_info {
	uint32_t has; /* HAS(GCHINT_A_...) */
	uint32_t abi;
	uint32_t sessions;
	uint32_t slots;
	uint32_t recorders;
	uint64_t lost;
};

/**
 * struct message_ops - called for the parts of a message; any may be NULL
 * @batch: before the events of a message: number of the first (valid if
 *	has_seq), events in it, and events the kernel lost since its load
 *	(valid if has_lost)
 * @event: each event, in order
 * @policy: each policy of a sample or of an answer
 * @session: each session of a dump, followed by its slots
 * @slot: each slot of the session before it
 * @info: answer to GCHINT_CMD_INFO_GET
 */
struct message_ops {
	void (*batch)(void *data, bool has_seq, uint64_t seq, uint32_t events, bool has_lost,
		      uint64_t lost);
	void (*event)(void *data, const struct message_event *event);
	void (*policy)(void *data, const struct message_policy *policy);
	void (*session)(void *data, const struct message_session *session);
	void (*slot)(void *data, const struct message_slot *slot);
	void (*info)(void *data, const struct message_info *info);
};

/**
 * message_parse - parse a buffer as received from the socket
 * @buf: one or more whole netlink messages, 4-byte aligned
 * @len: bytes in @buf
 * @family: family number to accept, 0 for any above NLMSG_MIN_TYPE
 * @ops: functions to call
 * @data: first argument of these
 *
 * Returns the number of malformed messages, events, policies, sessions and slots, which are
 * left out; 0 if there were none.
 */
int message_parse(const void *buf, size_t len, uint16_t family, const struct message_ops *ops,
		  void *data);

#endif
