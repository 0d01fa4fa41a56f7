// SPDX-License-Identifier: MIT
/* repro: tries the claims of the seeds, prints the verdicts, keeps the figures. */
#define _GNU_SOURCE
#include "repro/claims.h"
#include "repro/page.h"
#include "repro/record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct claim *const claims[] = {
#define CLAIM(name) &name,
#include "repro/claims.list"
#undef CLAIM
};

#define CLAIMS	 (sizeof(claims) / sizeof(*claims))
#define MAX_RUNS 20

struct options {
	const char *figures, *history, *page, *tree;
	bool control, judge, resume, table;
};

static int usage(FILE *out)
{
	fputs("usage: gchint-repro [OPTION...] [ID...]\n"
	      "Tries the claims of the seeds and prints which reproduce. IDs (000-a) or their\n"
	      "prefixes (004) select claims.\n"
	      "  --control         each claim once more with its mechanism taken away\n"
	      "  --counts          only what a busy machine cannot change\n"
	      "  --figures=FILE    keep the figures in FILE, after each claim; figures not tried\n"
	      "                    again stay\n"
	      "  --history=DIR     drop figures of trees that the repository of DIR lacks\n"
	      "  --judge           run nothing: verdicts from --figures alone\n"
	      "  --page=FILE.md    write the figures and verdicts as a page\n"
	      "  --resume          try no claim again whose figures are all of --tree\n"
	      "  --runs=N          runs of each timed measurement (default: 3)\n"
	      "  --small           sizes that end within seconds; keeps nothing\n"
	      "  --table1          also the Dalvik seed's Table 1 and ours\n"
	      "  --tree=NAME       source tree of the figures (default: unknown)\n"
	      "Exit status: 0 whatever the verdicts; 1 when a run failed, or a control that was\n"
	      "settled changed no verdict; 2 for a wrong call.\n",
	      out);
	return out == stdout ? 0 : 2;
}

static bool claim_is_wanted(int argc, char **argv, const char *id)
{
	bool any = false;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		any = true;
		if (!strncmp(id, argv[i], strlen(argv[i])))
			return true;
	}
	return !any;
}

static void progress_print(const struct claim *claim, const char *what)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s%s", claim ? claim->id : "", what);
}

/* Does @claim have a term that can be measured under the current effort? */
static bool claim_is_measurable(const struct claim *claim)
{
	for (size_t i = 0; i < claim_terms(claim); i++)
		if (claim->term[i].basis == BASIS_COUNT || !effort.counts)
			return true;
	return false;
}

/* Has @claim each figure that the current effort would give, of this tree? */
static bool claim_is_done(const struct entry *e, const struct options *opt)
{
	struct finding f = record_finding(e, effort.counts);

	for (size_t i = 0; i < claim_terms(e->claim); i++) {
		const struct term *t = &e->claim->term[i];
		bool timed = term_rests_on_time(t);

		if (t->basis == BASIS_ENERGY || (timed && effort.counts))
			continue;
		if (isnan(e->figure[i]) || strcmp(e->from[i].tree, opt->tree) ||
		    (timed && e->from[i].setup.runs < effort.runs))
			return false;
	}
	return !opt->control || !f.alteration || f.control != VERDICT_UNKNOWN;
}

static int claim_try_once(struct entry *e, const struct alteration *alteration, const char *tree)
{
	struct origin from = { .setup = { (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), effort.runs,
					  true } };
	struct outcome o;

	snprintf(from.tree, sizeof(from.tree), "%s", tree);
	outcome_init(&o, e->claim);
	probe_alter(alteration);
	e->claim->measure(&o);
	if (alteration && !o.failed && !o.altered)
		failed(&o, "its control changes no run");
	if (o.failed) {
		fprintf(stderr, "gchint-repro: %s: %s\n", e->claim->id, o.error);
		return -1;
	}
	record_put(e, &o, &from, alteration != NULL);
	return 0;
}

static int claim_try(struct entry *e, const struct options *opt)
{
	struct finding f;
	int code;

	progress_print(e->claim, "");
	code = claim_try_once(e, NULL, opt->tree);
	f = record_finding(e, effort.counts);
	if (!code && opt->control && f.alteration) {
		progress_print(e->claim, ", control");
		code = claim_try_once(e, f.alteration, opt->tree);
	}
	progress_print(NULL, "");
	return code;
}

static void finding_print(const struct entry *e, const struct finding *f, bool control)
{
	char text[2000];

	printf("%s  %s\n       paper    %s\n", e->claim->id, e->claim->text, e->claim->paper);
	page_figures(e, e->figure, text, sizeof(text));
	printf("       ours     %s\n", text);
	if (*e->detail)
		printf("                %s\n", e->detail);
	page_verdict(e->claim, f, text, sizeof(text));
	printf("       verdict  %s\n       note     %s\n", text, e->claim->note);
	if (control) {
		page_control(f, text, sizeof(text));
		printf("       control  %s\n", text);
	}
	putchar('\n');
	fflush(stdout);
}

/* The control has a verdict but does not confirm the mechanism. */
static bool control_is_mute(const struct finding *f)
{
	return f->alteration && !(f->unmet & (UNMET_QUIET | UNMET_RUNS)) &&
	       !control_confirms(f->verdict, f->control);
}

static int take_table1(struct record *r, const char *tree)
{
	size_t size = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);
	int code;

	if (!f)
		return -ENOMEM;
	code = repro_table1(f);
	fclose(f);
	if (code) {
		free(text);
		return -ECHILD;
	}
	free(r->table);
	r->table = text;
	snprintf(r->table_tree, sizeof(r->table_tree), "%s", tree);
	return 0;
}

