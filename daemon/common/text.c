// SPDX-License-Identifier: GPL-2.0-or-later
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blank(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static bool at_end(const char *s)
{
	return *skip_blank(s) == '\0';
}

int text_u64(const char *s, uint64_t *value)
{
	char *end;
	unsigned long long v;

	s = skip_blank(s);
	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return -ERANGE;
	if (!at_end(end))
		return -EINVAL;
	*value = v;
	return 0;
}

int text_s64(const char *s, int64_t *value)
{
	char *end;
	long long v;

	s = skip_blank(s);
	if (!isdigit((unsigned char)s[*s == '-' || *s == '+']))
		return -EINVAL;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno)
		return -ERANGE;
	if (!at_end(end))
		return -EINVAL;
	*value = v;
	return 0;
}

int text_fixed(const char *s, unsigned int scale, int64_t *value)
{
	char *end;
	double v;

	s = skip_blank(s);
	/* strtod also takes "nan", "inf" and hex, which no driver prints. */
	if (*s == '\0' || strspn(s, "+-.0123456789eE \t\n") != strlen(s) || scale > 9)
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (end == s || !at_end(end))
		return -EINVAL;
	for (unsigned int i = 0; i < scale; i++)
		v *= 10;
	if (!(fabs(v) < 9.2e18))
		return -ERANGE;
	*value = (int64_t)llround(v);
	return 0;
}

int text_cpulist(const char *s, uint8_t *set, size_t nr)
{
	int count = 0;

	memset(set, 0, nr);
	s = skip_blank(s);
	while (*s) {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*s))
			return -EINVAL;
		first = last = strtoul(s, &end, 10);
		if (*end == '-') {
			s = end + 1;
			if (!isdigit((unsigned char)*s))
				return -EINVAL;
			last = strtoul(s, &end, 10);
		}
		if (last < first)
			return -EINVAL;
		if (last >= nr)
			return -ERANGE;
		for (unsigned long i = first; i <= last; i++) {
			count += !set[i];
			set[i] = 1;
		}
		if (*end == ',' && end[1])
			end++;
		else if (!at_end(end))
			return -EINVAL;
		else
			break;
		s = end;
	}
	return count;
}

int text_pairs(const char *s, void (*fn)(void *data, uint64_t a, uint64_t b), void *data)
{
	for (s = skip_blank(s); *s; s = skip_blank(s)) {
		unsigned long long a, b;
		char *end;

		if (!isdigit((unsigned char)*s))
			return -EINVAL;
		errno = 0;
		a = strtoull(s, &end, 10);
		if (*end != ' ' && *end != '\t')
			return -EINVAL;
		s = end + strspn(end, " \t");
		if (!isdigit((unsigned char)*s))
			return -EINVAL;
		b = strtoull(s, &end, 10);
		if (errno)
			return -ERANGE;
		if (*end && *end != '\n')
			return -EINVAL;
		fn(data, a, b);
		s = end;
	}
	return 0;
}

int text_size(const char *s, uint64_t *value)
{
	unsigned int shift = 0;
	unsigned long long v;
	char *end;

	s = skip_blank(s);
	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end == 'K')
		shift = 10;
	else if (*end == 'M')
		shift = 20;
	else if (*end == 'G')
		shift = 30;
	if (!at_end(end + !!shift))
		return -EINVAL;
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	*value = v << shift;
	return 0;
}

char *text_strip(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

/* "12345.678901:" to ns; the digits after the point may be 6 (us) or 9. */
static int trace_time(const char *s, const char *colon, uint64_t *t_ns)
{
	uint64_t sec = 0, frac = 0, unit = 1000000000ull;

	if (s == colon || !isdigit((unsigned char)*s))
		return -EINVAL;
	for (; s < colon && isdigit((unsigned char)*s); s++) {
		if (sec > 10000000000ull)
			return -ERANGE;
		sec = sec * 10 + (uint64_t)(*s - '0');
	}
	if (s < colon && *s == '.')
		for (s++; s < colon && isdigit((unsigned char)*s) && unit > 1; s++) {
			frac = frac * 10 + (uint64_t)(*s - '0');
			unit /= 10;
		}
	if (s != colon)
		return -EINVAL;
	*t_ns = sec * 1000000000ull + frac * unit;
	return 0;
}

int text_trace(const char *line, struct text_freq *freq, uint64_t *lost)
{
	static const char mark[] = ": cpu_frequency: ";
	const char *event, *time;
	unsigned int khz, cpu;
	unsigned long long n;

	if (sscanf(line, "CPU:%u [LOST %llu EVENTS]", &cpu, &n) == 2) {
		*lost = n;
		return 2;
	}
	event = strstr(line, mark);
	if (!event)
		return 0;
	for (time = event; time > line && time[-1] != ' '; time--)
		;
	if (sscanf(event + sizeof(mark) - 1, "state=%u cpu_id=%u", &khz, &cpu) != 2)
		return 0;
	if (trace_time(time, event, &freq->t_ns))
		return 0;
	freq->khz = khz;
	freq->cpu = cpu;
	return 1;
}
