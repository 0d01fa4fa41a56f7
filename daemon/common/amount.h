/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Amounts as people read them: lengths, shares, sizes. Pure. */
#ifndef GCHINT_AMOUNT_H
#define GCHINT_AMOUNT_H

#include <stdint.h>

#define AMOUNT_TEXT 24

/* Each writes AMOUNT_TEXT bytes at most to @buf, and returns it. */

/* A buffer for one of them, in an expression. */
#define AMOUNT_BUFFER ((char[AMOUNT_TEXT]){ 0 })

/* A number of so many digits, and without an exponent if it has more: "0.412", "63", "18400". */
const char *amount_digits(double v, int digits, char *buf);
/* Three digits of a length: "412 us", "63.0 ms", "2.87 s". */
const char *amount_length(double ns, char *buf);
/* Two digits of a share, 1 is all: "0.42 %", "18 %". */
const char *amount_share(double share, char *buf);
/* Three digits of a size: "412 KiB", "63.0 MiB". */
const char *amount_bytes(double bytes, char *buf);

#endif
