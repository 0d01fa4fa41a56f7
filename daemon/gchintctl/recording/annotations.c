// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../common/json.h"
#include "../../recording/reader/db.h"
#include "../../recording/schema.h"
#include "../ctl.h"
#include "annotations.h"

static const char usage[] =
	"usage: gchintctl [--json] annotations FILE\n"
	"       gchintctl annotations --add TEXT [--socket SOCKET]\n"
	"Lists the annotations of a recording, or adds one at this instant to a recording that\n"
	"runs.\n"
	"\n"
	"  -a, --add TEXT       the annotation to add\n"
	"  -s, --socket SOCKET  of the recording that runs (default: $GCHINT_ANNOTATIONS, which\n"
	"                       gchintctl record sets, else " ANNOTATIONS_SOCKET ")\n"
	"\n"
	"Members of group gchint-record may write to the service's socket: 400 bytes a text, 100\n"
	"at once and then one a second.\n";

int annotations_add(const char *path, const char *text)
{
	const struct timeval patience = { .tv_sec = 5 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret = 0;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Do not block forever if the daemon does not read and its queue is full. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&addr, sizeof(addr)) <
	    0)
		ret = -errno;
	close(fd);
	return ret;
}

static int annotations_list(const struct ctl *ctl, const char *path)
{
	sqlite3 *db = db_open(path);
	sqlite3_stmt *s;
	struct json j = { .f = stdout };
	uint64_t t0 = 0, t1;

	if (!db)
		return CTL_FILE;
	db_span(db, &t0, &t1);
	s = db_select(db, annotations, "ORDER BY t", COLUMN(annotations, t),
		      COLUMN(annotations, pid), COLUMN(annotations, text),
		      COLUMN(annotations, uid));
	if (ctl->json)
		json_list(&j, NULL);
	while (db_next(s)) {
		if (ctl->json) {
			json_object(&j, NULL);
			json_int(&j, "t", db_int(s, COLUMN(annotations, t), 0));
			db_json(&j, "pid", s, COLUMN(annotations, pid));
			db_json(&j, "uid", s, COLUMN(annotations, uid));
			json_text(&j, "text", db_text(s, COLUMN(annotations, text), ""));
			json_end(&j);
		} else {
			printf("%12.6f s  %s\n",
			       ((double)db_int(s, COLUMN(annotations, t), 0) - (double)t0) / 1e9,
			       db_text(s, COLUMN(annotations, text), ""));
		}
	}
	if (ctl->json)
		json_end(&j);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return CTL_OK;
}

int cmd_annotations(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "add", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ "socket", required_argument, NULL, 's' },
		{ 0 },
	};
	const char *add = NULL, *path = getenv("GCHINT_ANNOTATIONS");
	int opt, ret;

	if (!path || !*path)
		path = ANNOTATIONS_SOCKET;
	while ((opt = getopt_long(argc, argv, "a:hs:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'a':
			add = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 's':
			path = optarg;
			break;
		default:
			return ctl_usage("annotations");
		}
	}
	if (!add && optind + 1 == argc)
		return annotations_list(ctl, argv[optind]);
	if (!add || optind != argc) {
		ctl_error("annotations: name one recording, or --add TEXT; see gchintctl "
			  "annotations --help");
		return CTL_USAGE;
	}
	if (strlen(add) > ANNOTATION_MAX) {
		ctl_error("annotations: the text has over %d bytes", ANNOTATION_MAX);
		return CTL_USAGE;
	}
	ret = annotations_add(path, add);
	if (ret) {
		ctl_error("%s: %s: is gchintd running, with --annotations %s?", path,
			  strerror(-ret), path);
		return CTL_DAEMON;
	}
	return CTL_OK;
}
