// SPDX-License-Identifier: MIT
/* Parses and prints option strings from the one table in options.def. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static const char *const defrag_names[] = { "always", "auto", "never", NULL };
static const char *const foreground_names[] = { "concurrent", "stw", NULL };
static const char *const overflow_names[] = { "card",	 "card+clear", "card+filter", "grow",
					      "reserve", "scan-all",   NULL };
static const char *const plan_names[] = {
#define PLAN(id) #id,
#include "../plan/plans.def"
#undef PLAN
	NULL
};
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

enum option_kind {
	SIZE,
	INT,
	REAL,
	ENUM,
	TEXT,
	FLAGS
};

static const struct option {
	const char *name;
	size_t offset;
	enum option_kind kind;
	const char *preset;
	double low, high;
	const char *const *list;
	const char *help;
} table[] = {
#define OPT(name, field, kind, preset, low, high, list, help)                                      \
	{ name, offsetof(struct gc_options, field), kind, preset, low, high, list, help },
#include "options.def"
#undef OPT
};

#define OPTION_COUNT (sizeof(table) / sizeof(table[0]))

/*
 * Sorted by name. Paper and source of Dalvik differ, so there is a profile of each: art-6.0 is
 * Android 6.0.1, dalvik-4.3 the source of Jelly Bean, hussein-2015 the SYSTOR paper's description.
 */
static const struct profile {
	const char *name, *options;
} profiles[] = {
	{ "art-6.0",
	  "plan=gss,workers=1,help=0,sizing=art,ahead=0,pace=0,util=0.5,minfree=512K,maxfree="
	  "2M,nursery=32M,"
	  "threshold=4M,los-threshold=16M,large=12K,markstack=512K,overflow=grow" },
	{ "dalvik-4.3",
	  "sizing=dalvik,util=0.75,heap=8M,minfree=2M,maxfree=8M,delta=128K,ahead=0,pace=0,"
	  "foreground=stw,help=0,boost=lift,trim=5,trim-collects=0,safepoint=sleep,"
	  "trace=finger,split=0,overflow=reserve,preclean=0,remark-limit=0" },
	{ "hussein-2015",
	  "sizing=hussein,util=0.75,heap=8M,minfree=2M,maxfree=8M,delta=128K,ahead=0,pace=0,"
	  "foreground=concurrent,help=0,boost=-8,trim=5,trim-collects=1,safepoint=futex,"
	  "trace=stack,split=0,overflow=reserve,preclean=0,remark-limit=0" },
};

int gc_fail(struct gc_error *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		err->code = code;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return code;
}

static const struct option *option_find(const char *name, size_t len)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (strlen(table[i].name) == len && !memcmp(table[i].name, name, len))
			return &table[i];
	return NULL;
}

static int parse_number(const struct option *o, const char *value, double *out,
			struct gc_error *err)
{
	char *end;
	double x;

	errno = 0;
	x = strtod(value, &end);
	if (o->kind == SIZE && end != value && *end) {
		static const char suffix[] = "KMG";
		const char *s = strchr(suffix, *end);

		if (s && !end[1]) {
			x *= (double)(1ULL << (10 * (s - suffix + 1)));
			end++;
		}
	}
	if (end == value || *end || errno || !isfinite(x))
		return gc_fail(err, -EINVAL, "%s=%s: not a number; give %s", o->name, value,
			       o->kind == SIZE ? "bytes, with K, M or G" : "digits");
	if (o->kind != REAL && x != floor(x))
		return gc_fail(err, -EINVAL, "%s=%s: not a whole number", o->name, value);
	/* An option that 0 turns off has 0 as its lower bound. */
	if (x < o->low || x > o->high)
		return gc_fail(err, -EINVAL, "%s=%s: out of range; give %.15g to %.15g", o->name,
			       value, o->low, o->high);
	*out = x;
	return 0;
}

