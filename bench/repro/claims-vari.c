// SPDX-License-Identifier: MIT
/*
 * Claims of the VARI seed, on an interpreter that reports its methods through the tunnel. The
 * seed used Oprofile's cycle counter; we use that of perf, or its CPU clock on machines without
 * a counter.
 */
#include "repro/claims.h"
#include "repro/sampled.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPUTE "tunnel=1 names=load bytecodes=1000"
#define DRAW	COMPUTE " native=512K"
#define CALL	COMPUTE " native=48K"
#define COLLECT "tunnel=1 names=load bytecodes=100 objects=50 live=300000"
#define HEAP	"plan=marksweep,sizing=fixed,heap=64M,max=64M"
#define TIGHT	"plan=marksweep,sizing=fixed,heap=8M,max=8M"

static double percent_of(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

/* Sizes the run for some thousand samples, or some hundred in a small run. */
static bool samples_probe(struct outcome *o, const char *setting, unsigned int calls,
			  const char *heap, struct sampled *s)
{
	char words[200];

	snprintf(words, sizeof(words), "%s calls=%u", setting, effort.small ? calls / 5 : calls);
	if (!sampled(o, words, heap, "", s))
		return false;
	if (!s->all)
		failed(o, "no samples: perf events are refused here");
	ours(o, "%.0f samples", s->all);
	return s->all > 0;
}

static void measure_barrier(struct outcome *o)
{
	struct sampled s;

	if (!samples_probe(o, COMPUTE, 2000000, HEAP, &s))
		return;
	found(o, "the interpreter, by instructions", percent_of(s.interpreter, s.all));
	found(o, "methods, by the tunnel", percent_of(s.method, s.all));
	found(o, "the interpreter itself, by the tunnel", percent_of(s.interpreter - s.own, s.all));
}

const struct claim vari_barrier = {
	.id = "002-a",
	.text = "without a tunnel an interpreter seems to take the time of its methods",
	.paper = "libdvm.so first (plot); with it less than 9 %, the application 56 % (Figure 9)",
	.falsifier = "instructions show something else, or the tunnel shows few methods",
	.note = "this program consists of methods, so they take more than in the seed",
	.without = { "tunnel=1", "tunnel=0" },
	.term = { { "the interpreter, by instructions",
		    "%",
		    BASIS_COUNT,
		    NAN,
		    { 50, 101 },
		    { 60, 100 } },
		  { "methods, by the tunnel", "%", BASIS_COUNT, 56, { 25, 101 }, { 50, 100 } },
		  { "the interpreter itself, by the tunnel",
		    "%",
		    BASIS_COUNT,
		    9,
		    { -1, 50 },
		    { 0, 9 } } },
	.measure = measure_barrier,
};

static void measure_native(struct outcome *o)
{
	struct sampled s;

	if (samples_probe(o, DRAW, 300000, HEAP, &s))
		found(o, "libraries and kernel, of the methods' own",
		      s.own > 0 ? s.called / s.own : NAN);
}

const struct claim vari_native = {
	.id = "002-b",
	.text = "a program that draws takes more time in native code than in its methods",
	.paper = "the kernel, then libskia and drivers, then Newton's Cradle (Figure 10, plot)",
	.falsifier = "the methods' own instructions take as much as what they call",
	.note = "each method has the C library move 512 KiB",
	.without = { "native=512K", "native=0" },
	.term = { { "libraries and kernel, of the methods' own",
		    "x",
		    BASIS_COUNT,
		    NAN,
		    { 1, MORE },
		    { 1.5, 1000 } } },
	.measure = measure_native,
};

static void measure_collector(struct outcome *o)
{
	struct sampled s;

	if (!samples_probe(o, COLLECT, 600000, TIGHT, &s))
		return;
	found(o, "in the collector", percent_of(s.collecting, s.all));
	ours(o, ", %.0f %% in methods", percent_of(s.method, s.all));
}

const struct claim vari_collector = {
	.id = "002-c",
	.text = "the profile shows a program that collects too much",
	.paper = "libdvm.so and services take close to 70 % of the VM benchmark (Figure 11)",
	.falsifier = "at most half of the samples are in a phase of the collector",
	.note = "measured by phases, where the seed counts the whole virtual machine; heap and "
		"live set were chosen for such a share",
	.without = { "objects=50", "objects=0" },
	.term = { { "in the collector", "%", BASIS_COUNT, 70, { 50, 101 }, { 55, 85 } } },
	.measure = measure_collector,
};

static void measure_source(struct outcome *o)
{
	struct sampled s;

	if (samples_probe(o, COMPUTE, 2000000, HEAP, &s))
		found(o, "samples with a name, a file and a line",
		      percent_of(s.named, s.interpreter));
}

const struct claim vari_source = {
	.id = "002-d",
	.text = "a sample in a method leads to its name, its file and its line",
	.paper = "run, ViewRoot.java, 2044; atan, BallsView.java, 616 (Table IV)",
	.falsifier = "at most half of the interpreter's samples do",
	.note = "the line is that of the method's beginning, as in the seed",
	.without = { "names=load", "names=none" },
	.term = { { "samples with a name, a file and a line",
		    "%",
		    BASIS_COUNT,
		    100,
		    { 50, 101 },
		    { 90, 100 } } },
	.measure = measure_source,
};

static void measure_lost(struct outcome *o)
{
	struct sampled s;

	if (samples_probe(o, CALL, 600000, HEAP, &s))
		found(o, "native samples whose method is known", percent_of(s.called, s.native));
}

const struct claim vari_lost = {
	.id = "002-e",
	.text = "the time of native code cannot be attributed to the method that called it",
	.paper = "Oprofile is unable to correlate native_drawBitmap (Table IV)",
	.falsifier = "half or more of the native samples have a method",
	.note = "here the tunnel is read at every sample, so this limit of the seed does not exist",
	.with = { "tunnel=1", "tunnel=0" },
	.term = { { "native samples whose method is known",
		    "%",
		    BASIS_COUNT,
		    0,
		    { -1, 50 },
		    { 0, 5 } } },
	.measure = measure_lost,
};

static void measure_graph(struct outcome *o)
{
	struct sampled s;

	if (samples_probe(o, CALL, 600000, HEAP, &s))
		found(o, "of methods' samples, in what they called",
		      percent_of(s.called, s.method));
}

const struct claim vari_graph = {
	.id = "002-f",
	.text = "a call graph separates an application's time from that of the libraries that it "
		"calls",
	.paper = "org.test.app 38.8 %, libGLES_android.so under it 60 % (Table V, Figure 13)",
	.falsifier = "no library is below a method, or only libraries are",
	.note = "each method has the C library move 48 KiB; the share depends on the machine",
	.without = { "tunnel=1", "tunnel=0" },
	.term = { { "of methods' samples, in what they called",
		    "%",
		    BASIS_COUNT,
		    60,
		    { 5, 99 },
		    { 30, 90 } } },
	.measure = measure_graph,
};

static void measure_chosen(struct outcome *o)
{
	const char *setting = effort.small ? "methods=4 calls=400000" : "methods=4 calls=2000000";
	struct sampled every, one, program, service;

	if (!samples_probe(o, "methods=4", 2000000, HEAP, &every))
		return;
	if (!sampled(o, setting, HEAP, "method=*:1)", &one) ||
	    !sampled(o, setting, HEAP, "command=another*", &program) ||
	    !sampled(o, setting, HEAP, "cgroup=another.slice", &service))
		return;
	found(o, "samples of others, one method chosen", percent_of(one.all - one.first, one.all));
	found(o, "samples of the chosen one, of its all",
	      every.first > 0 ? one.first / every.first : NAN);
	found(o, "samples, another program chosen", program.all);
	found(o, "samples, another service chosen", service.all);
	ours(o, ", %.0f of one method alone", one.all);
}

const struct claim vari_chosen = {
	.id = "002-g",
	.text = "a profile of one method, program or service contains only that, and points to "
		"power hotspots",
	.paper = "by a list of methods, a command line, the system's process (5.3); no figure",
	.falsifier = "others are recorded as well, or the selected one is not",
	.note = "selected at the start or while recording; this program reads no rail",
	.needs = { .rail = true },
	.without = { "method=*:1)", "method=*" },
	.term = { { "samples of others, one method chosen",
		    "%",
		    BASIS_COUNT,
		    0,
		    { -1, 50 },
		    { 0, 1 } },
		  { "samples of the chosen one, of its all",
		    "x",
		    BASIS_COUNT,
		    1,
		    { 0.1, 10 },
		    { 0.6, 1.6 } },
		  { "samples, another program chosen", "", BASIS_COUNT, 0, { -1, 1 }, { 0, 0 } },
		  { "samples, another service chosen", "", BASIS_COUNT, 0, { -1, 1 }, { 0, 0 } },
		  { "energy of the service", "J", BASIS_ENERGY, NAN, { 0, MORE }, { 1e-6, 1e6 } } },
	.measure = measure_chosen,
};

/* The names that a run wrote: the address range they cover, end exclusive. */
struct log {
	double bytes, lines, first, end;
};

static void read_names(struct log *log, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long start, size;

		log->bytes += (double)strlen(line);
		if (sscanf(line, "%llx %llx", &start, &size) != 2 || !size)
			continue;
		log->first = log->lines ? fmin(log->first, (double)start) : (double)start;
		log->end = fmax(log->end, (double)start + (double)size);
		log->lines++;
	}
	if (f)
		fclose(f);
}

