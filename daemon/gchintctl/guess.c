// SPDX-License-Identifier: GPL-2.0-or-later
#include "guess.h"

#include <stdint.h>
#include <string.h>

#define LETTERS 32

static size_t min_of_three(size_t a, size_t b, size_t c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

size_t guess_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), d[LETTERS][LETTERS];

	if (na >= LETTERS || nb >= LETTERS)
		return SIZE_MAX;
	for (size_t i = 0; i <= na; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= na; i++)
		for (size_t j = 1; j <= nb; j++) {
			d[i][j] = min_of_three(d[i - 1][j] + 1, d[i][j - 1] + 1,
					       d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min_of_three(d[i][j], d[i - 2][j - 2] + 1, SIZE_MAX);
		}
	return d[na][nb];
}

int guess_likely(const char *typed, const char *name)
{
	size_t n = strlen(typed);

	if (n > 1 && !strncmp(typed, name, n))
		return 1;
	return guess_distance(typed, name) <= (strlen(name) + 2) / 3;
}
