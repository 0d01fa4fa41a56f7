// SPDX-License-Identifier: GPL-2.0-or-later
#include "findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/amount.h"

#define OLD_GENERATION 1 /* this one and older: a full collection, of those that count bytes */
#define OLDEST_CPYTHON 2 /* the same of CPython, which counts freed objects alone */

#define WAITS_STOPPED	 2 /* times the share of time in pauses */
#define WAITS_DURATION	 0.02
#define LONG_COUNT	 0.1 /* half of the time in fewer than this share of the pauses is said */
#define LONG_PAUSES	 5 /* of fewer pauses it is no pattern */
#define GROWTH_POINTS	 4 /* full collections in the second half of the recording */
#define GROWTH_SHARE	 0.1 /* by which that half grows */
#define GROWTH_RISING	 0.7 /* share of its pairs that rise */
#define FUTILE_SHARE	 0.05 /* of the bytes in use before */
#define FUTILE_COUNT	 2
#define FUTILE_OBJECT_NS 10000 /* of pause for each freed object: a thousand were traversed */
#define FUTILE_PAUSED	 0.1 /* of the paused time */
#define ASKED_COUNT	 2 /* some runtimes collect once at their end */
#define ASKED_PAUSED	 0.05
#define WAIT_RUN	 0.1 /* of the CPU time */
#define WAIT_DURATION	 0.01
#define SAFEPOINT_PAUSED 0.2
#define CLOCK_SLOW	 0.8
#define BURST_COUNT	 8 /* times between collections, of which their rates say something */
#define BURST_PEAKS	 3 /* of these in bursts, at least */
#define BURST_TIME	 0.05 /* of the time, in which half of the bytes were allocated */
#define REMARK_COUNT	 2
#define REMARK_PAUSED	 0.1 /* of the paused time */
#define GROUP_NEAR	 0.9 /* of the limit of a control group */

struct findings {
	const struct findings_input *in;
	uint64_t paused;
	struct finding *found;
	size_t nr;
};

__attribute__((format(printf, 5, 6))) static void findings_add(struct findings *f,
							       enum finding_type type, double value,
							       size_t count, const char *format,
							       ...)
{
	struct finding *found = &f->found[f->nr++];
	va_list args;

	*found = (struct finding){ .type = type, .value = value, .count = count };
	va_start(args, format);
	vsnprintf(found->text, sizeof(found->text), format, args);
	va_end(args);
}

