// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run -- PROGRAM: runs a program with the adapter of its runtime, which is recognised. Variables
 * that the user has set are extended, not replaced. The hints are counted, in the recording if
 * there is one, and reported in one line.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ctl.h"
#include "child.h"
#include "clamps.h"
#include "go.h"
#include "hint-count.h"
#include "hint-report.h"
#include "probe-list.h"
#include "record.h"
#include "run.h"
#include "runtime.h"
#include "wake-latency.h"
#include "watcher.h"

static const char usage[] =
	"usage: gchintctl run [-o FILE] [-l LABEL] [--report[=PAGE]] [-m ADDRESS:PORT]\n"
	"                     [-H cap|boost|all|clamp] [-R NAME] [--probe PROBE]...\n"
	"                     [--wake-latency US] [-f] [-q] -- PROGRAM [ARGUMENT]...\n"
	"Runs PROGRAM with the adapter of its language runtime, so that it gives hints, and\n"
	"prints how many phases it announced and where its hints went; recorded, also what\n"
	"stopped the program, and why. A program that uses libgchint needs no adapter. Some\n"
	"runtimes are seen by probes in place of an adapter, which needs root; gchintctl\n"
	"runtimes lists both.\n"
	"Exits with PROGRAM's own status; 126 if it may not be executed, 127 if it is not there.\n"
	"\n"
	"  -o, --output FILE   record the run, with or without the module; an existing file is\n"
	"                      kept, and the next free name is used: FILE-2, ... (-r and\n"
	"                      --record are the same)\n"
	"      --report[=PAGE] record the run and write its page (default: FILE.html)\n"
	"  -l, --label LABEL   record the run with a name, for reports that compare runs; with\n"
	"                      --metrics the service's name, and nothing is recorded without -o\n"
	"  -m, --metrics ADDRESS\n"
	"                      answer Prometheus at ADDRESS:PORT, or at :PORT of this machine\n"
	"                      alone, while PROGRAM runs; it has to send the token that is\n"
	"                      printed, and LABEL, or the program's name, is its service\n"
	"  -H, --hints WHICH   cap: only hints that lower the frequency act; boost: only hints\n"
	"                      that raise it; all: both (default); clamp: hints act by\n"
	"                      utilisation clamps on the program's own threads, which needs no\n"
	"                      module\n"
	"  -R, --runtime NAME  load only the adapter of that runtime (gchintctl runtimes) into\n"
	"                      PROGRAM and the programs that it starts (default: each its own)\n"
	"      --probe PROBE   as root: see phases of a runtime that has no adapter by its own\n"
	"                      functions: PHASE[,stw]=FILE:FUNCTION, such as\n"
	"                      mark,stw=libfoo.so:foo_gc, or a file with these; gchintctl(1) has "
	"the\n"
	"                      rest. No adapter is loaded\n"
	"      --wake-latency US\n"
	"                      as root: while PROGRAM runs, no CPU enters an idle state that it\n"
	"                      takes longer to leave than so many microseconds, such as 100;\n"
	"                      shorter pauses, for more power while CPUs are idle\n"
	"  -f, --follow        wait for processes that PROGRAM leaves running when it ends, such "
	"as\n"
	"                      a daemon (default: report one)\n"
	"  -q, --quiet         do not print the number of phases\n"
	"      --require-hints exit with 1 if PROGRAM succeeded and there was no hint\n"
	"\n"
	"--period, --cost, --command, --gchintd and --option record the run, too, as in\n"
	"gchintctl record.\n"
	"Without -o the recording is PROGRAM-DATE-TIME.db.\n"
	"\n"
	"Example:\n"
	"  gchintctl run -o app.db --report -- java -jar app.jar\n";

struct launch {
	struct recorder *recorder; /* NULL: the run is not recorded */
	bool page; /* is written after it */
	const char *page_name; /* NULL: like the recording's */
	const struct launch_after *after;
	const char *program; /* that gives hints */
	bool quiet, require; /* hints */
	bool held; /* something that ends with us has to last as long as the program */
	enum child_left left;
	const struct runtime *loaded; /* whose adapter is loaded; NULL: none */
	const struct runtime *named; /* by --runtime; NULL: none */
	struct probe_set probes; /* of --probe */
	const char *probe_argument[PHASE_PROBES];
	size_t probe_arguments;
	struct watcher *watcher; /* what sees the program by probes; NULL: nothing, or for Go's */
};

