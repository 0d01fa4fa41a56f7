// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "peers/group.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const plans[] = {
	"marksweep", "semispace", "cms", "cmsfly", "gencms", "gss", "immix", "stickyimmix",
};

/* Those that are compared with hugepages=1 as well, as "gchint+huge NAME" */
static const char *const huge[] = { "semispace", "gss", "immix" };

#define PLANS (sizeof(plans) / sizeof(*plans))

/* the suffixes of whippet's programs */
static const char *const whippets[] = {
	"semi",
	"pcc",
	"generational-pcc",
	"mmc",
	"generational-mmc",
	"parallel-mmc",
	"parallel-generational-mmc",
	"stack-conservative-mmc",
	"stack-conservative-generational-mmc",
	"stack-conservative-parallel-mmc",
	"stack-conservative-parallel-generational-mmc",
	"heap-conservative-mmc",
	"heap-conservative-generational-mmc",
	"heap-conservative-parallel-mmc",
	"heap-conservative-parallel-generational-mmc",
	"bdw",
};

/* Strings that live as long as the program. */
static const char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *text_format(const char *format, ...)
{
	va_list args;
	char *out;

	va_start(args, format);
	if (vasprintf(&out, format, args) < 0)
		abort();
	va_end(args);
	return out;
}

static struct peer *group_add_peer(struct group *g, const char *name)
{
	if (g->count == GROUP_MAX)
		abort();
	g->peer[g->count].name = name;
	return &g->peer[g->count++];
}

static void add_java(struct group *g, const struct places *at, const char *collector,
		     const char *class, const char *heap, const char *const *args)
{
	struct peer *p = group_add_peer(g, text_format("OpenJDK 17 %s", collector));
	size_t n = 0;

	p->safepoint_log = at->log;
	p->argv[n++] = "java";
	p->argv[n++] = text_format("-XX:+Use%sGC", collector);
	p->argv[n++] = text_format("-Xms%s", heap);
	p->argv[n++] = text_format("-Xmx%s", heap);
	p->argv[n++] = text_format("-Xlog:safepoint:file=%s", at->log);
	p->argv[n++] = "-cp";
	p->argv[n++] = at->classes;
	p->argv[n++] = class;
	while (*args && n + 1 < PEER_ARGS)
		p->argv[n++] = *args++;
	if (system("command -v java >/dev/null 2>&1"))
		p->missing = "no java: packaging/need bench";
	else if (access(at->classes, R_OK))
		p->missing = "no classes: javac was missing when bench was built";
}

static void add_bench(struct group *g, const char *name, const char *program, const char *workload,
		      const char *gc, const char *const *args)
{
	struct peer *p = group_add_peer(g, name);
	size_t n = 0;

	p->argv[n++] = program;
	p->argv[n++] = workload;
	p->argv[n++] = text_format("--gc=%s", gc);
	p->argv[n++] = "--format=csv";
	while (*args && n + 1 < PEER_ARGS)
		p->argv[n++] = *args++;
	if (access(program, X_OK))
		p->missing = "not built: packaging/need bench, make -C bench";
}

static const char *gc_options(const char *plan, unsigned int heap_mib)
{
	return text_format("plan=%s,sizing=fixed,heap=%uM,max=%uM", plan, heap_mib, heap_mib);
}

static void add_plans(struct group *g, const struct places *at, const char *workload,
		      unsigned int heap_mib, const char *const *args)
{
	for (size_t i = 0; i < PLANS; i++)
		add_bench(g, text_format("gchint %s", plans[i]), at->ours, workload,
			  gc_options(plans[i], heap_mib), args);
}

static void group_init_gcbench(struct group *g, const struct places *at)
{
	static const char *const none[] = { NULL };
	static const char *const java[] = { "rounds=5", "stretch=18",	"long=16", "min=4",
					    "max=16",	"array=500000", NULL };

	g->name = "gcbench";
	g->title = "GCBench, one mutator, 32 MiB";
	/* Two settings, so that the comparison can use the better one. */
	add_bench(g, "libgc", at->libgc, "gcbench", "heap=32M,expand=0", none);
	add_bench(g, "libgc, expanded", at->libgc, "gcbench", "heap=32M,expand=1,divisor=1", none);
	add_plans(g, at, "gcbench", 32, none);
	add_java(g, at, "Serial", "GcBench", "32m", java);
	add_java(g, at, "Parallel", "GcBench", "32m", java);
	add_java(g, at, "G1", "GcBench", "32m", java);
}

