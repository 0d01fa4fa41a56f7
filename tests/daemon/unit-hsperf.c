// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: the counters that a JVM leaves in a file, whole, cut and wrong. */
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/gchintctl/launch/hsperf.h"

struct image {
	unsigned char data[2048];
	size_t size;
	uint32_t entries;
	bool big;
};

static void number_put(struct image *i, size_t at, uint64_t value, size_t bytes)
{
	for (size_t n = 0; n < bytes; n++)
		i->data[at + n] = (unsigned char)(value >> 8 * (i->big ? bytes - 1 - n : n));
}

/* As HotSpot aligns them: the value begins at a multiple of eight. */
static void entry_add(struct image *i, const char *name, const char *text, uint64_t value)
{
	const size_t names = strlen(name) + 1, data = (20 + names + 7) & ~(size_t)7;
	const size_t bytes = text ? strlen(text) + 1 : 8, length = (data + bytes + 7) & ~(size_t)7;

	number_put(i, i->size, length, 4);
	number_put(i, i->size + 4, 20, 4);
	number_put(i, i->size + 8, text ? bytes : 0, 4);
	i->data[i->size + 12] = text ? 'B' : 'J';
	number_put(i, i->size + 16, data, 4);
	memcpy(i->data + i->size + 20, name, names);
	if (text)
		memcpy(i->data + i->size + data, text, bytes);
	else
		number_put(i, i->size + data, value, 8);
	i->size += length;
	number_put(i, 28, ++i->entries, 4);
}

static void image_begin(struct image *i, bool big)
{
	static const unsigned char magic[] = { 0xca, 0xfe, 0xc0, 0xc0 };

	*i = (struct image){ .size = 32, .big = big };
	memcpy(i->data, magic, sizeof(magic));
	i->data[4] = !big;
	i->data[5] = 2;
	number_put(i, 24, 32, 4);
}

static void heap_add(struct image *i, uint64_t young, uint64_t old)
{
	entry_add(i, "sun.gc.generation.0.maxCapacity", NULL, young);
	entry_add(i, "sun.gc.generation.0.space.0.maxCapacity", NULL, 7);
	entry_add(i, "sun.gc.generation.0.space.0.used", NULL, 10);
	entry_add(i, "sun.gc.generation.0.space.1.used", NULL, 20);
	entry_add(i, "sun.gc.generation.1.maxCapacity", NULL, old);
	entry_add(i, "sun.gc.generation.1.space.0.used", NULL, 300);
	/* Classes, in JDK 7. */
	entry_add(i, "sun.gc.generation.2.maxCapacity", NULL, 5000);
	entry_add(i, "sun.gc.generation.2.space.0.used", NULL, 4000);
}

static bool image_parse(const struct image *i, struct hsperf *perf)
{
	/* Of its own size, so that a sanitizer sees what is read behind it. */
	unsigned char *copy = malloc(i->size ? i->size : 1);
	bool good;

	if (!copy)
		return false;
	memcpy(copy, i->data, i->size);
	good = hsperf_parse(copy, i->size, perf);
	free(copy);
	return good;
}

void unit_hsperf(void)
{
	struct hsperf perf;
	struct image i;
	bool same = true;

	for (int big = 0; big < 2; big++) {
		image_begin(&i, big);
		entry_add(&i, "sun.rt.javaCommand", "com.example.Shop --secret x", 0);
		entry_add(&i, "sun.gc.policy.name", "Copy:MSC", 0);
		heap_add(&i, 100, 200);
		CHECK(image_parse(&i, &perf) && !strcmp(perf.program, "com.example.Shop") &&
			      !strcmp(perf.collector, "Serial") && perf.used == 330 &&
			      perf.limit == 300,
		      big ? "counters in big-endian order" :
			    "program without arguments, collector, heap and limit of a JVM");
	}
	image_begin(&i, false);
	entry_add(&i, "sun.gc.policy.name", "GarbageFirst", 0);
	heap_add(&i, 1000, 1000);
	CHECK(image_parse(&i, &perf) && !strcmp(perf.collector, "G1") && perf.limit == 1000 &&
		      !*perf.program,
	      "of a heap in regions each generation may have all");
	image_begin(&i, false);
	entry_add(&i, "java.rt.vmArgs", "-XX:+UseNUMA -Xmx1g -XX:+UseShenandoahGC -ea", 0);
	CHECK(image_parse(&i, &perf) && !strcmp(perf.collector, "Shenandoah") &&
		      perf.used == HSPERF_UNKNOWN && perf.limit == HSPERF_UNKNOWN,
	      "a collector by the option that chose it, a heap that is not known");
	/* Each cut, and each byte of the headers wrong: no more than is there is read. */
	image_begin(&i, false);
	entry_add(&i, "sun.gc.policy.name", "GarbageFirst", 0);
	heap_add(&i, 1, 2);
	for (size_t n = i.size; n-- > 0;) {
		struct image cut = i;

		cut.size = n;
		same = same && image_parse(&cut, &perf) == (n >= 32);
	}
	for (size_t n = 0; n < i.size; n++)
		for (unsigned int wrong = 0; wrong < 256; wrong += 51) {
			struct image changed = i;

			changed.data[n] = (unsigned char)wrong;
			image_parse(&changed, &perf);
			same = same && memchr(perf.program, '\0', sizeof(perf.program)) &&
			       memchr(perf.collector, '\0', sizeof(perf.collector));
		}
	CHECK(same, "a file that is cut, or wrong in any byte, is read within its bounds");
	i.data[0] = 0;
	CHECK(!image_parse(&i, &perf), "another file is none");
}
