// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The live view: the last seconds of a recording, while gchintd writes it. Each update
 * reads only the rows that were added since the previous one.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/json.h"
#include "../../common/text.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/recording.h"
#include "../../source/config.h"
#include "../ctl.h"
#include "screen.h"

static const char usage[] =
	"usage: gchintctl [--json] top [-d SECONDS] [-n N] [FILE]\n"
	"Shows the phases, frequencies and rails of the last interval of a recording while it\n"
	"grows. FILE defaults to the service's recording (from " CONFIG_PATH ").\n"
	"\n"
	"  -d, --delay SECONDS  interval between updates, and its length (default: 1)\n"
	"  -n, --times N        number of updates (default: no limit)\n"
	"\n"
	"On a terminal: q quits, s sorts the phases by another column, space stops and resumes\n"
	"the display, arrows and page keys scroll, h shows the keys. Otherwise it prints plain\n"
	"text, one block per update.\n";

#define RAILS 2048 /* more than gchintd numbers */
/* The latest phases that are searched for those of the displayed interval. */
#define PHASES_BACK 20000

/* The mean is that of the samples; of a counter, its increase by time. */
struct rail {
	char name[96], label[48];
	const char *unit;
	int64_t value;
	uint64_t t; /* of @value */
	double sum, weight;
	bool known, shown, counts, moved;
};

/* Columns that phases are sorted by; 's' goes to the next. */
enum top_sort {
	BY_KIND,
	BY_SHARE,
	BY_LONGEST,
	BY_COUNT,
	SORTS
};

static const char *const sorts[SORTS] = { "kind", "share", "longest", "count" };

struct top {
	const char *path;
	sqlite3 *db;
	ino_t inode;
	double period;
	bool json;
	uint64_t from, to; /* the displayed interval */
	uint32_t khz[CPUS_MAX], max_khz[CPUS_MAX];
	uint64_t steps[CPUS_MAX];
	int cpus;
	struct rail rail[RAILS];
	int64_t last_transition, last_sample;
	uint64_t count[PHASE_GROUPS], ns[PHASE_GROUPS], longest[PHASE_GROUPS];
	int64_t dropped;
	enum top_sort sort;
	bool held, help;
};

static bool top_attach(struct top *t)
{
	struct stat st;

	if (stat(t->path, &st)) {
		ctl_error("%s: no such recording; is gchintd running?", t->path);
		return false;
	}
	/* Another inode: the file was rotated, continue with the new one. */
	if (t->db && st.st_ino == t->inode)
		return true;
	sqlite3_close(t->db);
	t->db = db_open(t->path);
	t->inode = st.st_ino;
	t->last_transition = t->last_sample = 0;
	return t->db != NULL;
}

static void top_find_stretch(struct top *t)
{
	static const char *const last[] = {
		"SELECT t FROM samples ORDER BY rowid DESC LIMIT 1",
		"SELECT t FROM transitions ORDER BY rowid DESC LIMIT 1",
		"SELECT coalesce(t1, t0) FROM phases ORDER BY id DESC LIMIT 1",
		"SELECT t FROM costs ORDER BY rowid DESC LIMIT 1",
		"SELECT t FROM residency ORDER BY rowid DESC LIMIT 1",
	};
	int64_t v;

	t->to = 0;
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		if (db_number(t->db, last[i], 0, &v) && (uint64_t)v > t->to)
			t->to = (uint64_t)v;
	t->from = t->to > (uint64_t)(t->period * 1e9) ? t->to - (uint64_t)(t->period * 1e9) : 0;
}

/* Per CPU, since policies differ in their highest frequency. */
static void top_read_max_khz(struct top *t)
{
	sqlite3_stmt *s = db_query(t->db, "SELECT replace(cpus, ' ', ','), hw_max_khz "
					  "FROM policies WHERE hw_max_khz > 0");
	uint8_t cpus[CPUS_MAX];

	while (db_next(s)) {
		if (text_cpulist(db_text(s, 0, ""), cpus, CPUS_MAX) <= 0)
			continue;
		for (int i = 0; i < CPUS_MAX; i++)
			if (cpus[i])
				t->max_khz[i] = (uint32_t)db_int(s, 1, 0);
	}
	sqlite3_finalize(s);
}

