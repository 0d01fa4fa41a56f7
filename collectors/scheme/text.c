// SPDX-License-Identifier: MIT
/* Reads data from text, and prints it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scheme.h"

#define WORD 256 /* bytes of a name or a number */

static int char_next(struct vm *vm)
{
	if (!vm->text)
		return getc(vm->in);
	return *vm->text ? (unsigned char)*vm->text++ : EOF;
}

static int char_peek(struct vm *vm)
{
	int c;

	if (vm->text)
		return *vm->text ? (unsigned char)*vm->text : EOF;
	c = getc(vm->in);
	ungetc(c, vm->in);
	return c;
}

static bool ends_word(int c)
{
	return c == EOF || isspace(c) || strchr("()\";'`,", c);
}

/* Skip blanks and comments; returns the next character without consuming it. */
static int datum_begin(struct vm *vm)
{
	for (;;) {
		int c = char_peek(vm);

		if (c == ';')
			while (c != '\n' && c != EOF)
				c = char_next(vm);
		else if (c != EOF && isspace(c))
			char_next(vm);
		else
			return c;
	}
}

static size_t read_word(struct vm *vm, char *word, size_t n)
{
	while (!ends_word(char_peek(vm))) {
		if (n == WORD - 1)
			vm_fail(vm, "a name of more than %d bytes", WORD - 1);
		word[n++] = (char)char_next(vm);
	}
	word[n] = '\0';
	return n;
}

static void read_any(struct vm *vm);

/* Was a single dot read? */
static bool is_dot(struct vm *vm)
{
	return *top(vm, 0) == vm->unit[NOTHING];
}

static void read_list(struct vm *vm)
{
	size_t n = 0;
	int c;

	while ((c = datum_begin(vm)) != ')') {
		if (c == EOF)
			vm_fail(vm, "a list does not end");
		read_any(vm);
		/* The datum after a dot is the tail of the list. */
		if (is_dot(vm)) {
			if (!n)
				vm_fail(vm, "a dot with nothing before it");
			pop(vm);
			read_datum(vm);
			if (datum_begin(vm) != ')')
				vm_fail(vm, "more than one datum behind a dot");
			char_next(vm);
			make_list(vm, n);
			return;
		}
		n++;
	}
	char_next(vm);
	push(vm, vm->unit[NIL]);
	make_list(vm, n);
}

