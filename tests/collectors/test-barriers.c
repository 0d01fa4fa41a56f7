// SPDX-License-Identifier: MIT
/*
 * Description: each step that is essential for correctness is left out, one by one, and the
 * verifier or the model must detect it. The argument is the random program, built with the library
 * that leaves out a step (-DGC_MUTANTS).
 */
#include "model.h"
#include "tap.h"

#define TRIES  12
#define CHECKS ",verify=all,poison=1,heap=2M,minfree=256K,maxfree=512K"

static const char *const barrier_plans[] = {
	"plan=cms,stress=128K",	       "plan=cmsfly,stress=128K",
	"plan=gencms,stress=16K",      "plan=gss,nursery=512K,stress=16K",
	"plan=stickyimmix,stress=16K",
};

/*
 * What each mutant lacks, where it shows, and what the verifier then says, or the model if threads
 * are disturbed
 */
static const struct mutant {
	const char *number, *lacks, *options, *says;
} mutants[] = {
	{ "1", "a new large object's dirty card", "plan=gss,nursery=512K,stress=16K,large=512",
	  "a store missed its write barrier" },
	{ "2", "the card of an old object whose referent is young still",
	  "plan=gss,nursery=512K,stress=16K", "a store missed its write barrier" },
	{ "3", "the card of an old weak object whose referent may move",
	  "plan=gss,nursery=512K,stress=16K,promote=naive,p=0.3", "(weak) refers to" },
	{ "4", "the second look at the roots", "plan=cms,stress=128K", "(a root) refers to" },
	{ "5", "the remembered set of a minor collection", "plan=gencms,stress=16K",
	  "a store missed its write barrier" },
	{ "6", "the card of an object that found no room on the mark stack",
	  "plan=cms,stress=64K,markstack=4K,overflow=card", "a store missed its write barrier" },
	{ "7", "the dirty cards of the remark pause", "plan=cms,stress=128K,preclean=0",
	  "re-trace after the collection" },
	{ "8", "what one who helps to mark hands to another", "plan=marksweep,stress=16K,workers=3",
	  "re-trace after the collection" },
	{ "12", "what the mark stack dropped before a pass over the cards",
	  "plan=marksweep,markstack=4K,overflow=scan-all", "re-trace after the collection" },
	{ "14", "the mask of signals of a heap's own threads",
	  "plan=gss,nursery=512K,max=24M,workers=3", "a thread of the heap ran a handler" },
	{ "15", "the wait for the end of a wait before a thread is canceled", "plan=cms,max=24M",
	  "hang" },
	{ "16", "the look for a callback that longjmp() left", "plan=marksweep,max=24M",
	  "an allocation is refused without a call" },
};
#define DISTURBED 3 /* the last ones: their threads are disturbed */
#define MUTANTS	  ((int)(sizeof(mutants) / sizeof(mutants[0])))

static int run_model(void *arg)
{
	return model_run(arg);
}

/* The words of a command, ended by NULL. Returns only if it cannot be run. */
static int run_program(void *arg)
{
	char **words = arg;

	if (!freopen("/dev/null", "w", stdout))
		return 126;
	execv(words[0], words);
	perror(words[0]);
	return 127;
}

/* The status of the random program without step @number, for what shows @m */
static int mutant_run(const char *program, const struct mutant *m, const char *number, int seed,
		      char *text, size_t size)
{
	char options[256], seeded[16];
	bool disturbed = m >= mutants + MUTANTS - DISTURBED;
	char *crowds = (char *)(disturbed ? "0" : "1");
	char *disturbs = (char *)(disturbed ? "1" : "0");
	char *steps = (char *)(*number == '0' ? "2000" : "40000");
	char *words[] = { (char *)program, options,	seeded, steps,	  (char *)"3",
			  (char *)"",	   (char *)"0", crowds, disturbs, NULL };

	snprintf(options, sizeof(options), "%s" CHECKS, m->options);
	snprintf(seeded, sizeof(seeded), "%d", seed);
	setenv("GC_MUTANT", number, 1);
	return child(run_program, words, text, size);
}

/* Whether the verifier ended the program, or the model did, and said what it should. */
static bool noticed(const char *program, const struct mutant *m, int seed, char *text, size_t size)
{
	bool disturbed = m >= mutants + MUTANTS - DISTURBED;
	int status;

	setenv("GRAPH_HANG_S", "10", 1);
	status = mutant_run(program, m, m->number, seed, text, size);
	unsetenv("GRAPH_HANG_S");
	if (status == -1 || !strstr(text, m->says))
		return false;
	return disturbed ? WIFEXITED(status) && WEXITSTATUS(status) == 1 :
			   WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main(int argc, char **argv)
{
	static char text[4096];
	char options[256];

	for (size_t i = 0; i < sizeof(barrier_plans) / sizeof(barrier_plans[0]); i++) {
		int caught = 0;

		snprintf(options, sizeof(options), "%s" CHECKS, barrier_plans[i]);
		for (uint64_t seed = 1; seed <= TRIES && !caught; seed++) {
			struct model_run run = { .options = options,
						 .seed = seed,
						 .steps = 40000,
						 .threads = 3,
						 .skip_barrier = true };

			caught = child(run_model, &run, text, sizeof(text)) != 0;
		}
		ok(caught && strstr(text, "write barrier"), "a missing write barrier is named: %s",
		   barrier_plans[i]);
		if (!caught || !strstr(text, "write barrier"))
			printf("# %s\n", text);
	}
	for (int i = 0; i < MUTANTS; i++) {
		bool caught = false;
		int seed = 0;

		snprintf(text, sizeof(text), "no program is named for it");
		while (argc > 1 && seed < TRIES && !caught)
			caught = noticed(argv[1], &mutants[i], ++seed, text, sizeof(text));
		if (!ok(caught, "caught without %s (seed %d)", mutants[i].lacks, seed))
			printf("# it does not say '%s': %s\n", mutants[i].says, text);
		if (!ok(argc > 1 &&
				!mutant_run(argv[1], &mutants[i], "0", seed, text, sizeof(text)),
			"right with it"))
			printf("# %s\n", text);
	}
	return done();
}
