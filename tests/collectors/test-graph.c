// SPDX-License-Identifier: MIT
/*
 * Description: random programs against the model, on every plan and option, with every check of
 * the heap enabled; some of them on two heaps, some fork, in some the mark stack overflows, most
 * often behind an ephemeron or a finalizable object, and in some threads get signals, are canceled
 * and leave a callback by longjmp(). GRAPH_ROUNDS=N repeats with other seeds (default: 1),
 * GRAPH_STEPS=N sets the length, GRAPH_ONLY=TEXT selects the rows that contain TEXT; GRAPH_ONLY=forks,
 * GRAPH_ONLY=heaps and GRAPH_ONLY=disturbed are those that do so.
 */
#include "model.h"
#include "tap.h"

#define CHECKS ",verify=all,poison=1"
#define SMALL  ",heap=2M,minfree=256K,maxfree=512K"

static const struct row {
	const char *options;
	unsigned int threads;
	unsigned int part; /* of the steps: safepoints=1 collects at every step */
} rows[] = {
	/* every plan, alone and with company */
	{ "plan=cms" SMALL, 1, 1 },
	{ "plan=cms" SMALL, 3, 1 },
	{ "plan=cmsfly" SMALL, 1, 1 },
	{ "plan=cmsfly" SMALL, 3, 1 },
	{ "plan=gencms" SMALL, 1, 1 },
	{ "plan=gencms" SMALL, 3, 1 },
	{ "plan=gss,nursery=512K" SMALL, 1, 1 },
	{ "plan=gss,nursery=512K" SMALL, 3, 1 },
	{ "plan=gss" SMALL, 1, 1 },
	{ "plan=gss,heap=2M,max=24M", 3, 1 },
	{ "plan=immix" SMALL, 1, 1 },
	{ "plan=immix" SMALL, 3, 1 },
	{ "plan=marksweep" SMALL, 1, 1 },
	{ "plan=marksweep" SMALL, 3, 1 },
	{ "plan=semispace" SMALL, 1, 1 },
	{ "plan=semispace" SMALL, 3, 1 },
	{ "plan=semispace,workers=1" SMALL, 2, 1 },
	{ "plan=semispace,workers=4,stress=64K" SMALL, 2, 2 },
	{ "plan=gss,nursery=512K,workers=1" SMALL, 2, 1 },
	{ "plan=gss,nursery=512K,workers=4,stress=32K,threshold=128K" SMALL, 2, 2 },
	{ "plan=stickyimmix" SMALL, 1, 1 },
	{ "plan=stickyimmix" SMALL, 3, 1 },
	/* a collection at every safepoint */
	{ "plan=cms,safepoints=1", 1, 40 },
	{ "plan=cmsfly,safepoints=1", 2, 40 },
	{ "plan=gencms,safepoints=1", 1, 40 },
	{ "plan=gss,nursery=512K,safepoints=1", 1, 40 },
	{ "plan=immix,safepoints=1", 1, 40 },
	{ "plan=marksweep,safepoints=1", 1, 40 },
	{ "plan=semispace,safepoints=1", 1, 40 },
	{ "plan=stickyimmix,safepoints=1", 1, 40 },
	/* a collection every so many bytes */
	{ "plan=cms,stress=16K", 2, 2 },
	{ "plan=cmsfly,stress=16K", 2, 2 },
	{ "plan=gencms,stress=16K", 2, 2 },
	{ "plan=gss,nursery=512K,stress=16K,threshold=128K", 2, 2 },
	{ "plan=immix,stress=16K", 2, 2 },
	{ "plan=semispace,stress=16K", 2, 2 },
	{ "plan=stickyimmix,stress=16K", 2, 2 },
	/* policies */
	{ "plan=cms,policy=bg" SMALL, 2, 1 },
	{ "plan=cms,policy=fg" SMALL, 2, 1 },
	{ "plan=cms,policy=adaptive" SMALL, 2, 1 },
	{ "plan=cmsfly,policy=bg" SMALL, 2, 1 },
	{ "plan=gencms,policy=bg" SMALL, 2, 1 },
	{ "plan=gencms,policy=fg" SMALL, 2, 1 },
	{ "plan=cms,foreground=stw" SMALL, 2, 1 },
	{ "plan=cms,profile=hussein-2015" SMALL, 2, 1 },
	{ "plan=cms,profile=dalvik-4.3" SMALL, 2, 2 },
	{ "plan=gencms,profile=hussein-2015" SMALL, 2, 1 },
	{ "profile=art-6.0,nursery=1M" SMALL, 2, 1 },
	/* mark stacks: see tight_rows[], too */
	{ "plan=cms,markstack=4K,overflow=card,remark-limit=1,preclean=0" SMALL, 2, 1 },
	{ "plan=cms,markstack=4K,overflow=card,trace=finger" SMALL, 2, 1 },
	{ "plan=cms,markstack=4K,overflow=scan-all,trace=finger,remark-limit=1" SMALL, 2, 1 },
	{ "plan=marksweep,trace=finger" SMALL, 2, 1 },
	{ "plan=semispace,markstack=4K,overflow=scan-all,workers=1,stress=64K" SMALL, 1, 2 },
	{ "plan=gss,nursery=512K,markstack=4K,overflow=scan-all,workers=1,threshold=128K" SMALL, 1,
	  1 },
	{ "plan=cms,remark-limit=1" SMALL, 2, 1 },
	{ "plan=cms,split=7,remark-limit=1" SMALL, 2, 1 },
	{ "plan=gencms,split=3,markstack=4K,overflow=card" SMALL, 2, 1 },
	{ "plan=immix,split=50" SMALL, 2, 1 },
	{ "plan=cms,split=5,trace=finger" SMALL, 2, 1 },
	{ "plan=cms,pace=0,ahead=0" SMALL, 3, 1 },
	{ "plan=gencms,pace=0,ahead=0" SMALL, 3, 1 },
	/* objects that move while they are marked */
	{ "plan=immix,defrag=always" SMALL, 1, 1 },
	{ "plan=immix,defrag=always" SMALL, 3, 1 },
	{ "plan=immix,defrag=always,safepoints=1,max=24M", 1, 40 },
	{ "plan=immix,defrag=always,stress=16K,max=24M", 2, 2 },
	{ "plan=immix,defrag=always,split=7" SMALL, 2, 1 },
	{ "plan=immix,defrag=always,markstack=4K,overflow=card" SMALL, 2, 1 },
	{ "plan=immix,defrag=always,markstack=4K,overflow=scan-all" SMALL, 2, 1 },
	{ "plan=immix,defrag=never" SMALL, 2, 1 },
	{ "plan=stickyimmix,defrag=always,stress=16K" SMALL, 2, 2 },
	{ "plan=stickyimmix,defrag=always,safepoints=1,max=24M", 2, 40 },
	/* mutators that stopped mark, too */
	{ "plan=marksweep,workers=2,stress=32K" SMALL, 2, 2 },
	{ "plan=marksweep,workers=4,stress=16K" SMALL, 4, 2 },
	{ "plan=marksweep,workers=3,stress=16K,split=5,overflow=reserve" SMALL, 3, 2 },
	{ "plan=marksweep,workers=4,safepoints=1", 3, 40 },
	{ "plan=immix,defrag=never,workers=4,stress=16K" SMALL, 4, 2 },
	{ "plan=immix,workers=3,stress=32K,split=3,markstack=4K" SMALL, 3, 2 },
	{ "plan=immix,defrag=always,workers=4,stress=32K" SMALL, 3, 2 },
	{ "plan=stickyimmix,workers=2,stress=16K" SMALL, 2, 2 },
	{ "plan=stickyimmix,workers=4,stress=16K,split=7" SMALL, 4, 2 },
	{ "plan=cms,foreground=stw,policy=fg,workers=4,stress=32K" SMALL, 3, 2 },
	{ "plan=cms,workers=4,remark-limit=0,preclean=0,stress=32K" SMALL, 3, 2 },
	{ "plan=gencms,foreground=stw,workers=3,stress=32K" SMALL, 3, 2 },
	{ "plan=cmsfly,workers=3,remark-limit=0,stress=32K" SMALL, 3, 2 },
	{ "plan=marksweep,help=0,workers=4,stress=32K" SMALL, 3, 2 },
	{ "plan=stickyimmix,help=0,stress=16K" SMALL, 3, 2 },
	/* promotion */
	{ "plan=gss,nursery=512K,promote=naive,p=0.33" SMALL, 2, 1 },
	{ "plan=gss,nursery=16M,promote=never" SMALL, 2, 1 },
	{ "plan=gss,nursery=512K,promote=ranges,ranges=9-40:65-256" SMALL, 2, 1 },
	{ "plan=gss,nursery=512K,promote=size,m=40,p=0.66" SMALL, 2, 1 },
	{ "plan=gss,nursery=512K,promote=tuned" SMALL, 2, 1 },
	{ "plan=gss,nursery=512K,overflow=reserve,threshold=64K,los-threshold=64K" SMALL, 2, 1 },
	/* sizing rules and the rest */
	{ "plan=cms,sizing=art" SMALL, 2, 1 },
	{ "plan=cms,sizing=fixed,heap=20M", 2, 1 },
	{ "plan=cms,sizing=hussein" SMALL, 2, 1 },
	{ "plan=cms,sizing=membalancer" SMALL, 2, 1 },
	{ "plan=immix,sizing=fixed,heap=20M", 2, 1 },
	{ "plan=semispace,sizing=fixed,heap=40M", 2, 1 },
	{ "plan=stickyimmix,sizing=fixed,heap=20M", 2, 1 },
	{ "plan=gss,nursery=512K,sizing=fixed,heap=20M", 2, 1 },
	{ "plan=cms,safepoint=sleep" SMALL, 2, 2 },
	{ "plan=cms,large=512" SMALL, 2, 1 },
	{ "plan=cms,trim=0.01,trim-collects=1" SMALL, 2, 1 },
	{ "plan=marksweep,profiler=64K" SMALL, 1, 4 },
};

