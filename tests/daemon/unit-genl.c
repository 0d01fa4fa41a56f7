// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: the netlink family as gchintd uses it, on a machine without the module: a socket of
 * our own replaces the kernel's.
 */
#include "unit.h"

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <uapi/linux/gchint.h>
#include <unistd.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/context.h"
#include "../../daemon/source/hint/tracker.h"
#include "../../daemon/source/source.h"
#include "build.h"
#include "records.h"

#define FAMILY 0x20
#define NOTIFY 3

static struct {
	bool unconnected;
	int family; /* 0 or less: absent */
	int group, join, record; /* refused with this; 0: granted */
	int socket[2]; /* gchintd's end, ours */
	uint32_t sender;
	int error; /* of the next receive call */
	char asked[2048];
} kernel;

/* How time advances while gchintd waits. */
static struct queue *emptied;
static unsigned int naps;

ssize_t __real_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *from,
			socklen_t *length);
ssize_t __wrap_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *from,
			socklen_t *length);
int __real_usleep(useconds_t us);
int __wrap_usleep(useconds_t us);

#define ASKED(...)                                                                                 \
	snprintf(kernel.asked + strlen(kernel.asked), sizeof(kernel.asked) - strlen(kernel.asked), \
		 __VA_ARGS__)

int genl_connect(struct nl_sock *sk)
{
	(void)sk;
	return kernel.unconnected ? -NLE_PROTO_MISMATCH : 0;
}

int genl_ctrl_resolve(struct nl_sock *sk, const char *name)
{
	(void)sk;
	ASKED("family %s\n", name);
	return kernel.family > 0 ? kernel.family : -NLE_OBJ_NOTFOUND;
}

int genl_ctrl_resolve_grp(struct nl_sock *sk, const char *family, const char *group)
{
	(void)sk;
	ASKED("group %s of %s\n", group, family);
	if (!strcmp(family, "nlctrl"))
		return NOTIFY;
	return kernel.group ? kernel.group : (int)strlen(group);
}

int nl_socket_add_membership(struct nl_sock *sk, int group)
{
	(void)sk;
	ASKED("join %d\n", group);
	return kernel.join;
}

int nl_socket_get_fd(const struct nl_sock *sk)
{
	(void)sk;
	return kernel.socket[0];
}

int nl_send_sync(struct nl_sock *sk, struct nl_msg *msg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const struct genlmsghdr *genl = nlmsg_data(nlh);
	struct nlattr *record =
		nlmsg_find_attr((struct nlmsghdr *)nlh, GENL_HDRLEN, GCHINT_A_RECORD);

	(void)sk;
	ASKED("to %d: command %d, version %d, record %u\n", nlh->nlmsg_type, genl->cmd,
	      genl->version, record ? nla_get_u32(record) : 0);
	nlmsg_free(msg);
	return kernel.record;
}

ssize_t __wrap_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *from,
			socklen_t *length)
{
	ssize_t n;

	if (kernel.error) {
		errno = kernel.error;
		kernel.error = 0;
		return -1;
	}
	n = __real_recvfrom(fd, buf, size, flags, NULL, NULL);
	if (from && length)
		((struct sockaddr_nl *)(void *)from)->nl_pid = kernel.sender;
	return n;
}

int __wrap_usleep(useconds_t us)
{
	if (!emptied)
		return __real_usleep(us);
	if (++naps == 2)
		queue_consume(emptied, queue_fill(emptied));
	return 0;
}

static void kernel_send(const void *bytes, size_t len)
{
	if (send(kernel.socket[1], bytes, len, 0) != (ssize_t)len)
		printf("# not sent: %s\n", strerror(errno));
}

static void says_built(struct build *b)
{
	size_t len;
	const void *bytes = build_bytes(b, &len);

	kernel_send(bytes, len);
	build_done(b);
}

static void says_phase(struct build *b, uint64_t t, uint32_t phase)
{
	build_phase(b, t, 1, 70, 71, 2, phase, 0, 0, 0);
	says_built(b);
}

