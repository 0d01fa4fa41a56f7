// SPDX-License-Identifier: GPL-2.0-or-later
#include "annotations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/text.h"
#include "../../recording/schema.h"
#include "../../source/local.h"

#define ROUND 1024 /* datagrams read per wake-up */

/*
 * Of one user, other than the daemon's own and root: so many at once, and then one each period.
 * More would rotate away what others recorded.
 */
#define BURST	  100
#define PERIOD_NS NSEC_PER_SEC
#define USERS	  32
/* Refused ones are counted in a row of drops each period, not in one each. */
#define REFUSED_NS (10 * NSEC_PER_SEC)

struct user {
	int64_t uid;
	uint64_t full; /* when its burst is whole again */
};

struct annotations {
	struct source_context *context;
	struct watch *watch, *timer;
	int fd;
	char path[108];
	struct user user[USERS];
	uint64_t too_many, too_long; /* refused, not yet recorded as drops */
	bool warned;
};

static void annotations_count_refused(struct annotations *m)
{
	if (m->too_many)
		context_drop(m->context, "annotations", m->too_many,
			     "over 100 at once and one a second of one user");
	if (m->too_long)
		context_drop(m->context, "annotations", m->too_long, "longer than 400 bytes");
	m->too_many = m->too_long = 0;
}

static void annotations_on_timer(void *data, uint32_t events)
{
	struct annotations *m = data;

	(void)events;
	annotations_count_refused(m);
	watch_period(m->timer, 0);
}

static void annotations_refuse(struct annotations *m, uint64_t *count, int64_t uid)
{
	if (!m->too_many && !m->too_long)
		watch_period(m->timer, REFUSED_NS);
	++*count;
	if (!m->warned)
		context_note(m->context, LOG_WARNING, "annotations",
			     "user %lld sends too many, or longer ones than %d bytes: the rest is "
			     "not recorded, and counted in drops",
			     (long long)uid, ANNOTATION_MAX);
	m->warned = true;
}

/* Whether the user may add one now. */
static bool annotations_admit(struct annotations *m, int64_t uid, uint64_t now)
{
	struct user *user = &m->user[0];

	if (!uid || uid == (int64_t)geteuid())
		return true;
	/* The user's own place, or that of the one who has been silent for longest. */
	for (int i = 1; i < USERS && user->uid != uid; i++)
		if (m->user[i].uid == uid || m->user[i].full < user->full)
			user = &m->user[i];
	if (user->uid != uid)
		*user = (struct user){ .uid = uid };
	if (user->full < now)
		user->full = now;
	if (user->full - now > (BURST - 1) * PERIOD_NS)
		return false;
	user->full += PERIOD_NS;
	return true;
}

static void annotations_on_datagram(void *data, uint32_t events)
{
	struct annotations *m = data;
	char buf[ANNOTATION_MAX + 1], control[CMSG_SPACE(sizeof(struct ucred))];

	(void)events;
	/* A client that sends without pause must not starve the other sources. */
	for (int i = 0; i < ROUND; i++) {
		struct iovec iov = { buf, sizeof(buf) - 1 };
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		ssize_t n = recvmsg(m->fd, &msg, MSG_DONTWAIT | MSG_TRUNC);
		int64_t sender[] = { UNKNOWN_S64, UNKNOWN_S64 };
		const uint64_t now = clock_now();
		const char *text;

		if (n <= 0)
			return;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
				const struct ucred *from = (void *)CMSG_DATA(c);

				sender[0] = from->pid;
				sender[1] = from->uid;
			}
		if (n > ANNOTATION_MAX) {
			annotations_refuse(m, &m->too_long, sender[1]);
			continue;
		}
		if (!annotations_admit(m, sender[1], now)) {
			annotations_refuse(m, &m->too_many, sender[1]);
			continue;
		}
		buf[n] = '\0';
		text = text_strip(buf);
		context_define(m->context,
			       definition_new(DEFINE_ANNOTATION, now, sender, 2, &text, 1));
	}
}

struct annotations *annotations_start(struct source_context *context, const char *path)
{
	struct annotations *m = calloc(1, sizeof(*m));
	int on = 1, ret = -ENOMEM;

	if (!m)
		goto report;
	m->context = context;
	m->fd = ret = local_bind(SOCK_DGRAM, path);
	if (ret < 0)
		goto free_annotations;
	strcpy(m->path, path);
	m->watch = loop_fd(context->loop, m->fd, EPOLLIN, annotations_on_datagram, m);
	m->timer = loop_timer(context->loop, 0, annotations_on_timer, m);
	if (m->watch && m->timer && !setsockopt(m->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !chmod(path, 0660))
		return m;
	ret = -errno;
	watch_free(m->watch);
	watch_free(m->timer);
	local_close(m->fd, SOCK_DGRAM, path);
free_annotations:
	free(m);
report:
	context_note(context, LOG_WARNING, "annotations",
		     "%s: %s: no annotations can be added; name another socket with --annotations",
		     path, strerror(-ret));
	return NULL;
}

void annotations_stop(struct annotations *m)
{
	if (!m)
		return;
	annotations_on_datagram(m, 0);
	annotations_count_refused(m);
	watch_free(m->watch);
	watch_free(m->timer);
	local_close(m->fd, SOCK_DGRAM, m->path);
	free(m);
}
