// SPDX-License-Identifier: MIT
/*
 * Description: the option string: defaults, profiles, and errors that name the option and the
 * fix.
 */
#include "tap.h"

#include <errno.h>
#include <gchint/gc.h>
#include <math.h>
#include <options/options.h>

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

/* An error, word for word */
static void says(const char *options, const char *text)
{
	struct gc_error err = { 0 };
	struct gc_heap *heap;
	int ret = gc_heap_create(&heap, options, NULL, &err);

	if (!ret)
		gc_heap_destroy(heap);
	if (!ok(ret == -EINVAL && err.code == -EINVAL && !strcmp(err.text, text), "%s", text))
		printf("# %d: %s\n", ret, err.text);
}

/* ---- each option of the table, at its bounds and beyond ---- */

enum kind {
	SIZE,
	INT,
	REAL,
	ENUM,
	TEXT,
	FLAGS
};

static const char *const defrag_names[] = { "always", "auto", "never", NULL };
static const char *const foreground_names[] = { "concurrent", "stw", NULL };
static const char *const overflow_names[] = { "card",	 "card+clear", "card+filter", "grow",
					      "reserve", "scan-all",   NULL };
static const char *const policy_names[] = { "adaptive", "bg", "default", "fg", NULL };
static const char *const promote_names[] = { "default", "naive", "never", "ranges",
					     "size",	"tuned", NULL };
static const char *const safepoint_names[] = { "futex", "sleep", NULL };
static const char *const sizing_names[] = {
	"art", "dalvik", "fixed", "hussein", "membalancer", NULL
};
static const char *const stack_names[] = { "conservative", "precise", NULL };
static const char *const trace_names[] = { "finger", "stack", NULL };
static const char *const verify_names[] = { "card", "post", "pre", "trace", NULL };

