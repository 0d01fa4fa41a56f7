// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <uapi/linux/gchint.h>

#include "../ctl.h"

struct ask {
	const struct message_ops *ops;
	void *data;
	int refused; /* -errno */
	char *why; /* receives the module's message, or NULL */
	size_t why_size;
};

/* The attributes of GCHINT_CMD_OPPS_SET. */
struct request {
	uint32_t cpu;
	const struct kernel_opps *opps;
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

	if (p->nr < KERNEL_POLICIES)
		p->policy[p->nr++] = *policy;
	else
		p->left++;
}

void kernel_policies(struct kernel_policies *p)
{
	static const struct message_ops ops = { .policy = on_policy };

	p->nr = p->left = 0;
	kernel_ask(GCHINT_CMD_POLICY_GET, &ops, p);
	if (p->left)
		ctl_error("the module has %u policies: what it says of the last %u is not shown",
			  p->nr + p->left, p->left);
}

const struct message_policy *kernel_policy(const struct kernel_policies *p, uint64_t cpu)
{
	for (unsigned int i = 0; i < p->nr; i++)
		if (p->policy[i].cpu == cpu)
			return &p->policy[i];
	return NULL;
}

/* The message follows the request in the acknowledgement, if that repeats the request. */
static void ack_copy_message(struct ask *ask, struct nlmsgerr *e)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);
	size_t skip = sizeof(*e);
	struct nlattr *text;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	if (nlh->nlmsg_len < NLMSG_HDRLEN + skip)
		return;
	text = nla_find((struct nlattr *)((char *)e + skip),
			(int)(nlh->nlmsg_len - NLMSG_HDRLEN - skip), NLMSGERR_ATTR_MSG);
	if (text)
		snprintf(ask->why, ask->why_size, "%.*s", nla_len(text), (char *)nla_data(text));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct ask *ask = arg;

	(void)from;
	ask->refused = e->error;
	if (ask->why)
		ack_copy_message(ask, e);
	return NL_STOP;
}

static bool opp_put(struct nl_msg *msg, const struct kernel_opp *opp)
{
	struct nlattr *nest = nla_nest_start(msg, GCHINT_OPPS_A_OPP | NLA_F_NESTED);

	if (!nest || nla_put_u32(msg, GCHINT_OPP_A_KHZ, opp->khz) ||
	    nla_put_u32(msg, GCHINT_OPP_A_POWER, opp->power))
		return false;
	nla_nest_end(msg, nest);
	return true;
}

static bool request_put_opps(struct nl_msg *msg, const struct request *r)
{
	struct nlattr *nest;

	if (nla_put_u32(msg, GCHINT_A_CPU, r->cpu))
		return false;
	nest = nla_nest_start(msg, GCHINT_A_OPPS | NLA_F_NESTED);
	if (!nest)
		return false;
	if (r->opps->idle_known && nla_put_u32(msg, GCHINT_OPPS_A_IDLE, r->opps->idle))
		return false;
	for (unsigned int i = 0; i < r->opps->nr; i++)
		if (!opp_put(msg, &r->opps->opp[i]))
			return false;
	/* Keep an empty nest: it makes the module forget its measured power. */
	nla_nest_end_keep_empty(msg, nest);
	return true;
}

/* @request: the attributes, or NULL for none. */
static int request_send(int cmd, int flags, const struct request *request, struct ask *ask)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct nl_msg *msg = NULL;
	int family, ret = -ENOMEM, on = 1;

	if (!sk)
		return ret;
	ret = -EPROTONOSUPPORT;
	if (genl_connect(sk))
		goto free_socket;
	ret = -ENOENT;
	family = genl_ctrl_resolve(sk, GCHINT_GENL_NAME);
	if (family < 0)
		goto free_socket;
	/* Without extended acknowledgements a kernel still returns the error number. */
	if (ask->why)
		setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_valid, ask);
	nl_socket_modify_err_cb(sk, NL_CB_CUSTOM, on_error, ask);
	ret = -ENOMEM;
	msg = nlmsg_alloc();
	if (!msg ||
	    !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, (uint8_t)cmd,
			 GCHINT_GENL_VERSION) ||
	    (request && !request_put_opps(msg, request)))
		goto free_message;
	ret = nl_send_auto(sk, msg);
	/* A dump ends with its last message, a single reply with its acknowledgement. */
	if (ret >= 0)
		ret = flags & NLM_F_DUMP ? nl_recvmsgs_default(sk) : nl_wait_for_ack(sk);
	if (ret < 0)
		ret = ask->refused ? ask->refused : -EIO;
free_message:
	nlmsg_free(msg);
free_socket:
	nl_socket_free(sk);
	return ret;
}

int kernel_ask(int cmd, const struct message_ops *ops, void *data)
{
	struct ask ask = { .ops = ops, .data = data };

	return request_send(cmd, cmd == GCHINT_CMD_INFO_GET ? 0 : NLM_F_DUMP, NULL, &ask);
}

int kernel_give(uint32_t cpu, const struct kernel_opps *opps, char *why, size_t size)
{
	const struct request request = { .cpu = cpu, .opps = opps };
	static const struct message_ops ops = { 0 };
	struct ask ask = { .ops = &ops, .why = why, .why_size = size };

	why[0] = '\0';
	return request_send(GCHINT_CMD_OPPS_SET, 0, &request, &ask);
}
