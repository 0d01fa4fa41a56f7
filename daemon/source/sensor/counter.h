/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened to an energy counter between two readings. Pure.
 *
 * A counter that shows more energy than the rail can have drawn since it last changed jumped
 * (firmware wrote it, a read was garbled): its step is no energy.
 *
 * A counter that shows less than before has wrapped or was reset (a driver was loaded anew, the
 * machine slept, firmware cleared it). Only after a wrap is the energy known. It is one only if the
 * energy that it implies is possible at the rail's highest power in the time that passed.
 */
#ifndef SOURCE_COUNTER_H
#define SOURCE_COUNTER_H

#include <stdint.h>

/* No rail of one socket or board draws more; used where a rail's limit is not known. */
#define COUNTER_MAX_W 4000.0

enum counter_change {
	COUNTER_GREW,
	COUNTER_WRAPPED, /* exactly once */
	COUNTER_RESET, /* went back without a wrap */
	COUNTER_JUMPED, /* went on by more than the rail can draw */
	COUNTER_UNCLEAR /* may have wrapped more often than is visible */
};

/**
 * struct counter_limits - what bounds the energy between two readings
 * @range: value at which the counter begins anew, in its own unit; 0: never
 * @unit_j: energy of one unit, J
 * @max_w: highest power of the rail; 0 not known
 * @lag_ns: a reading may be this old
 * @same_ns: the counter showed @last for this long already: one that is updated rarely then
 *	shows at once what was drawn in all that time
 */
struct counter_limits {
	uint64_t range;
	double unit_j, max_w;
	uint64_t lag_ns, same_ns;
};

/**
 * counter_compare - compare a reading with the one before
 * @limits: of the counter
 * @last: reading before
 * @now: reading
 * @ns: time between them
 * @grown: receives the difference in the counter's unit; 0 if it is not known
 */
enum counter_change counter_compare(const struct counter_limits *limits, int64_t last, int64_t now,
				    uint64_t ns, int64_t *grown);

#endif
