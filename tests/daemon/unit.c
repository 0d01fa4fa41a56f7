// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: the pure parts of gchintd and gchintctl, linked unchanged: text, configuration,
 * netlink payloads, escapes, MinMU, statistics.
 */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../daemon/analysis/mmu.h"
#include "../../daemon/analysis/stats.h"
#include "../../daemon/analysis/verdict.h"
#include "../../daemon/common/escape.h"
#include "../../daemon/common/text.h"
#include "../../daemon/gchintctl/ctl.h"
#include "../../daemon/source/config.h"

static int tests, failed;

void unit_check(bool good, const char *name)
{
	tests++;
	failed += !good;
	printf("%sok %d unit %s\n", good ? "" : "not ", tests, name);
	fflush(stdout);
}

void unit_remove(const char *dir)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		printf("# %s is left\n", dir);
}

static void numbers_check(void)
{
	static const char *const bad_u64[] = {
		"", " ", "-1", "+1", "0x10", "1 2", "12a", "1.5", "18446744073709551616", "nan"
	};
	uint64_t u = 77;
	int64_t s = 77;
	bool good = true;

	for (size_t i = 0; i < sizeof(bad_u64) / sizeof(bad_u64[0]); i++)
		good = good && text_u64(bad_u64[i], &u) < 0 && u == 77;
	CHECK(good, "an invalid number is refused and leaves the result unchanged");
	CHECK(!text_u64(" 18446744073709551615\n", &u) && u == UINT64_MAX,
	      "the highest u64 is parsed");
	CHECK(!text_s64("-9223372036854775808", &s) && s == INT64_MIN, "the lowest s64 is parsed");
	CHECK(text_s64("9223372036854775808", &s) == -ERANGE, "beyond s64 is -ERANGE");
	CHECK(!text_fixed("-0.000030518", 9, &s) && s == -30518,
	      "a negative fixed-point number is parsed");
	CHECK(!text_fixed("3.1e-05", 9, &s) && s == 31000,
	      "a fixed-point number with an exponent is parsed");
	CHECK(text_fixed("nan", 9, &s) && text_fixed("0x1p3", 9, &s) && text_fixed("1e300", 9, &s),
	      "fixed point refuses nan, hex and overflow");
	CHECK(!text_size("64M", &u) && u == 64ull << 20, "a size is parsed");
	CHECK(text_size("64X", &u) && text_size("M", &u) && text_size("18014398509481984K", &u),
	      "invalid sizes are refused");
}

static void record_count(void *data, uint64_t a, uint64_t b)
{
	uint64_t *sum = data;

	sum[0]++;
	sum[1] += a * b;
}

static void lists_check(void)
{
	struct text_freq f = { 0 };
	uint64_t sum[2] = { 0 }, lost = 0;
	uint8_t set[8];

	CHECK(text_cpulist("0-2,5\n", set, 8) == 4 && set[0] && set[2] && !set[3] && set[5],
	      "a CPU list is parsed");
	CHECK(text_cpulist("0-9", set, 8) == -ERANGE && text_cpulist("3-1", set, 8) == -EINVAL &&
		      text_cpulist("1,,2", set, 8) == -EINVAL &&
		      text_cpulist("a", set, 8) == -EINVAL,
	      "invalid CPU lists are refused");
	CHECK(text_cpulist("", set, 8) == 0, "an empty CPU list is parsed");
	CHECK(!text_pairs("396000 12\n792000 34\n", record_count, sum) && sum[0] == 2 &&
		      sum[1] == 396000 * 12 + 792000 * 34,
	      "time_in_state is summed");
	CHECK(text_pairs("396000\n", record_count, sum) == -EINVAL &&
		      text_pairs("1 2 3\n", record_count, sum) == -EINVAL,
	      "invalid pairs are refused");
	CHECK(text_trace("  kworker/0:1-12  [000] d.h1   12.345678: cpu_frequency: state=792000 "
			 "cpu_id=1",
			 &f, &lost) == 1 &&
		      f.t_ns == 12345678000ull && f.khz == 792000 && f.cpu == 1,
	      "a cpu_frequency line is parsed to the microsecond");
	CHECK(text_trace("a: b-3 [001] .... 7.000000001: cpu_frequency: state=1 cpu_id=0", &f,
			 &lost) == 1 &&
		      f.t_ns == 7000000001ull,
	      "a task name with a colon and a blank is skipped");
	CHECK(text_trace("CPU:1 [LOST 123 EVENTS]", &f, &lost) == 2 && lost == 123,
	      "lost events of the trace ring are parsed");
	CHECK(!text_trace("x [000] d 1.5: cpu_frequency: state=x", &f, &lost) &&
		      !text_trace(": cpu_frequency: state=1 cpu_id=1", &f, &lost),
	      "broken trace lines are refused");
}

