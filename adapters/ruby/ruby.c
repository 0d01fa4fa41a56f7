// SPDX-License-Identifier: MIT
/*
 * CRuby (3.1): RUBYOPT=-r/path/libgchint-ruby.so ruby program.rb
 *
 * Ruby collects on the thread that holds its global lock, in slices between which the
 * program runs. All other Ruby threads wait for a slice of marking, so it is STW; one of
 * lazy sweeping is a mutator's own work, in the foreground. The internal tracepoints, on the collecting thread, in which no Ruby object may be made:
 *
 *	GC_ENTER	mark, sweep, or collect at the start of a cycle: a slice begins,
 *					the collector's state says which
 *	GC_START	mark		the cycle begins, within a slice; with the cause
 *	GC_END_MARK	sweep		the rest of the slice sweeps
 *	GC_EXIT		none		the slice ends
 *
 * Most slices of lazy sweeping take tens of microseconds: the library's filter
 * leaves them out.
 *
 * CRuby 3.1 allocates by a slower way while any of these tracepoints is enabled: an
 * eighth more instructions where allocation is all there is. They are enabled
 * only if hints go somewhere.
 */
#include <ruby/ruby.h>
#include <ruby/debug.h>

#include <gchint.h>

#include "../common/start.h"

#define STOPPED (GCHINT_F_STW | GCHINT_F_FOREGROUND)
#define LAZY	GCHINT_F_FOREGROUND

static VALUE key_state, key_gc_by, sym_marking, sym_sweeping;
static VALUE sym_newobj, sym_malloc, sym_method, sym_capi;
static VALUE tracepoint;

static uint32_t cause(void)
{
	VALUE by = rb_gc_latest_gc_info(key_gc_by);

	if (by == sym_newobj)
		return GCHINT_CAUSE_ALLOCATION;
	if (by == sym_malloc)
		return GCHINT_CAUSE_NATIVE;
	if (by == sym_method || by == sym_capi)
		return GCHINT_CAUSE_EXPLICIT;
	return GCHINT_CAUSE_UNKNOWN;
}

static void on_event(VALUE tp, void *data)
{
	struct gchint_detail detail = { .size = sizeof(detail) };
	VALUE state;

	(void)data;
	switch (rb_tracearg_event_flag(rb_tracearg_from_tracepoint(tp))) {
	case RUBY_INTERNAL_EVENT_GC_ENTER:
		state = rb_gc_latest_gc_info(key_state);
		if (state == sym_sweeping)
			gchint_phase_begin(GCHINT_PHASE_SWEEP, LAZY);
		else
			gchint_phase_begin(state == sym_marking ? GCHINT_PHASE_MARK :
								  GCHINT_PHASE_COLLECT,
					   STOPPED);
		break;
	case RUBY_INTERNAL_EVENT_GC_START:
		detail.cause = cause();
		gchint_next_detail(gchint_self(), GCHINT_PHASE_MARK, STOPPED, &detail);
		break;
	case RUBY_INTERNAL_EVENT_GC_END_MARK:
		gchint_phase_next(GCHINT_PHASE_SWEEP, STOPPED);
		break;
	case RUBY_INTERNAL_EVENT_GC_EXIT:
		gchint_phase_end();
		break;
	default:
		break;
	}
}

static VALUE symbol(const char *name)
{
	return ID2SYM(rb_intern(name));
}

/* A library is called by the name of its file, which is no name in C. */
__attribute__((visibility("default"))) void init_ruby(void) __asm__("\"Init_libgchint-ruby\"");

void init_ruby(void)
{
	static int started;

	if (started++ || !adapter_start("libgchint-ruby.so", NULL))
		return;
	adapter_fork();
	key_state = symbol("state");
	key_gc_by = symbol("gc_by");
	sym_marking = symbol("marking");
	sym_sweeping = symbol("sweeping");
	sym_newobj = symbol("newobj");
	sym_malloc = symbol("malloc");
	sym_method = symbol("method");
	sym_capi = symbol("capi");
	/* The first call makes its symbols, which it must not do in a collection. */
	rb_gc_latest_gc_info(key_state);
	rb_gc_latest_gc_info(key_gc_by);
	tracepoint = rb_tracepoint_new(0,
				       RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_START |
					       RUBY_INTERNAL_EVENT_GC_END_MARK |
					       RUBY_INTERNAL_EVENT_GC_EXIT,
				       on_event, NULL);
	rb_gc_register_address(&tracepoint);
	rb_tracepoint_enable(tracepoint);
}