static const struct option {
	const char *name;
	size_t offset;
	enum kind kind;
	const char *preset;
	double low, high;
	const char *const *list;
	const char *help;
} table[] = {
#define OPT(name, field, kind, preset, low, high, list, help)                                      \
	{ name, offsetof(struct gc_options, field), kind, preset, low, high, list, help },
#include <options/options.def>
#undef OPT
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static bool is_set(const struct option *o, const char *value, double want)
{
	struct gc_options opt;
	char text[200];
	const void *field = (const char *)&opt + o->offset;

	/* What must agree with it is as far as can be. */
	snprintf(text, sizeof(text), "max=1e13,maxfree=1e13,heap=64K,minfree=4K,%s=%s", o->name,
		 value);
	if (gc_options_parse(&opt, text, NULL) || !gc_options_given(&opt, o->name))
		return false;
	return o->kind == REAL ? *(const double *)field == want :
				 *(const int64_t *)field == (int64_t)want;
}

static bool is_refused(const struct option *o, const char *value, const char *why)
{
	struct gc_error err = { 0 };
	struct gc_options opt;
	char text[200], want[200];

	snprintf(text, sizeof(text), "%s=%s", o->name, value);
	snprintf(want, sizeof(want), "%s=%s: %s", o->name, value, why);
	if (gc_options_parse(&opt, text, &err) == -EINVAL && !strcmp(err.text, want))
		return true;
	printf("# %s, not\n# %s\n", err.text, want);
	return false;
}

static bool number(const struct option *o)
{
	double step = o->kind == REAL ? 0.01 : fmax(1, nextafter(o->high, INFINITY) - o->high);
	char value[40], why[100];
	bool good = true;

	snprintf(why, sizeof(why), "out of range; give %.15g to %.15g", o->low, o->high);
	snprintf(value, sizeof(value), "%.17g", o->low);
	good &= is_set(o, value, o->low);
	snprintf(value, sizeof(value), "%.17g", o->low - (o->kind == REAL ? step : 1));
	good &= is_refused(o, value, why);
	if (strcmp(o->name, "minfree") && strcmp(o->name, "heap")) {
		snprintf(value, sizeof(value), "%.17g", o->high);
		good &= !strcmp(o->name, "maxfree") || !strcmp(o->name, "max") ||
			is_set(o, value, o->high);
	}
	snprintf(value, sizeof(value), "%.17g", o->high + step);
	good &= is_refused(o, value, why);
	good &= is_refused(o, "",
			   o->kind == SIZE ? "not a number; give bytes, with K, M or G" :
					     "not a number; give digits");
	good &= is_refused(o, "1x",
			   o->kind == SIZE ? "not a number; give bytes, with K, M or G" :
					     "not a number; give digits");
	good &= is_refused(o, "inf",
			   o->kind == SIZE ? "not a number; give bytes, with K, M or G" :
					     "not a number; give digits");
	good &= is_refused(o, "1e999",
			   o->kind == SIZE ? "not a number; give bytes, with K, M or G" :
					     "not a number; give digits");
	if (o->kind == SIZE) {
		good &= is_refused(o, "1KK", "not a number; give bytes, with K, M or G");
		good &= is_refused(o, "1T", "not a number; give bytes, with K, M or G");
		good &= is_refused(o, "K", "not a number; give bytes, with K, M or G");
	} else {
		good &= is_refused(o, "1K", "not a number; give digits");
	}
	if (o->kind != REAL)
		good &= is_refused(o, "4096.5", "not a whole number");
	return good;
}

static bool choice(const struct option *o)
{
	char why[160] = "unknown; give one of ";
	bool good = true;

	for (int i = 0; o->list[i]; i++) {
		good &= is_set(o, o->list[i], o->kind == FLAGS ? 1 << i : i);
		strcat(strcat(why, i ? ", " : ""), o->list[i]);
	}
	good &= is_refused(o, "nothing", why) && is_refused(o, "0", why);
	return good;
}

static void bounds(void)
{
	const struct option *verify = NULL;

	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *o = &table[i];

		if (!strcmp(o->name, "profiler"))
			continue;
		if (o->kind == SIZE || o->kind == INT || o->kind == REAL)
			ok(number(o),
			   "%s: minimum and maximum are accepted, values beyond are refused",
			   o->name);
		else if (o->list)
			ok(choice(o), "%s: each word of the list is accepted, others are refused",
			   o->name);
		if (o->kind == FLAGS)
			verify = o;
	}
	ok(is_set(verify, "off", 0) && is_set(verify, "all", 15) &&
		   is_set(verify, "card+trace", 9) && is_set(verify, "pre+post+pre", 6),
	   "verify accepts off, all and any combination");
	ok(is_set(&table[5], "64K", 65536) && is_set(&table[5], "3M", 3 << 20) &&
		   is_set(&table[5], "2G", 2147483648.0) && is_set(&table[5], "0.5M", 524288),
	   "K, M and G are powers of 1024");
}

static void presets(void)
{
	struct gc_options opt, named;
	bool given = false;

	ok(!gc_options_parse(&opt, NULL, NULL) && !gc_options_parse(&named, "", NULL) &&
		   !memcmp(&opt, &named, sizeof(opt)),
	   "without options all have their defaults");
	for (size_t i = 0; i < OPTIONS; i++)
		given |= gc_options_given(&opt, table[i].name);
	ok(!given && !opt.given, "a default does not count as given");
	ok(!gc_options_given(&opt, "frob"), "an unknown option does not count as given");
	for (size_t i = 0; i < OPTIONS; i++) {
		char text[100];

		if (table[i].kind == TEXT && !*table[i].preset)
			continue;
		snprintf(text, sizeof(text), "%s=%s", table[i].name, table[i].preset);
		if (!strcmp(table[i].name, "max"))
			continue;
		if (!ok(!gc_options_parse(&named, text, NULL) && named.given == 1ULL << i &&
				!memcmp(&opt, &named, offsetof(struct gc_options, given)),
			"%s is the default", text))
			printf("# given %llx\n", (unsigned long long)named.given);
	}
	ok(!gc_options_parse(&opt, "profile=art-6.0", NULL) && gc_options_given(&opt, "nursery") &&
		   gc_options_given(&opt, "profile") && !gc_options_given(&opt, "seed"),
	   "options of a profile count as given");
	ok(!gc_options_parse(&opt, "seed=7,", NULL) && opt.seed == 7,
	   "a comma at the end is accepted");
	ok(!gc_options_parse(&opt, "seed=7,seed=8", NULL) && opt.seed == 8,
	   "the last value counts");
}

