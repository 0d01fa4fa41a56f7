// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters of a profile for the Firefox Profiler. Each count covers the interval that ends at
 * its time stamp, and the profiler draws the count divided by that interval. So a power rail is
 * written as energy, and any other value as its integral over time.
 */
#include <stdlib.h>
#include <string.h>

#include "../../recording/reader/db.h"
#include "firefox.h"

struct point {
	uint64_t t;
	double count;
};

struct counter {
	struct point *point;
	size_t nr;
	const char *name, *category, *unit, *description;
	bool power;
};

static void counter_write_tooltip(struct json *j, const char *source, const char *unit,
				  const char *scale, const char *label)
{
	json_object(j, NULL);
	json_text(j, "type", "value");
	json_text(j, "source", source);
	json_object(j, "format");
	json_text(j, "unit", unit);
	if (scale)
		json_text(j, "scale", scale);
	json_end(j);
	json_text(j, "label", label);
	json_end(j);
}

static void counter_write(const struct recording *rec, struct json *j, const struct counter *c)
{
	json_line(j);
	json_object(j, NULL);
	json_text(j, "name", c->name);
	json_text(j, "category", c->category);
	json_text(j, "description", c->description);
	json_text(j, "pid", "0");
	json_int(j, "mainThreadIndex", 0);
	json_object(j, "display");
	json_text(j, "graphType", "line-rate");
	json_text(j, "unit", c->power ? "pWh" : c->unit);
	json_text(j, "color", c->power ? "orange" : "blue");
	json_null(j, "markerSchemaLocation");
	json_int(j, "sortWeight", c->power ? 30 : 40);
	json_text(j, "label", c->name);
	json_list(j, "tooltipRows");
	if (c->power) {
		counter_write_tooltip(j, "count", "number", "power", "Power");
		counter_write_tooltip(j, "selection-total", "number", "energy",
				      "Energy in the selection");
		counter_write_tooltip(j, "committed-range-total", "number", "energy",
				      "Energy in the visible range");
	} else {
		counter_write_tooltip(j, "rate", "number", NULL, c->unit);
	}
	json_end(j);
	json_end(j);
	json_object(j, "samples");
	json_list(j, "time");
	for (size_t i = 0; i < c->nr; i++)
		json_fixed(j, NULL, firefox_ms(rec, c->point[i].t), 6);
	json_end(j);
	json_list(j, "count");
	for (size_t i = 0; i < c->nr; i++)
		json_real(j, NULL, c->point[i].count, 9);
	json_end(j);
	json_uint(j, "length", c->nr);
	json_end(j);
	json_end(j);
}

/* Conversion to picowatt hours: 1 uW ns is 1e-15 J, 1 pWh is 3.6e-9 J. */
#define PWH_OF_UW_NS (1e-3 / 3600)
#define PWH_OF_UJ    (1e6 / 3600)

/* A gap of missing readings is filled with the mean of the readings on both sides. */
static bool rail_write_counter(const struct recording *rec, struct json *j, size_t n)
{
	const struct recording_rail *r = &rec->rail[n];
	const struct recording_series *all = recording_samples(rec, n);
	const bool energy = r->kind == RAIL_ENERGY, power = r->kind == RAIL_POWER;
	const struct recording_sample *last = NULL;
	struct counter c = { .name = *r->label ? r->label : r->name,
			     .category = energy || power ? "power" : "gchint",
			     .unit = r->kind == RAIL_VOLTAGE ? "V" : "A",
			     .description = r->name,
			     .power = energy || power };

	c.point = all ? calloc(all->nr + 1, sizeof(*c.point)) : NULL;
	if (!c.point)
		return false;
	for (size_t i = 0; i < all->nr; i++) {
		const struct recording_sample *s = &all->sample[i];
		double ns = last ? (double)(s->t - last->t) : 0, count = 0;

		if (s->value == RECORDING_UNKNOWN)
			continue;
		if (last && energy)
			count = (double)(s->value - last->value) * PWH_OF_UJ;
		else if (last)
			count = ((double)s->value + (double)last->value) / 2 * ns *
				(power ? PWH_OF_UW_NS : 1e-12);
		c.point[c.nr++] = (struct point){ s->t, count };
		last = s;
	}
	if (c.nr)
		counter_write(rec, j, &c);
	free(c.point);
	return true;
}

static bool cpu_write_counter(const struct recording *rec, struct json *j,
			      const struct recording_cpu *cpu)
{
	char name[32];
	struct counter c = { .name = name,
			     .category = "gchint",
			     .unit = "MHz",
			     .description = "Frequency of a CPU" };

	c.point = calloc(cpu->nr + 2, sizeof(*c.point));
	if (!c.point)
		return false;
	snprintf(name, sizeof(name), "cpu%u", cpu->cpu);
	for (size_t i = 0; i <= cpu->nr; i++) {
		uint64_t t = i < cpu->nr ? cpu->step[i].t : rec->t1;
		double mhz = i ? cpu->step[i - 1].khz / 1e3 : 0;

		if (c.nr && t <= c.point[c.nr - 1].t)
			continue;
		c.point[c.nr] =
			(struct point){ t,
					c.nr ? mhz * (double)(t - c.point[c.nr - 1].t) / 1e6 : 0 };
		c.nr++;
	}
	counter_write(rec, j, &c);
	free(c.point);
	return true;
}

bool firefox_counters(struct firefox *x)
{
	const struct recording *rec = x->rec;
	bool whole = true;

	json_list(&x->j, "counters");
	for (size_t i = 0; i < rec->rails && whole; i++)
		whole = rail_write_counter(rec, &x->j, i);
	for (size_t i = 0; i < rec->cpus && whole; i++)
		whole = cpu_write_counter(rec, &x->j, &rec->cpu[i]);
	json_end(&x->j);
	if (!whole)
		db_missing(rec->path, "no memory for its readings");
	return whole;
}
