// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "run/report.h"
#include "run/run.h"
#include "workloads/registry.h"
#include "workloads/workload.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SETTINGS 64
#define MAX_RUNS     1000

struct command {
	struct run_request request;
	const char *setting[MAX_SETTINGS];
	char profile[512], workload[64];
	unsigned int runs;
	enum table_form form;
	bool table1;
};

static const char *profile_dir(void)
{
	const char *dir = getenv("GCHINT_PROFILES");

	return dir && *dir ? dir : PROFILE_DIR;
}

/* The line "# workload: NAME" names the workload of a profile; "" without one. */
static void profile_workload(const char *path, char *name, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[256], word[64];

	*name = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "# workload: %63s", word) == 1) {
			snprintf(name, size, "%s", word);
			break;
		}
	}
	if (f)
		fclose(f);
}

static bool find_profile(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s", name);
	if (strchr(name, '/') && !access(path, R_OK))
		return true;
	snprintf(path, size, "%s/%s.profile", profile_dir(), name);
	return !access(path, R_OK);
}

static int is_profile(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && !strcmp(dot, ".profile");
}

static void workloads_list(void)
{
	struct dirent **file;
	int n;

	puts("Workloads");
	for (size_t i = 0; registry_at(i); i++)
		printf("  %-12s %s\n", registry_at(i)->name, registry_at(i)->summary);
	n = scandir(profile_dir(), &file, is_profile, alphasort);
	puts("Profiles");
	for (int i = 0; i < n; i++) {
		char path[800], workload[64];

		snprintf(path, sizeof(path), "%s/%s", profile_dir(), file[i]->d_name);
		profile_workload(path, workload, sizeof(workload));
		printf("  %-12.*s %s\n", (int)(strlen(file[i]->d_name) - strlen(".profile")),
		       file[i]->d_name, workload);
		free(file[i]);
	}
	if (n >= 0)
		free(file);
}

static void workload_help(const struct workload *w)
{
	if (!w) {
		puts("usage: gchint-bench WORKLOAD|PROFILE [--SETTING=VALUE...] [OPTION...]\n"
		     "       gchint-bench list\n"
		     "       gchint-bench WORKLOAD --help\n\n"
		     "Runs a workload on a collected heap and prints its figures. The score is "
		     "the\n"
		     "time of the slowest thread, in ms.\n\n"
		     "  gchint-bench gcw --gc=plan=cms,sizing=fixed,heap=96M,max=96M --threads=2\n"
		     "  gchint-bench javac --gc=plan=cms,profiler=64K --table1\n");
	} else {
		printf("usage: gchint-bench %s [--SETTING=VALUE...] [OPTION...]\n\n%s.\nStresses "
		       "%s.\n\n"
		       "Settings\n",
		       w->name, w->summary, w->stresses);
		settings_help(w->settings, stdout);
		putchar('\n');
	}
	puts("Options\n"
	     "  --format=text|csv|json|markdown  (default: text)\n"
	     "  --gc=OPTIONS         options of the heap, below\n"
	     "  --hiccup             measure hiccups in the program and in an idle control\n"
	     "  --listener=NAME      stats (all figures), gchint (hints to the kernel), all "
	     "(both),\n"
	     "                       null or none (counters only) (default: stats)\n"
	     "  --profile=NAME       settings from profiles/NAME.profile or from a path\n"
	     "  --runs=N             repeat, each run in its own process, and summarise (default: "
	     "1)\n"
	     "  --table1             the columns of the Dalvik seed's Table 1\n"
	     "  --timeout=SECONDS    kill a run after that time (default: never)\n\n"
	     "Options of the heap");
	backend_help();
}

static int usage(const char *what, const char *word)
{
	fprintf(stderr, "gchint-bench: %s '%s'; gchint-bench --help explains\n", what, word);
	return 2;
}

