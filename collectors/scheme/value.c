// SPDX-License-Identifier: MIT
/* The interface to the heap: types of objects, allocation, roots. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "scheme.h"

#define REF(type, field) (1ull << (offsetof(struct type, field) / sizeof(void *)))

static const struct gc_type_desc kinds[KINDS] = {
	[PAIR] = { .name = "pair",
		   .size = sizeof(struct pair),
		   .refs = REF(pair, car) | REF(pair, cdr) },
	[SYMBOL] = { .name = "symbol",
		     .size = sizeof(struct symbol),
		     .refs = REF(symbol, value) | REF(symbol, name) | REF(symbol, next) |
			     REF(symbol, macro) },
	[NUMBER] = { .name = "number", .size = sizeof(struct number) },
	[CHARACTER] = { .name = "character", .size = sizeof(struct number) },
	[STRING] = { .name = "string",
		     .size = sizeof(struct string),
		     .tail = GC_TAIL_DATA,
		     .elem_size = 1 },
	[VECTOR] = { .name = "vector", .size = sizeof(struct vector), .tail = GC_TAIL_REFS },
	[CLOSURE] = { .name = "closure",
		      .size = sizeof(struct closure),
		      .refs = REF(closure, code) | REF(closure, env) },
	[PRIMITIVE] = { .name = "primitive", .size = sizeof(struct number) },
	[CONTINUATION] = { .name = "continuation",
			   .size = sizeof(struct continuation),
			   .refs = REF(continuation, stack) },
	[UNIT] = { .name = "unit", .size = sizeof(struct number) },
};

static const char *const names[NAMES] = { "quote", "quasiquote",  "unquote", "unquote-splicing",
					  "if",	   "define",	  "set!",    "lambda",
					  "begin", "define-macro" };

_Noreturn void vm_fail(struct vm *vm, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(vm->error, sizeof(vm->error), format, args);
	va_end(args);
	longjmp(vm->failed, 1);
}

void push(struct vm *vm, void *v)
{
	if (vm->sp == STACK)
		vm_fail(vm, "recursion too deep: more than %u values on the stack", STACK);
	vm->stack[vm->sp++] = v;
}

void *pop(struct vm *vm)
{
	return vm->stack[--vm->sp];
}

void **top(struct vm *vm, size_t n)
{
	return &vm->stack[vm->sp - 1 - n];
}

static void *object_check(struct vm *vm, void *object)
{
	if (!object)
		vm_fail(vm, "out of memory: %s",
			gc_refused(vm->m) == GC_REFUSED_SIZE ? "larger than the heap may be" :
							       "raise max= of the heap");
	return object;
}

static void *new_value(struct vm *vm, enum kind kind, int64_t v)
{
	struct number *number = object_check(vm, GC_NEW(vm->m, vm->type[kind], struct number));

	number->value = v;
	return number;
}

void *new_number(struct vm *vm, int64_t n)
{
	return n >= 0 && n < SMALL ? vm->small[n] : new_value(vm, NUMBER, n);
}

void *new_character(struct vm *vm, int64_t c)
{
	return new_value(vm, CHARACTER, c);
}

void *new_primitive(struct vm *vm, int64_t which)
{
	return new_value(vm, PRIMITIVE, which);
}

void *new_string(struct vm *vm, size_t length)
{
	if (length > UINT32_MAX)
		vm_fail(vm, "a string of %zu bytes", length);
	return object_check(vm, gc_alloc_array(vm->m, vm->type[STRING], (uint32_t)length));
}

void *new_vector(struct vm *vm, size_t n)
{
	if (n > UINT32_MAX)
		vm_fail(vm, "a vector of %zu", n);
	return object_check(vm, gc_alloc_array(vm->m, vm->type[VECTOR], (uint32_t)n));
}

void make_pair(struct vm *vm)
{
	struct pair *pair = object_check(vm, GC_NEW(vm->m, vm->type[PAIR], struct pair));

	gc_init(&pair->cdr, pop(vm));
	gc_init(&pair->car, pop(vm));
	push(vm, pair);
}

void make_list(struct vm *vm, size_t n)
{
	while (n--)
		make_pair(vm);
}

void make_vector(struct vm *vm, size_t n)
{
	void *vector = new_vector(vm, n);

	for (size_t i = n; i-- > 0;)
		gc_init(&vector_items(vector)[i], pop(vm));
	push(vm, vector);
}

void make_closure(struct vm *vm)
{
	struct closure *closure =
		object_check(vm, GC_NEW(vm->m, vm->type[CLOSURE], struct closure));

	gc_init(&closure->env, pop(vm));
	gc_init(&closure->code, pop(vm));
	push(vm, closure);
}

/* Captures the stack below @depth. */
void *new_continuation(struct vm *vm, size_t depth)
{
	struct continuation *k;
	void *vector = new_vector(vm, depth);

	for (size_t i = 0; i < depth; i++)
		gc_init(&vector_items(vector)[i], vm->stack[i]);
	push(vm, vector);
	k = object_check(vm, GC_NEW(vm->m, vm->type[CONTINUATION], struct continuation));
	gc_init(&k->stack, pop(vm));
	k->depth = vm->depth;
	return k;
}