/* A second heap, between which and the first each thread changes, and forks */
static const struct wide_row {
	struct row row;
	const char *other;
	bool forks;
} wide_rows[] = {
	{ { "plan=cms" SMALL, 1, 1 }, "plan=gss,nursery=512K" SMALL, false },
	{ { "plan=gencms" SMALL, 3, 1 }, "plan=immix,defrag=always" SMALL, false },
	{ { "plan=cmsfly" SMALL, 3, 1 }, "plan=stickyimmix" SMALL, false },
	{ { "plan=semispace,workers=3" SMALL, 2, 1 }, "plan=semispace,stress=64K" SMALL, false },
	{ { "plan=marksweep" SMALL, 4, 1 }, "plan=cms,policy=bg" SMALL, false },
	{ { "plan=cms" SMALL, 1, 2 }, NULL, true },
	{ { "plan=cms,policy=bg" SMALL, 3, 2 }, NULL, true },
	{ { "plan=cmsfly" SMALL, 3, 2 }, NULL, true },
	{ { "plan=gencms" SMALL, 3, 2 }, NULL, true },
	{ { "plan=gss,nursery=512K,workers=3" SMALL, 3, 2 }, NULL, true },
	{ { "plan=immix,defrag=always" SMALL, 3, 2 }, NULL, true },
	{ { "plan=marksweep,workers=3,stress=32K" SMALL, 3, 4 }, NULL, true },
	{ { "plan=semispace,workers=4" SMALL, 2, 2 }, NULL, true },
	{ { "plan=stickyimmix" SMALL, 3, 2 }, NULL, true },
	{ { "plan=cms" SMALL, 3, 2 }, "plan=semispace,workers=3" SMALL, true },
	{ { "plan=gss,nursery=512K" SMALL, 2, 2 }, "plan=gencms,stress=64K" SMALL, true },
	{ { "plan=stickyimmix" SMALL, 3, 2 }, "plan=cmsfly,policy=bg" SMALL, true },
};

