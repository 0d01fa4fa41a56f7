// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * .NET's diagnostic protocol, which dotnet-trace uses too: a runtime listens at
 * dotnet-diagnostic-PID-KEY-socket in its TMPDIR. A message has 14 bytes of magic, its whole
 * length, a command set, a command of that set, and 2 reserved bytes. Numbers are little-endian;
 * strings are UTF-16, with their length in front and a NUL at the end.
 */
#include "dotnet.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define MAGIC		"DOTNET_IPC_V1"
#define SET_PROFILER	0x03
#define ATTACH_PROFILER 0x01
#define SET_SERVER	0xff
#define SERVER_OK	0x00
#define PATIENCE	20 /* seconds */

#define HEADER 20 /* bytes */

/* A message under construction; @full is set instead of writing beyond its end. */
struct message {
	unsigned char data[16384];
	size_t size;
	bool full;
};

static void message_put(struct message *m, const void *data, size_t size)
{
	if (m->full || size > sizeof(m->data) - m->size) {
		m->full = true;
		return;
	}
	memcpy(m->data + m->size, data, size);
	m->size += size;
}

static void message_put_number(struct message *m, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		message_put(m, &(unsigned char){ (unsigned char)(value >> 8 * i) }, 1);
}

/* False if @text is not ASCII: other characters would need a conversion to UTF-16. */
static bool message_put_string(struct message *m, const char *text)
{
	message_put_number(m, strlen(text) + 1, 4);
	for (const char *c = text;; c++) {
		if (*c & 0x80)
			return false;
		message_put_number(m, (unsigned char)*c, 2);
		if (!*c)
			return true;
	}
}

/* The process's TMPDIR, as a path through its root in /proc, without a trailing slash. */
static void process_tmpdir(pid_t pid, char *directory, size_t size)
{
	char path[64], block[65536], *entry;
	const char *tmp = "/tmp";
	size_t length = 0, n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "r");
	if (f) {
		length = fread(block, 1, sizeof(block) - 1, f);
		fclose(f);
	}
	block[length] = '\0';
	for (entry = block; entry < block + length; entry += strlen(entry) + 1)
		if (!strncmp(entry, "TMPDIR=/", 8))
			tmp = entry + 7;
	snprintf(directory, size, "/proc/%d/root%s", pid, tmp);
	for (n = strlen(directory); n && directory[n - 1] == '/'; n--)
		directory[n - 1] = '\0';
}

/* A descriptor or -errno; -ENAMETOOLONG if the path exceeds the 108 bytes of a socket's name. */
static int socket_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE };
	int fd, ret = 0;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		ret = -errno;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int dotnet_reach(pid_t pid, int own)
{
	char directory[PATH_MAX], pattern[PATH_MAX + 64];
	int fd = -ENOENT;
	glob_t found;

	process_tmpdir(pid, directory, sizeof(directory));
	snprintf(pattern, sizeof(pattern), "%s/dotnet-diagnostic-%d-*-socket", directory, own);
	/* A stale socket, left by an earlier process with this pid, refuses the connection. */
	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && fd < 0; i++)
			fd = socket_connect(found.gl_pathv[i]);
	globfree(&found);
	return fd;
}

/* RUNTIME_DOTNET_CLASS as bytes: the first three fields of a GUID are little-endian. */
static const unsigned char class_bytes[16] = {
	0x2e, 0x3a, 0x2f, 0x8f, 0xc1, 0x43, 0x0b, 0x4d,
	0x9a, 0x6e, 0x67, 0x63, 0x68, 0x69, 0x6e, 0x74,
};

int dotnet_load(int fd, const char *adapter, const char *with)
{
	struct message m = { .size = 0 };
	unsigned char reply[HEADER];
	size_t got = 0;
	ssize_t n;

	message_put(&m, MAGIC, sizeof(MAGIC));
	message_put_number(&m, 0, 2);
	message_put_number(&m, SET_PROFILER, 1);
	message_put_number(&m, ATTACH_PROFILER, 1);
	message_put_number(&m, 0, 2);
	message_put_number(&m, PATIENCE * 1000, 4);
	message_put(&m, class_bytes, sizeof(class_bytes));
	if (!message_put_string(&m, adapter))
		return -EILSEQ;
	message_put_number(&m, strlen(with), 4);
	message_put(&m, with, strlen(with));
	if (m.full)
		return -ENAMETOOLONG;
	m.data[14] = (unsigned char)m.size;
	m.data[15] = (unsigned char)(m.size >> 8);
	if (send(fd, m.data, m.size, MSG_NOSIGNAL) != (ssize_t)m.size)
		return -EIO;
	while (got < sizeof(reply)) {
		n = recv(fd, reply + got, sizeof(reply) - got, 0);
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (!n)
			return -EIO;
		got += (size_t)n;
	}
	if (memcmp(reply, MAGIC, sizeof(MAGIC)) != 0 || reply[16] != SET_SERVER)
		return -EPROTO;
	return reply[17] == SERVER_OK ? 0 : -ECANCELED;
}
