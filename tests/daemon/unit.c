// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: the pure parts of gchintd and gchintctl, linked as they are:
 * text, configuration, netlink payloads, escapes, MinMU, statistics, energy.
 */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/common/escape.h"
#include "../../daemon/common/text.h"
#include "../../daemon/gchintctl/ctl.h"
#include "../../daemon/gchintctl/energy.h"
#include "../../daemon/gchintctl/mmu.h"
#include "../../daemon/gchintctl/stats.h"
#include "../../daemon/gchintd/config.h"

static int tests, failed;

void unit_check(bool good, const char *name)
{
	tests++;
	failed += !good;
	printf("%sok %d unit %s\n", good ? "" : "not ", tests, name);
	fflush(stdout);
}

/* What main.c gives the commands. */
void ctl_error(const char *fmt, ...)
{
	(void)fmt;
}

int ctl_usage(const char *command)
{
	(void)command;
	return CTL_USAGE;
}

static void numbers(void)
{
	static const char *const bad_u64[] = {
		"", " ", "-1", "+1", "0x10", "1 2", "12a", "1.5", "18446744073709551616", "nan"
	};
	uint64_t u = 77;
	int64_t s = 77;
	bool good = true;

	for (size_t i = 0; i < sizeof(bad_u64) / sizeof(bad_u64[0]); i++)
		good = good && text_u64(bad_u64[i], &u) < 0 && u == 77;
	CHECK(good, "a number that is none is refused and leaves the result alone");
	CHECK(!text_u64(" 18446744073709551615\n", &u) && u == UINT64_MAX, "the highest u64");
	CHECK(!text_s64("-9223372036854775808", &s) && s == INT64_MIN, "the lowest s64");
	CHECK(text_s64("9223372036854775808", &s) == -ERANGE, "beyond s64 is -ERANGE");
	CHECK(!text_fixed("-0.000030518", 9, &s) && s == -30518, "fixed point, negative");
	CHECK(!text_fixed("3.1e-05", 9, &s) && s == 31000, "fixed point, exponent");
	CHECK(text_fixed("nan", 9, &s) && text_fixed("0x1p3", 9, &s) && text_fixed("1e300", 9, &s),
	      "fixed point refuses nan, hex and the too big");
	CHECK(!text_size("64M", &u) && u == 64ull << 20, "a size");
	CHECK(text_size("64X", &u) && text_size("M", &u) && text_size("18014398509481984K", &u),
	      "sizes that are none");
}

static void count(void *data, uint64_t a, uint64_t b)
{
	uint64_t *sum = data;

	sum[0]++;
	sum[1] += a * b;
}

static void lists(void)
{
	struct text_freq f = { 0 };
	uint64_t sum[2] = { 0 }, lost = 0;
	uint8_t set[8];

	CHECK(text_cpulist("0-2,5\n", set, 8) == 4 && set[0] && set[2] && !set[3] && set[5],
	      "a CPU list");
	CHECK(text_cpulist("0-9", set, 8) == -ERANGE && text_cpulist("3-1", set, 8) == -EINVAL &&
		      text_cpulist("1,,2", set, 8) == -EINVAL &&
		      text_cpulist("a", set, 8) == -EINVAL,
	      "CPU lists that are none");
	CHECK(text_cpulist("", set, 8) == 0, "an empty CPU list");
	CHECK(!text_pairs("396000 12\n792000 34\n", count, sum) && sum[0] == 2 &&
		      sum[1] == 396000 * 12 + 792000 * 34,
	      "time_in_state");
	CHECK(text_pairs("396000\n", count, sum) == -EINVAL &&
		      text_pairs("1 2 3\n", count, sum) == -EINVAL,
	      "pairs that are none");
	CHECK(text_trace("  kworker/0:1-12  [000] d.h1   12.345678: cpu_frequency: state=792000 "
			 "cpu_id=1",
			 &f, &lost) == 1 &&
		      f.t_ns == 12345678000ull && f.khz == 792000 && f.cpu == 1,
	      "a cpu_frequency line, time to the microsecond");
	CHECK(text_trace("a: b-3 [001] .... 7.000000001: cpu_frequency: state=1 cpu_id=0", &f,
			 &lost) == 1 &&
		      f.t_ns == 7000000001ull,
	      "a task name with a colon and a blank");
	CHECK(text_trace("CPU:1 [LOST 123 EVENTS]", &f, &lost) == 2 && lost == 123,
	      "lost events of the trace ring");
	CHECK(!text_trace("x [000] d 1.5: cpu_frequency: state=x", &f, &lost) &&
		      !text_trace(": cpu_frequency: state=1 cpu_id=1", &f, &lost),
	      "broken trace lines");
}

