// SPDX-License-Identifier: GPL-2.0-or-later
/* A recorder that monitors such as Prometheus ask over HTTP: its address, its token, its label. */
#include "monitor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/text.h"
#include "../../common/token.h"
#include "../ctl.h"

#define TOKEN_BYTES 16

/* The host without brackets, "127.0.0.1" for none, and the port. Returns false if it is no address. */
static bool address_parse(const char *address, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(address, ':');
	uint64_t number;
	size_t length;

	if (!colon || text_u64(colon + 1, &number) || !number || number > 65535)
		return false;
	length = (size_t)(colon - address);
	if (*address == '[' && length > 2 && address[length - 1] == ']') {
		address++;
		length -= 2;
	}
	*port = colon + 1;
	return snprintf(host, size, "%.*s", length ? (int)length : 9,
			length ? address : "127.0.0.1") < (int)size;
}

/* Whether it can be listened at: the recorder would only warn. Returns 0 or -errno, -EINVAL. */
static int address_try(const char *host, const char *port)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	const int on = 1;
	int fd, ret;

	if (getaddrinfo(host, port, &hints, &found))
		return -EINVAL;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ret = fd >= 0 && !bind(fd, found->ai_addr, found->ai_addrlen) && !listen(fd, 1) ? 0 :
											  -errno;
	if (fd >= 0)
		close(fd);
	freeaddrinfo(found);
	return ret;
}

/* Where a user's own configuration is. Returns false without a home directory. */
static bool token_name(char *path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (config && *config == '/')
		n = snprintf(path, size, "%s", config);
	else if (home && *home == '/')
		n = snprintf(path, size, "%s/.config", home);
	else
		return false;
	if (n < 0 || (size_t)n + sizeof("/gchint/metrics-token") > size)
		return false;
	mkdir(path, 0700);
	strcat(path, "/gchint");
	mkdir(path, 0700);
	strcat(path, "/metrics-token");
	return true;
}

/* Makes it unless it exists, readable by its user alone. Returns 0 or -errno. */
static int token_make(const char *path)
{
	unsigned char secret[TOKEN_BYTES];
	char text[2 * TOKEN_BYTES + 2];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), ret = 0;

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		ret = -EIO;
	for (size_t i = 0; i < sizeof(secret); i++)
		snprintf(text + 2 * i, 3, "%02x", secret[i]);
	strcat(text, "\n");
	if (!ret && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		ret = -EIO;
	close(fd);
	if (ret)
		unlink(path);
	return ret;
}

int monitor_listen(const char *address, const char *service, const char *config, bool quiet)
{
	const char *added = *address == ':' ? "127.0.0.1" : "", *port;
	char token[PATH_MAX], host[INET6_ADDRSTRLEN], secret[TOKEN_SIZE], why[96];
	FILE *f;
	int ret = address_parse(address, host, sizeof(host), &port) ? address_try(host, port) :
								      -EINVAL;

	if (ret == -EINVAL) {
		ctl_error("--metrics takes ADDRESS:PORT with a numeric address, or :PORT for this "
			  "machine alone, not %s",
			  address);
		return CTL_USAGE;
	}
	if (ret) {
		ctl_error("--metrics: %s: %s; name another port", address, strerror(-ret));
		return CTL_DAEMON;
	}
	if (!token_name(token, sizeof(token))) {
		ctl_error("--metrics: no directory for its token: set HOME or XDG_CONFIG_HOME");
		return CTL_FILE;
	}
	ret = token_make(token);
	if (ret) {
		ctl_error("--metrics: %s: %s", token, strerror(-ret));
		return CTL_FILE;
	}
	/* The recorder would show no phases, and only its log would say so. */
	if (!token_read(token, secret, why, sizeof(why))) {
		ctl_error("--metrics: %s: %s; without it another one is made", token, why);
		return CTL_FILE;
	}
	f = fopen(config, "we");
	if (!f) {
		ctl_error("--metrics: %s: %s", config, strerror(errno));
		return CTL_FILE;
	}
	fprintf(f, "[metrics]\nlisten = %s%s\ntoken_file = %s\nservice = %.60s\n", added, address,
		token, service);
	if (fclose(f)) {
		ctl_error("--metrics: %s: %s", config, strerror(errno));
		return CTL_FILE;
	}
	if (!quiet)
		fprintf(stderr,
			"gchintctl: metrics of service \"%s\" are at http://%s%s/metrics, for "
			"clients "
			"that send the token in %s\n",
			service, added, address, token);
	return CTL_OK;
}
