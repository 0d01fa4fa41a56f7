// SPDX-License-Identifier: MIT
/*
 * The machine. Its stack holds continuation frames of four values: code and variables to
 * continue with, the position in the code, and the type of the frame. So a tail call takes no
 * stack, and a continuation is a copy of the stack.
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

static void frame_save(struct vm *vm, int64_t i, enum frame frame)
{
	push(vm, vm->code);
	push(vm, vm->env);
	push(vm, vm->small[i]);
	push(vm, vm->small[frame]);
}

static void *variable_env(const struct vm *vm, void **code)
{
	void *env = vm->env;

	for (int64_t out = number_value(code[1]); out; out--)
		env = vector_items(env)[0];
	return env;
}

static enum state load_local(struct vm *vm, void **code)
{
	vm->val = vector_items(variable_env(vm, code))[1 + number_value(code[2])];
	if (!vm->val)
		vm_fail(vm, "a variable is used before it is defined");
	return RETURN;
}

static enum state load_global(struct vm *vm, const struct symbol *symbol)
{
	const struct string *name = symbol->name;

	vm->val = symbol->value;
	if (!vm->val)
		vm_fail(vm, "%.*s is not defined", (int)gc_length(name), name->text);
	return RETURN;
}

static enum state code_evaluate(struct vm *vm)
{
	void **code = vector_items(vm->code);

	switch ((enum op)number_value(code[0])) {
	case OP_CONST:
		vm->val = code[1];
		return RETURN;
	case OP_LOCAL:
		return load_local(vm, code);
	case OP_GLOBAL:
		return load_global(vm, code[1]);
	case OP_SET_LOCAL:
	case OP_SET_GLOBAL:
	case OP_DEFINE:
	case OP_MACRO:
		if (number_value(code[0]) == OP_SET_GLOBAL)
			load_global(vm, code[1]);
		frame_save(vm, 0, F_STORE);
		vm->code = code[gc_length(vm->code) - 1];
		return EVALUATE;
	case OP_IF:
		frame_save(vm, 1, F_IF);
		break;
	case OP_LAMBDA:
		push(vm, vm->code);
		push(vm, vm->env);
		make_closure(vm);
		vm->val = pop(vm);
		return RETURN;
	case OP_SEQUENCE:
		frame_save(vm, 1, F_SEQUENCE);
		break;
	case OP_CALL:
		frame_save(vm, 1, F_ARGUMENT);
		break;
	}
	vm->code = code[1];
	return EVALUATE;
}

static void variable_store(struct vm *vm)
{
	void **code = vector_items(vm->code);
	struct symbol *symbol = code[1];
	void *env;

	switch (number_value(code[0])) {
	case OP_SET_LOCAL:
		env = variable_env(vm, code);
		gc_write_element(vm->m, env, vector_items(env), 1 + number_value(code[2]), vm->val);
		break;
	case OP_MACRO:
		gc_write(vm->m, symbol, &symbol->macro, vm->val);
		break;
	default:
		gc_write(vm->m, symbol, &symbol->value, vm->val);
	}
	vm->val = vm->unit[NOTHING];
}

/* Pop the topmost frame and continue it with the value in vm->val. */
static enum state value_return(struct vm *vm, size_t *n)
{
	const enum frame frame = (enum frame)number_value(pop(vm));
	int64_t i = number_value(pop(vm)), parts;
	void **code;

	vm->env = pop(vm);
	vm->code = pop(vm);
	if (frame == F_DONE)
		return DONE;
	code = vector_items(vm->code);
	parts = gc_length(vm->code);
	switch (frame) {
	case F_IF:
		vm->code = code[vm->val != vm->unit[NO] ? 2 : 3];
		return EVALUATE;
	case F_SEQUENCE:
		if (++i < parts - 1)
			frame_save(vm, i, F_SEQUENCE);
		vm->code = code[i];
		return EVALUATE;
	case F_ARGUMENT:
		push(vm, vm->val);
		if (++i == parts) {
			*n = (size_t)parts - 1;
			return APPLIED;
		}
		frame_save(vm, i, F_ARGUMENT);
		vm->code = code[i];
		return EVALUATE;
	default:
		variable_store(vm);
		return RETURN;
	}
}

