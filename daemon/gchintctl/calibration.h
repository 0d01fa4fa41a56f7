/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine was measured to draw, as a file: gchintctl(1), CALIBRATION FILE. Pure. */
#ifndef GCHINTCTL_CALIBRATION_H
#define GCHINTCTL_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CALIBRATION_OPPS     64 /* of a policy; the module takes no more */
#define CALIBRATION_POLICIES 512
/* A kilowatt in uW, the bound of the module; of other figures a bound of sense. */
#define CALIBRATION_MAX 1000000000u

/**
 * struct calibration_figure - a figure and its error
 * @known: it is there
 */
struct calibration_figure {
	bool known;
	uint32_t value, error;
};

/**
 * struct calibration_policy - of one frequency policy
 * @cpu: its first CPU
 * @awake: uW that its cores draw together while any of them is busy, whichever it is
 * @memory: ps that a load waits for memory, at any frequency
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
 * struct calibration - a machine
 * @idle: uW that it draws while every CPU is idle
 * @policy: ascending by CPU
 */
struct calibration {
	struct calibration_figure idle;
	uint32_t nr;
	struct calibration_policy *policy;
};

/**
 * calibration_parse - read it, strictly
 * @c: freed with calibration_free() in any case
 * @text: the file
 * @size: its bytes
 * @error: receives "line N: what is wrong with it"
 * @error_size: of @error
 *
 * Returns 0, -EINVAL with @error, or -ENOMEM.
 */
int calibration_parse(struct calibration *c, const char *text, size_t size, char *error,
		      size_t error_size);
/* As calibration_parse() takes it. */
void calibration_write(const struct calibration *c, FILE *f);
void calibration_free(struct calibration *c);

#endif
