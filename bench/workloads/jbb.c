// SPDX-License-Identifier: MIT
/*
 * A warehouse company in the manner of SPECjbb2005's description: each thread keeps one
 * warehouse with districts, customers, stock and a history of orders, and serves five
 * types of requests in the mix 10:10:1:1:1. A large, linked, slowly changing heap; every
 * request is timed.
 */
#include "lib/random.h"
#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define DISTRICTS 10
#define LINES_MIN 5
#define LINES_MAX 15

struct item {
	HEAP_HEADER
	struct heap_data *name;
	uint64_t price, stock;
};

struct order;

struct customer {
	HEAP_HEADER
	struct heap_data *name, *address;
	struct order *last;
	int64_t balance;
};

struct line {
	HEAP_HEADER
	struct item *item;
	uint64_t count, amount;
};

struct order {
	HEAP_HEADER
	struct heap_refs *lines;
	struct customer *customer;
	struct order *next; /* the one ordered after it */
	uint64_t total, delivered, line_count;
};

struct district {
	HEAP_HEADER
	struct heap_refs *customers;
	struct order *oldest, *newest, *undelivered;
	uint64_t count;
};

struct jbb {
	const struct heap_type *item, *customer, *line, *order, *district, *refs, *text;
	uint64_t customers, items, orders, requests, seed;
};

struct worker {
	const struct jbb *j;
	struct heap_thread *t;
	struct {
		struct heap_frame head;
		struct heap_refs *items;
		struct district *district[DISTRICTS];
		struct order *order;
		struct line *line;
		struct heap_data *text;
		void *part;
	} f;
	struct random draw;
	struct totals totals;
};

static const struct setting settings[] = {
	{ "customers", "3000", "customers of a district" },
	{ "items", "20000", "types of goods in stock" },
	{ "orders", "3700", "orders that a district keeps; the default makes 29 MB live" },
	{ "requests", "200000", "requests per thread" },
	{ "seed", "1", "first seed; thread i draws from seed+i" },
	{ "threads", "1", "warehouses, one a thread; 0: as many as CPUs" },
	{ NULL, NULL, NULL },
};

static int jbb_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind item = { .name = "Item",
					.size = sizeof(struct item),
					.refs = HEAP_REF(struct item, name) };
	const struct heap_kind customer = {
		.name = "Customer",
		.size = sizeof(struct customer),
		.refs = HEAP_REF(struct customer, name) | HEAP_REF(struct customer, address) |
			HEAP_REF(struct customer, last),
	};
	const struct heap_kind line = { .name = "Orderline",
					.size = sizeof(struct line),
					.refs = HEAP_REF(struct line, item) };
	const struct heap_kind order = {
		.name = "Order",
		.size = sizeof(struct order),
		.refs = HEAP_REF(struct order, lines) | HEAP_REF(struct order, customer) |
			HEAP_REF(struct order, next),
	};
	const struct heap_kind district = {
		.name = "District",
		.size = sizeof(struct district),
		.refs = HEAP_REF(struct district, customers) | HEAP_REF(struct district, oldest) |
			HEAP_REF(struct district, newest) | HEAP_REF(struct district, undelivered),
	};
	const struct heap_kind refs = HEAP_KIND_REFS("Object[]");
	const struct heap_kind text = HEAP_KIND_DATA("char[]", 1);
	struct jbb *j = calloc(1, sizeof(*j));
	int code;

	b->state = j;
	if (!j)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = settings_size(&b->settings, "customers", 1, 1 << 20, &j->customers, err)) ||
	    (code = settings_size(&b->settings, "items", 1, 1 << 20, &j->items, err)) ||
	    (code = settings_size(&b->settings, "orders", 2, 1 << 24, &j->orders, err)) ||
	    (code = settings_size(&b->settings, "requests", 0, 1 << 26, &j->requests, err)) ||
	    (code = settings_size(&b->settings, "seed", 0, UINT32_MAX, &j->seed, err)))
		return code;
	j->item = workload_type(b, &item, err);
	j->customer = workload_type(b, &customer, err);
	j->line = workload_type(b, &line, err);
	j->order = workload_type(b, &order, err);
	j->district = workload_type(b, &district, err);
	j->refs = workload_type(b, &refs, err);
	j->text = workload_type(b, &text, err);
	if (!j->item || !j->customer || !j->line || !j->order || !j->district || !j->refs ||
	    !j->text)
		return -ENOMEM;
	b->requests = calloc(j->requests * (uint64_t)b->threads + 1, sizeof(*b->requests));
	if (!b->requests)
		return -ENOMEM;
	b->request_count = j->requests * (uint64_t)b->threads;
	b->steps_total = b->request_count;
	return 0;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The result is also kept in the frame's text, where a collection finds it. */
