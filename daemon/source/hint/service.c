// SPDX-License-Identifier: GPL-2.0-or-later
#include "service.h"

#include <stdio.h>
#include <string.h>

#define DIGITS	     32 /* of a container's number, at least */
#define DIGITS_SHOWN 12 /* as docker ps shows */

static bool name_ends(const char *name, size_t length, const char *suffix)
{
	const size_t n = strlen(suffix);

	return length > n && !memcmp(name + length - n, suffix, n);
}

/* docker-0123...ef.scope, cri-containerd-0123...ef.scope, or below /docker/ the number alone. */
static bool container_name(const char *part, size_t length, const char *above, size_t above_length,
			   char *name, size_t size)
{
	const char *number, *colon;
	size_t digits = 0;

	if (name_ends(part, length, ".scope"))
		length -= strlen(".scope");
	while (digits < length && strchr("0123456789abcdef", part[length - 1 - digits]))
		digits++;
	if (digits < DIGITS)
		return false;
	length -= digits;
	number = part + length;
	if (length > 1 && strchr("-:", part[length - 1])) {
		above = part;
		above_length = length - 1;
	}
	/* containerd's has its group in front: kubepods-pod1.slice:cri-containerd:0123...ef */
	colon = memrchr(above, ':', above_length);
	if (colon) {
		above_length -= (size_t)(colon + 1 - above);
		above = colon + 1;
	}
	snprintf(name, size, "%.*s%s%.*s", (int)above_length, above, above_length ? "-" : "",
		 DIGITS_SHOWN, number);
	return true;
}

/* @path: to the end of its line */
static bool service_of_path(const char *path, size_t length, char *name, size_t size)
{
	const char *end = path + length, *above, *part;

	for (; end > path; end = part - 1) {
		part = memrchr(path, '/', (size_t)(end - path));
		if (!part++)
			return false;
		/* That of a user has all of the user's programs. */
		if (name_ends(part, (size_t)(end - part), ".service") &&
		    strncmp(part, "user@", 5) != 0) {
			snprintf(name, size, "%.*s", (int)(end - part), part);
			return true;
		}
		above = part - 1 > path ? memrchr(path, '/', (size_t)(part - 1 - path)) : NULL;
		if (container_name(part, (size_t)(end - part), above ? above + 1 : "",
				   above ? (size_t)(part - above - 2) : 0, name, size))
			return true;
	}
	return false;
}

bool service_of_cgroup(const char *cgroup, char *name, size_t size)
{
	while (*cgroup) {
		const size_t length = strcspn(cgroup, "\n");
		const char *path = memchr(cgroup, ':', length);

		path = path ? memchr(path + 1, ':', (size_t)(cgroup + length - path - 1)) : NULL;
		if (path &&
		    service_of_path(path + 1, (size_t)(cgroup + length - path - 1), name, size))
			return true;
		cgroup += length + (cgroup[length] == '\n');
	}
	return false;
}
