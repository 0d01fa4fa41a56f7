/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration on its way to the module, and back out of it. */
#ifndef GCHINTCTL_GIVEN_H
#define GCHINTCTL_GIVEN_H

/* Each tells its mistakes and returns an exit code. */
int given_load(const char *path);
int given_forget(void);

#endif