static void *new_symbol(struct vm *vm, const char *name, size_t length)
{
	struct string *string = new_string(vm, length);
	struct symbol *symbol;

	memcpy(string->text, name, length);
	push(vm, string);
	symbol = object_check(vm, GC_NEW(vm->m, vm->type[SYMBOL], struct symbol));
	gc_init(&symbol->name, pop(vm));
	return symbol;
}

void *intern(struct vm *vm, const char *name, size_t length)
{
	unsigned int hash = 5381;
	struct symbol *symbol;
	void **bucket;

	for (size_t i = 0; i < length; i++)
		hash = hash * 33 + (unsigned char)name[i];
	bucket = &vm->bucket[hash % BUCKET];
	for (symbol = *bucket; symbol; symbol = symbol->next) {
		const struct string *its = symbol->name;

		if (gc_length(its) == length && !memcmp(its->text, name, length))
			return symbol;
	}
	symbol = new_symbol(vm, name, length);
	gc_init(&symbol->next, *bucket);
	*bucket = symbol;
	return symbol;
}

void *gensym(struct vm *vm)
{
	char name[32];
	int length = snprintf(name, sizeof(name), "g%lld", (long long)vm->fresh++);

	return new_symbol(vm, name, (size_t)length);
}

static void visit_stack(gc_visit_fn visit, void *visit_arg, void *arg)
{
	struct vm *vm = arg;

	for (size_t i = 0; i < vm->sp; i++)
		visit(&vm->stack[i], visit_arg);
}

static int open_heap(struct vm *vm, const char *options)
{
	struct gc_error err = { -ENOMEM, "no memory" };

	if (gc_heap_create(&vm->heap, options, NULL, &err)) {
		fprintf(stderr, "scheme: %s\n", err.text);
		return err.code;
	}
	for (int i = 0; i < KINDS; i++) {
		vm->type[i] = gc_type_register(vm->heap, &kinds[i], &err);
		if (!vm->type[i])
			return err.code;
	}
	vm->stack = calloc(STACK, sizeof(*vm->stack));
	if (!vm->stack || gc_mutator_attach(vm->heap, &vm->m))
		return -ENOMEM;
	gc_mutator_roots_callback(vm->m, visit_stack, vm);
	return gc_roots_add(vm->heap, (void **)((char *)vm + offsetof(struct vm, val)),
			    (offsetof(struct vm, stack) - offsetof(struct vm, val)) /
				    sizeof(void *));
}

int vm_open(struct vm *vm, const char *options)
{
	int ret;

	memset(vm, 0, sizeof(*vm));
	ret = open_heap(vm, options);
	if (ret || setjmp(vm->failed)) {
		vm_close(vm);
		return ret ? ret : -ENOMEM;
	}
	for (int i = 0; i < SMALL; i++)
		vm->small[i] = new_value(vm, NUMBER, i);
	for (int i = 0; i < UNITS; i++)
		vm->unit[i] = new_value(vm, UNIT, i);
	for (int i = 0; i < NAMES; i++)
		vm->name[i] = intern(vm, names[i], strlen(names[i]));
	primitives(vm);
	load(vm, NULL, prelude);
	return 0;
}

void vm_close(struct vm *vm)
{
	if (vm->m)
		gc_mutator_detach(vm->m);
	if (vm->heap)
		gc_heap_destroy(vm->heap);
	free(vm->stack);
}