static enum state closure_enter(struct vm *vm, size_t n)
{
	struct closure *closure = *top(vm, n);
	void **lambda = vector_items(closure->code), *frame;
	const size_t required = (size_t)number_value(lambda[1]);
	const size_t variables = (size_t)number_value(lambda[3]);

	if (n < required || (n > required && lambda[2] == vm->unit[NO]))
		vm_fail(vm, "%zu arguments instead of %zu", n, required);
	if (lambda[2] == vm->unit[YES]) {
		push(vm, vm->unit[NIL]);
		make_list(vm, n - required);
		n = required + 1;
	}
	frame = new_vector(vm, 1 + variables);
	closure = *top(vm, n);
	gc_init(&vector_items(frame)[0], closure->env);
	for (size_t i = 0; i < n; i++)
		gc_init(&vector_items(frame)[1 + i], *top(vm, n - 1 - i));
	vm->env = frame;
	vm->code = vector_items(closure->code)[4];
	vm->sp -= n + 1;
	return EVALUATE;
}

static enum state continuation_resume(struct vm *vm, const struct continuation *k, size_t n)
{
	void *v = *top(vm, 0);

	if (n != 1 || k->depth != vm->depth)
		vm_fail(vm, n != 1 ? "a continuation takes one value" :
				     "a continuation of another run");
	vm->sp = gc_length(k->stack);
	memcpy(vm->stack, vector_items(k->stack), vm->sp * sizeof(void *));
	vm->val = v;
	return RETURN;
}

/* (apply f a ... list): push the elements of the list as arguments. */
static enum state arguments_spread(struct vm *vm, size_t *n)
{
	void *list;

	memmove(top(vm, *n - 1), top(vm, *n - 2), (*n - 1) * sizeof(void *));
	vm->sp--;
	list = pop(vm);
	for (*n -= 2; value_is(vm, list, PAIR); list = cdr(list), ++*n)
		push(vm, car(list));
	return APPLIED;
}

/* Call the lowest of the @n values on top of the stack with the others as arguments. */
static enum state function_apply(struct vm *vm, size_t *n)
{
	enum special special = ORDINARY;
	void *f = *top(vm, *n - 1);

	if (value_is(vm, f, CLOSURE))
		return closure_enter(vm, *n - 1);
	if (value_is(vm, f, CONTINUATION))
		return continuation_resume(vm, f, *n - 1);
	if (!value_is(vm, f, PRIMITIVE))
		vm_fail(vm, "the called value is not a procedure");
	f = primitive(vm, number_value(f), *n - 1, &special);
	switch (special) {
	case APPLY:
		return arguments_spread(vm, n);
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

static void vm_execute(struct vm *vm, enum state state, size_t n)
{
	vm->depth++;
	while (state != DONE)
		switch (state) {
		case EVALUATE:
			state = code_evaluate(vm);
			break;
		case APPLIED:
			state = function_apply(vm, &n);
			break;
		default:
			state = value_return(vm, &n);
		}
	vm->depth--;
}

void run(struct vm *vm)
{
	void *code = pop(vm);

	/* frame_save() does not allocate, so the code cannot move before it is in vm->code. */
	frame_save(vm, 0, F_DONE);
	vm->code = code;
	vm->env = vm->unit[NIL];
	vm_execute(vm, EVALUATE, 0);
}

void call(struct vm *vm, size_t n)
{
	const size_t at = vm->sp - n - 1;

	frame_save(vm, 0, F_DONE);
	/* The frame was pushed above the function and its arguments: exchange them. */
	for (size_t i = 0; i < n + 1; i++)
		push(vm, vm->stack[at + i]);
	memmove(&vm->stack[at], &vm->stack[at + n + 1], (n + 1 + FRAME) * sizeof(void *));
	vm->sp -= n + 1;
	vm_execute(vm, APPLIED, n + 1);
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
