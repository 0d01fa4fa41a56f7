// SPDX-License-Identifier: MIT
/* Startup that all adapters share. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "start.h"

/** struct search - state of the search for an earlier copy of this library */
struct search {
	const char *file;
	const void *base;
	int other;
};

static int search_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!name || strcmp(name + 1, search->file) != 0)
		return 0;
	if ((const void *)info->dlpi_addr == search->base)
		return 1;
	search->other = 1;
	return 0;
}

/*
 * A process may load an installed and a built copy, or preload one and attach another. Only
 * the first one hints.
 */
static int library_is_second(const char *file)
{
	struct search search = { .file = file };
	Dl_info self;

	if (!dladdr((const void *)library_is_second, &self))
		return 0;
	search.base = self.dli_fbase;
	dl_iterate_phdr(search_visit, &search);
	return search.other;
}

int adapter_start(const char *file, struct gchint_session **session)
{
	struct gchint_session *opened;
	char why[256];

	if (library_is_second(file))
		return 0;
	if (gchint_open(&opened, 0)) {
		gchint_explain(why, sizeof(why));
		/* The library itself reports a bad value of that variable. */
		if (strncmp(why, "GCHINT_HINTS=", strlen("GCHINT_HINTS=")) != 0)
			fprintf(stderr, "%s: no hints: %s\n", file, why);
		return 0;
	}
	if (gchint_get_backend(opened) == GCHINT_BACKEND_NOTHING) {
		gchint_close(opened);
		return 0;
	}
	if (session)
		*session = opened;
	return 1;
}

/* Runs in a forked child, where only async-signal-safe calls are allowed. */
static void child_init(void)
{
	gchint_init(0);
}

/*
 * pthread_atfork() of glibc is linked into each library, and calls a function that musl does not
 * have: musl ends a program that preloads a library with such a reference.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *library);
#pragma weak __register_atfork
#pragma weak pthread_atfork

void adapter_fork(void)
{
	if (__register_atfork)
		__register_atfork(NULL, NULL, child_init, NULL);
	else if (pthread_atfork)
		pthread_atfork(NULL, NULL, child_init);
}

void adapter_environment(const char *variables)
{
	char *copy = variables ? strdup(variables) : NULL, *save = NULL, *word, *value;

	for (word = copy ? strtok_r(copy, ";", &save) : NULL; word;
	     word = strtok_r(NULL, ";", &save)) {
		value = strchr(word, '=');
		if (!value || strncmp(word, "GCHINT_", 7) != 0)
			continue;
		*value++ = '\0';
		setenv(word, value, strcmp(word, "GCHINT_STREAM") == 0);
	}
	free(copy);
}