static void top_read_transitions(struct top *t)
{
	sqlite3_stmt *s = db_query(t->db, "SELECT rowid, cpu, khz, t FROM transitions WHERE "
					  "rowid > ?");

	memset(t->steps, 0, sizeof(t->steps));
	if (!s)
		return;
	sqlite3_bind_int64(s, 1, t->last_transition);
	while (db_next(s)) {
		int64_t cpu = db_int(s, 1, -1);

		t->last_transition = db_int(s, 0, 0);
		if (cpu < 0 || cpu >= CPUS_MAX)
			continue;
		t->khz[cpu] = (uint32_t)db_int(s, 2, 0);
		if ((uint64_t)db_int(s, 3, 0) >= t->from)
			t->steps[cpu]++;
		if (cpu >= t->cpus)
			t->cpus = (int)cpu + 1;
	}
	sqlite3_finalize(s);
	top_read_max_khz(t);
}

/* A counter that never moved does not count on this machine. */
static bool rail_counts_here(const struct rail *r)
{
	return r->moved || !r->counts;
}

static void rail_add_reading(struct rail *r, uint64_t t, int64_t value, uint64_t from)
{
	r->moved = r->moved || (r->t && value != r->value);
	/* A counter that fell was reset: no increase is known. */
	if (t >= from && r->counts && r->t && t > r->t && value >= r->value) {
		r->sum += (double)(value - r->value) * 1e9;
		r->weight += (double)(t - r->t);
	} else if (t >= from && !r->counts) {
		r->sum += (double)value;
		r->weight++;
	}
	r->value = value;
	r->t = t;
}

static void top_read_rails(struct top *t)
{
	sqlite3_stmt *s = db_select(t->db, rails, "", COLUMN(rails, id), COLUMN(rails, name),
				    COLUMN(rails, label), COLUMN(rails, unit));

	while (db_next(s)) {
		int64_t id = db_int(s, COLUMN(rails, id), 0);
		struct rail *r = id >= 0 && id < RAILS ? &t->rail[id] : NULL;
		const char *unit = db_text(s, COLUMN(rails, unit), "u?");

		if (!r)
			continue;
		snprintf(r->name, sizeof(r->name), "%s", db_text(s, COLUMN(rails, name), "?"));
		snprintf(r->label, sizeof(r->label), "%s", db_text(s, COLUMN(rails, label), ""));
		r->unit = unit[1] == 'W' ? "W" : unit[1] == 'J' ? "J" : unit[1] == 'V' ? "V" : "A";
		r->counts = *r->unit == 'J';
		r->sum = r->weight = 0;
		r->shown = true;
	}
	sqlite3_finalize(s);
	s = db_query(t->db, "SELECT rowid, rail, value, t FROM samples WHERE rowid > ?");
	if (!s)
		return;
	/* The first update needs only the end of a long recording. */
	if (!t->last_sample)
		db_number(t->db, "SELECT max(rowid) - 20000 FROM samples", 0, &t->last_sample);
	sqlite3_bind_int64(s, 1, t->last_sample);
	while (db_next(s)) {
		int64_t id = db_int(s, 1, -1);
		struct rail *r = id >= 0 && id < RAILS ? &t->rail[id] : NULL;

		t->last_sample = db_int(s, 0, 0);
		if (!r)
			continue;
		r->known = sqlite3_column_type(s, 2) != SQLITE_NULL;
		if (r->known)
			rail_add_reading(r, (uint64_t)db_int(s, 3, 0), db_int(s, 2, 0), t->from);
	}
	sqlite3_finalize(s);
}

