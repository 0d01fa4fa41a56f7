/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of probes: adapters/probes.list, whose first lines describe the format, and those of users. */
#ifndef GCHINTCTL_PROBE_LIST_H
#define GCHINTCTL_PROBE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "phase-probe.h"
#include "runtime.h"

#define PROBE_LIST_SIGNS 256 /* bytes of what a runtime is recognised by */

/* Runtimes of adapters/probes.list, which this program contains; NULL after the last. */
const struct runtime *probe_list_at(size_t i);

/**
 * struct probe_set - the probes of a run
 * @probe: the probes
 * @nr: how many
 */
struct probe_set {
	struct phase_probe probe[PHASE_PROBES];
	size_t nr;
};

/**
 * probe_set_add - add probes, separated by blanks
 * @set: the probes
 * @text: the new ones
 * @runtime: whose; NULL: not known
 * @why: receives the reason of a failure
 * @size: of @why
 */
bool probe_set_add(struct probe_set *set, const char *text, const char *runtime, char *why,
		   size_t size);

/**
 * probe_set_take - take the argument of --probe
 * @set: the probes
 * @argument: a probe, or the name of a file with probes; of a line with "|" those in its fourth field
 * @why: receives the reason of a failure
 * @size: of @why
 */
bool probe_set_take(struct probe_set *set, const char *argument, char *why, size_t size);

#endif
