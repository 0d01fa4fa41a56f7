// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gchintctl record -- COMMAND: starts a gchintd of its own, waits until it is ready, runs the
 * command, and stops the daemon. The daemon reports readiness as to systemd: the socket in
 * NOTIFY_SOCKET is ours.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../ctl.h"
#include "../../analysis/cost.h"
#include "../../recording/reader/db.h"
#include "../recording/annotations.h"
#include "child.h"
#include "hint-count.h"
#include "hint-report.h"
#include "monitor.h"
#include "record.h"
#include "runtime.h"

static const char usage[] =
	"usage: gchintctl record [-o FILE] [-l LABEL] [-p MS] [-f] [--command]\n"
	"                        [--gchintd PROGRAM] [--option OPTION]... -- COMMAND "
	"[ARGUMENT]...\n"
	"Starts a recording, runs COMMAND as it is (gchintctl run loads the adapter of its\n"
	"runtime), stops the recording, and exits with COMMAND's own\n"
	"status (128 + the number of the signal that ended it; 126 or 127 if it could not be\n"
	"executed, and then there is no recording).\n"
	"\n"
	"  -o, --output FILE      the recording (default: PROGRAM-DATE-TIME.db); an existing file\n"
	"                         is kept, and the next free name is used: FILE-2, FILE-3, ...\n"
	"  -l, --label LABEL      name of the run, for reports that compare runs\n"
	"  -p, --period MS        rail sampling interval (default: 50 to 100, by source)\n"
	"      --command          keep COMMAND and hinted processes with their arguments, which\n"
	"                         may hold secrets (default: their names alone)\n"
	"      --gchintd PROGRAM  the daemon to start (default: the one installed with gchintctl)\n"
	"      --option X         pass X to gchintd, e.g. --option --sysfs=DIR; the service's\n"
	"                         configuration is not read without --option --config=FILE\n"
	"  -C, --cost             print the cost of the recording at the end\n"
	"  -f, --follow           wait for processes that COMMAND leaves running when it ends\n"
	"  -q, --quiet            print no progress\n"
	"\n"
	"In the command \"gchintctl annotations --add TEXT\" annotates an instant, by\n"
	"$GCHINT_ANNOTATIONS.\n";

#define NAMES_MAX 1000 /* numbered names that are tried */
#define STOP_MS	  10000 /* a recording that is not written by then is reported */
#define KILL_MS	  1000 /* for gchintd to end that is killed */
#define START_MS  30000 /* creating the database is slow on an SD card and a busy board */

/* Too many arguments are counted but not stored: recorder_run() reports them. */
static void daemon_add_argument(struct recorder *r, const char *arg)
{
	if (r->args < RECORD_ARGS - 1)
		r->argv[r->args] = (char *)arg;
	r->args++;
}

void recorder_init(struct recorder *r)
{
	*r = (struct recorder){ .manager = -1 };
	daemon_add_argument(r, NULL); /* argv[0], set by recorder_run() */
	/*
	 * "-" is no file: the system's configuration is for the service. A later
	 * --option --config=FILE overrides it.
	 */
	daemon_add_argument(r, "--config");
	r->config[0] = '-';
	daemon_add_argument(r, r->config);
}

void recorder_add_option(struct recorder *r, const char *option)
{
	r->rotates = r->rotates || !strncmp(option, "--keep", 6);
	daemon_add_argument(r, option);
}

/* Quotes an argument for a shell where it needs that. */
static void argument_write(FILE *f, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "%+,-./:=@_";

	if (*arg && !arg[strspn(arg, plain)]) {
		fputs(arg, f);
		return;
	}
	fputc('\'', f);
	for (; *arg; arg++)
		if (*arg == '\'')
			fputs("'\\''", f);
		else
			fputc(*arg, f);
	fputc('\'', f);
}

