/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading a calibration into the module, and removing it. */
#ifndef GCHINTCTL_GIVEN_H
#define GCHINTCTL_GIVEN_H

/* Both print their errors and return an exit code. */
int given_load(const char *path);
int given_forget(void);

#endif
