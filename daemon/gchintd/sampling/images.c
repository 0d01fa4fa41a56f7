// SPDX-License-Identifier: GPL-2.0-or-later
#include "images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../common/clock.h"
#include "../privilege.h"
#include "../source/host.h"

#define AGAIN (500 * NSEC_PER_MSEC)

static bool image_is_known(const struct images *i, uint64_t start, uint64_t end)
{
	for (size_t n = 0; n < i->nr; n++)
		if (i->image[n].start == start && i->image[n].end == end)
			return true;
	return false;
}

/*
 * In another mount namespace, of a container or PrivateTmp=, the path is another file or none. Then
 * it is recorded as seen from here, so that its names are read while the process lives, and never
 * those of the file that happens to be here.
 */
static const char *image_path(const struct host *host, int32_t pid, const char *name, char *buf,
			      size_t size)
{
	struct stat here, there;
	bool other;

	if (*name != '/' ||
	    (size_t)snprintf(buf, size, "%s/%d/root%s", host->root.procfs, pid, name) >= size)
		return name;
	privilege_raise();
	other = !stat(buf, &there) &&
		(stat(name, &here) || here.st_dev != there.st_dev || here.st_ino != there.st_ino);
	privilege_lower();
	return other ? buf : name;
}

void images_scan(struct images *i, struct host *host, int32_t pid)
{
	char path[64], line[4352], seen[4500];
	FILE *f;

	i->scanned_at = clock_now();
	snprintf(path, sizeof(path), "%s/%d/maps", host->root.procfs, pid);
	privilege_raise();
	f = fopen(path, "re");
	privilege_lower();
	while (f && fgets(line, sizeof(line), f)) {
		uint64_t start, end, offset;
		struct image *more;
		const char *name;
		int at = 0;
		char x;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2c%c%*c %" SCNx64 " %*s %*s %n", &start,
			   &end, &x, &offset, &at) < 4 ||
		    !at || x != 'x')
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (image_is_known(i, start, end))
			continue;
		name = image_path(host, pid, line + at, seen, sizeof(seen));
		more = realloc(i->image, (i->nr + 1) * sizeof(*more));
		if (!more)
			break;
		i->image = more;
		i->image[i->nr++] = (struct image){ start, end };
		host_define(host, definition_new(DEFINE_IMAGE, i->scanned_at,
						 (const int64_t[]){ pid, (int64_t)start,
								    (int64_t)end, (int64_t)offset },
						 4, &name, 1));
	}
	if (f)
		fclose(f);
}

void images_know(struct images *i, struct host *host, int32_t pid, uint64_t ip)
{
	for (size_t n = 0; n < i->nr; n++)
		if (ip >= i->image[n].start && ip < i->image[n].end)
			return;
	if (clock_now() - i->scanned_at >= AGAIN)
		images_scan(i, host, pid);
}
