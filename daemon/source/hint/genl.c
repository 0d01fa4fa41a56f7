// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generic netlink family "gchint": phase edges, decisions, leases, samples.
 *
 * Two sockets. The request socket sends one request at a time; RECORD_SET is in effect as
 * long as it is open. The event socket only receives: both groups of gchint, and the
 * controller's "notify" group, which announces when the module is loaded or unloaded. For
 * tests, context->feed names a local socket that delivers the same messages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <uapi/linux/gchint.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/message.h"
#include "../../common/module.h"
#include "../../recording/queue.h"
#include "../local.h"
#include "../privilege.h"
#include "../source.h"
#include "tracker.h"

/* A message of the kernel is at most a page or two; a test's may be larger. */
#define BUFFER 65536
/* Records of the queue to leave to the other sources. */
#define QUEUE_RESERVE 1024
/* How long the end waits for a writer that is behind, polling it every STEP_US. */
#define END_NS	(5 * NSEC_PER_SEC)
#define STEP_US 5000

struct genl {
	struct source_context *context;
	struct nl_sock *request, *events;
	int feed_listen, feed;
	int family; /* -1: the module is not loaded */
	int ctrl; /* the controller's own family */
	struct watch *watch, *rest, *accept;
	int watched_fd;
	bool next_known;
	uint64_t next_seq, lost;
	bool lost_known;
	bool behind; /* messages were left because the queue is full */
	uint32_t khz[CPUS_MAX]; /* last reported by a sample */
	char buffer[BUFFER] __attribute__((aligned(8)));
};

static void on_batch(void *data, bool has_seq, uint64_t seq, uint32_t events, bool has_lost,
		     uint64_t lost)
{
	struct genl *g = data;

	if (has_seq) {
		if (g->next_known && seq > g->next_seq) {
			tracker_gap(g->context->tracker);
			context_drop(g->context, "genl", seq - g->next_seq,
				     "netlink sequence gap: the socket's buffer ran over");
		}
		g->next_seq = seq + events;
		g->next_known = true;
	}
	if (has_lost) {
		if (g->lost_known && lost > g->lost) {
			tracker_gap(g->context->tracker);
			context_drop(g->context, "genl", lost - g->lost,
				     "the kernel's event ring ran over");
		}
		g->lost = lost;
		g->lost_known = true;
	}
}

static void genl_on_event(void *data, const struct message_event *e)
{
	struct genl *g = data;

	tracker_event(g->context->tracker, e);
}

/* Sampling events report frequencies where there is no tracepoint. */
static void genl_on_policy(void *data, const struct message_policy *p)
{
	struct genl *g = data;
	const struct record r = {
		.t = p->has & HAS(GCHINT_POLICY_A_TIME) ? p->time : clock_now(),
		.type = RECORD_TRANSITION,
		.transition = { .cpu = p->cpu, .khz = p->cur_khz, .how = HOW_SAMPLING },
	};

	if (!p->cur_khz || p->cpu >= CPUS_MAX || g->khz[p->cpu] == p->cur_khz)
		return;
	g->khz[p->cpu] = p->cur_khz;
	context_record(g->context, &r);
}

static const struct message_ops ops = {
	.batch = on_batch,
	.event = genl_on_event,
	.policy = genl_on_policy,
};

static void genl_parse(struct genl *g, size_t len, uint16_t family)
{
	int bad = message_parse(g->buffer, len, family, &ops, g);

	if (bad)
		context_drop(g->context, "genl", (uint64_t)bad, "malformed message");
}

/* Sends RECORD_SET, so that phases are reported under every governor. */
static int genl_request_record(struct genl *g)
{
	struct nl_msg *msg = nlmsg_alloc();
	int ret = -ENOMEM;

	if (!msg)
		return ret;
	if (genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, g->family, 0, 0, GCHINT_CMD_RECORD_SET,
			GCHINT_GENL_VERSION) &&
	    !nla_put_u32(msg, GCHINT_A_RECORD, g->context->config.genl_phases))
		/* Frees the message; waits for the acknowledgement. */
		return nl_send_sync(g->request, msg);
	nlmsg_free(msg);
	return ret;
}