char *command_text(char *const *argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			fputc(' ', f);
		argument_write(f, argv[i]);
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* In the directory of this program first, so that a build tree runs its own daemon. */
static const char *daemon_find(char *buf, size_t size)
{
	char self[PATH_MAX], *slash;

	if (!runtime_self(self))
		return "gchintd";
	slash = strrchr(self, '/');
	if (!slash)
		return "gchintd";
	*slash = '\0';
	snprintf(buf, size, "%s/gchintd", self);
	if (!access(buf, X_OK))
		return buf;
	snprintf(buf, size, "%s/../sbin/gchintd", self);
	return access(buf, X_OK) ? "gchintd" : buf;
}

static int manager_open(struct recorder *r)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int ret = ctl_directory(r->dir, sizeof(r->dir), "gchintctl");

	if (ret)
		return ret;
	snprintf(r->annotations, sizeof(r->annotations), "%s/annotations", r->dir);
	snprintf(r->notify, sizeof(r->notify), "%s/notify", r->dir);
	snprintf(r->stream, sizeof(r->stream), "%s/stream", r->dir);
	strcpy(addr.sun_path, r->notify);
	r->manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (r->manager < 0 || bind(r->manager, (struct sockaddr *)&addr, sizeof(addr)))
		return -errno;
	return 0;
}

static void manager_close(struct recorder *r)
{
	if (r->manager >= 0)
		close(r->manager);
	unlink(r->notify);
	unlink(r->annotations);
	if (r->metrics)
		unlink(r->config);
	unlink(r->stream);
	late_remove(r->stream);
	rmdir(r->dir);
}

static int daemon_start(struct recorder *r)
{
	const pid_t self = getpid();

	r->daemon = fork();
	if (r->daemon < 0)
		return -errno;
	if (!r->daemon) {
		setenv("NOTIFY_SOCKET", r->notify, 1);
		setenv("GCHINT_STREAM", r->stream, 1);
		unsetenv("WATCHDOG_USEC");
		/* A Ctrl-C at the terminal must not end the daemon before the command ends. */
		setpgid(0, 0);
		/* If gchintctl is killed, the daemon ends as if gchintctl had stopped it. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != self)
			_exit(1);
		execvp(r->argv[0], r->argv);
		ctl_error("%s: %s", r->argv[0], strerror(errno));
		_exit(127);
	}
	return 0;
}

/* Returns true after READY=1; false if the daemon ended, did not report in time, or on a signal. */
static bool daemon_wait_ready(struct recorder *r)
{
	uint64_t end = clock_now() + START_MS * NSEC_PER_MSEC;
	struct pollfd p = { .fd = r->manager, .events = POLLIN };

	while (clock_now() < end && !child_caught) {
		char buf[512];
		ssize_t n;

		if (poll(&p, 1, 50) > 0) {
			n = recv(r->manager, buf, sizeof(buf) - 1, MSG_DONTWAIT);
			if (n > 0) {
				buf[n] = '\0';
				if (strstr(buf, "READY=1"))
					return true;
			}
		}
		if (waitpid(r->daemon, NULL, WNOHANG) == r->daemon) {
			r->daemon = 0;
			return false;
		}
	}
	return false;
}

/*
 * Waits until the daemon has ended. A signal ends one that is to stop and hangs; returns false if it
 * does not even end then, because the kernel waits for the disk.
 */
static bool daemon_wait_end(const struct recorder *r)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, r->daemon, 0), .events = POLLIN };
	const int before = child_caught;
	bool killed = false;
	int ready = 0;

	child_caught = 0;
	for (int waits = 0; p.fd >= 0 && ready <= 0; waits++) {
		ready = poll(&p, 1, killed ? KILL_MS : STOP_MS);
		if (!ready && killed)
			break;
		if (ready < 0 && child_caught) {
			kill(r->daemon, SIGKILL);
			killed = true;
		}
		if (!ready && !waits)
			ctl_error("gchintd still writes%s%s; the disk may hang. Ctrl-C gives the "
				  "rest up",
				  r->file ? " " : "", r->file ? r->file : "");
	}
	if (p.fd >= 0)
		close(p.fd);
	if (!child_caught)
		child_caught = before;
	return ready > 0 || p.fd < 0;
}

