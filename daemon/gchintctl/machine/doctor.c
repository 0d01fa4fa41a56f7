// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gchintctl doctor collects what a report of a machine needs into one archive: facts, loops at its
 * frequencies, and recordings under its own governor and with hints in force. It reports what it
 * could not collect. Private data is removed, and every file is searched for it once more before
 * the archive is made.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../common/module.h"
#include "../../common/root.h"
#include "../../recording/reader/db.h"
#include "../../version.h"
#include "../ctl.h"
#include "../launch/child.h"
#include "../launch/runtime.h"
#include "actuators.h"
#include "loops.h"
#include "secrets.h"

static const char usage[] =
	"usage: gchintctl doctor [-o ARCHIVE] [-r ROUNDS]\n"
	"Collects what a report of this machine needs into one archive: a description of the\n"
	"machine and of the runtimes that can be seen on it, by adapter or by probes, the speed "
	"of\n"
	"two loops at some of its frequencies, and recordings of up to three programs under its "
	"own governor and, if the module is loaded, with hints in force.\n"
	"As root it sets limits and governors for that, and restores them. It prints what it did\n"
	"and what it left out, and writes that into the archive. It sends nothing.\n"
	"\n"
	"  -o, --output ARCHIVE  the archive (default: gchint-report.tar.gz)\n"
	"  -r, --rounds N        how often each program runs, 1 to 20 (default: 3)\n";

#define PROGRAMS    3 /* recorded at most, of those that are installed */
#define ARCHIVE_DIR "gchint-report"
#define SYSTEM	    "devices/system/cpu/cpufreq"

struct doctor {
	struct root root;
	struct utsname uname;
	const char *output;
	unsigned int rounds, recordings;
	bool daemon_failed;
	char self[PATH_MAX], parent[PATH_MAX - 64], dir[PATH_MAX - 32], errors[PATH_MAX - 32];
	const char *to; /* file for a child's output; NULL: /dev/null */
	FILE *readme, *machine;
	sigset_t taken;
};

static const struct workload {
	const char *name, *program;
	bool adapter; /* a runtime that needs an adapter; else it hints itself */
	const char *argv[8];
} workloads[] = {
	{ "gcw",
	  "gchint-bench",
	  false,
	  { "gcw", "--iterations=1", "--total=96M", "--threads=2",
	    "--gc=plan=cms,sizing=fixed,heap=24M,max=24M", "--listener=gchint" } },
	{ "python",
	  "python3",
	  true,
	  { "-c", "class Node:\n"
		  "    def __init__(self):\n"
		  "        self.other = self\n"
		  "kept = [[n] for n in range(500000)]\n"
		  "for n in range(600000):\n"
		  "    Node()\n" } },
	{ "node",
	  "node",
	  true,
	  { "-e", "const tree = (d) => d ? [tree(d - 1), tree(d - 1)] : {};\n"
		  "const kept = [];\n"
		  "for (let i = 0; i < 400; i++) { kept.push(tree(13));\n"
		  "  if (kept.length > 60) kept.shift(); }\n" } },
	{ "ruby",
	  "ruby",
	  true,
	  { "-e",
	    "kept = []\n"
	    "600_000.times { |n| kept << n.to_s * 3; kept.shift if kept.size > 200_000 }\n" } },
};

static void __attribute__((format(printf, 3, 4)))
doctor_log(struct doctor *d, const char *what, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("%-9s %s\n", what, text);
	fflush(stdout);
	fprintf(d->readme, "%-9s %s\n", what, text);
}

#define log_done(d, ...)    doctor_log(d, "did", __VA_ARGS__)
#define log_skipped(d, ...) doctor_log(d, "left out", __VA_ARGS__)

