/* SPDX-License-Identifier: MIT */
/*
 * Whether another minor collection pays, in a heap whose size is fixed. Pure: objects
 * scanned and bytes of room, so that it does not hang on how busy the machine is.
 */
#ifndef GC_GENERATION_H
#define GC_GENERATION_H

#include <stdbool.h>

/**
 * struct gc_generation - what collecting has cost since the last major collection began
 *			  and the room that it made; zero at first
 * @work: objects scanned, those of the major collection included
 * @room: bytes left to allocate, added up
 * @minor: objects that a minor collection scans, 0 unknown
 * @kept: bytes of survivors that it adds
 */
struct gc_generation {
	double work, room, minor, kept;
};

/**
 * gc_generation_end() - a collection ended
 * @work: objects that it scanned
 * @kept: bytes of survivors that it added; of a major one not looked at
 * @room: bytes that it leaves to allocate
 *
 * Survivors stay until the next major collection, so each minor one leaves less room than
 * the one before. The mean price of a byte falls at first, as more of them share the price
 * of the major one, and rises in the end. It is least where the next minor one's own price
 * is above the mean so far. What is known of minor collections fades while there are none,
 * so that one is tried now and then.
 *
 * Return: true when the next collection is better a major one.
 */
bool gc_generation_end(struct gc_generation *g, bool major, double work, double kept, double room);

#endif
