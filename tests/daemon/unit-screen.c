// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: the page of a live view on a terminal of ten lines: its content after each key,
 * through ncurses, and what ends the wait for a key.
 */
#include "unit.h"

#if __has_include(<ncurses.h>)
#include <ncurses.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/gchintctl/live/screen.h"
#include "records.h"

#define ROWS	10
#define COLUMNS 24

static void page_draw(struct screen *s, int lines)
{
	screen_page(s);
	screen_head(s, "the %s", "head");
	for (int i = 1; i < lines; i++)
		screen_line(s, "line %d\tand\nmore than has room", i);
	screen_show(s);
}

static void screen_print(FILE *f, const struct screen *s, const char *what)
{
	fprintf(f, "%s: %d put, %d away\n", what, s->row, s->top);
	for (int row = 0; row < s->rows; row++) {
		char text[COLUMNS + 1];
		const bool bold = (mvinch(row, 0) & A_BOLD) != 0;
		int n = mvinnstr(row, 0, text, COLUMNS);

		while (n > 0 && text[n - 1] == ' ')
			n--;
		fprintf(f, "%c|%.*s\n", bold ? '*' : ' ', n, text);
	}
}

/* The terminal's sequence of a key, its meaning, and its effect. */
static void key_press(FILE *f, struct screen *s, int terminal, const char *name, const char *sent)
{
	int key;

	if (write(terminal, sent, strlen(sent)) != (ssize_t)strlen(sent))
		fputs("not sent\n", f);
	key = screen_wait(s, -1);
	fprintf(f, "%s: %d, %d away\n", name, key, s->top);
}

static void terminal_check(FILE *f)
{
	static const char down[] = "\033OB", up[] = "\033OA";
	static const char next[] = "\033[6~", previous[] = "\033[5~", home[] = "\033OH",
			  end[] = "\033OF";
	struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	struct screen s;
	uint64_t begin;
	int ours, its, key;

	alarm(250);
	if (openpty(&ours, &its, NULL, NULL, &size) || dup2(its, 0) < 0 || dup2(its, 1) < 0)
		return;
	setenv("TERM", "xterm", 1);
	unsetenv("LINES");
	unsetenv("COLUMNS");
	memset(&s, 0x55, sizeof(s));
	screen_open(&s);
	fprintf(f, "terminal %d\n", s.tty);
	page_draw(&s, 14);
	screen_print(f, &s, "a page");
	key_press(f, &s, ours, "up at the top", up);
	key_press(f, &s, ours, "down", down);
	key_press(f, &s, ours, "down", down);
	page_draw(&s, 14);
	screen_print(f, &s, "two lines on");
	key_press(f, &s, ours, "up", up);
	key_press(f, &s, ours, "end", end);
	key_press(f, &s, ours, "down at the end", down);
	page_draw(&s, 14);
	screen_print(f, &s, "the end");
	key_press(f, &s, ours, "home", home);
	page_draw(&s, 40);
	key_press(f, &s, ours, "a page on", next);
	key_press(f, &s, ours, "a page on", next);
	key_press(f, &s, ours, "a page back", previous);
	key_press(f, &s, ours, "another key", "x");
	key_press(f, &s, ours, "end", end);
	key_press(f, &s, ours, "a page back", previous);
	key_press(f, &s, ours, "home", home);
	page_draw(&s, 5);
	key_press(f, &s, ours, "end of what has room", end);
	begin = clock_now();
	key = screen_wait(&s, 30);
	fprintf(f, "no key: %d, %s\n", key,
		clock_now() - begin >= 30 * NSEC_PER_MSEC ? "in time" : "early");
	raise(SIGTERM);
	fprintf(f, "an end that came before the wait: %d\n", screen_wait(&s, -1));
	screen_close(&s);
}

void unit_screen(void)
{
	char text[8192] = "";
	size_t n = 0;
	int ends[2];
	pid_t pid;

	if (pipe(ends)) {
		CHECK(false, "a pipe");
		return;
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		FILE *f = fdopen(ends[1], "w");

		if (f) {
			terminal_check(f);
			fclose(f);
		}
		/* ncurses leaks by design. */
		_exit(0);
	}
	close(ends[1]);
	while (n < sizeof(text) - 1) {
		ssize_t more = read(ends[0], text + n, sizeof(text) - 1 - n);

		if (more <= 0)
			break;
		n += (size_t)more;
	}
	close(ends[0]);
	waitpid(pid, NULL, 0);
	text_is(text,
		"terminal 1\n"
		"a page: 14 put, 0 away\n"
		"*|the head\n"
		" |line 1 and more than has\n"
		" |line 2 and more than has\n"
		" |line 3 and more than has\n"
		" |line 4 and more than has\n"
		" |line 5 and more than has\n"
		" |line 6 and more than has\n"
		" |line 7 and more than has\n"
		" |line 8 and more than has\n"
		" |line 9 and more than has\n"
		"up at the top: -1, 0 away\n"
		"down: -1, 1 away\n"
		"down: -1, 2 away\n"
		"two lines on: 14 put, 2 away\n"
		"*|the head\n"
		" |line 3 and more than has\n"
		" |line 4 and more than has\n"
		" |line 5 and more than has\n"
		" |line 6 and more than has\n"
		" |line 7 and more than has\n"
		" |line 8 and more than has\n"
		" |line 9 and more than has\n"
		" |line 10 and more than ha\n"
		" |line 11 and more than ha\n"
		"up: -1, 1 away\n"
		"end: -1, 4 away\n"
		"down at the end: -1, 4 away\n"
		"the end: 14 put, 4 away\n"
		"*|the head\n"
		" |line 5 and more than has\n"
		" |line 6 and more than has\n"
		" |line 7 and more than has\n"
		" |line 8 and more than has\n"
		" |line 9 and more than has\n"
		" |line 10 and more than ha\n"
		" |line 11 and more than ha\n"
		" |line 12 and more than ha\n"
		" |line 13 and more than ha\n"
		"home: -1, 0 away\n"
		"a page on: -1, 8 away\n"
		"a page on: -1, 16 away\n"
		"a page back: -1, 8 away\n"
		"another key: 120, 8 away\n"
		"end: -1, 30 away\n"
		"a page back: -1, 22 away\n"
		"home: -1, 0 away\n"
		"end of what has room: -1, 0 away\n"
		"no key: 0, in time\n"
		"an end that came before the wait: 113\n",
		"the terminal after each key");
}

#else

void unit_screen(void)
{
}
#endif
