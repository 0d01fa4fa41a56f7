/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HINT_SERVICE_H
#define HINT_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * service_of_cgroup - the service that a control group belongs to
 * @cgroup: the content of /proc/PID/cgroup
 * @name: receives its name
 * @size: of @name
 *
 * The innermost systemd service, such as "tomcat.service"; of a container the program that started
 * it with the first twelve digits of its number, such as "docker-0123456789ab". Pure. Returns false
 * for any other, such as a session of a user.
 */
bool service_of_cgroup(const char *cgroup, char *name, size_t size);

#endif
