/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets of members of the running kernel's structures, from BTF (<linux/btf.h>). */
#ifndef SOURCE_BTF_H
#define SOURCE_BTF_H

#include <stdint.h>

/**
 * btf_offset() - offset of a member in a structure of the kernel
 * @path: /sys/kernel/btf/vmlinux
 * @type: a structure, as "task_struct"
 * @members: "thread.fsbase": a member of a member; anonymous members are searched too
 *
 * Return: bytes from its start; -ENOENT if there is no such member, -EINVAL for a file that is
 * not BTF, or another -errno of reading it.
 */
int64_t btf_offset(const char *path, const char *type, const char *members);

#endif
