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

#endif
