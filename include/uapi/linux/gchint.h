/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * gchint: a program reports to the cpufreq governor what each of its threads
 * works on, and which threads wait for that work: the phases of a garbage
 * collector, or other work that a runtime does in addition to the program's own.
 *
 * Use of the device
 * -----------------
 *	fd = open("/dev/gchint", O_RDWR | O_CLOEXEC)	one session
 *	mmap(fd, GCHINT_MMAP_INFO, PROT_READ)		the kernel's page
 *	mmap(fd, GCHINT_MMAP_SLOTS, PROT_READ|WRITE)	this session's slots
 *	mmap(fd, GCHINT_MMAP_CPUS, PROT_READ)		what is known of each CPU
 *	ioctl(fd, GCHINT_IOC_ATTACH, &attach)		a thread gets a slot
 *	slot->state = GCHINT_STATE(...)			a phase edge
 *	if (info->doorbell_begin & bit)			only when asked:
 *		ioctl(fd, GCHINT_IOC_RING, slot)	read the slot now
 *	close(fd)					all leases end, once the last
 *							mapping is gone, too
 *
 * A session is an open file. It belongs to the process image that opened it:
 * a forked child, an image after exec, and a process that was handed the
 * descriptor get ESTALE from every call. Pages that a forked child inherits
 * stay mapped there, but what it stores into them goes to a private page that
 * is never read, so that code running in the child needs no special case.
 *
 * A session begins with GCHINT_SLOTS slots. GCHINT_IOC_GROW adds more. Slot n is
 * n * sizeof(struct gchint_slot) bytes into the mapping. Added slots are mapped
 * like the first ones; a mapping may begin at any page of the slots.
 *
 * A slot is a lease of one thread of that process. It ends by
 * GCHINT_IOC_DETACH, by the exit of the thread, by exec, by close and munmap. A phase
 * whose slot shows no progress (its sequence does not change) for hint_ttl_ms is
 * stale: it counts as GCHINT_PHASE_NONE until the sequence changes again.
 *
 * A phase counts only while its thread is the one running on a CPU. Storing a
 * phase for a thread that sleeps is allowed and has effect when it runs. Any
 * thread of the process may write any slot of its session, but the process must
 * ensure that a slot has one writer at a time (usually the thread itself, or one
 * coordinator for all workers).
 *
 * Roles and phases: a thread with a role counts by its role whenever it runs,
 * at no cost per phase; a phase in its slot overrides the role. A thread of
 * role GCHINT_ROLE_FOLLOW counts by the slot of its leader, so that a
 * coordinator announces once for all its workers.
 *
 * Phases may nest: the slot holds the innermost, the writer keeps the rest.
 * They may be abandoned or end without a start: the slot then has
 * GCHINT_PHASE_NONE. The cause may be filled in late: store slot->cause and
 * advance the sequence.
 *
 * Nothing in a slot is trusted. Unknown flags are ignored; an unknown phase
 * counts as GCHINT_PHASE_NONE; instants in the past and work counters that
 * run backwards are ignored, and counted in debugfs. Lowering a frequency
 * needs no privilege and touches only CPUs on which the hinted thread runs;
 * raising it above what load asks for needs CAP_SYS_NICE at open, or the
 * administrator's tunable boost_unprivileged.
 *
 * Compatibility: append-only. Calls whose argument is a structure carry its
 * size in their number: a shorter (older) structure is accepted down to
 * GCHINT_*_SIZE_VER0, a longer (newer) one if the unknown tail is all zero.
 * A call that must change gets a new number. The layout is the same for
 * 32- and 64-bit user space; every 64-bit field is naturally aligned.
 *
 * Errors common to every ioctl
 * ----------------------------
 *	ENOTTY	no such call
 *	ESTALE	the caller is not the process image that opened the session
 *	EFAULT	the argument is not readable or not writable
 *	EINVAL	a structure shorter than its first version, an unknown flag,
 *		role or slot number
 *	E2BIG	a structure longer than known whose tail is not zero
 *	EDQUOT	the first call on a file: the user has as many sessions open as
 *		one user may have. Ids that an ordinary user mapped in a user
 *		namespace count as that user
 *	ENOMEM	without memory; also of mmap, read, and of poll as EPOLLERR
 * A call that fails has changed nothing.
 *
 * mmap errors:
 *	EINVAL	not MAP_SHARED; an offset that is neither GCHINT_MMAP_INFO nor
 *		GCHINT_MMAP_CPUS nor that of a page of slots; more than one page
 *		of GCHINT_MMAP_INFO, more than the session's slots, or more than
 *		gchint_info.nr_cpus * cpu_size bytes of GCHINT_MMAP_CPUS, the
 *		latter two rounded up to pages
 *	EACCES	PROT_WRITE or PROT_EXEC of pages that the kernel writes;
 *		PROT_EXEC of slots
 *	ESTALE, EDQUOT, ENOMEM as above
 *
 * The policies in the information page are up to date soon after the first call
 * on a file, and at the latest when GCHINT_IOC_ATTACH or read has returned.
 *
 * read: 8 bytes, the current generation of the information page as a native
 * __u64; EINVAL for a shorter buffer, ENOMEM without memory. poll: EPOLLIN
 * while the generation differs from the one last read, so a runtime may wait
 * for a change of the governor or of the limits.
 */
