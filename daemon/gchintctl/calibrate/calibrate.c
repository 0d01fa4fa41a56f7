// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures the power of each core type at each frequency; loads such figures into the module. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/clock.h"
#include "../../common/module.h"
#include "../../common/text.h"
#include "../ctl.h"
#include "../launch/child.h"
#include "../machine/kernel.h"
#include "calibration.h"
#include "core-type.h"
#include "estimate.h"
#include "meter.h"
#include "workload.h"

#define SAMPLE_MS   5
#define REPEATS_MAX 50
#define CHASES	    3
#define FILE_MAX    (1 << 20)

static const char usage[] =
	"usage: gchintctl calibrate [-o FILE] [--rail NAME]... [--repeats N] [--window MS]\n"
	"                           [--settle MS]\n"
	"       gchintctl calibrate --load FILE | --forget\n"
	"Measures the power of this machine: idle, with one busy CPU, and with all CPUs of a\n"
	"core type busy, at each of their frequencies; and how long a load waits for memory. Each\n"
	"figure has an error. It needs root, a rail that measures power (RAPL, hwmon, IIO) and an\n"
	"otherwise idle machine. It restores the frequency limits at the end.\n"
	"\n"
	"  -F, --forget       make the module forget the calibration that it was given\n"
	"  -l, --load FILE    load a calibration into the module, all of it or nothing\n"
	"  -o, --output FILE  the calibration file (default: standard output)\n"
	"  -r, --rail NAME    the rail of the CPUs, if the machine has several; several rails are\n"
	"                     added up\n"
	"  -n, --repeats N    measurements of each figure (default: 5)\n"
	"  -s, --settle MS    delay of the rail (default: 50)\n"
	"  -w, --window MS    length of each measurement (default: 200)\n";

struct options {
	const char *output, *load;
	const char *rail[METER_RAILS];
	unsigned int rails;
	bool forget;
	uint64_t repeats, window_ms, settle_ms;
};

/* Busy CPUs of the core type under measurement: none, one, all. */
enum {
	IDLE,
	ONE,
	ALL,
	STATES
};

/* Readings of a core type at one frequency: power in uW, and the number of busy CPUs. */
struct cell {
	double uw[STATES][REPEATS_MAX], busy[STATES][REPEATS_MAX];
	double resolution, chase_ns;
};

struct work {
	const struct options *o;
	struct core_types core_types;
	struct meter meter;
	struct calibration c;
	char error[256];
	double taken_by_others; /* highest share of the busy CPUs' time */
};

static void sleep_ms(uint64_t ms)
{
	const struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };

	nanosleep(&t, NULL);
}

/* Reads the rails for one window while these CPUs are busy. Returns 0, -EINTR or -errno. */
static int window_measure(struct work *w, const unsigned int *cpu, size_t nr, double *uw,
			  double *busy, double *resolution)
{
	struct burn *burn = nr ? burn_begin(cpu, nr) : NULL;
	uint64_t ran = 0, from = 0, end, to;
	double share;
	int ret;

	if (nr && !burn)
		return -ENOMEM;
	sleep_ms(w->o->settle_ms);
	ret = meter_begin(&w->meter);
	from = clock_now();
	ran = burn_ns(burn);
	end = from + w->o->window_ms * NSEC_PER_MSEC;
	while (!ret && !child_caught && clock_now() < end) {
		sleep_ms(SAMPLE_MS);
		ret = meter_sample(&w->meter);
	}
	if (!ret)
		ret = meter_end(&w->meter, uw, resolution);
	to = clock_now();
	*busy = (double)(burn_ns(burn) - ran) / (double)(to - from);
	burn_end(burn);
	share = nr ? 1 - *busy / (double)nr : 0;
	if (share > w->taken_by_others)
		w->taken_by_others = share;
	return child_caught ? -EINTR : ret;
}

static int cell_measure(struct work *w, unsigned int type, uint64_t khz, struct chase *chase,
			struct cell *cell)
{
	unsigned int cpu[CORE_TYPE_CPUS];
	const size_t nr = core_type_cpus(&w->core_types, type, cpu, CORE_TYPE_CPUS);
	const size_t count[STATES] = { 0, 1, nr };
	double resolution;
	int ret = core_type_pin(&w->core_types, type, khz, w->error, sizeof(w->error));

