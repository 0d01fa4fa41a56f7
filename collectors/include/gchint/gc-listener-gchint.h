/* SPDX-License-Identifier: MIT */
/**
 * DOC: The listener that hands phases to libgchint
 *
 * Link libgchint as well. Where the device is absent, each edge costs a branch.
 */
#ifndef GCHINT_GC_LISTENER_GCHINT_H
#define GCHINT_GC_LISTENER_GCHINT_H

#include <gchint/gc-listener.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct gchint_session;

/**
 * struct gc_listener_gchint - phases become hints of the threads that do the work
 * @session: of libgchint
 * @waiting: mutators that wait for a concurrent cycle; while there are any, the daemon's
 *	     phases are urgent
 * @urgent: whether the current phase was announced as urgent
 */
struct gc_listener_gchint {
	struct gc_listener base;
	struct gchint_session *session;
	uint32_t waiting;
	bool urgent;
};

/**
 * gc_listener_gchint_open() - open the process's session
 * @flags: GCHINT_OPEN_*
 *
 * Return: 0, also without the device; -errno of gchint_open().
 */
int gc_listener_gchint_open(struct gc_listener_gchint *listener, unsigned int flags);

/** gc_listener_gchint_close() - after the heap was destroyed. */
void gc_listener_gchint_close(struct gc_listener_gchint *listener);

/**
 * gc_listener_gchint_frequency() - for gc_frequency_source(), with the listener as @arg
 *
 * Return: 0, or -errno of gchint_get_policy(): no device, no policy.
 */
int gc_listener_gchint_frequency(uint32_t *effective_khz, uint32_t *highest_khz, void *arg);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif /* GCHINT_GC_LISTENER_GCHINT_H */