static bool refused(const char *text, const char *want)
{
	struct config config;
	char error[256] = "";

	config_defaults(&config);
	if (!config_parse(&config, text, strlen(text), error, sizeof(error)))
		return false;
	if (!strncmp(error, want, strlen(want)))
		return true;
	printf("# said '%s', not '%s'\n", error, want);
	return false;
}

static void configuration(void)
{
	static const char text[] = "# comment\n[record]\nfile = /tmp/x y.db\nmax_size = 64M\n"
				   "durable = no\n[hwmon]\nperiod_ms = 7\nmatch = adm*\n[perf]\n"
				   "enabled = yes\n[genl]\nphases = mark, sweep";
	struct config config, other;
	char error[256];

	config_defaults(&config);
	CHECK(!config_parse(&config, text, strlen(text), error, sizeof(error)) &&
		      !strcmp(config.record_file, "/tmp/x y.db") && config.max_size == 64 << 20 &&
		      !config.durable && config.source[SOURCE_hwmon].period_ms == 7 &&
		      !strcmp(config.source[SOURCE_hwmon].match, "adm*") &&
		      config.source[SOURCE_perf].enabled &&
		      config.genl_phases == (1u << 4 | 1u << 7),
	      "a whole configuration");
	config_defaults(&other);
	config.genl_phases = 0;
	CHECK(!config_parse(&config, "[genl]\nphases = all\n", 20, error, sizeof(error)) &&
		      config.genl_phases == other.genl_phases,
	      "all phases are those that the kernel knows");
	CHECK(refused("[record]\n\nfiel = x\n", "line 3: no key 'fiel' in [record]"),
	      "unknown key");
	CHECK(refused("[recording]\n", "line 1: no section 'recording'"), "unknown section");
	CHECK(refused("file = x\n", "line 1: 'file' stands before any [section]"), "no section");
	CHECK(refused("[hwmon]\nperiod_ms = 0\n", "line 2: period_ms = '0': out of range"),
	      "out of range");
	CHECK(refused("[hwmon]\nperiod_ms = 5s\n", "line 2: period_ms = '5s': a number"),
	      "no number");
	CHECK(refused("[record]\ndurable = maybe\n", "line 2: durable = 'maybe': yes or no"),
	      "no truth");
	CHECK(refused("[genl]\nphases = marc\n", "line 2: phases: no phase 'marc'"), "no phase");
	CHECK(refused("[record]\nlonely\n", "line 2: 'lonely': key = value"), "no value");
}

static bool escapes(void (*fn)(FILE *f, const char *s), const char *in, const char *want)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);
	bool good;

	fn(f, in);
	fclose(f);
	good = !strcmp(out, want);
	if (!good)
		printf("# '%s' became '%s', not '%s'\n", in, out, want);
	free(out);
	return good;
}

static void escaping(void)
{
	CHECK(escapes(escape_json, "a\"b\\c\n\x01", "a\\\"b\\\\c\\u000a\\u0001"), "JSON");
	CHECK(escapes(escape_json, "\xc3\xa9\xff\xe2\x82\xac\xed\xa0\x80",
		      "\xc3\xa9\\ufffd\xe2\x82\xac\\ufffd\\ufffd\\ufffd"),
	      "JSON, bytes that are no UTF-8");
	CHECK(escapes(escape_csv, "a,\"b\"", "\"a,\"\"b\"\"\""), "CSV");
	CHECK(escapes(escape_html, "<a href='x'>&", "&lt;a href=&#39;x&#39;&gt;&amp;"), "HTML");
	CHECK(escapes(escape_c, "a\"\\\n", "a\\\"\\\\\\n"), "OpenMetrics");
}