/* whippet's own program @name with two arguments */
static void add_whippet(struct group *g, const struct places *at, const char *name,
			const char *first, const char *second)
{
	for (size_t i = 0; i < sizeof(whippets) / sizeof(*whippets); i++) {
		const char *program = text_format("%s/%s.%s", at->whippet, name, whippets[i]);
		struct peer *p;

		/* One row reports that whippet is not installed. */
		if (*at->whippet && access(program, X_OK))
			continue;
		p = group_add_peer(g,
				   text_format("whippet %s", *at->whippet ? whippets[i] : "(all)"));
		p->argv[0] = at->read_whippet;
		p->argv[1] = program;
		p->argv[2] = first;
		p->argv[3] = second;
		if (*at->whippet)
			continue;
		p->missing = text_format("WHIPPET= is not a directory with bin/%s.*", name);
		return;
	}
}

/*
 * whippet's own benchmark, "quads 10 2.5", and ours with its numbers: as many bytes, trees of
 * four levels as garbage, and twenty walks over the large one.
 */
static void group_init_quads(struct group *g, const struct places *at)
{
	static const char *const args[] = { "--depth=10", "--short=3", "--trees=137060",
					    "--walks=20", NULL };
	const char *heap = "heap=139810100,max=139810100";

	g->name = "quads";
	g->title = "Quad trees as whippet's quads 10 2.5, one mutator, 133 MiB";
	add_bench(g, "libgc, expanded", at->libgc, "quads", "heap=134M,expand=1,divisor=1", args);
	for (size_t i = 0; i < PLANS; i++)
		add_bench(g, text_format("gchint %s", plans[i]), at->ours, "quads",
			  text_format("plan=%s,sizing=fixed,%s", plans[i], heap), args);
	for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++)
		add_bench(g, text_format("gchint+huge %s", huge[i]), at->ours, "quads",
			  text_format("plan=%s,sizing=fixed,hugepages=1,%s", huge[i], heap), args);
	add_whippet(g, at, "quads", "10", "2.5");
}

/* whippet's "mt-gcbench 2.5 THREADS", and ours with its numbers, holes and heap */
static void group_init_mt(struct group *g, const struct places *at, int threads)
{
	const char *args[] = { "--holes=1", text_format("--threads=%d", threads), NULL };
	/* Two trees of depth 16 and an array of 500,000 doubles for each thread */
	unsigned int bytes = 5 * (2 * 32 * 131071 + 16 + 8 * 500000) / 2 * (unsigned int)threads;

	g->name = text_format("mtgcbench%d", threads);
	g->title = text_format("whippet's mt-gcbench 2.5 %d, %u MiB", threads, bytes >> 20);
	add_bench(g, "libgc, expanded", at->libgc, "gcbench",
		  text_format("heap=%u,expand=1,divisor=1", bytes), args);
	for (size_t i = 0; i < PLANS; i++)
		add_bench(
			g, text_format("gchint %s", plans[i]), at->ours, "gcbench",
			text_format("plan=%s,sizing=fixed,heap=%u,max=%u", plans[i], bytes, bytes),
			args);
	for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++)
		add_bench(g, text_format("gchint+huge %s", huge[i]), at->ours, "gcbench",
			  text_format("plan=%s,sizing=fixed,hugepages=1,heap=%u,max=%u", huge[i],
				      bytes, bytes),
			  args);
	add_whippet(g, at, "mt-gcbench", "2.5", text_format("%d", threads));
}

