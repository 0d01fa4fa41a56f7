// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay: runs a recorded trace of phases, gchint-trace(5), through the real policy files on the
 * host, in virtual time. It compares policies within a second; its values are not meant for
 * reports: every thread has a CPU of its own, time between phases is idle, and the memory fraction
 * of a phase is an argument.
 */
#include <getopt.h>

#include "unit.h"
#include "boards.h"
#include "sim.h"
#include "../../include/gchint-names.h"

#define NEST_MAX    16
#define THREADS_MAX 256

#define PHASE(name, word) [GCHINT_PHASE_##name] = #word,
static const char *const phases[GCHINT_PHASE_NR] = { GCHINT_PHASES(PHASE) };

static const char *const usage =
	"usage: replay [OPTION]... [TRACE]\n"
	"Run a trace of phases, gchint-trace(5), through the model of gchint.\n"
	"  -b BOARD       OPP table; -b help lists them (krait-static)\n"
	"  -k KHZ         frequency at which it was recorded (the highest)\n"
	"  -l NS          switch latency (100000)\n"
	"  -p PHASE=PART  part of a phase's time that waits for memory (all: 0.5)\n"
	"  -s NAME=VALUE  a tunable, by the name of its sysfs file\n"
	"  -u             the session may not raise\n";

/* An interval of one thread in one phase, the innermost one. */
struct stretch {
	u64 at;
	u64 ns;
	u64 stall;
	u32 phase;
	u32 flags;
	bool work;
};

struct thread {
	long pid;
	long tid;
	u32 depth;
	struct stretch nest[NEST_MAX];
	struct stretch *done;
	u32 nr;
	u32 room;
};

struct option_set {
	const struct board *board;
	u32 recorded_khz;
	u32 latency_ns;
	bool may_raise;
	double mem[GCHINT_PHASE_NR];
	struct gchint_tunables tun;
};

struct result {
	double ns[GCHINT_PHASE_NR];
	double energy[GCHINT_PHASE_NR];
	u32 count[GCHINT_PHASE_NR];
	u32 switches;
	u32 avoided;
	u32 late;
};

static struct thread threads[THREADS_MAX];
static u32 nr_threads;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "replay: %s '%s'\n", what, name);
	exit(2);
}

static int phase_of(const char *name)
{
	for (int i = 0; i < GCHINT_PHASE_NR; i++) {
		if (!strcmp(phases[i], name))
			return i;
	}
	return -1;
}

static u32 flags_of(const char *names)
{
	u32 flags = 0;

	flags |= strstr(names, "stw") ? GCHINT_F_STW : 0;
	flags |= strstr(names, "concurrent") ? GCHINT_F_CONCURRENT : 0;
	flags |= strstr(names, "foreground") ? GCHINT_F_FOREGROUND : 0;
	flags |= strstr(names, "urgent") ? GCHINT_F_URGENT : 0;
	return flags;
}

static struct thread *thread_of(long pid, long tid)
{
	for (u32 i = 0; i < nr_threads; i++) {
		if (threads[i].pid == pid && threads[i].tid == tid)
			return &threads[i];
	}
	if (nr_threads == THREADS_MAX)
		return NULL;
	threads[nr_threads].pid = pid;
	threads[nr_threads].tid = tid;
	return &threads[nr_threads++];
}

/* End the innermost phase's interval; the phase may continue later. */
static void cut(struct thread *t, u64 now)
{
	struct stretch *s = &t->nest[t->depth - 1];

	if (now > s->at) {
		s->ns = now - s->at;
		if (t->nr == t->room) {
			t->room = t->room ? t->room * 2 : 64;
			t->done = realloc(t->done, t->room * sizeof(*t->done));
			if (!t->done)
				abort();
		}
		t->done[t->nr++] = *s;
	}
	s->at = now;
}

