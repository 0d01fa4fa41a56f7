/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main loop: descriptors, timers and signals by sd-event. Periodic timers expire at
 * multiples of their period, so that sources with the same period, or with periods that
 * divide each other, share a wake-up.
 */
#ifndef SOURCE_LOOP_H
#define SOURCE_LOOP_H

#include <stdint.h>

struct loop;
struct watch;

typedef void (*loop_fn)(void *data, uint32_t events);

struct loop *loop_new(void);
/* Frees its watches, too. NULL is allowed. */
void loop_free(struct loop *loop);

/*
 * Calls @fn with the EPOLL* events of @fd, which the caller keeps and closes. With
 * EPOLLONESHOT in @events it is called once, and again only after watch_again().
 */
struct watch *loop_fd(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *data);
/* Calls @fn every @period_ns, of whole us; missed periods are skipped, not made up. */
struct watch *loop_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data);
/* Calls @fn with the signal's number as events. Blocks the signal. */
struct watch *loop_signal(struct loop *loop, int signo, loop_fn fn, void *data);

/* Changes the period of a timer; 0 stops it. 0 or -errno. */
int watch_period(struct watch *w, uint64_t period_ns);
/* Arms a one-shot descriptor again after its call. 0 or -errno. */
int watch_again(struct watch *w);
/* May be called from within any callback, its own included. NULL is allowed. */
void watch_free(struct watch *w);

/* Runs until loop_quit(); returns the code passed to it or -errno. */
int loop_run(struct loop *loop);
void loop_quit(struct loop *loop, int code);

#endif
