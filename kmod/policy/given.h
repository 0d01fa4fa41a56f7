/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The power of a policy's OPPs as somebody measured it, and whether that can be:
 * nothing of it is taken unless all of it is right.
 */
#ifndef _GCHINT_GIVEN_H
#define _GCHINT_GIVEN_H

#include "opp.h"

/* The most that one CPU, and a whole machine at rest, may draw: a kilowatt, in uW. */
#define GCHINT_GIVEN_POWER_MAX 1000000000u

/**
 * struct gchint_given - the OPPs of a policy, measured
 * @nr: how many
 * @idle_known: @idle is known
 * @idle: what is drawn while every CPU is idle, uW
 * @opp: in ascending order of frequency
 * @opp.khz: frequency
 * @opp.power: what a busy CPU draws above an idle one, uW
 */
struct gchint_given {
	u32 nr;
	bool idle_known;
	u32 idle;
	struct {
		u32 khz;
		u32 power;
	} opp[GCHINT_OPPS_MAX];
};

/**
 * enum gchint_given_fault - what is wrong with it
 * @GCHINT_GIVEN_RIGHT: nothing
 * @GCHINT_GIVEN_ORDER: an OPP is not above the one before
 * @GCHINT_GIVEN_ALIEN: the policy has no such OPP
 * @GCHINT_GIVEN_LACKS: the policy has one between this and the one before
 * @GCHINT_GIVEN_SHORT: the policy has more above the last, or none was given
 * @GCHINT_GIVEN_POWER: a power of 0, or of more than can be
 * @GCHINT_GIVEN_FALLS: a faster one draws less
 * @GCHINT_GIVEN_IDLE: more at rest than can be
 */
enum gchint_given_fault {
	GCHINT_GIVEN_RIGHT,
	GCHINT_GIVEN_ORDER,
	GCHINT_GIVEN_ALIEN,
	GCHINT_GIVEN_LACKS,
	GCHINT_GIVEN_SHORT,
	GCHINT_GIVEN_POWER,
	GCHINT_GIVEN_FALLS,
	GCHINT_GIVEN_IDLE,
};

/**
 * gchint_given_check() - can it be the power of these OPPs?
 * @g: what was given
 * @of: the policy's OPPs, whatever is known of their power
 * @at: out: index of the OPP at fault, the last one of those that are too few; else 0
 *
 * Each OPP of the policy wants one, and one that it has not is none of it. A policy
 * without a table takes any two or more of which the first is its lowest frequency
 * and the last its highest.
 *
 * Return: the first fault, by order of OPP.
 */
enum gchint_given_fault gchint_given_check(const struct gchint_given *g,
					   const struct gchint_opps *of, u32 *at);

/**
 * gchint_given_power() - power of an OPP
 * @g: what was given
 * @khz: its frequency
 *
 * Return: uW; 0 if it is not among them.
 */
u32 gchint_given_power(const struct gchint_given *g, u32 khz);

#endif /* _GCHINT_GIVEN_H */
