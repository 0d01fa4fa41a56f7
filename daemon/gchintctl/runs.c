// SPDX-License-Identifier: GPL-2.0-or-later
/* Several recordings at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "run.h"

/* Runs of several hosts are of several kinds, whatever they were called. */
static void tell_hosts_apart(struct run *const *run, size_t nr)
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

void run_close_all(struct run **run, size_t nr)
{
	for (size_t i = 0; run && i < nr; i++)
		run_close(run[i]);
	free(run);
}

struct run **run_open_all(char *const *paths, size_t nr)
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
	if (run)
		tell_hosts_apart(run, nr);
	return run;
}

size_t run_nth_of_label(struct run *const *run, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += !strcmp(run[k]->label, run[i]->label);
	return n;
}