#ifndef _UAPI_LINUX_GCHINT_H
#define _UAPI_LINUX_GCHINT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GCHINT_ABI		1
#define GCHINT_DEVICE		"gchint"
#define GCHINT_SLOTS		64	/* in a session that has not grown */
#define GCHINT_SLOTS_MAX	4096	/* in one that has */
#define GCHINT_MMAP_INFO	0x00000	/* offset of struct gchint_info */
#define GCHINT_MMAP_SLOTS	0x10000	/* offset of struct gchint_slot[] */
#define GCHINT_MMAP_CPUS	0x1000000 /* offset of struct gchint_info_cpu[] */

/**
 * enum gchint_phase - what a thread works on
 * @GCHINT_PHASE_NONE: none: the thread runs its own code
 * @GCHINT_PHASE_COLLECT: collecting, phase unknown
 * @GCHINT_PHASE_SAFEPOINT: bringing mutators to a stop (time to safepoint)
 * @GCHINT_PHASE_ROOTS: scanning the root set
 * @GCHINT_PHASE_MARK: tracing
 * @GCHINT_PHASE_REMARK: final mark with the mutators stopped
 * @GCHINT_PHASE_REFS: weak references and finalizers
 * @GCHINT_PHASE_SWEEP: sweeping, lazy sweeping included
 * @GCHINT_PHASE_COPY: copying or evacuating
 * @GCHINT_PHASE_COMPACT: sliding compaction
 * @GCHINT_PHASE_TRIM: giving memory back to the system
 * @GCHINT_PHASE_WAIT: a mutator waits for a collection that others do
 * @GCHINT_PHASE_WORK: work that collects nothing: compiling, indexing, merging files
 * @GCHINT_PHASE_NR: number of phases known to this version
 */
enum gchint_phase {
	GCHINT_PHASE_NONE,
	GCHINT_PHASE_COLLECT,
	GCHINT_PHASE_SAFEPOINT,
	GCHINT_PHASE_ROOTS,
	GCHINT_PHASE_MARK,
	GCHINT_PHASE_REMARK,
	GCHINT_PHASE_REFS,
	GCHINT_PHASE_SWEEP,
	GCHINT_PHASE_COPY,
	GCHINT_PHASE_COMPACT,
	GCHINT_PHASE_TRIM,
	GCHINT_PHASE_WAIT,
	GCHINT_PHASE_WORK,
	GCHINT_PHASE_NR
};

/*
 * Flags of a phase: which threads wait for it. When several are set the first
 * of urgent, stop-the-world, foreground, concurrent decides. With none set the
 * phase is recorded and frequency follows load.
 */
#define GCHINT_F_STW		0x01	/* the mutators are stopped */
#define GCHINT_F_CONCURRENT	0x02	/* the mutators run */
#define GCHINT_F_FOREGROUND	0x04	/* a mutator collects or waits itself */
#define GCHINT_F_URGENT		0x08	/* a stall is near: do not save now */
#define GCHINT_F_ALL		0x0f