static int by_ns(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_share(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

uint64_t findings_half(const uint64_t *ns, size_t nr, size_t *count)
{
	uint64_t sum = 0, part = 0;
	size_t i = nr;

	for (size_t k = 0; k < nr; k++)
		sum += ns[k];
	while (i && part < sum - part)
		part += ns[--i];
	if (count)
		*count = nr - i;
	return nr ? ns[i < nr ? i : nr - 1] : 0;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

const char *findings_runtime(const struct findings_input *in)
{
	static const struct {
		const char *name, *runtime;
	} names[] = {
		{ "java", "jvm" },	 { "node", "node" }, { "python", "python" },
		{ "ruby", "ruby" },	 { "mono", "mono" }, { "dotnet", "dotnet" },
		{ "ocamlrun", "ocaml" },
	};
	const char *name = in->name;

	for (size_t i = 0; !in->runtime && name && i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t n = strlen(names[i].name);

		if (!strncmp(name, names[i].name, n) &&
		    strspn(name + n, "0123456789.-") == strlen(name + n))
			return names[i].runtime;
	}
	return in->runtime;
}

bool findings_is_full(const struct findings_input *in, const struct findings_collection *c)
{
	const char *runtime = findings_runtime(in);
	const bool oldest_only =
		c->after == FINDINGS_UNKNOWN && !(runtime && !strcmp(runtime, "ruby"));

	return c->generation != FINDINGS_NO_GENERATION &&
	       c->generation >= (oldest_only ? OLDEST_CPYTHON : OLD_GENERATION);
}

static void find_stopped(struct findings *f)
{
	const struct findings_input *in = f->in;
	const double share = in->duration ? (double)f->paused / (double)in->duration : 0;
	char all[AMOUNT_TEXT], part[AMOUNT_TEXT];

	if (in->pauses)
		findings_add(f, FINDING_STOPPED, share, in->pauses, "%s was stopped %s of %s",
			     in->name && *in->name ? in->name : "the program",
			     amount_share(share, part), amount_length((double)in->duration, all));
}

/* The mean of the threads that waited: of a pause each thread has all. */
static void find_waits(struct findings *f)
{
	const struct findings_input *in = f->in;
	const double duration = (double)in->duration;
	const double share =
		in->waits && in->duration ? (double)in->waited / (double)in->waits / duration : 0;
	char part[AMOUNT_TEXT];

	if (share < WAITS_DURATION || share * duration < WAITS_STOPPED * (double)f->paused)
		return;
	if (in->pauses)
		findings_add(f, FINDING_WAITS, share, in->waits,
			     "%zu of its threads waited for collections, %s%s of the time",
			     in->waits, in->waits == 1 ? "" : "in the mean ",
			     amount_share(share, part));
	else
		findings_add(f, FINDING_WAITS, share, in->waits,
			     "%zu thread%s of %s waited for collections, %s%s of the time",
			     in->waits, plural(in->waits),
			     in->name && *in->name ? in->name : "the program",
			     in->waits == 1 ? "" : "in the mean ", amount_share(share, part));
}

static void find_long_pauses(struct findings *f)
{
	const struct findings_input *in = f->in;
	uint64_t *ns = &in->scratch->ns, half;
	char length[AMOUNT_TEXT];
	size_t count;

	for (size_t i = 0; i < in->pauses; i++)
		ns[i] = in->pause[i].ns;
	qsort(ns, in->pauses, sizeof(*ns), by_ns);
	half = findings_half(ns, in->pauses, &count);
	if (in->pauses < LONG_PAUSES || (double)count > LONG_COUNT * (double)in->pauses)
		return;
	findings_add(f, FINDING_LONG_PAUSES, (double)half, count,
		     "half of that in %zu pause%s of %s or more", count, plural(count),
		     amount_length((double)half, length));
}

/* The median share of the limit in use after the collections; of full ones only with @full. */
static double collections_fill(const struct findings_input *in, bool full, size_t *count)
{
	double *share = &in->scratch->share, median = NAN;

	*count = 0;
	for (size_t i = 0; i < in->collections; i++) {
		const struct findings_collection *c = &in->collection[i];

		if (c->after == FINDINGS_UNKNOWN || c->most == FINDINGS_UNKNOWN || c->most <= 0 ||
		    (full && !findings_is_full(in, c)))
			continue;
		share[(*count)++] = (double)c->after / (double)c->most;
	}
	if (*count) {
		qsort(share, *count, sizeof(*share), by_share);
		median = share[(*count - 1) / 2];
	}
	return median;
}

/* Young collections leave what is dead in the old generation: full ones say more. */
static void find_heap_full(struct findings *f)
{
	size_t count;
	double fill = collections_fill(f->in, true, &count);
	const bool full = count > 0;
	char part[AMOUNT_TEXT];

	if (!full)
		fill = collections_fill(f->in, false, &count);
	if (!count || fill < FINDINGS_FULL_SHARE)
		return;
	findings_add(f, FINDING_HEAP_FULL, fill, count, "the heap was %s full after %s%s",
		     amount_share(fill, part),
		     count == 1 ? "its only " :
		     full	? "each " :
				  "each collection",
		     count == 1 ? (full ? "full collection" : "collection") :
		     full	? "full collection" :
				  "");
}

/* Of the full collections of a heap in the second half of the recording: do they leave ever more? */
static bool live_grows(const struct findings_input *in, const struct findings_collection *c,
		       size_t nr, uint64_t from, const struct findings_collection **first,
		       const struct findings_collection **last, size_t *points)
{
	size_t pairs = 0, rising = 0;

	*first = *last = NULL;
	*points = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!findings_is_full(in, &c[i]) || c[i].after == FINDINGS_UNKNOWN ||
		    c[i].t1 < from)
			continue;
		if (!*first)
			*first = &c[i];
		if (*last) {
			pairs++;
			rising += c[i].after > (*last)->after;
		}
		*last = &c[i];
		++*points;
	}
	return *points >= GROWTH_POINTS && (double)rising >= GROWTH_RISING * (double)pairs &&
	       (double)(*last)->after > (1 + GROWTH_SHARE) * (double)(*first)->after;
}

static void find_live_grows(struct findings *f)
{
	const struct findings_input *in = f->in;
	const struct findings_collection *first, *last;
	char from[AMOUNT_TEXT], to[AMOUNT_TEXT], length[AMOUNT_TEXT];
	uint64_t begin = 0, end = 0;
	size_t points;

	for (size_t i = 0; i < in->collections; i++) {
		begin = !i || in->collection[i].t1 < begin ? in->collection[i].t1 : begin;
		end = in->collection[i].t1 > end ? in->collection[i].t1 : end;
	}
	for (size_t i = 0, n; i < in->collections; i += n) {
		for (n = 1; i + n < in->collections &&
			    in->collection[i + n].heap == in->collection[i].heap;)
			n++;
		if (!live_grows(in, &in->collection[i], n, begin + (end - begin) / 2, &first, &last,
				&points))
			continue;
		findings_add(f, FINDING_LIVE_GROWS, (double)last->after / (double)first->after - 1,
			     points, "what %zu full collections left grew from %s to %s in %s",
			     points, amount_bytes((double)first->after, from),
			     amount_bytes((double)last->after, to),
			     amount_length((double)(last->t1 - first->t1), length));
		return;
	}
}

static bool collection_is_futile(const struct findings_collection *c)
{
	if (c->before != FINDINGS_UNKNOWN && c->after != FINDINGS_UNKNOWN)
		return c->before > 0 &&
		       (double)(c->before - c->after) < FUTILE_SHARE * (double)c->before;
	return c->freed != FINDINGS_UNKNOWN && (uint64_t)c->freed < c->paused / FUTILE_OBJECT_NS;
}

static void find_futile(struct findings *f)
{
	const struct findings_input *in = f->in;
	size_t full = 0, futile = 0;
	uint64_t paused = 0;
	int64_t objects = 0;
	char part[AMOUNT_TEXT], freed[48] = "almost nothing";

	for (size_t i = 0; i < in->collections; i++) {
		const struct findings_collection *c = &in->collection[i];

		if (!findings_is_full(in, c))
			continue;
		full++;
		if (!collection_is_futile(c))
			continue;
		futile++;
		paused += c->paused;
		objects = c->freed == FINDINGS_UNKNOWN || objects < 0 ? -1 : objects + c->freed;
	}
	if (futile < FUTILE_COUNT || 2 * futile < full ||
	    (double)paused < FUTILE_PAUSED * (double)f->paused)
		return;
	if (objects >= 0)
		snprintf(freed, sizeof(freed), "%lld object%s in all", (long long)objects,
			 plural((size_t)objects));
	findings_add(f, FINDING_FUTILE, f->paused ? (double)paused / (double)f->paused : 0, futile,
		     "%zu of %zu full collections freed %s, in %s of the paused time", futile, full,
		     freed, amount_share(f->paused ? (double)paused / (double)f->paused : 0, part));
}

static void find_asked(struct findings *f)
{
	const struct findings_input *in = f->in;
	uint64_t paused = 0;
	size_t asked = 0;
	char part[AMOUNT_TEXT];

	for (size_t i = 0; i < in->pauses; i++)
		if (in->pause[i].asked) {
			asked++;
			paused += in->pause[i].ns;
		}
	if (asked < ASKED_COUNT || (double)paused < ASKED_PAUSED * (double)f->paused)
		return;
	findings_add(f, FINDING_ASKED, (double)paused / (double)f->paused, asked,
		     "the program asked for %zu collection%s itself (%s of the paused time)", asked,
		     plural(asked), amount_share((double)paused / (double)f->paused, part));
}

static const char *cpu_wait_remedy(const struct findings_input *in)
{
	static const struct {
		const char *runtime, *text;
	} all[] = {
		{ "jvm",
		  "a higher CPU limit, or fewer threads that collect (-XX:ParallelGCThreads)" },
		{ "dotnet",
		  "a higher CPU limit, or fewer threads that collect (DOTNET_GCHeapCount)" },
		{ "go", "a higher CPU limit, or fewer threads that run at once (GOMAXPROCS)" },
	};
	const char *runtime = findings_runtime(in);

	for (size_t i = 0; runtime && i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].runtime, runtime))
			return all[i].text;
	return "a higher CPU limit, or CPUs that are less busy";
}

