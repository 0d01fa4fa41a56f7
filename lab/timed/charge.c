// SPDX-License-Identifier: MIT
/*
 * Charges the time of what the guest executes: instructions are counted inline, memory accesses
 * call the cache model. User and kernel code are charged alike.
 */
#include "timed.h"

#include <string.h>

#include "clock.h"
#include "insns.h"

static void core_wake(struct timed_core *c)
{
	double step = (double)timed.quantum_ns / 2;

	while (c->waking_ns > 0) {
		if (step > c->waking_ns)
			step = c->waking_ns;
		c->waking_ns -= step;
		timed_stall(c, step);
		clock_pace(c);
	}
	c->unpaced_ns = 0;
	trace_put(c, TRACE_BUSY, 0, (uint64_t)c->ns);
}

static void core_synchronize(struct timed_core *c)
{
	insns_begin(c);
	c->unpaced_ns = 0;
	if (c->waking_ns > 0)
		core_wake(c);
	domain_refresh(c);
	cache_rate(c);
	clock_pace(c);
}

/* Runs at the begin of a block after a full chunk of instructions. */
static void on_chunk(unsigned int cpu, void *data)
{
	(void)data;
	core_synchronize(&timed.core[cpu]);
}

/* Drops all cached translations, and the held lines, which have virtual addresses. */
static void core_forget_pages(struct timed_core *c)
{
	memset(c->utlb, 0, sizeof(c->utlb));
	memset(c->held_load, 0, sizeof(c->held_load));
	memset(c->held_store, 0, sizeof(c->held_store));
	c->last_load = 0;
	c->last_store = 0;
}

/*
 * Translates a virtual address. QEMU's lookup is slow, so results are cached until the guest
 * changes its translation. Returns false if there is no translation, and for device pages,
 * which are never cached.
 */
static inline bool page_translate(struct timed_core *c, qemu_plugin_meminfo_t info, uint64_t va,
				  uint64_t *pa)
{
	struct timed_page *page = &c->utlb[(va >> 12) & (TIMED_UTLB - 1)];
	struct qemu_plugin_hwaddr *where;

	if (page->virt == (va >> 12) + 1) {
		*pa = page->phys | (va & 4095);
		return true;
	}
	where = qemu_plugin_get_hwaddr(info, va);
	if (!where) {
		*pa = 0;
		return false;
	}
	*pa = qemu_plugin_hwaddr_phys_addr(where);
	if (qemu_plugin_hwaddr_is_io(where))
		return false;
	page->virt = (va >> 12) + 1;
	page->phys = *pa & ~(uint64_t)4095;
	return true;
}

static __attribute__((noinline)) void
device_access(struct timed_core *c, qemu_plugin_meminfo_t info, uint64_t pa, bool store)
{
	c->count.io++;
	c->ns += timed.board.io_ns;
	c->count.stall_ns += timed.board.io_ns;
	if (store && pa) {
		insns_now(c);
		domain_store(c, pa, qemu_plugin_mem_get_value(info).data.u32);
		idle_store(c, pa, qemu_plugin_mem_get_value(info).data.u32);
	}
}

/* Atomic, because other cores clear these entries. */
static inline void line_remember(uint64_t *where, uint64_t line)
{
	__atomic_store_n(where, line, __ATOMIC_RELAXED);
}

