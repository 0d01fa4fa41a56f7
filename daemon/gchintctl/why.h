/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_WHY_H
#define GCHINTCTL_WHY_H

#include <stdint.h>

/**
 * why_recording - the same question to a recording
 * @path: the recording
 * @seconds: an instant since its begin; NAN for the longest pauses
 * @lines: how many of these
 *
 * Returns an exit code.
 */
int why_recording(const char *path, double seconds, uint64_t lines);

#endif
