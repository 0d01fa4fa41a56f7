/* SPDX-License-Identifier: GPL-2.0-only */
/* How the two pages get into an address space. */
#ifndef _GCHINT_PAGE_H
#define _GCHINT_PAGE_H

struct gchint_session;
struct vm_area_struct;

int gchint_page_mmap(struct gchint_session *session,
		     struct vm_area_struct *vma);

#endif /* _GCHINT_PAGE_H */
