// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that commands write. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"

/* The first bytes of every SQLite file, the NUL too. */
static bool is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof(magic)];
	struct stat st;
	FILE *f;
	bool is;

	/* A pipe or a terminal would wait for somebody to write. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	is = fread(head, sizeof(head), 1, f) == 1 && !memcmp(head, magic, sizeof(magic));
	fclose(f);
	return is;
}

/*
 * What is written until it is whole: beside its place, so that no reader sees half of it
 * and what was there before stays if we fail. One at a time.
 */
static struct {
	char temporary[PATH_MAX + 8]; /* "" written in its place: a pipe, a device */
	char place[PATH_MAX];
} output;

static void on_end(int signo)
{
	unlink(output.temporary);
	signal(signo, SIG_DFL);
	raise(signo);
}

/* An end by the keyboard or by kill leaves nothing beside; a caller's own wish stays. */
static void watch_end(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (signal(ends[i], on_end) == SIG_IGN)
			signal(ends[i], SIG_IGN);
}

static FILE *create_beside(const char *path, const struct stat *before)
{
	mode_t mask = umask(0);
	FILE *f = NULL;
	int fd;

	umask(mask);
	/* A link stays a link: what it leads to is replaced. */
	if (!realpath(path, output.place))
		snprintf(output.place, sizeof(output.place), "%s", path);
	snprintf(output.temporary, sizeof(output.temporary), "%s.XXXXXX", output.place);
	fd = mkostemp(output.temporary, O_CLOEXEC);
	if (fd >= 0) {
		watch_end();
		if (fchmod(fd, before ? before->st_mode & 0777 : 0666 & ~mask) ||
		    !(f = fdopen(fd, "w"))) {
			close(fd);
			unlink(output.temporary);
		}
	}
	return f;
}

/* /dev/stdout and its like: the caller's own, which has its place in the file by now. */
static bool is_stdout(const struct stat *st)
{
	struct stat own;

	return !fstat(STDOUT_FILENO, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

/* A file that is open and has no name any more, by /proc: nothing can be put in its place. */
static bool has_no_name(const char *path)
{
	char *place = realpath(path, NULL);

	free(place);
	return !place;
}

FILE *ctl_create(const char *path)
{
	struct stat st;
	bool there = !stat(path, &st);
	FILE *f;

	if (is_database(path)) {
		ctl_error("%s: is a database, and stays; name another output with -o", path);
		return NULL;
	}
	output.temporary[0] = '\0';
	if (there && is_stdout(&st))
		f = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "w");
	else if (there && (!S_ISREG(st.st_mode) || has_no_name(path)))
		f = fopen(path, "we");
	else
		f = create_beside(path, there ? &st : NULL);
	/* In a folder of somebody else there is no beside. */
	if (!f && there && errno == EACCES) {
		output.temporary[0] = '\0';
		f = fopen(path, "we");
	}
	if (!f)
		ctl_error("%s: %s", path, strerror(errno));
	return f;
}

void ctl_discard(FILE *f)
{
	fclose(f);
	if (*output.temporary)
		unlink(output.temporary);
}

int ctl_commit(FILE *f, const char *path)
{
	/* Before the name: after a crash it is the old file, or the new one whole. */
	bool good = !fflush(f) && !ferror(f) && (!*output.temporary || !fsync(fileno(f)));
	int error = good ? 0 : errno;

	if (fclose(f) && !error)
		error = errno;
	if (*output.temporary) {
		if (!error && rename(output.temporary, output.place))
			error = errno;
		if (error)
			unlink(output.temporary);
	}
	if (error)
		ctl_error("%s: %s", path, strerror(error));
	return error ? CTL_FILE : CTL_OK;
}
