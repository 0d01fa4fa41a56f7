// SPDX-License-Identifier: MIT
/*
 * Description: when a major collection is cheaper than another minor one: the rule against the
 * best fixed number of minor collections, found by trying all.
 */
#include "tap.h"

#include "policy/generation.h"

/* A program: prices of both kinds in objects, survivors of a minor, room after a major */
struct program {
	const char *name;
	double major, minor, kept, room;
	double slack; /* of the rule's price above the best */
};

/* Mean price of a byte with @minors after each major collection */
static double price_of(const struct program *p, int minors)
{
	double work = p->major, room = p->room;

	for (int i = 1; i <= minors; i++) {
		if (p->room - i * p->kept <= 0)
			return 1e9;
		work += p->minor;
		room += p->room - i * p->kept;
	}
	return work / room;
}

static double best(const struct program *p, int *minors)
{
	double least = price_of(p, 0);

	*minors = 0;
	for (int n = 1; n < 1000; n++) {
		if (price_of(p, n) >= least)
			continue;
		least = price_of(p, n);
		*minors = n;
	}
	return least;
}

/* The same with the rule, over @cycles; the share of minor collections into @share */
static double with_rule(const struct program *p, int cycles, double *share)
{
	struct gc_generation g = { 0 };
	double left = 0, work = 0, room = 0;
	bool major = true;
	int minors = 0;

	for (int i = 0; i < cycles; i++) {
		double price = major ? p->major : p->minor;

		left = major ? p->room : left - p->kept;
		if (left < 0)
			left = 0;
		minors += !major;
		work += price;
		room += left;
		major = gc_generation_end(&g, major, price, p->kept, left);
	}
	*share = (double)minors / cycles;
	return work / room;
}

int main(void)
{
	static const struct program programs[] = {
		{ "survivors are few", 1000, 10, .1, 100, .02 },
		{ "survivors fill the room soon", 1000, 50, 15, 100, .05 },
		{ "a minor collection costs a third", 450, 150, 4, 80, .05 },
		{ "a minor collection costs as much as a major one", 450, 450, 8, 80, .05 },
		{ "a minor collection costs more", 450, 600, 8, 80, .05 },
		{ "one minor collection leaves nothing", 450, 100, 90, 80, .05 },
	};
	struct gc_generation g = { 0 };

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		double share, rule = with_rule(&programs[i], 2000, &share), least;
		int minors;

		least = best(&programs[i], &minors);
		if (!ok(rule <= least * (1 + programs[i].slack),
			"%s: a major collection as cheap as %d minor ones", programs[i].name,
			minors))
			printf("# price %.4f, least %.4f, %.2f of all are minor\n", rule, least,
			       share);
		if (minors)
			ok(share > .5 * minors / (minors + 1.),
			   "%s: most minor collections that pay off are made", programs[i].name);
		else
			ok(share < .3 && share > 0, "%s: a minor collection is tried now and then",
			   programs[i].name);
	}
	ok(!gc_generation_end(&g, true, 100, 0, 100),
	   "after the first major collection a minor one is tried");
	ok(gc_generation_end(&g, false, 10, 60, 40),
	   "a minor collection that would leave no room: major");
	ok(!gc_generation_end(&g, true, 100, 0, 100),
	   "after a major collection that freed memory: minor");
	return done();
}