static void names_join(char *text, size_t size, const char *const *list)
{
	size_t used = 0;

	for (text[0] = '\0'; *list && used < size; list++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", *list);
}

static int parse_choice(const struct option *o, const char *value, int64_t *out,
			struct gc_error *err)
{
	char names[128];

	for (int64_t i = 0; o->list[i]; i++) {
		if (!strcmp(o->list[i], value)) {
			*out = i;
			return 0;
		}
	}
	names_join(names, sizeof(names), o->list);
	return gc_fail(err, -EINVAL, "%s=%s: unknown; give one of %s", o->name, value, names);
}

static int parse_flags(const struct option *o, char *value, int64_t *out, struct gc_error *err)
{
	char *save, *word;
	int64_t bits = 0, one;

	if (!strcmp(value, "off")) {
		*out = 0;
		return 0;
	}
	if (!strcmp(value, "all")) {
		for (int i = 0; o->list[i]; i++)
			bits |= 1 << i;
		*out = bits;
		return 0;
	}
	for (word = strtok_r(value, "+", &save); word; word = strtok_r(NULL, "+", &save)) {
		int ret = parse_choice(o, word, &one, err);

		if (ret)
			return ret;
		bits |= 1 << one;
	}
	*out = bits;
	return 0;
}

static int option_set(struct gc_options *opt, const struct option *o, const char *given,
		      struct gc_error *err)
{
	char value[GC_TEXT_MAX];
	void *field = (char *)opt + o->offset;
	double x = 0;
	int ret;

	if (strlen(given) >= sizeof(value))
		return gc_fail(err, -EINVAL, "%s: value too long; at most %zu characters", o->name,
			       sizeof(value) - 1);
	strcpy(value, given);
	switch (o->kind) {
	case TEXT:
		strcpy(field, value);
		return 0;
	case ENUM:
		return parse_choice(o, value, field, err);
	case FLAGS:
		return parse_flags(o, value, field, err);
	default:
		ret = parse_number(o, value, &x, err);
		if (ret)
			return ret;
		if (o->kind == REAL)
			*(double *)field = x;
		else
			*(int64_t *)field = (int64_t)x;
		return 0;
	}
}

static int parse_list(struct gc_options *opt, const char *text, struct gc_error *err);

static int apply_profile(struct gc_options *opt, struct gc_error *err)
{
	uint64_t before = opt->given;

	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (strcmp(profiles[i].name, opt->profile))
			continue;
		opt->given = 0;
		if (parse_list(opt, profiles[i].options, err))
			return -EINVAL;
		opt->by_profile |= opt->given;
		opt->given |= before;
		return 0;
	}
	return gc_fail(err, -EINVAL,
		       "profile=%s: unknown; give one of art-6.0, dalvik-4.3, hussein-2015",
		       opt->profile);
}

static int parse_list(struct gc_options *opt, const char *text, struct gc_error *err)
{
	while (*text) {
		size_t len = strcspn(text, ","), key = strcspn(text, "=,");
		char value[GC_TEXT_MAX];
		const struct option *o;
		int ret;

		if (key >= len)
			return gc_fail(err, -EINVAL, "%.*s: no value; write %.*s=VALUE", (int)len,
				       text, (int)len, text);
		o = option_find(text, key);
		if (!o)
			return gc_fail(err, -EINVAL,
				       "%.*s: no such option; gc_options_help() lists them",
				       (int)key, text);
		if (len - key - 1 >= sizeof(value))
			return gc_fail(err, -EINVAL, "%s: value too long; at most %zu characters",
				       o->name, sizeof(value) - 1);
		memcpy(value, text + key + 1, len - key - 1);
		value[len - key - 1] = '\0';
		ret = option_set(opt, o, value, err);
		if (ret)
			return ret;
		opt->given |= 1ULL << (o - table);
		opt->by_profile &= ~(1ULL << (o - table));
		if (o->offset == offsetof(struct gc_options, profile)) {
			ret = apply_profile(opt, err);
			if (ret)
				return ret;
		}
		text += len;
		text += *text == ',';
	}
	return 0;
}

/* Did the user set the option, other than by a profile? */
static bool is_wanted(const struct gc_options *opt, const char *name)
{
	const struct option *o = option_find(name, strlen(name));

	return (opt->given & ~opt->by_profile) >> (o - table) & 1;
}

/* An option that the user set moves a default, or a profile's value, that does not go with it. */
static void bounds_adjust(struct gc_options *opt)
{
	if (opt->minfree > opt->maxfree && !is_wanted(opt, "maxfree"))
		opt->maxfree = opt->minfree;
	else if (opt->minfree > opt->maxfree && !is_wanted(opt, "minfree"))
		opt->minfree = opt->maxfree;
	if (opt->heap > opt->max && is_wanted(opt, "max") && !is_wanted(opt, "heap"))
		opt->heap = opt->max;
	if (!is_wanted(opt, "max") && (opt->heap > opt->max || opt->sizing == GC_SIZING_FIXED))
		opt->max = opt->heap;
}

