// SPDX-License-Identifier: GPL-2.0-only
/*
 * All mappings are filled by faults, never at mmap: a shared mapping without
 * page tables of its own is not copied by fork, so that the child faults too
 * and can be given something else.
 */
#include <linux/gchint.h>
#include <linux/mm.h>

#include "compat/vm_flags.h"
#include "follow/thread.h"
#include "info.h"
#include "page.h"

static vm_fault_t info_fault(struct vm_fault *vmf)
{
	struct page *page = gchint_info_page();

	if (vmf->pgoff != GCHINT_MMAP_INFO >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t cpus_fault(struct vm_fault *vmf)
{
	struct page *page;

	page = gchint_info_cpus_page(vmf->pgoff -
				     (GCHINT_MMAP_CPUS >> PAGE_SHIFT));
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

#define SLOTS_OF_PAGE (PAGE_SIZE / sizeof(struct gchint_slot))

/* The pages of a session's slots from the one at @pgoff on, 0 if that is none. */
static unsigned long slots_pages(const struct gchint_session *session,
				 unsigned long pgoff)
{
	unsigned long pages = DIV_ROUND_UP(gchint_session_slots(session),
					   SLOTS_OF_PAGE);
	unsigned long first = GCHINT_MMAP_SLOTS >> PAGE_SHIFT;

	return pgoff >= first && pgoff - first < pages ?
		pages - (pgoff - first) : 0;
}

static vm_fault_t slots_fault(struct vm_fault *vmf)
{
	struct gchint_session *session = vmf->vma->vm_private_data;
	struct page *page;
	unsigned long n;

	if (!slots_pages(session, vmf->pgoff))
		return VM_FAULT_SIGBUS;

	if (vmf->vma->vm_mm == session->mm) {
		n = vmf->pgoff - (GCHINT_MMAP_SLOTS >> PAGE_SHIFT);
		page = virt_to_page(gchint_session_slot(session,
							n * SLOTS_OF_PAGE));
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
static const struct vm_operations_struct cpus_ops = { .fault = cpus_fault };
static const struct vm_operations_struct slots_ops = { .fault = slots_fault };

/**
 * gchint_page_mmap - map what the session writes, or what the kernel tells
 * @session: whose
 * @vma: where
 *
 * Return: 0; -EINVAL, wrong offset, longer than what is there or private; -EACCES,
 * a right that it does not give.
 */
int gchint_page_mmap(struct gchint_session *session,
		     struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops;
	unsigned long size = PAGE_SIZE;
	vm_flags_t given = VM_READ;

	if (vma->vm_pgoff == GCHINT_MMAP_INFO >> PAGE_SHIFT) {
		ops = &info_ops;
	} else if (vma->vm_pgoff == GCHINT_MMAP_CPUS >> PAGE_SHIFT) {
		ops = &cpus_ops;
		size = gchint_info_cpus_size();
	} else {
		ops = &slots_ops;
		given |= VM_WRITE;
		/* At another offset there is none. */
		size = slots_pages(session, vma->vm_pgoff) << PAGE_SHIFT;
	}
	if (vma->vm_end - vma->vm_start > size ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_ACCESS_FLAGS & ~given)
		return -EACCES;

	vma->vm_ops = ops;
	vma->vm_private_data = session;
	/* Each VM_MAY flag is its right shifted by four; mprotect obeys them. */
	gchint_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP,
			    (VM_ACCESS_FLAGS & ~given) << 4);
	return 0;
}