/* Removes the files in the directory, and the directory itself. */
static void directory_read(struct log *log, const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	char path[320];

	while (d && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
		if (log)
			read_names(log, path);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(directory);
}

/* One run, or the run of least CPU time, that writes its names into a directory. */
static bool naming_probe(struct outcome *o, const char *setting, bool least, struct log *log,
			 struct run_result *r)
{
	char directory[] = "/tmp/gchint-repro.XXXXXX";
	bool good;

	if (!mkdtemp(directory)) {
		failed(o, "%s: cannot be created", directory);
		return false;
	}
	setenv("GCHINT_SYMBOLS", directory, 1);
	good = (least ? probe_least : probe_again)(o, "methods", NULL, setting, HEAP, r);
	unsetenv("GCHINT_SYMBOLS");
	directory_read(log, directory);
	return good;
}

static bool log_probe(struct outcome *o, const char *setting, struct log *log)
{
	struct run_result r;

	memset(log, 0, sizeof(*log));
	if (!naming_probe(o, setting, false, log, &r))
		return false;
	if (!log->lines)
		failed(o, "no names were written with %s", setting);
	return log->lines > 0;
}

static void measure_addresses(struct outcome *o)
{
	struct log own, code;

	if (!log_probe(o, "address=own calls=100", &own) ||
	    !log_probe(o, "calls=100 address=code", &code))
		return;
	found(o, "addresses of methods, of their code's",
	      (own.end - own.first) / (code.end - code.first));
	ours(o, "%.0f methods: %.0f addresses, %.0f bytes of code", own.lines, own.end - own.first,
	     code.end - code.first);
}

const struct claim vari_addresses = {
	.id = "002-h",
	.text = "methods with unique addresses need fewer of them than their code has bytes",
	.paper = "N against the sum of all code sizes (4.3.2); no figure",
	.falsifier = "the range of addresses is as large as the code",
	.note = "a range mapped without access; no hash is needed, because the runtime keeps the "
		"address",
	.without = { "address=own", "address=code" },
	.term = { { "addresses of methods, of their code's",
		    "x",
		    BASIS_COUNT,
		    NAN,
		    { 0, 1 },
		    { 1e-6, 0.5 } } },
	.measure = measure_addresses,
};

static void measure_log(struct outcome *o)
{
	struct log load, longer, invoke, longest;

	if (!log_probe(o, "names=load calls=1000", &load) ||
	    !log_probe(o, "names=load calls=10000", &longer) ||
	    !log_probe(o, "calls=1000 names=invoke", &invoke) ||
	    !log_probe(o, "calls=10000 names=invoke", &longest))
		return;
	found(o, "names at load, ten times the calls", longer.bytes / load.bytes);
	found(o, "names at invoke, ten times the calls", longest.bytes / invoke.bytes);
	ours(o, "64 methods at load: %.0f bytes; 10000 invokes: %.0f", longer.bytes, longest.bytes);
}

const struct claim vari_log = {
	.id = "002-i",
	.text = "names at load take space by the number of methods, at invoke by the number of "
		"calls",
	.paper = "228 to 276 KB of one application; at invoke 166 to 538 KB more (Figure 14)",
	.falsifier = "with ten times the calls load doubles, or invoke does not grow",
	.note = "one line per name in both cases",
	.without = { "names=load", "names=invoke" },
	.term = { { "names at load, ten times the calls",
		    "x",
		    BASIS_COUNT,
		    1,
		    { 0.5, 2 },
		    { 0.9, 1.25 } },
		  { "names at invoke, ten times the calls",
		    "x",
		    BASIS_COUNT,
		    NAN,
		    { 1, MORE },
		    { 5, 11 } } },
	.measure = measure_log,
};

/* Extra CPU time over a run that reports nothing, in %; NAN when one failed. */
static double naming_cost(struct outcome *o, const char *setting)
{
	const char *calls = effort.small ? "calls=20000" : "calls=100000";
	struct run_result silent, telling;
	char words[128];

	snprintf(words, sizeof(words), "names=none tunnel=0 %s", calls);
	if (!naming_probe(o, words, true, NULL, &silent))
		return NAN;
	snprintf(words, sizeof(words), "%s %s", setting, calls);
	if (!naming_probe(o, words, true, NULL, &telling))
		return NAN;
	return 100 * (telling.cpu_ms / silent.cpu_ms - 1);
}

static void measure_invoke(struct outcome *o)
{
	found(o, "CPU time more, names at load", naming_cost(o, "tunnel=1 names=load"));
	found(o, "CPU time more, names at invoke", naming_cost(o, "names=invoke tunnel=1"));
}

const struct claim vari_invoke = {
	.id = "002-j",
	.text = "names at load cost almost nothing, at invoke at least a third of the time",
	.paper = "at most 0.32 % against at least 35 % (Figures 15 and 16)",
	.falsifier = "at load a tenth or more, or at invoke not more than a tenth",
	.note = "methods of 1000 bytecodes; instructions are counted in profile.md",
	.needs = { .runs = 3 },
	.without = { "names=load", "names=invoke" },
	.term = { { "CPU time more, names at load", "%", BASIS_TIME, 0.32, { -10, 10 }, { -3, 3 } },
		  { "CPU time more, names at invoke",
		    "%",
		    BASIS_TIME,
		    35,
		    { 10, MORE },
		    { 35, 1e5 } } },
	.measure = measure_invoke,
};

static void measure_tunnel(struct outcome *o)
{
	found(o, "CPU time more, the tunnel alone", naming_cost(o, "names=none tunnel=1"));
}

const struct claim vari_tunnel = {
	.id = "002-k",
	.text = "the tunnel costs almost nothing; without it every call writes a name",
	.paper = "less than 0.02 s of some 23 s, 0.09 % (6.4.2)",
	.falsifier = "it costs a tenth or more",
	.note = "a load and two stores per call; instructions are counted in profile.md",
	.needs = { .runs = 3 },
	.without = { "tunnel=1", "tunnel=1 names=invoke" },
	.term = { { "CPU time more, the tunnel alone",
		    "%",
		    BASIS_TIME,
		    0.09,
		    { -10, 10 },
		    { -3, 3 } } },
	.measure = measure_tunnel,
};
