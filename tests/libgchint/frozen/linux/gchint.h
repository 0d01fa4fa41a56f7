/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* As it was in 0.1.0, without its comments: see test-frozen. It does not change. */
#ifndef _UAPI_LINUX_GCHINT_H
#define _UAPI_LINUX_GCHINT_H
#include <linux/ioctl.h>
#include <linux/types.h>
#define GCHINT_ABI	  1
#define GCHINT_DEVICE	  "gchint"
#define GCHINT_SLOTS	  64
#define GCHINT_SLOTS_MAX  4096
#define GCHINT_MMAP_INFO  0x00000
#define GCHINT_MMAP_SLOTS 0x10000
#define GCHINT_MMAP_CPUS  0x1000000
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
#define GCHINT_F_STW	    0x01
#define GCHINT_F_CONCURRENT 0x02
#define GCHINT_F_FOREGROUND 0x04
#define GCHINT_F_URGENT	    0x08
#define GCHINT_F_ALL	    0x0f
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
enum gchint_role {
	GCHINT_ROLE_NONE,
	GCHINT_ROLE_CONCURRENT,
	GCHINT_ROLE_STW,
	GCHINT_ROLE_BACKGROUND,
	GCHINT_ROLE_FOLLOW,
	GCHINT_ROLE_NR
};
#define GCHINT_STATE_PHASE_SHIFT 0
#define GCHINT_STATE_FLAGS_SHIFT 8
#define GCHINT_STATE_SEQ_SHIFT	 16
#define GCHINT_STATE_WRITING	 0x00010000u
#define GCHINT_STATE_EDGE	 0x00020000u
#define GCHINT_STATE_SEQ_MASK	 0xffff0000u
#define GCHINT_STATE(seq, phase, flags)                                                            \
	(((seq)&GCHINT_STATE_SEQ_MASK) | ((__u32)(flags) << GCHINT_STATE_FLAGS_SHIFT) |            \
	 ((__u32)(phase) << GCHINT_STATE_PHASE_SHIFT))
struct gchint_slot {
	__u32 state;
	__u32 cause;
	__u64 work_done;
	__u64 work_total;
	__u64 stall_ns;
	__u64 method;
	__u64 reserved[3];
} __attribute__((aligned(64)));
#define GCHINT_POLICY_PRESENT 0x01
#define GCHINT_POLICY_GCHINT  0x02
#define GCHINT_POLICY_FAST    0x04
struct gchint_info_policy {
	char governor[16];
	__u32 cur_khz;
	__u32 max_khz;
	__u32 hw_max_khz;
	__u32 flags;
};
#define GCHINT_FEATURE_GOVERNOR 0x01
#define GCHINT_FEATURE_CLAMP	0x02
#define GCHINT_FEATURE_LIMITS	0x04
#define GCHINT_FEATURE_CPUS	0x08
#define GCHINT_FEATURE_GROW	0x10
#define GCHINT_INFO_CPUS	512
#define GCHINT_INFO_POLICIES	96
#define GCHINT_INFO_NO_POLICY	0xff
#define GCHINT_INFO_UNLISTED	0xfe
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
struct gchint_info_cpu {
	struct gchint_info_policy policy;
	__u32 policy_cpu;
	__u32 reserved[7];
} __attribute__((aligned(64)));
#define GCHINT_GRANT_RAISE 0x01
struct gchint_attach {
	__s32 tid;
	__u32 role;
	__u32 lead;
	__u32 flags;
	__u32 slot;
	__u32 granted;
};
struct gchint_set_role {
	__u32 slot;
	__u32 role;
	__u32 lead;
	__u32 flags;
};
#define GCHINT_ATTACH_SIZE_VER0	  24
#define GCHINT_SET_ROLE_SIZE_VER0 16
#define GCHINT_IOC_MAGIC	  0xe7
#define GCHINT_IOC_ATTACH	  _IOWR(GCHINT_IOC_MAGIC, 1, struct gchint_attach)
#define GCHINT_IOC_DETACH	  _IO(GCHINT_IOC_MAGIC, 2)
#define GCHINT_IOC_RING		  _IO(GCHINT_IOC_MAGIC, 3)
#define GCHINT_IOC_SET_ROLE	  _IOW(GCHINT_IOC_MAGIC, 4, struct gchint_set_role)
#define GCHINT_IOC_GROW		  _IO(GCHINT_IOC_MAGIC, 5)
#include "gchint_netlink.h"
#endif