static void top_read_phases(struct top *t)
{
	sqlite3_stmt *s = db_query(t->db, "SELECT t0, coalesce(t1, ?2), phase, flags FROM phases "
					  "WHERE id > (SELECT max(id) FROM phases) - ?1 "
					  "AND coalesce(t1, ?2) > ?3");

	memset(t->count, 0, sizeof(t->count));
	memset(t->ns, 0, sizeof(t->ns));
	memset(t->longest, 0, sizeof(t->longest));
	if (!s)
		return;
	sqlite3_bind_int64(s, 1, PHASES_BACK);
	sqlite3_bind_int64(s, 2, (int64_t)t->to);
	sqlite3_bind_int64(s, 3, (int64_t)t->from);
	while (db_next(s)) {
		uint64_t t0 = (uint64_t)db_int(s, 0, 0), t1 = (uint64_t)db_int(s, 1, 0);
		unsigned int g = phase_group((uint32_t)db_int(s, 2, 0), (uint32_t)db_int(s, 3, 0));

		if (t1 < t0)
			continue;
		if (t1 - t0 > t->longest[g])
			t->longest[g] = t1 - t0;
		t->count[g]++;
		/* Only what is within the stretch: a phase may end after its last sample. */
		if (t0 < t->from)
			t0 = t->from;
		if (t1 > t->to)
			t1 = t->to;
		if (t1 > t0)
			t->ns[g] += t1 - t0;
	}
	sqlite3_finalize(s);
}

static void bar_format(char *buf, int width, double share)
{
	int n = share <= 0 ? 0 : share >= 1 ? width : (int)(share * width + 0.5);

	memset(buf, '#', (size_t)n);
	memset(buf + n, '.', (size_t)(width - n));
	buf[width] = '\0';
}

static uint64_t top_group_weight(const struct top *t, unsigned int g)
{
	switch (t->sort) {
	case BY_SHARE:
		return t->ns[g];
	case BY_LONGEST:
		return t->longest[g];
	case BY_COUNT:
		return t->count[g];
	default:
		return PHASE_GROUPS - g;
	}
}

/* Fills @group with the groups seen, in descending order; returns their number. */
static unsigned int top_sort_groups(const struct top *t, unsigned int *group)
{
	unsigned int n = 0;

	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		unsigned int at = n;

		if (!t->count[g])
			continue;
		for (; at && top_group_weight(t, group[at - 1]) < top_group_weight(t, g); at--)
			group[at] = group[at - 1];
		group[at] = g;
		n++;
	}
	return n;
}

static void top_draw_phases(const struct top *t, struct screen *s)
{
	unsigned int group[PHASE_GROUPS], n = top_sort_groups(t, group);
	char name[48], graph[21];

	screen_head(s, "%-22s %7s %9s %11s  %s", "PHASE", "COUNT", "LONGEST", "SHARE",
		    "of the time");
	for (unsigned int i = 0; i < n; i++) {
		unsigned int g = group[i];
		double share = t->to > t->from ? (double)t->ns[g] / (double)(t->to - t->from) : 0;

		bar_format(graph, 20, share);
		screen_line(s, "%-22s %7llu %6.2f ms %9.1f %%  %s",
			    phase_group_name(g, name, sizeof(name)),
			    (unsigned long long)t->count[g], (double)t->longest[g] / 1e6,
			    share * 100, graph);
	}
	if (!n)
		screen_line(s, "none");
}

static void top_draw_rails(const struct top *t, struct screen *s)
{
	screen_head(s, "%-34s %-12s %12s %12s", "RAIL", "LABEL", "NOW", "MEAN");
	for (int i = 0; i < RAILS; i++) {
		const struct rail *r = &t->rail[i];
		char now[32] = "?", mean[32] = "?";

		if (!r->shown)
			continue;
		if (r->known && rail_counts_here(r))
			snprintf(now, sizeof(now), "%.3f %s", (double)r->value / 1e6, r->unit);
		if (r->weight > 0 && rail_counts_here(r))
			snprintf(mean, sizeof(mean), "%.3f %s", r->sum / r->weight / 1e6,
				 r->counts ? "W" : r->unit);
		screen_line(s, "%-34.34s %-12.12s %12s %12s", r->name, r->label, now, mean);
	}
}

