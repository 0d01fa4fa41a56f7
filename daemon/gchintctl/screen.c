// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static volatile sig_atomic_t ended;

static void on_signal(int signo)
{
	ended = signo;
}

static void size(struct screen *s)
{
	struct winsize w;

	s->rows = 24;
	s->columns = 80;
	if (s->tty && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row && w.ws_col) {
		s->rows = w.ws_row;
		s->columns = w.ws_col;
	}
}

void screen_open(struct screen *s)
{
	struct sigaction sa = { .sa_handler = on_signal };

	memset(s, 0, sizeof(*s));
	s->tty = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	size(s);
	if (!s->tty)
		return;
	if (!tcgetattr(STDIN_FILENO, &before)) {
		struct termios raw = before;

		raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	/* The other page, no cursor. */
	fputs("\033[?1049h\033[?25l", stdout);
}

void screen_close(struct screen *s)
{
	if (!s->tty)
		return;
	/* Keys first: who sees the old page may type at once. */
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
}

void screen_page(struct screen *s)
{
	size(s);
	s->row = 0;
	if (s->tty)
		fputs("\033[H", stdout);
}

__attribute__((format(printf, 3, 0))) static void put(struct screen *s, bool bold, const char *fmt,
						      va_list ap)
{
	char line[512];

	/* The last row stays free: a newline there would scroll. */
	if (s->tty && s->row >= s->rows - 1)
		return;
	s->row++;
	vsnprintf(line, sizeof(line), fmt, ap);
	if (!s->tty) {
		puts(line);
		return;
	}
	printf("%s%.*s%s\033[K\n", bold ? "\033[1m" : "", s->columns, line, bold ? "\033[0m" : "");
}

void screen_line(struct screen *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(s, false, fmt, ap);
	va_end(ap);
}

void screen_head(struct screen *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(s, true, fmt, ap);
	va_end(ap);
}

void screen_show(struct screen *s)
{
	if (s->tty)
		fputs("\033[J", stdout);
	fflush(stdout);
}

int screen_wait(struct screen *s, int ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (ended)
		return 'q';
	if (poll(&p, s->tty ? 1 : 0, ms) > 0 && read(STDIN_FILENO, &key, 1) == 1)
		return key;
	return ended ? 'q' : 0;
}