static bool config_is_refused(const char *text, const char *want)
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

static void configuration_check(void)
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
	      "a complete configuration is parsed");
	config_defaults(&other);
	config.genl_phases = 0;
	CHECK(!config_parse(&config, "[genl]\nphases = all\n", 20, error, sizeof(error)) &&
		      config.genl_phases == other.genl_phases,
	      "all phases are the kernel's phases");
	CHECK(!config_parse(&config, " \t[ genl ] \n  ; no\n \n\tphases = none \n", 37, error,
			    sizeof(error)) &&
		      !config.genl_phases,
	      "blanks around values are ignored; phases may be none");
	CHECK(config_is_refused("[record\n", "line 1: '[record' is not a section: write [name]") &&
		      config_is_refused("[record] x\n", "line 1: '[record] x' is not a section"),
	      "a malformed section is refused");
	CHECK(config_is_refused("[a-name-that-is-longer-than-any-section-of-this-file-ever-was]\n",
				"line 1: no section "),
	      "a section name that is too long is refused");
	memset(error, 'x', sizeof(error));
	CHECK(config_parse(&config, "[record]\nfile = \0x\n", 19, error, sizeof(error)) &&
		      !strcmp(error, "line 2: a NUL byte: this is no text file"),
	      "a NUL byte is refused");
	CHECK(config_is_refused("[record]\n\nfiel = x\n", "line 3: no key 'fiel' in [record]"),
	      "an unknown key is refused");
	CHECK(config_is_refused("[recording]\n", "line 1: no section 'recording'"),
	      "an unknown section is refused");
	CHECK(config_is_refused("file = x\n", "line 1: 'file' is before any [section]"),
	      "a key outside of sections is refused");
	CHECK(config_is_refused("[hwmon]\nperiod_ms = 0\n",
				"line 2: period_ms = '0': out of range"),
	      "a value out of range is refused");
	CHECK(config_is_refused("[hwmon]\nperiod_ms = 5s\n", "line 2: period_ms = '5s': a number"),
	      "a number with a unit is refused");
	CHECK(config_is_refused("[record]\ndurable = maybe\n",
				"line 2: durable = 'maybe': yes or no"),
	      "an invalid boolean is refused");
	CHECK(config_is_refused("[genl]\nphases = marc\n", "line 2: phases: no phase 'marc'"),
	      "an unknown phase is refused");
	CHECK(config_is_refused("[record]\nlonely\n", "line 2: 'lonely': key = value"),
	      "a key without a value is refused");
}

static bool escape_gives(void (*fn)(FILE *f, const char *s), const char *in, const char *want)
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

