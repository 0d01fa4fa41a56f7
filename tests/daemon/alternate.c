// SPDX-License-Identifier: MIT
/*
 * alternate ROUNDS LOOPS [zero|memory]: two methods take turns, three parts of four in the first,
 * each in a function of its own, so that a sample's instruction shows which one runs. With a third
 * argument a loop is a long read(2). Prints its CPU time in ns and how many reads were cut short.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <gchint.h>

#define BYTES (64ul << 20)

static char *data;
static int file = -1;
static unsigned long cut;

static void bytes_read(void)
{
	for (size_t had = 0; had < BYTES;) {
		ssize_t n = pread(file, data + had, BYTES - had, (off_t)had);

		if (n <= 0) {
			perror("pread");
			exit(1);
		}
		had += (size_t)n;
		cut += had < BYTES;
	}
}

/* The same code twice: a cycle for each loop, wherever it is. */
#define SPIN(name)                                                                                 \
	__attribute__((noinline, no_icf, aligned(64))) static void name##_spin(                    \
		unsigned long loops)                                                               \
	{                                                                                          \
		for (unsigned long i = 0; file >= 0 && i < loops; i++)                             \
			bytes_read();                                                              \
		for (unsigned long i = 0; file < 0 && i < loops; i++)                              \
			__asm__ volatile("" : "+r"(i));                                            \
	}
SPIN(first)
SPIN(second)

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 1;
	const unsigned long loops = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	const uintptr_t first = gchint_symbol_add(0, 0, "first");
	const uintptr_t second = gchint_symbol_add(0, 0, "second");
	struct timespec t;
	uintptr_t outer;

	if (argc > 3) {
		file = strcmp(argv[3], "zero") ? memfd_create("memory", 0) :
						 open("/dev/zero", O_RDONLY);
		data = malloc(BYTES);
		if (!data || file < 0 || (strcmp(argv[3], "zero") && ftruncate(file, BYTES))) {
			perror(argv[3]);
			return 1;
		}
	}
	gchint_init(0);
	for (unsigned long i = 0; i < rounds; i++) {
		outer = gchint_method_enter(first);
		first_spin(3 * loops);
		gchint_method_leave(outer);
		outer = gchint_method_enter(second);
		second_spin(loops);
		gchint_method_leave(outer);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	printf("%llu %lu\n",
	       (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec, cut);
	return 0;
}
