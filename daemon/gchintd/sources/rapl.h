/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of RAPL's counters, whichever of the kernel's interfaces tells them. */
#ifndef GCHINTD_RAPL_H
#define GCHINTD_RAPL_H

#include "../../common/clock.h"

/*
 * The processor counts on about once a millisecond (Intel's Software Developer's Manual,
 * volume 3B, 15.10.1; AMD's are as slow): what is read is the energy of up to so long ago.
 */
#define RAPL_UPDATE_NS NSEC_PER_MSEC

#endif