static void escaping_check(void)
{
	CHECK(escape_gives(escape_json, "a\"b\\c\n\x01", "a\\\"b\\\\c\\u000a\\u0001"),
	      "JSON is escaped");
	CHECK(escape_gives(escape_json, "\xc3\xa9\xff\xe2\x82\xac\xed\xa0\x80",
			   "\xc3\xa9\\ufffd\xe2\x82\xac\\ufffd\\ufffd\\ufffd"),
	      "JSON with invalid UTF-8 is escaped");
	CHECK(escape_gives(escape_csv, "a,\"b\"", "\"a,\"\"b\"\"\""), "CSV is quoted");
	CHECK(escape_gives(escape_html, "<a href='x'>&", "&lt;a href=&#39;x&#39;&gt;&amp;"),
	      "HTML is escaped");
	CHECK(escape_gives(escape_c, "a\"\\\n", "a\\\"\\\\\\n"), "OpenMetrics is escaped");
}

static bool is_about(double a, double b, double by)
{
	if (fabs(a - b) <= by)
		return true;
	printf("# %.9g is not about %.9g\n", a, b);
	return false;
}

/* Every position of the window, one unit apart: slow and obviously right. */
static double mmu_by_hand(const struct recording_pause *p, size_t nr, uint64_t t1, uint64_t w)
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

static void utilisation_check(void)
{
	struct recording_pause p[24];
	bool good = true;
	unsigned int seed = 5;
	size_t n;

	for (int round = 0; round < 200 && good; round++) {
		n = 1 + (size_t)rand_r(&seed) % 24;
		for (size_t i = 0; i < n; i++) {
			p[i].t0 = (i ? p[i - 1].t1 : 0) + (uint64_t)rand_r(&seed) % 16;
			p[i].t1 = p[i].t0 + (uint64_t)rand_r(&seed) % 5;
		}
		for (uint64_t w = 1; w <= 500; w += 37)
			good = good &&
			       is_about(mmu(p, n, 0, 500, w), mmu_by_hand(p, n, 500, w), 1e-9);
	}
	CHECK(good, "MinMU equals a search over every window, 200 random runs");
	p[0] = (struct recording_pause){ 100, 110, 1 };
	CHECK(mmu(p, 1, 0, 1000, 10) == 0 && is_about(mmu(p, 1, 0, 1000, 20), 0.5, 1e-9),
	      "a window of the pause's length has no mutator time");
	CHECK(mmu(p, 0, 0, 1000, 10) == 1, "without pauses all time is the mutators'");
}

/* Of a run of some hours: a quadratic algorithm takes minutes of CPU time. */
static void utilisation_of_many(void)
{
	const struct rlimit limit = { 60, 60 };
	const size_t n = 200000;
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct recording_pause *p = malloc(n * sizeof(*p));
		double least = 1;

		setrlimit(RLIMIT_CPU, &limit);
		for (size_t i = 0; p && i < n; i++)
			p[i] = (struct recording_pause){ i * 1000, i * 1000 + 100, 1 };
		for (uint64_t w = 1000; p && w < n * 1000; w += w / 16)
			least = fmin(least, mmu(p, n, 0, n * 1000, w));
		free(p);
		_exit(!(p && is_about(least, 0.82, 0.03)));
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	      "MinMU of 200,000 pauses and 130 windows takes under a minute of CPU time");
}

static double gauss_next(unsigned int *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)rand_r(seed) / RAND_MAX;
	return sum;
}

/* Of 1000 comparisons of runs that differ by @change, with 2 % noise: how many report it. */
static int significant_of(size_t n, double change, unsigned int seed)
{
	double a[VERDICT_RUNS], b[VERDICT_RUNS];
	struct verdict v;
	int nr = 0;

	for (int round = 0; round < 1000; round++) {
		for (size_t i = 0; i < n; i++) {
			a[i] = 10 * (1 + 0.02 * gauss_next(&seed));
			b[i] = 10 * (1 + change) * (1 + 0.02 * gauss_next(&seed));
		}
		verdict_of(a, n, b, n, &v);
		nr += v.significant && (v.change > 0) == (change > 0);
		nr += v.significant && change == 0 && v.change <= 0;
	}
	return nr;
}

