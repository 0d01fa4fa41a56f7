/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of the power of rails, as a user states them. */
#ifndef RECORDING_READER_LIMITS_H
#define RECORDING_READER_LIMITS_H

#include "recording.h"

/**
 * recording_limit - set the minimum and maximum power of rails
 * @rec: the recording whose rail[].limits change
 * @spec: "LOW:HIGH" in W for every rail, "RAIL=LOW:HIGH" for one by name or label
 *
 * Returns the number of rails that match; also 0 if recording_limits_valid() returns false.
 */
size_t recording_limit(struct recording *rec, const char *spec);
bool recording_limits_valid(const char *spec);

#endif