/* Appends @value to a variable that may be set already. */
static void env_append(const char *variable, const char *separator, const char *value)
{
	const char *before = getenv(variable);
	char *both = NULL;

	if (!before || !*before) {
		setenv(variable, value, 1);
		return;
	}
	if (asprintf(&both, "%s%s%s", before, separator, value) < 0)
		return;
	setenv(variable, both, 1);
	free(both);
}

/* Inserts @option after word @at of a command, the program's name. */
static char **command_insert_option(char **command, int count, int at, char *option)
{
	char **argv = calloc((size_t)count + 2, sizeof(*argv));

	if (!argv || !option)
		return NULL;
	memcpy(argv, command, ((size_t)at + 1) * sizeof(*argv));
	argv[at + 1] = option;
	memcpy(argv + at + 2, command + at + 1, (size_t)(count - at) * sizeof(*argv));
	return argv;
}

/*
 * Preloads the adapter. The loader splits LD_PRELOAD at blanks too, and has no way to quote one:
 * then it searches the adapter by its name. A program that is linked with AddressSanitizer ends if
 * another library precedes the sanitizer's, unless this check is off.
 */
static bool env_set_preload(char *adapter)
{
	static const char order[] = "verify_asan_link_order";
	const char *asan = getenv("ASAN_OPTIONS");
	char *slash;

	if (strpbrk(adapter, ":;"))
		return false;
	if (!asan || !strstr(asan, order))
		env_append("ASAN_OPTIONS", ":", "verify_asan_link_order=0");
	if (!strpbrk(adapter, " \t\n")) {
		env_append("LD_PRELOAD", ":", adapter);
		return true;
	}
	slash = strrchr(adapter, '/');
	*slash = '\0';
	env_append("LD_LIBRARY_PATH", ":", adapter);
	env_append("LD_PRELOAD", ":", slash + 1);
	return true;
}

/*
 * Lets each process of the command choose its adapter when it starts: that of runtime @only, or of
 * its own if that is NULL. Returns false if the library that does it is not installed.
 */
static bool env_set_launcher(const struct runtime *only)
{
	const char *preloaded = getenv("LD_PRELOAD");
	char path[PATH_MAX], from[16];

	if (!runtime_launcher(path, sizeof(path)))
		return false;
	if (only)
		setenv("GCHINT_RUNTIME", only->name, 1);
	else
		unsetenv("GCHINT_RUNTIME");
	/* That process says why it has no adapter, unlike the others. */
	snprintf(from, sizeof(from), "%d", (int)getpid());
	setenv("GCHINT_LAUNCH_FROM", from, 1);
	/* By a gchintctl run around this one. */
	return (preloaded && strstr(preloaded, "libgchint-launch.so")) || env_set_preload(path);
}

/* A command, the word in it that is the program to load an adapter into, and that program. */
struct target {
	char **command;
	int count, at;
	bool script; /* its interpreter takes no option of ours: only the environment reaches it */
	bool named; /* the user names the runtime of what it starts */
};

/* A JVM that may write an archive of classes does not with an agent: the launcher looks closer. */
static bool command_mentions_archive(const struct target *t)
{
	static const char *const words[] = { "-Xshare:", "Archive", "-XX:AOT", "DynamicDump", "@" };

	for (int i = t->at + 1; i < t->count; i++)
		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
			if (strstr(t->command[i], words[w]))
				return true;
	return getenv("JAVA_TOOL_OPTIONS") || getenv("JDK_JAVA_OPTIONS") || getenv("_JAVA_OPTIONS");
}

/*
 * Whether libgchint-launch.so loads the adapter, in the process of the runtime and with its rights. A
 * child of another user may not read what we may, and Ruby and Node end then.
 */
static bool adapter_is_launched(const struct runtime *runtime, const struct target *t)
{
	return runtime->mode == RUNTIME_LAUNCH || t->named || t->script ||
	       (runtime->mode == RUNTIME_AGENT && command_mentions_archive(t));
}