/* What is compared is what is shown: an outlier moves neither. */
static bool change_is_of_medians(void)
{
	static const double base[] = { 80, 81, 82, 79, 83 }, other[] = { 50, 51, 49, 48, 400 };
	struct verdict v;

	verdict_of(base, 5, other, 5, &v);
	return is_about(v.change, v.median[1] / v.median[0] - 1, 1e-9) && v.low < v.change &&
	       v.change < v.high;
}

static bool verdict_says(const double *a, size_t na, const double *b, size_t nb, const char *want)
{
	struct verdict v;
	char words[256];

	verdict_of(a, na, b, nb, &v);
	verdict_words(&v, words, sizeof(words));
	if (!strcmp(words, want))
		return true;
	printf("# '%s', not '%s'\n", words, want);
	return false;
}

static void statistics_check(void)
{
	static const double ten[] = { 9.8, 10.2, 10.0, 9.9, 10.1 };
	static const double eight[] = { 7.84, 8.16, 8.0, 7.92, 8.08 };
	static const double wild[] = { 20, 3, 400 }, zero[] = { 0, 0, 0 }, some[] = { 0, 1, 2 };
	static const double far[] = { 100, 200, 450 };
	static const double up[] = { 10, 30, 90 }, down[] = { 10, 3.3, 1.1 };
	static const double even[] = { 5, 5, 5 }, hardly[] = { 5.0002, 5.0002, 5.0002 };
	struct verdict v;
	int few, many;

	CHECK(is_about(stats_t95(4), 2.776, 1e-9) && is_about(stats_t95(60), 2.0003, 0.002) &&
		      is_about(stats_t95(1000), 1.962, 0.002),
	      "Student's t is right, also beyond the table");
	verdict_of(ten, 5, eight, 5, &v);
	/*
	 * Logarithms: sd 0.01582 and 0.01582, se of the medians 0.012007, t(8) = 2.306: -20 % by
	 * +-2.8 %.
	 */
	CHECK(v.significant && is_about(v.change, -0.2, 1e-4) &&
		      is_about(v.low, 0.8 * exp(-0.02769) - 1, 1e-3) &&
		      is_about(v.high, 0.8 * exp(0.02769) - 1, 1e-3) && !v.resampled &&
		      !strcmp(verdict_judgement(&v, -1), "better") &&
		      !strcmp(verdict_judgement(&v, 1), "worse") &&
		      !strcmp(verdict_judgement(&v, 0), ""),
	      "a fifth less is reported with Welch's interval");
	CHECK(is_about(v.median[0], 10, 1e-9) && v.min[1] == 7.84 && v.max[1] == 8.16,
	      "the median and extremes are reported");
	CHECK(change_is_of_medians(),
	      "the change is that of the medians shown, within its interval");
	CHECK(verdict_says(ten, 5, eight, 5, "20 % less (18 to 22 %)"),
	      "the result is reported in words");
	CHECK(verdict_says(ten, 3, wild, 3,
			   "no clear difference; even 1000 runs of each would not show one of 5 %"),
	      "wild values give no meaningless number");
	CHECK(verdict_says(
		      ten, 3, up, 3,
		      "no clear difference; even 1000 runs of each would not show one of 5 %") &&
		      verdict_says(ten, 3, down, 3,
				   "no clear difference; even 1000 runs of each would not show one "
				   "of 5 %"),
	      "a range with one meaningless end is shortened");
	CHECK(verdict_says(ten, 1, eight, 5, "18 % less (a single run)") &&
		      verdict_says(zero, 3, some, 3, "from 0 to 1 (0 to 2)") &&
		      verdict_says(zero, 3, zero, 3, "0 in all runs") &&
		      verdict_says(zero, 1, zero, 1, "0 in all runs") &&
		      verdict_says(ten, 5, eight, 0, "not known of these runs"),
	      "an unknown result is reported as unknown");
	verdict_of(some, 3, ten, 3, &v);
	CHECK(v.known && v.significant && v.change > 8,
	      "a base with a 0 has no logarithm but a mean");
	CHECK(verdict_says(ten, 3, far, 3, "20 times as much (at least 2.3 times as much)"),
	      "an upper bound without meaning is left out");
	CHECK(verdict_says(even, 3, even, 3, "the same, within 0.1 %") &&
		      verdict_says(even, 3, hardly, 3, "the same, within 0.1 %"),
	      "equal values have one bound");
	verdict_of(even, 3, hardly, 3, &v);
	CHECK(v.significant && v.change > 0 && !strcmp(verdict_judgement(&v, -1), ""),
	      "equal values are neither better nor worse");
	verdict_of(ten, 5, ten, 5, &v);
	CHECK(!v.significant && v.change == 0 && !strcmp(verdict_judgement(&v, -1), ""),
	      "the same runs do not differ");
	/* False positives are 5 %, however few the runs; 1000 tries are accurate to 2 %. */
	few = significant_of(3, 0, 5);
	many = significant_of(9, 0, 6);
	printf("# significant without a difference: %d of 1000 from 3 runs, %d from 9\n", few,
	       many);
	CHECK(few < 70 && many < 80 && many > 20,
	      "a difference is rarely reported where there is none");
	/* 2 (1.6 %)^2 1.57 (1.96 + 0.84)^2 / (4.9 %)^2 = 2.6, and one more; with 2 %: 4.1. */
	verdict_of(ten, 5, ten, 5, &v);
	few = significant_of(6, 0.05, 7);
	printf("# 5 %% told by 6 runs of each at 2 %% of noise: %d of 1000\n", few);
	CHECK(v.wanted == 4 && few > 700 && few < 950,
	      "the suggested number of runs finds 5 % four times out of five");
	many = significant_of(9, 0.05, 8);
	CHECK(many > 970, "more runs find it nearly always");
	/* Conclusions from the same statistics. */
	unit_measure();
}