static void take_line(char *line)
{
	char *word[16];
	u32 nr = 0;
	struct thread *t;
	u64 now;
	int phase;

	for (char *w = strtok(line, " \n"); w && nr < ARRAY_SIZE(word); w = strtok(NULL, " \n"))
		word[nr++] = w;
	if (nr < 4)
		return;
	now = strtoull(word[0], NULL, 10);
	t = thread_of(strtol(word[1], NULL, 10), strtol(word[2], NULL, 10));
	if (!t)
		return;
	phase = nr > 5 ? phase_of(word[4]) : -1;
	if (!strcmp(word[3], "begin") && phase > 0 && t->depth < NEST_MAX) {
		struct stretch s = { .at = now, .phase = (u32)phase, .flags = flags_of(word[5]) };

		for (u32 i = 6; i < nr; i++) {
			s.work |= !strncmp(word[i], "total=", 6) || !strncmp(word[i], "done=", 5);
			if (!strncmp(word[i], "stall=", 6))
				s.stall = strtoull(word[i] + 6, NULL, 10);
		}
		if (t->depth)
			cut(t, now);
		t->nest[t->depth++] = s;
	} else if (!strcmp(word[3], "progress") && t->depth) {
		t->nest[t->depth - 1].work = true;
	} else if (!strcmp(word[3], "end") && t->depth) {
		cut(t, now);
		if (--t->depth)
			t->nest[t->depth - 1].at = now;
	} else if (!strcmp(word[3], "abandon") && t->depth) {
		cut(t, now);
		t->depth = 0;
	}
}

static void add(struct result *r, const struct stretch *p, u64 took, double energy)
{
	r->ns[p->phase] += (double)took;
	r->energy[p->phase] += energy;
	r->count[p->phase]++;
	r->late += p->stall > p->at && took > p->stall - p->at;
}

/* One thread under one mode. */
static void run_thread(const struct thread *t, const struct option_set *o, u32 mode,
		       struct result *r)
{
	static struct sim s;
	u64 at = t->nr ? t->done[0].at : 0;

	memset(&s, 0, sizeof(s));
	o->board->fill(&s.opps);
	sim_init(&s, o->latency_ns);
	s.tun = o->tun;
	s.tun.mode = mode;
	s.may_raise = o->may_raise;
	s.progress = true;
	sim_changed(&s);
	for (u32 i = 0; i < t->nr; i++) {
		const struct stretch *p = &t->done[i];
		double m = o->mem[p->phase];
		double slow = m + (1 - m) * s.opps.ref_khz / o->recorded_khz;
		double before;
		u64 took;
		struct sim_work w = {
			.phase = p->phase,
			.flags = p->flags,
			/* In nanoseconds at the highest frequency, a hundred per unit. */
			.units = (u64)((double)p->ns / slow / 100) + 1,
			.a_ns = 100 * m,
			.b_ns = 100 * (1 - m),
			.stall_ns = p->stall > p->at ? p->stall - p->at : 0,
			.silent = !p->work,
		};

		if (p->at > at)
			sim_idle(&s, p->at - at);
		at = p->at + p->ns;
		before = s.energy;
		took = sim_phase(&s, &w);
		add(r, p, took, s.energy - before);
	}
	r->switches += s.switches;
	r->avoided += s.avoided;
}

/* Each phase at its best OPP within the bounds, without latency. */
static void run_oracle(const struct thread *t, const struct option_set *o, struct result *r)
{
	struct gchint_opps opps;

	o->board->fill(&opps);
	for (u32 i = 0; i < t->nr; i++) {
		const struct stretch *p = &t->done[i];
		double m = o->mem[p->phase];
		double at_top = (double)p->ns / (m + (1 - m) * opps.ref_khz / o->recorded_khz);
		u8 class = gchint_phase_class((u8)p->phase, (u8)p->flags);
		double bound = gchint_class_caps(class) ? 1 + o->tun.slowdown_pct / 100.0 :
							  1 + o->tun.pause_stretch_pct / 100.0;
		double least = INFINITY, took = at_top;

		for (u32 n = 0; n < opps.nr; n++) {
			double slow = m + (1 - m) * opps.ref_khz / opps.opp[n].khz;
			double e = (opps.opp[n].power +
				    (double)gchint_opps_awake(&opps, o->tun.awake_pct)) *
				   slow * at_top;

			if (slow <= bound + 1e-9 && e < least) {
				least = e;
				took = at_top * slow;
			}
		}
		add(r, p, (u64)took, least);
	}
}

static double sum(const double *of)
{
	double all = 0;

	for (u32 i = 0; i < GCHINT_PHASE_NR; i++)
		all += of[i];
	return all;
}

