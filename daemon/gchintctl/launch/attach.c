// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gchintctl attach PID loads the adapter into a running JVM or .NET program. For a JVM it does
 * what jcmd's JVMTI.agent_load does, without a JDK. HotSpot's protocol: a file .attach_pidPID and
 * SIGQUIT make the JVM open a socket .java_pidPID in its /tmp, which takes a version and a command
 * with three arguments, each ended by a NUL.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../ctl.h"
#include "attachable.h"
#include "clamps.h"
#include "dotnet.h"
#include "probe-list.h"
#include "runtime.h"
#include "watcher.h"

static const char usage[] =
	"usage: gchintctl attach [--wait] [--probe PROBE]... [PID]\n"
	"Loads the adapter into a running JVM or .NET program. The adapter uses the GCHINT_*\n"
	"variables of this environment:\n"
	"  gchintctl record -o run.db -- gchintctl attach --wait PID\n"
	"Without PID it lists the processes that there are, with collector and heap.\n"
	"\n"
	"  -w, --wait         wait until the program ends or a signal arrives\n"
	"      --probe PROBE  as root: see phases of any program by its own functions, as "
	"gchintctl\n"
	"                     run does, until the program ends; runtimes that gchintctl run sees\n"
	"                     so need no PROBE\n";

#define PATIENCE 100 /* tenths of a second to wait for the socket */

extern char **environ;

static int target_connect(const struct attach_target *target)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	strcpy(addr.sun_path, target->socket);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -ECONNREFUSED;
}

