/* SPDX-License-Identifier: MIT */
/*
 * A small Scheme on the bundled collectors: an example of how to embed them in a real
 * language. One heap, one thread, no state outside of struct vm.
 *
 * Every value is an object of the heap, even small numbers. A value that must survive an
 * allocation has to be on the machine's own stack or in a register of struct vm, where
 * every plan finds it and may move it. A C variable is valid until the next call that allocates.
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
#define SMALL  1024 /* numbers below it are preallocated */
#define BUCKET 512 /* buckets of the table of symbols */

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
	UNIT, /* the singletons of enum unit: true, the empty list, ... */
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
	void *next; /* in its bucket; symbols of gensym() are in none */
	void *macro; /* the closure that expands it, or NULL */
};

struct number { /* also a character, and the index of a primitive or a unit */
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
 * @val: the value that was evaluated last
 * @env: variables of the closure that runs: a vector, the outer ones first
 * @code: compiled code that is being evaluated
 * @unit: the empty list, true, ...
 * @depth: depth of nested runs
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
/* Report an error of the program: sets vm->error and jumps to vm->failed. */
_Noreturn void vm_fail(struct vm *vm, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline bool value_is(const struct vm *vm, const void *v, enum kind kind)
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

static inline int64_t number_value(const void *number)
{
	return ((const struct number *)number)->value;
}

static inline void **vector_items(void *vector)
{
	return ((struct vector *)vector)->item;
}

void push(struct vm *vm, void *v);
void *pop(struct vm *vm);
/* The n-th value from the top of the stack, from 0. */
void **top(struct vm *vm, size_t n);

/* These pop their parts, which were pushed in that order, and push the new object. */
void make_pair(struct vm *vm); /* of car, then cdr */
void make_list(struct vm *vm, size_t n); /* of n values, then the tail, NIL for a proper list */
void make_vector(struct vm *vm, size_t n);
void make_closure(struct vm *vm); /* of code, then env */
/* These return the new object and leave the stack unchanged. */
void *new_vector(struct vm *vm, size_t n); /* all NULL */
void *new_number(struct vm *vm, int64_t n);
void *new_character(struct vm *vm, int64_t c);
void *new_string(struct vm *vm, size_t length);
void *new_primitive(struct vm *vm, int64_t which);
void *new_continuation(struct vm *vm, size_t depth);
/* The symbol of that name */
void *intern(struct vm *vm, const char *name, size_t length);
/* A new symbol that differs from all symbols that are read */
void *gensym(struct vm *vm);

/* ---- text: text.c ---- */

/* Push the next datum, or vm->unit[END] after the last one. */
void read_datum(struct vm *vm);
/* @quoted: with quotes and backslashes, so that it can be read again */
void print(struct vm *vm, const void *v, bool quoted, FILE *out);

/* ---- compile.c, run.c, primitive.c ---- */

enum op {
	OP_CONST, /* value */
	OP_LOCAL, /* number of closures outwards, index */
	OP_GLOBAL, /* symbol */
	OP_SET_LOCAL, /* number of closures outwards, index, code */
	OP_SET_GLOBAL, /* symbol, code */
	OP_DEFINE, /* symbol, code */
	OP_MACRO, /* symbol, code */
	OP_IF, /* three codes */
	OP_LAMBDA, /* number of parameters, is there a rest parameter, number of variables, code */
	OP_SEQUENCE, /* codes, at least one */
	OP_CALL, /* code of the function, codes of its arguments */
};

/* Replace the datum on top of the stack by its code: a vector that begins with an op. */
void compile(struct vm *vm);
/* Pop code and evaluate it outside of all closures; the result is in vm->val. */
void run(struct vm *vm);
/* Pop @n arguments and the function below them, and call it; the result is in vm->val. */
void call(struct vm *vm, size_t n);
/* Evaluate all forms of @text, or of @in if @text is NULL. */
void load(struct vm *vm, FILE *in, const char *text);

enum special {
	ORDINARY,
	APPLY,
	CALLCC
};

void primitives(struct vm *vm);
/*
 * The result of primitive @which for the @n arguments on top of the stack. Sets @special for
 * primitives that the machine itself has to run; their result is NULL.
 */
void *primitive(struct vm *vm, int64_t which, size_t n, enum special *special);

extern const char prelude[];

#endif /* SCHEME_H */
