// SPDX-License-Identifier: GPL-2.0-or-later
#include "amount.h"

#include <math.h>
#include <stdio.h>

static int decimals_of(double v)
{
	return v < 10 ? 2 : v < 100 ? 1 : 0;
}

const char *amount_digits(double v, int digits, char *buf)
{
	if (isfinite(v) && fabs(v) >= pow(10, digits) - 0.5)
		snprintf(buf, AMOUNT_TEXT, "%.0f", v);
	else
		snprintf(buf, AMOUNT_TEXT, "%.*g", digits, v);
	return buf;
}

const char *amount_length(double ns, char *buf)
{
	const char *unit = ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
	const double v = ns / (ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9);

	snprintf(buf, AMOUNT_TEXT, "%.*f %s", decimals_of(v), v, unit);
	return buf;
}

const char *amount_share(double share, char *buf)
{
	const double v = 100 * share;

	snprintf(buf, AMOUNT_TEXT, "%.*f %%", v < 1 ? 2 : v < 10 ? 1 : 0, v);
	return buf;
}

const char *amount_bytes(double bytes, char *buf)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	int unit = 0;

	while (bytes >= 1024 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, AMOUNT_TEXT, "%.*f %s", unit ? decimals_of(bytes) : 0, bytes, units[unit]);
	return buf;
}
