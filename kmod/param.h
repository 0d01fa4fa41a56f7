/* SPDX-License-Identifier: GPL-2.0-only */
/* Module parameters: what is the same for every policy and every user. */
#ifndef _GCHINT_PARAM_H
#define _GCHINT_PARAM_H

extern unsigned int gchint_param_event_ring;
extern unsigned int gchint_param_hint_ttl_ms;
extern unsigned int gchint_param_leases;
extern unsigned int gchint_param_min_phase_us;
extern unsigned int gchint_param_sample_ms;
extern unsigned int gchint_param_sessions_per_user;
extern unsigned int gchint_param_slots_per_user;

void gchint_param_tell(void (*who)(void));

#endif /* _GCHINT_PARAM_H */