static struct heap_data *new_text(struct worker *w, uint32_t length)
{
	w->f.text = heap_array(w->t, w->j->text, length);
	if (w->f.text) {
		for (uint32_t i = 0; i < length; i += 8)
			w->f.text->byte[i] = (unsigned char)('a' + i % 26);
		totals_add(&w->totals, sizeof(struct heap_data) + length);
	}
	return w->f.text;
}

static int new_items(struct worker *w)
{
	w->f.items = heap_array(w->t, w->j->refs, (uint32_t)w->j->items);
	if (!w->f.items)
		return -ENOMEM;
	for (uint64_t i = 0; i < w->j->items; i++) {
		struct item *item;

		if (!new_text(w, 24))
			return -ENOMEM;
		item = HEAP_NEW(w->t, w->j->item, struct item);
		if (!item)
			return -ENOMEM;
		heap_init(&item->name, w->f.text);
		item->price = 1 + i % 97;
		item->stock = 1000;
		heap_store(w->t, w->f.items, &w->f.items->ref[i], item);
		totals_add(&w->totals, sizeof(*item));
	}
	return 0;
}

static int new_customer(struct worker *w, struct district **district, uint64_t i)
{
	struct customer *c;

	if (!new_text(w, 32))
		return -ENOMEM;
	w->f.part = w->f.text;
	if (!new_text(w, 56))
		return -ENOMEM;
	c = HEAP_NEW(w->t, w->j->customer, struct customer);
	if (!c)
		return -ENOMEM;
	heap_init(&c->name, w->f.part);
	heap_init(&c->address, w->f.text);
	heap_store(w->t, (*district)->customers, &(*district)->customers->ref[i], c);
	totals_add(&w->totals, sizeof(*c));
	return 0;
}

static int new_district(struct worker *w, int d)
{
	struct district **district = &w->f.district[d];
	struct heap_refs *customers;
	int code = 0;

	*district = HEAP_NEW(w->t, w->j->district, struct district);
	if (!*district)
		return -ENOMEM;
	customers = heap_array(w->t, w->j->refs, (uint32_t)w->j->customers);
	if (!customers)
		return -ENOMEM;
	heap_store(w->t, *district, &(*district)->customers, customers);
	for (uint64_t i = 0; !code && i < w->j->customers; i++)
		code = new_customer(w, district, i);
	return code;
}

static int add_line(struct worker *w)
{
	struct item *item;
	struct line *line = HEAP_NEW(w->t, w->j->line, struct line);
	struct order *order = w->f.order;

	if (!line)
		return -ENOMEM;
	item = w->f.items->ref[random_below(&w->draw, (int32_t)w->j->items)];
	line->count = 1 + (uint64_t)random_below(&w->draw, 9);
	line->amount = line->count * item->price;
	heap_init(&line->item, item);
	item->stock = item->stock >= line->count ? item->stock - line->count : 1000;
	order->total += line->amount;
	heap_store(w->t, order->lines, &order->lines->ref[order->line_count++], line);
	totals_add(&w->totals, sizeof(*line));
	return 0;
}

static int new_order(struct worker *w, struct district **district)
{
	uint32_t lines = LINES_MIN + (uint32_t)random_below(&w->draw, LINES_MAX - LINES_MIN + 1);
	int64_t customer = random_below(&w->draw, (int32_t)w->j->customers);
	struct heap_refs *array;
	struct customer *c;
	struct district *d;
	struct order *order;
	int code = 0;

	w->f.order = HEAP_NEW(w->t, w->j->order, struct order);
	if (!w->f.order)
		return -ENOMEM;
	array = heap_array(w->t, w->j->refs, lines);
	if (!array)
		return -ENOMEM;
	heap_store(w->t, w->f.order, &w->f.order->lines, array);
	totals_add(&w->totals, sizeof(struct order));
	totals_add(&w->totals, sizeof(struct heap_refs) + lines * sizeof(void *));
	for (uint32_t i = 0; !code && i < lines; i++)
		code = add_line(w);
	if (code || !new_text(w, 120)) /* the confirmation, read and thrown away */
		return -ENOMEM;
	order = w->f.order;
	d = *district;
	c = d->customers->ref[customer];
	heap_store(w->t, order, &order->customer, c);
	heap_store(w->t, c, &c->last, order);
	if (d->newest)
		heap_store(w->t, d->newest, &d->newest->next, order);
	else
		heap_store(w->t, d, &d->oldest, order);
	heap_store(w->t, d, &d->newest, order);
	if (!d->undelivered)
		heap_store(w->t, d, &d->undelivered, order);
	if (++d->count > w->j->orders) {
		struct order *old = d->oldest;

		heap_store(w->t, d, &d->oldest, old->next);
		if (d->undelivered == old)
			heap_store(w->t, d, &d->undelivered, old->next);
		/* A customer's last order must not hold all that came after it. */
		heap_store(w->t, old, &old->next, NULL);
		d->count--;
	}
	w->totals.checksum += order->total;
	return 0;
}

