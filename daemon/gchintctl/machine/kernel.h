/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the module over generic netlink. */
#ifndef GCHINTCTL_KERNEL_H
#define GCHINTCTL_KERNEL_H

#include <uapi/linux/gchint.h>

#include "../../common/message.h"

/**
 * kernel_ask - send a request and read all replies
 * @cmd: enum gchint_cmd; POLICY_GET and SESSION_GET are dumped
 * @ops: callbacks for the replies
 * @data: passed to the callbacks
 *
 * Returns 0, -ENOENT when the module is not loaded, or another -errno.
 */
int kernel_ask(int cmd, const struct message_ops *ops, void *data);

#define KERNEL_POLICIES 512

/**
 * struct kernel_policies - the module's policies; none if it is not loaded
 * @left: number of policies for which there was no place; reported
 */
struct kernel_policies {
	struct message_policy policy[KERNEL_POLICIES];
	unsigned int nr, left;
};

void kernel_policies(struct kernel_policies *p);
/* Returns the policy whose first CPU is @cpu, or NULL. */
const struct message_policy *kernel_policy(const struct kernel_policies *p, uint64_t cpu);

/**
 * struct kernel_opps - the power of a policy's OPPs
 * @nr: number of OPPs; 0 removes the power that was set before
 * @idle: power of the idle machine in uW, if @idle_known
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
 * kernel_give - set the power of a policy's OPPs, with GCHINT_CMD_OPPS_SET
 * @cpu: first CPU of the policy
 * @opps: the measured power
 * @why: receives the module's error message, or ""
 * @size: of @why
 *
 * Returns 0, the -errno with which the module refused, or an error of kernel_ask().
 */
int kernel_give(uint32_t cpu, const struct kernel_opps *opps, char *why, size_t size);

#endif
