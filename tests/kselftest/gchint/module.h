/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Unloading and loading the module. */
#ifndef MODULE_H
#define MODULE_H

#define MODULE "cpufreq_gchint"

/* 0 or -errno; -EWOULDBLOCK while it is in use. Never waits. */
int module_unload(void);

/* 0 or -errno; -EEXIST if it is loaded. With parameters, as insmod takes them, or "". */
int module_load_with(const char *parameters);
int module_load(void);

#endif