static int take_payment(struct worker *w, struct district **district)
{
	int64_t customer = random_below(&w->draw, (int32_t)w->j->customers);
	struct heap_data *receipt;
	struct customer *c;

	if (!new_text(w, 72))
		return -ENOMEM;
	receipt = w->f.text;
	c = (*district)->customers->ref[customer];
	c->balance -= 1 + random_below(&w->draw, 5000);
	heap_store(w->t, c, &c->address, receipt);
	return 0;
}

static int order_status(struct worker *w, struct district **district)
{
	int64_t customer = random_below(&w->draw, (int32_t)w->j->customers);
	struct customer *c = (*district)->customers->ref[customer];

	if (c->last) {
		const struct order *order = c->last;
		uint64_t total = 0;

		for (uint64_t i = 0; i < order->line_count; i++)
			total += ((const struct line *)order->lines->ref[i])->amount;
		if (total != order->total)
			return -EILSEQ;
	}
	return new_text(w, 200) ? 0 : -ENOMEM;
}

static int deliver_orders(struct worker *w)
{
	for (int d = 0; d < DISTRICTS; d++) {
		struct district *district = w->f.district[d];

		for (int i = 0; i < 10 && district->undelivered; i++) {
			struct order *order = district->undelivered;

			order->delivered = 1;
			order->customer->balance += (int64_t)order->total;
			heap_store(w->t, district, &district->undelivered, order->next);
		}
	}
	return new_text(w, 80) ? 0 : -ENOMEM;
}

static int stock_level(struct worker *w, struct district **district)
{
	uint64_t low = 0;
	int orders = 0;

	for (const struct order *o = (*district)->oldest; o && orders < 20; o = o->next, orders++)
		for (uint64_t i = 0; i < o->line_count; i++)
			low += ((const struct line *)o->lines->ref[i])->item->stock < 100;
	w->totals.checksum += low;
	return new_text(w, 80) ? 0 : -ENOMEM;
}

static int serve_request(struct worker *w)
{
	struct district **district = &w->f.district[random_below(&w->draw, DISTRICTS)];
	int32_t kind = random_below(&w->draw, 23);

	if (kind < 10)
		return new_order(w, district);
	if (kind < 20)
		return take_payment(w, district);
	if (kind == 20)
		return order_status(w, district);
	if (kind == 21)
		return deliver_orders(w);
	return stock_level(w, district);
}

static int jbb_run(struct bench *b, struct heap_thread *t, int index)
{
	const struct jbb *j = b->state;
	struct request *request = b->requests + (uint64_t)index * j->requests;
	struct worker w = { .j = j, .t = t };
	int code;

	random_seed(&w.draw, (int64_t)j->seed + index);
	HEAP_PUSH(t, w.f);
	code = new_items(&w);
	for (int d = 0; !code && d < DISTRICTS; d++)
		code = new_district(&w, d);
	for (uint64_t i = 0; !code && i < j->orders * DISTRICTS; i++)
		code = new_order(&w, &w.f.district[i % DISTRICTS]);
	for (uint64_t i = 0; !code && i < j->requests; i++) {
		request[i].start = now_ns();
		code = serve_request(&w);
		request[i].end = now_ns();
		bench_step(b);
	}
	HEAP_POP(t, w.f);
	totals_merge(&w.totals, b);
	return code;
}

const struct workload workload_jbb = {
	.name = "jbb",
	.summary = "a warehouse company that serves requests from a large, linked heap",
	.stresses = "the mark stack, long lists, and request latency with a collector",
	.settings = settings,
	.prepare = jbb_prepare,
	.run = jbb_run,
};
