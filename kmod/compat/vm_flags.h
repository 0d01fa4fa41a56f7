/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.3 (bc292ab00f6c "mm: introduce vma->vm_flags wrapper functions")
 * made vm_flags read-only outside of its accessors.
 */
#ifndef _GCHINT_COMPAT_VM_FLAGS_H
#define _GCHINT_COMPAT_VM_FLAGS_H

#include <linux/mm.h>
#include <linux/version.h>

static inline void gchint_vm_flags_mod(struct vm_area_struct *vma,
				       unsigned long set, unsigned long clear)
{
#if KERNEL_VERSION(6, 3, 0) > LINUX_VERSION_CODE
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#else
	vm_flags_mod(vma, set, clear);
#endif
}

#endif /* _GCHINT_COMPAT_VM_FLAGS_H */
