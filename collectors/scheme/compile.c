// SPDX-License-Identifier: MIT
/*
 * From data to code: special forms are told apart, variables found, macros expanded. A
 * scope is a list of lists of the names of each closure's variables, the inner ones first.
 *
 * Positions on the stack, not values, are what is handed on: values move.
 */
#include "scheme.h"

static void expression(struct vm *vm, size_t scope);

/* What stands on top stands at @at, and nothing behind it. */
static void settle(struct vm *vm, size_t at)
{
	vm->stack[at] = *top(vm, 0);
	vm->sp = at + 1;
}

static void *second(struct vm *vm, size_t at)
{
	const void *form = vm->stack[at];

	if (!is(vm, cdr(form), PAIR))
		vm_fail(vm, "a form is too short");
	return car(cdr(form));
}

static bool find(const struct vm *vm, size_t scope, const void *symbol, int64_t *out,
		 int64_t *which)
{
	*out = 0;
	for (const void *s = vm->stack[scope]; s != vm->unit[NIL]; s = cdr(s), ++*out) {
		*which = 0;
		for (const void *n = car(s); n != vm->unit[NIL]; n = cdr(n), ++*which)
			if (car(n) == symbol)
				return true;
	}
	return false;
}

static void push_number(struct vm *vm, int64_t n)
{
	push(vm, new_number(vm, n));
}

static void variable(struct vm *vm, size_t scope, size_t at)
{
	int64_t out, which;

	if (find(vm, scope, vm->stack[at], &out, &which)) {
		push_number(vm, OP_LOCAL);
		push_number(vm, out);
		push_number(vm, which);
		make_vector(vm, 3);
	} else {
		push_number(vm, OP_GLOBAL);
		push(vm, vm->stack[at]);
		make_vector(vm, 2);
	}
}

static void constant(struct vm *vm, void *v)
{
	push(vm, v);
	push(vm, vm->small[OP_CONST]);
	push(vm, *top(vm, 1));
	make_vector(vm, 2);
	settle(vm, vm->sp - 2);
}

/* An op that stands on the stack, and behind it the code of each of the list at @at. */
static size_t parts(struct vm *vm, size_t scope, size_t at)
{
	size_t n = 1;

	for (; is(vm, vm->stack[at], PAIR); n++) {
		void *list = vm->stack[at];

		vm->stack[at] = cdr(list);
		push(vm, car(list));
		expression(vm, scope);
	}
	if (n > SMALL)
		vm_fail(vm, "a form of more than %d parts", SMALL);
	return n;
}

/* The list on top of the stack gives way to the code of all of it, one after another. */
static void sequence(struct vm *vm, size_t scope)
{
	const size_t at = vm->sp - 1;
	void *list = vm->stack[at];

	if (list == vm->unit[NIL]) {
		constant(vm, vm->unit[NOTHING]);
	} else if (cdr(list) == vm->unit[NIL]) {
		push(vm, car(list));
		expression(vm, scope);
	} else {
		push_number(vm, OP_SEQUENCE);
		make_vector(vm, parts(vm, scope, at));
	}
	settle(vm, at);
}

static void push_symbol(struct vm *vm, void *name)
{
	if (!is(vm, name, SYMBOL))
		vm_fail(vm, "what is no name stands for one");
	push(vm, name);
}

/* The name that (define ...) gives something, on top of the stack; false: no such form. */
static bool defines(struct vm *vm, const void *form)
{
	void *name;

	if (!is(vm, form, PAIR) || car(form) != vm->name[DEFINE] || !is(vm, cdr(form), PAIR))
		return false;
	name = car(cdr(form));
	push_symbol(vm, is(vm, name, PAIR) ? car(name) : name);
	return true;
}

static void lambda(struct vm *vm, size_t scope, size_t at)
{
	const size_t inner = vm->sp;
	size_t required, variables;
	void *p = second(vm, at);
	bool rest;

	for (; is(vm, p, PAIR); p = cdr(p))
		push_symbol(vm, car(p));
	required = vm->sp - inner;
	rest = p != vm->unit[NIL];
	if (rest)
		push_symbol(vm, p);
	for (p = cdr(cdr(vm->stack[at])); is(vm, p, PAIR); p = cdr(p))
		defines(vm, car(p));
	variables = vm->sp - inner;
	push(vm, vm->unit[NIL]);
	make_list(vm, variables);
	push(vm, vm->stack[scope]);
	make_pair(vm);

	push_number(vm, OP_LAMBDA);
	push_number(vm, (int64_t)required);
	push(vm, rest ? vm->unit[YES] : vm->unit[NO]);
	push_number(vm, (int64_t)variables);
	push(vm, cdr(cdr(vm->stack[at])));
	sequence(vm, inner);
	make_vector(vm, 5);
}