typedef void part(void);

/*
 * The tracker remembers the names of threads by their numbers modulo 1024, and threads of the tests
 * have low ones: the number of this process must not be like one of them.
 */
static void process_choose(void)
{
	enum {
		LOW = 100,
		AGAIN = 77
	};
	int status = AGAIN << 8;

	while (getpid() % 1024 < LOW && WIFEXITED(status) && WEXITSTATUS(status) == AGAIN) {
		const pid_t child = fork();

		if (!child && getpid() % 1024 < LOW)
			_exit(AGAIN);
		if (!child)
			return;
		if (child < 0 || waitpid(child, &status, 0) != child)
			exit(1);
	}
	if (status != AGAIN << 8)
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {
		numbers_check,	  lists_check,	     configuration_check, escaping_check,
		unit_calibration, unit_capture,	     unit_child,	  unit_config,
		unit_context,	  unit_counter,	     unit_cpus,		  unit_endpoint,
		unit_genl,	  unit_go,	     unit_hotplug,	  unit_hotspots,
		unit_jitmap,	  unit_library,	     unit_lock,		  unit_loop,
		unit_maps,	  unit_memory,	     unit_message,	  unit_names,
		unit_overlap,	  unit_pauses,	     unit_perf,		  unit_power,
		unit_probes,	  unit_rail,	     unit_resolve,	  unit_roles,
		unit_scarce,	  unit_screen,	     unit_stacks,	  unit_store,
		unit_symbols,	  unit_thermal,	     unit_tracker,	  unit_tunnel,
		unit_writer,	  utilisation_check, utilisation_of_many, statistics_check,
		unit_energy,	  unit_estimate,     unit_findings,	  unit_advice,
		unit_service,	  unit_hsperf,
	};

	process_choose();
	if (argc == 3)
		return !unit_print(argv[1], argv[2]);
	/* They take longer than all others. */
	if (argc == 2 && !strcmp(argv[1], "commands"))
		unit_commands();
	for (size_t i = 0; argc == 1 && i < sizeof(parts) / sizeof(parts[0]); i++)
		parts[i]();
	printf("1..%d\n", tests);
	return failed != 0;
}
