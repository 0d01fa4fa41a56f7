/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequencies of CPUs over time, and the time at each. */
#ifndef RECORDING_READER_FREQUENCY_H
#define RECORDING_READER_FREQUENCY_H

#include "recording.h"

/* Loads them, and computes rec->residency. Returns false if that fails, after reporting it. */
bool frequencies_load(struct recording *rec);

/* Frequency of a CPU at an instant in kHz; 0 not known. */
uint32_t recording_khz(const struct recording *rec, int cpu, uint64_t t);

/* Calls @fn for each stretch of [@t0, @t1) in which a CPU's frequency is known. */
void recording_stretches(const struct recording *rec, int cpu, uint64_t t0, uint64_t t1,
			 void (*fn)(void *data, uint32_t khz, uint64_t ns), void *data);

#endif
