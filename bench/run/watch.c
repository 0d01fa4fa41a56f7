// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "run/watch.h"

#include "lib/utilisation.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS	     INT64_C(1000000)
#define METER_WINDOW (100 * MS) /* DaCapo's */

const int64_t run_window_ns[RUN_WINDOWS] = {
	1 * MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS, 1000 * MS,
};
const double run_mud_quantile[RUN_QUANTILES] = { 0.001, 0.01, 0.1 };
const char *const run_pause_name[RUN_PAUSES] = { "safepoint", "foreground", "waiting", "paced" };
const char *const run_cause_name[RUN_CAUSES] = {
	"alloc", "concurrent", "explicit", "trim", "stress", "oom",
};

static double delay_ms(const char *path)
{
	unsigned long long run, delay;
	FILE *f = fopen(path, "re");
	double ms = NAN;

	if (!f)
		return NAN;
	if (fscanf(f, "%llu %llu", &run, &delay) == 2)
		ms = (double)delay / 1e6;
	fclose(f);
	return ms;
}

double watch_delay_ms(void)
{
	return delay_ms("/proc/thread-self/schedstat");
}

double watch_delay_others_ms(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *e;
	double sum = 0;

	if (!tasks)
		return NAN;
	while ((e = readdir(tasks))) {
		char path[320];
		double ms;

		if (e->d_name[0] == '.' || atoi(e->d_name) == gettid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", e->d_name);
		ms = delay_ms(path);
		sum += isnan(ms) ? 0 : ms;
	}
	closedir(tasks);
	return sum;
}

int watch_migrations_begin(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_MIGRATIONS,
		.inherit = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

double watch_migrations_end(int fd)
{
	uint64_t count;
	double value = NAN;

	if (fd < 0)
		return NAN;
	if (read(fd, &count, sizeof(count)) == sizeof(count))
		value = (double)count;
	close(fd);
	return value;
}

uint64_t watch_pss(void)
{
	unsigned long long kib = 0;
	char line[256];
	FILE *f = fopen("/proc/self/smaps_rollup", "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %llu kB", &kib) == 1)
			break;
	fclose(f);
	return kib << 10;
}

void watch_spread(struct run_spread *out, const struct histogram *h)
{
	out->count = h->count;
	out->total = h->sum / 1e6;
	if (!h->count) {
		out->p50 = out->p99 = out->p999 = out->max = NAN;
		return;
	}
	out->p50 = (double)histogram_quantile(h, 0.5) / 1e6;
	out->p99 = (double)histogram_quantile(h, 0.99) / 1e6;
	out->p999 = (double)histogram_quantile(h, 0.999) / 1e6;
	out->max = (double)h->max / 1e6;
}

static void spread_of(struct run_spread *out, int64_t *latency, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)latency[i];
	out->count = count;
	out->total = sum / 1e6;
	out->p50 = (double)latency_quantile(latency, count, 0.5) / 1e6;
	out->p99 = (double)latency_quantile(latency, count, 0.99) / 1e6;
	out->p999 = (double)latency_quantile(latency, count, 0.999) / 1e6;
	out->max = (double)latency_quantile(latency, count, 1) / 1e6;
}

static int by_start(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void watch_latency(struct run_result *result, const struct request *request, size_t count)
{
	struct request *sorted;
	int64_t *latency;
	size_t n = 0;

	if (!request || !count)
		return;
	sorted = malloc(count * sizeof(*sorted));
	latency = malloc(count * sizeof(*latency));
	if (!sorted || !latency)
		goto free_both;
	for (size_t i = 0; i < count; i++)
		if (request[i].end)
			sorted[n++] = request[i];
	if (!n)
		goto free_both;
	qsort(sorted, n, sizeof(*sorted), by_start);
	latency_simple(sorted, n, latency);
	spread_of(&result->simple, latency, n);
	if (!latency_metered(sorted, n, METER_WINDOW, latency))
		spread_of(&result->metered, latency, n);
	if (!latency_metered(sorted, n, 0, latency))
		spread_of(&result->metered_full, latency, n);
free_both:
	free(sorted);
	free(latency);
}

void watch_missed(struct run_result *result, const struct request *request, size_t count,
		  int64_t deadline_ns)
{
	if (!deadline_ns)
		return;
	result->has_deadline = true;
	for (size_t i = 0; i < count; i++)
		result->missed += request[i].end - request[i].start > deadline_ns;
}

void run_utilisation(struct run_result *r, const struct backend_life *life, size_t lives,
		     struct span **pause, const size_t *pauses)
{
	struct util_curve *curve = calloc(lives + 1, sizeof(*curve));
	struct util_curve *pool = curve ? &curve[lives] : NULL;
	struct util_mud mud;

	if (!curve)
		return;
	for (size_t i = 0; i < lives; i++)
		if (util_curve_from_pauses(&curve[i], pause[i], pauses[i], life[i].begin,
					   life[i].end))
			goto free_curves;
	if (util_curve_pool(pool, curve, lives) || pool->count < 2)
		goto free_curves;
	r->overall = util_overall(pool);
	r->worst_overall = 1;
	for (size_t i = 0; i < lives; i++)
		r->worst_overall = fmin(r->worst_overall, util_overall(&curve[i]));
	for (int w = 0; w < RUN_WINDOWS; w++) {
		/* A window longer than the run adds nothing to the overall utilisation. */
		if (run_window_ns[w] > pool->step[pool->count - 1].at - pool->step[0].at)
			break;
		r->minmu[w] = util_minmu(curve, lives, run_window_ns[w]);
		r->mmu[w] = util_mmu(pool, run_window_ns[w]);
		r->bmu[w] = util_bmu(pool, run_window_ns[w]);
		if (util_mud_init(&mud, pool, run_window_ns[w]))
			break;
		for (int q = 0; q < RUN_QUANTILES; q++)
			r->mud[w][q] = util_mud_quantile(&mud, run_mud_quantile[q]);
		util_mud_free(&mud);
	}
free_curves:
	for (size_t i = 0; i <= lives; i++)
		util_curve_free(&curve[i]);
	free(curve);
}