/* Finds the adapter. Returns the name of a library that is not installed; NULL if all are. */
static const char *adapter_missing(const struct runtime *runtime, const struct target *t,
				   char *path, size_t size)
{
	char launcher[PATH_MAX];

	if (!runtime_adapter(runtime, path, size))
		return runtime->name;
	return adapter_is_launched(runtime, t) && !runtime_launcher(launcher, sizeof(launcher)) ?
		       "launch" :
		       NULL;
}

/*
 * Returns the command with its adapter; NULL if memory runs out or a path of the adapters cannot be
 * passed on.
 */
static char **adapter_load(const struct runtime *runtime, char *adapter, const struct target *t,
			   bool interpreted)
{
	const bool launched = env_set_launcher(t->named ? runtime : NULL);
	char *option = NULL;

	if (interpreted)
		setenv("GCHINT_INTERPRETED", "1", 1);
	if (adapter_is_launched(runtime, t))
		return launched ? t->command : NULL;
	if (runtime->mode == RUNTIME_PRELOAD)
		return env_set_preload(adapter) ? t->command : NULL;
	if (asprintf(&option, "-agentpath:%s%s", adapter, interpreted ? "=interpreted" : "") < 0)
		return NULL;
	return command_insert_option(t->command, t->count, t->at, option);
}

/*
 * Programs that start the program after their options and operands, of which none is the name of
 * another program. It gets its adapter; what the launcher does itself is not affected.
 */
static bool program_is_launcher(const char *program)
{
	static const char *const names[] = {
		"chrt",	   "dumb-init", "env",	   "ionice",  "nice",	 "nohup",
		"numactl", "prlimit",	"setarch", "setpriv", "setsid",	 "stdbuf",
		"taskset", "time",	"timeout", "tini",    "unshare",
	};
	const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(base, names[i]))
			return true;
	return false;
}

/* The words that make this command run again as the program of a recorder, and then @command. */
static char **probed_again(const struct launch *l, char **command, int length)
{
	char **again = calloc((size_t)length + 2 * l->probe_arguments + 7, sizeof(*again));
	size_t nr = 0;

	if (!again)
		return NULL;
	again[nr++] = (char *)"/proc/self/exe";
	again[nr++] = (char *)"run";
	again[nr++] = (char *)"--quiet";
	for (size_t i = 0; i < l->probe_arguments; i++) {
		again[nr++] = (char *)"--probe";
		again[nr++] = (char *)(uintptr_t)l->probe_argument[i];
	}
	if (l->named) {
		again[nr++] = (char *)"--runtime";
		again[nr++] = (char *)(uintptr_t)l->named->name;
	}
	again[nr++] = (char *)"--";
	memcpy(again + nr, command, (size_t)length * sizeof(*again));
	return again;
}

static struct target target_find(char **command, int count)
{
	struct target t = { command, count, 0, false, false };
	char path[PATH_MAX];
	int next;

	while (program_is_launcher(command[t.at])) {
		for (next = t.at + 1; next < count; next++)
			if (command[next][0] != '-' && !strchr(command[next], '=') &&
			    runtime_file(command[next], path, sizeof(path)))
				break;
		if (next == count)
			break;
		t.at = next;
	}
	return t;
}

const struct runtime *launch_runtime(const char *command, const char *name)
{
	const struct runtime *named = runtime_named(name);

	if (named && runtime_can_be_named(named))
		return named;
	ctl_error("%s: --runtime %s: %s", command, name,
		  named ? "nothing can be loaded into such programs; name the program itself" :
			  "gchintctl runtimes lists the names");
	return NULL;
}

char **launch_command(const struct runtime *named, char **command, int *count, bool interpreted)
{
	struct target t = target_find(command, *count);
	char adapter[PATH_MAX], **with;
	const char *missing;
	const char *program = command[t.at];
	struct runtime_none none = { .script = false };
	const struct runtime *runtime = named ? named : runtime_of(program, &none);

	t.script = none.script;
	t.named = named;
	if (interpreted && (!runtime || runtime->mode != RUNTIME_AGENT))
		ctl_error("%s is no JVM: --interpreted has no effect", program);
	if (runtime && runtime->probes) {
		const struct launch l = { .named = named };

		with = probed_again(&l, command, *count);
		for (*count = 0; with && with[*count]; ++*count)
			;
		return with ? with : command;
	}
	if (!runtime || runtime->mode == RUNTIME_PROBES) {
		env_set_launcher(NULL);
		return command;
	}
	missing = adapter_missing(runtime, &t, adapter, sizeof(adapter));
	if (missing) {
		ctl_error("%s is %s, but libgchint-%s.so is not installed: the names of its "
			  "methods are not recorded",
			  program, runtime->title, missing);
		return command;
	}
	with = adapter_load(runtime, adapter, &t, interpreted);
	if (!with)
		return command;
	for (*count = 0; with[*count]; ++*count)
		;
	return with;
}

