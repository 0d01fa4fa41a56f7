// SPDX-License-Identifier: MIT
/* Description: the option string: defaults, profiles, and errors that name the mend. */
#include "tap.h"

#include <errno.h>
#include <gchint/gc.h>

static void refuse(const char *options, const char *name, const char *mend)
{
	struct gc_error err = { 0 };
	struct gc_heap *heap;
	int ret = gc_heap_create(&heap, options, NULL, &err);

	if (!ret)
		gc_heap_destroy(heap);
	if (!ok(ret == -EINVAL && err.code == -EINVAL && strstr(err.text, name) == err.text &&
			strstr(err.text, mend) && !strchr(err.text, '\n'),
		"refused: %s", options))
		printf("# %d: %s\n", ret, err.text);
}

static void accept(const char *options, const char *shows)
{
	struct gc_error err = { 0 };
	struct gc_heap *heap = NULL, *again = NULL;
	int ret = gc_heap_create(&heap, options, NULL, &err);

	if (!ok(!ret && strstr(gc_heap_options(heap), shows), "%s gives %s",
		options ? options : "(none)", shows)) {
		printf("# %d: %s\n", ret, ret ? err.text : gc_heap_options(heap));
		return;
	}
	ret = gc_heap_create(&again, gc_heap_options(heap), NULL, &err);
	if (!ok(!ret && !strcmp(gc_heap_options(heap), gc_heap_options(again)),
		"the printed options make the same heap"))
		printf("# %s\n", ret ? err.text : gc_heap_options(again));
	if (!ret)
		gc_heap_destroy(again);
	gc_heap_destroy(heap);
}

static int lines, sorted;
static char last[64];

static void line(const char *text, void *arg)
{
	char name[64];

	(void)arg;
	sscanf(text, "%63s", name);
	sorted += strcmp(last, name) < 0;
	strcpy(last, name);
	lines++;
}

int main(void)
{
	refuse("plan=zgc", "plan=zgc", "give one of cms, cmsfly, gencms, gss");
	refuse("plan", "plan", "write plan=VALUE");
	refuse("frob=1", "frob", "gc_options_help() lists them");
	refuse("util=0.95", "util=0.95", "give 0.1 to 0.9");
	refuse("util=high", "util=high", "not a number");
	refuse("heap=8Q", "heap=8Q", "K, M or G");
	refuse("heap=0.3", "heap=0.3", "whole number");
	refuse("markstack=1K", "markstack=1K", "give 4096");
	refuse("overflow=never", "overflow=never", "card+clear");
	refuse("policy=never", "policy=never", "adaptive, bg, default, fg");
	refuse("minfree=8M,maxfree=2M", "minfree", "raise maxfree");
	refuse("heap=64M,max=32M", "heap", "raise max");
	refuse("boost=up", "boost=up", "off, lift");
	refuse("profile=jvm", "profile=jvm", "art-6.0, dalvik-4.3, hussein-2015");
	refuse("plan=gss,overflow=card", "overflow", "scan-all");
	refuse("plan=marksweep,policy=bg", "policy", "plan=cms");
	refuse("plan=gss,nursery=200M", "nursery", "lower it");
	refuse("plan=gss,promote=ranges,ranges=9-x", "ranges=9-x", "LOW-HIGH");
	refuse("plan=immix,profiler=64K", "profiler", "plan=cms");
	refuse("plan=marksweep,remark-limit=5", "remark-limit", "give 0");
	refuse("large=64K", "large", "in blocks");
	refuse("pin=4000", "pin=4000", "online");
	refuse("verify=most", "verify=most", "card, post, pre, trace");
	refuse("plan=cms,help=2", "help=2", "give 0 to 1");
	refuse("plan=cms,overflow=card,help=1", "help", "give 0");
	refuse("plan=marksweep,trace=finger,help=1", "help", "give 0");
	refuse("plan=cmsfly,trace=finger", "trace=finger", "give trace=stack");
	refuse("plan=gencms,trace=finger", "trace=finger", "give trace=stack");
	refuse("plan=gss,trace=finger", "trace=finger", "give trace=stack");
	refuse("plan=immix,trace=finger", "trace=finger", "give trace=stack");
	refuse("plan=semispace,trace=finger", "trace=finger", "give trace=stack");
	refuse("plan=stickyimmix,trace=finger", "trace=finger", "give trace=stack");
	refuse("plan=cmsfly,profile=dalvik-4.3", "trace=finger", "give trace=stack");
	accept("plan=cmsfly,profile=dalvik-4.3,trace=stack", "trace=stack");
	accept("plan=cms,trace=finger", "trace=finger");
	accept("plan=marksweep,trace=finger", "trace=finger");
	accept("plan=marksweep", "help=1");
	accept("plan=marksweep,overflow=scan-all", "help=0");
	accept("plan=semispace,overflow=scan-all", "overflow=scan-all");
	accept(NULL, "plan=cms");
	accept("util=0.5,heap=16M", "heap=16777216");
	accept("profile=dalvik-4.3", "safepoint=sleep");
	accept("profile=dalvik-4.3,safepoint=futex", "safepoint=futex");
	accept("profile=hussein-2015", "sizing=hussein");
	accept("profile=art-6.0,nursery=4M", "plan=gss");
	accept("sizing=fixed,heap=24M", "max=25165824");
	accept("verify=post+card", "verify=card+post");
	gc_options_help(line, NULL);
	ok(lines > 30 && sorted == lines, "help lists %d options in order", lines);
	return done();
}
