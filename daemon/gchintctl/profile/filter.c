// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a recorder of "profile record" keeps: set when it starts, changed while it runs. For a
 * change its configuration file is rewritten, and SIGHUP makes the recorder read it again.
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/root.h"
#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "profile.h"

#define CONFIG "--config=/tmp/gchint-profile."

static bool option_check(const char *option, const char *value, size_t room)
{
	if (!value || (strlen(value) < room && *value && !strchr(value, '\n')))
		return true;
	ctl_error("profile: %s takes one line of up to %zu characters", option, room - 1);
	return false;
}

bool profile_keep_good(const struct profile_keep *keep)
{
	return option_check("--command", keep->command, 128) &&
	       option_check("--cgroup", keep->cgroup, 256) &&
	       option_check("--unit", keep->unit, 128) &&
	       option_check("--method", keep->method, 400);
}

int profile_keep_write(const char *path, const struct profile_keep *keep)
{
	const struct {
		const char *key, *value;
	} line[] = { { "command", keep->command },
		     { "cgroup", keep->cgroup },
		     { "unit", keep->unit },
		     { "method", keep->method },
		     { "phases", keep->phase } };
	char new[128];
	FILE *f;

	snprintf(new, sizeof(new), "%s.new", path);
	f = fopen(new, "we");
	if (!f)
		return -errno;
	fprintf(f, "[library]\nperiod_ms = 20\n[hotspots]\nenabled = yes\nhz = %s\nsignal = %s\n",
		keep->frequency, keep->signal ? "yes" : "no");
	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		if (line[i].value)
			fprintf(f, "%s = %s\n", line[i].key, line[i].value);
	/* Renamed into place, so that the recorder never reads an incomplete file. */
	return fclose(f) || rename(new, path) ? -errno : 0;
}

static bool process_has_open(long pid, const struct stat *file)
{
	char pattern[64];
	struct stat st;
	glob_t fds = { 0 };
	bool found = false;

	snprintf(pattern, sizeof(pattern), "/proc/%ld/fd/*", pid);
	if (!glob(pattern, GLOB_NOSORT, NULL, &fds))
		for (size_t i = 0; i < fds.gl_pathc && !found; i++)
			found = !stat(fds.gl_pathv[i], &st) && st.st_ino == file->st_ino &&
				st.st_dev == file->st_dev;
	globfree(&fds);
	return found;
}

/*
 * Finds the configuration file of a recorder of "profile record"; false for any other process.
 * Any process can have any command line, and the file that it names is overwritten: only
 * processes of our own user are trusted.
 */
static bool recorder_config(long pid, char *config, size_t size)
{
	char text[4096], path[32];
	struct stat st;
	int n = root_read(text, sizeof(text) - 1, "/proc/%ld/cmdline", pid);

	snprintf(path, sizeof(path), "/proc/%ld", pid);
	if (stat(path, &st) || st.st_uid != geteuid())
		return false;
	for (int at = 0; at < n; at += (int)strlen(text + at) + 1)
		if (!strncmp(text + at, CONFIG, strlen(CONFIG))) {
			snprintf(config, size, "%s", text + at + strlen("--config="));
			return true;
		}
	return false;
}

static long recorder_find(const char *file, char *config, size_t size)
{
	glob_t all = { 0 };
	struct stat st;
	long found = 0;

	if (stat(file, &st)) {
		ctl_error("%s: %s", file, strerror(errno));
		return 0;
	}
	if (!glob("/proc/[1-9]*", GLOB_NOSORT, NULL, &all))
		for (size_t i = 0; i < all.gl_pathc && !found; i++) {
			const long pid = strtol(all.gl_pathv[i] + strlen("/proc/"), NULL, 10);

			if (recorder_config(pid, config, size) && process_has_open(pid, &st))
				found = pid;
		}
	globfree(&all);
	if (!found)
		ctl_error("%s: no gchintctl profile record of this user writes to it", file);
	return found;
}

/* Reads back the frequency and the signal option, which a change of filter leaves alone. */
static bool config_read(const char *config, struct profile_keep *keep, char *hz, size_t size)
{
	char text[2048], *at;

	if (root_read(text, sizeof(text), "%s", config) <= 0)
		return false;
	at = strstr(text, "\nhz = ");
	snprintf(hz, size, "%ld", at ? strtol(at + 6, NULL, 10) : 999);
	keep->frequency = hz;
	keep->signal = strstr(text, "\nsignal = yes") != NULL;
	return true;
}

/*
 * Waits for the notes that the recorder writes after it read the configuration, and prints them.
 * It commits twice a second.
 */
static bool recorder_print_notes(const char *file, int64_t since)
{
	for (int i = 0; i < 100; i++, usleep(100000)) {
		sqlite3 *db = db_open(file);
		sqlite3_stmt *s =
			db ? db_select(db, notes,
				       "WHERE rowid > ?1 AND source IN ('hotspots', 'config')",
				       COLUMN(notes, text)) :
			     NULL;
		bool taken = false;

		if (!db)
			return false;
		sqlite3_bind_int64(s, 1, since);
		while (db_next(s)) {
			fprintf(stderr, "gchintctl: %s\n", db_text(s, COLUMN(notes, text), ""));
			taken = true;
		}
		sqlite3_finalize(s);
		sqlite3_close(db);
		if (taken)
			return true;
	}
	ctl_error("%s: its recorder did not confirm the filter within 10 s", file);
	return false;
}

int profile_filter(const char *file, struct profile_keep *keep)
{
	char config[96], hz[24];
	int64_t since = 0;
	sqlite3 *db = db_open(file);
	long pid;
	int ret;

	if (!db)
		return CTL_FILE;
	db_number(db, "SELECT max(rowid) FROM notes", 0, &since);
	sqlite3_close(db);
	pid = recorder_find(file, config, sizeof(config));
	if (!pid)
		return CTL_DAEMON;
	ret = config_read(config, keep, hz, sizeof(hz)) ? profile_keep_write(config, keep) :
							  -ENOENT;
	if (!ret && kill((pid_t)pid, SIGHUP))
		ret = -errno;
	if (ret) {
		ctl_error("%s: %s", config, strerror(-ret));
		return CTL_DAEMON;
	}
	return recorder_print_notes(file, since) ? CTL_OK : CTL_DAEMON;
}