/*
 * Mark stacks of 512 entries, and objects that lead to more than that: each plan with each way to
 * recover
 */
static const struct row tight_rows[] = {
	{ "plan=cms,remark-limit=0" SMALL, 1, 4 },
	{ "plan=cms,remark-limit=1" SMALL, 2, 4 },
	{ "plan=cms,foreground=stw,policy=fg" SMALL, 1, 4 },
	{ "plan=cmsfly" SMALL, 1, 4 },
	{ "plan=gencms" SMALL, 1, 4 },
	{ "plan=gencms,stress=128K" SMALL, 2, 8 },
	{ "plan=gss,nursery=512K" SMALL, 1, 4 },
	{ "plan=gss,nursery=512K,workers=1,threshold=128K,stress=128K" SMALL, 2, 8 },
	{ "plan=immix" SMALL, 1, 4 },
	{ "plan=immix,defrag=always" SMALL, 2, 4 },
	{ "plan=marksweep" SMALL, 1, 4 },
	{ "plan=marksweep,trace=finger" SMALL, 1, 4 },
	{ "plan=semispace" SMALL, 1, 4 },
	{ "plan=stickyimmix" SMALL, 1, 4 },
	{ "plan=stickyimmix,stress=128K" SMALL, 2, 8 },
};
/* Threads that are disturbed; the limit is low enough for arrays that find no memory. */
static const struct disturbed_row {
	struct row row;
	bool forks, crowds;
} disturbed_rows[] = {
	{ { "plan=cms,max=24M" SMALL, 3, 1 }, false, false },
	{ { "plan=cms,max=24M,policy=bg,safepoint=sleep" SMALL, 2, 2 }, false, false },
	{ { "plan=cms,max=24M,foreground=stw,workers=3,stress=32K" SMALL, 3, 2 }, false, false },
	{ { "plan=cmsfly,max=24M" SMALL, 3, 1 }, false, false },
	{ { "plan=gencms,max=24M" SMALL, 3, 1 }, false, false },
	{ { "plan=gss,max=24M,nursery=512K,workers=3" SMALL, 3, 1 }, false, false },
	{ { "plan=immix,max=24M" SMALL, 3, 1 }, false, false },
	{ { "plan=immix,max=24M,defrag=always,stress=64K" SMALL, 3, 2 }, false, false },
	{ { "plan=marksweep,max=24M,workers=3" SMALL, 3, 1 }, false, false },
	{ { "plan=semispace,max=24M,workers=3" SMALL, 3, 1 }, false, false },
	{ { "plan=stickyimmix,max=24M" SMALL, 3, 1 }, false, false },
	{ { "plan=cms,max=24M" SMALL, 3, 2 }, true, false },
	{ { "plan=gss,max=24M,nursery=512K,workers=3" SMALL, 3, 2 }, true, false },
	{ { "plan=marksweep,max=24M,workers=3" SMALL, 3, 2 }, true, false },
	{ { "plan=semispace,max=24M,workers=3" SMALL, 3, 2 }, true, false },
	{ { "plan=stickyimmix,max=24M" SMALL, 3, 2 }, true, false },
	{ { "plan=immix,max=24M,markstack=4K,overflow=scan-all" SMALL, 3, 2 }, false, true },
	{ { "plan=gencms,max=24M,markstack=4K,overflow=card" SMALL, 3, 2 }, false, true },
	{ { "plan=gss,max=24M,nursery=512K,markstack=4K,overflow=scan-all" SMALL, 3, 2 },
	  false,
	  true },
};