/* (define (name . parameters) . body): the value is (lambda parameters . body). */
static void push_value(struct vm *vm, size_t at)
{
	const void *form = vm->stack[at], *name = second(vm, at);

	if (is(vm, name, PAIR)) {
		push(vm, vm->name[LAMBDA]);
		push(vm, cdr(name));
		push(vm, cdr(cdr(form)));
		make_list(vm, 2);
	} else {
		if (!is(vm, cdr(cdr(form)), PAIR))
			vm_fail(vm, "a form is too short");
		push(vm, car(cdr(cdr(form))));
	}
}

static void store(struct vm *vm, size_t scope, size_t at, enum op global)
{
	int64_t out, which;
	size_t n = 2;
	void *name = second(vm, at);

	if (is(vm, name, PAIR))
		name = car(name);
	if (!is(vm, name, SYMBOL))
		vm_fail(vm, "what is no name stands for one");
	if (find(vm, scope, name, &out, &which) && global != OP_MACRO) {
		if (global == OP_DEFINE && out)
			vm_fail(vm, "define stands within an expression");
		push_number(vm, OP_SET_LOCAL);
		push_number(vm, out);
		push_number(vm, which);
		n = 3;
	} else {
		push_number(vm, global);
		push(vm, name);
	}
	push_value(vm, at);
	expression(vm, scope);
	make_vector(vm, n + 1);
}

static void condition(struct vm *vm, size_t scope, size_t at)
{
	second(vm, at);
	vm->stack[at] = cdr(vm->stack[at]);
	push_number(vm, OP_IF);
	switch (parts(vm, scope, at)) {
	case 3:
		constant(vm, vm->unit[NOTHING]);
		break;
	case 4:
		break;
	default:
		vm_fail(vm, "if has a condition and one or two branches");
	}
	make_vector(vm, 4);
}

static bool special(struct vm *vm, size_t scope, size_t at)
{
	const void *head = car(vm->stack[at]);

	if (head == vm->name[QUOTE]) {
		constant(vm, second(vm, at));
	} else if (head == vm->name[IF]) {
		condition(vm, scope, at);
	} else if (head == vm->name[DEFINE]) {
		store(vm, scope, at, OP_DEFINE);
	} else if (head == vm->name[SET]) {
		store(vm, scope, at, OP_SET_GLOBAL);
	} else if (head == vm->name[MACRO]) {
		store(vm, scope, at, OP_MACRO);
	} else if (head == vm->name[LAMBDA]) {
		lambda(vm, scope, at);
	} else if (head == vm->name[BEGIN]) {
		push(vm, cdr(vm->stack[at]));
		sequence(vm, scope);
	} else {
		return false;
	}
	return true;
}

/* Its arguments as they stand there, and the code of what it makes of them. */
static void expand(struct vm *vm, size_t scope, size_t at)
{
	size_t n = 0;

	push(vm, ((struct symbol *)car(vm->stack[at]))->macro);
	for (void *a = cdr(vm->stack[at]); is(vm, a, PAIR); a = cdr(a), n++)
		push(vm, car(a));
	call(vm, n);
	push(vm, vm->val);
	expression(vm, scope);
}

static void expression(struct vm *vm, size_t scope)
{
	const size_t at = vm->sp - 1;
	void *form = vm->stack[at];
	int64_t out, which;
	bool plain;

	if (is(vm, form, SYMBOL)) {
		variable(vm, scope, at);
	} else if (!is(vm, form, PAIR)) {
		constant(vm, form);
	} else {
		plain = !is(vm, car(form), SYMBOL) || find(vm, scope, car(form), &out, &which);
		if (!plain && ((struct symbol *)car(form))->macro) {
			expand(vm, scope, at);
		} else if (plain || !special(vm, scope, at)) {
			push_number(vm, OP_CALL);
			make_vector(vm, parts(vm, scope, at));
		}
	}
	settle(vm, at);
}

void compile(struct vm *vm)
{
	const size_t scope = vm->sp;

	push(vm, vm->unit[NIL]);
	push(vm, vm->stack[scope - 1]);
	expression(vm, scope);
	settle(vm, scope - 1);
}