/* Runs in the child: keeps its output apart from ours. */
static void output_redirect(void *data)
{
	const struct doctor *d = data;
	int err = open(d->errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int out = open(d->to ? d->to : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (err >= 0)
		dup2(err, STDERR_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
}

static int command_run(struct doctor *d, const char *to, const char *const *argv)
{
	const struct child child = {
		.argv = (char **)argv, .taken = &d->taken, .setup = output_redirect, .data = d
	};

	d->to = to;
	return child_run(&child);
}

/* The first line that the last child wrote to standard error, else its exit status. */
static const char *command_complaint(const struct doctor *d, int status, char *buf, size_t size)
{
	const char *text = buf;

	if (root_read(buf, size, "%s", d->errors) <= 0) {
		snprintf(buf, size, "exit %d", status);
		return buf;
	}
	buf[strcspn(buf, "\n")] = '\0';
	if (!strncmp(text, "gchintctl: ", strlen("gchintctl: ")))
		text += strlen("gchintctl: ");
	return text;
}

/* Facts about the machine: no host name, no serial number, nothing about its users. */

static void fact_write(struct doctor *d, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void fact_write(struct doctor *d, const char *key, const char *fmt, ...)
{
	char path[PATH_MAX], text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	if (root_read(text, sizeof(text), "%s", path) > 0)
		fprintf(d->machine, "%-28s %s\n", key, text);
}

static int fact_write_policy(void *data, const char *policy)
{
	static const char *const files[] = { "affected_cpus",
					     "scaling_driver",
					     "scaling_governor",
					     "cpuinfo_min_freq",
					     "cpuinfo_max_freq",
					     "cpuinfo_transition_latency",
					     "scaling_available_frequencies" };
	struct doctor *d = data;
	char key[64];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(key, sizeof(key), "%.16s %s", policy, files[i]);
		fact_write(d, key, "%s/" SYSTEM "/%s/%s", d->root.sysfs, policy, files[i]);
	}
	return 0;
}

static void fact_write_processor(struct doctor *d)
{
	char path[PATH_MAX], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cpuinfo", d->root.procfs);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "model name", 10) || !strchr(line, ':'))
			continue;
		fprintf(d->machine, "%-28s %s", "processor", strchr(line, ':') + 2);
		break;
	}
	if (f)
		fclose(f);
}

/* Names of runtimes that are seen in this way, with what is missing. */
static void machine_list_runtimes(struct doctor *d, bool probed)
{
	const struct runtime *r;
	const char *separator = "";
	char path[PATH_MAX];

	fprintf(d->machine, "%-28s ", probed ? "runtimes by probes" : "runtimes by adapter");
	for (size_t i = 0; (r = runtime_at(i)); i++) {
		if (runtime_is_probed(r) != probed)
			continue;
		fprintf(d->machine, "%s%s%s", separator, r->name,
			runtime_adapter(r, path, sizeof(path)) ? "" :
			probed				       ? " (no uprobes)" :
								 " (not installed)");
		separator = ", ";
	}
	fprintf(d->machine, "\n");
}

static bool machine_describe(struct doctor *d)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/machine.txt", d->dir);
	d->machine = fopen(path, "we");
	if (!d->machine)
		return false;
	fprintf(d->machine, "%-28s %s\n", "gchintctl", GCHINTD_VERSION);
	fprintf(d->machine, "%-28s %s, %s\n", "kernel", d->uname.release, d->uname.machine);
	fact_write(d, "model", "%s/firmware/devicetree/base/model", d->root.sysfs);
	fact_write(d, "vendor", "%s/class/dmi/id/sys_vendor", d->root.sysfs);
	fact_write(d, "product", "%s/class/dmi/id/product_name", d->root.sysfs);
	fact_write(d, "cpuidle", "%s/devices/system/cpu/cpuidle/current_driver", d->root.sysfs);
	fact_write_processor(d);
	machine_list_runtimes(d, false);
	machine_list_runtimes(d, true);
	snprintf(path, sizeof(path), "%s/" SYSTEM, d->root.sysfs);
	root_list(path, "policy", fact_write_policy, d);
	return !fclose(d->machine);
}

/* Logs one line per policy; @mistake is NULL if its loops were measured. */
static void on_loops(void *data, const char *policy, const char *mistake)
{
	if (mistake)
		log_skipped(data, "loops on %s: %s", policy, mistake);
	else
		log_done(data, "loops on %s, into loops.csv; its limits are as they were", policy);
}

static void machine_run_loops(struct doctor *d)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/loops.csv", d->dir);
	f = fopen(path, "we");
	if (!f)
		return;
	if (!loops_run(&d->root, f, on_loops, d))
		log_skipped(d, "loops at each frequency: this machine has no cpufreq policy");
	fclose(f);
}