static void read_string(struct vm *vm)
{
	size_t n = 0, room = 64;
	char *text = malloc(room);
	struct string *string;
	int c = EOF;

	while (text && (c = char_next(vm)) != '"' && c != EOF) {
		if (c == '\\') {
			c = char_next(vm);
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		if (n == room) {
			char *more = realloc(text, room *= 2);

			if (!more)
				free(text);
			text = more;
		}
		if (text)
			text[n++] = (char)c;
	}
	if (!text || c == EOF) {
		free(text);
		vm_fail(vm, text ? "a string does not end" : "no memory for a string");
	}
	string = gc_alloc_array(vm->m, vm->type[STRING], (uint32_t)n);
	if (string)
		memcpy(string->text, text, n);
	free(text);
	if (!string)
		vm_fail(vm, "out of memory");
	push(vm, string);
}

static void read_hash(struct vm *vm)
{
	static const struct {
		const char *name;
		char c;
	} named[] = { { "\\space", ' ' }, { "\\newline", '\n' }, { "\\tab", '\t' } };
	char word[WORD];
	size_t n = 0;

	if (char_peek(vm) == '(') {
		char_next(vm);
		read_list(vm);
		for (void *list = pop(vm); list != vm->unit[NIL]; list = cdr(list), n++) {
			if (!value_is(vm, list, PAIR))
				vm_fail(vm, "a dot in a vector");
			push(vm, car(list));
		}
		make_vector(vm, n);
		return;
	}
	if (char_peek(vm) == '\\') {
		word[n++] = (char)char_next(vm);
		word[n++] = (char)char_next(vm);
	}
	n = read_word(vm, word, n);
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (!strcmp(word, named[i].name)) {
			push(vm, new_character(vm, named[i].c));
			return;
		}
	if (n == 2 && word[0] == '\\')
		push(vm, new_character(vm, (unsigned char)word[1]));
	else if (!strcmp(word, "t") || !strcmp(word, "f"))
		push(vm, *word == 't' ? vm->unit[YES] : vm->unit[NO]);
	else
		vm_fail(vm, "#%s is nothing", word);
}

static void read_quoted(struct vm *vm, enum name name)
{
	push(vm, vm->name[name]);
	read_datum(vm);
	push(vm, vm->unit[NIL]);
	make_list(vm, 2);
}

static void read_atom(struct vm *vm)
{
	char word[WORD], *end;
	size_t n = read_word(vm, word, 0);
	long long number = strtoll(word, &end, 10);

	if (!strcmp(word, "."))
		push(vm, vm->unit[NOTHING]);
	else if (!*end && end != word)
		push(vm, new_number(vm, number));
	else
		push(vm, intern(vm, word, n));
}

/* Reads a datum or a dot. */
static void read_any(struct vm *vm)
{
	int c = datum_begin(vm);

	if (c == EOF) {
		push(vm, vm->unit[END]);
		return;
	}
	if (!strchr("()\"#'`,", c)) {
		read_atom(vm);
		return;
	}
	char_next(vm);
	if (c == '(')
		read_list(vm);
	else if (c == '"')
		read_string(vm);
	else if (c == '#')
		read_hash(vm);
	else if (c == '\'' || c == '`')
		read_quoted(vm, c == '`' ? QUASI : QUOTE);
	else if (c == ')')
		vm_fail(vm, "a ) that ends nothing");
	else if (char_peek(vm) == '@' && char_next(vm))
		read_quoted(vm, SPLICE);
	else
		read_quoted(vm, UNQUOTE);
}

void read_datum(struct vm *vm)
{
	read_any(vm);
	if (is_dot(vm))
		vm_fail(vm, "a dot outside a list");
}

static void print_string(const struct string *s, bool quoted, FILE *out)
{
	if (quoted)
		putc('"', out);
	for (uint32_t i = 0; i < gc_length(s); i++) {
		if (quoted && (s->text[i] == '"' || s->text[i] == '\\'))
			putc('\\', out);
		if (quoted && s->text[i] == '\n')
			fputs("\\n", out);
		else
			putc(s->text[i], out);
	}
	if (quoted)
		putc('"', out);
}

static void print_list(struct vm *vm, const void *v, bool quoted, FILE *out)
{
	char between = '(';

	for (; value_is(vm, v, PAIR); v = cdr(v), between = ' ') {
		putc(between, out);
		print(vm, car(v), quoted, out);
	}
	if (v != vm->unit[NIL]) {
		fputs(" . ", out);
		print(vm, v, quoted, out);
	}
	putc(')', out);
}

static void print_vector(struct vm *vm, const void *v, bool quoted, FILE *out)
{
	const struct vector *vector = v;

	fputs("#(", out);
	for (uint32_t i = 0; i < gc_length(v); i++) {
		if (i)
			putc(' ', out);
		print(vm, vector->item[i], quoted, out);
	}
	putc(')', out);
}

void print(struct vm *vm, const void *v, bool quoted, FILE *out)
{
	static const char *const units[] = { "()", "#t", "#f", "#nothing", "#end" };

	if (value_is(vm, v, PAIR))
		print_list(vm, v, quoted, out);
	else if (value_is(vm, v, VECTOR))
		print_vector(vm, v, quoted, out);
	else if (value_is(vm, v, STRING))
		print_string(v, quoted, out);
	else if (value_is(vm, v, SYMBOL))
		print_string(((const struct symbol *)v)->name, false, out);
	else if (value_is(vm, v, NUMBER))
		fprintf(out, "%lld", (long long)number_value(v));
	else if (value_is(vm, v, CHARACTER))
		fprintf(out, quoted ? "#\\%c" : "%c", (int)number_value(v));
	else if (value_is(vm, v, UNIT))
		fputs(units[number_value(v)], out);
	else
		fputs("#procedure", out);
}
