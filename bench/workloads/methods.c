// SPDX-License-Identifier: MIT
/*
 * An interpreter: methods of bytecodes call each other. It reports the running method to a
 * profiler through the tunnel of methods, or does not, and names methods when it loads them, at
 * each call, or never. In addition to bytecodes, methods run native code and allocate objects.
 */
#include "workloads/workload.h"

#include <errno.h>
#include <gchint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ADD,
	XOR,
	SHIFT,
	CODES
};

enum names {
	NAMES_NONE,
	NAMES_LOAD,
	NAMES_INVOKE
};

struct method {
	unsigned char *code;
	uintptr_t address;
	char name[40];
};

struct node {
	HEAP_HEADER
	struct node *next;
	uint64_t number;
};

struct methods {
	const struct heap_type *node;
	uint64_t methods, calls, bytecodes, native, objects, live, tunnel;
	enum names names;
	bool own;
};

/* The state of a run outside the heap. All code is contiguous, as that of a file is. */
struct machine {
	const struct methods *m;
	struct method *method;
	unsigned char *code, *from, *to;
	uint64_t accumulator, made;
};

static const struct setting settings[] = {
	{ "address", "own", "address of a method: own (unique) or code (where its code is)" },
	{ "bytecodes", "1000", "length of a method" },
	{ "calls", "100000", "calls of methods" },
	{ "live", "0", "objects that are allocated at the start and stay live" },
	{ "methods", "64", "number of methods" },
	{ "names", "load", "when methods are named: load, invoke (each call) or none" },
	{ "native", "0", "bytes that the C library moves per call" },
	{ "objects", "0", "objects that a call allocates" },
	{ "tunnel", "1", "1: report the running method to a profiler; 0: do not" },
	{ NULL, NULL, NULL },
};

/* The index of a setting's value among @words, or -EINVAL. */
static int one_of(struct bench *b, const char *key, const char *const *word, int words,
		  struct settings_error *err)
{
	const char *value = settings_text(&b->settings, key);

	for (int i = 0; i < words; i++)
		if (!strcmp(value, word[i]))
			return i;
	snprintf(err->text, sizeof(err->text), "%s: not '%.40s'; --help lists what it may be", key,
		 value);
	return -EINVAL;
}

static void method_name(const struct methods *m, struct method *one, uintptr_t address)
{
	one->address = gchint_symbol_add(address, m->own ? 1 : m->bytecodes, one->name);
}

static void methods_unload(struct machine *vm)
{
	free(vm->method);
	free(vm->code);
	free(vm->from);
	free(vm->to);
}

static int methods_load(struct machine *vm)
{
	const struct methods *m = vm->m;

	vm->method = calloc(m->methods, sizeof(*vm->method));
	vm->code = malloc(m->methods * m->bytecodes);
	vm->from = calloc(1, m->native + 1);
	vm->to = calloc(1, m->native + 1);
	if (!vm->method || !vm->code || !vm->from || !vm->to)
		return -ENOMEM;
	for (uint64_t i = 0; i < m->methods; i++) {
		struct method *one = &vm->method[i];

		one->code = vm->code + i * m->bytecodes;
		for (uint64_t k = 0; k < m->bytecodes; k++)
			one->code[k] = (unsigned char)((i * 7 + k) % CODES);
		snprintf(one->name, sizeof(one->name), "method%u (methods.c:%u)", (unsigned int)i,
			 (unsigned int)i + 1);
		one->address = (uintptr_t)one->code;
		if (m->names == NAMES_LOAD)
			method_name(m, one, m->own ? 0 : one->address);
	}
	return 0;
}

/* noinline: a profiler of instructions sees all methods in this one loop. */
static __attribute__((noinline)) void method_interpret(struct machine *vm, const struct method *one)
{
	const unsigned char *pc = one->code, *end = pc + vm->m->bytecodes;
	uint64_t x = vm->accumulator;

	for (; pc < end; pc++) {
		switch (*pc) {
		case ADD:
			x += (uintptr_t)(pc - vm->code) + 1;
			break;
		case XOR:
			x ^= x << 7;
			break;
		case SHIFT:
			x ^= x >> 9;
			break;
		}
	}
	vm->accumulator = x;
}

