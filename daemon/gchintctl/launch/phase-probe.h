/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Phases that are seen by probes on functions of a runtime, as written in adapters/probes.list and
 * after --probe:
 *
 *   [?]PHASE[,WORD]...=FILE:BEGIN[(N OPERATOR VALUE)][..END]
 *
 * WORD is stw, concurrent, foreground, urgent, or a cause. BEGIN and END are each a function, a USDT
 * probe as PROVIDER:NAME, or "TEXT": the function that uses this string. With "^" before a function
 * or a text it is the function that calls that one. The phase begins when a
 * thread enters BEGIN, and ends when it enters END, or without END when BEGIN returns. Only calls
 * whose argument N (from 1 on) compares so (=, < or >) with VALUE count. With "?" the file need not
 * have BEGIN.
 */
#ifndef GCHINTCTL_PHASE_PROBE_H
#define GCHINTCTL_PHASE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gchint-stream.h>

#define PHASE_PROBES 32 /* of one program */

/**
 * struct phase_probe - a phase, and what begins and ends it
 * @phase: GCHINT_PHASE_*
 * @flags: GCHINT_F_*
 * @cause: GCHINT_CAUSE_*
 * @file: a program or library by its name, its path or a pattern of paths; empty: the program
 * @begin: what is entered then
 * @end: the same; empty: @begin returns
 * @argument: number of the argument that is compared; 0: none is
 * @operator: how
 * @value: with what
 * @optional: no build of the runtime has to have it
 * @runtime: whose phase it is, as in the first field of probes.list; empty: not known
 */
struct phase_probe {
	unsigned int phase, flags, cause;
	char file[256], begin[128], end[128];
	unsigned int argument;
	char operator;
	int64_t value;
	bool optional;
	char runtime[GCHINT_STREAM_RUNTIME];
};

/**
 * phase_probe_parse - parse a probe
 * @text: the probe
 * @length: of @text
 * @probe: receives it
 * @why: receives the reason of a failure
 * @size: of @why
 */
bool phase_probe_parse(const char *text, size_t length, struct phase_probe *probe, char *why,
		       size_t size);

/* Whether a call with these arguments begins the phase. */
bool phase_probe_matches(const struct phase_probe *probe, const uint64_t *argument);

#endif
