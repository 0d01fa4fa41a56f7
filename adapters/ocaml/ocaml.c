// SPDX-License-Identifier: MIT
/*
 * OCaml (4.13, 5.3): LD_PRELOAD=libgchint-ocaml.so with any native or bytecode program. The
 * runtime calls hooks on the allocating thread, which in OCaml 4 is the only one that runs OCaml
 * code:
 *
 *	caml_minor_gc_begin_hook	copy		the minor heap
 *	caml_major_slice_begin_hook	mark, refs or sweep, by caml_gc_phase
 *	caml_major_gc_hook		sweep		within a slice, marking is over
 *	caml_..._end_hook		none
 *
 * A slice of OCaml 5 sweeps and then marks, without a hook between the two, and its values of
 * caml_gc_phase have other meanings: it is collect.
 *
 * Each is in the foreground. A minor collection of OCaml 5 stops all domains, each of which runs the
 * hooks around its own part. Where there are fewer CPUs than domains the parts follow each other, and
 * no hook marks the end of the last: the part that begins first is STW, so that a collection is one
 * pause. Compaction has no hook. A forked child hints for itself.
 */
#include <stddef.h>

#include <gchint.h>

#include "../common/start.h"

typedef void (*hook)(void);

/* Variables of the runtime; weak, because a process may have no OCaml runtime. */
extern hook caml_minor_gc_begin_hook, caml_minor_gc_end_hook;
extern hook caml_major_slice_begin_hook, caml_major_slice_end_hook, caml_major_gc_hook;
extern int caml_gc_phase;
extern char caml_num_domains_running; /* OCaml 5; its type does not matter */
extern unsigned long caml_minor_collections_count; /* OCaml 5; incremented before the hooks */
#pragma weak caml_minor_gc_begin_hook
#pragma weak caml_minor_gc_end_hook
#pragma weak caml_major_slice_begin_hook
#pragma weak caml_major_slice_end_hook
#pragma weak caml_major_gc_hook
#pragma weak caml_gc_phase
#pragma weak caml_num_domains_running
#pragma weak caml_minor_collections_count

/* Values of caml_gc_phase, from <caml/major_gc.h>. */
#define PHASE_CLEAN 1
#define PHASE_SWEEP 2

static hook minor_begin, minor_end, slice_begin, slice_end, mark_end;
static int in_slice;

static void hook_call(hook chained)
{
	if (chained)
		chained();
}

static void on_minor_begin(void)
{
	gchint_phase_begin(GCHINT_PHASE_COPY, GCHINT_F_FOREGROUND);
	hook_call(minor_begin);
}

static void on_minor5_begin(void)
{
	static unsigned long last;
	const unsigned long now = __atomic_load_n(&caml_minor_collections_count, __ATOMIC_SEQ_CST);
	const int first = __atomic_exchange_n(&last, now, __ATOMIC_SEQ_CST) != now;

	gchint_phase_begin(GCHINT_PHASE_COPY, (first ? GCHINT_F_STW : 0) | GCHINT_F_FOREGROUND);
	hook_call(minor_begin);
}

static void on_minor_end(void)
{
	hook_call(minor_end);
	gchint_phase_end();
}

static void on_slice_begin(void)
{
	unsigned int phase = GCHINT_PHASE_MARK;

	if (&caml_gc_phase && caml_gc_phase == PHASE_CLEAN)
		phase = GCHINT_PHASE_REFS;
	else if (&caml_gc_phase && caml_gc_phase == PHASE_SWEEP)
		phase = GCHINT_PHASE_SWEEP;
	in_slice = 1;
	gchint_phase_begin(phase, GCHINT_F_FOREGROUND);
	hook_call(slice_begin);
}

static void on_slice_end(void)
{
	hook_call(slice_end);
	in_slice = 0;
	gchint_phase_end();
}

/* Domains of OCaml 5 have slices at the same time: nothing is kept between the two hooks. */
static void on_slice5_begin(void)
{
	gchint_phase_begin(GCHINT_PHASE_COLLECT, GCHINT_F_FOREGROUND);
	hook_call(slice_begin);
}

static void on_slice5_end(void)
{
	hook_call(slice_end);
	gchint_phase_end();
}

/* A full collection calls this hook outside of slices: there is no phase to change then. */
static void on_mark_end(void)
{
	if (in_slice)
		gchint_phase_next(GCHINT_PHASE_SWEEP, GCHINT_F_FOREGROUND);
	hook_call(mark_end);
}

static void hook_replace(hook *where, hook *chained, hook ours)
{
	*chained = *where;
	*where = ours;
}

__attribute__((constructor)) static void hooks_install(void)
{
	if (!&caml_minor_gc_begin_hook || !&caml_minor_gc_end_hook ||
	    !&caml_major_slice_begin_hook || !&caml_major_slice_end_hook ||
	    !adapter_start("libgchint-ocaml.so", NULL))
		return;
	adapter_fork();
	hook_replace(&caml_minor_gc_begin_hook, &minor_begin,
		     &caml_minor_collections_count ? on_minor5_begin : on_minor_begin);
	hook_replace(&caml_minor_gc_end_hook, &minor_end, on_minor_end);
	if (&caml_num_domains_running) {
		hook_replace(&caml_major_slice_begin_hook, &slice_begin, on_slice5_begin);
		hook_replace(&caml_major_slice_end_hook, &slice_end, on_slice5_end);
		return;
	}
	hook_replace(&caml_major_slice_begin_hook, &slice_begin, on_slice_begin);
	hook_replace(&caml_major_slice_end_hook, &slice_end, on_slice_end);
	if (&caml_major_gc_hook)
		hook_replace(&caml_major_gc_hook, &mark_end, on_mark_end);
}
