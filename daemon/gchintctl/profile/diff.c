// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares two profiles: which methods take more CPU time than before, and which less. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "profile.h"

struct change {
	const char *name;
	size_t n[2]; /* samples in the first and in the second profile */
	double seconds; /* increase of CPU time */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->name, ((const struct change *)b)->name);
}

static int by_size(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	const double dx = fabs(x->seconds), dy = fabs(y->seconds);

	return dx < dy ? 1 : dx > dy ? -1 : strcmp(x->name, y->name);
}

static bool changes_count(const struct profile *p, int side, struct change *change, size_t *nr)
{
	size_t *n = calloc(p->names, sizeof(*n));

	if (!n) {
		db_missing(p->rec->path, "no memory for a table");
		return false;
	}
	for (size_t i = 0; i < p->samples; i++)
		n[p->sample[i].method]++;
	for (size_t i = 0; i < p->names; i++)
		if (n[i]) {
			change[*nr] = (struct change){ .name = p->name[i] };
			change[(*nr)++].n[side] = n[i];
		}
	free(n);
	return true;
}

/* Merges entries of the same name and sorts by size of change. Returns how many are left. */
static size_t changes_merge(struct change *change, size_t nr, const struct profile *before,
			    const struct profile *since)
{
	size_t rows = 0;

	qsort(change, nr, sizeof(*change), by_name);
	for (size_t i = 0; i < nr; i++) {
		if (rows && !strcmp(change[rows - 1].name, change[i].name)) {
			change[rows - 1].n[0] += change[i].n[0];
			change[rows - 1].n[1] += change[i].n[1];
		} else {
			change[rows++] = change[i];
		}
	}
	for (size_t i = 0; i < rows; i++)
		change[i].seconds = (double)change[i].n[1] * since->seconds -
				    (double)change[i].n[0] * before->seconds;
	qsort(change, rows, sizeof(*change), by_size);
	return rows;
}

static double sample_percent(size_t n, const struct profile *p)
{
	return 100.0 * (double)n / (double)p->samples;
}

/* Two standard deviations of the difference in s, if both counts are Poisson distributed. */
static double change_noise(const struct change *c, const struct profile *before,
			   const struct profile *since)
{
	return 2 * sqrt((double)c->n[0] * before->seconds * before->seconds +
			(double)c->n[1] * since->seconds * since->seconds);
}

int profile_diff(const struct profile *before, const struct profile *since, size_t lines)
{
	struct change *change = calloc(before->names + since->names, sizeof(*change));
	size_t nr = 0, rows;

	if (!change || !changes_count(before, 0, change, &nr) ||
	    !changes_count(since, 1, change, &nr)) {
		free(change);
		return CTL_FAILED;
	}
	rows = changes_merge(change, nr, before, since);
	printf("%.3f s of CPU time before (%zu samples), %.3f s since (%zu)\n",
	       (double)before->samples * before->seconds, before->samples,
	       (double)since->samples * since->seconds, since->samples);
	puts("~ in front of what chance alone may have done, one time in twenty\n\n"
	     "By method\n  s before   s since      more  % before  % since  method");
	for (size_t i = 0; i < rows && i < lines; i++) {
		const struct change *c = &change[i];

		printf("%10.3f%10.3f %c%+9.3f%10.2f%9.2f  %s\n", (double)c->n[0] * before->seconds,
		       (double)c->n[1] * since->seconds,
		       fabs(c->seconds) > change_noise(c, before, since) ? ' ' : '~', c->seconds,
		       sample_percent(c->n[0], before), sample_percent(c->n[1], since), c->name);
	}
	if (rows > lines)
		printf("  ... and %zu more: --lines\n", rows - lines);
	free(change);
	return CTL_OK;
}
