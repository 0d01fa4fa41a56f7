/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal of a live view, by ncurses: its own page, keys as they are pressed,
 * and the old page back whatever ends the program. Not a terminal, one that is not
 * known, or built without ncurses: plain text.
 */
#ifndef GCHINTCTL_SCREEN_H
#define GCHINTCTL_SCREEN_H

#include <signal.h>
#include <stdbool.h>

struct screen {
	bool tty;
	int rows, columns;
	int row; /* lines put so far on this page, those scrolled away too */
	sigset_t waiting; /* what is held back while we wait; what ends us is not */
	int top; /* lines scrolled away, below the first, which stays */
};

void screen_open(struct screen *s);
void screen_close(struct screen *s);

/* Starts a page; asks for the size anew. */
void screen_page(struct screen *s);
/* One line, cut to the width; lines past the height are left out. */
void screen_line(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, as a heading. */
void screen_head(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void screen_show(struct screen *s);

/* Of screen_wait(): the page is to be put again, for it was scrolled or has another size. */
#define SCREEN_AGAIN (-1)

/* Waits; returns the key pressed, 0 after @ms, 'q' when a signal asks to end. */
int screen_wait(struct screen *s, int ms);

#endif