static int options_check(struct gc_options *opt, struct gc_error *err)
{
	char names[128], *end;
	int i = 0;
	long nice;

	while (plan_names[i] && strcmp(plan_names[i], opt->plan))
		i++;
	if (!plan_names[i]) {
		names_join(names, sizeof(names), plan_names);
		return gc_fail(err, -EINVAL, "plan=%s: unknown; give one of %s", opt->plan, names);
	}
	bounds_adjust(opt);
	if (opt->minfree > opt->maxfree)
		return gc_fail(err, -EINVAL, "minfree=%lld: above maxfree; raise maxfree",
			       (long long)opt->minfree);
	if (opt->heap > opt->max)
		return gc_fail(err, -EINVAL, "heap=%lld: above max; raise max",
			       (long long)opt->heap);
	if (strcmp(opt->boost, "off") && strcmp(opt->boost, "lift")) {
		nice = strtol(opt->boost, &end, 10);
		if (end == opt->boost || *end || nice < -20 || nice > 19)
			return gc_fail(err, -EINVAL, "boost=%s: give off, lift or -20 to 19",
				       opt->boost);
	}
	if (opt->profiler && opt->profiler < 4096)
		return gc_fail(err, -EINVAL, "profiler=%lld: give 0 or at least 4K",
			       (long long)opt->profiler);
	return 0;
}

int gc_options_parse(struct gc_options *opt, const char *text, struct gc_error *err)
{
	int ret;

	memset(opt, 0, sizeof(*opt));
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		ret = option_set(opt, &table[i], table[i].preset, err);
		if (ret)
			return ret;
	}
	ret = parse_list(opt, text ? text : "", err);
	return ret ? ret : options_check(opt, err);
}

bool gc_options_given(const struct gc_options *opt, const char *name)
{
	const struct option *o = option_find(name, strlen(name));

	return o && opt->given >> (o - table) & 1;
}

static int option_print(const struct gc_options *opt, const struct option *o, char *text,
			size_t size)
{
	const void *field = (const char *)opt + o->offset;
	int64_t n = o->kind == TEXT || o->kind == REAL ? 0 : *(const int64_t *)field;
	int used = 0;

	switch (o->kind) {
	case TEXT:
		return snprintf(text, size, "%s=%s", o->name, (const char *)field);
	case REAL:
		return snprintf(text, size, "%s=%g", o->name, *(const double *)field);
	case ENUM:
		return snprintf(text, size, "%s=%s", o->name, o->list[n]);
	case FLAGS:
		used = snprintf(text, size, "%s=%s", o->name, n ? "" : "off");
		for (int i = 0; o->list[i]; i++)
			if (n >> i & 1)
				used += snprintf(text + used, size - (size_t)used, "%s%s",
						 text[used - 1] == '=' ? "" : "+", o->list[i]);
		return used;
	default:
		return snprintf(text, size, "%s=%lld", o->name, (long long)n);
	}
}

char *gc_options_text(const struct gc_options *opt)
{
	size_t room = OPTION_COUNT * (2 * GC_TEXT_MAX), used = 0;
	char *text = malloc(room);

	if (!text)
		return NULL;
	text[0] = '\0';
	/* The profile first, so that the other options override it. */
	if (*opt->profile)
		used = (size_t)snprintf(text, room, "profile=%s", opt->profile);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (table[i].offset == offsetof(struct gc_options, profile))
			continue;
		if (used)
			text[used++] = ',';
		used += (size_t)option_print(opt, &table[i], text + used, room - used);
	}
	return text;
}

void gc_options_help(void (*line)(const char *text, void *arg), void *arg)
{
	char text[512], names[160];

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *o = &table[i];

		names[0] = '\0';
		if (o->list)
			names_join(names, sizeof(names), o->list);
		else if (!strcmp(o->name, "plan"))
			names_join(names, sizeof(names), plan_names);
		else if (!strcmp(o->name, "profile"))
			strcpy(names, "art-6.0, dalvik-4.3, hussein-2015");
		snprintf(text, sizeof(text), "%-14s %s%s%s%s (default: %s)", o->name, o->help,
			 names[0] ? " (" : "", names, names[0] ? ")" : "",
			 o->preset[0] ? o->preset : "none");
		line(text, arg);
	}
}
