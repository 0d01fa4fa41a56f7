// SPDX-License-Identifier: GPL-2.0-or-later
/* A recorder that monitors such as Prometheus ask over HTTP: its address, its token, its label. */
#include "monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/text.h"
#include "../ctl.h"

#define TOKEN_BYTES 16

static bool address_valid(const char *address)
{
	const char *colon = strrchr(address, ':');
	uint64_t port;

	return colon && !text_u64(colon + 1, &port) && port && port <= 65535 &&
	       strlen(address) < 48 && !strpbrk(address, "\n #;");
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
	const char *host = *address == ':' ? "127.0.0.1" : "";
	char token[PATH_MAX];
	FILE *f;
	int ret;

	if (!address_valid(address)) {
		ctl_error("--metrics takes ADDRESS:PORT, or :PORT for this machine alone, not %s",
			  address);
		return CTL_USAGE;
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
	f = fopen(config, "we");
	if (!f) {
		ctl_error("--metrics: %s: %s", config, strerror(errno));
		return CTL_FILE;
	}
	fprintf(f, "[metrics]\nlisten = %s%s\ntoken_file = %s\nservice = %.60s\n", host, address,
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
			service, host, address, token);
	return CTL_OK;
}
