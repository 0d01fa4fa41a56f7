// SPDX-License-Identifier: GPL-2.0-or-later
#include "token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regular.h"

#define TOKEN_MIN 16 /* characters; a shorter token could be guessed over a network */

/*
 * Returns how many characters it has, or -errno. The mode in @st is that of the file which was read, even
 * if the path was replaced.
 */
static int token_read_file(const char *path, char token[TOKEN_SIZE], struct stat *st)
{
	ssize_t n;
	int fd;

	errno = EINVAL; /* no regular file */
	fd = regular_open(path, 0, st);
	if (fd < 0)
		return -errno;
	n = read(fd, token, TOKEN_SIZE - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	while (n && (token[n - 1] == '\n' || token[n - 1] == ' '))
		n--;
	token[n] = '\0';
	return (int)n;
}

bool token_read(const char *path, char token[TOKEN_SIZE], char *why, size_t size)
{
	struct stat st;
	const int n = token_read_file(path, token, &st);

	if (n < 0)
		snprintf(why, size, "%s", n == -EINVAL ? "no regular file" : strerror(-n));
	else if (st.st_mode & S_IROTH)
		snprintf(why, size, "readable by all users; chmod o= it");
	else if (n < TOKEN_MIN)
		snprintf(why, size, "a secret of at least %d characters is needed", TOKEN_MIN);
	else
		return true;
	token[0] = '\0';
	return false;
}
