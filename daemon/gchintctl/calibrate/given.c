// SPDX-License-Identifier: GPL-2.0-or-later
#include "given.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ctl.h"
#include "../machine/kernel.h"
#include "calibration.h"
#include "core-type.h"

#define FILE_MAX (1 << 20)

/* Returns the whole file, or NULL with errno. */
static char *file_read(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(FILE_MAX + 1) : NULL;

	if (text) {
		*size = fread(text, 1, FILE_MAX + 1, f);
		if (ferror(f) || *size > FILE_MAX) {
			errno = ferror(f) ? EIO : EFBIG;
			free(text);
			text = NULL;
		}
	}
	if (f) {
		const int error = errno;

		fclose(f);
		errno = error;
	}
	return text;
}

static const struct kinds_policy *policy_find(const struct kinds *k, uint32_t cpu)
{
	for (unsigned int i = 0; i < k->nr; i++)
		if (k->policy[i].cpu == cpu)
			return &k->policy[i];
	return NULL;
}

/*
 * Called for all policies before any is loaded, so that the calibration of another machine is
 * refused as a whole.
 */
static bool policy_matches_machine(const struct kinds *k, const struct calibration_policy *c,
				   const char *path)
{
	const struct kinds_policy *p = policy_find(k, c->cpu);
	bool same = p && (!p->listed || p->nr == c->nr);

	for (uint32_t i = 0; same && p->listed && i < c->nr; i++)
		same = p->khz[i] == c->opp[i].khz;
	if (same)
		return true;
	if (p)
		ctl_error("calibrate: %s: policy%" PRIu32 " has other frequencies on this machine",
			  path, c->cpu);
	else
		ctl_error("calibrate: %s: this machine has no policy%" PRIu32, path, c->cpu);
	return false;
}

static int refusal_report(uint32_t cpu, int ret, const char *why)
{
	if (ret == -ENOENT)
		ctl_error("calibrate: the module is not loaded: modprobe cpufreq_gchint");
	else if (ret == -EOPNOTSUPP)
		ctl_error("calibrate: the module that is loaded is older, and takes no figures");
	else if (ret == -EPERM)
		ctl_error("calibrate: that takes CAP_NET_ADMIN: run as root");
	else
		ctl_error("calibrate: policy%" PRIu32 ": the module refuses it: %s", cpu,
			  *why ? why : strerror(-ret));
	return CTL_FAILED;
}

static int policy_load_opps(const struct calibration *c, const struct calibration_policy *p)
{
	struct kernel_opps opps = { .nr = p->nr,
				    .idle_known = c->idle.known,
				    .idle = c->idle.value };
	char why[256];
	int ret;

	for (uint32_t i = 0; i < p->nr; i++)
		opps.opp[i] = (struct kernel_opp){ p->opp[i].khz, p->opp[i].power.value };
	ret = kernel_give(p->cpu, &opps, why, sizeof(why));
	if (ret)
		return refusal_report(p->cpu, ret, why);
	printf("policy%" PRIu32 "  %" PRIu32 " frequencies\n", p->cpu, p->nr);
	return CTL_OK;
}

static int calibration_load_opps(const struct calibration *c, const char *path)
{
	static struct kinds kinds;
	struct root root;
	char error[256];
	int ret = CTL_OK;

	root_init(&root);
	if (kinds_find(&kinds, &root, error, sizeof(error))) {
		ctl_error("calibrate: %s", error[0] ? error : "no cpufreq policy");
		return CTL_FAILED;
	}
	for (uint32_t i = 0; i < c->nr; i++)
		if (!policy_matches_machine(&kinds, &c->policy[i], path))
			return CTL_FAILED;
	for (uint32_t i = 0; i < c->nr && !ret; i++)
		ret = policy_load_opps(c, &c->policy[i]);
	return ret;
}

int given_load(const char *path)
{
	struct calibration c;
	char error[256], *text;
	size_t size;
	int ret;

	text = file_read(path, &size);
	if (!text) {
		ctl_error("%s: %s", path, strerror(errno));
		return CTL_FILE;
	}
	ret = calibration_parse(&c, text, size, error, sizeof(error));
	free(text);
	if (ret)
		ctl_error("%s: %s", path, ret == -EINVAL ? error : strerror(-ret));
	ret = ret ? CTL_FILE : calibration_load_opps(&c, path);
	calibration_free(&c);
	return ret;
}

int given_forget(void)
{
	static const struct kernel_opps none;
	static struct kinds kinds;
	struct root root;
	char text[256];
	int ret = CTL_OK;

	root_init(&root);
	if (kinds_find(&kinds, &root, text, sizeof(text))) {
		ctl_error("calibrate: %s", text[0] ? text : "no cpufreq policy");
		return CTL_FAILED;
	}
	for (unsigned int i = 0; i < kinds.nr && !ret; i++) {
		const int error = kernel_give(kinds.policy[i].cpu, &none, text, sizeof(text));

		if (error)
			ret = refusal_report(kinds.policy[i].cpu, error, text);
	}
	return ret;
}
