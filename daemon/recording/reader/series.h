/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which readings of a rail can be trusted. Everything that computes an energy takes the readings
 * from here, so that a value that is wrong is unknown everywhere. Pure.
 *
 * - The readings before and after a gap give the energy of a counter in it, if it grew: gchintd
 *   repeats the value before where it did not know.
 * - Of a counter's readings of one instant, those that would leave a growth between them are
 *   dropped: time 0 has no energy.
 * - A counter that stands still for far longer than the time between its steps has stopped: a
 *   package or a machine never draws nothing. One of a GPU, a device or a single core may.
 * - A power below zero is a shunt that is reversed, or a battery: as much as a meter may err
 *   around zero is taken as it is.
 */
#ifndef RECORDING_READER_SERIES_H
#define RECORDING_READER_SERIES_H

#include "recording.h"

void series_settle(struct recording_series *s, const struct recording_rail *rail);

#endif