static void top_draw_help(struct screen *s)
{
	screen_line(s, "%s", "");
	screen_head(s, "KEYS");
	screen_line(s, "q      quit");
	screen_line(s, "s      sort the phases by the next column: kind, share, longest, count");
	screen_line(s, "space  stop and resume the display");
	screen_line(s, "arrows, page up, page down, home, end: scroll");
	screen_line(s, "h, ?   show or leave this list");
	screen_show(s);
}

static void top_draw(const struct top *t, struct screen *s)
{
	double seconds = (double)(t->to - t->from) / 1e9;
	char label[64], graph[31];

	db_meta(t->db, "label", label, sizeof(label));
	screen_page(s);
	screen_head(s, "gchint top  %s%s%s  last %.1f s%s%s%s", t->path, *label ? "  " : "", label,
		    seconds, s->tty ? "  (h: keys; by " : "", s->tty ? sorts[t->sort] : "",
		    !s->tty ? "" :
		    t->held ? "; held)" :
			      ")");
	if (t->help) {
		top_draw_help(s);
		return;
	}
	if (t->dropped)
		screen_line(s,
			    "%lld records or events were dropped so far: gchintctl summary lists "
			    "the reasons",
			    (long long)t->dropped);
	screen_line(s, "%s", "");
	screen_head(s, "%-6s %10s  %-30s %8s", "CPU", "MHz", "of its highest", "changes");
	for (int i = 0; i < t->cpus; i++) {
		if (!t->khz[i])
			continue;
		bar_format(graph, 30, t->max_khz[i] ? (double)t->khz[i] / t->max_khz[i] : 0);
		screen_line(s, "cpu%-3d %10.1f  %s %8llu", i, t->khz[i] / 1000.0,
			    t->max_khz[i] ? graph : "?", (unsigned long long)t->steps[i]);
	}
	if (!t->cpus)
		screen_line(s, "frequency not known");
	screen_line(s, "%s", "");
	top_draw_phases(t, s);
	screen_line(s, "%s", "");
	top_draw_rails(t, s);
	screen_show(s);
}

static void top_print_json(const struct top *t)
{
	struct json j = { .f = stdout };
	char name[48];

	json_object(&j, NULL);
	if (t->to) {
		json_uint(&j, "from_ns", t->from);
		json_uint(&j, "to_ns", t->to);
	} else {
		json_null(&j, "from_ns");
		json_null(&j, "to_ns");
	}
	json_list(&j, "cpus");
	for (int i = 0; i < t->cpus; i++) {
		if (!t->khz[i])
			continue;
		json_object(&j, NULL);
		json_int(&j, "cpu", i);
		json_uint(&j, "khz", t->khz[i]);
		json_uint(&j, "changes", t->steps[i]);
		json_end(&j);
	}
	json_end(&j);
	json_list(&j, "phases");
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		if (!t->count[g])
			continue;
		json_object(&j, NULL);
		json_text(&j, "phase", phase_group_name(g, name, sizeof(name)));
		json_uint(&j, "count", t->count[g]);
		json_uint(&j, "ns", t->ns[g]);
		json_uint(&j, "longest_ns", t->longest[g]);
		json_end(&j);
	}
	json_end(&j);
	json_list(&j, "rails");
	for (int i = 0; i < RAILS; i++) {
		const struct rail *r = &t->rail[i];

		if (!r->shown)
			continue;
		json_object(&j, NULL);
		json_text(&j, "rail", r->name);
		json_text(&j, "unit", r->unit);
		json_fixed(&j, "value",
			   r->known && rail_counts_here(r) ? (double)r->value / 1e6 : NAN, 6);
		json_text(&j, "mean_unit", r->counts ? "W" : r->unit);
		json_fixed(&j, "mean",
			   r->weight > 0 && rail_counts_here(r) ? r->sum / r->weight / 1e6 : NAN,
			   6);
		json_end(&j);
	}
	json_end(&j);
	json_int(&j, "dropped", t->dropped);
	json_end(&j);
	fflush(stdout);
}

