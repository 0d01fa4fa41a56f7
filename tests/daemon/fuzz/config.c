// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: the configuration parser with any bytes. */
#include <stdlib.h>
#include <string.h>

#include "../../../daemon/source/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config;
	char error[64];

	config_defaults(&config);
	if (config_parse(&config, (const char *)data, size, error, sizeof(error)) &&
	    (strncmp(error, "line ", 5) || strlen(error) >= sizeof(error)))
		abort();
	return 0;
}
