// SPDX-License-Identifier: MIT
/*
 * The Boehm collector opened late and for this program alone, as an extension module does:
 * local LIBGC. Prints gc_no=N.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void *symbol(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "local: %s\n", dlerror());
		exit(2);
	}
	return found;
}

int main(int argc, char **argv)
{
	void *(*allocate)(size_t);
	unsigned long (*count)(void);
	void (*collect)(void);
	int n;

	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		fprintf(stderr, "local: %s\n", argc > 1 ? dlerror() : "name a library");
		return 2;
	}
	*(void **)&allocate = symbol("GC_malloc");
	*(void **)&collect = symbol("GC_gcollect_and_unmap");
	*(void **)&count = symbol("GC_get_gc_no");
	for (n = 0; n < 20000; n++)
		allocate(1000);
	collect();
	printf("gc_no=%lu\n", count());
	return 0;
}
