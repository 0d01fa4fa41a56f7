/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds netlink messages as the module sends them. */
#ifndef TESTS_DAEMON_BUILD_H
#define TESTS_DAEMON_BUILD_H

#include <stddef.h>
#include <stdint.h>

struct nl_msg;

/* A message being built: events are added until it is taken. */
struct build {
	struct nl_msg *msg;
	uint64_t seq; /* of the next event */
	unsigned int events; /* in the message */
};

void build_phase(struct build *b, uint64_t t, uint32_t cpu, int32_t tgid, int32_t tid,
		 uint32_t slot, uint32_t phase, uint32_t flags, uint64_t done, uint64_t total);
void build_decision(struct build *b, uint64_t t, uint32_t cpu, uint32_t from, uint32_t to,
		    uint32_t reason, int32_t tid, uint64_t latency);
void build_lease(struct build *b, uint64_t t, int32_t tgid, int32_t tid, uint32_t slot,
		 uint32_t role, uint32_t lease);
/* A complete sampling message. */
void build_sample(struct build *b, uint64_t t, uint32_t cpu, uint32_t khz);

/* The message's bytes, valid until build_done(); NULL if there is none. */
const void *build_bytes(struct build *b, size_t *len);
void build_done(struct build *b);

#endif
