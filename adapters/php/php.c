// SPDX-License-Identifier: MIT
/*
 * PHP 7.3 and newer: LD_PRELOAD=libgchint-php.so php program.php, php-fpm likewise
 *
 * PHP counts references; what frees cycles is called through gc_collect_cycles, a variable
 * of the program, on the thread that runs the script, when its buffer of possible roots is
 * full, at the end of a request, and by the script:
 *
 *	call	collect		foreground; the world is stopped, but for a build with threads
 *	return	none		work done: what was freed, as PHP counts it
 *
 * Nothing tells of its parts, nor of what reference counts free; between collections this
 * costs nothing. No header of PHP's is wanted: the variable has had this type since it is
 * there.
 *
 * It has its value when the engine has started; then PHP calls tzset(), before the first
 * line of a script and before any child. So we stand before tzset(). A process without a
 * PHP is left as it is.
 */
#include <dlfcn.h>
#include <time.h>

#include <gchint.h>

#include "../common/start.h"

#define PUBLIC __attribute__((visibility("default")))

typedef int collector(void);

static collector *collect;
static gchint_flags_t waits = GCHINT_F_STW | GCHINT_F_FOREGROUND;

static int on_collection(void)
{
	int freed;

	gchint_phase_begin(GCHINT_PHASE_COLLECT, waits);
	freed = collect();
	if (freed > 0)
		gchint_progress(gchint_self(), (uint64_t)freed, 0, 0);
	gchint_phase_end();
	return freed;
}

static void watch(void)
{
	static int looked;
	collector **variable;

	if (looked)
		return;
	variable = dlsym(RTLD_DEFAULT, "gc_collect_cycles");
	/* Whoever loads PHP later, or starts it later, calls again. */
	if (!variable || !*variable)
		return;
	looked = 1;
	if (!adapter_start("libgchint-php.so", NULL))
		return;
	adapter_fork();
	/* Of a build with threads each has globals of its own. */
	if (dlsym(RTLD_DEFAULT, "executor_globals_offset"))
		waits = GCHINT_F_FOREGROUND;
	collect = *variable;
	*variable = on_collection;
}

PUBLIC void tzset(void)
{
	static void (*next)(void);

	if (!next)
		next = (void (*)(void))dlsym(RTLD_NEXT, "tzset");
	if (next)
		next();
	watch();
}
