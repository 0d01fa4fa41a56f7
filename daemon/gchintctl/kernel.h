/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking the module, over generic netlink. */
#ifndef GCHINTCTL_KERNEL_H
#define GCHINTCTL_KERNEL_H

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

#endif
