/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTD_VERSION_H
#define GCHINTD_VERSION_H

/* Of include/gchint.h: tests/packaging/run compares them. */
#define GCHINTD_VERSION "0.1.0"

#endif
