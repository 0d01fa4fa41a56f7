/* SPDX-License-Identifier: MIT */
/* GCHINT_PROFILE: the answer of a thread that a recorder samples. */
#ifndef GCHINT_SAMPLE_H
#define GCHINT_SAMPLE_H

/**
 * sample_listen() - take the profiler's signal, unless the program has taken it
 *
 * Once taken it stays: a signal may be on its way whenever.
 *
 * Return: whether samples are answered.
 */
int sample_listen(void);

/**
 * sample_place() - where a thread has its method, from its thread pointer
 *
 * Return: 0 where a recorder cannot follow, and threads must answer.
 */
long long sample_place(void);

#endif /* GCHINT_SAMPLE_H */
