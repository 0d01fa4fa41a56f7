// SPDX-License-Identifier: GPL-2.0-or-later
#include "annotations.h"

#include <ctype.h>
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
#include "../local.h"

#define ROUND 1024 /* datagrams read per wake-up */

struct annotations {
	struct host *host;
	struct watch *watch;
	int fd;
	char path[108];
};

/* Reads a leading time stamp into *@t; without one, or with one in the future, that is @now. */
static const char *annotation_parse_time(const char *text, uint64_t now, uint64_t *t)
{
	char *end;
	unsigned long long v;

	*t = now;
	if (!isdigit((unsigned char)*text))
		return text;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end != ' ' || v > now)
		return text;
	*t = v;
	return end + 1;
}

static void annotations_on_datagram(void *data, uint32_t events)
{
	struct annotations *m = data;
	char buf[512], control[CMSG_SPACE(sizeof(struct ucred))];

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
		ssize_t n = recvmsg(m->fd, &msg, MSG_DONTWAIT);
		int64_t pid = UNKNOWN_S64;
		const char *text;
		uint64_t t;

		if (n <= 0)
			return;
		buf[n] = '\0';
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
				pid = ((struct ucred *)(void *)CMSG_DATA(c))->pid;
		text = annotation_parse_time(text_strip(buf), clock_now(), &t);
		host_define(m->host, definition_new(DEFINE_ANNOTATION, t, &pid, 1, &text, 1));
	}
}

struct annotations *annotations_start(struct host *host, const char *path)
{
	struct annotations *m = calloc(1, sizeof(*m));
	int on = 1, ret = -ENOMEM;

	if (!m)
		goto report;
	m->host = host;
	m->fd = ret = local_bind(SOCK_DGRAM, path);
	if (ret < 0)
		goto free_annotations;
	strcpy(m->path, path);
	m->watch = loop_fd(host->loop, m->fd, EPOLLIN, annotations_on_datagram, m);
	if (m->watch && !setsockopt(m->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !chmod(path, 0660))
		return m;
	ret = -errno;
	watch_free(m->watch);
	local_close(m->fd, SOCK_DGRAM, path);
free_annotations:
	free(m);
report:
	host_note(host, LOG_WARNING, "annotations",
		  "%s: %s: no annotations can be added; name another socket with --annotations",
		  path, strerror(-ret));
	return NULL;
}

void annotations_stop(struct annotations *m)
{
	if (!m)
		return;
	annotations_on_datagram(m, 0);
	watch_free(m->watch);
	local_close(m->fd, SOCK_DGRAM, m->path);
	free(m);
}
