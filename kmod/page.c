// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both mappings are filled by faults, never at mmap: a shared mapping without
 * page tables of its own is not copied by fork, so that the child faults too
 * and can be given something else.
 */
#include <linux/gchint.h>
#include <linux/mm.h>

#include "compat/vm_flags.h"
#include "info.h"
#include "page.h"
#include "session.h"

static vm_fault_t info_fault(struct vm_fault *vmf)
{
	struct page *page = gchint_info_page();

	if (vmf->pgoff != GCHINT_MMAP_INFO >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t slots_fault(struct vm_fault *vmf)
{
	struct gchint_session *session = vmf->vma->vm_private_data;
	struct page *page;

	if (vmf->pgoff != GCHINT_MMAP_SLOTS >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;

	if (vmf->vma->vm_mm == session->mm) {
		page = virt_to_page(session->slots);
		get_page(page);
	} else {
		/*
		 * A forked child that does not know. It gets a page of its
		 * own, charged to it, that nobody reads and that goes with
		 * its mapping.
		 */
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
	}
	vmf->page = page;
	return 0;
}

/* The mapping holds the file, and so the session and the module. */
static const struct vm_operations_struct info_ops = { .fault = info_fault };
static const struct vm_operations_struct slots_ops = { .fault = slots_fault };

/**
 * gchint_page_mmap - map one of the pages
 * @session: whose
 * @vma: where
 *
 * Return: 0; -EINVAL, wrong offset, longer than a page or private; -EACCES,
 * a right that the page does not give.
 */
int gchint_page_mmap(struct gchint_session *session,
		     struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops;
	vm_flags_t given = VM_READ;

	if (vma->vm_end - vma->vm_start > PAGE_SIZE ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;

	switch (vma->vm_pgoff) {
	case GCHINT_MMAP_INFO >> PAGE_SHIFT:
		ops = &info_ops;
		break;
	case GCHINT_MMAP_SLOTS >> PAGE_SHIFT:
		ops = &slots_ops;
		given |= VM_WRITE;
		break;
	default:
		return -EINVAL;
	}
	if (vma->vm_flags & VM_ACCESS_FLAGS & ~given)
		return -EACCES;

	vma->vm_ops = ops;
	vma->vm_private_data = session;
	/* Each VM_MAY flag is its right shifted by four; mprotect obeys them. */
	gchint_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP,
			    (VM_ACCESS_FLAGS & ~given) << 4);
	return 0;
}