static const char *program_find(const char *program, char *buf, size_t size)
{
	const char *dirs = getenv("PATH"), *end;

	/* /usr/bin first: version managers put wrapper scripts in front of PATH. */
	snprintf(buf, size, "/usr/bin/%s", program);
	if (!access(buf, X_OK))
		return buf;
	for (; dirs && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(buf, size, "%.*s/%s", (int)(end - dirs), dirs, program);
		if (!access(buf, X_OK))
			return buf;
	}
	return NULL;
}

/* Removes users, command lines and thread names; keeps what a report is about. */
static bool recording_anonymize(const char *file)
{
	static const char sql[] =
		"PRAGMA journal_mode = DELETE;"
		"DELETE FROM meta WHERE key NOT IN ('board.compatible', 'board.cpus', "
		"'board.kernel',"
		"  'board.kernel_version', 'board.machine', 'board.model', 'end_ns', 'label',"
		"  'program', 'schema', 'start_ns');"
		"UPDATE processes SET uid = NULL, comm = 'thread ' || tid, cmdline = NULL;"
		"UPDATE annotations SET text = substr(text, 1, instr(text, ':'));"
		"DELETE FROM notes WHERE source NOT IN ('cpufreq', 'cpuidle', 'hotplug', 'hwmon',"
		"  'iio', 'power', 'powercap', 'regulator', 'thermal');"
		"DELETE FROM images; DELETE FROM symbols; VACUUM;";
	sqlite3 *db;
	bool done;

	done = sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	       sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_close(db);
	return done;
}

static bool workload_record(struct doctor *d, const struct workload *w, const char *program,
			    const char *actuator, unsigned int round)
{
	const char *argv[24] = { d->self };
	char file[128], label[64], text[256];
	int n = 1, status;

	snprintf(file, sizeof(file), "%s/%s-%s-%u.db", d->dir, w->name, actuator, round);
	snprintf(label, sizeof(label), "%s %s", w->name, actuator);
	if (w->adapter) {
		argv[n++] = "run";
		argv[n++] = "-q";
		argv[n++] = "-r";
		argv[n++] = file;
	} else {
		argv[n++] = "record";
		argv[n++] = "-q";
		argv[n++] = "-l";
		argv[n++] = label;
		argv[n++] = "-o";
		argv[n++] = file;
	}
	argv[n++] = "--";
	argv[n++] = program;
	for (size_t i = 0; i < sizeof(w->argv) / sizeof(*w->argv) && w->argv[i]; i++)
		argv[n++] = w->argv[i];
	status = command_run(d, NULL, argv);
	d->daemon_failed |= status == CTL_DAEMON;
	if (!status && recording_anonymize(file)) {
		d->recordings++;
		return true;
	}
	log_skipped(d, "%s, %s: %s", w->name, actuator,
		    status ? command_complaint(d, status, text, sizeof(text)) :
			     "its recording cannot be cleaned");
	unlink(file);
	return false;
}

static void workloads_record(struct doctor *d, const char *actuator)
{
	unsigned int programs = 0;
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++) {
		const struct workload *w = &workloads[i];
		const char *program = program_find(w->program, path, sizeof(path));
		unsigned int round = 0;

		if (programs == PROGRAMS || child_caught)
			break;
		if (!program) {
			log_skipped(d, "%s, %s: no %s here", w->name, actuator, w->program);
			continue;
		}
		while (round < d->rounds && !child_caught &&
		       workload_record(d, w, program, actuator, round + 1))
			round++;
		if (round) {
			log_done(d, "%s, %s: recorded, runs: %u", w->name, actuator, round);
			programs++;
		}
	}
}

/* Copies the module's tables from debugfs, while hints are in force. */
static void module_copy_tables(struct doctor *d)
{
	static const char *const names[] = { "latency", "opps", "switches" };
	char from[PATH_MAX], to[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *const argv[] = { "cat", from, NULL };

		snprintf(from, sizeof(from), "%s/gchint/%s", d->root.debugfs, names[i]);
		snprintf(to, sizeof(to), "%s/%s.txt", d->dir, names[i]);
		if (!command_run(d, to, argv))
			continue;
		unlink(to);
		log_skipped(d, "%s: it cannot be read", from);
	}
}

