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

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(uint64_t value, size_t size)
{
	fwrite(&value, size, 1, dump);
}

static void record(uint32_t id, size_t body)
{
	put(id, 4);
	put(16 + body, 4);
	put(now(CLOCK_MONOTONIC), 8);
}

static void line(const unsigned char *address, uint32_t number, const char *file)
{
	put((uintptr_t)address, 8);
	put(number, 4);
	put(0, 4);
	fwrite(file, strlen(file) + 1, 1, dump);
}

static void told(const unsigned char *at, const char *name, const char *source, uint32_t first)
{
	record(2, 16 + 3 * 16 + strlen(source) + 1 + 2 * 2);
	put((uintptr_t)at, 8);
	put(3, 8);
	line(at, first, source);
	line(at + LOOP, first + 1, "\xff");
	line(at + END, first + 2, "\xff");
	record(0, 40 + strlen(name) + 1 + sizeof(code));
	put((uint64_t)getpid(), 4);
	put((uint64_t)getpid(), 4);
	put((uintptr_t)at, 8);
	put((uintptr_t)at, 8);
	put(sizeof(code), 8);
	put(first, 8);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, sizeof(code), 1, dump);
}

static void run(unsigned char *at)
{
	const uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + 300 * MS;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		((void (*)(long n))(uintptr_t)at)(100000);
}

static unsigned char *make(unsigned char *at)
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
	put(0x4a695444, 4);
	put(1, 4);
	put(40, 4);
	put(0, 8);
	put((uint64_t)getpid(), 4);
	put(now(CLOCK_MONOTONIC), 8);
	put(0, 8);
	fflush(dump);
	/* The mapping by which the dump is found. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return 1;
	/* A program without hints is not sampled. */
	gchint_init(0);
	first = make(memory);
	told(first, "first", argv[2], 10);
	second = make(memory + 4096);
	told(second, "second", argv[2], 20);
	run(first);
	run(second);
	make(memory + 8192);
	record(1, 48);
	put((uint64_t)getpid(), 4);
	put((uint64_t)getpid(), 4);
	put((uintptr_t)memory + 8192, 8);
	put((uintptr_t)first, 8);
	put((uintptr_t)memory + 8192, 8);
	put(sizeof(code), 8);
	put(10, 8);
	run(memory + 8192);
	return fclose(dump) != 0;
}
