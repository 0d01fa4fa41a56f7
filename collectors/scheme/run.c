// SPDX-License-Identifier: MIT
/*
 * The machine. What a value is waited for stands on its stack in frames of four: code and
 * variables to go on with, how far that is, and what is to be done. So a call in the last
 * place takes no room, and a continuation is a copy of the stack.
 */
#include <string.h>

#include "scheme.h"

#define FRAME 4 /* values */

enum frame {
	F_DONE,
	F_IF,
	F_SEQUENCE,
	F_ARGUMENT,
	F_STORE
};
enum state {
	EVALUATE,
	APPLIED,
	RETURN,
	DONE
};

static void save(struct vm *vm, int64_t i, enum frame frame)
{
	push(vm, vm->code);
	push(vm, vm->env);
	push(vm, vm->small[i]);
	push(vm, vm->small[frame]);
}

static void *place(const struct vm *vm, void **code)
{
	void *env = vm->env;

	for (int64_t out = value(code[1]); out; out--)
		env = item(env)[0];
	return env;
}

static enum state local(struct vm *vm, void **code)
{
	vm->val = item(place(vm, code))[1 + value(code[2])];
	if (!vm->val)
		vm_fail(vm, "a variable is used before it is defined");
	return RETURN;
}

static enum state global(struct vm *vm, const struct symbol *symbol)
{
	const struct string *name = symbol->name;

	vm->val = symbol->value;
	if (!vm->val)
		vm_fail(vm, "%.*s is not defined", (int)gc_length(name), name->text);
	return RETURN;
}

static enum state evaluate(struct vm *vm)
{
	void **code = item(vm->code);

	switch ((enum op)value(code[0])) {
	case OP_CONST:
		vm->val = code[1];
		return RETURN;
	case OP_LOCAL:
		return local(vm, code);
	case OP_GLOBAL:
		return global(vm, code[1]);
	case OP_SET_LOCAL:
	case OP_SET_GLOBAL:
	case OP_DEFINE:
	case OP_MACRO:
		if (value(code[0]) == OP_SET_GLOBAL)
			global(vm, code[1]);
		save(vm, 0, F_STORE);
		vm->code = code[gc_length(vm->code) - 1];
		return EVALUATE;
	case OP_IF:
		save(vm, 1, F_IF);
		break;
	case OP_LAMBDA:
		push(vm, vm->code);
		push(vm, vm->env);
		make_closure(vm);
		vm->val = pop(vm);
		return RETURN;
	case OP_SEQUENCE:
		save(vm, 1, F_SEQUENCE);
		break;
	case OP_CALL:
		save(vm, 1, F_ARGUMENT);
		break;
	}
	vm->code = code[1];
	return EVALUATE;
}

static void store(struct vm *vm)
{
	void **code = item(vm->code);
	struct symbol *symbol = code[1];
	void *env;

	switch (value(code[0])) {
	case OP_SET_LOCAL:
		env = place(vm, code);
		gc_write(vm->m, env, &item(env)[1 + value(code[2])], vm->val);
		break;
	case OP_MACRO:
		gc_write(vm->m, symbol, &symbol->macro, vm->val);
		break;
	default:
		gc_write(vm->m, symbol, &symbol->value, vm->val);
	}
	vm->val = vm->unit[NOTHING];
}

/* There is a value: who waits for it? */
static enum state give_back(struct vm *vm, size_t *n)
{
	const enum frame frame = (enum frame)value(pop(vm));
	int64_t i = value(pop(vm)), parts;
	void **code;

	vm->env = pop(vm);
	vm->code = pop(vm);
	if (frame == F_DONE)
		return DONE;
	code = item(vm->code);
	parts = gc_length(vm->code);
	switch (frame) {
	case F_IF:
		vm->code = code[vm->val != vm->unit[NO] ? 2 : 3];
		return EVALUATE;
	case F_SEQUENCE:
		if (++i < parts - 1)
			save(vm, i, F_SEQUENCE);
		vm->code = code[i];
		return EVALUATE;
	case F_ARGUMENT:
		push(vm, vm->val);
		if (++i == parts) {
			*n = (size_t)parts - 1;
			return APPLIED;
		}
		save(vm, i, F_ARGUMENT);
		vm->code = code[i];
		return EVALUATE;
	default:
		store(vm);
		return RETURN;
	}
}