/**
 * enum gchint_cause - why the work began
 * @GCHINT_CAUSE_UNKNOWN: not known, or not known yet
 * @GCHINT_CAUSE_ALLOCATION: an allocation failed
 * @GCHINT_CAUSE_THRESHOLD: a threshold was reached, before the program had to wait
 * @GCHINT_CAUSE_EXPLICIT: the program asked
 * @GCHINT_CAUSE_NATIVE: memory outside of the heap
 * @GCHINT_CAUSE_OOM: last try before an out-of-memory error
 * @GCHINT_CAUSE_TIMER: periodic or idle
 * @GCHINT_CAUSE_SYSTEM: the system is short of memory
 * @GCHINT_CAUSE_NR: number of causes known to this version
 */
enum gchint_cause {
	GCHINT_CAUSE_UNKNOWN,
	GCHINT_CAUSE_ALLOCATION,
	GCHINT_CAUSE_THRESHOLD,
	GCHINT_CAUSE_EXPLICIT,
	GCHINT_CAUSE_NATIVE,
	GCHINT_CAUSE_OOM,
	GCHINT_CAUSE_TIMER,
	GCHINT_CAUSE_SYSTEM,
	GCHINT_CAUSE_NR
};

/**
 * enum gchint_role - what a thread does whenever it runs
 * @GCHINT_ROLE_NONE: nothing special: only the slot's phase counts
 * @GCHINT_ROLE_CONCURRENT: only work concurrent with the program, such as marking
 * @GCHINT_ROLE_STW: only work within pauses
 * @GCHINT_ROLE_BACKGROUND: trimming, uncommitting and other housekeeping
 * @GCHINT_ROLE_FOLLOW: worker of a leader: counts by the leader's slot
 * @GCHINT_ROLE_NR: number of roles known to this version
 */
enum gchint_role {
	GCHINT_ROLE_NONE,
	GCHINT_ROLE_CONCURRENT,
	GCHINT_ROLE_STW,
	GCHINT_ROLE_BACKGROUND,
	GCHINT_ROLE_FOLLOW,
	GCHINT_ROLE_NR
};

/*
 * The state word of a slot. One aligned 32-bit store publishes a whole phase
 * edge. The sequence counts edges; its lowest bit says that the fields after
 * the state word are being written.
 */
#define GCHINT_STATE_PHASE_SHIFT	0	/* 8 bits: enum gchint_phase */
#define GCHINT_STATE_FLAGS_SHIFT	8	/* 8 bits: GCHINT_F_* */
#define GCHINT_STATE_SEQ_SHIFT		16	/* 16 bits */
#define GCHINT_STATE_WRITING		0x00010000u
#define GCHINT_STATE_EDGE		0x00020000u	/* added by each edge */
#define GCHINT_STATE_SEQ_MASK		0xffff0000u

#define GCHINT_STATE(seq, phase, flags)				\
	(((seq) & GCHINT_STATE_SEQ_MASK) |			\
	 ((__u32)(flags) << GCHINT_STATE_FLAGS_SHIFT) |		\
	 ((__u32)(phase) << GCHINT_STATE_PHASE_SHIFT))

/**
 * struct gchint_slot - one cache line, one thread
 * @state: GCHINT_STATE(). Written by user space: a plain phase edge is one
 *	relaxed store of a word whose sequence is the last one plus
 *	GCHINT_STATE_EDGE. An edge with details, or progress within a phase,
 *	is: store the old word with GCHINT_STATE_WRITING set; release fence;
 *	store the details; store-release the new word. Read by the kernel,
 *	which acquires @state, reads the details, and takes them only if
 *	@state has not changed meanwhile and GCHINT_STATE_WRITING is clear.
 *	The kernel never waits for a writer.
 * @cause: enum gchint_cause. A detail.
 * @work_done: work done since the phase began, in the collector's own unit
 *	(objects, bytes, cards, ...; the same unit whenever a thread of the
 *	session is in this phase). A detail.
 * @work_total: work of the whole phase in the same unit; 0 unknown. A detail.
 * @stall_ns: instant (CLOCK_MONOTONIC, ns) at which mutators will stall if
 *	the cycle is not over by then; 0 unknown. A detail.
 * @method: address of the method that runs, for profilers; 0 unknown. A
 *	detail that no decision reads.
 * @reserved: zero.
 * @own_work: work that the thread has done since it was attached, other than
 *	collecting, in a unit that takes about the same time throughout the
 *	program (bytes allocated, requests served); 0 unknown. Never decreases.
 *	Not a detail: stored alone, relaxed, at any time. The kernel learns from
 *	it how memory-bound the program is outside of collections.
 *
 * All zero at attach. Only @state is read on a plain edge, so details stay as
 * they were: a writer that stored details for one phase must store zeros, or
 * new ones, for the next.
 */
