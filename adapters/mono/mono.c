// SPDX-License-Identifier: MIT
/*
 * Mono (6.8) with SGen: mono --profile=gchint program.exe, this library being found by the
 * name libmono-profiler-gchint.so (LD_LIBRARY_PATH, or installed).
 *
 * On the thread that triggered the collection:
 *
 *	PRE_STOP_WORLD_LOCKED	safepoint, STW		threads are being stopped
 *	POST_STOP_WORLD		collect, STW
 *	START(generation)	copy (0) or mark, STW
 *	END			collect, STW
 *	POST_START_WORLD	none
 *
 * With the default collector a major collection may start in one pause and end in
 * another: the first has no END, the last no START of it. Between them others mark
 * beside the program, on threads that no event tells of: it is left out.
 */
#include <stddef.h>

#include <gchint.h>
#include <mono/metadata/profiler.h>

#include "../common/start.h"

/* The phase that was announced last. Under the collector's lock. */
static unsigned int now;

static void become(unsigned int phase)
{
	if (now != phase)
		gchint_phase_next(phase, GCHINT_F_STW);
	now = phase;
}

static void on_event(MonoProfiler *profiler, MonoProfilerGCEvent event, uint32_t generation,
		     mono_bool serial)
{
	(void)profiler;
	(void)serial;
	switch (event) {
	case MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED:
		now = GCHINT_PHASE_SAFEPOINT;
		gchint_phase_begin(now, GCHINT_F_STW);
		break;
	case MONO_GC_EVENT_START:
		become(generation ? GCHINT_PHASE_MARK : GCHINT_PHASE_COPY);
		break;
	case MONO_GC_EVENT_POST_STOP_WORLD:
	case MONO_GC_EVENT_END:
		become(GCHINT_PHASE_COLLECT);
		break;
	case MONO_GC_EVENT_POST_START_WORLD:
		gchint_phase_end();
		break;
	default:
		break;
	}
}

/* Mono looks for it by the profiler's name. */
__attribute__((visibility("default"))) void mono_profiler_init_gchint(const char *options);

void mono_profiler_init_gchint(const char *options)
{
	static int started;

	(void)options;
	/* Named twice on the command line, called twice. */
	if (started++ || !adapter_start("libgchint-mono.so", NULL))
		return;
	adapter_fork();
	mono_profiler_set_gc_event_callback(mono_profiler_create(NULL), on_event);
}
