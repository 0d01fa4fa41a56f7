/* SPDX-License-Identifier: GPL-2.0-only */
/* Module parameters. */
#ifndef _GCHINT_PARAM_H
#define _GCHINT_PARAM_H

extern unsigned int gchint_param_hint_ttl_ms;
extern unsigned int gchint_param_leases;

void gchint_param_set_listener(void (*listener)(void));

#endif /* _GCHINT_PARAM_H */
