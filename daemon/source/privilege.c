// SPDX-License-Identifier: GPL-2.0-or-later
#include "privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UID_OVERFLOW 65534 /* the kernel's overflow user and group: own no files */

struct capabilities {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3];
};

/* How many privilege_raise() are in force; of the main thread. */
static _Thread_local unsigned int raised;

static int capabilities_read(struct capabilities *c)
{
	*c = (struct capabilities){ .head.version = _LINUX_CAPABILITY_VERSION_3 };
	return syscall(SYS_capget, &c->head, c->set) ? -errno : 0;
}

static int capabilities_write(struct capabilities *c)
{
	return syscall(SYS_capset, &c->head, c->set) ? -errno : 0;
}

/* Lowering cannot fail, and where raising fails the open that wanted it reports so. */
static void capabilities_set_effective(int on)
{
	struct capabilities c;

	if (!geteuid() || capabilities_read(&c))
		return;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		c.set[i].effective = on ? c.set[i].permitted : 0;
	capabilities_write(&c);
}

void privilege_lower(void)
{
	if (raised)
		raised--;
	if (!raised)
		capabilities_set_effective(0);
}

void privilege_raise(void)
{
	if (!raised++)
		capabilities_set_effective(1);
}

static int capabilities_clear(void)
{
	struct capabilities c;
	int ret = capabilities_read(&c);

	if (ret)
		return ret;
	/* Linux before 4.3 has none of these; then there are none to clear. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	memset(c.set, 0, sizeof(c.set));
	return capabilities_write(&c);
}

void privilege_drop(void)
{
	if (geteuid())
		capabilities_clear();
}

int privilege_drop_process(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (!geteuid() &&
	    (setgroups(0, NULL) || setresgid(UID_OVERFLOW, UID_OVERFLOW, UID_OVERFLOW) ||
	     setresuid(UID_OVERFLOW, UID_OVERFLOW, UID_OVERFLOW)))
		return -errno;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return capabilities_clear();
}