/* One "--key=value". Return: 0, or 2 after a complaint. */
static int option_parse(struct command *c, const char *arg)
{
	const char *value = strchr(arg, '=');
	size_t length = value ? (size_t)(value - arg) : strlen(arg);
	char *end;

	if (strncmp(arg, "--", 2))
		return usage("unexpected", arg);
	if (!strcmp(arg, "--hiccup")) {
		c->request.hiccup = true;
	} else if (!strcmp(arg, "--table1")) {
		c->table1 = true;
	} else if (!value) {
		return usage("want --KEY=VALUE, not", arg);
	} else if (!strncmp(arg, "--format=", length + 1)) {
		if (table_form_of(value + 1, &c->form))
			return usage("no such format", value + 1);
	} else if (!strncmp(arg, "--gc=", length + 1)) {
		c->request.options = value + 1;
	} else if (!strncmp(arg, "--listener=", length + 1)) {
		c->request.listener = value + 1;
	} else if (!strncmp(arg, "--profile=", length + 1)) {
		if (!find_profile(value + 1, c->profile, sizeof(c->profile)))
			return usage("no such profile", value + 1);
		c->request.profile = c->profile;
	} else if (!strncmp(arg, "--runs=", length + 1)) {
		c->runs = (unsigned int)strtoul(value + 1, &end, 10);
		if (*end || !c->runs || c->runs > MAX_RUNS)
			return usage("--runs: want 1 to 1000, not", value + 1);
	} else if (!strncmp(arg, "--timeout=", length + 1)) {
		c->request.timeout_s = (unsigned int)strtoul(value + 1, &end, 10);
		if (*end)
			return usage("--timeout: want seconds, not", value + 1);
	} else {
		if (c->request.settings == MAX_SETTINGS)
			return usage("too many settings at", arg);
		c->setting[c->request.settings++] = arg + 2;
	}
	return 0;
}

static int runs_print(const struct command *c, const struct report_run *run)
{
	if (c->table1)
		return report_table1(run, c->runs, c->form, stdout);
	if (c->form != TABLE_TEXT)
		return report_rows(run, c->runs, c->form, stdout);
	report_text(run, stdout);
	if (c->runs > 1) {
		putchar('\n');
		return report_summary(run, c->runs, c->form, stdout);
	}
	return 0;
}

static int run_all(struct command *c, const char *name)
{
	struct report_run *run = calloc(c->runs, sizeof(*run));
	int status = 0;

	if (!run) {
		fputs("gchint-bench: out of memory\n", stderr);
		return 1;
	}
	for (unsigned int i = 0; i < c->runs && !status; i++) {
		run[i].name = name;
		if (run_isolated(&c->request, &run[i].result)) {
			fprintf(stderr, "gchint-bench: %s: %s\n", name, run[i].result.error);
			status = run[i].result.code == -EINVAL || run[i].result.code == -ENOENT ?
					 2 :
					 1;
		}
	}
	if (!status && runs_print(c, run)) {
		fputs("gchint-bench: out of memory\n", stderr);
		status = 1;
	}
	free(run);
	return status;
}

int main(int argc, char **argv)
{
	struct command c = { .runs = 1, .form = TABLE_TEXT };
	const char *name = argc > 1 ? argv[1] : "--help";

	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		workload_help(NULL);
		putchar('\n');
		workloads_list();
		return argc > 1 ? 0 : 2;
	}
	if (!strcmp(name, "list")) {
		workloads_list();
		return 0;
	}
	c.request.setting = c.setting;
	c.request.progress = isatty(STDERR_FILENO);
	snprintf(c.workload, sizeof(c.workload), "%s", name);
	if (!registry_find(name)) {
		if (!find_profile(name, c.profile, sizeof(c.profile)))
			return usage("no such workload or profile", name);
		c.request.profile = c.profile;
		profile_workload(c.profile, c.workload, sizeof(c.workload));
	}
	c.request.workload = c.workload;
	for (int i = 2; i < argc; i++) {
		int code;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			workload_help(registry_find(c.workload));
			return 0;
		}
		code = option_parse(&c, argv[i]);
		if (code)
			return code;
	}
	return run_all(&c, name);
}
