/* SPDX-License-Identifier: MIT */
/*
 * GCHINT_TRACE: one line a hint, one write(2) a line, so that threads and
 * processes share a file. The format is in gchint-trace(5).
 */
#ifndef GCHINT_TRACE_H
#define GCHINT_TRACE_H

#include "page.h"

struct trace_line {
	unsigned int length;
	char text[320];
};

/**
 * trace_open() - open the file that GCHINT_TRACE names, for appending
 *
 * Never waits: a FIFO without a reader is -ENXIO.
 */
int trace_open(struct gchint_session *s, const char *path);
void trace_close(struct gchint_session *s);

static inline int trace_is_open(const struct gchint_session *s)
{
	return load_relaxed(&s->trace_fd) >= 0;
}

/** trace_event() - start a line about thread @tid. */
void trace_event(struct trace_line *l, const char *event, pid_t tid);
/** trace_phase() - add the two columns of phase and flags; "- -" for none. */
void trace_phase(struct trace_line *l, uint32_t word);
/** trace_mark() - add a word without a value. */
void trace_mark(struct trace_line *l, const char *mark);
void trace_name(struct trace_line *l, const char *key, const char *name);
void trace_number(struct trace_line *l, const char *key, uint64_t value);
void trace_address(struct trace_line *l, uint64_t address);
void trace_detail(struct trace_line *l, const struct gchint_detail *d);

/**
 * trace_write() - append the line, if that is possible without waiting
 *
 * Lines that a full pipe or disk does not accept are counted, and a line of its own
 * reports them once writing works again. The trace ends when the reader of a pipe closes
 * it. The program receives no signal.
 */
void trace_write(struct gchint_session *s, struct trace_line *l);

#endif /* GCHINT_TRACE_H */