/* The program's, unless hints were required. */
static int status_without_hints(const struct launch *l, int status)
{
	return l->require && !status ? CTL_FAILED : status;
}

/* Says why there are no hints of a program that ran. */
static void launch_report_none(const struct launch *l, const struct hint_count *t, const char *file,
			       int status)
{
	if (l->watcher && !t->missed)
		ctl_error("no hints%s%s: no probed function of %s was entered: it may not have "
			  "collected, or the function was inlined, or is in another file, such as "
			  "that of a container; gchintctl profile shows which functions collect",
			  file ? " in " : "", file ? file : "", l->program);
	else
		hints_report_none(t, l->program, file, l->loaded, true, status);
}

static bool device_usable(void)
{
	const char *path = getenv("GCHINT_DEVICE");

	return !access(path && *path ? path : "/dev/gchint", R_OK | W_OK);
}

static void phases_print(const struct hint_count *t, const char *where)
{
	char lost[64] = "", missed[96] = "", stops[64] = "";

	if (t->stops)
		snprintf(stops, sizeof(stops), ", %" PRIu64 " stop%s of single threads", t->stops,
			 t->stops == 1 ? "" : "s");
	if (t->lost)
		snprintf(lost, sizeof(lost), " (%" PRIu64 " more were not counted)", t->lost);
	if (t->missed)
		snprintf(missed, sizeof(missed), ", without those of %" PRIu64 " programs",
			 t->missed);
	fprintf(stderr, "gchintctl: %" PRIu64 " phase%s, %" PRIu64 " pause%s%s%s%s: %s\n",
		t->phases, t->phases == 1 ? "" : "s", t->pauses, t->pauses == 1 ? "" : "s", stops,
		lost, missed, where);
}

/* Records the command as gchintctl record does, and counts the phases in the recording. */
static int launch_record(const struct launch *l, char **command)
{
	struct recorder *r = l->recorder;
	char where[PATH_MAX + 64];
	struct hint_count t;
	int status;

	r->quiet = l->quiet;
	r->hints_optional = true;
	r->ends_quietly = true;
	r->left = l->left;
	status = recorder_run(r, command);
	if (!r->ran || r->unrecorded)
		return status;
	/* Why they are not known is reported. */
	if (r->abandoned || !hint_count_read(&t, r->file))
		return status_without_hints(l, status);
	snprintf(where, sizeof(where), "%s%s", t.by_kernel ? "to the kernel, and into " : "into ",
		 r->file);
	if (!t.phases)
		launch_report_none(l, &t, r->file, status);
	else if (!l->quiet)
		phases_print(&t, where);
	if (t.phases && !l->quiet)
		l->after->answer(r->file);
	if (l->page)
		l->after->page(r->file, l->page_name);
	if (!l->quiet)
		fprintf(stderr, "gchintctl: next: gchintctl summary %s%s%s\n", r->file,
			l->page ? "" : ", or for a page gchintctl report ", l->page ? "" : r->file);
	return t.phases ? status : status_without_hints(l, status);
}

static void env_set_stream(void *data)
{
	setenv("GCHINT_STREAM", hint_listener_path(data), 1);
}

/* libgchint does not use the device in this mode; a recorder still receives all hints. */
static bool hints_use_clamps(void)
{
	const char *hints = getenv("GCHINT_HINTS");

	return hints && !strcmp(hints, "clamp") && !hints_disabled();
}

/* Runs a program that is seen by probes. @program: its file */
static int probed_run(const struct launch *l, const char *program, const struct child *child,
		      const char *stream)
{
	return l->watcher ? watcher_run(l->watcher, child, stream) : go_run(program, child, stream);
}

/*
 * Counts the program's hints when neither the kernel nor a recorder receives them. @probed: the file
 * of a program that is seen by probes, or NULL
 */
