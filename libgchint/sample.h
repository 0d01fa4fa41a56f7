/* SPDX-License-Identifier: MIT */
/* GCHINT_PROFILE: how a thread answers when a recorder samples it. */
#ifndef GCHINT_SAMPLE_H
#define GCHINT_SAMPLE_H

/**
 * sample_listen() - take the profiler's signal, unless the program has taken it
 *
 * The handler is never removed, because a signal may still be pending.
 *
 * Return: whether samples are answered.
 */
int sample_listen(void);

/**
 * sample_place() - the offset of __gchint_method from the thread pointer
 *
 * Return: 0 on machines where a recorder cannot read it, so that threads must answer.
 */
long long sample_place(void);

#endif /* GCHINT_SAMPLE_H */