static bool about(double a, double b, double by)
{
	if (fabs(a - b) <= by)
		return true;
	printf("# %.9g is not about %.9g\n", a, b);
	return false;
}

/* Every position of the window, one unit apart: slow and plainly right. */
static double mmu_by_hand(const struct mmu_pause *p, size_t nr, uint64_t t1, uint64_t w)
{
	uint64_t worst = 0;

	for (uint64_t from = 0; from + w <= t1; from++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < nr; i++) {
			uint64_t a = p[i].t0 > from ? p[i].t0 : from;
			uint64_t b = p[i].t1 < from + w ? p[i].t1 : from + w;

			sum += b > a ? b - a : 0;
		}
		worst = sum > worst ? sum : worst;
	}
	return 1 - (double)worst / (double)w;
}

static void utilisation(void)
{
	struct mmu_pause p[24];
	bool good = true;
	unsigned int seed = 5;
	size_t n;

	for (int round = 0; round < 200 && good; round++) {
		n = 1 + (size_t)rand_r(&seed) % 24;
		for (size_t i = 0; i < n; i++) {
			p[i].t0 = (uint64_t)rand_r(&seed) % 480;
			p[i].t1 = p[i].t0 + (uint64_t)rand_r(&seed) % 20;
		}
		n = mmu_merge(p, n);
		for (uint64_t w = 1; w <= 500; w += 37)
			good = good && about(mmu(p, n, 0, 500, w), mmu_by_hand(p, n, 500, w), 1e-9);
	}
	CHECK(good, "MinMU equals a search over every window, 200 random runs");
	p[0] = (struct mmu_pause){ 100, 110 };
	CHECK(mmu(p, 1, 0, 1000, 10) == 0 && about(mmu(p, 1, 0, 1000, 20), 0.5, 1e-9),
	      "a window as long as the pause has no mutator in it");
	CHECK(mmu(p, 0, 0, 1000, 10) == 1, "no pause: all is the mutators'");
}

static void statistics(void)
{
	const double v[] = { 9.8, 10.2, 10.0, 9.9, 10.1 };
	struct stats s;

	stats_of(v, 5, &s);
	/* sd = 0.158114, t(4) = 2.776: 0.19629 */
	CHECK(about(s.mean, 10, 1e-12) && about(s.half, 0.196295, 1e-5), "a confidence interval");
	stats_of(v, 1, &s);
	CHECK(s.mean == 9.8 && isnan(s.half), "one run has no interval");
	stats_of(v, 0, &s);
	CHECK(s.n == 0 && isnan(s.mean), "no run has no mean");
	CHECK(about(stats_t95(60), 2.0003, 0.002) && about(stats_t95(1000), 1.962, 0.002),
	      "t beyond the table");
}