static inline void line_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t va,
			       bool store)
{
	struct timed_core *c = &timed.core[cpu];
	uint64_t line = va / BOARD_LINE + 1;
	uint64_t *held = store ? c->held_store : c->held_load;
	uint32_t epoch = atomic_load_explicit(&timed.tlb_epoch, memory_order_relaxed);
	unsigned int place = line % TIMED_HELD;
	uint64_t pa;

	c->count.accesses++;
	if (c->tlb_epoch != epoch) {
		core_forget_pages(c);
		c->tlb_epoch = epoch;
	}
	if (line == __atomic_load_n(store ? &c->last_store : &c->last_load, __ATOMIC_RELAXED))
		return;
	if (__atomic_load_n(&held[place], __ATOMIC_RELAXED) == line) {
		line_remember(store ? &c->last_store : &c->last_load, line);
		return;
	}
	if (!page_translate(c, info, va, &pa)) {
		device_access(c, info, pa, store);
		return;
	}
	if (!c->armed)
		return;
	tlb_access(c, va, pa);
	line_remember(store ? &c->last_store : &c->last_load, line);
	if (cache_access(c, pa, store)) {
		line_remember(&held[place], line);
	} else {
		line_remember(&c->held_load[place], 0);
		line_remember(&c->held_store[place], 0);
	}
	/* Many misses may take longer than a quantum before a chunk of instructions is full. */
	if (c->unpaced_ns > (double)timed.quantum_ns / 2)
		core_synchronize(c);
}

static void on_load(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t va, void *data)
{
	(void)data;
	line_access(cpu, info, va, false);
}

static void on_store(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t va, void *data)
{
	(void)data;
	line_access(cpu, info, va, true);
}

/* The guest changes this core's translation. */
static void on_translation(unsigned int cpu, void *data)
{
	(void)data;
	core_forget_pages(&timed.core[cpu]);
}

/* TLB maintenance is broadcast to all cores. */
static void on_tlb(unsigned int cpu, void *data)
{
	on_translation(cpu, data);
	atomic_fetch_add(&timed.tlb_epoch, 1);
}

static void on_mark(unsigned int cpu, void *data)
{
	struct timed_core *c = &timed.core[cpu];
	unsigned int mark = (unsigned int)(uintptr_t)data;

	insns_now(c);
	if (mark == TIMED_MARK_ARM)
		atomic_store(&timed.armed, true);
	domain_refresh(c);
	trace_put(c, TRACE_MARK, mark, (uint64_t)c->ns);
}

/* Registers callbacks for marks, and for instructions that change the translation. */
static void insn_instrument(struct qemu_plugin_insn *insn)
{
	union {
		uint32_t word;
		uint16_t half[2];
	} code = { 0 };
	size_t size = qemu_plugin_insn_data(insn, &code, sizeof(code));
	uint32_t word;

	if (size != 4)
		return;
	/* dbg #n, in both instruction sets: a hint that no program uses. */
	if ((code.word & 0xfffffff0) == 0xe320f0f0 ||
	    (code.half[0] == 0xf3af && (code.half[1] & 0xfff0) == 0x80f0)) {
		uintptr_t n = code.half[0] == 0xf3af ? code.half[1] & 15 : code.word & 15;

		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)n);
		return;
	}
	/* mcr, mcrr to coprocessor 15; both sets encode them alike */
	word = (code.half[0] & 0xef00) == 0xee00 ? (uint32_t)code.half[0] << 16 | code.half[1] :
						   code.word;
	if ((word & 0x0f100f10) == 0x0e000f10) {
		uint32_t crn = (word >> 16) & 15;
		uint32_t crm = word & 15, opc2 = (word >> 5) & 7;

		if (crn == 8) /* TLB maintenance */
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_tlb, QEMU_PLUGIN_CB_NO_REGS,
							       NULL);
		else if (crn == 1 || crn == 2 || (crn == 13 && crm == 0 && opc2 == 1))
			/* SCTLR, TTBR, CONTEXTIDR */
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_translation,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	} else if ((word & 0x0ff00f0f) == 0x0c400f02) {
		/* 64-bit TTBR */
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_translation, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	}
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							  insns_score, n);
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_chunk, QEMU_PLUGIN_CB_NO_REGS,
						  QEMU_PLUGIN_COND_GE, insns_score, TIMED_CHUNK,
						  NULL);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		insn_instrument(insn);
		qemu_plugin_register_vcpu_mem_cb(insn, on_load, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_R, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, on_store, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
	}
}

void charge_init(uint64_t plugin)
{
	qemu_plugin_register_vcpu_tb_trans_cb(plugin, on_block);
}
