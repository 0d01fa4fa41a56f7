// SPDX-License-Identifier: GPL-2.0-or-later
#include "images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void images_scan(struct images *i, struct host *host, int32_t pid)
{
	char path[64], line[4352];
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
		name = line + at;
		if (image_is_known(i, start, end))
			continue;
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
