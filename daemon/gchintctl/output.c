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

/* The first bytes of every SQLite file, including the NUL. */
static bool is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof(magic)];
	struct stat st;
	FILE *f;
	bool is;

	/* Reading a pipe or a terminal would block. */
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
 * The file that is being written, under a temporary name in the same directory: no reader sees
 * half of it, and the previous file survives a failure. Only one at a time.
 */
static struct {
	char temporary[PATH_MAX + 8]; /* "": written in place, as a pipe or a device */
	char place[PATH_MAX];
} output;

static void on_signal(int signo)
{
	unlink(output.temporary);
	signal(signo, SIG_DFL);
	raise(signo);
}

/*
 * Remove the temporary file when a signal ends the command. Signals that the caller ignores stay
 * ignored.
 */
static void signals_catch(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (signal(ends[i], on_signal) == SIG_IGN)
			signal(ends[i], SIG_IGN);
}

static FILE *temporary_create(const char *path, const struct stat *before)
{
	mode_t mask = umask(0);
	FILE *f = NULL;
	int fd;

	umask(mask);
	/* A symbolic link is kept: its target is replaced. */
	if (!realpath(path, output.place))
		snprintf(output.place, sizeof(output.place), "%s", path);
	snprintf(output.temporary, sizeof(output.temporary), "%s.XXXXXX", output.place);
	fd = mkostemp(output.temporary, O_CLOEXEC);
	if (fd >= 0) {
		signals_catch();
		if (fchmod(fd, before ? before->st_mode & 0777 : 0666 & ~mask) ||
		    !(f = fdopen(fd, "w"))) {
			close(fd);
			unlink(output.temporary);
		}
	}
	return f;
}

/* /dev/stdout and the like: the caller's open file, whose offset must be kept. */
static bool is_stdout(const struct stat *st)
{
	struct stat own;

	return !fstat(STDOUT_FILENO, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

/* An open file that was deleted, named through /proc: no file can be renamed to it. */
static bool has_no_name(const char *path)
{
	char *place = realpath(path, NULL);

	free(place);
	return !place;
}

FILE *ctl_create(const char *path)
{
	const bool own = !strcmp(path, "-"); /* standard output, as for other programs */
	struct stat st;
	bool there = own || !stat(path, &st);
	FILE *f;

	if (!own && is_database(path)) {
		ctl_error("%s: is a database, which is never replaced; name another output with -o",
			  path);
		return NULL;
	}
	output.temporary[0] = '\0';
	if (own || (there && is_stdout(&st)))
		f = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "w");
	else if (there && (!S_ISREG(st.st_mode) || has_no_name(path)))
		f = fopen(path, "we");
	else
		f = temporary_create(path, there ? &st : NULL);
	/* Without permission to create files in the directory, write in place. */
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
	/* Sync before the rename: after a crash the name has the old file or the whole new one. */
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

int ctl_directory(char *path, size_t size, const char *name)
{
	int ret;

	snprintf(path, size, "/tmp/%s.XXXXXX", name);
	if (mkdtemp(path))
		return 0;
	ret = -errno;
	if (ret != -EROFS && ret != -ENOENT)
		return ret;
	snprintf(path, size, "/dev/shm/%s.XXXXXX", name);
	if (mkdtemp(path))
		return 0;
	snprintf(path, size, "/tmp and /dev/shm");
	return ret;
}
