// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen.h"

#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_NCURSES
#include <ncurses.h>
#endif

#include "../../common/printable.h"

static volatile sig_atomic_t ended;

static void on_signal(int signo)
{
	ended = signo;
}

#ifdef HAVE_NCURSES
static SCREEN *terminal;

static bool terminal_open(void)
{
	/* Without a locale ncurses takes non-ASCII bytes for control characters. */
	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return false;
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	return true;
}

static void terminal_close(void)
{
	endwin();
	delscreen(terminal);
}

static void terminal_page(struct screen *s)
{
	erase();
	getmaxyx(stdscr, s->rows, s->columns);
}

static void terminal_put(struct screen *s, int row, bool bold, const char *text)
{
	attrset(bold ? A_BOLD : A_NORMAL);
	mvaddnstr(row, 0, text, s->columns);
}

static void terminal_show(void)
{
	refresh();
}

static int terminal_key(struct screen *s)
{
	const int page = s->rows > 2 ? s->rows - 2 : 1, last = s->row - s->rows;
	int key = getch(), top = s->top;

	switch (key) {
	case ERR:
		return 0;
	case KEY_RESIZE:
		clearok(stdscr, TRUE);
		return SCREEN_AGAIN;
	case KEY_UP:
		top--;
		break;
	case KEY_DOWN:
		top++;
		break;
	case KEY_PPAGE:
		top -= page;
		break;
	case KEY_NPAGE:
		top += page;
		break;
	case KEY_HOME:
		top = 0;
		break;
	case KEY_END:
		top = last;
		break;
	default:
		return key;
	}
	top = top > last ? last : top;
	s->top = top < 0 ? 0 : top;
	return SCREEN_AGAIN;
}
#else
static bool terminal_open(void)
{
	return false;
}

static void terminal_close(void)
{
}

static void terminal_page(struct screen *s)
{
	(void)s;
}

static void terminal_put(struct screen *s, int row, bool bold, const char *text)
{
	(void)s;
	(void)row;
	(void)bold;
	(void)text;
}

static void terminal_show(void)
{
}

static int terminal_key(struct screen *s)
{
	(void)s;
	return 0;
}
#endif

void screen_open(struct screen *s)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t signals;

	memset(s, 0, sizeof(*s));
	/* Before newterm(): ncurses keeps handlers that are already installed. */
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		sigaction(ends[i], &sa, NULL);
		sigaddset(&signals, ends[i]);
	}
	/*
	 * Blocked everywhere but in ppoll(): a signal just before it would otherwise not
	 * interrupt the wait.
	 */
	sigprocmask(SIG_BLOCK, &signals, &s->waiting);
	s->tty = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && terminal_open();
}

void screen_close(struct screen *s)
{
	if (s->tty)
		terminal_close();
}

void screen_page(struct screen *s)
{
	if (s->tty)
		terminal_page(s);
	s->row = 0;
}

__attribute__((format(printf, 3, 0))) static void screen_put_line(struct screen *s, bool bold,
								  const char *fmt, va_list ap)
{
	char line[512], *clean = NULL;
	int row = s->row++;
	size_t size = 0;
	FILE *f;

	if (s->tty && row)
		row -= s->top;
	if (s->tty && (row >= s->rows || (s->row > 1 && row < 1)))
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	f = open_memstream(&clean, &size);
	if (!f)
		return;
	for (char *c = line; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	printable(f, line, strlen(line));
	if (fclose(f)) {
		free(clean);
		return;
	}
	if (s->tty)
		terminal_put(s, row, bold, clean);
	else
		puts(clean);
	free(clean);
}

void screen_line(struct screen *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	screen_put_line(s, false, fmt, ap);
	va_end(ap);
}

void screen_head(struct screen *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	screen_put_line(s, true, fmt, ap);
	va_end(ap);
}

void screen_show(struct screen *s)
{
	if (s->tty)
		terminal_show();
	else
		fflush(stdout);
}

int screen_wait(struct screen *s, int ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	int ret = ppoll(&p, s->tty ? 1 : 0, ms < 0 ? NULL : &time, &s->waiting);

	/* Without its terminal, stdin is always ready, and no signal need arrive. */
	if (ended || (ret > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return 'q';
	/* SIGWINCH interrupts the wait too (ret < 0); getch() then returns KEY_RESIZE. */
	return ret && s->tty ? terminal_key(s) : 0;
}