/* A connection to the JVM, which is made to listen first if it does not yet; or -errno. */
static int target_open(const struct attach_target *target)
{
	const struct timespec tenth = { 0, 100000000 };
	char ask[64];
	int fd = target_connect(target), file;

	if (fd >= 0)
		return fd;
	snprintf(ask, sizeof(ask), "/proc/%d/cwd/.attach_pid%d", target->pid, target->own);
	file = open(ask, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (file < 0) {
		snprintf(ask, sizeof(ask), "/proc/%d/root/tmp/.attach_pid%d", target->pid,
			 target->own);
		file = open(ask, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	}
	if (file < 0)
		return -errno;
	close(file);
	kill(target->pid, SIGQUIT);
	for (int n = 0; n < PATIENCE && fd < 0 && !kill(target->pid, 0); n++) {
		nanosleep(&tenth, NULL);
		fd = target_connect(target);
	}
	unlink(ask);
	return fd;
}

/* The GCHINT_* variables of this environment, as options of the agent: NAME=VALUE;... */
static char *options_format(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (char **e = environ; f && *e; e++)
		if (!strncmp(*e, "GCHINT_", 7) && !strchr(*e, ';'))
			fprintf(f, "%s;", *e);
	return f && !fclose(f) ? text : NULL;
}

/*
 * The reply is a line with 0, or another number if the JVM could not do it, and then "return code: N",
 * the agent's own result. Since JDK 21 a JVM that loaded no agent also replies 0, and then the reason.
 */
static int jvm_load(int fd, const char *adapter, const char *with, char *reply, size_t size)
{
	char command[PATH_MAX * 2];
	size_t length = 0;
	ssize_t n;
	int done;

	done = snprintf(command, sizeof(command), "1%cload%c%s%ctrue%c%s", 0, 0, adapter, 0, 0,
			with);
	if (done < 0 || (size_t)done >= sizeof(command))
		return -ENAMETOOLONG;
	if (send(fd, command, (size_t)done + 1, MSG_NOSIGNAL) != done + 1)
		return -EIO;
	while (length + 1 < size && (n = read(fd, reply + length, size - length - 1)) > 0)
		length += (size_t)n;
	reply[length] = '\0';
	if (strncmp(reply, "0", 1) != 0)
		return -ECANCELED;
	/* Before JDK 9 the result is a line of its own, or there is none. */
	return strstr(reply, "return code: 0") || reply[strspn(reply, "0\n")] == '\0' ? 0 :
											-ECANCELED;
}

/* The JVM's reason, of a reply by which it loaded nothing; "" if it gives none. */
static const char *jvm_reason(char *reply)
{
	char *text = strchr(reply, '\n');

	if (!text || strstr(reply, "return code: "))
		return "";
	text += strspn(text, "\n");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static bool hints_have_destination(void)
{
	const char *device = getenv("GCHINT_DEVICE"), *hints = getenv("GCHINT_HINTS");

	if (hints && !strcmp(hints, "clamp") && !clamps_missing())
		return true;
	return getenv("GCHINT_STREAM") || getenv("GCHINT_TRACE") ||
	       !access(device && *device ? device : "/dev/gchint", R_OK | W_OK);
}

/* Another mount namespace, of a container or of PrivateTmp=, hides the recorder's socket. */
static bool target_reaches_recorder(const struct attach_target *target)
{
	const char *stream = getenv("GCHINT_STREAM"), *device = getenv("GCHINT_DEVICE");
	char inside[PATH_MAX + 32];

	if (!stream || !*stream || getenv("GCHINT_TRACE") ||
	    !access(device && *device ? device : "/dev/gchint", R_OK | W_OK))
		return true;
	snprintf(inside, sizeof(inside), "/proc/%d/root%s", target->pid, stream);
	return !access(inside, F_OK);
}

static int target_attach(const struct attach_target *target, const char *adapter)
{
	char reply[1024] = "", inside[PATH_MAX + 32], *with;
	const char *reason;
	int fd, ret;

	if (!target_reaches_recorder(target)) {
		ctl_error("process %d cannot reach the recorder at %s: its /tmp is another one, by "
			  "systemd's PrivateTmp= or in a container; record inside the container, "
			  "or start the service with PrivateTmp=no",
			  target->pid, getenv("GCHINT_STREAM"));
		return CTL_FAILED;
	}

	snprintf(inside, sizeof(inside), "/proc/%d/root%s", target->pid, adapter);
	if (access(inside, R_OK)) {
		ctl_error("process %d cannot read %s, which its file system must have too; copy it "
			  "there",
			  target->pid, adapter);
		return CTL_FAILED;
	}
	fd = target->dotnet >= 0 ? target->dotnet : target_open(target);
	if (fd < 0) {
		ctl_error("process %d does not accept debuggers or profilers attaching: %s",
			  target->pid, strerror(-fd));
		return CTL_FAILED;
	}
	with = options_format();
	if (!with)
		ret = -ENOMEM;
	else if (target->dotnet >= 0)
		ret = dotnet_load(fd, adapter, with);
	else
		ret = jvm_load(fd, adapter, with, reply, sizeof(reply));
	free(with);
	close(fd);
	if (ret == -ECANCELED) {
		reason = target->dotnet < 0 ? jvm_reason(reply) : "";
		if (*reason)
			ctl_error("process %d did not load the adapter: %s", target->pid, reason);
		else
			ctl_error("process %d did not load the adapter; its standard error may "
				  "have the reason",
				  target->pid);
		return CTL_FAILED;
	}
	if (ret) {
		ctl_error("process %d: %s", target->pid, strerror(-ret));
		return CTL_FAILED;
	}
	return CTL_OK;
}

static void process_wait(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0)
		poll(&p, 1, -1);
	while (fd < 0 && !kill(pid, 0))
		sleep(1);
}

/* The runtime of probes.list that a process is of, or NULL. */
static const struct runtime *process_listed(pid_t pid)
{
	const struct runtime *runtime;
	struct runtime_none none;
	char exe[64];

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	runtime = runtime_of(exe, &none);
	return runtime && runtime->probes ? runtime : NULL;
}

/* Watches a process by probes until it ends. Returns an exit code. */
static int process_watch(pid_t pid, const struct probe_set *set)
{
	const char *stream = getenv("GCHINT_STREAM");
	struct watcher *w;
	char why[640];
	int ret;

	if (!stream || !*stream) {
		ctl_error("phases of process %d would have no recorder; run gchintctl record -- "
			  "gchintctl attach %d",
			  (int)pid, (int)pid);
		return CTL_FAILED;
	}
	w = watcher_open(set->probe, set->nr, NULL, pid, why, sizeof(why));
	if (!w) {
		ctl_error("%s", why);
		return CTL_FAILED;
	}
	if (watcher_throws(w, why, sizeof(why)))
		ctl_error("--probe: %s", why);
	ret = watcher_attach(w, pid, stream);
	watcher_close(w);
	return ret;
}

int cmd_attach(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "probe", required_argument, NULL, 'B' },
		{ "wait", no_argument, NULL, 'w' },
		{ 0 },
	};
	char adapter[PATH_MAX], *end = NULL;
	struct attach_target target = { 0 };
	struct probe_set probes = { .nr = 0 };
	const struct runtime *listed;
	const char *name;
	bool wait = false;
	char why[400];
	long pid;
	int opt, ret;

	(void)ctl;
	while ((opt = getopt_long(argc, argv, "hw", longs, NULL)) >= 0) {
		switch (opt) {
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'B':
			if (probe_set_take(&probes, optarg, why, sizeof(why)))
				break;
			ctl_error("attach: --probe: %s", why);
			return CTL_USAGE;
		case 'w':
			wait = true;
			break;
		default:
			return ctl_usage("attach");
		}
	}
	if (optind == argc && !wait && !probes.nr)
		return attachable_list();
	pid = optind + 1 == argc ? strtol(argv[optind], &end, 10) : 0;
	if (pid <= 0 || pid > INT_MAX || *end) {
		ctl_error("attach: name one process by its ID; see gchintctl attach --help");
		return CTL_USAGE;
	}
	target.pid = (pid_t)pid;
	ret = attach_target_read(&target);
	if (ret) {
		ctl_error("process %d: %s", target.pid,
			  ret == -ENOENT ? "no such process" : strerror(-ret));
		return CTL_FAILED;
	}
	listed = probes.nr ? NULL : process_listed(target.pid);
	if (listed && !probe_set_add(&probes, listed->probes, listed->name, why, sizeof(why))) {
		ctl_error("%s", why);
		return CTL_FAILED;
	}
	if (probes.nr)
		return process_watch(target.pid, &probes);
	target.dotnet = dotnet_reach(target.pid, target.own);
	if (target.dotnet < 0 && !process_is_jvm(target.pid)) {
		ctl_error("process %d is no JVM and no .NET program that accepts profilers "
			  "attaching, or it belongs to another user; programs of other runtimes "
			  "are started by gchintctl run, or seen by --probe",
			  target.pid);
		return CTL_FAILED;
	}
	name = target.dotnet >= 0 ? "dotnet" : "jvm";
	if (target.dotnet < 0 && target.quits) {
		ctl_error("process %d cannot be attached to, because SIGQUIT would end it: it runs "
			  "with -Xrs or is still starting",
			  target.pid);
		return CTL_FAILED;
	}
	if (!hints_have_destination()) {
		ctl_error("hints would have no listener: there is no /dev/gchint, and no recorder; "
			  "run gchintctl record -- gchintctl attach --wait %d",
			  target.pid);
		return CTL_FAILED;
	}
	if (!runtime_adapter(runtime_named(name), adapter, sizeof(adapter))) {
		ctl_error("libgchint-%s.so is not installed: install the package gchint-adapters, "
			  "or run make install in gchint's source, which names what it needs",
			  name);
		return CTL_FAILED;
	}
	ret = target_attach(&target, adapter);
	if (!ret && wait)
		process_wait(target.pid);
	return ret;
}
