// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

/* The assembler includes the file itself, so that no array has to be generated from it. */
#define ASSET(name, path)                                                                          \
	__asm__(".section .rodata\n"                                                               \
		".global " #name "\n" #name ":\n"                                                  \
		".incbin \"" path "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".previous\n")

ASSET(asset_style, "gchintctl/report/report.css");
#ifdef HAVE_DYGRAPHS
ASSET(asset_script, "gchintctl/report/report.js");
ASSET(asset_dygraphs, HAVE_DYGRAPHS "/dygraph.min.js");
ASSET(asset_dygraphs_style, HAVE_DYGRAPHS "/dygraph.min.css");
ASSET(asset_dygraphs_licence, "../LICENSES/MIT");
#else
const char asset_script[] = "";
const char asset_dygraphs[] = "", asset_dygraphs_style[] = "", asset_dygraphs_licence[] = "";
#endif
