/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Boards whose hardware is a file of the host, which the guest sees as memory
 * that is not RAM: words of 32 bits, a page per CPU
 * (tests/board/acpi/cppc.dsl).
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdint.h>

#define REGISTER_KHZ 15000L	/* a level of performance */

enum register_word {
	REGISTER_DESIRED = 0x00 / 4,
	REGISTER_MIN = 0x04 / 4,
	REGISTER_MAX = 0x08 / 4,
	REGISTER_ENABLE = 0x0c / 4,
	REGISTER_AUTO = 0x10 / 4,
	REGISTER_EPP = 0x14 / 4,
	REGISTER_LIMITED = 0x18 / 4,
};

/**
 * registers_open() - map them
 * @address: physical, of the first CPU's page
 *
 * Return: 0 or -errno.
 */
int registers_open(uint64_t address);

/**
 * registers_word() - current value of a CPU's word
 * @cpu: the CPU
 * @word: its index
 *
 * Return: its value, or -ENODEV.
 */
long registers_word(int cpu, enum register_word word);

/**
 * registers_autonomous() - the same where a board may keep it in a channel
 * @cpu: the CPU
 * @word: REGISTER_AUTO or REGISTER_EPP, which have the same offsets as in its
 * page (tests/board/acpi/pcct)
 *
 * Return: its value, or -ENODEV.
 */
long registers_autonomous(int cpu, enum register_word word);

/**
 * registers_await() - wait until a word has a value
 * @ms: timeout
 *
 * Return: the value at the end.
 */
long registers_await(int cpu, enum register_word word, long value, int ms);

#endif