static int top_refresh(struct top *t, struct screen *s)
{
	if (!top_attach(t))
		return CTL_FILE;
	top_find_stretch(t);
	top_read_transitions(t);
	top_read_rails(t);
	top_read_phases(t);
	t->dropped = 0;
	db_number(t->db, "SELECT sum(count) FROM drops", 0, &t->dropped);
	if (t->json)
		top_print_json(t);
	else
		top_draw(t, s);
	return CTL_OK;
}

/* Handles keys until the next update is due; false to end. */
static bool top_wait_for_key(struct top *t, struct screen *s)
{
	uint64_t now = clock_now(), end = now + (uint64_t)(t->period * 1e9);

	for (; now < end || t->held; now = clock_now()) {
		switch (screen_wait(s, t->held ? -1 : (int)((end - now) / NSEC_PER_MSEC) + 1)) {
		case 'q':
			return false;
		case 's':
			t->sort = (t->sort + 1) % SORTS;
			break;
		case ' ':
			t->held = !t->held;
			break;
		case 'h':
		case '?':
			t->help = !t->help;
			break;
		case SCREEN_AGAIN:
			break;
		default:
			continue;
		}
		top_draw(t, s);
	}
	return true;
}

int cmd_top(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "times", required_argument, NULL, 'n' },
		{ 0 },
	};
	struct top *t = calloc(1, sizeof(*t));
	char error[400];
	struct config config;
	struct screen screen;
	uint64_t times = 0; /* 0: until q */
	int opt, ret = CTL_OK;

	if (!t) {
		ctl_error("top: no memory");
		return CTL_FAILED;
	}
	t->period = 1;
	t->json = ctl->json;
	while ((opt = getopt_long(argc, argv, "d:hn:", longs, NULL)) >= 0) {
		switch (opt) {
		case 'd':
			t->period = atof(optarg);
			break;
		case 'n':
			if (text_u64(optarg, &times) || !times) {
				ctl_error("top: -n takes a number from 1, not %s", optarg);
				ret = CTL_USAGE;
				goto free_top;
			}
			break;
		case 'h':
			fputs(usage, stdout);
			goto free_top;
		default:
			ret = ctl_usage("top");
			goto free_top;
		}
	}
	if (!(t->period >= 0.1 && t->period <= 3600) || optind + 1 < argc) {
		ctl_error("top: -d takes 0.1 to 3600, and one recording may be named; see "
			  "gchintctl top --help");
		ret = CTL_USAGE;
		goto free_top;
	}
	t->path = argv[optind];
	if (!t->path) {
		config_defaults(&config);
		if (config_load(&config, CONFIG_PATH, error, sizeof(error)) ||
		    !*config.record_file) {
			ctl_error("top: name a recording; " CONFIG_PATH " names none");
			ret = CTL_USAGE;
			goto free_top;
		}
		t->path = config.record_file;
	}
	/* Before screen_open(): an error on the alternate page would disappear with it. */
	if (!top_attach(t)) {
		ret = CTL_FILE;
		goto free_top;
	}
	screen_open(&screen);
	for (;;) {
		ret = top_refresh(t, &screen);
		if (ret || (times > 0 && --times == 0))
			break;
		if (!top_wait_for_key(t, &screen))
			break;
		if (!screen.tty && !t->json)
			putchar('\n');
	}
	screen_close(&screen);
free_top:
	sqlite3_close(t->db);
	free(t);
	return ret;
}
