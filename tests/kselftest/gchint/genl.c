// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "genl.h"
#include "worker.h"

size_t genl_put(void *to, uint16_t type, const void *data, size_t len)
{
	struct nlattr *attr = to;

	memset(to, 0, NLA_ALIGN(NLA_HDRLEN + len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)to + NLA_HDRLEN, data, len);
	return NLA_ALIGN(attr->nla_len);
}

size_t genl_put_u32(void *to, uint16_t type, uint32_t value)
{
	return genl_put(to, type, &value, sizeof(value));
}

const void *genl_find(const void *attrs, size_t len, uint16_t type,
		      size_t *payload)
{
	while (len >= NLA_HDRLEN) {
		const struct nlattr *attr = attrs;
		size_t size = NLA_ALIGN(attr->nla_len);

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > len)
			return NULL;
		if ((attr->nla_type & NLA_TYPE_MASK) == type) {
			if (payload)
				*payload = attr->nla_len - NLA_HDRLEN;
			return (const char *)attrs + NLA_HDRLEN;
		}
		if (size >= len)
			return NULL;
		attrs = (const char *)attrs + size;
		len -= size;
	}
	return NULL;
}

static int send_request(struct genl *g, uint16_t type, uint16_t flags,
			uint8_t cmd, const void *attrs, size_t len)
{
	char out[4096] __attribute__((aligned(8))) = { 0 };
	struct nlmsghdr *nl = (void *)out;
	struct genlmsghdr *genl = NLMSG_DATA(nl);

	if (NLMSG_LENGTH(GENL_HDRLEN) + len > sizeof(out))
		return -EMSGSIZE;
	nl->nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + len;
	nl->nlmsg_type = type;
	nl->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	nl->nlmsg_seq = ++g->seq;
	genl->cmd = cmd;
	genl->version = 1;
	if (len)
		memcpy((char *)genl + GENL_HDRLEN, attrs, len);
	return send(g->fd, out, nl->nlmsg_len, 0) < 0 ? -errno : 0;
}

static void take_message(struct genl *g, const struct nlmsghdr *nl, size_t skip)
{
	const char *first = (const char *)NLMSG_DATA(nl) + skip;
	size_t len = nl->nlmsg_len - NLMSG_LENGTH(skip);
	const char *text;

	if (!(nl->nlmsg_flags & NLM_F_ACK_TLVS) || nl->nlmsg_len < NLMSG_LENGTH(skip))
		return;
	text = genl_find(first, len, NLMSGERR_ATTR_MSG, NULL);
	if (text)
		snprintf(g->message, sizeof(g->message), "%s", text);
}

static void keep(struct genl *g, const struct nlmsghdr *nl)
{
	const struct genlmsghdr *genl = NLMSG_DATA(nl);
	size_t len = nl->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);

	g->cmd = genl->cmd;
	g->attrs_len = len < sizeof(g->attrs) ? len : sizeof(g->attrs);
	memcpy(g->attrs, (const char *)genl + GENL_HDRLEN, g->attrs_len);
}

/* Called for one message: 1 continue; 0 or -errno ends the request. */
static int see(struct genl *g, const struct nlmsghdr *nl)
{
	const struct nlmsgerr *error = NLMSG_DATA(nl);

	/* A multicast message in between. */
	if (nl->nlmsg_seq != g->seq)
		return 1;
	switch (nl->nlmsg_type) {
	case NLMSG_ERROR:
		/* NETLINK_CAP_ACK: the request itself is not repeated. */
		take_message(g, nl, sizeof(*error));
		return error->error;
	case NLMSG_DONE:
		take_message(g, nl, sizeof(int));
		return *(const int *)NLMSG_DATA(nl);
	default:
		g->replies++;
		keep(g, nl);
		return 1;
	}
}