static void genl_subscribe(struct genl *g)
{
	static const char *const groups[] = { GCHINT_GENL_EVENT, GCHINT_GENL_SAMPLING };
	int ret;

	g->family = genl_ctrl_resolve(g->request, GCHINT_GENL_NAME);
	if (g->family < 0) {
		g->family = -1;
		return;
	}
	g->next_known = false;
	g->lost_known = false;
	memset(g->khz, 0, sizeof(g->khz));
	for (size_t i = 0; i < 2; i++) {
		int group = genl_ctrl_resolve_grp(g->request, GCHINT_GENL_NAME, groups[i]);

		ret = group < 0 ? group : nl_socket_add_membership(g->events, group);
		if (ret)
			context_note(g->context, LOG_WARNING, "genl",
				     "group %s: %s: run as root or with "
				     "CAP_NET_ADMIN",
				     groups[i], nl_geterror(ret));
	}
	ret = genl_request_record(g);
	if (ret)
		context_note(g->context, LOG_WARNING, "genl",
			     "phases are seen only on CPUs governed by gchint: RECORD_SET: %s",
			     nl_geterror(ret));
}

static void on_controller(struct genl *g, size_t len)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)g->buffer;
	int rem = (int)len;

	for (; nlmsg_ok(nlh, rem); nlh = nlmsg_next(nlh, &rem)) {
		struct nlattr *name;
		const struct genlmsghdr *genl;

		if (nlh->nlmsg_type != g->ctrl || !genlmsg_valid_hdr(nlh, 0))
			continue;
		genl = nlmsg_data(nlh);
		name = nla_find(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0),
				CTRL_ATTR_FAMILY_NAME);
		if (!name || nla_strcmp(name, GCHINT_GENL_NAME))
			continue;
		if (genl->cmd == CTRL_CMD_DELFAMILY && g->family >= 0) {
			g->family = -1;
			tracker_module_gone(g->context->tracker, clock_now());
			context_note(g->context, LOG_NOTICE, "genl",
				     "module unloaded; waiting for it");
		} else if (genl->cmd == CTRL_CMD_NEWFAMILY && g->family < 0) {
			privilege_raise();
			genl_subscribe(g);
			privilege_lower();
			if (g->family >= 0)
				context_note(g->context, LOG_NOTICE, "genl", "module loaded again");
		}
	}
}

/*
 * Handles all pending messages; false if there were none. Stops and sets @behind if the
 * queue is full: waiting loses nothing, since the socket has its own buffer.
 */
static bool genl_drain(struct genl *g, int fd)
{
	bool taken = false;

	g->behind = false;
	for (;; taken = true) {
		struct sockaddr_nl from;
		socklen_t fromlen = sizeof(from);
		ssize_t n;

		if (g->context->queue && queue_room(g->context->queue) < QUEUE_RESERVE) {
			g->behind = true;
			break;
		}
		n = recvfrom(fd, g->buffer, sizeof(g->buffer), MSG_DONTWAIT | MSG_TRUNC,
			     g->feed_listen < 0 ? (struct sockaddr *)&from : NULL,
			     g->feed_listen < 0 ? &fromlen : NULL);
		if (n < 0 && errno == ENOBUFS)
			continue; /* sequence numbers show how many were lost */
		if (n <= 0) {
			if (n == 0 && fd == g->feed) {
				watch_free(g->watch);
				g->watch = NULL;
				close(g->feed);
				g->feed = -1;
				tracker_module_gone(g->context->tracker, clock_now());
				context_note(g->context, LOG_NOTICE, "genl", "feed closed");
			}
			break;
		}
		if (g->feed_listen < 0 && from.nl_pid)
			continue; /* accept messages of the kernel only */
		if ((size_t)n > sizeof(g->buffer)) {
			context_drop(g->context, "genl", 1, "message longer than the buffer");
			continue;
		}
		if (g->feed_listen >= 0) {
			genl_parse(g, (size_t)n, 0);
			continue;
		}
		on_controller(g, (size_t)n);
		if (g->family >= 0)
			genl_parse(g, (size_t)n, (uint16_t)g->family);
	}
	return taken;
}

/*
 * A wake-up for each edge would disturb the machine that is being measured. So the first
 * edge wakes the loop, and from then on the socket is polled once a period until a period
 * has passed without any. Then it is armed again, as one shot, since an error or a hang-up
 * would wake the loop whatever else is requested.
 */
static void on_readable(void *data, uint32_t events)
{
	struct genl *g = data;

	(void)events;
	genl_drain(g, g->watched_fd);
	if (g->watch)
		watch_period(g->rest,
			     g->context->config.source[SOURCE_genl].period_ms * NSEC_PER_MSEC);
}

static void on_rest_timer(void *data, uint32_t events)
{
	struct genl *g = data;
	bool more = g->watch && (genl_drain(g, g->watched_fd) || g->behind);

	(void)events;
	if (more && g->watch)
		return;
	watch_period(g->rest, 0);
	if (g->watch)
		watch_again(g->watch);
}