static void find_cpu_wait(struct findings *f)
{
	const struct findings_input *in = f->in;
	char length[AMOUNT_TEXT];

	if (in->run == FINDINGS_UNKNOWN || in->wait_low == FINDINGS_UNKNOWN ||
	    (double)in->wait_low < WAIT_RUN * (double)in->run ||
	    (double)in->wait_low < WAIT_DURATION * (double)in->duration)
		return;
	findings_add(f, FINDING_CPU_WAIT, (double)in->wait_low, 0,
		     "collectors waited at least %s for a CPU",
		     amount_length((double)in->wait_low, length));
	f->found[f->nr - 1].remedy = cpu_wait_remedy(in);
}

static void find_safepoint(struct findings *f)
{
	const double share = f->paused ? (double)f->in->safepoint / (double)f->paused : 0;
	char part[AMOUNT_TEXT];

	if (share >= SAFEPOINT_PAUSED)
		findings_add(f, FINDING_SAFEPOINT, share, 0,
			     "%s of the paused time was waiting for threads to stop",
			     amount_share(share, part));
}

/* What was allocated between a collection and the one before it in the same heap. */
static bool interval_of(const struct findings_input *in, size_t i, double *bytes, double *ns)
{
	const struct findings_collection *c = &in->collection[i], *last = c - 1;

	if (!i || c->heap != last->heap || c->before == FINDINGS_UNKNOWN ||
	    last->after == FINDINGS_UNKNOWN || c->before <= last->after || c->t0 <= last->t1)
		return false;
	*bytes = (double)(c->before - last->after);
	*ns = (double)(c->t0 - last->t1);
	return true;
}