static void errors(void)
{
	char text[200], want[200], word[70];

	says("frob=1", "frob: no such option; gc_options_help() lists them");
	says("hea=1", "hea: no such option; gc_options_help() lists them");
	says("heapx=1", "heapx: no such option; gc_options_help() lists them");
	says("plan", "plan: no value; write plan=VALUE");
	says("seed=1,plan,heap=8M", "plan: no value; write plan=VALUE");
	says("plan=zgc", "plan=zgc: unknown; give one of cms, cmsfly, gencms, gss, immix, "
			 "marksweep, semispace, stickyimmix");
	says("profile=jvm", "profile=jvm: unknown; give one of art-6.0, dalvik-4.3, hussein-2015");
	says("minfree=2M,maxfree=1M", "minfree=2097152: above maxfree; raise maxfree");
	says("heap=3M,max=2M", "heap=3145728: above max; raise max");
	says("boost=up", "boost=up: give off, lift or -20 to 19");
	says("boost=-21", "boost=-21: give off, lift or -20 to 19");
	says("boost=20", "boost=20: give off, lift or -20 to 19");
	says("boost=1x", "boost=1x: give off, lift or -20 to 19");
	says("boost=", "boost=: give off, lift or -20 to 19");
	says("profiler=4095", "profiler=4095: give 0 or at least 4K");
	says("profiler=1", "profiler=1: give 0 or at least 4K");
	says("profiler=1000000001", "profiler=1000000001: out of range; give 0 to 1000000000");
	says("plan=immix,profiler=64K",
	     "profiler: plan=immix cannot distinguish cohorts; give plan=cms");
	says("plan=marksweep,policy=bg",
	     "policy: bg and adaptive need a concurrent plan; give plan=cms");
	says("plan=marksweep,policy=adaptive",
	     "policy: bg and adaptive need a concurrent plan; give plan=cms");
	says("plan=immix,trace=finger",
	     "trace=finger: plan=immix never marks in address order; give trace=stack");
	says("overflow=card,help=1", "help: there is only one mark stack of fixed size; "
				     "overflow=grow has one per thread; give 0");
	says("trace=finger,help=1", "help: trace=finger marks with a single thread; give 0");
	says("plan=gss,overflow=card", "overflow: plan=gss copies objects and cannot recover by "
				       "cards; give grow, reserve or scan-all");
	says("plan=semispace,overflow=card+filter",
	     "overflow: plan=semispace copies objects and cannot recover by cards; give grow, "
	     "reserve or scan-all");
	says("plan=gss,max=16M,heap=1M,nursery=9M", "nursery=9437184: above half of max; lower it");
	says("plan=gss,nursery=64K,large=16385",
	     "large=16385: above a quarter of nursery; lower it");
	says("plan=marksweep,large=8193",
	     "large=8193: plan=marksweep keeps objects up to 8192 in blocks");
	says("plan=immix,large=8193", "large=8193: plan=immix keeps objects up to 8192 in lines");
	says("pin=4095", "pin=4095: no such CPU here; give an online one");
	/* 63 letters are a value, 64 are too many. */
	memset(word, 'x', 64);
	word[64] = '\0';
	snprintf(text, sizeof(text), "plan=%s", word);
	says(text, "plan: value too long; at most 63 characters");
	word[63] = '\0';
	snprintf(text, sizeof(text), "boost=%s", word);
	snprintf(want, sizeof(want), "boost=%s: give off, lift or -20 to 19", word);
	says(text, want);
}

