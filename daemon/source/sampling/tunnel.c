// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF program has about sixty instructions and is assembled here, so that neither the
 * build nor the target needs a BPF compiler or a library.
 */
#include "tunnel.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "btf.h"

#if defined(__x86_64__)
#define THREAD_POINTER "thread.fsbase"
#elif defined(__aarch64__)
#define THREAD_POINTER "thread.uw.tp_value"
#else
#define THREAD_POINTER ""
#endif

#define RING (4u << 20) /* bytes of samples that wait; a power of two */
#define HEAD BPF_RINGBUF_HDR_SZ

struct tunnel {
	int threads_fd, ring_fd, program_fd;
	struct tunnel_place *place; /* the map of threads, mapped into memory */
	size_t place_size;
	uint64_t *consumer; /* our read position, which the kernel reads */
	const uint64_t *producer;
	const char *data;
	size_t page;
};

/* ------------------------------------------------------------------ the program */

enum {
	R0,
	R1,
	R2,
	R3,
	R4,
	R5,
	CTX, /* r6 to r9 are preserved across calls */
	KNOWN,
	PLACE,
	SAMPLE,
	FRAME
};

/* Offsets from the frame pointer in the program's stack. */
#define AT_THREAD  (-4)
#define AT_WORD	   (-8)
#define AT_METHOD  (-16)
#define AT_POINTER (-24)
#define AT_OWNER   (-28)

struct code {
	struct bpf_insn insn[96];
	int nr;
};

static int code_emit(struct code *c, int code, int dst, int src, int off, int32_t imm)
{
	c->insn[c->nr] = (struct bpf_insn){ .code = (uint8_t)code,
					    .dst_reg = (uint8_t)(dst & 15),
					    .src_reg = (uint8_t)(src & 15),
					    .off = (int16_t)off,
					    .imm = imm };
	return c->nr++;
}

