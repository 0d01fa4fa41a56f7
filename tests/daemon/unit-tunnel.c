// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: the BPF program that reads a sampled thread, run instruction by instruction on a
 * simulated machine: its output for threads with complete, hidden and removed annotations; and
 * reading its ring.
 */
#include "unit.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../daemon/source/sampling/btf.h"
#include "../../daemon/source/sampling/tunnel.h"
#include "records.h"

#define THREADS 3
#define RING	(4u << 20)
#define POINTER 40 /* offset in the kernel's thread */

bool unit_tunnel_asked;

static char asked[600];
static int maps[2], nr_maps, refused;
static struct bpf_insn program[96];
static unsigned int words;

static void call_log(const char *text)
{
	strncat(asked, text, sizeof(asked) - strlen(asked) - 1);
}

static int file_of(size_t size)
{
	int fd = memfd_create("tunnel", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		abort();
	return fd;
}

long unit_tunnel_bpf(int command, const union bpf_attr *attr)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char text[160];

	if (command == refused) {
		errno = EPERM;
		return -1;
	}
	switch (command) {
	case BPF_MAP_CREATE:
		snprintf(text, sizeof(text), "map %u of %u, key %u, value %u, flags %x\n",
			 attr->map_type, attr->max_entries, attr->key_size, attr->value_size,
			 attr->map_flags);
		call_log(text);
		maps[nr_maps % 2] = file_of(2 * page + 2 * (size_t)RING);
		return maps[nr_maps++ % 2];
	case BPF_PROG_LOAD:
		snprintf(text, sizeof(text), "program %u, %s, %s\n", attr->prog_type,
			 attr->prog_name, (const char *)(uintptr_t)attr->license);
		call_log(text);
		words = attr->insn_cnt;
		memcpy(program, (const void *)(uintptr_t)attr->insns, words * sizeof(*program));
		return file_of(page);
	case BPF_LINK_CREATE:
		snprintf(text, sizeof(text), "link %u to %u, type %u, cookie %u\n",
			 attr->link_create.prog_fd > 2, attr->link_create.target_fd,
			 attr->link_create.attach_type,
			 (unsigned int)attr->link_create.perf_event.bpf_cookie);
		call_log(text);
		return file_of(page);
	default:
		errno = EINVAL;
		return -1;
	}
}

int64_t __real_btf_offset(const char *path, const char *type, const char *members);
int64_t __wrap_btf_offset(const char *path, const char *type, const char *members);
int64_t __wrap_btf_offset(const char *path, const char *type, const char *members)
{
	return unit_tunnel_asked ? POINTER : __real_btf_offset(path, type, members);
}

/* The sampled thread, and the kernel around it. */
static struct {
	char task[POINTER + 8];
	uint64_t storage[2];
	uint32_t owner, word, cookie;
	const void *unreadable;
	struct tunnel_place *place;
	struct tunnel_sample sample;
	bool full;
	int submitted;
} m;

#define P(x) ((void *)(uintptr_t)(x))

static uint64_t helper_call(int function, const uint64_t *r)
{
	const bool user = r[4] == BPF_F_USER_STACK;

	switch (function) {
	case BPF_FUNC_get_attach_cookie:
		return r[1] == 1 ? m.cookie : 99;
	case BPF_FUNC_map_lookup_elem:
		return r[1] != (uint64_t)maps[0] || *(uint32_t *)P(r[2]) >= THREADS ?
			       0 :
			       (uintptr_t)&m.place[*(uint32_t *)P(r[2])];
	case BPF_FUNC_get_current_task:
		return (uintptr_t)m.task;
	case BPF_FUNC_probe_read_kernel:
	case BPF_FUNC_probe_read_user:
		if (P(r[3]) == m.unreadable ||
		    (function == BPF_FUNC_probe_read_kernel) != (P(r[3]) == m.task + POINTER))
			return (uint64_t)-EFAULT;
		memcpy(P(r[1]), P(r[3]), r[2]);
		return 0;
	case BPF_FUNC_ringbuf_reserve:
		if (r[1] != (uint64_t)maps[1] || r[2] != sizeof(m.sample) || r[3] || m.full)
			return 0;
		memset(&m.sample, 0xa5, sizeof(m.sample));
		return (uintptr_t)&m.sample;
	case BPF_FUNC_get_stack:
		if (r[1] != 1 || r[3] != (user ? TUNNEL_FRAMES : TUNNEL_KERNEL_FRAMES) * 8)
			return (uint64_t)-EINVAL;
		memset(P(r[2]), user ? 'u' : 'k', user ? 24 : 16);
		return user ? 24 : 16;
	case BPF_FUNC_ktime_get_ns:
		return 777;
	case BPF_FUNC_get_smp_processor_id:
		return 3;
	case BPF_FUNC_ringbuf_submit:
		m.submitted += P(r[1]) == &m.sample && r[2] == BPF_RB_NO_WAKEUP;
		return 0;
	default:
		return (uint64_t)-EINVAL;
	}
}

