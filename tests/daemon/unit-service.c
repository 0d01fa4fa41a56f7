// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: the service of a process, by its control group. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "../../daemon/source/hint/service.h"

#define NUMBER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* As systemd, Docker, Podman and Kubernetes (containerd, CRI-O) name groups. */
static const struct {
	const char *cgroup, *service; /* NULL: none */
} cases[] = {
	{ "0::/system.slice/tomcat10.service\n", "tomcat10.service" },
	{ "0::/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
	{ "0::/system.slice/shop.service/worker/3\n", "shop.service" },
	{ "12:cpu:/\n1:name=systemd:/system.slice/shop.service\n0::/\n", "shop.service" },
	{ "0::/user.slice/user-1000.slice/session-3.scope\n", NULL },
	{ "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x-12.scope\n", NULL },
	{ "0::/user.slice/user-1000.slice/user@1000.service/app.slice/sync.service\n",
	  "sync.service" },
	{ "0::/system.slice/docker-" NUMBER ".scope\n", "docker-0123456789ab" },
	{ "0::/docker/" NUMBER "\n", "docker-0123456789ab" },
	{ "0::/docker/" NUMBER "/system.slice/nginx.service\n", "nginx.service" },
	{ "0::/machine.slice/libpod-" NUMBER ".scope/container\n", "libpod-0123456789ab" },
	{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
	  "cri-containerd-" NUMBER ".scope\n",
	  "cri-containerd-0123456789ab" },
	{ "0::/system.slice/kubepods-pod1.slice:cri-containerd:" NUMBER "\n",
	  "cri-containerd-0123456789ab" },
	{ "0::/" NUMBER "\n", "0123456789ab" },
	{ "0::/kubepods/burstable/pod1/deadbeef\n", NULL },
	{ "0::/.service\n", NULL },
	{ "0::/\n", NULL },
	{ "0::\n", NULL },
	{ "garbage\n", NULL },
	{ "", NULL },
};

void unit_service(void)
{
	char name[64], what[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool found = service_of_cgroup(cases[i].cgroup, name, sizeof(name));

		snprintf(what, sizeof(what), "the service of %.*s is %s",
			 (int)strcspn(cases[i].cgroup, "\n"), cases[i].cgroup,
			 cases[i].service ? cases[i].service : "not known");
		CHECK(found == !!cases[i].service && (!found || !strcmp(name, cases[i].service)),
		      what);
	}
	CHECK(service_of_cgroup("0::/system.slice/a-long-name.service", name, 8) &&
		      !strcmp(name, "a-long-"),
	      "a long name is cut");
}