struct gchint_slot {
	__u32 state;
	__u32 cause;
	__u64 work_done;
	__u64 work_total;
	__u64 stall_ns;
	__u64 method;
	__u64 reserved[2];
	__u64 own_work;
} __attribute__((aligned(64)));

/* struct gchint_info_policy flags */
#define GCHINT_POLICY_PRESENT	0x01	/* the entry is in use */
#define GCHINT_POLICY_GCHINT	0x02	/* hints act on it: mode not off */
#define GCHINT_POLICY_FAST	0x04	/* switches without sleeping */

/**
 * struct gchint_info_policy - what the kernel knows of one cpufreq policy
 * @governor: its name, NUL-terminated
 * @cur_khz: frequency last set, rounded up to an eighth of @hw_max_khz; 0 unknown
 * @max_khz: highest frequency allowed now (user and thermal limits), kHz. Limits
 *	that this module sets itself do not count
 * @hw_max_khz: highest frequency of the hardware, kHz
 * @flags: GCHINT_POLICY_*
 *
 * Written by the kernel only. @cur_khz changes at any time and is one atomic
 * word; the rest changes under gchint_info.generation.
 */
struct gchint_info_policy {
	char governor[16];
	__u32 cur_khz;
	__u32 max_khz;
	__u32 hw_max_khz;
	__u32 flags;
};

/* struct gchint_info features */
#define GCHINT_FEATURE_GOVERNOR	0x01	/* the driver takes governors */
#define GCHINT_FEATURE_CLAMP	0x02	/* the kernel has utilisation clamps */
#define GCHINT_FEATURE_LIMITS	0x04	/* policies take limits */
#define GCHINT_FEATURE_CPUS	0x08	/* GCHINT_MMAP_CPUS can be mapped */
#define GCHINT_FEATURE_GROW	0x10	/* GCHINT_IOC_GROW is known */

#define GCHINT_INFO_CPUS	512
#define GCHINT_INFO_POLICIES	96
#define GCHINT_INFO_NO_POLICY	0xff
#define GCHINT_INFO_UNLISTED	0xfe	/* a policy past the last entry */

/**
 * struct gchint_info - the page that the kernel writes and user space reads
 * @abi: GCHINT_ABI of the kernel
 * @size: bytes of this structure that the kernel fills
 * @features: GCHINT_FEATURE_*; never 0 where there is GCHINT_FEATURE_CPUS
 * @doorbell_begin: bit n: ring when phase n begins. Zero while no policy is
 *	governed by gchint and there is no recorder.
 * @doorbell_end: bit n: ring when phase n ends
 * @record: bit n: ring at both edges of phase n on every CPU, because a recorder
 *	asks for it; without it only on CPUs whose policy has GCHINT_POLICY_GCHINT
 * @generation: even; odd while the kernel writes what it guards. Changes with
 *	governors, limits and the set of policies.
 * @nr_policies: entries of @policy that were ever used
 * @hint_ttl_ms: a phase without progress for this long is ignored
 * @min_phase_us: phases expected to be shorter are not worth a hint
 * @nr_cpus: entries of the mapping GCHINT_MMAP_CPUS; 0 from a kernel without
 *	GCHINT_FEATURE_CPUS
 * @cpu_size: bytes from one of them to the next, a multiple of 64 and at least
 *	sizeof(struct gchint_info_cpu) of this version. Neither it nor @nr_cpus
 *	changes while the device is there.
 * @reserved: zero
 * @cpu_policy: index into @policy for each CPU, GCHINT_INFO_NO_POLICY if none.
 *	GCHINT_INFO_UNLISTED, or a CPU past the last one: it may have a policy
 *	that is not listed here, so ring as if that were governed by gchint.
 *	The mapping GCHINT_MMAP_CPUS lists the policies of all CPUs.
 * @policy: the policies
 *
 * The three masks are single words: read each with one relaxed load. A mask
 * that changes between the load and the ring costs a needless or a missing
 * doorbell, never a wrong frequency for longer than a scheduler tick.
 */
