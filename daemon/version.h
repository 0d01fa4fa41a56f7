/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTD_VERSION_H
#define GCHINTD_VERSION_H

#define GCHINTD_VERSION "1.0"

#endif