static void setups_record(struct doctor *d)
{
	const char *const on[] = { d->self, "actuator", "auto", NULL };
	const char *const off[] = { d->self, "actuator", "off", NULL };
	char actuator[32], text[256];
	int status;

	if (actuator_in_force(actuator, sizeof(actuator), &d->root, "all")) {
		workloads_record(d, "own");
		log_skipped(d, "with hints in force: the module is not loaded: %s",
			    module_remedy(text, sizeof(text)));
		return;
	}
	if (strcmp(actuator, "off")) {
		log_skipped(d,
			    "under its own governor: hints are in force by %s already; "
			    "gchintctl actuator off",
			    actuator);
		workloads_record(d, "gchint");
		module_copy_tables(d);
		return;
	}
	workloads_record(d, "own");
	if (child_caught)
		return;
	status = command_run(d, NULL, on);
	if (status) {
		log_skipped(d, "with hints in force: %s",
			    command_complaint(d, status, text, sizeof(text)));
		return;
	}
	if (!actuator_in_force(actuator, sizeof(actuator), &d->root, "all"))
		log_done(d, "hints in force by %s, as gchintctl actuator auto chooses", actuator);
	workloads_record(d, "gchint");
	module_copy_tables(d);
	status = command_run(d, NULL, off);
	if (status)
		log_skipped(d, "restoring the governors: %s",
			    command_complaint(d, status, text, sizeof(text)));
}

/* Names and numbers that identify the machine or its users. */

static void secret_add(struct doctor *d, struct secrets *s, const char *what, const char *text)
{
	const char *why = text ? secrets_add(s, what, text) : NULL;

	if (why)
		log_skipped(d, "looking for the %s: %s", what, why);
}

