/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that are embedded in pages, compiled into the program: our own style and script, and
 * dygraphs with its licence, from the build machine's package (libjs-dygraphs). They are strings,
 * all but the style "" where the program was built without dygraphs.
 */
#ifndef GCHINTCTL_ASSET_H
#define GCHINTCTL_ASSET_H

extern const char asset_style[], asset_script[];
extern const char asset_dygraphs[], asset_dygraphs_style[], asset_dygraphs_licence[];

#endif
