// SPDX-License-Identifier: MIT
/*
 * names NAMES SECONDS - a program with compiled code of NAMES functions, of which it announces each,
 * and which then calls one after the other, at random, for SECONDS of CPU time. Prints the calls and
 * the monotonic time of its end, in ns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <gchint.h>

/* A loop of some microseconds and a return. */
#if defined(__x86_64__)
static const unsigned char code[] = {
	0xb9, 0x00, 0x20, 0x00, 0x00, /* mov $0x2000, %ecx */
	0xff, 0xc9, /* dec %ecx */
	0x75, 0xfc, /* jnz back to it */
	0xc3 /* ret */
};
#elif defined(__aarch64__)
static const unsigned char code[] = {
	0x00, 0x00, 0x84, 0x52, /* mov w0, #0x2000 */
	0x00, 0x04, 0x00, 0x71, /* subs w0, w0, #1 */
	0xe1, 0xff, 0xff, 0x54, /* b.ne back to it */
	0xc0, 0x03, 0x5f, 0xd6 /* ret */
};
#else
#error no machine code for this processor
#endif

#define SIZE 32 /* of a function */

static uint64_t clock_ns(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void names_announce(unsigned char *area, size_t names)
{
	char name[64];
	size_t i;

	for (i = 0; i < names; i++) {
		memcpy(area + i * SIZE, code, sizeof(code));
		snprintf(name, sizeof(name), "compiled_%zu of a.file.with.a.long.name", i);
		gchint_symbol_add((uintptr_t)(area + i * SIZE), SIZE, name);
	}
}

int main(int argc, char **argv)
{
	const size_t names = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	const uint64_t length_ns = argc == 3 ? strtoull(argv[2], NULL, 10) * 1000000000u : 0;
	uint64_t random = 1, calls = 0, end_ns;
	unsigned char *area;

	if (!names || !length_ns) {
		fprintf(stderr, "usage: names NAMES SECONDS\n");
		return 2;
	}
	area = mmap(NULL, names * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED) {
		perror("names: mmap");
		return 1;
	}
	gchint_init(0);
	names_announce(area, names);
	if (mprotect(area, names * SIZE, PROT_READ | PROT_EXEC)) {
		perror("names: mprotect");
		return 1;
	}
	end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + length_ns;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		((void (*)(void))(area + (random >> 33) % names * SIZE))();
		calls++;
	}
	printf("%" PRIu64 " %" PRIu64 "\n", calls, clock_ns(CLOCK_MONOTONIC));
	return 0;
}