static void report(const struct option_set *o)
{
	static const char *const names[] = { "off", "table", "model", "oracle" };
	struct result r[4];

	memset(r, 0, sizeof(r));
	for (u32 i = 0; i < nr_threads; i++) {
		for (u32 mode = 0; mode < 3; mode++)
			run_thread(&threads[i], o, mode, &r[mode]);
		run_oracle(&threads[i], o, &r[3]);
	}
	printf("# %s, %u threads; energy and time in phases, modelled, against off\n",
	       o->board->name, nr_threads);
	printf("%-10s %8s", "phase", "count");
	for (u32 i = 0; i < 4; i++)
		printf(" %8s-E %6s-t", names[i], names[i]);
	printf("\n");
	for (u32 p = 1; p <= GCHINT_PHASE_NR; p++) {
		bool total = p == GCHINT_PHASE_NR;
		double e0 = total ? sum(r[0].energy) : r[0].energy[p];
		double t0 = total ? sum(r[0].ns) : r[0].ns[p];
		u32 count = 0;

		for (u32 i = 1; i < GCHINT_PHASE_NR; i++)
			count += total || i == p ? r[0].count[i] : 0;
		if (!count)
			continue;
		printf("%-10s %8u", total ? "all" : phases[p], count);
		for (u32 i = 0; i < 4; i++)
			printf(" %10.3f %8.3f", (total ? sum(r[i].energy) : r[i].energy[p]) / e0,
			       (total ? sum(r[i].ns) : r[i].ns[p]) / t0);
		printf("\n");
	}
	for (u32 i = 0; i < 4; i++)
		printf("# %s: %.3f s in phases, %u switches, %u avoided, %u later than the stall\n",
		       names[i], sum(r[i].ns) / 1e9, r[i].switches, r[i].avoided, r[i].late);
}

struct row {
	const char *name;
	size_t offset;
	u32 lo, hi;
};

#define ROW(field, def, lo, hi) { #field, offsetof(struct gchint_tunables, field), lo, hi },

static const struct row rows[] = { GCHINT_TUNABLES(ROW) };

static void set_tunable(struct option_set *o, char *arg)
{
	char *value = strchr(arg, '=');

	if (!value)
		die("no value in", arg);
	*value++ = 0;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		u32 number = (u32)strtoul(value, NULL, 10);

		if (strcmp(r->name, arg))
			continue;
		if (number < r->lo || number > r->hi)
			die("out of bounds", arg);
		memcpy((char *)&o->tun + r->offset, &number, sizeof(number));
		return;
	}
	die("no tunable", arg);
}

static void set_mem(struct option_set *o, char *arg)
{
	char *value = strchr(arg, '=');
	double part = value ? strtod(value + 1, NULL) : -1;
	int phase;

	if (part < 0 || part > 1)
		die("no part of 0 to 1 in", arg);
	*value = 0;
	phase = phase_of(arg);
	if (phase < 0 && strcmp(arg, "all"))
		die("no phase", arg);
	for (int i = 0; i < GCHINT_PHASE_NR; i++) {
		if (phase < 0 || i == phase)
			o->mem[i] = part;
	}
}

static void set_board(struct option_set *o, const char *name)
{
	for (u32 i = 0; i < nr_boards; i++) {
		if (!strcmp(name, "help"))
			printf("%s\n", boards[i].name);
		if (!strcmp(name, boards[i].name))
			o->board = &boards[i];
	}
	if (!strcmp(name, "help"))
		exit(0);
	if (!o->board || strcmp(o->board->name, name))
		die("no board", name);
}

int main(int argc, char **argv)
{
	static struct option_set o = { .latency_ns = 100000, .may_raise = true };
	struct gchint_opps opps;
	FILE *in = stdin;
	char line[1024];
	u32 stretches = 0;
	int c;

	gchint_tunables_init(&o.tun);
	set_board(&o, "krait-static");
	set_mem(&o, (char[]){ "all=0.5" });
	while ((c = getopt(argc, argv, "b:k:l:p:s:uh")) != -1) {
		switch (c) {
		case 'b':
			set_board(&o, optarg);
			break;
		case 'k':
			o.recorded_khz = (u32)strtoul(optarg, NULL, 10);
			break;
		case 'l':
			o.latency_ns = (u32)strtoul(optarg, NULL, 10);
			break;
		case 'p':
			set_mem(&o, optarg);
			break;
		case 's':
			set_tunable(&o, optarg);
			break;
		case 'u':
			o.may_raise = false;
			break;
		default:
			fputs(usage, c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (argc > optind) {
		in = fopen(argv[optind], "r");
		if (!in)
			die("cannot read", argv[optind]);
	}
	o.board->fill(&opps);
	if (!o.recorded_khz)
		o.recorded_khz = opps.ref_khz;
	while (fgets(line, sizeof(line), in))
		take_line(line);
	for (u32 i = 0; i < nr_threads; i++)
		stretches += threads[i].nr;
	if (!stretches)
		die("no phase in", argc > optind ? argv[optind] : "standard input");
	report(&o);
	for (u32 i = 0; i < nr_threads; i++)
		free(threads[i].done);
	if (in != stdin)
		fclose(in);
	return 0;
}