/* Intervals with a rate of @rate or more, added up. */
static size_t intervals_sum(const struct findings_input *in, double rate, double *bytes, double *ns)
{
	size_t nr = 0;
	double b, t;

	*bytes = *ns = 0;
	for (size_t i = 0; i < in->collections; i++)
		if (interval_of(in, i, &b, &t) && b / t >= rate) {
			*bytes += b;
			*ns += t;
			nr++;
		}
	return nr;
}

static void find_bursts(struct findings *f)
{
	const struct findings_input *in = f->in;
	double *rate = &in->scratch->share, all, time, bytes, ns;
	size_t nr = 0, low = 0, high, peaks;
	char share[AMOUNT_TEXT], speed[AMOUNT_TEXT];

	for (size_t i = 0; i < in->collections; i++)
		if (interval_of(in, i, &bytes, &ns))
			rate[nr++] = bytes / ns;
	if (nr < BURST_COUNT)
		return;
	qsort(rate, nr, sizeof(*rate), by_share);
	intervals_sum(in, 0, &all, &time);
	/* The highest rate that half of the bytes had. */
	for (high = nr - 1; low < high;) {
		const size_t mid = low + (high - low + 1) / 2;

		intervals_sum(in, rate[mid], &bytes, &ns);
		if (bytes >= all / 2)
			low = mid;
		else
			high = mid - 1;
	}
	peaks = intervals_sum(in, rate[low], &bytes, &ns);
	if (peaks < BURST_PEAKS || ns > BURST_TIME * time)
		return;
	findings_add(f, FINDING_BURSTS, ns / time, peaks,
		     "half of what it allocated came in %s of the time, at %s a second",
		     amount_share(ns / time, share), amount_bytes(bytes / ns * 1e9, speed));
}

