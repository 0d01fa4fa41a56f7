// SPDX-License-Identifier: MIT
/*
 * Compiles data to code: recognises special forms, resolves variables, expands macros. A
 * scope is a list of lists of the names of each closure's variables, the inner ones first.
 *
 * Functions pass positions on the stack instead of values, because values move.
 */
#include "scheme.h"

static void compile_expression(struct vm *vm, size_t scope);

/* Move the top value to @at, and pop all values above it. */
static void stack_settle(struct vm *vm, size_t at)
{
	vm->stack[at] = *top(vm, 0);
	vm->sp = at + 1;
}

static void *form_second(struct vm *vm, size_t at)
{
	const void *form = vm->stack[at];

	if (!value_is(vm, cdr(form), PAIR))
		vm_fail(vm, "a form is too short");
	return car(cdr(form));
}

static bool variable_find(const struct vm *vm, size_t scope, const void *symbol, int64_t *out,
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

static void compile_variable(struct vm *vm, size_t scope, size_t at)
{
	int64_t out, which;

	if (variable_find(vm, scope, vm->stack[at], &out, &which)) {
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

static void compile_constant(struct vm *vm, void *v)
{
	push(vm, v);
	push(vm, vm->small[OP_CONST]);
	push(vm, *top(vm, 1));
	make_vector(vm, 2);
	stack_settle(vm, vm->sp - 2);
}

/*
 * Push the code of each element of the list at @at. Returns the number of values for
 * make_vector(), which includes one below them: the op, or the code of the function.
 */
static size_t compile_parts(struct vm *vm, size_t scope, size_t at)
{
	size_t n = 1;

	for (; value_is(vm, vm->stack[at], PAIR); n++) {
		void *list = vm->stack[at];

		vm->stack[at] = cdr(list);
		push(vm, car(list));
		compile_expression(vm, scope);
	}
	if (n > SMALL)
		vm_fail(vm, "a form of more than %d parts", SMALL);
	return n;
}

/* Replace the list of forms on top of the stack by the code of the sequence. */
static void compile_sequence(struct vm *vm, size_t scope)
{
	const size_t at = vm->sp - 1;
	void *list = vm->stack[at];

	if (list == vm->unit[NIL]) {
		compile_constant(vm, vm->unit[NOTHING]);
	} else if (cdr(list) == vm->unit[NIL]) {
		push(vm, car(list));
		compile_expression(vm, scope);
	} else {
		push_number(vm, OP_SEQUENCE);
		make_vector(vm, compile_parts(vm, scope, at));
	}
	stack_settle(vm, at);
}

static void push_symbol(struct vm *vm, void *name)
{
	if (!value_is(vm, name, SYMBOL))
		vm_fail(vm, "a name is expected");
	push(vm, name);
}

/* If @form is (define ...), push the name that it defines; false: it is another form. */
static bool push_defined(struct vm *vm, const void *form)
{
	void *name;

	if (!value_is(vm, form, PAIR) || car(form) != vm->name[DEFINE] ||
	    !value_is(vm, cdr(form), PAIR))
		return false;
	name = car(cdr(form));
	push_symbol(vm, value_is(vm, name, PAIR) ? car(name) : name);
	return true;
}

static void compile_lambda(struct vm *vm, size_t scope, size_t at)
{
	const size_t inner = vm->sp;
	size_t required, variables;
	void *p = form_second(vm, at);
	bool rest;

	for (; value_is(vm, p, PAIR); p = cdr(p))
		push_symbol(vm, car(p));
	required = vm->sp - inner;
	rest = p != vm->unit[NIL];
	if (rest)
		push_symbol(vm, p);
	for (p = cdr(cdr(vm->stack[at])); value_is(vm, p, PAIR); p = cdr(p))
		push_defined(vm, car(p));
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
	compile_sequence(vm, inner);
	make_vector(vm, 5);
}

/* The value of a definition; of (define (name . p) . body) it is (lambda p . body). */
static void push_value(struct vm *vm, size_t at)
{
	const void *form = vm->stack[at], *name = form_second(vm, at);

	if (value_is(vm, name, PAIR)) {
		push(vm, vm->name[LAMBDA]);
		push(vm, cdr(name));
		push(vm, cdr(cdr(form)));
		make_list(vm, 2);
	} else {
		if (!value_is(vm, cdr(cdr(form)), PAIR))
			vm_fail(vm, "a form is too short");
		push(vm, car(cdr(cdr(form))));
	}
}

static void compile_store(struct vm *vm, size_t scope, size_t at, enum op global)
{
	int64_t out, which;
	size_t n = 2;
	void *name = form_second(vm, at);

	if (value_is(vm, name, PAIR))
		name = car(name);
	if (!value_is(vm, name, SYMBOL))
		vm_fail(vm, "a name is expected");
	if (variable_find(vm, scope, name, &out, &which) && global != OP_MACRO) {
		if (global == OP_DEFINE && out)
			vm_fail(vm, "define within an expression");
		push_number(vm, OP_SET_LOCAL);
		push_number(vm, out);
		push_number(vm, which);
		n = 3;
	} else {
		push_number(vm, global);
		push(vm, name);
	}
	push_value(vm, at);
	compile_expression(vm, scope);
	make_vector(vm, n + 1);
}

static void compile_condition(struct vm *vm, size_t scope, size_t at)
{
	form_second(vm, at);
	vm->stack[at] = cdr(vm->stack[at]);
	push_number(vm, OP_IF);
	switch (compile_parts(vm, scope, at)) {
	case 3:
		compile_constant(vm, vm->unit[NOTHING]);
		break;
	case 4:
		break;
	default:
		vm_fail(vm, "if has a condition and one or two branches");
	}
	make_vector(vm, 4);
}

static bool compile_special(struct vm *vm, size_t scope, size_t at)
{
	const void *head = car(vm->stack[at]);

	if (head == vm->name[QUOTE]) {
		compile_constant(vm, form_second(vm, at));
	} else if (head == vm->name[IF]) {
		compile_condition(vm, scope, at);
	} else if (head == vm->name[DEFINE]) {
		compile_store(vm, scope, at, OP_DEFINE);
	} else if (head == vm->name[SET]) {
		compile_store(vm, scope, at, OP_SET_GLOBAL);
	} else if (head == vm->name[MACRO]) {
		compile_store(vm, scope, at, OP_MACRO);
	} else if (head == vm->name[LAMBDA]) {
		compile_lambda(vm, scope, at);
	} else if (head == vm->name[BEGIN]) {
		push(vm, cdr(vm->stack[at]));
		compile_sequence(vm, scope);
	} else {
		return false;
	}
	return true;
}

/* Call the macro with its unevaluated arguments and compile the result. */
static void compile_macro(struct vm *vm, size_t scope, size_t at)
{
	size_t n = 0;

	push(vm, ((struct symbol *)car(vm->stack[at]))->macro);
	for (void *a = cdr(vm->stack[at]); value_is(vm, a, PAIR); a = cdr(a), n++)
		push(vm, car(a));
	call(vm, n);
	push(vm, vm->val);
	compile_expression(vm, scope);
}

static void compile_expression(struct vm *vm, size_t scope)
{
	const size_t at = vm->sp - 1;
	void *form = vm->stack[at];
	int64_t out, which;
	bool plain;

	if (value_is(vm, form, SYMBOL)) {
		compile_variable(vm, scope, at);
	} else if (!value_is(vm, form, PAIR)) {
		compile_constant(vm, form);
	} else {
		plain = !value_is(vm, car(form), SYMBOL) ||
			variable_find(vm, scope, car(form), &out, &which);
		if (!plain && ((struct symbol *)car(form))->macro) {
			compile_macro(vm, scope, at);
		} else if (plain || !compile_special(vm, scope, at)) {
			push_number(vm, OP_CALL);
			make_vector(vm, compile_parts(vm, scope, at));
		}
	}
	stack_settle(vm, at);
}

void compile(struct vm *vm)
{
	const size_t scope = vm->sp;

	push(vm, vm->unit[NIL]);
	push(vm, vm->stack[scope - 1]);
	compile_expression(vm, scope);
	stack_settle(vm, scope - 1);
}
