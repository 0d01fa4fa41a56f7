// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel.h"

#include <errno.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <uapi/linux/gchint.h>

struct ask {
	const struct message_ops *ops;
	void *data;
};

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct ask *ask = arg;

	message_parse(nlh, nlh->nlmsg_len, 0, ask->ops, ask->data);
	return NL_OK;
}

static void on_policy(void *data, const struct message_policy *policy)
{
	struct kernel_policies *p = data;

	if (p->nr < GCHINT_INFO_POLICIES)
		p->policy[p->nr++] = *policy;
}

void kernel_policies(struct kernel_policies *p)
{
	static const struct message_ops ops = { .policy = on_policy };

	p->nr = 0;
	kernel_ask(GCHINT_CMD_POLICY_GET, &ops, p);
}

const struct message_policy *kernel_policy(const struct kernel_policies *p, uint64_t cpu)
{
	for (unsigned int i = 0; i < p->nr; i++)
		if (p->policy[i].cpu == cpu)
			return &p->policy[i];
	return NULL;
}

int kernel_ask(int cmd, const struct message_ops *ops, void *data)
{
	struct ask ask = { ops, data };
	struct nl_sock *sk = nl_socket_alloc();
	int flags = cmd == GCHINT_CMD_INFO_GET ? 0 : NLM_F_DUMP;
	struct nl_msg *msg = NULL;
	int family, ret = -ENOMEM;

	if (!sk)
		return ret;
	ret = -EPROTONOSUPPORT;
	if (genl_connect(sk))
		goto free_socket;
	ret = -ENOENT;
	family = genl_ctrl_resolve(sk, GCHINT_GENL_NAME);
	if (family < 0)
		goto free_socket;
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &ask);
	ret = -ENOMEM;
	msg = nlmsg_alloc();
	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, (uint8_t)cmd,
				 GCHINT_GENL_VERSION))
		goto free_message;
	ret = nl_send_auto(sk, msg);
	if (ret >= 0)
		ret = nl_recvmsgs_default(sk);
	/* A dump ends with its last message, an answer with its acknowledgement. */
	if (!ret && !flags)
		ret = nl_wait_for_ack(sk);
	if (ret < 0)
		ret = ret == -NLE_PERM ? -EPERM : ret == -NLE_OPNOTSUPP ? -EOPNOTSUPP : -EIO;
free_message:
	nlmsg_free(msg);
free_socket:
	nl_socket_free(sk);
	return ret;
}
