// SPDX-License-Identifier: MIT
/* Procedures that are written in C. Arguments stay on the stack while a primitive allocates. */
#include <string.h>

#include "scheme.h"

typedef void *function(struct vm *vm, void **a, size_t n);

/* Most primitives have a fixed number of arguments and do not use @n. */
#define PRIMITIVE(name)                                                                            \
	static void *primitive_##name(struct vm *vm, __attribute__((unused)) void **a,             \
				      __attribute__((unused)) size_t n)

static void *boolean_of(const struct vm *vm, bool b)
{
	return vm->unit[b ? YES : NO];
}

static void type_check(struct vm *vm, const void *v, enum kind kind, const char *what)
{
	if (!value_is(vm, v, kind))
		vm_fail(vm, "%s is expected", what);
}

static int64_t number_of(struct vm *vm, const void *v)
{
	type_check(vm, v, NUMBER, "a number");
	return number_value(v);
}

/* ---- numbers ---- */

PRIMITIVE(add)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, number_of(vm, a[i]), &sum))
			vm_fail(vm, "a number of more than 64 bits");
	return new_number(vm, sum);
}

PRIMITIVE(subtract)
{
	int64_t sum = n > 1 ? number_of(vm, a[0]) : 0;

	for (size_t i = n > 1; i < n; i++)
		if (__builtin_sub_overflow(sum, number_of(vm, a[i]), &sum))
			vm_fail(vm, "a number of more than 64 bits");
	return new_number(vm, sum);
}

PRIMITIVE(multiply)
{
	int64_t product = 1;

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(product, number_of(vm, a[i]), &product))
			vm_fail(vm, "a number of more than 64 bits");
	return new_number(vm, product);
}

static int64_t divisor_of(struct vm *vm, void **a)
{
	if (!number_of(vm, a[1]) || (number_of(vm, a[0]) == INT64_MIN && number_value(a[1]) == -1))
		vm_fail(vm, "a division by zero, or of more than 64 bits");
	return number_value(a[1]);
}

PRIMITIVE(quotient)
{
	const int64_t by = divisor_of(vm, a);

	return new_number(vm, number_value(a[0]) / by);
}

PRIMITIVE(remainder_of)
{
	const int64_t by = divisor_of(vm, a);

	return new_number(vm, number_value(a[0]) % by);
}

PRIMITIVE(equals)
{
	return boolean_of(vm, number_of(vm, a[0]) == number_of(vm, a[1]));
}

PRIMITIVE(less)
{
	return boolean_of(vm, number_of(vm, a[0]) < number_of(vm, a[1]));
}

/* ---- types and equality ---- */

static bool values_same(const struct vm *vm, const void *a, const void *b)
{
	for (enum kind kind = NUMBER; kind <= CHARACTER; kind++)
		if (value_is(vm, a, kind) && value_is(vm, b, kind))
			return number_value(a) == number_value(b);
	return a == b;
}

static bool values_alike(const struct vm *vm, const void *a, const void *b)
{
	for (; value_is(vm, a, PAIR) && value_is(vm, b, PAIR); a = cdr(a), b = cdr(b))
		if (!values_alike(vm, car(a), car(b)))
			return false;
	if (value_is(vm, a, STRING) && value_is(vm, b, STRING))
		return gc_length(a) == gc_length(b) &&
		       !memcmp(((const struct string *)a)->text, ((const struct string *)b)->text,
			       gc_length(a));
	if (value_is(vm, a, VECTOR) && value_is(vm, b, VECTOR) && gc_length(a) == gc_length(b)) {
		const struct vector *x = a, *y = b;

		for (uint32_t i = 0; i < gc_length(a); i++)
			if (!values_alike(vm, x->item[i], y->item[i]))
				return false;
		return true;
	}
	return values_same(vm, a, b);
}

PRIMITIVE(is_same)
{
	return boolean_of(vm, values_same(vm, a[0], a[1]));
}

PRIMITIVE(is_alike)
{
	return boolean_of(vm, values_alike(vm, a[0], a[1]));
}

#define KIND(name, test)                                                                           \
	PRIMITIVE(name)                                                                            \
	{                                                                                          \
		return boolean_of(vm, test);                                                       \
	}

KIND(is_pair, value_is(vm, a[0], PAIR))
KIND(is_null, a[0] == vm->unit[NIL])
KIND(is_symbol, value_is(vm, a[0], SYMBOL))
KIND(is_number, value_is(vm, a[0], NUMBER))
KIND(is_character, value_is(vm, a[0], CHARACTER))
KIND(is_string, value_is(vm, a[0], STRING))
KIND(is_vector, value_is(vm, a[0], VECTOR))
KIND(is_boolean, a[0] == vm->unit[YES] || a[0] == vm->unit[NO])
KIND(is_procedure, value_is(vm, a[0], CLOSURE) || value_is(vm, a[0], PRIMITIVE) ||
			   value_is(vm, a[0], CONTINUATION))

/* ---- pairs ---- */