/* Returns its exit status; 128 + the number of the signal that ended it; 1 if it has ended before. */
static int daemon_stop(struct recorder *r)
{
	int status = 0;

	if (!r->daemon)
		return 1;
	kill(r->daemon, SIGTERM);
	r->abandoned = !daemon_wait_end(r);
	if (r->abandoned) {
		r->daemon = 0;
		return 128 + SIGKILL;
	}
	while (waitpid(r->daemon, &status, 0) < 0 && errno == EINTR)
		;
	r->daemon = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A terminal on which the command writes is the command's own. */
static bool progress_visible(const struct recorder *r)
{
	return !r->quiet && !r->unrecorded && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
}

static void progress_print(const struct recorder *r, bool last)
{
	struct stat st;
	char wal[4200];
	double size = 0;

	if (!progress_visible(r))
		return;
	if (!stat(r->file, &st))
		size += (double)st.st_size;
	snprintf(wal, sizeof(wal), "%s-wal", r->file);
	if (!stat(wal, &st))
		size += (double)st.st_size;
	fprintf(stderr, "\r%s: %.0f s, %.1f MiB%s", r->file, (double)(clock_now() - r->start) / 1e9,
		size / (1 << 20), last ? "\n" : " ");
}

static void progress_update(void *data)
{
	progress_print(data, false);
}

/* Runs in the command's process before exec. */
static void sockets_export(void *data)
{
	const struct recorder *r = data;

	setenv("GCHINT_ANNOTATIONS", r->annotations, 1);
	setenv("GCHINT_STREAM", r->stream, 1);
	if (r->setup)
		r->setup(r->data);
}

static int command_run(struct recorder *r, char **argv, const sigset_t *taken)
{
	bool failed = false;
	const struct child child = {
		.argv = argv,
		.taken = taken,
		.setup = sockets_export,
		.poll = progress_visible(r) ? progress_update : NULL,
		.data = r,
		.failed = &failed,
		.usage = &r->usage,
		.left = r->left,
		.ended = &r->command,
	};
	int status;

	r->start = clock_now();
	status = child_run(&child);
	r->ran = !failed;
	progress_print(r, true);
	return status;
}

/* Printed with --cost even if --quiet suppresses progress. */
static void cost_print(const struct recorder *r)
{
	sqlite3 *db = db_open(r->file);
	char words[128];

	if (!db)
		return;
	fprintf(stderr, "gchintctl: recording took %s\n",
		cost_format(db, words, sizeof(words)) ? words : "an amount that was not recorded");
	sqlite3_close(db);
}

/* The name for a recording without one: the program's and the time, such as java-20261127-001500.db */
static void name_by_time(char *name, size_t size, const char *command)
{
	const char *slash = strrchr(command, '/'), *base = slash ? slash + 1 : command;
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(name, size, "%s-%s.db", *base ? base : "gchint", when);
}

/* The first of x-2.db for x.db, x-3.db and so on that does not exist. Returns false if all do. */
static bool name_find_free(const char *name, char *next, size_t size)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	const char *dot = strrchr(base, '.');
	size_t stem = dot && dot != base ? (size_t)(dot - name) : strlen(name);
	struct stat st;

	for (int n = 2; n < NAMES_MAX; n++) {
		int length = snprintf(next, size, "%.*s-%d%s", (int)stem, name, n, name + stem);

		if (length < 0 || (size_t)length >= size)
			return false;
		if (lstat(next, &st) && errno == ENOENT)
			return true;
	}
	return false;
}

/*
 * Another name where a recording, or any other file, exists. Devices and directories are left to
 * gchintd, which refuses them.
 */