static void group_init_gcw(struct group *g, const struct places *at, int threads,
			   unsigned int length)
{
	const char *iterations = text_format("iterations=%u", length);
	const char *args[] = { text_format("--threads=%d", threads),
			       text_format("--%s", iterations), NULL };
	const char *java[] = { text_format("profile=%s", at->profile),
			       text_format("threads=%d", threads), iterations, NULL };

	g->name = text_format("gcw%d", threads);
	g->title = text_format("GCW default profile, %d thread%s, 96 MiB, %s", threads,
			       threads == 1 ? "" : "s", iterations);
	add_java(g, at, "Serial", "Gcw", "96m", java);
	add_java(g, at, "Parallel", "Gcw", "96m", java);
	add_java(g, at, "G1", "Gcw", "96m", java);
	add_plans(g, at, "gcw", 96, args);
	add_bench(g, "libgc", at->libgc, "gcw", "heap=96M,expand=1,divisor=1", args);
}

/* A row of each plan at two heaps, and allocation alone with pages faulted in. */
static void group_init_lbo(struct group *g, const struct places *at)
{
	static const char *const args[] = { "--threads=1", "--iterations=10", NULL };
	static const unsigned int heap[] = { 48, 192 };

	g->name = "lbo";
	g->title = "Lower-bound overhead: GCW, one thread, 1 GB";
	for (size_t i = 0; i < PLANS; i++)
		for (int h = 0; h < 2; h++)
			add_bench(g, text_format("%s %uM", plans[i], heap[h]), at->ours, "gcw",
				  gc_options(plans[i], heap[h]), args);
	add_bench(g, "epsilon", at->epsilon, "gcw", "max=4G", args);
	add_bench(g, "epsilon pretouched", at->epsilon, "gcw", "max=4G,pretouch=1", args);
}

/* The cost of a listener: none, one that does nothing, hints, one that records every pause. */
static void group_init_listener(struct group *g, const struct places *at)
{
	static const char *const none[] = { "--listener=none", NULL };
	static const char *const null[] = { "--listener=null", NULL };
	static const char *const gchint[] = { "--listener=gchint", NULL };
	static const char *const stats[] = { "--listener=stats", NULL };

	g->name = "listener";
	g->title = "Listeners: GCBench, 32 MiB";
	for (int i = 0; i < 2; i++) {
		const char *plan = i ? "cms" : "semispace";
		const char *gc = gc_options(plan, 32);

		add_bench(g, text_format("%s, none", plan), at->ours, "gcbench", gc, none);
		add_bench(g, text_format("%s, null", plan), at->ours, "gcbench", gc, null);
		add_bench(g, text_format("%s, libgchint", plan), at->ours, "gcbench", gc, gchint);
		add_bench(g, text_format("%s, statistics", plan), at->ours, "gcbench", gc, stats);
	}
}

/* The same work by one thread and by two: GCW shares its total among them. */
static void group_init_scaling(struct group *g, const struct places *at)
{
	static const char *const one[] = { "--threads=1", "--iterations=20", NULL };
	static const char *const two[] = { "--threads=2", "--iterations=20", NULL };

	g->name = "scaling";
	g->title = "One mutator and two: GCW, 192 MiB, the same work in all";
	for (size_t i = 0; i < PLANS; i++) {
		const char *gc = gc_options(plans[i], 192);

		add_bench(g, text_format("%s, 1", plans[i]), at->ours, "gcw", gc, one);
		add_bench(g, text_format("%s, 2", plans[i]), at->ours, "gcw", gc, two);
	}
}

void group_fill(struct group *g, int which, const struct places *at, unsigned int iterations)
{
	memset(g, 0, sizeof(*g));
	switch (which) {
	case GROUP_GCBENCH:
		group_init_gcbench(g, at);
		break;
	case GROUP_GCW1:
		group_init_gcw(g, at, 1, iterations);
		break;
	case GROUP_GCW2:
		group_init_gcw(g, at, 2, iterations);
		break;
	case GROUP_LBO:
		group_init_lbo(g, at);
		break;
	case GROUP_LISTENER:
		group_init_listener(g, at);
		break;
	case GROUP_MT1:
		group_init_mt(g, at, 1);
		break;
	case GROUP_MT2:
		group_init_mt(g, at, 2);
		break;
	case GROUP_QUADS:
		group_init_quads(g, at);
		break;
	case GROUP_SCALING:
		group_init_scaling(g, at);
		break;
	}
}

int group_find(const struct group *g, const char *name)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->peer[i].name, name))
			return (int)i;
	return -1;
}
