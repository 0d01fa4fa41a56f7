// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "../../common/names.h"

static bool process_matches_command(const struct source_context *context, int32_t pid,
				    const char *match)
{
	char text[1024];
	int n;

	if (!strcmp(match, "*"))
		return true;
	if (root_read(text, sizeof(text), "%s/%d/comm", context->root.procfs, pid) > 0 &&
	    !fnmatch(match, text, 0))
		return true;
	n = root_read(text, sizeof(text), "%s/%d/cmdline", context->root.procfs, pid);
	for (int i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	return n > 0 && !fnmatch(match, text, 0);
}

/* Matches the control group itself and those below: "system.slice" has all of its services. */
static bool cgroup_is_below(char *path, const char *cgroup)
{
	char *end = path + strlen(path);

	if (!fnmatch(cgroup, path, FNM_PATHNAME))
		return true;
	while (end > path) {
		char *slash = memrchr(path, '/', (size_t)(end - path));

		if (!slash)
			break;
		if (!fnmatch(cgroup, slash + 1, FNM_PATHNAME) ||
		    !fnmatch(cgroup, path, FNM_PATHNAME))
			return true;
		*slash = '\0';
		end = slash;
	}
	return false;
}

/* In the unified hierarchy or in one of version 1: "0::/path", "9:name=systemd:/path". */
static bool process_matches_cgroup(const struct source_context *context, int32_t pid,
				   const char *cgroup)
{
	char text[4096], *line, *next = text;

	if (root_read(text, sizeof(text), "%s/%d/cgroup", context->root.procfs, pid) <= 0)
		return false;
	while ((line = strsep(&next, "\n"))) {
		char *path = strchr(line, ':');

		path = path ? strchr(path + 1, ':') : NULL;
		if (path && path[1] == '/' && cgroup_is_below(path + 1, cgroup))
			return true;
	}
	return false;
}

bool filter_process(const struct source_context *context, const struct config_hotspots *c,
		    int32_t pid)
{
	char unit[sizeof(c->unit) + 8];

	if (!process_matches_command(context, pid, context->config.source[SOURCE_hotspots].match) ||
	    !process_matches_command(context, pid, c->command))
		return false;
	if (strcmp(c->cgroup, "*") && !process_matches_cgroup(context, pid, c->cgroup))
		return false;
	/* Without a suffix a unit is a service, as for systemctl(1). */
	snprintf(unit, sizeof(unit), "%s%s", c->unit, strchr(c->unit, '.') ? "" : ".service");
	return !strcmp(c->unit, "*") || process_matches_cgroup(context, pid, unit);
}

bool filter_name(const char *list, const char *name)
{
	char pattern[sizeof(((struct config_hotspots *)0)->method)];

	while (*list) {
		const size_t length = strcspn(list, "|");

		snprintf(pattern, sizeof(pattern), "%.*s", (int)length, list);
		if (!fnmatch(pattern, name, 0))
			return true;
		list += length + (list[length] == '|');
	}
	return false;
}

const char *filter_words(const struct config_hotspots *c, char *text, size_t size)
{
	const struct {
		const char *name, *value;
	} word[] = { { "command", c->command },
		     { "cgroup", c->cgroup },
		     { "unit", c->unit },
		     { "method", c->method } };
	size_t at = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		if (strcmp(word[i].value, "*") && at < size)
			at += (size_t)snprintf(text + at, size - at, "%s%s=%s", at ? ", " : "",
					       word[i].name, word[i].value);
	for (uint32_t n = 0, printed = 0; c->phases != CONFIG_PHASES && n < GCHINT_PHASE_NR; n++)
		if (c->phases >> n & 1 && at < size)
			at += (size_t)snprintf(text + at, size - at, "%s%s",
					       printed++ ? "," : (at ? ", phase=" : "phase="),
					       name_phase(n));
	return at ? text : "everything";
}
