// SPDX-License-Identifier: MIT
/*
 * CRuby (3.1): RUBYOPT=-r/path/libgchint-ruby.so ruby program.rb
 *
 * Ruby collects on the thread that holds its global lock, in slices between which the
 * program runs. All other Ruby threads wait for a slice of marking, so it is STW; one of
 * lazy sweeping is a mutator's own work, in the foreground. The internal tracepoints run on the
 * collecting thread, and must not create Ruby objects:
 *
 *	GC_ENTER	mark, sweep, or collect at the start of a cycle: a slice begins,
 *					the collector's state selects the phase
 *	GC_START	mark		the cycle begins, within a slice; with the cause
 *	GC_END_MARK	sweep		the rest of the slice sweeps
 *	GC_END_SWEEP			the cycle's sweeping ends, within a slice: objects that were freed
 *	GC_EXIT		none		the slice ends
 *
 * Most slices of lazy sweeping take tens of microseconds: the library's filter
 * leaves them out.
 *
 * CRuby 3.1 uses a slower allocation path while any of these tracepoints is enabled: a program
 * that only allocates executes an eighth more instructions. They are enabled only if hints have
 * a receiver.
 */
#include <ruby/ruby.h>
#include <ruby/debug.h>

#include <gchint.h>

#include "../common/start.h"
#include "../common/variables.h"

#define STOPPED (GCHINT_F_STW | GCHINT_F_FOREGROUND)
#define LAZY	GCHINT_F_FOREGROUND

static VALUE key_state, key_gc_by, sym_marking, sym_sweeping;
static VALUE sym_newobj, sym_malloc, sym_method, sym_capi;
static VALUE key_freed, key_major_by;
static VALUE tracepoint;

/* Objects that Ruby had freed when the cycle began; a cycle of lazy sweeping ends in another slice. */
static size_t freed_before;

/* Collections before the adapter, and those that it announced. */
static size_t count_before, count_announced;

/* Ruby runs tracepoints on the ractor that has set them: collections of other ractors have none. */
static void at_end(VALUE unused)
{
	const size_t all = rb_gc_count() - count_before;

	(void)unused;
	if (all > count_announced)
		fprintf(stderr,
			"libgchint-ruby.so: %zu of %zu collections were not announced: Ruby does "
			"not "
			"report those of other ractors\n",
			all - count_announced, all);
}

static uint32_t cause_read(void)
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

/* Of the collected cycle. Ruby counts objects, not bytes: those of strings lie outside of its heap. */
static void heap_report(void)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;

	heap.when = GCHINT_HEAP_AFTER;
	heap.freed = rb_gc_stat(key_freed) - freed_before;
	heap.generation = NIL_P(rb_gc_latest_gc_info(key_major_by)) ? 0 : 1;
	gchint_heap(gchint_self(), &heap);
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
		count_announced++;
		freed_before = rb_gc_stat(key_freed);
		detail.cause = cause_read();
		gchint_next_detail(gchint_self(), GCHINT_PHASE_MARK, STOPPED, &detail);
		break;
	case RUBY_INTERNAL_EVENT_GC_END_MARK:
		gchint_phase_next(GCHINT_PHASE_SWEEP, STOPPED);
		break;
	case RUBY_INTERNAL_EVENT_GC_END_SWEEP:
		heap_report();
		break;
	case RUBY_INTERNAL_EVENT_GC_EXIT:
		gchint_phase_end();
		break;
	default:
		break;
	}
}

static VALUE symbol_intern(const char *name)
{
	return ID2SYM(rb_intern(name));
}

/* Ruby derives this name from the file's name; it is not a C identifier. */
__attribute__((visibility("default"))) void init_ruby(void) __asm__("\"Init_libgchint-ruby\"");

void init_ruby(void)
{
	static int started;

	adapter_forget("ruby");
	if (started++ || !adapter_start("libgchint-ruby.so", NULL))
		return;
	adapter_fork();
	key_state = symbol_intern("state");
	key_gc_by = symbol_intern("gc_by");
	sym_marking = symbol_intern("marking");
	sym_sweeping = symbol_intern("sweeping");
	sym_newobj = symbol_intern("newobj");
	sym_malloc = symbol_intern("malloc");
	sym_method = symbol_intern("method");
	sym_capi = symbol_intern("capi");
	key_freed = symbol_intern("total_freed_objects");
	key_major_by = symbol_intern("major_by");
	/* The first call creates symbols, which is not allowed within a collection. */
	rb_gc_latest_gc_info(key_state);
	rb_gc_latest_gc_info(key_gc_by);
	rb_gc_stat(key_freed);
	tracepoint = rb_tracepoint_new(0,
				       RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_START |
					       RUBY_INTERNAL_EVENT_GC_END_MARK |
					       RUBY_INTERNAL_EVENT_GC_END_SWEEP |
					       RUBY_INTERNAL_EVENT_GC_EXIT,
				       on_event, NULL);
	rb_gc_register_address(&tracepoint);
	count_before = rb_gc_count();
	rb_tracepoint_enable(tracepoint);
	rb_set_end_proc(at_end, Qnil);
}
