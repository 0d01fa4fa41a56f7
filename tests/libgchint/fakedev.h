/* SPDX-License-Identifier: MIT */
/*
 * A /dev/gchint in user space that behaves per <linux/gchint.h>. Linked with
 * -Wl,--wrap for each of FAKE_CALLS in the Makefile, it takes the library's own system
 * calls; all others go through. The test plays the kernel.
 */
#ifndef FAKEDEV_H
#define FAKEDEV_H

#include <sys/types.h>
#include <linux/gchint.h>

#define FAKE_RINGS	64
#define FAKE_SESSIONS	10
#define FAKE_CPUS	1024
#define FAKE_CAPACITIES 12
#define FAKE_CPU_SIZE	128 /* longer than this version knows */

/** struct fake_ring - one doorbell: which slot, and its state at that moment */
struct fake_ring {
	__u32 slot;
	__u32 state;
};

struct fake_lease {
	pid_t tid; /* 0 free */
	__u32 role;
	__u32 lead;
};

/**
 * struct fake_dev - what the kernel would know
 * @present: the device exists
 * @open_errno: opening fails with this
 * @attach_errno: so does attaching
 * @map_errno: so does mapping memory that is not the device's
 * @no_map: so does mapping this offset of the device; -1 none
 * @alike: an inode number that other files seem to have; 0 each its own
 * @path: where it is; NULL at its own place
 * @opens, @attaches, @detaches, @roles, @ring_count: calls that succeeded
 * @stale: calls that got ESTALE
 * @strays: calls with the device's numbers on what is not the device
 * @hold_open, @hold_attach: such a call waits while it is set; @held: how many wait
 * @calls: all ioctls on any descriptor of the device
 * @ring: the last FAKE_RINGS doorbells
 * @sessions: most that may be open
 * @grown: calls that asked for more slots and succeeded
 * @lease: of the sessions, in the order of their opening
 * @capacity: of CPU n, 1/1024; 0 the kernel does not say. So is that of all CPUs at first.
 */
struct fake_dev {
	int present;
	int open_errno;
	int sessions;
	int grown;
	int attach_errno;
	int map_errno;
	ino_t alike;
	long no_map;
	const char *path;
	int strays, held, hold_open, hold_attach;
	int opens, closes, attaches, detaches, roles, ring_count, stale, calls;
	struct fake_ring ring[FAKE_RINGS];
	struct fake_lease lease[FAKE_SESSIONS * GCHINT_SLOTS];
	unsigned int capacity[FAKE_CAPACITIES];
};

/** struct fake_clamp - utilisation clamps of the process's threads */
struct fake_clamp {
	int supported;
	unsigned int size; /* of what the kernel knows of a thread; 0 clamps as well */
	int set_errno, get_errno; /* calls fail with this */
	int no_reset; /* the kernel is older than 5.11: a clamp cannot be made unset again */
	int sets; /* calls that changed a clamp */
	int calls; /* all calls */
	int tids;
	struct fake_clamp_thread {
		pid_t tid;
		__u32 max;
		int user; /* was set by a call, as opposed to the default */
	} thread[600];
};

extern struct fake_dev fake;
extern struct fake_clamp fake_clamp;

/** fake_reset() - no session, counters zero, a fresh information page: policy 0 for all CPUs. */
void fake_reset(void);
/** fake_info() - the information page, as the kernel writes it. */
struct gchint_info *fake_info(void);
/** fake_cpus() - the kernel maps all CPUs, too: cur_khz is 1000 and its number. */
void fake_cpus(void);
struct gchint_info_cpu *fake_cpu(unsigned int cpu);
/** fake_grows() - there is one session, which gets more slots when it is asked to. */
void fake_grows(void);
/** fake_slot() - a slot as the kernel reads it; numbered through the sessions. */
const struct gchint_slot *fake_slot(unsigned int n);
/** fake_slot_of() - the slot leased to @tid, or NULL. */
const struct gchint_slot *fake_slot_of(pid_t tid);
/** fake_last_ring() - the latest doorbell. */
struct fake_ring fake_last_ring(void);
__u32 fake_clamp_of(pid_t tid);
/** fake_clamp_user() - was it set, as opposed to the default? */
int fake_clamp_user(pid_t tid);
/** fake_clamp_set() - as an administrator does, or the creator of a thread; 0 the caller. */
void fake_clamp_set(pid_t tid, __u32 max);

#endif /* FAKEDEV_H */