static void energy(void)
{
	static const uint16_t mark = GCHINT_PHASE_MARK * CLASS_NR + CLASS_CONCURRENT;
	const struct energy_segment seg[] = {
		{ 0, 1000000000, { 0 }, 0 },
		{ 1000000000, 2000000000, { mark }, 1 },
		{ 2000000000, 4000000000, { 0 }, 0 },
	};
	/* 1 W outside, 3 W in the phase; samples on the edges and between them. */
	struct energy_sample counter[] = {
		{ 0, 0, true },
		{ 1000000000, 1000000, true },
		{ 2000000000, 4000000, true },
		{ 3000000000, 5000000, true },
		{ 4000000000, 6000000, true },
	};
	struct energy e;

	energy_split(counter, 5, true, seg, 3, &e);
	CHECK(about(e.total, 6, 1e-9) && about(e.part[mark].joules, 3, 1e-9) &&
		      about(e.part[0].joules, 3, 1e-9) && about(e.part[mark].error, 0, 1e-9),
	      "a counter whose samples meet the edges: exact, no uncertainty");
	/* Only two samples: 6 J over 4 s, of which the phase is a quarter. */
	counter[1] = counter[4];
	energy_split(counter, 2, true, seg, 3, &e);
	CHECK(about(e.part[mark].joules, 1.5, 1e-9), "between two samples by time");
	counter[1] = (struct energy_sample){ 1500000000, 2500000, true };
	counter[2] = (struct energy_sample){ 4000000000, 6000000, true };
	energy_split(counter, 3, true, seg, 3, &e);
	CHECK(e.part[mark].error > 0 && fabs(e.part[mark].joules - 3) <= 3,
	      "edges between samples: an uncertainty is told");
	counter[1].known = false;
	energy_split(counter, 3, true, seg, 3, &e);
	CHECK(e.known_ns == 0 && e.part[mark].ns == 0 && e.part[mark].unknown_ns == 1000000000,
	      "not known stays not known, for the phase too");
	counter[1] = (struct energy_sample){ 1500000000, 9000000, true };
	counter[2] = (struct energy_sample){ 4000000000, 100, true };
	energy_split(counter, 3, true, seg, 3, &e);
	CHECK(e.known_ns == 1500000000, "a counter that was reset tells nothing of that stretch");
}

/* Truth inside of the range told, and parts that add up, for random phases and power. */
static void energy_truth(void)
{
	static const uint16_t mark = GCHINT_PHASE_MARK * CLASS_NR + CLASS_CONCURRENT;
	unsigned int seed = 11;
	bool inside = true, sum = true;

	for (int round = 0; round < 100; round++) {
		struct energy_segment seg[64];
		struct energy_sample s[128];
		uint64_t t = 0, period = 20000000 + (uint64_t)rand_r(&seed) % 80000000;
		double truth = 0, all = 0;
		size_t n = 0, samples = 0;
		struct energy e;

		for (; n < 64; n++) {
			uint64_t len = 5000000 + (uint64_t)rand_r(&seed) % 200000000;

			seg[n] = (struct energy_segment){ t, t + len, { mark }, n % 2 };
			t += len;
		}
		for (uint64_t at = 0; at <= t && samples < 128; at += period, samples++) {
			double joules = 0;

			for (size_t i = 0; i < n && seg[i].t0 < at; i++)
				joules += (double)((seg[i].t1 < at ? seg[i].t1 : at) - seg[i].t0) *
					  1e-9 * (seg[i].nr ? 3 : 1);
			s[samples] = (struct energy_sample){ at, llround(joules * 1e6), true };
		}
		for (size_t i = 0; i < n; i++) {
			uint64_t last = s[samples - 1].t;

			if (seg[i].nr && seg[i].t0 < last)
				truth += (double)((seg[i].t1 < last ? seg[i].t1 : last) -
						  seg[i].t0) *
					 1e-9 * 3;
		}
		energy_split(s, samples, true, seg, n, &e);
		for (unsigned int g = 0; g < RUN_GROUPS; g++)
			all += e.part[g].joules;
		sum = sum && about(all, e.total, 1e-6);
		/* The extremes seen are at most the true 1 and 3 W: a little slack. */
		if (e.max_w > 2.99 && e.min_w < 1.01)
			inside = inside &&
				 fabs(e.part[mark].joules - truth) <= e.part[mark].error + 1e-3;
	}
	CHECK(sum, "the parts of a rail's energy add up to the whole");
	CHECK(inside, "the truth lies in the range that is told");
}

int main(void)
{
	numbers();
	lists();
	configuration();
	escaping();
	unit_message();
	unit_writer();
	utilisation();
	statistics();
	energy();
	energy_truth();
	printf("1..%d\n", tests);
	return failed != 0;
}
