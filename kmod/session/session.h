/* SPDX-License-Identifier: GPL-2.0-only */
/* A session: one open file of /dev/gchint and the process image behind it. */
#ifndef _GCHINT_SESSION_H
#define _GCHINT_SESSION_H

struct gchint_session;
struct attribute_group;
struct kobject;

int gchint_session_init(const struct attribute_group **groups);
void gchint_session_exit(void);
struct kobject *gchint_session_kobj(void);
unsigned int gchint_session_count(void);
int gchint_session_for_each(int (*fn)(struct gchint_session *session, void *priv),
			    void *priv);

#endif /* _GCHINT_SESSION_H */
