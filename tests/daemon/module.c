// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: preloaded into gchintctl: answers of the module on a machine without it.
 * $GCHINT_MODULE, words separated by blanks: "many" sessions, more than are shown; "bare" policies
 * with only their CPU; "off", "limits": the actuator; "info=N", "policies=N", "sessions=N",
 * "set=N": refused with this errno; "connect", "unloaded". $GCHINT_ASKED: a file for the requests.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <uapi/linux/gchint.h>

#define FAMILY 0x20
#define MANY   259

static struct {
	nl_recvmsg_msg_cb_t valid;
	nl_recvmsg_err_cb_t error;
	void *valid_arg, *error_arg;
	int cmd;
} to;

/* The word in $GCHINT_MODULE, after its "="; NULL if absent. */
static const char *word_find(const char *name)
{
	const char *words = getenv("GCHINT_MODULE"), *at = words;
	const size_t len = strlen(name);

	while (at && (at = strstr(at, name))) {
		if ((at == words || at[-1] == ' ') && (!at[len] || strchr(" =", at[len])))
			return at + len + (at[len] == '=');
		at += len;
	}
	return NULL;
}

int genl_connect(struct nl_sock *sk)
{
	(void)sk;
	return word_find("connect") ? -NLE_PROTO_MISMATCH : 0;
}

int genl_ctrl_resolve(struct nl_sock *sk, const char *name)
{
	(void)sk;
	return word_find("unloaded") || strcmp(name, GCHINT_GENL_NAME) ? -NLE_OBJ_NOTFOUND : FAMILY;
}

int nl_socket_modify_cb(struct nl_sock *sk, enum nl_cb_type type, enum nl_cb_kind kind,
			nl_recvmsg_msg_cb_t func, void *arg)
{
	(void)sk;
	(void)kind;
	if (type == NL_CB_VALID) {
		to.valid = func;
		to.valid_arg = arg;
	}
	return 0;
}

int nl_socket_modify_err_cb(struct nl_sock *sk, enum nl_cb_kind kind, nl_recvmsg_err_cb_t func,
			    void *arg)
{
	(void)sk;
	(void)kind;
	to.error = func;
	to.error_arg = arg;
	return 0;
}

/* What GCHINT_CMD_OPPS_SET sets. */
static void print_opps(FILE *f, struct nlattr *opps)
{
	struct nlattr *attr;
	int left;

	attr = nla_find(nla_data(opps), nla_len(opps), GCHINT_OPPS_A_IDLE);
	if (attr)
		fprintf(f, " idle %u", nla_get_u32(attr));
	fputs(" opps", f);
	nla_for_each_nested(attr, opps, left)
	{
		struct nlattr *khz = nla_find(nla_data(attr), nla_len(attr), GCHINT_OPP_A_KHZ);
		struct nlattr *power = nla_find(nla_data(attr), nla_len(attr), GCHINT_OPP_A_POWER);

		if (nla_type(attr) == GCHINT_OPPS_A_OPP && khz && power)
			fprintf(f, " %u:%u", nla_get_u32(khz), nla_get_u32(power));
	}
}