/* What is just within what the errors name */
static void limits(void)
{
	accept("boost=-20", "boost=-20");
	accept("boost=19", "boost=19");
	accept("profiler=4096", "profiler=4096");
	accept("minfree=1M,maxfree=1M", "maxfree=1048576");
	accept("heap=2M,max=2M", "max=2097152");
	accept("heap=300M", "max=314572800");
	accept("heap=256M", "max=268435456");
	accept("sizing=fixed,heap=2M,max=4M", "max=4194304");
	accept("plan=gss,max=16M,heap=1M,nursery=8M", "nursery=8388608");
	accept("plan=gss,nursery=64K,large=16384", "large=16384");
	accept("plan=gss,sizing=fixed,heap=6M", "nursery=0");
	accept("plan=gss,max=16M,heap=1M", "nursery=0");
	accept("plan=gss,nursery=32M,max=64M", "nursery=33554432");
	accept("plan=marksweep,large=8192", "large=8192");
	accept("plan=immix,large=8192", "large=8192");
	accept("plan=semispace,overflow=grow", "overflow=grow");
	accept("plan=marksweep,remark-limit=0", "remark-limit=0");
	accept("plan=marksweep", "remark-limit=0");
	accept("plan=marksweep,remark-limit=5", "remark-limit=0");
	accept("plan=gss,remark-limit=1", "remark-limit=0");
	/* One option moves the default of another, and what only a profile set. */
	accept("max=5M", "heap=5242880");
	accept("max=64K", "heap=65536");
	accept("max=8M", "heap=8388608");
	accept("max=9M", "heap=8388608");
	accept("maxfree=1M", "minfree=1048576");
	accept("minfree=16M", "maxfree=16777216");
	accept("profile=dalvik-4.3,max=5M", "heap=5242880");
	accept("heap=16M,profile=dalvik-4.3,max=5M", "heap=5242880");
	accept("profile=hussein-2015,maxfree=1M", "minfree=1048576");
	accept("profile=art-6.0,minfree=4M", "maxfree=4194304");
	refuse("profile=dalvik-4.3,heap=8M,max=5M", "heap", "raise max");
	refuse("profile=art-6.0,minfree=4M,maxfree=2M", "minfree", "raise maxfree");
	accept("plan=gencms", "ahead=1,");
	accept("plan=gencms,ahead=3", "ahead=3,");
	accept("plan=cms", "ahead=1.5,");
	accept("overflow=card", "help=0");
	accept("overflow=reserve", "help=1");
	accept("trace=finger", "help=0");
	accept("verify=off", "verify=off");
	accept("verify=all", "verify=card+post+pre+trace,");
	accept("help=0", "help=0");
	accept("profile=art-6.0", "profile=art-6.0,ahead=0");
}

/* ---- help ---- */

static int lines, wrong;

/* The table's lines, in its order, each with its words and default */
static void line(const char *text, void *arg)
{
	const struct option *o = &table[lines++];
	char want[512], words[200] = "";

	*(bool *)arg = true;
	for (int i = 0; o->list && o->list[i]; i++)
		strcat(strcat(words, i ? ", " : " ("), o->list[i]);
	if (!strcmp(o->name, "plan"))
		strcpy(words,
		       " (cms, cmsfly, gencms, gss, immix, marksweep, semispace, stickyimmix");
	if (!strcmp(o->name, "profile"))
		strcpy(words, " (art-6.0, dalvik-4.3, hussein-2015");
	if (*words)
		strcat(words, ")");
	snprintf(want, sizeof(want), "%-14s %s%s (default: %s)", o->name, o->help, words,
		 o->preset[0] ? o->preset : "none");
	if (strcmp(text, want)) {
		wrong++;
		printf("# %s, not\n# %s\n", text, want);
	}
}

static void help(void)
{
	bool told = false, sorted = true;

	gc_options_help(line, &told);
	ok(told && lines == (int)OPTIONS && !wrong, "help: %d lines match the table", lines);
	for (size_t i = 1; i < OPTIONS; i++)
		sorted &= strcmp(table[i - 1].name, table[i].name) < 0;
	ok(sorted && OPTIONS > 30, "the table is sorted");
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
	bounds();
	presets();
	errors();
	limits();
	help();
	return done();
}
