/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels this module is written for; see docs/kernel-support.md. */
#ifndef _GCHINT_COMPAT_VERSION_H
#define _GCHINT_COMPAT_VERSION_H

#include <linux/version.h>

#if KERNEL_VERSION(6, 1, 0) > LINUX_VERSION_CODE
#error "gchint needs Linux 6.1 or later"
#elif KERNEL_VERSION(7, 3, 0) <= LINUX_VERSION_CODE
#error "gchint is not known to work with Linux 7.3 or later: see kmod/compat"
#endif

#endif /* _GCHINT_COMPAT_VERSION_H */
