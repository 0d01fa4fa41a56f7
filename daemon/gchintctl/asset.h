/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that a page carries, taken into the program when it is built: our own script,
 * and dygraphs with its licence from the package that is installed there
 * (libjs-dygraphs). Strings; "" where the program was built without.
 */
#ifndef GCHINTCTL_ASSET_H
#define GCHINTCTL_ASSET_H

extern const char asset_script[];
extern const char asset_dygraphs[], asset_dygraphs_style[], asset_dygraphs_licence[];

#endif
