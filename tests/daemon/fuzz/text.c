// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: text of sysfs, procfs and tracefs of any bytes. */
#include <stdlib.h>
#include <string.h>

#include "../../../daemon/common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_pair(void *data, uint64_t a, uint64_t b)
{
	*(uint64_t *)data += a ^ b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct text_freq freq;
	uint8_t set[64];
	uint64_t u = 0;
	int64_t s;
	int n;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	text_u64(text, &u);
	text_s64(text, &s);
	text_fixed(text, size % 10, &s);
	text_size(text, &u);
	text_pairs(text, on_pair, &u);
	text_trace(text, &freq, &u);
	n = text_cpulist(text, set, sizeof(set));
	if (n > (int)sizeof(set))
		abort();
	if (strlen(text_strip(text)) > size)
		abort();
	free(text);
	return 0;
}