static int methods_prepare(struct bench *b, struct settings_error *err)
{
	static const char *const names[] = { "none", "load", "invoke" }, *const address[] = {
		"own", "code"
	};
	const struct heap_kind node = {
		.name = "node",
		.size = sizeof(struct node),
		.refs = HEAP_REF(struct node, next),
	};
	struct methods *m = calloc(1, sizeof(*m));
	int code, which, where;

	b->state = m;
	if (!m)
		return -ENOMEM;
	which = one_of(b, "names", names, 3, err);
	where = which < 0 ? which : one_of(b, "address", address, 2, err);
	if (where < 0)
		return where;
	m->names = (enum names)which;
	m->own = !where;
	if ((code = settings_size(&b->settings, "methods", 1, 100000, &m->methods, err)) ||
	    (code = settings_size(&b->settings, "calls", 1, UINT32_MAX, &m->calls, err)) ||
	    (code = settings_size(&b->settings, "bytecodes", 1, 1 << 20, &m->bytecodes, err)) ||
	    (code = settings_size(&b->settings, "native", 0, 1 << 24, &m->native, err)) ||
	    (code = settings_size(&b->settings, "objects", 0, 1 << 16, &m->objects, err)) ||
	    (code = settings_size(&b->settings, "live", 0, UINT32_MAX, &m->live, err)) ||
	    (code = settings_size(&b->settings, "tunnel", 0, 1, &m->tunnel, err)))
		return code;
	b->threads = 1;
	b->steps_total = m->calls;
	m->node = workload_type(b, &node, err);
	return m->node ? 0 : -ENOMEM;
}

/* Objects that die at once; false when the heap is full. */
static bool allocate_dead(struct machine *vm, struct heap_thread *t)
{
	for (uint64_t i = 0; i < vm->m->objects; i++) {
		struct node *node = HEAP_NEW(t, vm->m->node, struct node);

		if (!node)
			return false;
		node->number = ++vm->made;
	}
	return true;
}

/* Objects that stay, each of which refers to the one before; false when the heap is full. */
static bool allocate_live(struct machine *vm, struct heap_thread *t, struct node **last)
{
	for (uint64_t i = 0; i < vm->m->live; i++) {
		struct node *node = HEAP_NEW(t, vm->m->node, struct node);

		if (!node)
			return false;
		heap_init((void **)&node->next, *last);
		node->number = i;
		*last = node;
	}
	return true;
}

static bool all_live(const struct methods *m, const struct node *last)
{
	uint64_t i = m->live;

	while (last && i && last->number == i - 1) {
		last = last->next;
		i--;
	}
	return !last && !i;
}

static bool method_call(struct machine *vm, struct heap_thread *t)
{
	const struct methods *m = vm->m;
	struct method *one = &vm->method[vm->accumulator % m->methods];
	uintptr_t outer = 0;
	bool good;

	if (m->names == NAMES_INVOKE)
		method_name(m, one,
			    m->own && one->address == (uintptr_t)one->code ? 0 : one->address);
	if (m->tunnel)
		outer = gchint_method_enter(one->address);
	method_interpret(vm, one);
	memmove(vm->to, vm->from, m->native);
	good = allocate_dead(vm, t);
	if (m->tunnel)
		gchint_method_leave(outer);
	return good;
}

static int methods_run(struct bench *b, struct heap_thread *t, int index)
{
	struct machine vm = { .m = b->state };
	struct totals totals = { 0 };
	struct {
		struct heap_frame head;
		struct node *last;
	} f;
	int code = methods_load(&vm);

	(void)index;
	HEAP_PUSH(t, f);
	if (!code && !allocate_live(&vm, t, &f.last))
		code = -ENOMEM;
	for (uint64_t i = 0; !code && i < vm.m->calls; i++) {
		code = method_call(&vm, t) ? 0 : -ENOMEM;
		heap_poll(t);
		bench_step(b);
	}
	if (!code && !all_live(vm.m, f.last))
		code = -EILSEQ;
	HEAP_POP(t, f);
	totals.objects = vm.made + vm.m->live;
	totals.bytes = totals.objects * sizeof(struct node);
	totals.checksum = vm.accumulator | 1;
	totals_merge(&totals, b);
	methods_unload(&vm);
	return code;
}

const struct workload workload_methods = {
	.name = "methods",
	.summary = "an interpreter that reports the running method to a profiler, or does not",
	.stresses = "the cost of reporting, and what a profile shows",
	.settings = settings,
	.prepare = methods_prepare,
	.run = methods_run,
};
