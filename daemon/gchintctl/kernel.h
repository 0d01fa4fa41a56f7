/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking the module, over generic netlink. */
#ifndef GCHINTCTL_KERNEL_H
#define GCHINTCTL_KERNEL_H

#include <uapi/linux/gchint.h>

#include "../common/message.h"

/**
 * kernel_ask - one request, all of its answers
 * @cmd: enum gchint_cmd; POLICY_GET and SESSION_GET are dumped
 * @ops: what to call with the answers
 * @data: for the calls
 *
 * Returns 0, -ENOENT when the module is not loaded, or another -errno.
 */
int kernel_ask(int cmd, const struct message_ops *ops, void *data);

/** struct kernel_policies - what the module says of them; none where it is not loaded */
struct kernel_policies {
	struct message_policy policy[GCHINT_INFO_POLICIES];
	unsigned int nr;
};

void kernel_policies(struct kernel_policies *p);
/* The policy whose first CPU that is, or NULL. */
const struct message_policy *kernel_policy(const struct kernel_policies *p, uint64_t cpu);

/**
 * struct kernel_opps - the power of a policy's OPPs
 * @nr: how many; 0 forgets what was given before
 * @idle: uW of the machine at rest, if @idle_known
 * @opp: ascending; power in uW
 */
struct kernel_opps {
	unsigned int nr;
	bool idle_known;
	uint32_t idle;
	struct kernel_opp {
		uint32_t khz, power;
	} opp[64];
};

/**
 * kernel_give - GCHINT_CMD_OPPS_SET
 * @cpu: of the policy
 * @opps: what was measured
 * @why: receives what the module says of a mistake, or ""
 * @size: of @why
 *
 * Returns 0, the -errno with which the module refused, or what kernel_ask() does.
 */
int kernel_give(uint32_t cpu, const struct kernel_opps *opps, char *why, size_t size);

#endif
