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
	int refused; /* -errno */
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

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct ask *ask = arg;

	(void)from;
	ask->refused = e->error;
	return NL_STOP;
}

static bool put(struct nl_msg *msg, const struct kernel_attr *attrs, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (nla_put_u32(msg, attrs[i].type, attrs[i].value))
			return false;
	return true;
}

static int converse(int cmd, int flags, const struct kernel_attr *attrs, unsigned int nr,
		    const struct message_ops *ops, void *data)
{
	struct ask ask = { ops, data, 0 };
	struct nl_sock *sk = nl_socket_alloc();
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
	nl_socket_modify_err_cb(sk, NL_CB_CUSTOM, on_error, &ask);
	ret = -ENOMEM;
	msg = nlmsg_alloc();
	if (!msg ||
	    !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, (uint8_t)cmd,
			 GCHINT_GENL_VERSION) ||
	    !put(msg, attrs, nr))
		goto free_message;
	ret = nl_send_auto(sk, msg);
	/* A dump ends with its last message, an answer with its acknowledgement. */
	if (ret >= 0)
		ret = flags & NLM_F_DUMP ? nl_recvmsgs_default(sk) : nl_wait_for_ack(sk);
	if (ret < 0)
		ret = ask.refused ? ask.refused : -EIO;
free_message:
	nlmsg_free(msg);
free_socket:
	nl_socket_free(sk);
	return ret;
}

int kernel_ask(int cmd, const struct message_ops *ops, void *data)
{
	return converse(cmd, cmd == GCHINT_CMD_INFO_GET ? 0 : NLM_F_DUMP, NULL, 0, ops, data);
}

int kernel_call(int cmd, const struct kernel_attr *attrs, unsigned int nr,
		const struct message_ops *ops, void *data)
{
	return converse(cmd, 0, attrs, nr, ops, data);
}