static int error_print(const char *what, int code)
{
	if (code)
		fprintf(stderr, "gchint-repro: %s: %s\n", what, strerror(-code));
	return code;
}

static int record_write(const struct record *r, const struct options *opt)
{
	int code = 0;

	if (opt->figures && !opt->judge)
		code = error_print(opt->figures, record_save(r, opt->figures));
	if (!code && opt->page)
		code = error_print(opt->page, page_write(r, opt->page));
	return code;
}

static int run_all(struct record *r, const struct options *opt, int argc, char **argv)
{
	unsigned int count[VERDICT_DOES_NOT + 1] = { 0 };
	size_t tried = 0, lacking = 0, fails = 0, silent = 0;

	for (size_t i = 0; i < CLAIMS; i++) {
		struct entry *e = &r->entry[i];
		struct finding f;

		if (!claim_is_wanted(argc, argv, e->claim->id) || !claim_is_measurable(e->claim))
			continue;
		tried++;
		if (!opt->judge && !(opt->resume && claim_is_done(e, opt))) {
			if (claim_try(e, opt)) {
				fails++;
				continue;
			}
			if (opt->figures && error_print(opt->figures, record_save(r, opt->figures)))
				return 1;
		}
		f = record_finding(e, effort.counts);
		finding_print(e, &f, opt->control);
		lacking += f.unmet != 0;
		count[f.verdict] += !f.unmet;
		silent += opt->control && control_is_mute(&f);
	}
	if (!tried)
		return usage(stderr);
	printf("%zu claims:", tried);
	for (int v = 0; v <= VERDICT_DOES_NOT; v++)
		printf(" %u %s,", count[v], verdict_name((enum verdict)v));
	printf(" %zu lacking what they need, %zu failed to run", lacking, fails);
	printf(opt->control ? "; %zu controls confirm nothing\n" : "\n", silent);
	if (opt->table && error_print("table 1", take_table1(r, opt->tree)))
		fails++;
	return record_write(r, opt) || fails || silent;
}

static bool option_value(const char *arg, const char *name, const char **value)
{
	size_t length = strlen(name);

	if (strncmp(arg, name, length))
		return false;
	*value = arg + length;
	return true;
}

static int options_parse(int argc, char **argv, struct options *opt)
{
	const char *runs = NULL;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || option_value(argv[i], "--runs=", &runs) ||
		    option_value(argv[i], "--figures=", &opt->figures) ||
		    option_value(argv[i], "--history=", &opt->history) ||
		    option_value(argv[i], "--page=", &opt->page) ||
		    option_value(argv[i], "--tree=", &opt->tree))
			continue;
		if (!strcmp(argv[i], "--control"))
			opt->control = true;
		else if (!strcmp(argv[i], "--counts"))
			effort.counts = true;
		else if (!strcmp(argv[i], "--judge"))
			opt->judge = true;
		else if (!strcmp(argv[i], "--resume"))
			opt->resume = true;
		else if (!strcmp(argv[i], "--small"))
			effort.small = true;
		else if (!strcmp(argv[i], "--table1"))
			opt->table = true;
		else
			return -EINVAL;
	}
	if (runs)
		effort.runs = (unsigned int)strtoul(runs, NULL, 10);
	if (!effort.runs || effort.runs > MAX_RUNS || (opt->judge && !opt->figures) ||
	    (effort.small && (opt->figures || opt->page)))
		return -EINVAL;
	return 0;
}

/* Does git find @object in the repository of @dir? */
static bool git_has(const char *dir, const char *object)
{
	char *const argv[] = { "git", "-C", (char *)dir, "cat-file", "-e", (char *)object, NULL };
	posix_spawn_file_actions_t quiet;
	int status = -1, code;
	pid_t pid;

	if (posix_spawn_file_actions_init(&quiet))
		return false;
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(&pid, "git", &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
	while (!code && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return !code && status == 0;
}

static bool tree_is_known(const char *tree, void *history)
{
	char object[RECORD_TREE + sizeof("^{commit}")];

	snprintf(object, sizeof(object), "%s^{commit}", tree);
	return git_has(history, object);
}

/* Without a history every figure would go. */
static int record_filter(struct record *r, const char *history)
{
	size_t dropped;

	if (!git_has(history, "HEAD^{commit}")) {
		fprintf(stderr, "gchint-repro: %s: no git history to find trees in\n", history);
		return -ENOENT;
	}
	dropped = record_drop(r, tree_is_known, (void *)history);
	if (dropped)
		fprintf(stderr, "gchint-repro: dropped %zu figures of trees that %s lacks\n",
			dropped, history);
	return 0;
}

int main(int argc, char **argv)
{
	struct options opt = { .tree = "unknown" };
	struct record record;
	char error[256];
	int code;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(stdout);
	if (options_parse(argc, argv, &opt))
		return usage(stderr);
	if (error_print("figures", record_init(&record, claims, CLAIMS)))
		return 1;
	code = opt.figures ? record_load(&record, opt.figures, error) : 0;
	if (code == -ENOENT && !opt.judge)
		code = 0;
	if (code == -EINVAL)
		fprintf(stderr, "gchint-repro: %s\n", error);
	else
		error_print(opt.figures, code);
	if (!code && opt.history)
		code = record_filter(&record, opt.history);
	code = code ? 1 : run_all(&record, &opt, argc, argv);
	record_free(&record);
	return code;
}
