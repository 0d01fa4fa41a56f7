// SPDX-License-Identifier: MIT
/*
 * Description: bytes outside of the heap start collections: their garbage is bounded on every plan,
 * and where they live, collections are few.
 */
#include "alone.h"

#define BUFFER (1 << 20)
#define OWNERS 2000
#define KEPT   16 /* owners at a time */
#define MIB(n) ((n) / (1024.0 * 1024))

struct owner {
	struct gc_header header;
	struct owner *next;
	long bytes;
};

struct roots {
	struct gc_frame head;
	struct owner *list, *kept[KEPT], *fresh;
};

static const char *const plans[] = {
	"plan=cms",	  "plan=cms,policy=fg", "plan=cms,policy=bg", "plan=cmsfly",
	"plan=gencms",	  "plan=gss",		"plan=immix",	      "plan=marksweep",
	"plan=semispace", "plan=stickyimmix",
};

static const struct gc_type *type;
static uint64_t outside, most_outside; /* as this program counts it */

static void owners_finalize(void)
{
	struct owner *o;

	while ((o = gc_finalizer_next(m))) {
		outside -= (uint64_t)o->bytes;
		gc_external_add(m, -o->bytes);
	}
}

static bool owner_make(struct roots *f, bool counted)
{
	if (counted)
		gc_external_add(m, BUFFER);
	outside += BUFFER;
	if (outside > most_outside)
		most_outside = outside;
	f->fresh = GC_NEW(m, type, struct owner);
	if (!f->fresh)
		return false;
	f->fresh->bytes = BUFFER;
	return !gc_finalizer_add(m, f->fresh);
}

static bool heap_open(const char *options)
{
	struct gc_type_desc d = { .name = "owner", .size = sizeof(struct owner), .refs = 2 };

	outside = most_outside = 0;
	if (!open_heap(options))
		return false;
	type = gc_type_register(heap, &d, NULL);
	return true;
}

/* The most bytes outside of the heap when all but KEPT of OWNERS are garbage */
static double garbage_most(const char *options, bool counted)
{
	struct roots f;

	if (!heap_open(options))
		return 0;
	GC_PUSH(m, f);
	for (int i = 0; i < OWNERS; i++) {
		if (!owner_make(&f, counted))
			break;
		gc_write(m, f.fresh, &f.fresh->next, NULL);
		f.kept[i % KEPT] = f.fresh;
		owners_finalize();
	}
	GC_POP(m, f);
	if (counted)
		ok(stats().external_bytes == outside, "%s: the statistics have what is left",
		   options);
	stop();
	return MIB((double)most_outside);
}

/* Owners that live for several collections, until they are old, and then die together */
static void generations_pass(const char *options)
{
	struct roots f;

	if (!heap_open(options))
		return;
	GC_PUSH(m, f);
	for (int i = 0; i < OWNERS; i++) {
		if (!owner_make(&f, true))
			break;
		gc_write(m, f.fresh, &f.fresh->next, f.list);
		f.list = f.fresh;
		if (i % 40 == 39) {
			gc_collect(m);
			gc_collect(m);
			f.list = NULL;
		}
		owners_finalize();
	}
	GC_POP(m, f);
	ok(MIB((double)most_outside) < 400,
	   "%s: %.0f MiB of old owners and their garbage, below 400", options,
	   MIB((double)most_outside));
	stop();
}

/* All owners live: a collection for each doubling */
static void owners_live(const char *options)
{
	struct roots f;
	uint64_t cycles;

	if (!heap_open(options))
		return;
	GC_PUSH(m, f);
	for (int i = 0; i < OWNERS; i++) {
		if (!owner_make(&f, true))
			break;
		gc_init(&f.fresh->next, f.list);
		f.list = f.fresh;
	}
	cycles = stats().cycles;
	ok(outside == (uint64_t)OWNERS * BUFFER && cycles >= 2 && cycles <= 24,
	   "%s: %llu collections while %d MiB are kept, 2 to 24", options,
	   (unsigned long long)cycles, OWNERS);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	char options[100];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		double most, without;

		snprintf(options, sizeof(options), "%s,trim=0,max=64M", plans[i]);
		without = garbage_most(options, false);
		most = garbage_most(options, true);
		ok(most < 200 && without == OWNERS,
		   "%s: at most %.0f of %d MiB outside, below 200; %.0f if they are not counted",
		   options, most, OWNERS, without);
		generations_pass(options);
		owners_live(options);
	}
	return done();
}