int nl_send_auto(struct nl_sock *sk, struct nl_msg *msg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genlmsghdr *genl = nlmsg_data(nlh);
	struct nlattr *cpu = nlmsg_find_attr(nlh, GENL_HDRLEN, GCHINT_A_CPU);
	struct nlattr *opps = nlmsg_find_attr(nlh, GENL_HDRLEN, GCHINT_A_OPPS);
	FILE *f = getenv("GCHINT_ASKED") ? fopen(getenv("GCHINT_ASKED"), "ae") : NULL;

	(void)sk;
	to.cmd = genl->cmd;
	if (f) {
		fprintf(f, "family %d command %d version %d%s", nlh->nlmsg_type, genl->cmd,
			genl->version,
			(nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ? " dump" : "");
		if (cpu)
			fprintf(f, " cpu %u", nla_get_u32(cpu));
		if (opps)
			print_opps(f, opps);
		fputc('\n', f);
		fclose(f);
	}
	return word_find("unsent") ? -NLE_NOMEM : 0;
}

static struct nl_msg *message_begin(void)
{
	struct nl_msg *msg = nlmsg_alloc_size(32768);

	if (!msg || !genlmsg_put(msg, 0, 0, FAMILY, 0, 0, (uint8_t)to.cmd, GCHINT_GENL_VERSION))
		abort();
	return msg;
}

static void message_deliver(struct nl_msg *msg)
{
	to.valid(msg, to.valid_arg);
	nlmsg_free(msg);
}

static void info_answer(void)
{
	struct nl_msg *msg = message_begin();

	nla_put_u32(msg, GCHINT_A_ABI, 7);
	nla_put_u32(msg, GCHINT_A_SESSIONS, 3);
	nla_put_u32(msg, GCHINT_A_SLOTS, 12);
	nla_put_u32(msg, GCHINT_A_RECORDERS, 2);
	nla_put_u64(msg, GCHINT_A_LOST, 5000000001);
	message_deliver(msg);
}

static void policy_answer(uint32_t cpu)
{
	const uint32_t mode = word_find("off") ? GCHINT_MODE_OFF : GCHINT_MODE_TABLE + cpu % 2;
	struct nl_msg *msg = message_begin();
	struct nlattr *nest = nla_nest_start(msg, GCHINT_A_POLICY);

	nla_put_u32(msg, GCHINT_POLICY_A_CPU, cpu);
	if (!word_find("bare")) {
		nla_put_u32(msg, GCHINT_POLICY_A_MODE, mode);
		nla_put_u32(msg, GCHINT_POLICY_A_REASON, GCHINT_REASON_TABLE + cpu);
		nla_put_u64(msg, GCHINT_POLICY_A_TRANSITIONS, 5000000000 + cpu);
		nla_put_u32(msg, GCHINT_POLICY_A_ACTUATOR,
			    word_find("limits") ? GCHINT_ACTUATOR_LIMITS :
						  GCHINT_ACTUATOR_GOVERNOR);
		if (!cpu)
			nla_put_flag(msg, GCHINT_POLICY_A_FAST);
	}
	if (word_find("limits")) {
		nla_put_u32(msg, GCHINT_POLICY_A_CAP_KHZ, 1400000);
		nla_put_u32(msg, GCHINT_POLICY_A_FLOOR_KHZ, 960000);
	}
	nla_nest_end(msg, nest);
	message_deliver(msg);
}

static void session_answer(uint32_t i, unsigned int slots)
{
	struct nl_msg *msg = message_begin();
	struct nlattr *nest = nla_nest_start(msg, GCHINT_A_SESSION), *slot;

	nla_put_u64(msg, GCHINT_SESSION_A_ID, 5000000000 + i);
	nla_put_s32(msg, GCHINT_SESSION_A_TGID, (int32_t)(70 + i));
	nla_put_u32(msg, GCHINT_SESSION_A_UID, 1000 + i);
	nla_put_u32(msg, GCHINT_SESSION_A_GRANTED, i % 2 ? GCHINT_GRANT_RAISE : 0);
	for (uint32_t n = 0; n < slots; n++) {
		slot = nla_nest_start(msg, GCHINT_SESSION_A_SLOT);
		nla_put_u32(msg, GCHINT_SLOT_A_SLOT, n);
		nla_put_s32(msg, GCHINT_SLOT_A_TID, (int32_t)(70 + i + n));
		nla_nest_end(msg, slot);
	}
	nla_nest_end(msg, nest);
	message_deliver(msg);
}

static int request_refuse(int error)
{
	static const char words[] = "nonsense, said the module";
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr e;
		struct nlattr attr;
		char words[sizeof(words) + 3];
	} said = { .nlh = { .nlmsg_flags = NLM_F_CAPPED | NLM_F_ACK_TLVS },
		   .e = { .error = -error },
		   .attr = { sizeof(said.attr) + sizeof(words), NLMSGERR_ATTR_MSG } };

	said.nlh.nlmsg_len = (uint32_t)(sizeof(said.nlh) + sizeof(said.e)) + said.attr.nla_len;
	memcpy(said.words, words, sizeof(words));
	to.error(NULL, &said.e, to.error_arg);
	return -NLE_FAILURE;
}

static int request_answer(void)
{
	const unsigned int many = word_find("many") ? MANY : 3;
	const char *error = NULL;

	if (to.cmd == GCHINT_CMD_INFO_GET)
		error = word_find("info");
	else if (to.cmd == GCHINT_CMD_POLICY_GET)
		error = word_find("policies");
	else if (to.cmd == GCHINT_CMD_SESSION_GET)
		error = word_find("sessions");
	else
		error = word_find("set");
	if (error)
		return request_refuse(atoi(error));
	switch (to.cmd) {
	case GCHINT_CMD_INFO_GET:
		info_answer();
		break;
	case GCHINT_CMD_POLICY_GET:
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			policy_answer(cpu);
		break;
	case GCHINT_CMD_SESSION_GET:
		for (uint32_t i = 0; i < many; i++)
			session_answer(i, i % 4);
		break;
	default:
		break;
	}
	return 0;
}

int nl_recvmsgs_default(struct nl_sock *sk)
{
	(void)sk;
	return word_find("deaf") ? -NLE_AGAIN : request_answer();
}

int nl_wait_for_ack(struct nl_sock *sk)
{
	(void)sk;
	return word_find("deaf") ? -NLE_AGAIN : request_answer();
}