static void says_controller(uint8_t command, const char *name)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, 0, 0, GENL_ID_CTRL, 0, 0, command, 1))
		abort();
	if (name)
		nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, name);
	kernel_send(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

/* The watches in order of creation. */
static void watches_run(void)
{
	watched_at(0)->fn(watched_at(0)->data, EPOLLIN);
}

static void socket_run(void)
{
	watched_at(1)->fn(watched_at(1)->data, EPOLLIN);
}

static void probe_check(struct source_context *context)
{
	const struct source *genl = source_table[SOURCE_genl];
	char text[2048] = "";

	for (int i = 0; i < 5; i++) {
		struct source_context other = *context;
		struct probe p = { "", "" };
		const size_t at = strlen(text);
		int ret;

		kernel.unconnected = i == 0;
		kernel.family = i == 1 ? FAMILY : 0;
		if (i == 2)
			other.loop = NULL;
		if (i == 4)
			other.feed = "/run/feed";
		ret = genl->probe(&other, &p);
		snprintf(text + at, sizeof(text) - at, "%d '%s' '%s'\n", ret, p.what, p.remedy);
	}
	text_is(text,
		"-93 'no generic netlink in this kernel' ''\n"
		"0 'phases, decisions and leases of the kernel' ''\n"
		"-2 'module not loaded: no decisions, and phases only of programs that gchintctl "
		"runs' "
		"'modprobe cpufreq_gchint'\n"
		"0 'module not loaded (modprobe cpufreq_gchint); waiting for it' ''\n"
		"0 'events from the feed /run/feed' ''\n",
		"the module is found, or the message names what to do");
	kernel.asked[0] = '\0';
	kernel.family = FAMILY;
}

static void start_check(struct source_context *context, void **state)
{
	const struct source *genl = source_table[SOURCE_genl];
	socklen_t length = sizeof(int);
	int bytes = 0;

	kernel.unconnected = true;
	CHECK(genl->start(context, state) == -EPROTONOSUPPORT,
	      "without generic netlink it does not start");
	kernel.unconnected = false;
	watched_forget();
	context->config.genl_buffer = 65536;
	context->config.genl_phases = 0x155;
	context->config.source[SOURCE_genl].period_ms = 30;
	CHECK(!genl->start(context, state) && watched_count() == 2 && !watched_at(0)->period_ns &&
		      watched_at(1)->fd == kernel.socket[0] &&
		      watched_at(1)->events == (EPOLLIN | EPOLLONESHOT),
	      "it waits for the socket, one wake-up each");
	text_is(kernel.asked,
		"group notify of nlctrl\n"
		"join 3\n"
		"family gchint\n"
		"group event of gchint\n"
		"join 5\n"
		"group sampling of gchint\n"
		"join 8\n"
		"to 32: command 4, version 1, record 341\n",
		"the kernel is asked for the family and its groups");
	getsockopt(kernel.socket[0], SOL_SOCKET, SO_RCVBUF, &bytes, &length);
	CHECK(bytes == 2 * 65536, "the socket has the configured buffer");
	records_are(context->queue,
		    "clock 0 0 'genl' 'CLOCK_MONOTONIC' 'stamped by the kernel at the edge'\n",
		    "the clock of the kernel's timestamps is defined");
}

static void events_check(struct source_context *context)
{
	struct build b = { .seq = 100 };
	struct watched *timer = watched_at(0), *fd = watched_at(1);

	says_phase(&b, 1000, GCHINT_PHASE_MARK);
	says_phase(&b, 2000, GCHINT_PHASE_SWEEP);
	socket_run();
	CHECK(timer->period_ns == 30000000 && !fd->again,
	      "after the first message the socket is polled by the period");
	records_are(context->queue,
		    "process 70 70\n"
		    "process 70 71\n"
		    "phase 1000: 1 from 1000, 4 of 70/71, end 0\n"
		    "phase 2000: 1 from 1000, 4 of 70/71, end 1\n"
		    "phase 2000: 2 from 2000, 7 of 70/71, end 0\n",
		    "all messages of the socket are read");
	says_phase(&b, 3000, GCHINT_PHASE_NONE);
	watches_run();
	CHECK(timer->period_ns == 30000000 && !fd->again,
	      "polling continues while there are messages");
	records_are(context->queue, "phase 3000: 2 from 2000, 7 of 70/71, end 1\n",
		    "an end of a phase is recorded");
	watches_run();
	CHECK(!timer->period_ns && fd->again == 1, "polling ends when there are none");
	records_are(context->queue, "", "an empty socket records nothing");

	/* Event numbers continue in the next message. */
	build_phase(&b, 4000, 1, 70, 71, 2, GCHINT_PHASE_MARK, 0, 0, 0);
	nla_put_u64(b.msg, GCHINT_A_LOST, 5);
	says_built(&b);
	b.seq += 3;
	says_phase(&b, 5000, GCHINT_PHASE_NONE);
	says_phase(&b, 6000, GCHINT_PHASE_MARK);
	build_phase(&b, 7000, 1, 70, 71, 2, GCHINT_PHASE_NONE, 0, 0, 0);
	nla_put_u64(b.msg, GCHINT_A_LOST, 9);
	says_built(&b);
	build_phase(&b, 8000, 1, 70, 71, 2, GCHINT_PHASE_MARK, 0, 0, 0);
	nla_put_u64(b.msg, GCHINT_A_LOST, 9);
	says_built(&b);
	b.seq -= 1;
	says_phase(&b, 9000, GCHINT_PHASE_NONE);
	socket_run();
	records_are(context->queue,
		    "phase 4000: 3 from 4000, 4 of 70/71, end 0\n"
		    "drop 3 'genl' 'netlink sequence gap: the socket's buffer ran over'\n"
		    "phase 5000: 3 from 4000, 4 of 70/71, end 1, uncertain\n"
		    "phase 6000: 4 from 6000, 4 of 70/71, end 0\n"
		    "drop 4 'genl' 'the kernel's event ring ran over'\n"
		    "phase 7000: 4 from 6000, 4 of 70/71, end 1, uncertain\n"
		    "phase 8000: 5 from 8000, 4 of 70/71, end 0\n"
		    "phase 9000: 5 from 8000, 4 of 70/71, end 1\n",
		    "lost messages are counted and phases marked as uncertain");
}

static void sampling_check(struct source_context *context)
{
	static const struct {
		uint64_t t;
		uint32_t cpu, khz;
	} told[] = { { 100, 1, 960000 },    { 200, 1, 960000 }, { 300, 0, 960000 },
		     { 400, 1, 0 },	    { 500, 1, 300000 }, { 600, 8191, 1 },
		     { 700, 8192, 300000 }, { 800, 1, 960000 } };
	struct nl_msg *msg = nlmsg_alloc();
	struct build b = { 0 };
	struct nlattr *nest;

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		build_sample(&b, told[i].t, told[i].cpu, told[i].khz);
		says_built(&b);
	}
	if (!msg || !genlmsg_put(msg, 0, 0, FAMILY, 0, 0, GCHINT_CMD_SAMPLE, GCHINT_GENL_VERSION))
		abort();
	nest = nla_nest_start(msg, GCHINT_A_POLICY);
	nla_put_u32(msg, GCHINT_POLICY_A_CPU, 2);
	nla_put_u32(msg, GCHINT_POLICY_A_CUR_KHZ, 1190400);
	nla_nest_end(msg, nest);
	kernel_send(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
	socket_run();
	records_are(context->queue,
		    "transition 100: cpu 1 960000 kHz by 3\n"
		    "transition 300: cpu 0 960000 kHz by 3\n"
		    "transition 500: cpu 1 300000 kHz by 3\n"
		    "transition 600: cpu 8191 1 kHz by 3\n"
		    "transition 800: cpu 1 960000 kHz by 3\n"
		    "transition -: cpu 2 1190400 kHz by 3\n",
		    "frequencies of samples are recorded when they change");
}

static void strangers_check(struct source_context *context)
{
	static char large[65537];
	struct build b = { .seq = 1000 };

	kernel.sender = 4711;
	says_phase(&b, 1000, GCHINT_PHASE_MARK);
	says_controller(CTRL_CMD_DELFAMILY, GCHINT_GENL_NAME);
	socket_run();
	kernel.sender = 0;
	records_are(context->queue, "", "messages that are not from the kernel are ignored");
	kernel_send(large, sizeof(large));
	kernel_send(large, sizeof(large) - 1);
	kernel_send("x", 1);
	kernel.error = ENOBUFS;
	socket_run();
	records_are(context->queue,
		    "drop 1 'genl' 'message longer than the buffer'\n"
		    "drop 1 'genl' 'malformed message'\n"
		    "drop 1 'genl' 'malformed message'\n",
		    "oversized and malformed messages are counted");
	kernel.error = EINTR;
	says_phase(&b, 2000, GCHINT_PHASE_MARK);
	socket_run();
	records_are(context->queue, "", "any other error ends the read");
	watches_run();
	records_are(context->queue,
		    "drop 890 'genl' 'netlink sequence gap: the socket's buffer ran over'\n"
		    "phase 2000: 6 from 2000, 4 of 70/71, end 0\n",
		    "the next read continues");
}

static void comes_and_goes(struct source_context *context)
{
	struct build b = { .seq = 1 };

	kernel.asked[0] = '\0';
	says_controller(CTRL_CMD_DELFAMILY, NULL);
	says_controller(CTRL_CMD_DELFAMILY, "other");
	says_controller(CTRL_CMD_NEWFAMILY, GCHINT_GENL_NAME);
	says_controller(CTRL_CMD_NEWMCAST_GRP, GCHINT_GENL_NAME);
	socket_run();
	records_are(context->queue, "", "other families' notifications are ignored");
	text_is(kernel.asked, "", "the family is not requested again");
	says_controller(CTRL_CMD_DELFAMILY, GCHINT_GENL_NAME);
	says_controller(CTRL_CMD_DELFAMILY, GCHINT_GENL_NAME);
	says_phase(&b, 10, GCHINT_PHASE_MARK);
	socket_run();
	records_are(context->queue,
		    "phase -: 6 from 2000, 4 of 70/71, end 4\n"
		    "note 5 'genl' 'module unloaded; waiting for it'\n",
		    "an unloaded module ends its phases, is reported once and ignored");
	kernel.family = 0;
	says_controller(CTRL_CMD_NEWFAMILY, GCHINT_GENL_NAME);
	socket_run();
	records_are(context->queue, "", "the module is still absent");
	kernel.family = FAMILY;
	kernel.group = -NLE_OBJ_NOTFOUND;
	kernel.record = -NLE_PERM;
	says_controller(CTRL_CMD_NEWFAMILY, GCHINT_GENL_NAME);
	build_sample(&b, 20, 1, 960000);
	says_built(&b);
	says_phase(&b, 30, GCHINT_PHASE_MARK);
	socket_run();
	records_are(
		context->queue,
		"note 4 'genl' 'group event: Object not found: run as root or with CAP_NET_ADMIN'\n"
		"note 4 'genl' 'group sampling: Object not found: run as root or with "
		"CAP_NET_ADMIN'\n"
		"note 4 'genl' 'phases are seen only on CPUs governed by gchint: RECORD_SET: "
		"Operation not permitted'\n"
		"note 5 'genl' 'module loaded again'\n"
		"transition 20: cpu 1 960000 kHz by 3\n"
		"phase 30: 7 from 30, 4 of 70/71, end 0\n",
		"a reloaded module is accepted with any sequence number; refusals are reported");
	kernel.group = 0;
	kernel.record = 0;
	kernel.join = -NLE_PERM;
	says_controller(CTRL_CMD_DELFAMILY, GCHINT_GENL_NAME);
	says_controller(CTRL_CMD_NEWFAMILY, GCHINT_GENL_NAME);
	socket_run();
	records_are(context->queue,
		    "phase -: 7 from 30, 4 of 70/71, end 4\n"
		    "note 5 'genl' 'module unloaded; waiting for it'\n"
		    "note 4 'genl' 'group event: Operation not permitted: run as root or with "
		    "CAP_NET_ADMIN'\n"
		    "note 4 'genl' 'group sampling: Operation not permitted: run as root or with "
		    "CAP_NET_ADMIN'\n"
		    "note 5 'genl' 'module loaded again'\n",
		    "a refusal to join groups is reported");
	kernel.join = 0;
	text_is(kernel.asked,
		"family gchint\n"
		"family gchint\n"
		"group event of gchint\n"
		"group sampling of gchint\n"
		"to 32: command 4, version 1, record 341\n"
		"family gchint\n"
		"group event of gchint\n"
		"join 5\n"
		"group sampling of gchint\n"
		"join 8\n"
		"to 32: command 4, version 1, record 341\n",
		"each time the family is requested again");
}

static size_t queue_fill_up(struct queue *q, size_t room)
{
	const struct record r = { .t = 1, .type = RECORD_SAMPLE };
	size_t n = 0;

	for (; queue_room(q) > room; n++)
		queue_push(q, &r);
	return n;
}

static void stop_check(struct source_context *context, void *state)
{
	const struct source *genl = source_table[SOURCE_genl];
	struct watched *timer = watched_at(0), *fd = watched_at(1);
	struct build b = { .seq = 50 };

	watches_run();
	fd->again = 0;
	queue_fill_up(context->queue, 1023);
	says_phase(&b, 100, GCHINT_PHASE_MARK);
	socket_run();
	watches_run();
	CHECK(queue_room(context->queue) == 1023 && timer->period_ns && !fd->again,
	      "messages stay in the socket while the queue is full");
	queue_consume(context->queue, queue_fill(context->queue));
	queue_fill_up(context->queue, 1024);
	watches_run();
	CHECK(queue_room(context->queue) < 1024, "they are read once there is space");
	queue_consume(context->queue, queue_fill(context->queue) - 1);
	records_are(context->queue, "phase 100: 8 from 100, 4 of 70/71, end 0\n",
		    "the messages are read then");
	says_phase(&b, 200, GCHINT_PHASE_NONE);
	queue_fill_up(context->queue, 1000);
	emptied = context->queue;
	naps = 0;
	genl->stop(state);
	emptied = NULL;
	CHECK(naps == 2, "the end waits for a slow writer");
	records_are(context->queue, "phase 200: 8 from 100, 4 of 70/71, end 1\n",
		    "messages sent before the end are recorded");
	queue_fill_up(context->queue, 0);
	context->lost = 5;
	context->patient = true;
	emptied = context->queue;
	naps = 0;
	context_drop(context, "genl", 6, "more");
	emptied = NULL;
	context->patient = false;
	records_are(context->queue,
		    "drop 5 'record' 'queue full: the disk is too slow or full'\n"
		    "drop 6 'genl' 'more'\n",
		    "a slow writer is waited for after records were lost, too");
}

void unit_genl(void)
{
	struct source_context context = { .root = { "/absent", "/absent", "/absent", "/absent",
						    "/absent" } };
	void *state = NULL;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, kernel.socket)) {
		CHECK(false, "a socket for the kernel");
		return;
	}
	context.loop = loop_new();
	context.queue = queue_new(4096);
	context.tracker = tracker_new(&context);
	config_defaults(&context.config);
	watched_forget();
	probe_check(&context);
	start_check(&context, &state);
	events_check(&context);
	sampling_check(&context);
	strangers_check(&context);
	comes_and_goes(&context);
	stop_check(&context, state);
	watched_forget();
	tracker_free(context.tracker);
	queue_free(context.queue);
	loop_free(context.loop);
	close(kernel.socket[0]);
	close(kernel.socket[1]);
}
