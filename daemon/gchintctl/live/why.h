/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_WHY_H
#define GCHINTCTL_WHY_H

#include <stdint.h>

/**
 * why_recording - explain the frequencies of an instant, or the longest pauses
 * @path: the recording
 * @seconds: the instant, from the start of the recording; NAN for the longest pauses
 * @lines: number of pauses
 *
 * Returns an exit code.
 */
int why_recording(const char *path, double seconds, uint64_t lines);

#endif
