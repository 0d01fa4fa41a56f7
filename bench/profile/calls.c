// SPDX-License-Identifier: MIT
/*
 * calls CALLS WORK [LOG] - an interpreter that calls methods of WORK bytecodes each, and
 * prints the CPU time that it took, in ns. It reports which method runs
 *
 *	as it is built		not at all
 *	-DTUNNEL		by a store, and names methods when they are loaded
 *	-DLOG			by a line in the file LOG at each call, as a profiler without a
 *				tunnel must; buffered
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gchint.h>

#define METHODS 64

enum {
	ADD,
	XOR,
	SHIFT,
	CALL,
	OPS
};

struct method {
	const unsigned char *code;
	uintptr_t address;
	char name[32];
};

struct vm {
	struct method method[METHODS];
	uint64_t accumulator, calls;
	unsigned int work;
	FILE *log;
};

static void method_run(struct vm *vm, unsigned int which);

static void method_interpret(struct vm *vm, const struct method *m, unsigned int which)
{
	const unsigned char *pc = m->code, *end = pc + vm->work;

	for (; pc < end; pc++) {
		switch (*pc) {
		case ADD:
			vm->accumulator += which + 1;
			break;
		case XOR:
			vm->accumulator ^= vm->accumulator << 7;
			break;
		case SHIFT:
			vm->accumulator ^= vm->accumulator >> 9;
			break;
		case CALL:
			if (vm->calls)
				method_run(vm, (which + 1 + (unsigned int)(vm->accumulator & 7)) %
						       METHODS);
			break;
		}
	}
}

static void method_run(struct vm *vm, unsigned int which)
{
	const struct method *m = &vm->method[which];
#ifdef TUNNEL
	uintptr_t outer = gchint_method_enter(m->address);
#endif

	vm->calls--;
#ifdef LOG
	fprintf(vm->log, "%" PRIxPTR " %x %s\n", (uintptr_t)m->code, vm->work, m->name);
#endif
	method_interpret(vm, m, which);
#ifdef TUNNEL
	gchint_method_leave(outer);
#endif
}

/* Each method contains one call, except the first half, which are leaves. */
static void methods_load(struct vm *vm)
{
	for (unsigned int i = 0; i < METHODS; i++) {
		unsigned char *code = malloc(vm->work);

		if (!code)
			exit(1);
		for (unsigned int k = 0; k < vm->work; k++)
			code[k] = (unsigned char)((i * 7 + k) % CALL);
		if (i >= METHODS / 2)
			code[vm->work / 2] = CALL;
		vm->method[i].code = code;
		snprintf(vm->method[i].name, sizeof(vm->method[i].name), "method%u (calls.c:%u)", i,
			 i);
#ifdef TUNNEL
		vm->method[i].address = gchint_symbol_add(0, 0, vm->method[i].name);
#endif
	}
}

int main(int argc, char **argv)
{
	struct vm vm = { .calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000,
			 .work = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 100 };
	struct timespec cpu;

	if (!vm.work)
		return 2;
	gchint_init(0);
	vm.log = argc > 3 ? fopen(argv[3], "we") : stderr;
	if (!vm.log)
		return 1;
	methods_load(&vm);
	while (vm.calls)
		method_run(&vm, (unsigned int)(vm.accumulator % METHODS));
	fflush(vm.log);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("%lld\n", (long long)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
	fprintf(stderr, "%" PRIu64 "\n", vm.accumulator);
	return 0;
}
