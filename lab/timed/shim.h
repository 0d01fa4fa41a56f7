/* SPDX-License-Identifier: MIT */
#ifndef TIMED_SHIM_H
#define TIMED_SHIM_H

/** shim_start() - from here on time is modelled; in QEMU's main thread */
void shim_start(void);

#endif
