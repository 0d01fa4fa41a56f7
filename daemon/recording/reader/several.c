// SPDX-License-Identifier: GPL-2.0-or-later
#include "several.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/error.h"

/* Adds the host to each label if hosts differ, so that no group mixes runs of two hosts. */
static void labels_add_hosts(struct recording *const *rec, size_t nr)
{
	bool several = false;

	for (size_t i = 1; i < nr; i++)
		several = several || strcmp(rec[i]->host, rec[0]->host);
	for (size_t i = 0; several && i < nr; i++) {
		size_t used = strlen(rec[i]->label);

		snprintf(rec[i]->label + used, sizeof(rec[i]->label) - used, RECORDING_AT "%s",
			 *rec[i]->host ? rec[i]->host : "?");
	}
}

static const char *recording_file_name(const struct recording *rec)
{
	const char *slash = strrchr(rec->path, '/');

	return slash ? slash + 1 : rec->path;
}

/* Makes the label of a group from @name, or takes that of the first recording if @name is NULL. */
static void label_make(struct recording *const *rec, size_t nr, const char *name, char *label,
		       size_t size)
{
	if (!name)
		snprintf(label, size, "%s", rec[0]->label);
	else if (nr == 1)
		snprintf(label, size, "%s", name);
	else
		snprintf(label, size, "%s and %zu more", name, nr - 1);
}

static bool labels_agree(struct recording *const *rec, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (strcmp(rec[i]->label, rec[0]->label))
			return false;
	return true;
}

/*
 * Gives one label to the recordings before "--" and another to the last @behind. Labels of the
 * recordings are kept if each group has one and the two differ. Otherwise groups are called after
 * their first file, by its path if both first files have the same name.
 */
static void labels_group(struct recording *const *rec, size_t nr, size_t behind)
{
	const size_t from[] = { 0, nr - behind, nr };
	bool labelled = labels_agree(rec, nr - behind) && labels_agree(rec + nr - behind, behind) &&
			strcmp(rec[0]->label, rec[nr - 1]->label);
	bool paths = !strcmp(recording_file_name(rec[0]), recording_file_name(rec[nr - behind]));

	for (size_t kind = 0; kind < 2; kind++) {
		const struct recording *first = rec[from[kind]];
		const char *name = labelled ? NULL :
				   paths    ? first->path :
					      recording_file_name(first);
		char label[sizeof(first->label)];

		label_make(rec + from[kind], from[kind + 1] - from[kind], name, label,
			   sizeof(label));
		for (size_t i = from[kind]; i < from[kind + 1]; i++)
			snprintf(rec[i]->label, sizeof(rec[i]->label), "%s", label);
	}
}

size_t recording_behind_dashes(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return (size_t)(argc - i - 1);
	return 0;
}

void recording_close_all(struct recording **rec, size_t nr)
{
	for (size_t i = 0; rec && i < nr; i++)
		recording_close(rec[i]);
	free(rec);
}

struct recording **recording_open_all(char *const *paths, size_t nr, size_t behind)
{
	struct recording **rec = calloc(nr, sizeof(*rec));

	if (!rec)
		error_print("no memory for %zu recordings", nr);
	for (size_t i = 0; rec && i < nr; i++) {
		rec[i] = recording_open(paths[i]);
		if (!rec[i]) {
			recording_close_all(rec, i);
			rec = NULL;
		}
	}
	/* A "--" before all files only ends the options. */
	if (rec && behind && behind < nr)
		labels_group(rec, nr, behind);
	if (rec)
		labels_add_hosts(rec, nr);
	return rec;
}

size_t recording_nth_of_label(struct recording *const *rec, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += !strcmp(rec[k]->label, rec[i]->label);
	return n;
}
