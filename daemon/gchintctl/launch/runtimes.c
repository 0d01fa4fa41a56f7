// SPDX-License-Identifier: GPL-2.0-or-later
#include <getopt.h>
#include <limits.h>
#include <stdio.h>

#include "../ctl.h"
#include "runtime.h"

static const char usage[] =
	"usage: gchintctl [--json] runtimes\n"
	"Lists the runtimes that have an adapter: whether it is installed here, what it sees,\n"
	"and what it cannot see. gchintctl run loads the right one by itself.\n";

int cmd_runtimes(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	char path[PATH_MAX];
	int opt = getopt_long(argc, argv, "h", longs, NULL);

	if (opt == 'h') {
		fputs(usage, stdout);
		return CTL_OK;
	}
	if (opt >= 0)
		return ctl_usage("runtimes");
	if (optind < argc) {
		ctl_error("runtimes: '%s': no arguments are taken", argv[optind]);
		return CTL_USAGE;
	}
	for (size_t i = 0; i < RUNTIMES; i++) {
		const struct runtime *r = &runtimes[i];
		const char *adapter = runtime_adapter(r, path, sizeof(path));

		if (ctl->json) {
			printf("%s{\"name\":\"%s\",\"title\":\"%s\",\"installed\":%s,\"sees\":\"%"
			       "s\","
			       "\"cannot_see\":\"%s\"}%s",
			       i ? "," : "[", r->name, r->title, adapter ? "true" : "false",
			       r->sees, r->blind, i + 1 < RUNTIMES ? "" : "]\n");
			continue;
		}
		printf("%s\n  adapter     %s\n  sees        %s\n  cannot see  %s\n", r->title,
		       adapter ? adapter : "not installed", r->sees, r->blind);
	}
	return CTL_OK;
}
