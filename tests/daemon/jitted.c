// SPDX-License-Identifier: MIT
/*
 * jitted DUMP SOURCE: makes two functions, announces them in DUMP in the format of perf's jitdump,
 * and runs each for 300 ms of CPU time, and the first one for as long again where it was moved to.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <gchint.h>

#define MS 1000000ull

/* Counts its argument down: one line each for the beginning, the loop and the end. */
#if defined(__x86_64__)
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
enum {
	LOOP = 3,
	END = 8
};
#elif defined(__aarch64__)
static const uint32_t code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
enum {
	LOOP = 0,
	END = 8
};
#else
#error "which instructions?"
#endif

static FILE *dump;

static uint64_t clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void number_write(uint64_t value, size_t size)
{
	fwrite(&value, size, 1, dump);
}

static void record_begin(uint32_t id, size_t body)
{
	number_write(id, 4);
	number_write(16 + body, 4);
	number_write(clock_read(CLOCK_MONOTONIC), 8);
}

static void line_write(const unsigned char *address, uint32_t number, const char *file)
{
	number_write((uintptr_t)address, 8);
	number_write(number, 4);
	number_write(0, 4);
	fwrite(file, strlen(file) + 1, 1, dump);
}

static void code_announce(const unsigned char *at, const char *name, const char *source,
			  uint32_t first)
{
	record_begin(2, 16 + 3 * 16 + strlen(source) + 1 + 2 * 2);
	number_write((uintptr_t)at, 8);
	number_write(3, 8);
	line_write(at, first, source);
	line_write(at + LOOP, first + 1, "\xff");
	line_write(at + END, first + 2, "\xff");
	record_begin(0, 40 + strlen(name) + 1 + sizeof(code));
	number_write((uint64_t)getpid(), 4);
	number_write((uint64_t)getpid(), 4);
	number_write((uintptr_t)at, 8);
	number_write((uintptr_t)at, 8);
	number_write(sizeof(code), 8);
	number_write(first, 8);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, sizeof(code), 1, dump);
}

static void code_run(unsigned char *at)
{
	const uint64_t end = clock_read(CLOCK_THREAD_CPUTIME_ID) + 300 * MS;

	while (clock_read(CLOCK_THREAD_CPUTIME_ID) < end)
		((void (*)(long n))(uintptr_t)at)(100000);
}

static unsigned char *code_make(unsigned char *at)
{
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
	return at;
}

int main(int argc, char **argv)
{
	unsigned char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *first, *second;

	dump = argc == 3 ? fopen(argv[1], "w+e") : NULL;
	if (!dump || memory == MAP_FAILED)
		return 1;
	number_write(0x4a695444, 4);
	number_write(1, 4);
	number_write(40, 4);
	number_write(0, 8);
	number_write((uint64_t)getpid(), 4);
	number_write(clock_read(CLOCK_MONOTONIC), 8);
	number_write(0, 8);
	fflush(dump);
	/* The mapping by which the dump is found. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return 1;
	/* A program without hints is not sampled. */
	gchint_init(0);
	first = code_make(memory);
	code_announce(first, "first", argv[2], 10);
	second = code_make(memory + 4096);
	code_announce(second, "second", argv[2], 20);
	code_run(first);
	code_run(second);
	code_make(memory + 8192);
	record_begin(1, 48);
	number_write((uint64_t)getpid(), 4);
	number_write((uint64_t)getpid(), 4);
	number_write((uintptr_t)memory + 8192, 8);
	number_write((uintptr_t)first, 8);
	number_write((uintptr_t)memory + 8192, 8);
	number_write(sizeof(code), 8);
	number_write(10, 8);
	code_run(memory + 8192);
	return fclose(dump) != 0;
}
