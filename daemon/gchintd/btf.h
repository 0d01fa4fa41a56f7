/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the running kernel says of its own structures: BTF, <linux/btf.h>. */
#ifndef GCHINTD_BTF_H
#define GCHINTD_BTF_H

#include <stdint.h>

/**
 * btf_offset() - where a member of one of the kernel's structures is
 * @path: /sys/kernel/btf/vmlinux
 * @type: a structure, as "task_struct"
 * @members: "thread.fsbase": a member of a member; those of members without a name count
 *
 * Return: bytes from its start; -ENOENT if there is no such member, -EINVAL for a file that is
 * no BTF, -errno of reading it.
 */
int64_t btf_offset(const char *path, const char *type, const char *members);

#endif