	*cell = (struct cell){ .chase_ns = -1 };
	for (uint64_t r = 0; r < w->o->repeats && !ret; r++) {
		for (unsigned int s = IDLE; s < STATES && !ret; s++) {
			if (s == ALL && nr < 2)
				continue;
			ret = window_measure(w, cpu, count[s], &cell->uw[s][r], &cell->busy[s][r],
					     &resolution);
			cell->resolution = fmax(cell->resolution, resolution);
		}
	}
	for (unsigned int i = 0; i < CHASES && !ret && chase; i++) {
		const double ns = chase_run(chase, cpu[0]);

		if (ns > 0 && (cell->chase_ns < 0 || ns < cell->chase_ns))
			cell->chase_ns = ns;
	}
	if (ret && !w->error[0])
		snprintf(w->error, sizeof(w->error), "a rail cannot be read: %s", strerror(-ret));
	return ret;
}

/*
 * The power that one more busy CPU adds. Where all CPUs were measured too (@many), this is the
 * difference between all and one busy, which excludes the power that busy CPUs share; @awake
 * receives that shared power for each repeat. Otherwise it is the difference to idle.
 */
static struct figure cell_power(const struct options *o, const struct cell *cell, bool many,
				double *awake)
{
	double x[REPEATS_MAX];

	for (uint64_t r = 0; r < o->repeats; r++) {
		const double first = cell->uw[ONE][r] - cell->uw[IDLE][r];

		if (!many) {
			x[r] = first / cell->busy[ONE][r];
			continue;
		}
		x[r] = (cell->uw[ALL][r] - cell->uw[ONE][r]) /
		       (cell->busy[ALL][r] - cell->busy[ONE][r]);
		awake[r] = first - x[r] * cell->busy[ONE][r];
	}
	return estimate_mean(x, o->repeats, cell->resolution * M_SQRT2);
}

static void figure_set(struct calibration_figure *to, struct figure f)
{
	to->known = true;
	to->value = (uint32_t)fmin(fmax(round(f.value), 0), CALIBRATION_MAX);
	to->error = (uint32_t)fmin(ceil(f.error), CALIBRATION_MAX);
	/* A negative figure was replaced by 0: its error is at least what was cut off. */
	if (f.value < 0)
		to->error = (uint32_t)fmin(fmax(ceil(f.error), ceil(-f.value)), CALIBRATION_MAX);
}

/* A dependent load takes a + b/f; a does not depend on the frequency and is the memory's. */
static void policy_estimate_memory(struct calibration_policy *to, const struct core_type_policy *p,
				   const struct cell *cell)
{
	double x[CALIBRATION_OPPS], y[CALIBRATION_OPPS];
	struct figure f;
	size_t nr = 0;

	for (unsigned int i = 0; i < p->nr; i++) {
		if (cell[i].chase_ns < 0)
			continue;
		x[nr] = (double)p->khz[p->nr - 1] / (double)p->khz[i];
		y[nr++] = cell[i].chase_ns * 1000;
	}
	if (estimate_line(x, y, nr, &f) && f.value > f.error)
		figure_set(&to->memory, f);
}

static int policy_conclude(struct work *w, unsigned int type, const struct cell *cell,
			   struct calibration_policy *to)
{
	const struct core_type_policy *p = &w->core_types.policy[type];
	const struct options *o = w->o;
	static double awake[CALIBRATION_OPPS * REPEATS_MAX];
	struct figure f[CALIBRATION_OPPS];
	unsigned int cpu[2];
	const bool many = core_type_cpus(&w->core_types, type, cpu, 2) > 1;
	double resolution = 0;
	size_t falls;

	for (unsigned int i = 0; i < p->nr; i++) {
		f[i] = cell_power(o, &cell[i], many, awake + i * o->repeats);
		resolution = fmax(resolution, cell[i].resolution);
		if (!(f[i].value > f[i].error)) {
			snprintf(w->error, sizeof(w->error),
				 "%s: a busy CPU at %" PRIu64
				 " kHz draws %.1f +- %.1f mW: the rail does not supply the CPUs, "
				 "or --window is too short",
				 p->name, p->khz[i], f[i].value / 1e3, f[i].error / 1e3);
			return -ERANGE;
		}
	}
	falls = estimate_rise(f, p->nr);
	if (falls < p->nr) {
		snprintf(w->error, sizeof(w->error),
			 "%s: %" PRIu64 " kHz draws less than %" PRIu64
			 " kHz: the machine was not idle, or the rail lags; raise --settle",
			 p->name, p->khz[falls], p->khz[falls - 1]);
		return -ERANGE;
	}
	*to = (struct calibration_policy){ .nr = p->nr };
	for (unsigned int i = 0; i < p->nr; i++) {
		to->opp[i].khz = (uint32_t)p->khz[i];
		figure_set(&to->opp[i].power, f[i]);
	}
	if (many)
		figure_set(&to->awake, estimate_mean(awake, p->nr * o->repeats, resolution));
	policy_estimate_memory(to, p, cell);
	return 0;
}

