/* SPDX-License-Identifier: MIT */
/*
 * A small Scheme on the bundled collectors: what an embedding of a real language looks
 * like. One heap, one thread, no state outside of struct vm.
 *
 * Every value is an object of the heap, small numbers too. Whatever must outlive an
 * allocation stands on the machine's own stack or in a register, where every plan finds
 * and may move it; what C keeps in a variable is good until the next call that allocates.
 */
#ifndef SCHEME_H
#define SCHEME_H

#include <gchint/gc.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STACK  (1u << 20) /* values */
#define SMALL  1024 /* numbers below it are one object each */
#define BUCKET 512 /* of the table of symbols */

enum kind {
	PAIR,
	SYMBOL,
	NUMBER,
	CHARACTER,
	STRING,
	VECTOR,
	CLOSURE,
	PRIMITIVE,
	CONTINUATION,
	UNIT, /* one of a kind: true, the empty list, ... */
	KINDS
};

struct pair {
	struct gc_header header;
	void *car, *cdr;
};

struct symbol {
	struct gc_header header;
	void *value; /* the global of that name; NULL: none */
	void *name; /* a string */
	void *next; /* in its bucket; a symbol without a name that is read has none */
	void *macro; /* what expands it, or NULL */
};

struct number { /* also a character, and which primitive or unit */
	struct gc_header header;
	int64_t value;
};

struct string {
	struct gc_header header;
	char text[];
};

struct vector {
	struct gc_header header;
	void *item[];
};

struct closure {
	struct gc_header header;
	void *code, *env;
};

struct continuation {
	struct gc_header header;
	void *stack; /* a vector */
	int64_t depth;
};

enum unit {
	NIL,
	YES,
	NO,
	NOTHING,
	END,
	UNITS
};
enum name {
	QUOTE,
	QUASI,
	UNQUOTE,
	SPLICE,
	IF,
	DEFINE,
	SET,
	LAMBDA,
	BEGIN,
	MACRO,
	NAMES
};

/**
 * struct vm - the machine
 * @val: what was evaluated last
 * @env: variables of the closure that runs: a vector, the outer ones first
 * @code: what is evaluated, as the compiler left it
 * @unit: the empty list, true, ...
 * @depth: runs within each other
 */
struct vm {
	struct gc_heap *heap;
	struct gc_mutator *m;
	const struct gc_type *type[KINDS];
	void *val, *env, *code; /* these to @bucket are roots */
	void *unit[UNITS];
	void *name[NAMES];
	void *small[SMALL];
	void *bucket[BUCKET];
	void **stack;
	size_t sp;
	int64_t depth, fresh;
	jmp_buf failed;
	char error[256];
	FILE *in;
	const char *text; /* read instead of @in, if not NULL */
};

/* ---- values: value.c ---- */

int vm_open(struct vm *vm, const char *options);
void vm_close(struct vm *vm);
/* The program is wrong: to where vm->failed was set. */
_Noreturn void vm_fail(struct vm *vm, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline bool is(const struct vm *vm, const void *v, enum kind kind)
{
	const uint64_t type = 0xffffff00;

	return (((const struct gc_header *)v)->word & type) == (vm->type[kind]->word & type);
}

static inline void *car(const void *pair)
{
	return ((const struct pair *)pair)->car;
}

static inline void *cdr(const void *pair)
{
	return ((const struct pair *)pair)->cdr;
}

static inline int64_t value(const void *number)
{
	return ((const struct number *)number)->value;
}

static inline void **item(void *vector)
{
	return ((struct vector *)vector)->item;
}

void push(struct vm *vm, void *v);
void *pop(struct vm *vm);
/* The n-th value from the top of the stack, from 0. */
void **top(struct vm *vm, size_t n);

/* These take what they are made of from the top of the stack, and leave themselves there. */
void make_pair(struct vm *vm); /* of car, then cdr */
void make_list(struct vm *vm, size_t n); /* of n values, then what is behind the last */
void make_vector(struct vm *vm, size_t n);
void make_closure(struct vm *vm); /* of code, then env */
/* These return what they make, and leave the stack alone. */
void *new_vector(struct vm *vm, size_t n); /* all NULL */
void *new_number(struct vm *vm, int64_t n);
void *new_character(struct vm *vm, int64_t c);
void *new_string(struct vm *vm, size_t length);
void *new_primitive(struct vm *vm, int64_t which);
void *new_continuation(struct vm *vm, size_t depth);
/* The symbol of that name; a fresh one that no text can name. */
void *intern(struct vm *vm, const char *name, size_t length);
void *gensym(struct vm *vm);

/* ---- text: text.c ---- */

/* The next datum onto the stack; vm->unit[END] behind the last. */
void read_datum(struct vm *vm);
/* With quotes and backslashes, so that it can be read again. */
void print(struct vm *vm, const void *v, bool quoted, FILE *out);

/* ---- compile.c, run.c, primitive.c ---- */

enum op {
	OP_CONST, /* value */
	OP_LOCAL, /* how far out, which */
	OP_GLOBAL, /* symbol */
	OP_SET_LOCAL, /* how far out, which, code */
	OP_SET_GLOBAL, /* symbol, code */
	OP_DEFINE, /* symbol, code */
	OP_MACRO, /* symbol, code */
	OP_IF, /* three codes */
	OP_LAMBDA, /* parameters, is there one for the rest, variables, code */
	OP_SEQUENCE, /* codes, at least one */
	OP_CALL, /* code of the function, codes of its arguments */
};

/* The datum on top of the stack gives way to its code: a vector, an op first. */
void compile(struct vm *vm);
/* Takes code from the top of the stack and evaluates it outside of all closures: vm->val. */
void run(struct vm *vm);
/* Calls the function below the @n arguments on top of the stack; pops all; vm->val. */
void call(struct vm *vm, size_t n);
/* All of a text or file. */
void load(struct vm *vm, FILE *in, const char *text);

enum special {
	ORDINARY,
	APPLY,
	CALLCC
};

void primitives(struct vm *vm);
/* What primitive @which makes of its @n arguments on top of the stack; or @special is set. */
void *primitive(struct vm *vm, int64_t which, size_t n, enum special *special);

extern const char prelude[];

#endif /* SCHEME_H */
