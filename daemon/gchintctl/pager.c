// SPDX-License-Identifier: GPL-2.0-or-later
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

static const char *pager_command(void)
{
	const char *name = getenv("GCHINT_PAGER");

	if (!name)
		name = getenv("PAGER");
	if (!name)
		name = "less";
	return *name && strcmp(name, "cat") ? name : NULL;
}

void pager_start(void)
{
	const char *name = pager_command();
	int ends[2];

	if (!name || !isatty(STDOUT_FILENO) || pipe2(ends, O_CLOEXEC))
		return;
	fflush(stdout);
	pager = fork();
	if (!pager) {
		dup2(ends[0], STDIN_FILENO);
		/* F: quit if the text fits on one screen; X: leave it there afterwards. */
		setenv("LESS", "FX", 0);
		execlp("sh", "sh", "-c", name, (char *)NULL);
		_exit(127);
	}
	if (pager > 0)
		dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
}

void pager_end(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	/* The pager reads until every write end of the pipe is closed. */
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