static void code_set(struct code *c, int dst, int32_t value)
{
	code_emit(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

static void code_move(struct code *c, int dst, int src)
{
	code_emit(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void code_add(struct code *c, int dst, int32_t value)
{
	code_emit(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}

static void code_load(struct code *c, int size, int dst, int src, int off)
{
	code_emit(c, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}

static void code_store(struct code *c, int size, int dst, int off, int src)
{
	code_emit(c, BPF_STX | BPF_MEM | size, dst, src, off, 0);
}

static void code_call(struct code *c, int32_t function)
{
	code_emit(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

static void code_map(struct code *c, int dst, int fd)
{
	code_emit(c, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd);
	code_emit(c, 0, 0, 0, 0, 0);
}

/* Emits a jump forward; its target is where code_land() is called with the returned index. */
static int code_jump(struct code *c, int how, int dst, int32_t value)
{
	return code_emit(c, BPF_JMP | how | BPF_K, dst, 0, 0, value);
}

static void code_land(struct code *c, int from)
{
	c->insn[from].off = (int16_t)(c->nr - from - 1);
}

/* Emits a read of @size bytes at r3 into the stack at @at; returns the jump for a failure. */
static int code_read_into(struct code *c, int function, int at, int size)
{
	code_move(c, R1, FRAME);
	code_add(c, R1, at);
	code_set(c, R2, size);
	code_call(c, function);
	return code_jump(c, BPF_JNE, R0, 0);
}

static void code_read_method(struct code *c, int32_t pointer)
{
	int failed[2];

	code_call(c, BPF_FUNC_get_current_task);
	code_move(c, R3, R0);
	code_add(c, R3, pointer);
	failed[0] = code_read_into(c, BPF_FUNC_probe_read_kernel, AT_POINTER, 8);
	code_load(c, BPF_DW, R3, FRAME, AT_POINTER);
	code_load(c, BPF_DW, R1, PLACE, offsetof(struct tunnel_place, method));
	code_emit(c, BPF_ALU64 | BPF_ADD | BPF_X, R3, R1, 0, 0);
	failed[1] = code_read_into(c, BPF_FUNC_probe_read_user, AT_METHOD, 8);
	code_set(c, KNOWN, HOTSPOT_METHOD);
	code_land(c, failed[0]);
	code_land(c, failed[1]);
}

/* Checks the owner before it reads the word, so that only the thread's own word counts. */
static void code_read_phase(struct code *c)
{
	int none, failed[3];

	code_load(c, BPF_DW, R1, PLACE, offsetof(struct tunnel_place, word));
	none = code_jump(c, BPF_JEQ, R1, 0);
	code_load(c, BPF_DW, R3, PLACE, offsetof(struct tunnel_place, owner));
	failed[0] = code_read_into(c, BPF_FUNC_probe_read_user, AT_OWNER, 4);
	code_load(c, BPF_W, R1, FRAME, AT_OWNER);
	code_load(c, BPF_W, R2, PLACE, offsetof(struct tunnel_place, tid));
	failed[1] = code_emit(c, BPF_JMP | BPF_JNE | BPF_X, R1, R2, 0, 0);
	code_load(c, BPF_DW, R3, PLACE, offsetof(struct tunnel_place, word));
	failed[2] = code_read_into(c, BPF_FUNC_probe_read_user, AT_WORD, 4);
	code_emit(c, BPF_ALU64 | BPF_OR | BPF_K, KNOWN, 0, 0, TUNNEL_WORD);
	code_land(c, none);
	code_emit(c, BPF_ALU64 | BPF_OR | BPF_K, KNOWN, 0, 0, HOTSPOT_PHASE);
	for (int i = 0; i < 3; i++)
		code_land(c, failed[i]);
}

static void code_take_stack(struct code *c, int frames, int room, int size, int32_t flags)
{
	code_move(c, R1, CTX);
	code_move(c, R2, SAMPLE);
	code_add(c, R2, frames);
	code_set(c, R3, room);
	code_set(c, R4, flags);
	code_call(c, BPF_FUNC_get_stack);
	code_store(c, BPF_W, SAMPLE, size, R0);
}

static void code_write_sample(struct code *c)
{
	code_call(c, BPF_FUNC_ktime_get_ns);
	code_store(c, BPF_DW, SAMPLE, offsetof(struct tunnel_sample, t), R0);
	code_load(c, BPF_DW, R1, FRAME, AT_METHOD);
	code_store(c, BPF_DW, SAMPLE, offsetof(struct tunnel_sample, method), R1);
	code_load(c, BPF_W, R1, FRAME, AT_THREAD);
	code_store(c, BPF_W, SAMPLE, offsetof(struct tunnel_sample, thread), R1);
	code_call(c, BPF_FUNC_get_smp_processor_id);
	code_store(c, BPF_W, SAMPLE, offsetof(struct tunnel_sample, cpu), R0);
	code_load(c, BPF_W, R1, FRAME, AT_WORD);
	code_store(c, BPF_W, SAMPLE, offsetof(struct tunnel_sample, word), R1);
	code_store(c, BPF_W, SAMPLE, offsetof(struct tunnel_sample, known), KNOWN);
	code_take_stack(c, offsetof(struct tunnel_sample, kernel), TUNNEL_KERNEL_FRAMES * 8,
			offsetof(struct tunnel_sample, in_kernel), 0);
	code_take_stack(c, offsetof(struct tunnel_sample, user), TUNNEL_FRAMES * 8,
			offsetof(struct tunnel_sample, in_user), BPF_F_USER_STACK);
	code_move(c, R1, SAMPLE);
	code_set(c, R2, BPF_RB_NO_WAKEUP);
	code_call(c, BPF_FUNC_ringbuf_submit);
}

static void code_assemble(struct code *c, int threads, int ring, int32_t pointer)
{
	int unknown, silent, full, done;

	code_move(c, CTX, R1);
	code_call(c, BPF_FUNC_get_attach_cookie);
	code_store(c, BPF_W, FRAME, AT_THREAD, R0);
	code_map(c, R1, threads);
	code_move(c, R2, FRAME);
	code_add(c, R2, AT_THREAD);
	code_call(c, BPF_FUNC_map_lookup_elem);
	unknown = code_jump(c, BPF_JEQ, R0, 0);
	code_move(c, PLACE, R0);
	code_set(c, KNOWN, 0);
	code_set(c, R1, 0);
	code_store(c, BPF_DW, FRAME, AT_METHOD, R1);
	code_store(c, BPF_W, FRAME, AT_WORD, R1);
	code_load(c, BPF_W, R1, PLACE, offsetof(struct tunnel_place, valid));
	silent = code_jump(c, BPF_JEQ, R1, 0);
	code_read_method(c, pointer);
	code_read_phase(c);
	code_land(c, silent);
	code_map(c, R1, ring);
	code_set(c, R2, sizeof(struct tunnel_sample));
	code_set(c, R3, 0);
	code_call(c, BPF_FUNC_ringbuf_reserve);
	full = code_jump(c, BPF_JEQ, R0, 0);
	code_move(c, SAMPLE, R0);
	code_write_sample(c);
	done = code_jump(c, BPF_JA, 0, 0);
	code_land(c, full);
	code_set(c, R1, 1);
	code_emit(c, BPF_STX | BPF_ATOMIC | BPF_DW, PLACE, R1, offsetof(struct tunnel_place, lost),
		  BPF_ADD);
	code_land(c, done);
	code_land(c, unknown);
	/* With 0, perf writes no sample of its own. */
	code_set(c, R0, 0);
	code_emit(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ------------------------------------------------------------------ the kernel's side */

static int bpf_call(int command, union bpf_attr *attr)
{
	long fd = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return fd < 0 ? -errno : (int)fd;
}

static int map_create(uint32_t type, uint32_t value, uint32_t entries, uint32_t flags)
{
	union bpf_attr attr = { .map_type = type,
				.key_size = value ? 4 : 0,
				.value_size = value,
				.max_entries = entries,
				.map_flags = flags };

	return bpf_call(BPF_MAP_CREATE, &attr);
}

static int program_load(struct tunnel *t, int32_t pointer)
{
	struct code code = { .nr = 0 };
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_PERF_EVENT,
				.insns = (uintptr_t)code.insn,
				.license = (uintptr_t) "GPL",
				.prog_name = "gchint_sample" };

	code_assemble(&code, t->threads_fd, t->ring_fd, pointer);
	attr.insn_cnt = (uint32_t)code.nr;
	return bpf_call(BPF_PROG_LOAD, &attr);
}

static void *file_map(int fd, size_t size, int protection, size_t offset)
{
	void *at = mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)offset);

	return at == MAP_FAILED ? NULL : at;
}

static int maps_open(struct tunnel *t, uint32_t threads)
{
	const char *shown;

	t->page = (size_t)sysconf(_SC_PAGESIZE);
	t->place_size = (threads * sizeof(*t->place) + t->page - 1) / t->page * t->page;
	t->threads_fd = map_create(BPF_MAP_TYPE_ARRAY, sizeof(struct tunnel_place), threads,
				   BPF_F_MMAPABLE);
	if (t->threads_fd < 0)
		return t->threads_fd;
	t->ring_fd = map_create(BPF_MAP_TYPE_RINGBUF, 0, RING, 0);
	if (t->ring_fd < 0)
		return t->ring_fd;
	t->place = file_map(t->threads_fd, t->place_size, PROT_READ | PROT_WRITE, 0);
	t->consumer = file_map(t->ring_fd, t->page, PROT_READ | PROT_WRITE, 0);
	/* The data is mapped twice in a row, so that no record is split at the end. */
	shown = file_map(t->ring_fd, t->page + 2 * (size_t)RING, PROT_READ, t->page);
	if (!t->place || !t->consumer || !shown) {
		if (shown)
			munmap((void *)(uintptr_t)shown, t->page + 2 * (size_t)RING);
		return -ENOMEM;
	}
	t->producer = (const void *)shown;
	t->data = shown + t->page;
	return 0;
}

int tunnel_open(struct tunnel **out, uint32_t threads, const char *sysfs, const char **why)
{
	struct tunnel *t = calloc(1, sizeof(*t));
	int64_t pointer;
	char path[320];
	int ret;

	*why = "no memory";
	if (!t)
		return -ENOMEM;
	t->threads_fd = t->ring_fd = t->program_fd = -1;
	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", sysfs);
	*why = "the kernel does not report where a thread's pointer is";
	pointer = *THREAD_POINTER ? btf_offset(path, "task_struct", THREAD_POINTER) : -ENOENT;
	ret = pointer > INT32_MAX ? -ERANGE : pointer < 0 ? (int)pointer : 0;
	if (!ret) {
		*why = "no BPF: it wants root, or CAP_BPF and CAP_PERFMON";
		ret = maps_open(t, threads);
	}
	if (!ret) {
		*why = "no BPF of Linux 5.15 or newer";
		t->program_fd = program_load(t, (int32_t)pointer);
		ret = t->program_fd < 0 ? t->program_fd : 0;
	}
	if (ret) {
		tunnel_close(t);
		return ret;
	}
	*out = t;
	return 0;
}

void tunnel_close(struct tunnel *t)
{
	const int fds[] = { t->program_fd, t->ring_fd, t->threads_fd };

	if (t->place)
		munmap(t->place, t->place_size);
	if (t->consumer)
		munmap(t->consumer, t->page);
	if (t->producer)
		munmap((void *)(uintptr_t)t->producer, t->page + 2 * (size_t)RING);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(t);
}

int tunnel_attach(struct tunnel *t, int event, uint32_t thread)
{
	union bpf_attr attr = { .link_create = { .prog_fd = (uint32_t)t->program_fd,
						 .target_fd = (uint32_t)event,
						 .attach_type = BPF_PERF_EVENT } };

	attr.link_create.perf_event.bpf_cookie = thread;
	return bpf_call(BPF_LINK_CREATE, &attr);
}

/* Samples between the stores are consistent: the program checks the owner each time. */
void tunnel_place(struct tunnel *t, uint32_t thread, const struct tunnel_place *place)
{
	struct tunnel_place *to = &t->place[thread];

	__atomic_store_n(&to->word, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&to->owner, place->owner, __ATOMIC_RELAXED);
	__atomic_store_n(&to->tid, place->tid, __ATOMIC_RELAXED);
	__atomic_store_n(&to->method, place->method, __ATOMIC_RELAXED);
	__atomic_store_n(&to->valid, place->valid, __ATOMIC_RELAXED);
	__atomic_store_n(&to->word, place->word, __ATOMIC_SEQ_CST);
}

uint64_t tunnel_lost(struct tunnel *t, uint32_t thread)
{
	return __atomic_exchange_n(&t->place[thread].lost, 0, __ATOMIC_RELAXED);
}

bool tunnel_next(struct tunnel *t, struct tunnel_sample *sample)
{
	const uint64_t end = __atomic_load_n(t->producer, __ATOMIC_ACQUIRE);
	uint64_t at = __atomic_load_n(t->consumer, __ATOMIC_RELAXED);
	bool good = false;

	while (!good && at < end) {
		const char *record = t->data + (at & (RING - 1));
		const uint32_t head =
			__atomic_load_n((const uint32_t *)(const void *)record, __ATOMIC_ACQUIRE);
		const uint32_t size = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		good = !(head & BPF_RINGBUF_DISCARD_BIT) && size == sizeof(*sample);
		if (good)
			memcpy(sample, record + HEAD, sizeof(*sample));
		at += (size + HEAD + 7) / 8 * 8;
	}
	__atomic_store_n(t->consumer, at, __ATOMIC_RELEASE);
	return good;
}
