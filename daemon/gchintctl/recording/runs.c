// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens several recordings, and labels them by group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ctl.h"
#include "recording.h"

/* Adds the host to each label if hosts differ, so that no group mixes runs of two hosts. */
static void labels_add_hosts(struct run *const *run, size_t nr)
{
	bool several = false;

	for (size_t i = 1; i < nr; i++)
		several = several || strcmp(run[i]->host, run[0]->host);
	for (size_t i = 0; several && i < nr; i++) {
		size_t used = strlen(run[i]->label);

		snprintf(run[i]->label + used, sizeof(run[i]->label) - used, RUN_AT "%s",
			 *run[i]->host ? run[i]->host : "?");
	}
}

static const char *run_file_name(const struct run *run)
{
	const char *slash = strrchr(run->path, '/');

	return slash ? slash + 1 : run->path;
}

/* Makes the label of a group from @name, or takes that of the first run if @name is NULL. */
static void label_make(struct run *const *run, size_t nr, const char *name, char *label,
		       size_t size)
{
	if (!name)
		snprintf(label, size, "%s", run[0]->label);
	else if (nr == 1)
		snprintf(label, size, "%s", name);
	else
		snprintf(label, size, "%s and %zu more", name, nr - 1);
}

static bool labels_agree(struct run *const *run, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (strcmp(run[i]->label, run[0]->label))
			return false;
	return true;
}

/*
 * Gives one label to the runs before "--" and another to the last @behind. Labels of the
 * recordings are kept if each group has one and the two differ. Otherwise groups are called after
 * their first file, by its path if both first files have the same name.
 */
static void labels_group(struct run *const *run, size_t nr, size_t behind)
{
	const size_t from[] = { 0, nr - behind, nr };
	bool labelled = labels_agree(run, nr - behind) && labels_agree(run + nr - behind, behind) &&
			strcmp(run[0]->label, run[nr - 1]->label);
	bool paths = !strcmp(run_file_name(run[0]), run_file_name(run[nr - behind]));

	for (size_t kind = 0; kind < 2; kind++) {
		const struct run *first = run[from[kind]];
		const char *name = labelled ? NULL : paths ? first->path : run_file_name(first);
		char label[sizeof(first->label)];

		label_make(run + from[kind], from[kind + 1] - from[kind], name, label,
			   sizeof(label));
		for (size_t i = from[kind]; i < from[kind + 1]; i++)
			snprintf(run[i]->label, sizeof(run[i]->label), "%s", label);
	}
}

size_t run_behind_dashes(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return (size_t)(argc - i - 1);
	return 0;
}

void run_close_all(struct run **run, size_t nr)
{
	for (size_t i = 0; run && i < nr; i++)
		run_close(run[i]);
	free(run);
}

struct run **run_open_all(char *const *paths, size_t nr, size_t behind)
{
	struct run **run = calloc(nr, sizeof(*run));

	if (!run)
		ctl_error("no memory for %zu recordings", nr);
	for (size_t i = 0; run && i < nr; i++) {
		run[i] = run_open(paths[i]);
		if (!run[i]) {
			run_close_all(run, i);
			run = NULL;
		}
	}
	/* A "--" before all files only ends the options. */
	if (run && behind && behind < nr)
		labels_group(run, nr, behind);
	if (run)
		labels_add_hosts(run, nr);
	return run;
}

size_t run_nth_of_label(struct run *const *run, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += !strcmp(run[k]->label, run[i]->label);
	return n;
}