static void on_connect(void *data, uint32_t events)
{
	struct genl *g = data;
	int fd = accept4(g->feed_listen, NULL, NULL, SOCK_CLOEXEC);

	(void)events;
	if (fd < 0)
		return;
	if (g->feed >= 0) {
		close(fd);
		return;
	}
	g->feed = fd;
	g->watched_fd = fd;
	g->next_known = false;
	g->lost_known = false;
	g->watch = loop_fd(g->context->loop, fd, EPOLLIN | EPOLLONESHOT, on_readable, g);
}

static int feed_start(struct genl *g)
{
	int fd = local_bind(SOCK_SEQPACKET, g->context->feed);

	if (fd < 0)
		return fd;
	g->feed_listen = fd;
	if (listen(fd, 1))
		return -errno;
	g->accept = loop_fd(g->context->loop, g->feed_listen, EPOLLIN, on_connect, g);
	return g->accept ? 0 : -ENOMEM;
}

static int netlink_start(struct genl *g)
{
	int size = (int)g->context->config.genl_buffer;
	int notify, fd;

	g->request = nl_socket_alloc();
	g->events = nl_socket_alloc();
	if (!g->request || !g->events)
		return -ENOMEM;
	if (genl_connect(g->request) || genl_connect(g->events))
		return -EPROTONOSUPPORT;
	nl_socket_disable_seq_check(g->events);
	fd = nl_socket_get_fd(g->events);
	/* Beyond rmem_max only with CAP_NET_ADMIN. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	g->ctrl = GENL_ID_CTRL;
	notify = genl_ctrl_resolve_grp(g->request, "nlctrl", "notify");
	if (notify >= 0)
		nl_socket_add_membership(g->events, notify);
	genl_subscribe(g);
	g->watched_fd = fd;
	g->watch = loop_fd(g->context->loop, fd, EPOLLIN | EPOLLONESHOT, on_readable, g);
	return g->watch ? 0 : -ENOMEM;
}

static void genl_stop(void *state)
{
	struct genl *g = state;

	watch_free(g->watch);
	watch_free(g->rest);
	watch_free(g->accept);
	/* Messages sent before the end belong to the recording. */
	if (g->watched_fd >= 0 && (g->feed_listen < 0 || g->feed >= 0)) {
		uint64_t end = clock_now() + END_NS;

		g->watch = NULL;
		genl_drain(g, g->watched_fd);
		while (g->behind && clock_now() < end) {
			queue_kick(g->context->queue);
			usleep(STEP_US);
			genl_drain(g, g->watched_fd);
		}
		if (g->behind)
			context_drop(g->context, "genl", 1,
				     "messages left in the socket at the end, not counted");
	}
	if (g->feed >= 0)
		close(g->feed);
	if (g->feed_listen >= 0)
		local_close(g->feed_listen, SOCK_SEQPACKET, g->context->feed);
	nl_socket_free(g->request);
	nl_socket_free(g->events);
	free(g);
}

static int genl_start(struct source_context *context, void **state)
{
	struct genl *g = calloc(1, sizeof(*g));
	int ret;

	if (!g)
		return -ENOMEM;
	g->context = context;
	g->family = g->feed_listen = g->feed = g->watched_fd = -1;
	g->rest = loop_timer(context->loop, 0, on_rest_timer, g);
	ret = !g->rest ? -ENOMEM : context->feed ? feed_start(g) : netlink_start(g);
	if (ret) {
		genl_stop(g);
		return ret;
	}
	/* The kernel stamps events with its own monotonic clock. */
	context_clock(context, "genl", "CLOCK_MONOTONIC", 0, 0,
		      "stamped by the kernel at the edge");
	*state = g;
	return 0;
}

static int genl_probe(const struct source_context *context, struct probe *p)
{
	struct nl_sock *sk;
	char remedy[MODULE_REMEDY_SIZE];
	int family;

	if (context->feed)
		return probe_found(p, "events from the feed %s", context->feed);
	sk = nl_socket_alloc();
	if (!sk || genl_connect(sk)) {
		nl_socket_free(sk);
		return probe_absent(p, -EPROTONOSUPPORT, "", "no generic netlink in this kernel");
	}
	family = genl_ctrl_resolve(sk, GCHINT_GENL_NAME);
	nl_socket_free(sk);
	if (family >= 0)
		return probe_found(p, "phases, decisions and leases of the kernel");
	module_remedy(remedy, sizeof(remedy));
	if (!context->loop)
		return probe_absent(p, -ENOENT, remedy,
				    "module not loaded: no decisions, and phases only of programs "
				    "that gchintctl runs");
	/* The module may be loaded later, which the controller announces. */
	return probe_found(p, "module not loaded (%s); waiting for it", remedy);
}

const struct source source_genl = { genl_probe, genl_start, genl_stop };
