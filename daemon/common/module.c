// SPDX-License-Identifier: GPL-2.0-or-later
#include "module.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* A line is "DIRECTORY/NAME.ko[.COMPRESSION]: DEPENDENCY..."; a name that only depends is later. */
static bool module_is_listed(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0) {
		line[strcspn(line, ":")] = '\0';
		found = strstr(line, "/cpufreq_gchint.ko");
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

const char *module_remedy(char *buf, size_t size)
{
	const char *dir = getenv("GCHINT_MODULES");
	struct utsname kernel;
	char path[PATH_MAX];

	uname(&kernel);
	if (dir)
		snprintf(path, sizeof(path), "%s/modules.dep", dir);
	else
		snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", kernel.release);
	if (module_is_listed(path))
		snprintf(buf, size, "modprobe cpufreq_gchint");
	else
		snprintf(buf, size,
			 "it is not built for Linux %s: run make modules_install in gchint's "
			 "source, or install gchint-dkms",
			 kernel.release);
	return buf;
}
