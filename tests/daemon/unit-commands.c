// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: gchintctl's commands without memory. Each allocation of each of them fails once: the
 * command reports it and exits with an error, or prints its complete output.
 */
#include "unit.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../daemon/gchintctl/ctl.h"
#include "../../daemon/recording/reader/db.h"

/* Beyond this number not every allocation is tried, but about every fourth. */
#define EACH  24
#define WORDS 8
/* Added to a command's status where an allocation has failed; no program uses it. */
#define SCARCE	64
#define UNKNOWN 127

typedef int command(const struct ctl *ctl, int argc, char **argv);

static const struct row {
	command *run;
	bool json;
	const char *file; /* its output file, or NULL */
	const char *word[WORDS];
} rows[] = {
	{ cmd_summary, false, NULL, { "summary", "a.db" } },
	{ cmd_summary, true, NULL, { "summary", "a.db" } },
	{ cmd_why, false, NULL, { "why", "a.db" } },
	{ cmd_why, false, NULL, { "why", "a.db", "--at", "0.703" } },
	{ cmd_compare, false, NULL, { "compare", "a.db", "--", "b.db" } },
	{ cmd_compare, true, NULL, { "compare", "a.db", "--", "b.db" } },
	{ cmd_top, false, NULL, { "top", "-n", "1", "a.db" } },
	{ cmd_top, true, NULL, { "top", "-n", "1", "a.db" } },
	{ cmd_export, false, "x", { "export", "a.db", "-f", "firefox", "-o", "x" } },
	{ cmd_export, false, "x", { "export", "a.db", "-f", "openmetrics", "-o", "x" } },
	{ cmd_export, false, "x", { "export", "a.db", "-f", "perfetto", "-o", "x" } },
	{ cmd_report, false, "x", { "report", "a.db", "-o", "x" } },
	{ cmd_report, false, "x", { "report", "-o", "x", "a.db", "--", "b.db" } },
	{ cmd_profile, false, NULL, { "profile", "report", "p.db" } },
	{ cmd_profile,
	  false,
	  "x",
	  { "profile", "export", "p.db", "--format", "speedscope", "-o", "x" } },
	{ cmd_profile,
	  false,
	  "x",
	  { "profile", "export", "p.db", "--format", "firefox", "-o", "x" } },
	{ cmd_profile, false, "x", { "profile", "flame", "p.db", "-o", "x" } },
	{ cmd_profile, false, NULL, { "profile", "flame", "p.db", "--folded" } },
	{ cmd_profile, false, NULL, { "profile", "diff", "p.db", "p.db" } },
};

/* Error messages of the commands under test. */
static char told[2048];

void __wrap_ctl_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void __wrap_error_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void told_append(const char *fmt, va_list args)
{
	size_t used = strlen(told);

	vsnprintf(told + used, sizeof(told) - used, fmt, args);
}

void __wrap_ctl_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	told_append(fmt, args);
	va_end(args);
}

/* The same from the directories that both programs use. */
void __wrap_error_print(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	told_append(fmt, args);
	va_end(args);
}

/*
 * The content of a file, with a NUL after it; "" without one. No larger than needed: it is copied
 * for each process that follows, and searched for leaks at its end.
 */
static char *text_of(const char *path, size_t *size)
{
	FILE *in = fopen(path, "re");
	struct stat st = { 0 };
	char *text;

	if (in && fstat(fileno(in), &st))
		abort();
	text = calloc(1, (size_t)st.st_size + 1);
	*size = in && text ? fread(text, 1, (size_t)st.st_size, in) : 0;
	if (in)
		fclose(in);
	return text;
}

/*
 * In a process of its own, as in real use: otherwise they would share state. Returns its status,
 * plus SCARCE where an allocation has failed; its output is in "out" and "err". A sanitizer's own
 * status for a leak is neither.
 */
static int command_run(const struct row *row, long allocations)
{
	const struct ctl ctl = { .json = row->json };
	char *argv[WORDS + 1] = { NULL };
	int argc = 0, status = -1, ret;
	FILE *err;
	pid_t pid;

	fflush(stdout);
	unlink("x");
	pid = fork();
	if (pid) {
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			abort();
		return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	while (argc < WORDS && row->word[argc]) {
		argv[argc] = (char *)row->word[argc];
		argc++;
	}
	if (!freopen("out", "w", stdout))
		exit(UNKNOWN);
	optind = 0;
	told[0] = '\0';
	unit_memory_left(allocations);
	ret = row->run(&ctl, argc, argv);
	ret = (!ret && db_broken() ? CTL_FILE : ret) + (unit_memory_failed() ? SCARCE : 0);
	unit_memory_left(-1);
	err = fopen("err", "we");
	if (err) {
		fputs(told, err);
		fclose(err);
	}
	exit(ret);
}

static void row_try(const struct row *row)
{
	const char *file = row->file ?: "out";
	char name[160] = "", *whole, *said, *err;
	long n = 0, fewer = 0;
	size_t size, said_size, err_size;
	int as_ever = command_run(row, -1), ret = SCARCE;
	bool good;

	whole = text_of(file, &size);
	good = size && as_ever < SCARCE;
	for (; good && ret >= SCARCE; n += n < EACH ? 1 : n / 4) {
		ret = command_run(row, n);
		said = text_of(file, &said_size);
		err = text_of("err", &err_size);
		good = (ret == as_ever || ret == as_ever + SCARCE) && said_size == size &&
		       !memcmp(said, whole, size);
		/* What was read may stay if it reports that it is incomplete. */
		if (ret > SCARCE && ret <= SCARCE + CTL_DAEMON && strstr(err, "memory") &&
		    (!row->file || access(file, F_OK) || ret == SCARCE + CTL_FILE)) {
			good = true;
			fewer++;
		}
		if (!good)
			printf("# allocation %ld: status %d, %zu bytes of %zu, \"%s\"\n", n,
			       ret % SCARCE, said_size, size, err);
		free(said);
		free(err);
	}
	free(whole);
	for (size_t i = 0; i < WORDS && row->word[i]; i++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s ", row->word[i]);
	snprintf(name + strlen(name), sizeof(name) - strlen(name), "%swithout memory",
		 row->json ? "in JSON " : "");
	CHECK(good && fewer, name);
}

/* By SQLite's shell, whose series function these texts use. */
static bool database_fill(const char *path, const char *sources)
{
	char line[256];

	snprintf(line, sizeof(line), "cat %s | sqlite3 %s", sources, path);
	return !system(line);
}

void unit_commands(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64], *search = getenv("PATH");
	const int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = home >= 0 && mkdtemp(dir);

	search = search ? strdup(search) : NULL;
	for (const char *name = "ab"; good && *name; name++) {
		snprintf(path, sizeof(path), "%s/%c.db", dir, *name);
		good = database_fill(path, "recordings/0.1.0.sql recordings/everything.sql");
	}
	snprintf(path, sizeof(path), "%s/p.db", dir);
	good = good &&
	       database_fill(
		       path,
		       "recordings/0.1.0.sql recordings/everything.sql recordings/profile.sql") &&
	       !chdir(dir);
	CHECK(good, "every command survives a failed allocation");
	setenv("PATH", dir, 1);
	for (size_t i = 0; good && i < sizeof(rows) / sizeof(rows[0]); i++)
		row_try(&rows[i]);
	if (search)
		setenv("PATH", search, 1);
	free(search);
	if (fchdir(home))
		abort();
	close(home);
	unit_remove(dir);
}
