// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "genl.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

static void path_of(int policy, char *path, size_t size)
{
	if (policy < 0)
		snprintf(path, size, USE "/all");
	else
		snprintf(path, size, USE "/policy%d", policy);
}

int use_put(int policy, const char *name)
{
	char path[128];

	path_of(policy, path, sizeof(path));
	return file_put(path, name);
}

int use_get(int policy, char *name, size_t size)
{
	char path[128];

	path_of(policy, path, sizeof(path));
	return file_get(path, name, size);
}

int use_await(int policy, const char *name, int ms)
{
	long long end = now_us() + ms * 1000LL;
	char text[16];

	while (use_get(policy, text, sizeof(text)) < 0 || strcmp(text, name)) {
		if (now_us() > end)
			return -ETIMEDOUT;
		sleep_us(2000);
	}
	return 0;
}

int use_attribute(int cpu, uint16_t attr, uint32_t *value)
{
	struct genl g = { .fd = -1 };
	const void *nest, *data;
	size_t nest_len, len;
	char request[64];
	int ret;

	ret = genl_open(&g);
	if (ret)
		return ret;
	ret = genl_request(&g, GCHINT_CMD_POLICY_GET, 0, request,
			   genl_put_u32(request, GCHINT_A_CPU, cpu));
	if (ret)
		goto close;
	ret = -ENODATA;
	nest = genl_find(g.attrs, g.attrs_len, GCHINT_A_POLICY, &nest_len);
	data = nest ? genl_find(nest, nest_len, attr, &len) : NULL;
	if (data && len == sizeof(*value)) {
		memcpy(value, data, sizeof(*value));
		ret = 0;
	}
close:
	genl_close(&g);
	return ret;
}
