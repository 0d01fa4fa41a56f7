// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "peers/instructions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t peer_instructions(const char *program, const char *arguments)
{
	static const char key[] = "Collected : ";
	uint64_t most = 0;
	char line[512];
	char *command;
	FILE *f;

	if (asprintf(&command,
		     "env -u GCHINT_TRACE valgrind --tool=callgrind --callgrind-out-file=/dev/null "
		     "'%s' %s 2>&1 >/dev/null",
		     program, arguments) < 0)
		return 0;
	f = popen(command, "re");
	free(command);
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, key);
		uint64_t n = at ? strtoull(at + strlen(key), NULL, 10) : 0;

		if (n > most)
			most = n;
	}
	return pclose(f) ? 0 : most;
}
