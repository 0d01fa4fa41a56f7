/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that are clamped or bound by what they say. */
#ifndef _GCHINT_STEER_H
#define _GCHINT_STEER_H

#include <linux/types.h>

struct gchint_session;
struct gchint_thread;

/* Calls a function for each session, with what is passed through. */
typedef int (*gchint_steer_walk)(int (*fn)(struct gchint_session *session,
					   void *priv), void *priv);

int gchint_steer_init(gchint_steer_walk each);
void gchint_steer_exit(void);
void gchint_steer_ring(struct gchint_session *session, unsigned int slot);
void gchint_steer_followers(struct gchint_session *session, unsigned int slot);
void gchint_steer_end(struct gchint_thread *thread);
void gchint_steer_changed(void);
void gchint_steer_flush(void);

#endif /* _GCHINT_STEER_H */