static void cell_report(const struct work *w, unsigned int type, unsigned int i,
			const struct cell *cell)
{
	const struct core_type_policy *p = &w->core_types.policy[type];
	double sum = 0;

	for (uint64_t r = 0; r < w->o->repeats; r++)
		sum += cell->uw[ONE][r] - cell->uw[IDLE][r];
	fprintf(stderr, "%s: %u of %u, %" PRIu64 " kHz: one busy CPU adds %.1f mW\n", p->name,
		i + 1, p->nr, p->khz[i], sum / (double)w->o->repeats / 1e3);
}

/* Measures one policy; all policies of the same core type receive its figures. */
static int calibrate_core_type(struct work *w, unsigned int type)
{
	const struct core_type_policy *p = &w->core_types.policy[type];
	struct cell *cell = calloc(p->nr, sizeof(*cell));
	struct chase *chase = chase_new(w->core_types.root, p->cpu);
	struct calibration_policy of;
	int ret = cell ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < p->nr && !ret; i++) {
		ret = cell_measure(w, type, p->khz[i], chase, &cell[i]);
		if (!ret)
			cell_report(w, type, i, &cell[i]);
	}
	if (!ret && !w->c.idle.known)
		figure_set(&w->c.idle,
			   estimate_mean(cell[0].uw[IDLE], w->o->repeats, cell[0].resolution));
	if (!ret)
		ret = policy_conclude(w, type, cell, &of);
	for (unsigned int i = 0; i < w->core_types.nr && !ret; i++) {
		if (w->core_types.policy[i].type != type)
			continue;
		w->c.policy[i] = of;
		w->c.policy[i].cpu = w->core_types.policy[i].cpu;
	}
	chase_free(chase);
	free(cell);
	return ret;
}

static int calibrate_machine(struct work *w)
{
	int ret = 0, back;

	w->c.nr = w->core_types.nr;
	w->c.policy = calloc(w->c.nr, sizeof(*w->c.policy));
	if (!w->c.policy)
		ret = -ENOMEM;
	for (unsigned int i = 0; i < w->core_types.nr && !ret; i++)
		if (w->core_types.policy[i].type == i)
			ret = calibrate_core_type(w, i);
	if (ret == -EINTR)
		snprintf(w->error, sizeof(w->error), "interrupted by a signal");
	if (ret)
		ctl_error("calibrate: %s", w->error[0] ? w->error : strerror(-ret));
	back = core_types_restore(&w->core_types, w->error, sizeof(w->error));
	if (back)
		ctl_error("calibrate: %s", w->error);
	return ret ? ret : back;
}

static int calibrate_write(const struct work *w, const char *path)
{
	FILE *f = path ? ctl_create(path) : stdout;

	if (!f)
		return CTL_FILE;
	for (unsigned int i = 0; i < w->meter.nr; i++)
		if (w->meter.rail[i].taken)
			fprintf(f, "# rail %s\n", w->meter.rail[i].name);
	fprintf(f, "# %" PRIu64 " windows of %" PRIu64 " ms each\n", w->o->repeats,
		w->o->window_ms);
	calibration_write(&w->c, f);
	return path ? ctl_commit(f, path) : CTL_OK;
}

static int rails_choose(struct work *w)
{
	char names[256] = "";
	size_t len = 0;

	if (!w->meter.nr) {
		if (w->meter.denied)
			ctl_error("calibrate: only root may read the %u rails that were found; run "
				  "it as root",
				  w->meter.denied);
		else
			ctl_error("calibrate: no rail measures power or energy (RAPL, hwmon, IIO); "
				  "bind the driver of the board's power monitor");
		return CTL_FAILED;
	}
	for (unsigned int i = 0; i < w->o->rails; i++) {
		if (!meter_take(&w->meter, w->o->rail[i])) {
			ctl_error(
				"calibrate: there is no rail %s; gchintctl status lists the rails",
				w->o->rail[i]);
			return CTL_USAGE;
		}
	}
	if (w->o->rails || meter_choose(&w->meter))
		return CTL_OK;
	for (unsigned int i = 0; i < w->meter.nr && len < sizeof(names) - 1; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s",
					w->meter.rail[i].name);
	ctl_error("calibrate: the machine has several rails; name those of the CPUs with --rail:%s",
		  names);
	return CTL_USAGE;
}

