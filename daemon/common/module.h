/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINT_MODULE_H
#define GCHINT_MODULE_H

#include <stddef.h>

/**
 * module_remedy - what to do where the kernel module is not loaded
 * @buf: receives the words that follow "the module is not loaded: "
 * @size: of @buf; MODULE_REMEDY_SIZE is enough
 *
 * Names modprobe only where modprobe would find the module, by the list modules.dep of the
 * running kernel (in $GCHINT_MODULES instead of /lib/modules/RELEASE). Returns @buf.
 */
const char *module_remedy(char *buf, size_t size);

#define MODULE_REMEDY_SIZE 192

#endif
