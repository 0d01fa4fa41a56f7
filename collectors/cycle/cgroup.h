/* SPDX-License-Identifier: MIT */
/* Memory limits of the control groups of this process: cgroup v2 and v1. */
#ifndef GC_CGROUP_H
#define GC_CGROUP_H

#include <stdint.h>

#define GC_CGROUP_UNLIMITED UINT64_MAX

/* A mounted hierarchy: the group at @root is at @path. NULL: not mounted */
struct gc_cgroup_mount {
	char *root, *path;
};

struct gc_cgroups {
	struct gc_cgroup_mount unified; /* v2 */
	struct gc_cgroup_mount memory; /* v1, with the controller of memory */
};

/* Find the mounted hierarchies. Without /proc there are none. 0, -ENOMEM, -EMFILE or -ENFILE */
int gc_cgroups_init(struct gc_cgroups *groups);
void gc_cgroups_fini(struct gc_cgroups *groups);
/*
 * The lowest limit in bytes of the process's group and of those above it, as far as they are
 * visible, or GC_CGROUP_UNLIMITED. Reads files: the process may have moved, and limits change.
 * Return: 0, or as above, and then the limit is not known
 */
int gc_cgroups_limit(const struct gc_cgroups *groups, uint64_t *lowest);

#endif