struct gchint_info {
	__u32 abi;
	__u32 size;
	__u64 features;
	__u32 doorbell_begin;
	__u32 doorbell_end;
	__u32 record;
	__u32 generation;
	__u32 nr_policies;
	__u32 hint_ttl_ms;
	__u32 min_phase_us;
	__u32 nr_cpus;
	__u32 cpu_size;
	__u32 reserved[19];
	__u8 cpu_policy[GCHINT_INFO_CPUS];
	struct gchint_info_policy policy[GCHINT_INFO_POLICIES];
};

/**
 * struct gchint_info_cpu - what the kernel knows of one CPU's cpufreq policy
 * @policy: all zero without one. CPUs of one policy have equal entries.
 * @policy_cpu: the first CPU that the policy may ever have. CPUs with the same
 *	number here have the same policy.
 * @reserved: zero
 *
 * One cache line, written by the kernel only, by the rules of struct gchint_info:
 * the generation there guards it but for @policy.cur_khz. The entry of CPU n is
 * n * gchint_info.cpu_size bytes into the mapping GCHINT_MMAP_CPUS. A CPU past
 * gchint_info.nr_cpus does not exist.
 */
struct gchint_info_cpu {
	struct gchint_info_policy policy;
	__u32 policy_cpu;
	__u32 reserved[7];
} __attribute__((aligned(64)));

/* struct gchint_attach granted */
#define GCHINT_GRANT_RAISE	0x01	/* CAP_SYS_NICE at open: may raise */

/**
 * struct gchint_attach - GCHINT_IOC_ATTACH: give a thread a slot
 * @tid: in: thread of the calling process, in the caller's pid namespace;
 *	0 the calling thread
 * @role: in: enum gchint_role
 * @lead: in: slot to follow; used with GCHINT_ROLE_FOLLOW, else zero
 * @flags: in: zero
 * @slot: out: the slot's number
 * @granted: out: GCHINT_GRANT_*
 *
 * Errors besides the common ones:
 *	ESRCH	no such thread in the calling process
 *	ENOENT	the leader's slot is free
 *	EBUSY	the thread has a slot already, in this or another session
 *	ENOSPC	all slots of the session are taken
 *	EDQUOT	the user has an eighth of all slots (module parameter leases)
 *	EUSERS	all users together have as many as leases allows
 *	ENOMEM	no memory
 */
struct gchint_attach {
	__s32 tid;
	__u32 role;
	__u32 lead;
	__u32 flags;
	__u32 slot;
	__u32 granted;
};

/**
 * struct gchint_set_role - GCHINT_IOC_SET_ROLE: change a thread's role
 * @slot: its slot
 * @role: enum gchint_role
 * @lead: slot to follow; used with GCHINT_ROLE_FOLLOW, else zero
 * @flags: zero
 *
 * Errors besides the common ones: ENOENT, the slot (or the leader's) is free.
 */
struct gchint_set_role {
	__u32 slot;
	__u32 role;
	__u32 lead;
	__u32 flags;
};

#define GCHINT_ATTACH_SIZE_VER0		24
#define GCHINT_SET_ROLE_SIZE_VER0	16

#define GCHINT_IOC_MAGIC	0xe7
#define GCHINT_IOC_ATTACH	_IOWR(GCHINT_IOC_MAGIC, 1, struct gchint_attach)
/* Argument: slot number. Frees the slot. ENOENT if it is free already. */
#define GCHINT_IOC_DETACH	_IO(GCHINT_IOC_MAGIC, 2)
/* Argument: slot number. Reads the slot now. ENOENT if it is free. */
#define GCHINT_IOC_RING		_IO(GCHINT_IOC_MAGIC, 3)
#define GCHINT_IOC_SET_ROLE	_IOW(GCHINT_IOC_MAGIC, 4, struct gchint_set_role)
/*
 * Argument: number of slots that the session shall have, rounded up to a multiple
 * of GCHINT_SLOTS. Nothing is done if it has as many already. EINVAL if the number
 * is 0 or more than GCHINT_SLOTS_MAX, EDQUOT if the user may not lease so many (an
 * eighth of the module parameter leases), ENOMEM. Slots stay until the session is
 * closed.
 */
#define GCHINT_IOC_GROW		_IO(GCHINT_IOC_MAGIC, 5)

#include "gchint_netlink.h"

#endif /* _UAPI_LINUX_GCHINT_H */