static const char *const tight_modes[] = { "card", "card+clear", "card+filter",
					   "grow", "reserve",	 "scan-all" };

#define ROWS	  (sizeof(rows) / sizeof(rows[0]))
#define TIGHT	  (sizeof(tight_rows) / sizeof(tight_rows[0]))
#define DISTURBED (sizeof(disturbed_rows) / sizeof(disturbed_rows[0]))
#define MODES	  (sizeof(tight_modes) / sizeof(tight_modes[0]))
#define WIDE	  (sizeof(wide_rows) / sizeof(wide_rows[0]))

/*
 * Under the thread sanitizer, a child of a process with threads cannot start any. Under the address
 * sanitizer, its first malloc() hangs if another thread was in malloc() at the fork, and each new
 * thread, such as the heap's own, is in malloc() before it begins. Neither can cancel threads: see
 * disturb.h.
 */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FORKS_RUN false
#else
#define FORKS_RUN true
#endif

/* Enough happens in FEW steps of one thread. */
#define FEW 8000

static int model_child(void *arg)
{
	struct model_run *run = arg;
	int ret = model_run(run);

	if (!ret && run->disturbs && run->steps >= FEW &&
	    (!run->handled || !run->left || (FORKS_RUN && !run->canceled))) {
		fprintf(stderr, "%u signals, %u threads canceled, %u callbacks left\n",
			run->handled, run->canceled, run->left);
		return 1;
	}
	return ret;
}

