// SPDX-License-Identifier: MIT
#include "histogram.h"

#include <math.h>

#define HALF (1u << (HISTOGRAM_BITS - 1))

static unsigned int slot_of(uint64_t value)
{
	unsigned int octave;

	if (value >> 62)
		value = (UINT64_C(1) << 62) - 1;
	if (value < 2 * HALF)
		return (unsigned int)value;
	octave = 63 - (unsigned int)__builtin_clzll(value) - (HISTOGRAM_BITS - 1);
	return octave * HALF + (unsigned int)(value >> octave);
}

/* The largest value that falls into @slot. */
static uint64_t slot_top(unsigned int slot)
{
	unsigned int octave;

	if (slot < 2 * HALF)
		return slot;
	octave = slot / HALF - 1;
	return ((uint64_t)(slot - octave * HALF + 1) << octave) - 1;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->count++;
	h->sum += (double)value;
	h->max = value > h->max ? value : h->max;
	h->slot[slot_of(value)]++;
}

void histogram_add_corrected(struct histogram *h, uint64_t value, uint64_t interval)
{
	histogram_add(h, value);
	if (!interval)
		return;
	while (value >= 2 * interval) {
		value -= interval;
		histogram_add(h, value);
	}
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
	double want = ceil(q * (double)h->count * (1 - 1e-12)); /* 0.07 is a little over 7 % */
	uint64_t seen = 0;

	if (want < 1)
		want = 1;
	for (unsigned int i = 0; i < HISTOGRAM_SLOTS; i++) {
		seen += h->slot[i];
		if ((double)seen >= want)
			return slot_top(i) < h->max ? slot_top(i) : h->max;
	}
	return h->max;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? h->sum / (double)h->count : NAN;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	to->count += from->count;
	to->sum += from->sum;
	to->max = from->max > to->max ? from->max : to->max;
	for (unsigned int i = 0; i < HISTOGRAM_SLOTS; i++)
		to->slot[i] += from->slot[i];
}
