// SPDX-License-Identifier: MIT
/*
 * A plugin of QEMU that counts instructions: those between the entry of a
 * kernel function and its return, with all that it calls.
 *
 *	qemu-system-x86_64 -plugin count.so,out=FILE,profile=FILE ...
 *
 * The guest selects the functions and the time: it runs no-operations that no other
 * program uses, each with one byte in it. The bytes form lines:
 *
 *	symbol NAME ADDRESS	count this function from now on
 *	section NAME		a section begins; the one before ends
 *	section			no section: nothing is counted
 *
 * A call adds one to the depth and a return subtracts one: below zero the
 * function has returned. Thunks that end in a return for a jump are entered by
 * a call, so the balance holds. A function that was interrupted for long, or
 * switched out, is abandoned after LOST instructions and only counted as lost.
 *
 * The result: lines of "SECTION SYMBOL CALLS LOST MEAN MEDIAN P99".
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu-plugin-api.h"

#define CPUS	64
#define SYMBOLS 16
#define LINE	160
#define LOST	200000

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_API;

struct symbol {
	char name[64];
	uint64_t address;
};

/* What the last instruction of a block does to the depth. */
struct block {
	uint64_t address;
	unsigned int insns;
	int step;
	uint64_t profiled;
};

struct cpu {
	char line[LINE];
	unsigned int used;
	int symbol; /* that is being counted, -1 none */
	int depth;
	uint64_t insns;
};

/* The calls of one symbol in one section. */
struct series {
	struct series *next;
	char section[64];
	int symbol;
	uint32_t *insns;
	size_t n, room;
	uint64_t lost;
};

/* Guards all data that is not private to a CPU. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct symbol symbols[SYMBOLS];
static int nr_symbols;
static char section[64];
static bool open_section;
static struct series *all, **last = &all;
static struct cpu cpus[CPUS];
static const char *out_path, *profile_path;

static struct block **blocks;
static size_t nr_blocks, room_blocks;

static void *array_grow(void *old, size_t n, size_t *room, size_t size)
{
	void *new;

	if (n < *room)
		return old;
	*room = *room ? 2 * *room : 1024;
	new = realloc(old, *room * size);
	if (!new) {
		perror("count");
		exit(1);
	}
	return new;
}

static struct series *series_of(int symbol)
{
	struct series *s;

	for (s = all; s; s = s->next)
		if (s->symbol == symbol && !strcmp(s->section, section))
			return s;
	s = calloc(1, sizeof(*s));
	if (!s) {
		perror("count");
		exit(1);
	}
	snprintf(s->section, sizeof(s->section), "%s", section);
	s->symbol = symbol;
	*last = s;
	last = &s->next;
	return s;
}

static void section_finish(struct cpu *c, bool whole)
{
	struct series *s;

	pthread_mutex_lock(&lock);
	if (open_section) {
		s = series_of(c->symbol);
		if (whole) {
			s->insns = array_grow(s->insns, s->n, &s->room, sizeof(*s->insns));
			s->insns[s->n++] = c->insns;
		} else {
			s->lost++;
		}
	}
	pthread_mutex_unlock(&lock);
	c->symbol = -1;
}

static void line_interpret(const char *line)
{
	struct symbol new;
	unsigned long long address;

	pthread_mutex_lock(&lock);
	if (sscanf(line, "symbol %63s %llx", new.name, &address) == 2 && nr_symbols < SYMBOLS) {
		new.address = address;
		symbols[nr_symbols] = new;
		__atomic_store_n(&nr_symbols, nr_symbols + 1, __ATOMIC_RELEASE);
	} else if (!strncmp(line, "section", 7)) {
		snprintf(section, sizeof(section), "%.63s", line[7] ? line + 8 : "");
		__atomic_store_n(&open_section, section[0] != '\0', __ATOMIC_RELEASE);
	} else {
		fprintf(stderr, "count: unknown command '%s'\n", line);
	}
	pthread_mutex_unlock(&lock);
}

static void on_byte(unsigned int cpu, void *data)
{
	struct cpu *c = &cpus[cpu % CPUS];
	char byte = (char)(uintptr_t)data;

	if (byte == '\n') {
		c->line[c->used] = '\0';
		c->used = 0;
		line_interpret(c->line);
	} else if (c->used < LINE - 1) {
		c->line[c->used++] = byte;
	}
}

static void on_block(unsigned int cpu, void *data)
{
	struct cpu *c = &cpus[cpu % CPUS];
	struct block *b = data;
	int i, n;

	if (c->symbol < 0) {
		if (!__atomic_load_n(&open_section, __ATOMIC_ACQUIRE))
			return;
		n = __atomic_load_n(&nr_symbols, __ATOMIC_ACQUIRE);
		for (i = 0; i < n && symbols[i].address != b->address; i++)
			;
		if (i == n)
			return;
		c->symbol = i;
		c->depth = 0;
		c->insns = 0;
	}
	c->insns += b->insns;
	c->depth += b->step;
	if (profile_path)
		__atomic_fetch_add(&b->profiled, b->insns, __ATOMIC_RELAXED);
	if (c->depth < 0)
		section_finish(c, true);
	else if (c->insns > LOST)
		section_finish(c, false);
}

/*
 * x86: near calls and returns, with the prefixes that compilers give them. The
 * translator drops an instruction that would reach into the next page and begins
 * another block with it; our list then holds the bytes read so far.
 */
