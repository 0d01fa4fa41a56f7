// SPDX-License-Identifier: GPL-2.0-or-later
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../common/clock.h"
#include "../../symbols/mapping.h"
#include "../context.h"
#include "../privilege.h"

#define AGAIN (500 * NSEC_PER_MSEC)

#define REFRESH	     (100 * NSEC_PER_MSEC)
#define REFRESH_COST 200 /* as a multiple of what reading the mappings takes */

static uint64_t name_hash(const char *name)
{
	uint64_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* Returns true if it is; otherwise forgets those that it replaces. */
static bool image_is_known(struct images *i, const struct image *image)
{
	size_t kept = 0;

	for (size_t n = 0; n < i->nr; n++)
		if (i->image[n].start == image->start && i->image[n].end == image->end &&
		    i->image[n].name == image->name)
			return true;
	for (size_t n = 0; n < i->nr; n++)
		if (i->image[n].end <= image->start || i->image[n].start >= image->end)
			i->image[kept++] = i->image[n];
	i->nr = kept;
	return false;
}

/*
 * In another mount namespace, of a container or PrivateTmp=, the path is another file or none. Then
 * it is recorded as seen from here, so that its names are read while the process lives, and never
 * those of the file that happens to be here.
 */
static const char *image_path(const struct source_context *context, int32_t pid, const char *name,
			      char *buf, size_t size)
{
	struct stat here, there;
	bool other;

	if (*name != '/' ||
	    (size_t)snprintf(buf, size, "%s/%d/root%s", context->root.procfs, pid, name) >= size)
		return name;
	privilege_raise();
	other = !stat(buf, &there) &&
		(stat(name, &here) || here.st_dev != there.st_dev || here.st_ino != there.st_ino);
	privilege_lower();
	return other ? buf : name;
}

void images_scan(struct images *i, struct source_context *context, int32_t pid)
{
	const uint64_t before = i->scanned_at, cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	char path[64], line[4352], seen[4500];
	FILE *f;

	i->scanned_at = clock_now();
	snprintf(path, sizeof(path), "%s/%d/maps", context->root.procfs, pid);
	privilege_raise();
	f = fopen(path, "re");
	privilege_lower();
	while (f && fgets(line, sizeof(line), f)) {
		struct image *more, now;
		struct mapping m;
		const char *name;
		uint64_t t;
		size_t nr;

		if (!mapping_parse(line, &m) || !m.executable)
			continue;
		now = (struct image){ m.start, m.end, name_hash(m.path) };
		nr = i->nr;
		if (image_is_known(i, &now))
			continue;
		/* One that replaces another was mapped at some time since the reading before. */
		t = i->nr < nr ? before + (i->scanned_at - before) / 2 : i->scanned_at;
		name = image_path(context, pid, m.path, seen, sizeof(seen));
		more = realloc(i->image, (i->nr + 1) * sizeof(*more));
		if (!more)
			break;
		i->image = more;
		i->image[i->nr++] = now;
		context_define(context, definition_new(DEFINE_IMAGE, t,
						       (const int64_t[]){ pid, (int64_t)m.start,
									  (int64_t)m.end - 1,
									  (int64_t)m.offset },
						       4, &name, 1));
	}
	if (f)
		fclose(f);
	i->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

void images_refresh(struct images *i, struct source_context *context, int32_t pid)
{
	const uint64_t since = clock_now() - i->scanned_at;

	if (since >= REFRESH && since >= REFRESH_COST * i->cost_ns)
		images_scan(i, context, pid);
}

void images_know(struct images *i, struct source_context *context, int32_t pid, uint64_t ip)
{
	for (size_t n = 0; n < i->nr; n++)
		if (ip >= i->image[n].start && ip < i->image[n].end)
			return;
	if (clock_now() - i->scanned_at >= AGAIN)
		images_scan(i, context, pid);
}