static bool recorder_choose_name(struct recorder *r)
{
	char next[sizeof(r->name)];
	struct stat st;

	if (r->rotates || stat(r->file, &st) || !S_ISREG(st.st_mode))
		return true;
	if (!name_find_free(r->file, next, sizeof(next))) {
		ctl_error("%s exists, and so does each other name up to number %d; name another "
			  "file with -o",
			  r->file, NAMES_MAX - 1);
		return false;
	}
	ctl_error("%s exists and is kept: recording into %s", r->file, next);
	strcpy(r->name, next);
	r->file = r->name;
	return true;
}

bool recorder_page_name(const char *file, char *name, size_t size)
{
	static const char suffix[] = ".html";
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	const char *dot = strrchr(base, '.');
	size_t stem = dot && dot != base ? (size_t)(dot - file) : strlen(file);
	char first[PATH_MAX];
	struct stat st;

	if (stem + sizeof(suffix) > sizeof(first) || stem + sizeof(suffix) > size)
		return false;
	memcpy(first, file, stem);
	memcpy(first + stem, suffix, sizeof(suffix));
	if (!lstat(first, &st) || errno != ENOENT)
		return name_find_free(first, name, size);
	memcpy(name, first, stem + sizeof(suffix));
	return true;
}

/* Nothing ran: the file would only be in the way of the next try. */
static void recorder_discard(const struct recorder *r)
{
	static const char *const parts[] = { "", "-wal", "-shm" };
	char path[PATH_MAX + 8];

	if (r->unrecorded)
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", r->file, parts[i]);
		unlink(path);
	}
}

/* gchintctl attach: if it fails, there was nothing to record. */
static bool command_attaches(char *const *command)
{
	const char *slash = strrchr(command[0], '/');

	return !strcmp(slash ? slash + 1 : command[0], "gchintctl") && command[1] &&
	       !strcmp(command[1], "attach");
}

static int recorder_run_command(struct recorder *r, char **command)
{
	struct hint_count hints;
	char mark[256];
	sigset_t taken;
	int ret, status;

	child_signals(&taken);
	ret = daemon_start(r);
	if (ret || !daemon_wait_ready(r)) {
		if (child_caught) {
			/* One that ended well had created the file; it refuses one that exists. */
			if (r->daemon && !daemon_stop(r) && !r->rotates)
				recorder_discard(r);
			ctl_error("interrupted before %s was started", r->called);
			return 128 + child_caught;
		}
		ctl_error("%s did not start%s", r->program,
			  r->daemon ? " within 30 s" : "; see its message above");
		daemon_stop(r);
		return CTL_DAEMON;
	}
	if (!stream_share(r->dir, r->stream, sizeof(r->stream)) && errno != ENOENT)
		ctl_error("%s: %s: programs that change their user give no hints", r->stream,
			  strerror(errno));
	snprintf(mark, sizeof(mark), "start: %s", r->called);
	annotations_add(r->annotations, mark);
	status = command_run(r, command, &taken);
	snprintf(mark, sizeof(mark), "end: %s: %d", r->called, status);
	annotations_add(r->annotations, mark);
	if (r->after_ms)
		usleep(r->after_ms * 1000);
	ret = daemon_stop(r);
	/* Only now: the daemon has read the accounts of a command that has just ended. */
	child_reap(r->command, &r->usage);
	r->complete = r->ran && !ret;
	if (!r->ran || r->unrecorded) {
		if (!r->rotates && !r->unrecorded) {
			recorder_discard(r);
			ctl_error("nothing was recorded: %s is removed", r->file);
		}
		return status;
	}
	/* It has reported why. One that waits and is ended by a signal had attached. */
	if (status && status < 126 && command_attaches(command) && !r->rotates) {
		recorder_discard(r);
		ctl_error("nothing was recorded: %s is removed", r->file);
		return status;
	}
	if (r->abandoned)
		ctl_error("gchintd waits for the disk and is given up; %s may be incomplete",
			  r->file);
	else if (ret > 128)
		ctl_error("gchintd was killed by signal %d; %s may be incomplete", ret - 128,
			  r->file);
	else if (ret)
		ctl_error("gchintd exited with status %d; %s may be incomplete", ret, r->file);
	else if (r->ends_quietly ? r->quiet && r->unnamed : !r->quiet || r->unnamed)
		fprintf(stderr, "gchintctl: recorded %s; next: gchintctl summary %s\n", r->file,
			r->file);
	/* Of a command that failed its status matters more. */
	if (!ret && !status && !r->hints_optional && !access(r->file, R_OK) &&
	    hint_count_read(&hints, r->file) && !hints.phases)
		hints_report_none(&hints, command[0], r->file, NULL, false, status);
	if (r->cost)
		cost_print(r);
	return status;
}