static int step_of(const unsigned char *code, size_t size)
{
	while (size > 1 && (*code == 0x2e || *code == 0x3e || *code == 0xf3 || *code == 0xf2 ||
			    (*code & 0xf0) == 0x40)) {
		code++;
		size--;
	}
	if (*code == 0xc3 || *code == 0xc2)
		return -1;
	if (*code == 0xe8)
		return size >= 5;
	return *code == 0xff && size > 1 && (code[1] >> 3 & 7) == 2;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	/* nopl 0x6d726bXX(%rax): XX is the byte. */
	static const unsigned char head[] = { 0x0f, 0x1f, 0x80 }, tail[] = { 0x6b, 0x72, 0x6d };
	size_t i, size = 0, n = qemu_plugin_tb_n_insns(tb);
	const unsigned char *code = NULL;
	struct qemu_plugin_insn *insn;
	struct block *b = calloc(1, sizeof(*b));

	(void)id;
	if (!b)
		return;
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		code = qemu_plugin_insn_data(insn);
		size = qemu_plugin_insn_size(insn);
		if (size == 7 && !memcmp(code, head, 3) && !memcmp(code + 4, tail, 3))
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_byte, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)code[3]);
	}
	b->address = qemu_plugin_tb_vaddr(tb);
	b->insns = n;
	b->step = step_of(code, size);
	if (profile_path) {
		pthread_mutex_lock(&lock);
		blocks = array_grow(blocks, nr_blocks, &room_blocks, sizeof(*blocks));
		blocks[nr_blocks++] = b;
		pthread_mutex_unlock(&lock);
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
}

static int count_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void section_report(FILE *to)
{
	struct series *s;
	uint64_t sum;
	size_t i;

	for (s = all; s; s = s->next) {
		if (!s->n)
			continue;
		qsort(s->insns, s->n, sizeof(*s->insns), count_compare);
		for (sum = 0, i = 0; i < s->n; i++)
			sum += s->insns[i];
		fprintf(to, "%s %s %zu %llu %.1f %u %u\n", s->section, symbols[s->symbol].name,
			s->n, (unsigned long long)s->lost, (double)sum / (double)s->n,
			s->insns[s->n / 2], s->insns[s->n * 99 / 100]);
	}
}

static void on_exit_(qemu_plugin_id_t id, void *data)
{
	FILE *to = fopen(out_path, "we");
	size_t i;

	(void)id;
	(void)data;
	if (!to) {
		perror(out_path);
		return;
	}
	section_report(to);
	fclose(to);
	to = profile_path ? fopen(profile_path, "we") : NULL;
	if (!to)
		return;
	for (i = 0; i < nr_blocks; i++)
		if (blocks[i]->profiled)
			fprintf(to, "%llx %llu\n", (unsigned long long)blocks[i]->address,
				(unsigned long long)blocks[i]->profiled);
	fclose(to);
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < CPUS; i++)
		cpus[i].symbol = -1;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out_path = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "profile=", 8))
			profile_path = strdup(argv[i] + 8);
	}
	if (!out_path) {
		fprintf(stderr, "count: no out=FILE\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
	return 0;
}
