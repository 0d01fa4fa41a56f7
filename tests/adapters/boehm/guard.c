// SPDX-License-Identifier: MIT
/*
 * Preloaded ahead of the adapter: takes the callback that it gives to libgc, and says so
 * and aborts if anything in it allocates, locks or prints.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc.h>

static __thread int inside __attribute__((tls_model("initial-exec")));
static GC_on_collection_event_proc guarded;
static unsigned long calls;

static void forbid(const char *what)
{
	static const char said[] = " called in a collector's callback\n";

	if (!inside)
		return;
	inside = 0;
	if (write(2, what, strlen(what)) < 0 || write(2, said, sizeof(said) - 1) < 0)
		_exit(99);
	abort();
}

static void GC_CALLBACK trampoline(GC_EventType event)
{
	inside = 1;
	guarded(event);
	/* To see that the guard bites. */
	if (getenv("GUARD_BITES"))
		free(malloc(1));
	inside = 0;
	calls++;
}

void GC_CALL GC_set_on_collection_event(GC_on_collection_event_proc callback)
{
	void (*real)(GC_on_collection_event_proc) = dlsym(RTLD_NEXT, "GC_set_on_collection_event");

	guarded = callback;
	if (real)
		real(trampoline);
}

#define GUARD(type, name, params, args)                                                            \
	type name params                                                                           \
	{                                                                                          \
		static type(*real) params;                                                         \
                                                                                                   \
		forbid(#name);                                                                     \
		if (!real)                                                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name);                                 \
		return real args;                                                                  \
	}

/* glibc's own names: no dlsym, which may allocate. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

void *malloc(size_t size)
{
	forbid("malloc");
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	forbid("calloc");
	return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	forbid("realloc");
	return __libc_realloc(p, size);
}

void free(void *p)
{
	forbid("free");
	__libc_free(p);
}

GUARD(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
GUARD(int, pthread_mutex_trylock, (pthread_mutex_t * m), (m))
GUARD(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
GUARD(int, puts, (const char *s), (s))
GUARD(size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
GUARD(int, fflush, (FILE * f), (f))

__attribute__((destructor)) static void report(void)
{
	if (calls)
		fprintf(stderr, "guard: %lu callbacks\n", calls);
}