static void machine_add_secrets(struct doctor *d, struct secrets *s)
{
	static const char *const numbers[] = {
		"class/dmi/id/board_serial",
		"class/dmi/id/chassis_serial",
		"class/dmi/id/product_serial",
		"class/dmi/id/product_uuid",
		"firmware/devicetree/base/serial-number",
	};
	const struct passwd *user = getpwuid(getuid());
	char text[sizeof(d->uname.nodename) + 128];

	root_read(s->facts, sizeof(s->facts), "%s/machine.txt", d->dir);
	secret_add(d, s, "host's name", d->uname.nodename);
	strcpy(text, d->uname.nodename);
	text[strcspn(text, ".")] = '\0';
	if (strcmp(text, d->uname.nodename))
		secret_add(d, s, "host's name", text);
	secret_add(d, s, "user's name", user ? user->pw_name : NULL);
	secret_add(d, s, "user's name", getenv("SUDO_USER"));
	secret_add(d, s, "user's name", getenv("USER"));
	secret_add(d, s, "user's home directory", user ? user->pw_dir : NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (root_read(text, sizeof(text), "%s/%s", d->root.sysfs, numbers[i]) > 0)
			secret_add(d, s, SECRETS_SERIAL, text);
}

/* Removes files that still contain a secret, so that they do not get into the archive. */
static void report_check_secrets(struct doctor *d)
{
	static struct secrets s;
	struct dirent *e;
	char path[PATH_MAX];
	DIR *dir;

	machine_add_secrets(d, &s);
	dir = opendir(d->dir);
	while (dir && (e = readdir(dir))) {
		const char *what;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", d->dir, e->d_name);
		what = secrets_in(&s, path);
		if (!what)
			continue;
		unlink(path);
		if (strstr(e->d_name, ".db"))
			d->recordings--;
		log_skipped(d, "%s: the %s was in it", e->d_name, what);
	}
	if (dir)
		closedir(dir);
	log_done(d, "searched for %u names and numbers that identify this machine or its users",
		 s.nr);
}

static void report_remove(const struct doctor *d)
{
	struct dirent *e;
	char path[PATH_MAX];
	DIR *dir = opendir(d->dir);

	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", d->dir, e->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	unlink(d->errors);
	rmdir(d->dir);
	rmdir(d->parent);
}

static int report_archive(struct doctor *d)
{
	char part[PATH_MAX], text[256];
	const char *const argv[] = { "tar",	  "-C",	       d->parent,
				     "--owner=0", "--group=0", "--numeric-owner",
				     "-czf",	  part,	       ARCHIVE_DIR,
				     NULL };
	int status;

	snprintf(part, sizeof(part), "%s.part", d->output);
	status = command_run(d, NULL, argv);
	if (!status && !rename(part, d->output))
		return CTL_OK;
	ctl_error("doctor: %s: %s", d->output,
		  status ? command_complaint(d, status, text, sizeof(text)) : strerror(errno));
	unlink(part);
	return CTL_FILE;
}

static int report_collect(struct doctor *d)
{
	fprintf(d->readme,
		"A report of gchintctl %s; docs/hardware.md describes how it is used.\n\n",
		GCHINTD_VERSION);
	if (!machine_describe(d)) {
		ctl_error("doctor: %s: %s", d->dir, strerror(errno));
		return CTL_FILE;
	}
	log_done(d,
		 "description of the machine in machine.txt, without host name and serial numbers");
	machine_run_loops(d);
	setups_record(d);
	if (child_caught) {
		ctl_error("doctor: interrupted; limits and governors are restored");
		return 128 + child_caught;
	}
	report_check_secrets(d);
	fclose(d->readme);
	d->readme = NULL;
	if (!d->recordings) {
		ctl_error("doctor: nothing was recorded, so there is nothing to send");
		return d->daemon_failed ? CTL_DAEMON : CTL_FAILED;
	}
	return report_archive(d);
}

static int doctor_prepare(struct doctor *d)
{
	char path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", d->self, sizeof(d->self) - 1);
	const char *tmp = getenv("TMPDIR");

	if (n <= 0)
		strcpy(d->self, "gchintctl");
	uname(&d->uname);
	root_init(&d->root);
	child_signals(&d->taken);
	if (snprintf(d->parent, sizeof(d->parent), "%s/gchintctl.XXXXXX",
		     tmp && *tmp ? tmp : "/tmp") >= (int)sizeof(d->parent))
		return -ENAMETOOLONG;
	if (!mkdtemp(d->parent))
		return -errno;
	snprintf(d->dir, sizeof(d->dir), "%s/" ARCHIVE_DIR, d->parent);
	snprintf(d->errors, sizeof(d->errors), "%s/errors", d->parent);
	if (mkdir(d->dir, 0700))
		return -errno;
	snprintf(path, sizeof(path), "%s/README", d->dir);
	d->readme = fopen(path, "we");
	return d->readme ? 0 : -errno;
}

int cmd_doctor(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "rounds", required_argument, NULL, 'r' },
		{ 0 },
	};
	static struct doctor d = { .output = "gchint-report.tar.gz", .rounds = 3 };
	char *end;
	int opt, ret;

	(void)ctl;
	while ((opt = getopt_long(argc, argv, "ho:r:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'o':
			d.output = optarg;
			break;
		case 'r':
			d.rounds = (unsigned int)strtoul(optarg, &end, 10);
			if (*optarg >= '0' && *optarg <= '9' && !*end && d.rounds >= 1 &&
			    d.rounds <= 20)
				break;
			ctl_error("doctor: --rounds takes 1 to 20, not %s", optarg);
			return CTL_USAGE;
		default:
			return ctl_usage("doctor");
		}
	}
	if (optind < argc) {
		ctl_error("doctor: unexpected argument '%s'; see gchintctl doctor --help",
			  argv[optind]);
		return CTL_USAGE;
	}
	ret = doctor_prepare(&d);
	if (ret) {
		ctl_error("doctor: /tmp: %s", strerror(-ret));
		return CTL_FILE;
	}
	ret = report_collect(&d);
	if (d.readme)
		fclose(d.readme);
	report_remove(&d);
	if (!ret)
		printf("\nlook at it (tar -tvzf %s), and send it as docs/hardware.md says\n",
		       d.output);
	return ret;
}
