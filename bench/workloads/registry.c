// SPDX-License-Identifier: MIT
#include "workloads/registry.h"

#include <string.h>

#define WORKLOAD(name) extern const struct workload workload_##name;
#include "workloads/workloads.list"
#undef WORKLOAD

static const struct workload *const all[] = {
#define WORKLOAD(name) &workload_##name,
#include "workloads/workloads.list"
#undef WORKLOAD
};

const struct workload *registry_at(size_t i)
{
	return i < sizeof(all) / sizeof(*all) ? all[i] : NULL;
}

const struct workload *registry_find(const char *name)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}
