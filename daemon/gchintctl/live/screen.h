/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal of a live view, by ncurses: an alternate page, keys as they are pressed,
 * and the old page restored when the program ends, also by a signal. The output is plain
 * text if stdout is no terminal, if its type is not known, or without ncurses.
 */
#ifndef GCHINTCTL_SCREEN_H
#define GCHINTCTL_SCREEN_H

#include <signal.h>
#include <stdbool.h>

struct screen {
	bool tty;
	int rows, columns;
	int row; /* lines printed so far on this page, including those scrolled out of view */
	sigset_t waiting; /* signal mask during screen_wait(): SIGHUP, SIGINT and SIGTERM arrive */
	int top; /* lines scrolled out of view; the first line always stays */
};

void screen_open(struct screen *s);
void screen_close(struct screen *s);

/* Starts a page, and reads the size of the terminal again. */
void screen_page(struct screen *s);
/* One line, cut to the width; lines past the height are left out. */
void screen_line(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, as a heading. */
void screen_head(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void screen_show(struct screen *s);

/* From screen_wait(): the page was scrolled or resized, and must be drawn again. */
#define SCREEN_AGAIN (-1)

/* Waits; returns the key pressed, 0 after @ms, 'q' when a signal asks to end. */
int screen_wait(struct screen *s, int ms);

#endif
