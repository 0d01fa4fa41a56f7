// SPDX-License-Identifier: GPL-2.0-only
/* docs/abi/module-parameters says what each parameter is for. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "param.h"

unsigned int gchint_param_hint_ttl_ms = 1000;
unsigned int gchint_param_leases = 4096;

static void (*param_changed)(void);

/* Call @listener, unless NULL, now and after each change. May sleep. */
void gchint_param_set_listener(void (*listener)(void))
{
	kernel_param_lock(THIS_MODULE);
	param_changed = listener;
	if (param_changed)
		param_changed();
	kernel_param_unlock(THIS_MODULE);
}

static int param_set_bounded(const char *val, const struct kernel_param *kp,
			     unsigned int min, unsigned int max)
{
	unsigned int num;
	int ret = kstrtouint(val, 0, &num);

	if (ret)
		return ret;
	if (num < min || num > max) {
		pr_notice("%s=%u is out of %u..%u\n", kp->name, num, min, max);
		return -EINVAL;
	}
	WRITE_ONCE(*(unsigned int *)kp->arg, num);
	/* Under kernel_param_lock(), as in gchint_param_set_listener(). */
	if (param_changed)
		param_changed();
	return 0;
}

#define BOUNDED(_name, _min, _max, _mode)				\
static int set_##_name(const char *val, const struct kernel_param *kp)	\
{									\
	return param_set_bounded(val, kp, _min, _max);			\
}									\
static const struct kernel_param_ops ops_##_name = {			\
	.set = set_##_name,						\
	.get = param_get_uint,						\
};									\
module_param_cb(_name, &ops_##_name, &gchint_param_##_name, _mode)

BOUNDED(hint_ttl_ms, 10, 60000, 0644);
MODULE_PARM_DESC(hint_ttl_ms, "a phase without progress for this long is ignored (10..60000)");
BOUNDED(leases, 64, 65536, 0444);
MODULE_PARM_DESC(leases, "slots that all users together may lease, the last quarter reserved for CAP_SYS_NICE (64..65536)");