static enum state enter(struct vm *vm, size_t n)
{
	struct closure *closure = *top(vm, n);
	void **lambda = item(closure->code), *frame;
	const size_t required = (size_t)value(lambda[1]);
	const size_t variables = (size_t)value(lambda[3]);

	if (n < required || (n > required && lambda[2] == vm->unit[NO]))
		vm_fail(vm, "%zu arguments where %zu are wanted", n, required);
	if (lambda[2] == vm->unit[YES]) {
		push(vm, vm->unit[NIL]);
		make_list(vm, n - required);
		n = required + 1;
	}
	frame = new_vector(vm, 1 + variables);
	closure = *top(vm, n);
	gc_init(&item(frame)[0], closure->env);
	for (size_t i = 0; i < n; i++)
		gc_init(&item(frame)[1 + i], *top(vm, n - 1 - i));
	vm->env = frame;
	vm->code = item(closure->code)[4];
	vm->sp -= n + 1;
	return EVALUATE;
}

static enum state resume(struct vm *vm, const struct continuation *k, size_t n)
{
	void *v = *top(vm, 0);

	if (n != 1 || k->depth != vm->depth)
		vm_fail(vm, n != 1 ? "a continuation takes one value" :
				     "a continuation of another run");
	vm->sp = gc_length(k->stack);
	memcpy(vm->stack, item(k->stack), vm->sp * sizeof(void *));
	vm->val = v;
	return RETURN;
}

/* (apply f a ... list): the list's members are arguments as well. */
static enum state spread(struct vm *vm, size_t *n)
{
	void *list;

	memmove(top(vm, *n - 1), top(vm, *n - 2), (*n - 1) * sizeof(void *));
	vm->sp--;
	list = pop(vm);
	for (*n -= 2; is(vm, list, PAIR); list = cdr(list), ++*n)
		push(vm, car(list));
	return APPLIED;
}

/* Of the @n values on top of the stack the lowest is called with the others. */
static enum state apply(struct vm *vm, size_t *n)
{
	enum special special = ORDINARY;
	void *f = *top(vm, *n - 1);

	if (is(vm, f, CLOSURE))
		return enter(vm, *n - 1);
	if (is(vm, f, CONTINUATION))
		return resume(vm, f, *n - 1);
	if (!is(vm, f, PRIMITIVE))
		vm_fail(vm, "what is no procedure is called");
	f = primitive(vm, value(f), *n - 1, &special);
	switch (special) {
	case APPLY:
		return spread(vm, n);
	case CALLCC:
		f = new_continuation(vm, vm->sp - 2);
		*top(vm, 1) = *top(vm, 0);
		*top(vm, 0) = f;
		return APPLIED;
	default:
		vm->val = f;
		vm->sp -= *n;
		return RETURN;
	}
}

static void execute(struct vm *vm, enum state state, size_t n)
{
	vm->depth++;
	while (state != DONE)
		switch (state) {
		case EVALUATE:
			state = evaluate(vm);
			break;
		case APPLIED:
			state = apply(vm, &n);
			break;
		default:
			state = give_back(vm, &n);
		}
	vm->depth--;
}

void run(struct vm *vm)
{
	void *code = pop(vm);

	/* It is in a register before anything can move it. */
	save(vm, 0, F_DONE);
	vm->code = code;
	vm->env = vm->unit[NIL];
	execute(vm, EVALUATE, 0);
}

void call(struct vm *vm, size_t n)
{
	const size_t at = vm->sp - n - 1;

	save(vm, 0, F_DONE);
	/* What is to go on with stands below what is called. */
	for (size_t i = 0; i < n + 1; i++)
		push(vm, vm->stack[at + i]);
	memmove(&vm->stack[at], &vm->stack[at + n + 1], (n + 1 + FRAME) * sizeof(void *));
	vm->sp -= n + 1;
	execute(vm, APPLIED, n + 1);
}

void load(struct vm *vm, FILE *in, const char *text)
{
	vm->in = in;
	vm->text = text;
	vm->sp = 0;
	vm->depth = 0;
	for (;;) {
		read_datum(vm);
		if (*top(vm, 0) == vm->unit[END])
			break;
		compile(vm);
		run(vm);
	}
	pop(vm);
}
