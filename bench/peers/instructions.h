/* SPDX-License-Identifier: MIT */
/* The instruction count of a run, which is the same on a busy and on a quiet machine. */
#ifndef BENCH_INSTRUCTIONS_H
#define BENCH_INSTRUCTIONS_H

#include <stdint.h>

/**
 * peer_instructions() - instructions in user space, as callgrind counts them
 * @program, @arguments: what to run; the arguments as a shell reads them
 *
 * Counts the process with the most instructions, as a program may do its work in a child.
 *
 * Return: their number; 0 unknown: there is no valgrind, or the program failed.
 */
uint64_t peer_instructions(const char *program, const char *arguments);

#endif
