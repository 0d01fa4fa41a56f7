/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of RAPL counters that all kernel interfaces to them share. */
#ifndef SOURCE_RAPL_H
#define SOURCE_RAPL_H

#include "../../common/clock.h"

/*
 * The processor updates the counters about once a millisecond (Intel's Software Developer's
 * Manual, volume 3B, 15.10.1; AMD's are as slow), so a reading may be this old.
 */
#define RAPL_UPDATE_NS NSEC_PER_MSEC

#endif
