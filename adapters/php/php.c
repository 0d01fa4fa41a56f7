// SPDX-License-Identifier: MIT
/*
 * PHP 7.3 and newer: LD_PRELOAD=libgchint-php.so php program.php, also with php-fpm
 *
 * PHP counts references. Its cycle collector is called through the function pointer
 * gc_collect_cycles, on the thread that runs the script, when the buffer of possible roots is
 * full, at the end of a request, and by the script:
 *
 *	call	collect		foreground; also STW, except in a build with threads
 *	return	none		work done: the number of freed objects, as PHP counts it
 *
 * How full the heap is before and after is what memory_get_usage() returns.
 *
 * PHP reports neither the parts of a collection nor what reference counts free; between
 * collections this adapter costs nothing. It needs no PHP header, because the pointer has had
 * the same type since it was introduced.
 *
 * The engine sets the pointer when it starts. It then calls tzset(), before the first line of a
 * script and before it forks, so this library wraps tzset(). Without PHP nothing is changed.
 * libgchint-launch.so wraps it for a library that is loaded later.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#include <gchint.h>

#include "../common/start.h"

#define PUBLIC __attribute__((visibility("default")))

typedef int collector(void);

static collector *collect;
static gchint_flags_t waits = GCHINT_F_STW | GCHINT_F_FOREGROUND;

/* The bytes in use, or, with true, those that PHP has from the system. */
static size_t (*memory_usage)(_Bool real);

/* @freed: objects; below 0: before the collection */
static void heap_report(int freed)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;

	heap.when = freed < 0 ? GCHINT_HEAP_BEFORE : GCHINT_HEAP_AFTER;
	if (freed >= 0)
		heap.freed = (uint64_t)freed;
	if (memory_usage) {
		heap.used = memory_usage(0);
		heap.committed = memory_usage(1);
	}
	gchint_heap(gchint_self(), &heap);
}

static int on_collection(void)
{
	int freed;

	gchint_phase_begin(GCHINT_PHASE_COLLECT, waits);
	heap_report(-1);
	freed = collect();
	if (freed > 0)
		gchint_progress(gchint_self(), (uint64_t)freed, 0, 0);
	heap_report(freed > 0 ? freed : 0);
	gchint_phase_end();
	return freed;
}

static void collector_watch(void)
{
	static int looked;
	collector **variable;

	if (looked)
		return;
	variable = dlsym(RTLD_DEFAULT, "gc_collect_cycles");
	/* If PHP is loaded or started later, it calls tzset() again. */
	if (!variable || !*variable)
		return;
	looked = 1;
	if (!adapter_start("libgchint-php.so", NULL))
		return;
	adapter_fork();
	/* In a build with threads each has its own globals, so the others are not stopped. */
	if (dlsym(RTLD_DEFAULT, "executor_globals_offset"))
		waits = GCHINT_F_FOREGROUND;
	memory_usage = (size_t(*)(_Bool))dlsym(RTLD_DEFAULT, "zend_memory_usage");
	collect = *variable;
	*variable = on_collection;
}

PUBLIC void gchint_php_watch(void);

void gchint_php_watch(void)
{
	collector_watch();
}

PUBLIC void tzset(void)
{
	static void (*next)(void);

	if (!next)
		next = (void (*)(void))dlsym(RTLD_NEXT, "tzset");
	if (next)
		next();
	collector_watch();
}