static int transact(struct genl *g, uint16_t type, uint8_t cmd, uint16_t flags,
		    const void *attrs, size_t len)
{
	char buffer[32768] __attribute__((aligned(8)));
	long long end = now_us() + 1000LL * (g->wait_ms ? g->wait_ms : 5000), left;
	int ret;

	g->message[0] = '\0';
	g->replies = 0;
	g->attrs_len = 0;
	ret = send_request(g, type, flags, cmd, attrs, len);
	if (ret)
		return ret;
	for (;;) {
		struct pollfd waiting = { g->fd, POLLIN, 0 };
		struct nlmsghdr *nl;
		ssize_t n;

		/* Multicast messages that keep coming do not extend the limit. */
		left = end - now_us();
		if (left <= 0 || poll(&waiting, 1, (left + 999) / 1000) != 1)
			return -ETIMEDOUT;
		n = recv(g->fd, buffer, sizeof(buffer), 0);
		if (n < 0)
			return -errno;
		for (nl = (void *)buffer; NLMSG_OK(nl, (size_t)n);
		     nl = NLMSG_NEXT(nl, n)) {
			ret = see(g, nl);
			if (ret <= 0)
				return ret;
		}
	}
}

int genl_request(struct genl *g, uint8_t cmd, uint16_t flags,
		 const void *attrs, size_t len)
{
	return transact(g, g->family, cmd, flags, attrs, len);
}

static void find_groups(struct genl *g)
{
	size_t len, one_len, size;
	const char *list = genl_find(g->attrs, g->attrs_len,
				     CTRL_ATTR_MCAST_GROUPS, &len);

	while (list && len >= NLA_HDRLEN) {
		const struct nlattr *one = (const void *)list;
		const char *inside = list + NLA_HDRLEN, *name;
		const uint32_t *id;

		one_len = one->nla_len - NLA_HDRLEN;
		name = genl_find(inside, one_len, CTRL_ATTR_MCAST_GRP_NAME, NULL);
		id = genl_find(inside, one_len, CTRL_ATTR_MCAST_GRP_ID, NULL);
		if (name && id && !strcmp(name, GCHINT_GENL_EVENT))
			g->event = *id;
		if (name && id && !strcmp(name, GCHINT_GENL_SAMPLING))
			g->sampling = *id;
		size = NLA_ALIGN(one->nla_len);
		if (size >= len)
			break;
		list += size;
		len -= size;
	}
}

int genl_open(struct genl *g)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	const uint16_t *family;
	char attr[64];
	int on = 1, ret;

	memset(g, 0, sizeof(*g));
	g->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (g->fd < 0)
		return -errno;
	if (bind(g->fd, (void *)&address, sizeof(address)) ||
	    setsockopt(g->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)) ||
	    setsockopt(g->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on))) {
		ret = -errno;
		goto err_close;
	}
	ret = transact(g, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, attr,
		       genl_put(attr, CTRL_ATTR_FAMILY_NAME, GCHINT_GENL_NAME,
				sizeof(GCHINT_GENL_NAME)));
	if (ret)
		goto err_close;
	family = genl_find(g->attrs, g->attrs_len, CTRL_ATTR_FAMILY_ID, NULL);
	if (!family) {
		ret = -ENOENT;
		goto err_close;
	}
	g->family = *family;
	find_groups(g);
	return 0;

err_close:
	close(g->fd);
	g->fd = -1;
	return ret;
}

void genl_close(struct genl *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

int genl_info(struct genl *g, uint16_t attr, uint32_t *value)
{
	const uint32_t *found;
	int ret = genl_request(g, GCHINT_CMD_INFO_GET, 0, NULL, 0);

	if (ret)
		return ret;
	found = genl_find(g->attrs, g->attrs_len, attr, NULL);
	if (!found)
		return -ENODATA;
	*value = *found;
	return 0;
}

int genl_record(struct genl *g, uint32_t phases)
{
	char attr[16];

	return genl_request(g, GCHINT_CMD_RECORD_SET, 0, attr,
			    genl_put_u32(attr, GCHINT_A_RECORD, phases));
}

int genl_listen(struct genl *g, uint32_t group)
{
	return setsockopt(g->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
			  sizeof(group)) ? -errno : 0;
}

int genl_next(struct genl *g, int ms)
{
	struct pollfd waiting = { g->fd, POLLIN, 0 };
	char buffer[32768] __attribute__((aligned(8)));
	struct nlmsghdr *nl = (void *)buffer;
	ssize_t n;

	if (poll(&waiting, 1, ms) != 1)
		return -ETIMEDOUT;
	n = recv(g->fd, buffer, sizeof(buffer), 0);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(nl, (size_t)n) || nl->nlmsg_type != g->family)
		return -EPROTO;
	keep(g, nl);
	return 0;
}