static uint64_t value_load(const void *from, int size)
{
	uint64_t value = 0;

	memcpy(&value, from, size == BPF_DW ? 8 : 4);
	return value;
}

/* Runs it; returns its r0 at the end, or 99. A call clobbers its scratch registers. */
static uint64_t program_run(void)
{
	uint64_t stack[64], r[11] = { 0 };

	memset(stack, 0x5a, sizeof(stack));
	r[1] = 1;
	r[10] = (uintptr_t)(stack + 64);
	for (unsigned int at = 0, n = 0; at < words && n < 200; at++, n++) {
		const struct bpf_insn *i = &program[at];
		const uint64_t from = i->code & BPF_X ? r[i->src_reg] : (uint64_t)(int64_t)i->imm;
		uint64_t *to = &r[i->dst_reg];

		if (i->code == (BPF_LD | BPF_DW | BPF_IMM))
			*to = i->src_reg == BPF_PSEUDO_MAP_FD ? (uint64_t)i->imm : 0, at++;
		else if (i->code == (BPF_LDX | BPF_MEM | BPF_SIZE(i->code)))
			*to = value_load((char *)P(r[i->src_reg]) + i->off, BPF_SIZE(i->code));
		else if (i->code == (BPF_STX | BPF_MEM | BPF_SIZE(i->code)))
			memcpy((char *)P(*to) + i->off, &r[i->src_reg],
			       BPF_SIZE(i->code) == BPF_DW ? 8 : 4);
		else if (i->code == (BPF_STX | BPF_ATOMIC | BPF_DW) && i->imm == BPF_ADD)
			*(uint64_t *)(void *)((char *)P(*to) + i->off) += r[i->src_reg];
		else if (BPF_CLASS(i->code) == BPF_ALU64 && BPF_OP(i->code) == BPF_MOV)
			*to = from;
		else if (BPF_CLASS(i->code) == BPF_ALU64 && BPF_OP(i->code) == BPF_ADD)
			*to += from;
		else if (BPF_CLASS(i->code) == BPF_ALU64 && BPF_OP(i->code) == BPF_OR)
			*to |= from;
		else if (i->code == (BPF_JMP | BPF_CALL)) {
			r[0] = helper_call(i->imm, r);
			memset(&r[1], 0, 5 * sizeof(*r));
		} else if (i->code == (BPF_JMP | BPF_EXIT))
			return r[0];
		else if (BPF_OP(i->code) == BPF_JA || (BPF_OP(i->code) == BPF_JEQ && *to == from) ||
			 (BPF_OP(i->code) == BPF_JNE && *to != from))
			at += (unsigned int)i->off;
	}
	return 99;
}

/* Its sample of the current thread, or "nothing". */
static const char *sample_format(void)
{
	const struct tunnel_sample *s = &m.sample;
	static char text[200];

	m.submitted = 0;
	if (program_run())
		return "failed";
	if (!m.submitted)
		return "nothing";
	snprintf(text, sizeof(text),
		 "%d of %u on %u at %d: method %x, word %x, knows%s%s%s, %d %.3s %d %.3s",
		 m.submitted, s->thread, s->cpu, (int)s->t, (unsigned int)s->method, s->word,
		 s->known & HOTSPOT_METHOD ? " method" : "",
		 s->known & HOTSPOT_PHASE ? " phase" : "", s->known & TUNNEL_WORD ? " word" : "",
		 s->in_kernel, (const char *)s->kernel, s->in_user, (const char *)s->user);
	return text;
}

#define KNOWN(what) "1 of 2 on 3 at 777: " what ", 16 kkk 24 uuu"

static void programs_check(struct tunnel *t)
{
	struct tunnel_place place = { .method = 8,
				      .word = (uintptr_t)&m.word,
				      .owner = (uintptr_t)&m.owner,
				      .tid = 70,
				      .valid = 1 };
	const uint64_t pointer = (uintptr_t)m.storage;

	memcpy(m.task + POINTER, &pointer, sizeof(pointer));
	m.storage[1] = 0x4000;
	m.owner = 70;
	m.word = 0x304;
	m.cookie = 2;
	text_is(sample_format(), KNOWN("method 0, word 0, knows"), "a thread without annotations");
	tunnel_place(t, 2, &place);
	text_is(sample_format(), KNOWN("method 4000, word 304, knows method phase word"),
		"a thread with method and phase");
	m.owner = 71;
	text_is(sample_format(), KNOWN("method 4000, word 0, knows method"),
		"another thread's word has no phase");
	m.owner = 70;
	m.unreadable = &m.owner;
	text_is(sample_format(), KNOWN("method 4000, word 0, knows method"),
		"an unowned word has no phase");
	m.unreadable = &m.word;
	text_is(sample_format(), KNOWN("method 4000, word 0, knows method"),
		"an unmapped word has no phase");
	m.unreadable = &m.storage[1];
	text_is(sample_format(), KNOWN("method 0, word 304, knows phase word"),
		"a phase without a method");
	m.unreadable = m.task + POINTER;
	text_is(sample_format(), KNOWN("method 0, word 304, knows phase word"),
		"a phase without the thread's pointer");
	m.unreadable = NULL;
	place.word = 0;
	tunnel_place(t, 2, &place);
	text_is(sample_format(), KNOWN("method 4000, word 0, knows method phase"),
		"a thread outside of phases");
	m.full = true;
	text_is(sample_format(), "nothing", "a full ring drops the sample");
	text_is(sample_format(), "nothing", "a full ring drops every sample");
	m.full = false;
	CHECK(tunnel_lost(t, 2) == 2 && !tunnel_lost(t, 2) && !tunnel_lost(t, 1),
	      "lost samples are counted per thread until they are read");
	m.cookie = THREADS;
	text_is(sample_format(), "nothing", "a thread without a slot has no sample");
}

