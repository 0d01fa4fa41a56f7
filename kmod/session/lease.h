/* SPDX-License-Identifier: GPL-2.0-only */
/* Leases of slots to threads: how they begin, change and end. */
#ifndef _GCHINT_LEASE_H
#define _GCHINT_LEASE_H

#include <linux/gchint.h>
#include <linux/types.h>

struct gchint_session;
struct task_struct;

int gchint_lease_init(void);
void gchint_lease_exit(void);

int gchint_lease_attach(struct gchint_session *session,
			struct gchint_attach *attach);
int gchint_lease_end(struct gchint_session *session, unsigned long slot,
		     enum gchint_lease end, bool report);
int gchint_lease_set_role(struct gchint_session *session,
			  const struct gchint_set_role *role);
void gchint_lease_report(struct gchint_session *session, unsigned int slot,
			 enum gchint_lease what);
int gchint_lease_ring(struct gchint_session *session, unsigned long slot);
void gchint_lease_close(struct gchint_session *session);
void gchint_lease_end_task(struct task_struct *task, enum gchint_lease end);

#endif /* _GCHINT_LEASE_H */
