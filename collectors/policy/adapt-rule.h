/* SPDX-License-Identifier: MIT */
/*
 * The sizing half of policy=adaptive, as a pure function: heap growth "integrated with DVFS
 * decisions", which the Dalvik seed proposes in section 6 without implementing it.
 */
#ifndef GC_ADAPT_RULE_H
#define GC_ADAPT_RULE_H

#include <stdint.h>

/**
 * gc_adapt_room() - bytes to grow by instead of collecting now
 * @effective_khz, @highest_khz: frequencies of the CPU; 0: unknown
 * @room: bytes between live and soft limit that the sizing rule gave
 * @grown: bytes grown since the last collection
 * @left: bytes up to max=
 *
 * Collecting is memory-bound: at a low frequency it costs little energy, at the highest
 * it burns power waiting for memory. So the heap grows only while the CPU runs fast, and
 * by no more than another @room. With an unknown frequency it is 0: collect.
 */
uint64_t gc_adapt_room(uint32_t effective_khz, uint32_t highest_khz, uint64_t room, uint64_t grown,
		       uint64_t left);

#endif
