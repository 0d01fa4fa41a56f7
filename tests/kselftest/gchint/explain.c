// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <stdio.h>
#include <string.h>
#include <linux/gchint.h>

#include "explain.h"
#include "hw.h"
#include "sysfs.h"
#include "use.h"

#define DEBUGFS "/sys/kernel/debug/gchint/"

static void file(int policy, const char *name)
{
	char text[64];

	if (policy_get(policy, name, text, sizeof(text)) < 0)
		strcpy(text, "?");
	printf("# %s=%s\n", name, text);
}

static void print_attribute(int cpu, const char *name, uint16_t attr)
{
	uint32_t value;

	if (use_attribute(cpu, attr, &value))
		printf(" %s=?", name);
	else
		printf(" %s=%u", name, value);
}

static void table(const char *name)
{
	char path[128], line[256];
	FILE *f;

	snprintf(path, sizeof(path), DEBUGFS "%s", name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		printf("# %s: %s", name, line);
	if (f)
		fclose(f);
}

void explain(int cpu)
{
	int policy = policy_of(cpu);

	printf("# cpu %d: the hardware has %ld kHz\n", cpu, hw_khz(cpu));
	file(policy, "scaling_governor");
	file(policy, "scaling_cur_freq");
	file(policy, "scaling_min_freq");
	file(policy, "scaling_max_freq");
	printf("# last decision:");
	print_attribute(cpu, "khz", GCHINT_POLICY_A_CUR_KHZ);
	print_attribute(cpu, "min", GCHINT_POLICY_A_MIN_KHZ);
	print_attribute(cpu, "max", GCHINT_POLICY_A_MAX_KHZ);
	print_attribute(cpu, "reason", GCHINT_POLICY_A_REASON);
	print_attribute(cpu, "load", GCHINT_POLICY_A_LOAD);
	print_attribute(cpu, "cap", GCHINT_POLICY_A_CAP_KHZ);
	printf("\n");
	table("sessions");
	table("switches");
	table("time_in_phase");
	fflush(stdout);
}