static void find_remark(struct findings *f)
{
	const struct findings_input *in = f->in;
	char remark[AMOUNT_TEXT], young[AMOUNT_TEXT], share[AMOUNT_TEXT];
	double remark_ns = 0, young_ns = 0;
	size_t remarks = 0, youngs = 0;

	for (size_t i = 0; i < in->pauses; i++) {
		const struct findings_pause *p = &in->pause[i];

		if (p->remarks) {
			remarks++;
			remark_ns += (double)p->ns;
		} else if (p->copies) {
			youngs++;
			young_ns += (double)p->ns;
		}
	}
	if (remarks < REMARK_COUNT || !youngs || remark_ns < REMARK_PAUSED * (double)f->paused ||
	    remark_ns / (double)remarks <= young_ns / (double)youngs)
		return;
	findings_add(f, FINDING_REMARK, remark_ns / (double)f->paused, remarks,
		     "%zu remarks took %s each, young collections %s (%s of the paused time)",
		     remarks, amount_length(remark_ns / (double)remarks, remark),
		     amount_length(young_ns / (double)youngs, young),
		     amount_share(remark_ns / (double)f->paused, share));
}

static void find_memory_limit(struct findings *f)
{
	const struct findings_input *in = f->in;
	const int64_t pressed = in->group_pressed == FINDINGS_UNKNOWN ? 0 : in->group_pressed;
	char used[AMOUNT_TEXT], most[AMOUNT_TEXT], times[64] = "";
	double share;

	if (in->group_used == FINDINGS_UNKNOWN || in->group_most == FINDINGS_UNKNOWN ||
	    in->group_most <= 0)
		return;
	share = (double)in->group_used / (double)in->group_most;
	if (!pressed && share < GROUP_NEAR)
		return;
	if (pressed)
		snprintf(times, sizeof(times), " and reached a limit %lld time%s",
			 (long long)pressed, plural((size_t)pressed));
	findings_add(f, FINDING_MEMORY_LIMIT, share, (size_t)pressed,
		     "its control group used %s of %s of memory%s",
		     amount_bytes((double)in->group_used, used),
		     amount_bytes((double)in->group_most, most), times);
}

static void find_slow_clock(struct findings *f)
{
	char part[AMOUNT_TEXT];

	if (f->in->pauses && isfinite(f->in->clock) && f->in->clock < CLOCK_SLOW)
		findings_add(f, FINDING_SLOW_CLOCK, f->in->clock, 0,
			     "pauses ran at %s of the highest frequency",
			     amount_share(f->in->clock, part));
}

size_t findings_of(const struct findings_input *in, struct finding *found)
{
	struct findings f = { .in = in, .found = found };

	for (size_t i = 0; i < in->pauses; i++)
		f.paused += in->pause[i].ns;
	find_stopped(&f);
	find_long_pauses(&f);
	find_waits(&f);
	find_heap_full(&f);
	find_live_grows(&f);
	find_futile(&f);
	find_asked(&f);
	find_cpu_wait(&f);
	find_safepoint(&f);
	find_bursts(&f);
	find_remark(&f);
	find_memory_limit(&f);
	find_slow_clock(&f);
	return f.nr;
}

const char *finding_name(enum finding_type type)
{
	static const char *const names[FINDING_NR] = {
		[FINDING_STOPPED] = "stopped",
		[FINDING_LONG_PAUSES] = "long_pauses",
		[FINDING_WAITS] = "waits_for_collections",
		[FINDING_HEAP_FULL] = "heap_full",
		[FINDING_LIVE_GROWS] = "live_grows",
		[FINDING_FUTILE] = "full_collections_free_nothing",
		[FINDING_ASKED] = "collections_asked_for",
		[FINDING_CPU_WAIT] = "cpu_wait",
		[FINDING_SAFEPOINT] = "time_to_safepoint",
		[FINDING_BURSTS] = "allocation_bursts",
		[FINDING_REMARK] = "long_remark",
		[FINDING_MEMORY_LIMIT] = "memory_limit",
		[FINDING_SLOW_CLOCK] = "slow_clock",
	};

	return names[type];
}

void findings_sentence(const struct finding *found, size_t nr, char sentence[FINDINGS_SENTENCE])
{
	size_t used = 0;

	*sentence = '\0';
	for (size_t i = 0; i < nr; i++)
		used += (size_t)snprintf(sentence + used, FINDINGS_SENTENCE - used, "%s%s",
					 i ? "; " : "", found[i].text);
	if (nr)
		snprintf(sentence + used, FINDINGS_SENTENCE - used, ".");
}