int recorder_run(struct recorder *r, char **command)
{
	char *text = NULL;
	int ret;

	if (!r->called)
		r->called = command[0];
	if (!r->file && !r->unrecorded) {
		name_by_time(r->name, sizeof(r->name), r->called);
		r->file = r->name;
		r->unnamed = true;
	}
	if (!r->unrecorded && !recorder_choose_name(r))
		return CTL_FILE;
	if (!r->program)
		r->program = daemon_find(r->found, sizeof(r->found));
	ret = manager_open(r);
	if (ret) {
		ctl_error("%s: %s", r->dir, strerror(-ret));
		manager_close(r);
		return CTL_DAEMON;
	}
	if (r->metrics) {
		const char *slash = strrchr(r->called, '/');

		snprintf(r->config, sizeof(r->config), "%s/conf", r->dir);
		ret = monitor_listen(r->metrics,
				     r->label ? r->label :
				     slash    ? slash + 1 :
						r->called,
				     r->config, r->quiet);
		if (ret) {
			manager_close(r);
			return ret;
		}
	}
	r->argv[0] = (char *)r->program;
	daemon_add_argument(r, "--quiet");
	if (!r->unrecorded) {
		daemon_add_argument(r, "--record");
		daemon_add_argument(r, r->file);
	}
	daemon_add_argument(r, "--annotations");
	daemon_add_argument(r, r->annotations);
	if (r->with_command)
		text = command_text(command);
	if (text) {
		daemon_add_argument(r, "--command");
		daemon_add_argument(r, text);
	}
	if (r->args >= RECORD_ARGS) {
		ctl_error("record: too many options for gchintd; write them into a file and use "
			  "--option --config=FILE");
		ret = CTL_USAGE;
	} else {
		ret = recorder_run_command(r, command);
	}
	manager_close(r);
	free(text);
	return ret;
}

bool recorder_take_option(struct recorder *r, int option, const char *arg)
{
	switch (option) {
	case 'c':
		r->with_command = true;
		return true;
	case 'C':
		r->cost = true;
		return true;
	case 'g':
		r->program = arg;
		return true;
	case 'l':
		r->label = arg;
		daemon_add_argument(r, "--label");
		daemon_add_argument(r, arg);
		return true;
	case 'o':
		r->file = arg;
		return true;
	case 'p':
		daemon_add_argument(r, "--period");
		daemon_add_argument(r, arg);
		return true;
	case 'x':
		recorder_add_option(r, arg);
		return true;
	default:
		return false;
	}
}

int cmd_record(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		RECORDER_OPTIONS,
		{ "follow", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "quiet", no_argument, NULL, 'q' },
		{ 0 },
	};
	struct recorder r;
	int opt;

	(void)ctl;
	recorder_init(&r);
	while ((opt = getopt_long(argc, argv, "+" RECORDER_LETTERS "fhq", longs, NULL)) >= 0) {
		switch (opt) {
		case 'f':
			r.left = CHILD_LEFT_FOLLOW;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'q':
			r.quiet = true;
			break;
		default:
			if (!recorder_take_option(&r, opt, optarg))
				return ctl_usage("record");
		}
	}
	if (optind == argc) {
		ctl_error("record: no command given; see gchintctl record --help");
		return CTL_USAGE;
	}
	return recorder_run(&r, argv + optind);
}
