// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "module.h"

int module_unload(void)
{
	return syscall(SYS_delete_module, MODULE, O_NONBLOCK) ? -errno : 0;
}

int module_load_with(const char *parameters)
{
	struct utsname name;
	char path[256];
	int fd, ret;

	uname(&name);
	snprintf(path, sizeof(path), "/lib/modules/%s/extra/" MODULE ".ko",
		 name.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

int module_load(void)
{
	return module_load_with("");
}