static int calibrate_run(const struct options *o)
{
	static struct work w;
	struct root root;
	sigset_t taken;
	int ret;

	w = (struct work){ .o = o };
	root_init(&root);
	ret = core_types_find(&w.core_types, &root, w.error, sizeof(w.error));
	if (ret) {
		ctl_error("calibrate: %s",
			  w.error[0] ?
				  w.error :
				  "this machine has no cpufreq policy; load its cpufreq driver");
		return CTL_FAILED;
	}
	meter_find(&w.meter, &root);
	ret = rails_choose(&w);
	if (!ret) {
		child_signals(&taken);
		ret = calibrate_machine(&w) ? CTL_FAILED : calibrate_write(&w, o->output);
		if (!ret && w.taken_by_others > .1)
			fprintf(stderr,
				"gchintctl: calibrate: other programs used up to %.0f %% of a busy "
				"CPU; an idle machine gives better figures\n",
				100 * w.taken_by_others);
	}
	meter_close(&w.meter);
	calibration_free(&w.c);
	return child_caught ? 128 + child_caught : ret;
}

static bool option_parse_number(const char *name, const char *text, uint64_t min, uint64_t max,
				uint64_t *value)
{
	if (!text_u64(text, value) && *value >= min && *value <= max)
		return true;
	ctl_error("calibrate: --%s takes a number from %" PRIu64 " to %" PRIu64 ", not %s", name,
		  min, max, text);
	return false;
}

static int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "forget", no_argument, NULL, 'F' },
		{ "help", no_argument, NULL, 'h' },
		{ "load", required_argument, NULL, 'l' },
		{ "output", required_argument, NULL, 'o' },
		{ "rail", required_argument, NULL, 'r' },
		{ "repeats", required_argument, NULL, 'n' },
		{ "settle", required_argument, NULL, 's' },
		{ "window", required_argument, NULL, 'w' },
		{ 0 },
	};
	bool good = true;
	int opt;

	while (good && (opt = getopt_long(argc, argv, "Fhl:o:r:n:s:w:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'F':
			o->forget = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return -1;
		case 'l':
			o->load = optarg;
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'r':
			if (o->rails == METER_RAILS)
				return CTL_USAGE;
			o->rail[o->rails++] = optarg;
			break;
		case 'n':
			good = option_parse_number("repeats", optarg, 2, REPEATS_MAX, &o->repeats);
			break;
		case 's':
			good = option_parse_number("settle", optarg, 0, 10000, &o->settle_ms);
			break;
		case 'w':
			good = option_parse_number("window", optarg, 10, 60000, &o->window_ms);
			break;
		default:
			return ctl_usage("calibrate");
		}
	}
	if (good && (optind < argc || (o->load && o->forget) ||
		     ((o->load || o->forget) && (o->output || o->rails)))) {
		ctl_error("calibrate: it takes no arguments, and --load FILE or --forget only "
			  "alone; see gchintctl calibrate --help");
		good = false;
	}
	return good ? CTL_OK : CTL_USAGE;
}

/* Returns the whole file, or NULL with errno. */
static char *file_read(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(FILE_MAX + 1) : NULL;

	if (text) {
		*size = fread(text, 1, FILE_MAX + 1, f);
		if (ferror(f) || *size > FILE_MAX) {
			errno = ferror(f) ? EIO : EFBIG;
			free(text);
			text = NULL;
		}
	}
	if (f) {
		const int error = errno;

		fclose(f);
		errno = error;
	}
	return text;
}

static const struct core_type_policy *policy_find(const struct core_types *k, uint32_t cpu)
{
	for (unsigned int i = 0; i < k->nr; i++)
		if (k->policy[i].cpu == cpu)
			return &k->policy[i];
	return NULL;
}

/*
 * Called for all policies before any is loaded, so that the calibration of another machine is
 * refused as a whole.
 */
