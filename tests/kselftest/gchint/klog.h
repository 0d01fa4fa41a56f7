/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The kernel log from a given moment on. */
#ifndef KLOG_H
#define KLOG_H

/* From the oldest line on: a descriptor or -errno. */
int klog_open(void);

/* From now on. */
int klog_open_now(void);

/**
 * klog_count() - lines that contain a text
 * @fd: of klog_open(); reads all lines, so that the next count begins there
 * @text: the text
 *
 * Return: their number; -errno, also if lines were lost.
 */
int klog_count(int fd, const char *text);

#endif
