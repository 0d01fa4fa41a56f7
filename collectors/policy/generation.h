/* SPDX-License-Identifier: MIT */
/*
 * Whether another minor collection pays off, in a heap of fixed size. Pure: works on objects
 * scanned and bytes of room, so that it does not depend on the load of the machine.
 */
#ifndef GC_GENERATION_H
#define GC_GENERATION_H

#include <stdbool.h>

/**
 * struct gc_generation - the cost of collecting since the last major collection began,
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
 * @kept: bytes of survivors that it added; ignored for a major one
 * @room: bytes that it leaves to allocate
 *
 * Survivors stay until the next major collection, so each minor one leaves less room than
 * the one before. The mean cost of a byte falls at first, as more bytes share the cost of the
 * major collection, and rises in the end. It is lowest where the cost of the next minor
 * collection exceeds the mean so far. Measurements of minor collections fade while there are
 * none, so that one is tried from time to time.
 *
 * Return: true when the next collection is better a major one.
 */
bool gc_generation_end(struct gc_generation *g, bool major, double work, double kept, double room);

#endif