static int launch_count(const struct launch *l, char **command, const char *probed)
{
	struct hint_listener *listener = hint_listener_open();
	bool failed = false;
	struct child child = { .argv = command, .failed = &failed, .left = l->left };
	struct hint_count t;
	const char *where;
	sigset_t taken;
	int status;

	child_signals(&taken);
	child.taken = &taken;
	if (listener) {
		child.setup = env_set_stream;
		child.poll = hint_count_poll;
		child.data = listener;
	} else {
		ctl_error("hints are not counted: /tmp and /dev/shm: %s", strerror(errno));
	}
	status = probed && listener ? probed_run(l, probed, &child, hint_listener_path(listener)) :
				      child_run(&child);
	if (!listener)
		return failed ? status : status_without_hints(l, status);
	t = hint_listener_close(listener);
	if (failed)
		return status;
	if (!t.phases) {
		launch_report_none(l, &t, NULL, status);
		return status_without_hints(l, status);
	}
	if (probed)
		where = "nowhere, uprobes are too late to act on; -o FILE keeps them";
	else if (hints_use_clamps())
		where = "utilisation clamps act on them; -o FILE keeps them";
	else
		where = "nowhere, there is no /dev/gchint; -o FILE keeps them";
	if (!l->quiet)
		phases_print(&t, where);
	return status;
}

