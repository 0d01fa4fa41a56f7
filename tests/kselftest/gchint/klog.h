/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the kernel's log says from some moment on. */
#ifndef KLOG_H
#define KLOG_H

/* From the oldest line on: a descriptor or -errno. */
int klog_open(void);

/* From now on. */
int klog_open_now(void);

/**
 * klog_count() - lines that hold a text
 * @fd: of klog_open(); reads what there is, so that the next count begins there
 * @text: the text
 *
 * Return: how many; -errno, also if lines were lost.
 */
int klog_count(int fd, const char *text);

#endif
