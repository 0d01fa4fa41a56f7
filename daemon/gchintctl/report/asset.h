/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that are embedded in pages, compiled into the program: our own script, and dygraphs with
 * its licence, from the build machine's package (libjs-dygraphs). They are strings, "" where the
 * program was built without dygraphs.
 */
#ifndef GCHINTCTL_ASSET_H
#define GCHINTCTL_ASSET_H

extern const char asset_script[];
extern const char asset_dygraphs[], asset_dygraphs_style[], asset_dygraphs_licence[];

#endif