PRIMITIVE(cons)
{
	push(vm, a[0]);
	push(vm, a[1]);
	make_pair(vm);
	return pop(vm);
}

PRIMITIVE(car_of)
{
	type_check(vm, a[0], PAIR, "a pair");
	return car(a[0]);
}

PRIMITIVE(cdr_of)
{
	type_check(vm, a[0], PAIR, "a pair");
	return cdr(a[0]);
}

PRIMITIVE(set_car)
{
	type_check(vm, a[0], PAIR, "a pair");
	gc_write(vm->m, a[0], &((struct pair *)a[0])->car, a[1]);
	return vm->unit[NOTHING];
}

PRIMITIVE(set_cdr)
{
	type_check(vm, a[0], PAIR, "a pair");
	gc_write(vm->m, a[0], &((struct pair *)a[0])->cdr, a[1]);
	return vm->unit[NOTHING];
}

/* ---- vectors ---- */

PRIMITIVE(vector)
{
	for (size_t i = 0; i < n; i++)
		push(vm, a[i]);
	make_vector(vm, n);
	return pop(vm);
}

PRIMITIVE(make_vector_of)
{
	const int64_t length = number_of(vm, a[0]);
	void *made;

	if (length < 0)
		vm_fail(vm, "a vector of %lld", (long long)length);
	made = new_vector(vm, (size_t)length);
	for (int64_t i = 0; i < length; i++)
		gc_init(&vector_items(made)[i], n > 1 ? a[1] : vm->small[0]);
	return made;
}

static uint32_t index_within(struct vm *vm, const void *i, uint32_t length)
{
	if (number_of(vm, i) < 0 || number_value(i) >= length)
		vm_fail(vm, "%lld is outside of 0 to %lld", (long long)number_value(i),
			(long long)length - 1);
	return (uint32_t)number_value(i);
}

PRIMITIVE(vector_ref)
{
	type_check(vm, a[0], VECTOR, "a vector");
	return vector_items(a[0])[index_within(vm, a[1], gc_length(a[0]))];
}

PRIMITIVE(vector_set)
{
	type_check(vm, a[0], VECTOR, "a vector");
	gc_write_element(vm->m, a[0], vector_items(a[0]), index_within(vm, a[1], gc_length(a[0])),
			 a[2]);
	return vm->unit[NOTHING];
}

PRIMITIVE(vector_length)
{
	type_check(vm, a[0], VECTOR, "a vector");
	return new_number(vm, gc_length(a[0]));
}

/* ---- text ---- */

PRIMITIVE(string_length)
{
	type_check(vm, a[0], STRING, "a string");
	return new_number(vm, gc_length(a[0]));
}

PRIMITIVE(string_ref)
{
	type_check(vm, a[0], STRING, "a string");
	return new_character(vm, (unsigned char)((struct string *)a[0])
					 ->text[index_within(vm, a[1], gc_length(a[0]))]);
}

PRIMITIVE(string_append)
{
	struct string *made;
	size_t length = 0;

	for (size_t i = 0; i < n; i++) {
		type_check(vm, a[i], STRING, "a string");
		length += gc_length(a[i]);
	}
	made = new_string(vm, length);
	length = 0;
	for (size_t i = 0; i < n; length += gc_length(a[i++]))
		memcpy(made->text + length, ((struct string *)a[i])->text, gc_length(a[i]));
	return made;
}

PRIMITIVE(substring)
{
	uint32_t from, to;
	struct string *made;

	type_check(vm, a[0], STRING, "a string");
	to = index_within(vm, a[2], gc_length(a[0]) + 1);
	from = index_within(vm, a[1], to + 1);
	made = new_string(vm, to - from);
	memcpy(made->text, ((struct string *)a[0])->text + from, to - from);
	return made;
}

PRIMITIVE(number_to_string)
{
	char text[32];
	struct string *made;

	n = (size_t)snprintf(text, sizeof(text), "%lld", (long long)number_of(vm, a[0]));
	made = new_string(vm, n);
	memcpy(made->text, text, n);
	return made;
}

PRIMITIVE(symbol_to_string)
{
	type_check(vm, a[0], SYMBOL, "a symbol");
	return ((struct symbol *)a[0])->name;
}

PRIMITIVE(string_to_symbol)
{
	char text[256];

	type_check(vm, a[0], STRING, "a string");
	if (gc_length(a[0]) > sizeof(text))
		vm_fail(vm, "a name of more than %zu bytes", sizeof(text));
	/* Copied, because interning allocates and may move the string. */
	memcpy(text, ((struct string *)a[0])->text, gc_length(a[0]));
	return intern(vm, text, gc_length(a[0]));
}

PRIMITIVE(display)
{
	print(vm, a[0], false, stdout);
	return vm->unit[NOTHING];
}

PRIMITIVE(write_out)
{
	print(vm, a[0], true, stdout);
	return vm->unit[NOTHING];
}

PRIMITIVE(newline)
{
	putchar('\n');
	return vm->unit[NOTHING];
}