static bool policy_matches_machine(const struct core_types *k, const struct calibration_policy *c,
				   const char *path)
{
	const struct core_type_policy *p = policy_find(k, c->cpu);
	bool same = p && (!p->listed || p->nr == c->nr);

	for (uint32_t i = 0; same && p->listed && i < c->nr; i++)
		same = p->khz[i] == c->opp[i].khz;
	if (same)
		return true;
	if (p)
		ctl_error("calibrate: %s: policy%" PRIu32 " has other frequencies on this machine",
			  path, c->cpu);
	else
		ctl_error("calibrate: %s: this machine has no policy%" PRIu32, path, c->cpu);
	return false;
}

static int refusal_report(uint32_t cpu, int ret, const char *why)
{
	char remedy[MODULE_REMEDY_SIZE];

	if (ret == -ENOENT)
		ctl_error("calibrate: the module is not loaded: %s",
			  module_remedy(remedy, sizeof(remedy)));
	else if (ret == -EOPNOTSUPP)
		ctl_error("calibrate: the loaded module is too old to take a calibration; load the "
			  "one of this version");
	else if (ret == -EPERM)
		ctl_error("calibrate: only root (CAP_NET_ADMIN) may load a calibration; run it as "
			  "root");
	else
		ctl_error("calibrate: policy%" PRIu32 ": the module refuses the calibration: %s",
			  cpu, *why ? why : strerror(-ret));
	return CTL_FAILED;
}

static int policy_load_opps(const struct calibration *c, const struct calibration_policy *p)
{
	struct kernel_opps opps = { .nr = p->nr,
				    .idle_known = c->idle.known,
				    .idle = c->idle.value };
	char why[256];
	int ret;

	for (uint32_t i = 0; i < p->nr; i++)
		opps.opp[i] = (struct kernel_opp){ p->opp[i].khz, p->opp[i].power.value };
	ret = kernel_give(p->cpu, &opps, why, sizeof(why));
	if (ret)
		return refusal_report(p->cpu, ret, why);
	printf("policy%" PRIu32 "  %" PRIu32 " frequencies\n", p->cpu, p->nr);
	return CTL_OK;
}

static int calibration_load_opps(const struct calibration *c, const char *path)
{
	static struct core_types core_types;
	struct root root;
	char error[256];
	int ret = CTL_OK;

	root_init(&root);
	if (core_types_find(&core_types, &root, error, sizeof(error))) {
		ctl_error("calibrate: %s",
			  error[0] ? error :
				     "this machine has no cpufreq policy; load its cpufreq driver");
		return CTL_FAILED;
	}
	for (uint32_t i = 0; i < c->nr; i++)
		if (!policy_matches_machine(&core_types, &c->policy[i], path))
			return CTL_FAILED;
	for (uint32_t i = 0; i < c->nr && !ret; i++)
		ret = policy_load_opps(c, &c->policy[i]);
	return ret;
}

static int calibration_load(const char *path)
{
	struct calibration c;
	char error[256], *text;
	size_t size;
	int ret;

	text = file_read(path, &size);
	if (!text) {
		ctl_error("%s: %s", path, strerror(errno));
		return CTL_FILE;
	}
	ret = calibration_parse(&c, text, size, error, sizeof(error));
	free(text);
	if (ret)
		ctl_error("%s: %s", path, ret == -EINVAL ? error : strerror(-ret));
	ret = ret ? CTL_FILE : calibration_load_opps(&c, path);
	calibration_free(&c);
	return ret;
}

static int calibration_forget(void)
{
	static const struct kernel_opps none;
	static struct core_types core_types;
	struct root root;
	char text[256];
	int ret = CTL_OK;

	root_init(&root);
	if (core_types_find(&core_types, &root, text, sizeof(text))) {
		ctl_error("calibrate: %s",
			  text[0] ? text :
				    "this machine has no cpufreq policy; load its cpufreq driver");
		return CTL_FAILED;
	}
	for (unsigned int i = 0; i < core_types.nr && !ret; i++) {
		const int error = kernel_give(core_types.policy[i].cpu, &none, text, sizeof(text));

		if (error)
			ret = refusal_report(core_types.policy[i].cpu, error, text);
	}
	return ret;
}

int cmd_calibrate(const struct ctl *ctl, int argc, char **argv)
{
	struct options o = { .repeats = 5, .window_ms = 200, .settle_ms = 50 };
	int ret = options_parse(&o, argc, argv);

	(void)ctl;
	if (ret)
		return ret < 0 ? CTL_OK : ret;
	if (o.load)
		return calibration_load(o.load);
	return o.forget ? calibration_forget() : calibrate_run(&o);
}