static void row_run(const struct wide_row *w, bool crowds, bool disturbs, unsigned int steps,
		    uint64_t seed)
{
	static char text[4096];
	char options[256], other[256];
	struct model_run run = { .options = options,
				 .seed = seed,
				 .steps = steps / w->row.part,
				 .threads = w->row.threads,
				 .other = w->other ? other : NULL,
				 .forks = w->forks && FORKS_RUN,
				 .crowds = crowds,
				 .disturbs = disturbs };
	int status;

	snprintf(options, sizeof(options), "%s" CHECKS ",seed=%llu", w->row.options,
		 (unsigned long long)seed);
	snprintf(other, sizeof(other), "%s" CHECKS ",seed=%llu", w->other ? w->other : "",
		 (unsigned long long)seed);
	status = child(model_child, &run, text, sizeof(text));
	if (!ok(!status, "%s, seed %llu, %u threads%s%s%s%s", w->row.options,
		(unsigned long long)seed, run.threads, w->other ? ", with " : "",
		w->other ? w->other : "", run.forks ? ", forks" : "",
		disturbs ? ", disturbed" : ""))
		printf("# status %#x: %s\n", status, text);
}

static bool row_has(const struct wide_row *w, const char *only)
{
	return !only || strstr(w->row.options, only) || (w->other && strstr(w->other, only)) ||
	       (w->other && !strcmp(only, "heaps")) || (w->forks && !strcmp(only, "forks"));
}

/* Copying plans cannot recover by cards. */
static bool has_mode(const char *options, const char *mode)
{
	return strncmp(mode, "card", 4) ||
	       (!strstr(options, "plan=gss") && !strstr(options, "plan=semispace"));
}

static void tight_run(const char *only, unsigned int steps, uint64_t seed)
{
	for (size_t i = 0; i < TIGHT * MODES; i++) {
		const char *mode = tight_modes[i % MODES];
		struct wide_row w = { tight_rows[i / MODES], NULL, false };
		char options[160];

		snprintf(options, sizeof(options), "%s,markstack=4K,overflow=%s", w.row.options,
			 mode);
		if (!has_mode(options, mode))
			continue;
		w.row.options = options;
		if (row_has(&w, only))
			row_run(&w, true, false, steps, seed + i);
	}
}

static void disturbed_run(const char *only, unsigned int steps, uint64_t seed)
{
	for (size_t i = 0; i < DISTURBED; i++) {
		const struct disturbed_row *d = &disturbed_rows[i];
		struct wide_row w = { d->row, NULL, d->forks };

		if (row_has(&w, only) || !strcmp(only, "disturbed"))
			row_run(&w, d->crowds, true, steps, seed + i);
	}
}

int main(void)
{
	const char *only = getenv("GRAPH_ONLY"), *n = getenv("GRAPH_STEPS");
	unsigned int rounds =
		getenv("GRAPH_ROUNDS") ? (unsigned int)atoi(getenv("GRAPH_ROUNDS")) : 1;
	unsigned int steps = n ? (unsigned int)atoi(n) : 40000;
	uint64_t seed = getenv("GRAPH_SEED") ? strtoull(getenv("GRAPH_SEED"), NULL, 0) : 1;

	for (unsigned int r = 0; r < rounds; r++) {
		for (size_t i = 0; i < ROWS + WIDE; i++) {
			struct wide_row w = { i < ROWS ? rows[i] : rows[0], NULL, false };

			if (i >= ROWS)
				w = wide_rows[i - ROWS];
			if (row_has(&w, only))
				row_run(&w, false, false, steps, seed + r * 1000 + i);
		}
		tight_run(only, steps, seed + r * 1000 + ROWS + WIDE);
		disturbed_run(only, steps, seed + r * 1000 + ROWS + WIDE + TIGHT * MODES);
	}
	return done();
}
