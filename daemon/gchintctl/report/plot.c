// SPDX-License-Identifier: GPL-2.0-or-later
#include "plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../common/escape.h"
#include "../ctl.h"

const char *plot_phase_colour(unsigned int group)
{
	/* Warm colours for pauses, cool ones for concurrent work; distinguishable with the
	 * common forms of colour blindness (after Okabe and Ito, jfly.uni-koeln.de/color). */
	static const char *const colours[GCHINT_PHASE_NR] = {
		[GCHINT_PHASE_NONE] = "#b8bec6",      [GCHINT_PHASE_COLLECT] = "#d55e00",
		[GCHINT_PHASE_SAFEPOINT] = "#8c510a", [GCHINT_PHASE_ROOTS] = "#e69f00",
		[GCHINT_PHASE_MARK] = "#0072b2",      [GCHINT_PHASE_REMARK] = "#cc3311",
		[GCHINT_PHASE_REFS] = "#ee99aa",      [GCHINT_PHASE_SWEEP] = "#009e73",
		[GCHINT_PHASE_COPY] = "#56b4e9",      [GCHINT_PHASE_COMPACT] = "#7b5ea7",
		[GCHINT_PHASE_TRIM] = "#94a323",      [GCHINT_PHASE_WAIT] = "#cc79a7",
		[GCHINT_PHASE_WORK] = "#5f7f8f",
	};
	unsigned int phase = group / CLASS_NR;

	return phase < GCHINT_PHASE_NR ? colours[phase] : "#999999";
}

const char *plot_line_colour(size_t i)
{
	static const char *const colours[] = { "#1b5e9e", "#d1495b", "#2a8c6a", "#b07aa1",
					       "#edae49", "#66798a", "#7d4f2a", "#00798c" };

	return colours[i % (sizeof(colours) / sizeof(colours[0]))];
}

static void script_set_output(const struct plot *p, const char *name, int width, int height)
{
	fprintf(p->script,
		"set terminal svg size %d,%d dynamic enhanced font 'DejaVu "
		"Sans,Helvetica,sans-serif,"
		"13' background '#ffffff'\n"
		"set output '%s/%s'\n",
		width, height, p->dir, name);
}

int plot_begin(struct plot *p, int width, int height)
{
	char path[64];

	*p = (struct plot){ .dir = "/tmp/gchintctl.XXXXXX", .width = width, .height = height };
	if (!mkdtemp(p->dir))
		return -errno;
	snprintf(path, sizeof(path), "%s/script", p->dir);
	p->script = fopen(path, "w");
	if (!p->script)
		return -errno;
	script_set_output(p, "picture", width, height);
	fputs("set border 3 lc rgb '#4a5561'\n"
	      "set tics nomirror textcolor rgb '#33404d'\n"
	      "set grid ytics lc rgb '#e3e7ec' lt 1 lw 1\n",
	      p->script);
	return 0;
}

void plot_text(FILE *script, const char *s)
{
	fputc('\'', script);
	for (; *s; s++) {
		if (*s == '\'')
			fputc('\'', script);
		fputc((unsigned char)*s < 0x20 ? ' ' : *s, script);
	}
	fputc('\'', script);
}

static void base64_write(FILE *in, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char b[3];
	size_t n;

	while ((n = fread(b, 1, 3, in)) > 0) {
		unsigned int v = (unsigned int)b[0] << 16 | (n > 1 ? (unsigned int)b[1] << 8 : 0) |
				 (n > 2 ? b[2] : 0u);

		fputc(digits[v >> 18], out);
		fputc(digits[v >> 12 & 63], out);
		fputc(n > 1 ? digits[v >> 6 & 63] : '=', out);
		fputc(n > 2 ? digits[v & 63] : '=', out);
	}
}

static int gnuplot_run(const struct plot *p)
{
	char script[64], log[64];
	int status;
	pid_t pid;

	snprintf(script, sizeof(script), "%s/script", p->dir);
	snprintf(log, sizeof(log), "%s/log", p->dir);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		if (!freopen(log, "w", stderr))
			_exit(126);
		execlp("gnuplot", "gnuplot", script, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static void log_report(const struct plot *p)
{
	char path[64], line[256];
	bool any = false;
	FILE *log;

	snprintf(path, sizeof(path), "%s/log", p->dir);
	log = fopen(path, "r");
	while (log && fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			continue;
		ctl_error("gnuplot: %s", line);
		any = true;
	}
	if (log)
		fclose(log);
	if (!any)
		ctl_error("gnuplot: it drew no picture and printed no reason");
}

static void plot_remove_files(const struct plot *p)
{
	static const char *const files[] = { "script", "picture", "narrow", "log" };
	char path[64];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->dir, files[i]);
		unlink(path);
	}
	rmdir(p->dir);
}

static FILE *picture_open(const struct plot *p, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	return fopen(path, "r");
}

static void picture_embed(FILE *html, FILE *svg)
{
	fputs("data:image/svg+xml;base64,", html);
	base64_write(svg, html);
	fclose(svg);
}

int plot_end(struct plot *p, FILE *html, const char *alt)
{
	static bool reported; /* once for all pictures of a page */
	FILE *wide = NULL, *narrow = NULL;
	int ret;

	if (p->narrow) {
		script_set_output(p, "narrow", PLOT_NARROW, p->narrow_height);
		fprintf(p->script, "%s\nreplot\n", p->narrow);
	}
	ret = fclose(p->script) ? -errno : gnuplot_run(p);
	if (!ret) {
		wide = picture_open(p, "picture");
		narrow = p->narrow ? picture_open(p, "narrow") : NULL;
		if (!wide || (p->narrow && !narrow))
			ret = -EIO;
	}
	if (ret) {
		if (ret != -ENOENT)
			log_report(p);
		else if (!reported)
			ctl_error("gnuplot is not installed: apt install gnuplot-nox; the page "
				  "lacks its pictures");
		reported = reported || ret == -ENOENT;
		fputs("<p class=\"missing\">This picture could not be drawn.</p>\n", html);
	} else {
		fputs("<div class=\"plot\"><picture>", html);
		if (narrow) {
			fprintf(html,
				"<source media=\"(max-width:640px)\" width=\"%d\" "
				"height=\"%d\" srcset=\"",
				PLOT_NARROW, p->narrow_height);
			picture_embed(html, narrow);
			fputs("\">", html);
			narrow = NULL;
		}
		fprintf(html, "<img width=\"%d\" height=\"%d\"%s alt=\"", p->width, p->height,
			p->narrow ? "" : " class=\"wide\"");
		escape_html(html, alt);
		fputs("\" src=\"", html);
		picture_embed(html, wide);
		wide = NULL;
		fputs("\"></picture></div>\n", html);
	}
	if (wide)
		fclose(wide);
	if (narrow)
		fclose(narrow);
	plot_remove_files(p);
	return ret;
}