/* ---- the program itself ---- */

PRIMITIVE(fail)
{
	FILE *text = fmemopen(vm->error, sizeof(vm->error), "w");

	for (size_t i = 0; text && i < n; i++) {
		if (i)
			putc(' ', text);
		print(vm, a[i], i > 0, text);
	}
	if (text)
		fclose(text);
	longjmp(vm->failed, 1);
}

PRIMITIVE(fresh_symbol)
{
	return gensym(vm);
}

PRIMITIVE(evaluate)
{
	push(vm, a[0]);
	compile(vm);
	run(vm);
	return vm->val;
}

PRIMITIVE(collect)
{
	gc_collect_full(vm->m);
	return vm->unit[NOTHING];
}

#define ANY 255

static const struct {
	const char *name;
	uint8_t least, most;
	enum special special;
	function *run;
} table[] = {
	{ "*", 0, ANY, ORDINARY, primitive_multiply },
	{ "+", 0, ANY, ORDINARY, primitive_add },
	{ "-", 1, ANY, ORDINARY, primitive_subtract },
	{ "<", 2, 2, ORDINARY, primitive_less },
	{ "=", 2, 2, ORDINARY, primitive_equals },
	{ "apply", 2, ANY, APPLY, NULL },
	{ "boolean?", 1, 1, ORDINARY, primitive_is_boolean },
	{ "call/cc", 1, 1, CALLCC, NULL },
	{ "car", 1, 1, ORDINARY, primitive_car_of },
	{ "cdr", 1, 1, ORDINARY, primitive_cdr_of },
	{ "char?", 1, 1, ORDINARY, primitive_is_character },
	{ "collect", 0, 0, ORDINARY, primitive_collect },
	{ "cons", 2, 2, ORDINARY, primitive_cons },
	{ "display", 1, 1, ORDINARY, primitive_display },
	{ "eq?", 2, 2, ORDINARY, primitive_is_same },
	{ "equal?", 2, 2, ORDINARY, primitive_is_alike },
	{ "eqv?", 2, 2, ORDINARY, primitive_is_same },
	{ "error", 1, ANY, ORDINARY, primitive_fail },
	{ "eval", 1, 1, ORDINARY, primitive_evaluate },
	{ "gensym", 0, 0, ORDINARY, primitive_fresh_symbol },
	{ "make-vector", 1, 2, ORDINARY, primitive_make_vector_of },
	{ "newline", 0, 0, ORDINARY, primitive_newline },
	{ "null?", 1, 1, ORDINARY, primitive_is_null },
	{ "number->string", 1, 1, ORDINARY, primitive_number_to_string },
	{ "number?", 1, 1, ORDINARY, primitive_is_number },
	{ "pair?", 1, 1, ORDINARY, primitive_is_pair },
	{ "procedure?", 1, 1, ORDINARY, primitive_is_procedure },
	{ "quotient", 2, 2, ORDINARY, primitive_quotient },
	{ "remainder", 2, 2, ORDINARY, primitive_remainder_of },
	{ "set-car!", 2, 2, ORDINARY, primitive_set_car },
	{ "set-cdr!", 2, 2, ORDINARY, primitive_set_cdr },
	{ "string->symbol", 1, 1, ORDINARY, primitive_string_to_symbol },
	{ "string-append", 0, ANY, ORDINARY, primitive_string_append },
	{ "string-length", 1, 1, ORDINARY, primitive_string_length },
	{ "string-ref", 2, 2, ORDINARY, primitive_string_ref },
	{ "string?", 1, 1, ORDINARY, primitive_is_string },
	{ "substring", 3, 3, ORDINARY, primitive_substring },
	{ "symbol->string", 1, 1, ORDINARY, primitive_symbol_to_string },
	{ "symbol?", 1, 1, ORDINARY, primitive_is_symbol },
	{ "vector", 0, ANY, ORDINARY, primitive_vector },
	{ "vector-length", 1, 1, ORDINARY, primitive_vector_length },
	{ "vector-ref", 2, 2, ORDINARY, primitive_vector_ref },
	{ "vector-set!", 3, 3, ORDINARY, primitive_vector_set },
	{ "vector?", 1, 1, ORDINARY, primitive_is_vector },
	{ "write", 1, 1, ORDINARY, primitive_write_out },
};

void primitives(struct vm *vm)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct symbol *symbol;

		push(vm, intern(vm, table[i].name, strlen(table[i].name)));
		vm->val = new_primitive(vm, (int64_t)i);
		symbol = pop(vm);
		gc_write(vm->m, symbol, &symbol->value, vm->val);
	}
}

void *primitive(struct vm *vm, int64_t which, size_t n, enum special *special)
{
	if (n < table[which].least || (n > table[which].most && table[which].most != ANY))
		vm_fail(vm, "%s: %zu arguments are not accepted", table[which].name, n);
	*special = table[which].special;
	return table[which].run ? table[which].run(vm, top(vm, n - 1), n) : NULL;
}
