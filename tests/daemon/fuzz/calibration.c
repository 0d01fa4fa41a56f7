// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: a calibration of any bytes; an accepted one is written as it was read. */
#include <stdlib.h>
#include <string.h>

#include "../../../daemon/gchintctl/calibrate/calibration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *calibration_format(const struct calibration *c, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		abort();
	calibration_write(c, f);
	fclose(f);
	return text;
}

static void calibration_check(const struct calibration *c)
{
	struct calibration other;
	char error[128], *text, *more;
	size_t len, more_len;

	text = calibration_format(c, &len);
	if (calibration_parse(&other, text, len, error, sizeof(error)))
		abort();
	more = calibration_format(&other, &more_len);
	if (len != more_len || memcmp(text, more, len))
		abort();
	calibration_free(&other);
	free(text);
	free(more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct calibration c;
	char error[128] = "";
	int ret = calibration_parse(&c, (const char *)data, size, error, sizeof(error));

	if (ret && (strncmp(error, "line ", 5) || strlen(error) + 1 >= sizeof(error)))
		abort();
	if (!ret && (!c.nr || !c.policy[c.nr - 1].nr || c.policy[0].nr > CALIBRATION_OPPS))
		abort();
	if (!ret)
		calibration_check(&c);
	calibration_free(&c);
	return 0;
}