/* Nothing is to be counted: the program takes our place, unless we have to outlive it. */
static int launch_exec(const struct launch *l, char **command)
{
	struct child child = { .argv = command, .left = l->left };
	sigset_t taken;

	if (l->left == CHILD_LEFT_FOLLOW || l->held) {
		child_signals(&taken);
		child.taken = &taken;
		return child_run(&child);
	}
	execvp(command[0], command);
	ctl_error("%s: %s", command[0], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}

static int launch_run(const struct launch *l, char **command)
{
	const char *stream = getenv("GCHINT_STREAM");

	if (l->recorder)
		return launch_record(l, command);
	if ((!l->quiet || l->require) && (hints_use_clamps() || !device_usable()) &&
	    !(stream && *stream))
		return launch_count(l, command, NULL);
	if (l->require) {
		ctl_error("--require-hints: hints go to %s, where they are not counted; add "
			  "-o FILE",
			  device_usable() ? "the kernel" : stream);
		return CTL_USAGE;
	}
	if (!l->quiet && hints_use_clamps())
		fprintf(stderr,
			"gchintctl: utilisation clamps act on hints, which go to the "
			"recorder at %s\n",
			stream);
	else if (!l->quiet)
		fprintf(stderr, "gchintctl: hints go to %s%s\n",
			device_usable() ? "the kernel" : "the recorder at ",
			device_usable() ? "; -o FILE counts and keeps them" : stream);
	return launch_exec(l, command);
}

/* The recorder of a recorded run runs this command again as the program to record. */
static int launch_run_probed(const struct launch *l, const char *path, char **command, int length)
{
	const char *stream = getenv("GCHINT_STREAM");
	struct child child = { .argv = command, .left = l->left };
	char **again;
	sigset_t taken;

	if (l->recorder) {
		again = probed_again(l, command, length);
		/* It is the program that is recorded, not this command. */
		l->recorder->called = l->program;
		return again ? launch_run(l, again) : CTL_FAILED;
	}
	if (!hints_disabled() && stream && *stream) {
		child_signals(&taken);
		child.taken = &taken;
		return probed_run(l, path, &child, stream);
	}
	if ((!l->quiet || l->require) && !hints_disabled())
		return launch_count(l, command, path);
	return launch_exec(l, command);
}

static int launch_run_go(const struct launch *l, char **command, int length)
{
	char path[PATH_MAX], why[128] = "no such program";

	if (!runtime_file(command[0], path, sizeof(path)) || !go_check(path, why, sizeof(why))) {
		ctl_error("%s: %s", command[0], why);
		return CTL_FAILED;
	}
	return launch_run_probed(l, path, command, length);
}

/* Finds what is to be probed, and checks that it can be. Returns false with a reason. */
static bool launch_watch(struct launch *l, const struct probe_set *set, const char *program,
			 char *why, size_t size)
{
	l->watcher = watcher_open(set->probe, set->nr, program, 0, why, size);
	if (l->watcher && watcher_check(l->watcher, why, size))
		return true;
	if (l->watcher)
		watcher_close(l->watcher);
	l->watcher = NULL;
	return false;
}

static bool hints_valid(const char *which)
{
	return !strcmp(which, "cap") || !strcmp(which, "boost") || !strcmp(which, "all") ||
	       !strcmp(which, "clamp");
}

/*
 * Checks that the requested mode of hints is available. If not, prints the reason and returns an
 * exit code.
 */
static int hints_check(const struct runtime *runtime, const char *program, bool probed)
{
	const char *hints = getenv("GCHINT_HINTS"), *missing;

	if (hints && *hints && !hints_valid(hints)) {
		ctl_error("GCHINT_HINTS takes all, boost, cap or clamp, not %s", hints);
		return CTL_USAGE;
	}
	if (!hints_use_clamps())
		return CTL_OK;
	if (probed || (runtime && runtime->mode == RUNTIME_PROBES && !runtime->probes)) {
		ctl_error("%s is %s: its hints come too late for --hints clamp", program,
			  probed ? "seen by probes" : runtime->title);
		return CTL_FAILED;
	}
	missing = clamps_missing();
	if (missing)
		ctl_error("--hints clamp: %s", missing);
	return missing ? CTL_FAILED : CTL_OK;
}

/* A program without an adapter runs all the same, after one line that says so. */
static int launch_unloaded(const struct launch *l, const struct target *t,
			   const struct runtime_none *none)
{
	bool launched;

	if (!none->runs) {
		/* A pointer to the list of runtimes would mislead where the file is missing. */
		if (none->status == 127 && !none->script)
			ctl_error("%s: %s", l->program, none->why);
		else
			ctl_error("%s: %s; gchintctl runtimes lists the supported runtimes",
				  l->program, none->why);
		return none->status;
	}
	launched = env_set_launcher(NULL);
	if (!none->libgchint && (!launched || none->refuses))
		ctl_error("%s: %s; it runs as it is, for hints of programs that it starts%s",
			  l->program, none->why,
			  launched ? "" : " (--runtime NAME loads an adapter into these)");
	return launch_run(l, t->command);
}

/*
 * A program that is seen by the probes of @runtime, which is in probes.list, or by those of the user.
 * A program whose runtime was recognised runs all the same if it cannot be probed.
 */
static int launch_listed(struct launch *l, const struct target *t, const struct runtime *runtime,
			 const struct runtime_none *none)
{
	struct probe_set listed = { .nr = 0 };
	const char *program = *none->file && !t->named ? none->file : NULL;
	char why[640] = "";
	bool good = !runtime ||
		    probe_set_add(&listed, runtime->probes, runtime->name, why, sizeof(why));

	if (!*none->file && !runtime) {
		ctl_error("%s: %s", l->program, none->why);
		return none->status;
	}
	/* It may use libgchint by itself. */
	if (hints_use_clamps()) {
		env_set_launcher(NULL);
		return launch_run(l, t->command);
	}
	if (good && launch_watch(l, runtime ? &listed : &l->probes, program, why, sizeof(why))) {
		if (!l->quiet && watcher_throws(l->watcher, why, sizeof(why)))
			ctl_error("--probe: %s", why);
		return launch_run_probed(l, none->file, t->command, t->count);
	}
	if (runtime && !t->named) {
		ctl_error("%s is %s, which is seen by probes, but %s; it runs as it is, for hints "
			  "of programs that it starts",
			  l->program, runtime->title, why);
		env_set_launcher(NULL);
		return launch_run(l, t->command);
	}
	ctl_error("%s%s", runtime ? "" : "--probe: ", why);
	return CTL_FAILED;
}

/* @named: the runtime of the programs that the command starts; NULL: that of the command */
static int launch_program(struct launch *l, const struct runtime *named, char **command, int count)
{
	struct target t = target_find(command, count);
	const struct runtime *runtime;
	struct runtime_none none = { .runs = false };
	char adapter[PATH_MAX], **with;
	const char *missing;
	int status;

	l->program = command[t.at];
	runtime = runtime_of(l->program, &none);
	if (named && none.other)
		ctl_error("%s: %s; it runs as it is, for hints of programs that it starts",
			  l->program, none.why);
	if (named)
		runtime = named;
	t.script = named || none.script;
	t.named = named;
	status = hints_check(runtime, l->program, l->probes.nr);
	if (status)
		return status;
	if (l->probes.nr || (runtime && runtime->probes))
		return launch_listed(l, &t, l->probes.nr ? NULL : runtime, &none);
	if (!runtime)
		return launch_unloaded(l, &t, &none);
	if (runtime->mode == RUNTIME_PROBES)
		return launch_run_go(l, command + t.at, count - t.at);
	missing = adapter_missing(runtime, &t, adapter, sizeof(adapter));
	if (missing) {
		ctl_error("%s is %s, but libgchint-%s.so is not installed: install the package "
			  "gchint-adapters, or run make install in gchint's source, which names "
			  "what it needs",
			  l->program, runtime->title, missing);
		return CTL_FAILED;
	}
	with = adapter_load(runtime, adapter, &t, false);
	if (!with) {
		ctl_error("%s cannot be passed to the program: no memory, or its runtime cannot "
			  "read such a path",
			  adapter);
		return CTL_FAILED;
	}
	l->loaded = runtime;
	return launch_run(l, with);
}

int launch_main(int argc, char **argv, const struct launch_after *after)
{
	static const struct option longs[] = {
		RECORDER_OPTIONS,
		{ "follow", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "hints", required_argument, NULL, 'H' },
		{ "metrics", required_argument, NULL, 'm' },
		{ "probe", required_argument, NULL, 'B' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "record", required_argument, NULL, 'r' },
		{ "report", optional_argument, NULL, 'P' },
		{ "require-hints", no_argument, NULL, 'Q' },
		{ "runtime", required_argument, NULL, 'R' },
		{ "wake-latency", required_argument, NULL, 'W' },
		{ 0 },
	};
	const char *wake_latency = NULL;
	const struct runtime *named = NULL;
	struct launch l = { .left = CHILD_LEFT_REPORT, .after = after };
	struct recorder recorder;
	bool recorded = false;
	char why[400];
	int opt;

	recorder_init(&recorder);
	while ((opt = getopt_long(argc, argv, "+" RECORDER_LETTERS "fhH:m:qr:R:", longs, NULL)) >=
	       0) {
		switch (opt) {
		case 'B':
			if (l.probe_arguments == PHASE_PROBES ||
			    !probe_set_take(&l.probes, optarg, why, sizeof(why))) {
				ctl_error("run: --probe: %s",
					  l.probe_arguments == PHASE_PROBES ? "too many" : why);
				return CTL_USAGE;
			}
			l.probe_argument[l.probe_arguments++] = optarg;
			break;
		case 'f':
			l.left = CHILD_LEFT_FOLLOW;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		case 'H':
			if (!hints_valid(optarg)) {
				ctl_error("run: --hints takes cap, boost, all or clamp, not %s",
					  optarg);
				return CTL_USAGE;
			}
			setenv("GCHINT_HINTS", optarg, 1);
			break;
		case 'm':
			recorder.metrics = optarg;
			break;
		case 'P':
			l.page = true;
			l.page_name = optarg;
			recorded = true;
			break;
		case 'q':
			l.quiet = true;
			break;
		case 'Q':
			l.require = true;
			break;
		case 'R':
			named = launch_runtime("run", optarg);
			if (!named)
				return CTL_USAGE;
			break;
		case 'W':
			wake_latency = optarg;
			break;
		default:
			if (!recorder_take_option(&recorder, opt == 'r' ? 'o' : opt, optarg))
				return ctl_usage("run");
			/* With metrics the label is that of the service. */
			recorded = recorded || opt != 'l';
		}
	}
	recorder.unrecorded = recorder.metrics && !recorded;
	if (recorded || recorder.metrics || recorder.label)
		l.recorder = &recorder;
	l.named = named;
	if (named && l.probe_arguments) {
		ctl_error("run: --probe takes the place of an adapter: leave out --runtime");
		return CTL_USAGE;
	}
	if (recorder.unrecorded && l.require) {
		ctl_error("run: --require-hints: metrics do not count them; add -o FILE");
		return CTL_USAGE;
	}
	if (optind == argc) {
		ctl_error("run: no program given; see gchintctl run --help");
		return CTL_USAGE;
	}
	if (wake_latency) {
		const int status = wake_latency_limit(wake_latency);

		if (status)
			return status;
		l.held = true;
	}
	return launch_program(&l, named, argv + optind, argc - optind);
}
