// SPDX-License-Identifier: MIT
/*
 * Description: each barrier is taken out in turn, and the verifier or the model must
 * notice. Arguments: the random program built with -DGC_MUTANT=1, 2, ...
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

/* What each mutant lacks, and where it shows */
static const struct mutant {
	const char *lacks, *options;
} mutants[] = {
	{ "a new large object's dirty card", "plan=gss,nursery=512K,stress=16K,large=512" },
	{ "the card of an old object whose referent is young still",
	  "plan=gss,nursery=512K,stress=16K" },
	{ "the card of an old weak object whose referent may move",
	  "plan=gss,nursery=512K,stress=16K,promote=naive,p=0.3" },
	{ "the second look at the roots", "plan=cms,stress=128K" },
	{ "the remembered set of a minor collection", "plan=gencms,stress=16K" },
	{ "the card of an object that found no room on the mark stack",
	  "plan=cms,stress=64K,markstack=4K,overflow=card" },
	{ "the dirty cards of the remark pause", "plan=cms,stress=128K,preclean=0" },
	{ "what one who helps to mark hands to another", "plan=marksweep,stress=16K,workers=3" },
};

static int run_model(void *arg)
{
	return model_run(arg);
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

			caught = child(run_model, &run, 120, text, sizeof(text)) != 0;
		}
		ok(caught && strstr(text, "write barrier"), "a missing write barrier is named: %s",
		   barrier_plans[i]);
		if (!caught || !strstr(text, "write barrier"))
			printf("# %s\n", text);
	}
	for (int i = 0; i < argc - 1 && i < (int)(sizeof(mutants) / sizeof(mutants[0])); i++) {
		int caught = 0, seed;

		for (seed = 1; seed <= TRIES && !caught; seed++) {
			char command[512];

			snprintf(command, sizeof(command),
				 "timeout 120 %s %s" CHECKS " %d 40000 3 >/dev/null 2>&1",
				 argv[i + 1], mutants[i].options, seed);
			caught = system(command) != 0;
		}
		ok(caught, "caught without %s (seed %d)", mutants[i].lacks, seed - 1);
	}
	return done();
}