static char *record_put(char *data, uint64_t *end, uint32_t head, uint64_t t)
{
	char *at = data + (*end & (RING - 1));
	const uint32_t size = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	struct tunnel_sample s = { .t = t };

	memcpy(at, &head, sizeof(head));
	memcpy(at + BPF_RINGBUF_HDR_SZ, &s, size < sizeof(s) ? size : sizeof(s));
	*end += (size + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
	return at;
}

static void rings_check(struct tunnel *t)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *file = mmap(NULL, 2 * page + 2 * (size_t)RING, PROT_READ | PROT_WRITE, MAP_SHARED,
			  maps[1], 0);
	uint64_t *consumer = (void *)file, *producer = (void *)(file + page), end;
	struct tunnel_sample s;
	char *busy;

	if (file == MAP_FAILED)
		abort();
	CHECK(!tunnel_next(t, &s) && !*consumer, "an empty ring has no sample");
	/* The last ones of the ring, one of which wraps into its second mapping. */
	end = *consumer = *producer = 3 * (uint64_t)RING - 2 * sizeof(s);
	record_put(file + 2 * page, &end, sizeof(s), 1);
	record_put(file + 2 * page, &end, 11, 2);
	record_put(file + 2 * page, &end, sizeof(s) | BPF_RINGBUF_DISCARD_BIT, 3);
	record_put(file + 2 * page, &end, sizeof(s), 4);
	busy = record_put(file + 2 * page, &end, sizeof(s) | BPF_RINGBUF_BUSY_BIT, 5);
	CHECK(!tunnel_next(t, &s), "an unpublished sample is not read");
	*producer = end;
	CHECK(tunnel_next(t, &s) && s.t == 1, "a published sample is read");
	CHECK(tunnel_next(t, &s) && s.t == 4, "a discarded sample is skipped");
	CHECK(!tunnel_next(t, &s) && *consumer < end, "reading stops at a busy sample");
	memcpy(busy, &(uint32_t){ sizeof(s) }, sizeof(uint32_t));
	CHECK(tunnel_next(t, &s) && s.t == 5 && *consumer == end && !tunnel_next(t, &s),
	      "the last sample is read");
	munmap(file, 2 * page + 2 * (size_t)RING);
}

void unit_tunnel(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	static const int commands[] = { BPF_MAP_CREATE, BPF_PROG_LOAD };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int lowest = dup(STDOUT_FILENO);
	struct tunnel *t = NULL;
	const char *why = NULL;
	int fd;

	close(lowest);
	unit_tunnel_asked = true;
	for (int i = 0; i < 2; i++) {
		refused = commands[i];
		CHECK(tunnel_open(&t, THREADS, "/absent", &why) == -EPERM,
		      i ? "a kernel that refuses the program is reported" :
			  "a kernel that refuses all BPF is reported");
		text_is(why,
			i ? "no BPF of Linux 5.15 or newer" :
			    "no BPF: it wants root, or CAP_BPF and CAP_PERFMON",
			"the reason is reported");
	}
	refused = -1;
	asked[0] = '\0';
	nr_maps = 0;
	CHECK(!tunnel_open(&t, THREADS, "/absent", &why),
	      "a kernel that accepts the program is used");
	fd = tunnel_attach(t, 33, 2);
	text_is(asked,
		"map 2 of 3, key 4, value 40, flags 400\n"
		"map 27 of 4194304, key 0, value 0, flags 0\n"
		"program 7, gchint_sample, GPL\n"
		"link 1 to 33, type 41, cookie 2\n",
		"two maps, a program and a link are created");
	CHECK(fd >= 0 && !close(fd), "the program stays loaded while a descriptor is open");
	m.place = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, maps[0], 0);
	if (m.place == MAP_FAILED)
		abort();
	programs_check(t);
	rings_check(t);
	munmap(m.place, page);
	tunnel_close(t);
	unit_tunnel_asked = false;
	fd = dup(STDOUT_FILENO);
	close(fd);
	CHECK(fd == lowest, "no descriptor stays open");
#endif
}
