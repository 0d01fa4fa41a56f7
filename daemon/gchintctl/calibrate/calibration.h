/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measured power of a machine, as a file: see CALIBRATION FILE in gchintctl(1). Pure. */
#ifndef GCHINTCTL_CALIBRATION_H
#define GCHINTCTL_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CALIBRATION_OPPS     64 /* of a policy; also the module's limit */
#define CALIBRATION_POLICIES 512
/* A kilowatt in uW: the module's limit for power, a limit of plausibility for other figures. */
#define CALIBRATION_MAX 1000000000u

/**
 * struct calibration_figure - a figure and its error
 * @known: the file has this figure
 */
struct calibration_figure {
	bool known;
	uint32_t value, error;
};

/**
 * struct calibration_policy - figures of one cpufreq policy
 * @cpu: its first CPU
 * @awake: uW that its CPUs share: drawn while at least one of them is busy
 * @memory: ps that a load waits for memory, independent of the frequency
 * @opp: in ascending order of frequency
 * @opp.power: uW that a busy CPU draws above an idle one; @known is not used
 */
struct calibration_policy {
	uint32_t cpu, nr;
	struct calibration_figure awake, memory;
	struct {
		uint32_t khz;
		struct calibration_figure power;
	} opp[CALIBRATION_OPPS];
};

/**
 * struct calibration - figures of a machine
 * @idle: uW that it draws while every CPU is idle
 * @policy: ascending by CPU
 */
struct calibration {
	struct calibration_figure idle;
	uint32_t nr;
	struct calibration_policy *policy;
};

/**
 * calibration_parse - parse a calibration file strictly
 * @c: receives the figures; to be freed with calibration_free() even after an error
 * @text: content of the file
 * @size: length of @text in bytes
 * @error: receives "line N: " and what is wrong there
 * @error_size: size of @error
 *
 * Returns 0, -EINVAL with @error, or -ENOMEM.
 */
int calibration_parse(struct calibration *c, const char *text, size_t size, char *error,
		      size_t error_size);
/* Writes the format that calibration_parse() reads. */
void calibration_write(const struct calibration *c, FILE *f);
void calibration_free(struct calibration *c);

#endif
