// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: phases of programs that are watched by probes. The hits are generated here, and what
 * the recorder receives is compared.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/common/names.h"
#include "../../daemon/common/ring.h"
#include "../../daemon/gchintctl/launch/phase-probe.h"
#include "../../daemon/gchintctl/launch/probe-list.h"
#include "../../daemon/gchintctl/launch/probes.h"
#include "../../daemon/gchintctl/launch/watcher.h"
#include "place.h"
#include "records.h"

#define CHILD	(-1) /* of a hit: the command's process */
#define OTHER	700 /* a process that it starts */
#define PROGRAM "/proc/self/exe"

int unit_watched_mark(int generation);
int unit_watched_copy(int generation);
int unit_watched_begin(int generation);
int unit_watched_end(int generation);

int unit_watched_mark(int generation)
{
	return generation + 1;
}

int unit_watched_copy(int generation)
{
	return generation + 2;
}

int unit_watched_begin(int generation)
{
	return generation + 3;
}

int unit_watched_end(int generation)
{
	return generation + 4;
}

/* The points of @probes, in the order in which they are found. */
enum {
	MARK,
	MARKED,
	COPY,
	COPIED,
	BEGIN,
	END,
	BROKE
};
static const char *const probes[] = {
	"mark,stw,explicit=:unit_watched_mark",
	"copy,stw=:unit_watched_copy(1>0)",
	"sweep,concurrent=:unit_watched_begin..unit_watched_end",
};

struct hit {
	unsigned int probe;
	int pid, tid;
	uint64_t stack,
		argument; /* with JUMPS: what was jumped to; with PROBE_FORK: the thread that starts it; a name: which */
};

#define JUMPS (1ull << 63) /* in an argument */

static const char *const names[] = { "sh", "toy", "other", "sixteen letters!" };
enum {
	NAME_SH,
	NAME_TOY,
	NAME_OTHER,
	NAME_LONG
};

static const struct hit *hits;
static size_t hits_nr;
static struct ring_reader ring[2];
static size_t rings;
static pid_t command; /* that of the first */
static int recorder = -1;
static int marker; /* where the probes would be */
static int refuse;

struct probes *__wrap_probes_watch(const struct probe_point *point, unsigned int count);
struct probes *__real_probes_watch(const struct probe_point *point, unsigned int count);

struct probes *__wrap_probes_watch(const struct probe_point *point, unsigned int count)
{
	if (unit_probes_asked)
		return __real_probes_watch(point, count);
	errno = refuse;
	return refuse || count != BROKE ? NULL : (struct probes *)&marker;
}

bool unit_watcher_owns(const struct probes *p)
{
	return p == (const struct probes *)&marker;
}

static void rings_receive(void)
{
	const char *why;

	while (rings < 2 && !ring_receive(recorder, &ring[rings], &why))
		rings++;
	if (rings)
		command = ring[0].map->pid;
}

uint64_t unit_watcher_read(bool last, void (*hit)(void *data, const struct probe_hit *hit),
			   void *data)
{
	if (!last)
		return 0;
	rings_receive();
	for (size_t i = 0; i < hits_nr; i++) {
		const bool fork = hits[i].probe == PROBE_FORK;
		struct probe_hit h = {
			.time = 100 * (i + 1),
			.pid = hits[i].pid == CHILD ? ring[0].map->pid : hits[i].pid,
			.tid = hits[i].tid == CHILD ? ring[0].map->pid : hits[i].tid,
			.cpu = (uint32_t)i,
			.probe = hits[i].probe,
			.stack = hits[i].stack,
			.argument = { fork ? (uint64_t)ring[0].map->pid : hits[i].argument },
			.tail = hits[i].argument & JUMPS,
		};

		if (fork)
			h.argument[1] = hits[i].argument ? hits[i].argument : h.argument[0];
		if (hits[i].probe == PROBE_EXEC || hits[i].probe == PROBE_NAME)
			snprintf(h.name, sizeof(h.name), "%s", names[hits[i].argument]);
		hit(data, &h);
	}
	return 0;
}

static void event_format(const struct gchint_stream_event *e, char *text, size_t size)
{
	static const char *const types[] = { "?", "phase", "attach", "role", "detach", "close" };
	const size_t at = strlen(text);
	char flags[40], phase[96] = "";

	if (e->type == GCHINT_STREAM_PHASE && e->phase)
		snprintf(phase, sizeof(phase), " %s %s %s", name_phase(e->phase),
			 name_flags(e->flags, flags, sizeof(flags)), name_cause(e->cause));
	/* By the clock. */
	if (e->type == GCHINT_STREAM_CLOSE) {
		snprintf(text + at, size - at, "close\n");
		return;
	}
	if (e->type == GCHINT_STREAM_NAME) {
		snprintf(text + at, size - at, "%" PRIu64 " %s %.16s\n", (uint64_t)e->time,
			 e->tid == command ? "program" :
			 e->tid == OTHER   ? "other" :
					     "thread",
			 (const char *)&e->work_done);
		return;
	}
	snprintf(text + at, size - at, "%" PRIu64 " %s %d%s\n", (uint64_t)e->time, types[e->type],
		 e->tid, e->type == GCHINT_STREAM_PHASE && !e->phase ? " none" : phase);
}

/* What the recorder receives for these hits of a command that exits with 7. */
static const char *hits_text(const struct hit *list, size_t nr)
{
	static char text[4096];
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 7", NULL };
	struct phase_probe parsed[3];
	struct gchint_stream_event e;
	struct child child = { .argv = argv };
	struct watcher *w;
	enum ring_found found;
	sigset_t none;
	char why[512] = "";

	sigemptyset(&none);
	child.taken = &none;
	hits = list;
	hits_nr = nr;
	text[0] = '\0';
	for (size_t i = 0; i < 3; i++)
		if (!phase_probe_parse(probes[i], strlen(probes[i]), &parsed[i], why, sizeof(why)))
			return "a probe is not accepted";
	w = watcher_open(parsed, 3, PROGRAM, 0, why, sizeof(why));
	if (!w) {
		snprintf(text, sizeof(text), "%s", why);
		return text;
	}
	if (watcher_run(w, &child, "socket") != 7)
		return "another status";
	watcher_close(w);
	rings_receive();
	for (size_t i = 0; i < rings; i++) {
		if (i)
			strcat(text, "of another process\n");
		while ((found = ring_next(&ring[i], &e, true)) != RING_EMPTY)
			if (found == RING_EVENT)
				event_format(&e, text, sizeof(text));
		ring_close(&ring[i]);
	}
	rings = 0;
	return text;
}

#define EVENTS_ARE(want, name, ...)                                                                \
	do {                                                                                       \
		static const struct hit list[] = { __VA_ARGS__ };                                  \
		text_is(hits_text(list, sizeof(list) / sizeof(list[0])), want, name);              \
	} while (0)

#define RETURNS(stack) ((stack) + PROBE_RETURN_ADDRESS)

static void phases_check(void)
{
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n200 phase 5 none\n"
		   "300 phase 5 copy stw unknown\n400 phase 5 none\nclose\n",
		   "a call is a phase, if its argument is as asked for",
		   { MARK, CHILD, 5, 1000, 0 }, { MARKED, CHILD, 5, RETURNS(1000), 0 },
		   { COPY, CHILD, 5, 1000, 1 }, { COPIED, CHILD, 5, RETURNS(1000), 0 },
		   { COPY, CHILD, 5, 1000, 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n200 phase 5 copy stw unknown\n"
		   "300 phase 5 mark stw explicit\n400 phase 5 none\nclose\n",
		   "a phase within another one interrupts it", { MARK, CHILD, 5, 1000, 0 },
		   { COPY, CHILD, 5, 900, 1 }, { COPIED, CHILD, 5, RETURNS(900), 0 },
		   { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n600 phase 5 none\nclose\n",
		   "a recursion is one phase", { MARK, CHILD, 5, 1000, 0 },
		   { MARK, CHILD, 5, 900, 0 }, { MARK, CHILD, 5, 800, 0 },
		   { MARKED, CHILD, 5, RETURNS(800), 0 }, { MARKED, CHILD, 5, RETURNS(900), 0 },
		   { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n"
		   "100 detach 5\n200 attach 5\n200 phase 5 mark stw explicit\n300 phase 5 none\n"
		   "close\n",
		   "a call that was left by longjmp ends when its thread was last known of",
		   { MARK, CHILD, 5, 1000, 0 }, { MARK, CHILD, 5, 1000, 0 },
		   { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n200 phase 5 copy stw unknown\n"
		   "200 detach 5\n200 attach 5\n200 phase 5 mark stw explicit\n300 phase 5 none\n"
		   "close\n",
		   "so does one within a call that returns", { MARK, CHILD, 5, 1000, 0 },
		   { COPY, CHILD, 5, 900, 1 }, { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n200 phase 5 none\n"
		   "200 phase 5 copy stw unknown\n300 phase 5 none\nclose\n",
		   "a call that jumps to another one as its last action ends there",
		   { MARK, CHILD, 5, 1000, 0 }, { COPY, CHILD, 5, 1000, JUMPS | 1 },
		   { COPIED, CHILD, 5, RETURNS(1000), 0 }, { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n400 phase 5 none\nclose\n",
		   "of the same phase it goes on", { MARK, CHILD, 5, 1000, 0 },
		   { MARK, CHILD, 5, 1000, JUMPS }, { MARKED, CHILD, 5, RETURNS(1000), 0 },
		   { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 sweep concurrent unknown\n"
		   "200 phase 5 none\nclose\n",
		   "a phase with an end may end on another thread, and no other one ends",
		   { BEGIN, CHILD, 5, 1000, 0 }, { END, CHILD, 6, 1000, 0 },
		   { END, CHILD, 6, 1000, 0 }, { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 sweep concurrent unknown\n200 phase 5 none\n"
		   "200 phase 5 sweep concurrent unknown\n300 phase 5 none\nclose\n",
		   "a phase without its end ends when it begins again",
		   { BEGIN, CHILD, 5, 1000, 0 }, { BEGIN, CHILD, 5, 1000, 0 },
		   { END, CHILD, 5, 1000, 0 });
}

static void processes_check(void)
{
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n300 attach 6\n"
		   "300 phase 6 mark stw explicit\n"
		   "400 detach 5\n600 phase 6 none\nclose\n",
		   "a thread that ends leaves no phase open, and others go on",
		   { MARK, CHILD, 5, 1000, 0 }, { MARK, OTHER, 5, 1000, 0 },
		   { MARK, CHILD, 6, 1000, 0 }, { PROBE_EXIT, CHILD, 5, 0, 0 },
		   { MARKED, CHILD, 5, RETURNS(1000), 0 }, { MARKED, CHILD, 6, RETURNS(1000), 0 });
	EVENTS_ARE("100 attach 5\n100 phase 5 mark stw explicit\n200 detach 5\n200 program sh\n"
		   "300 attach 5\n300 phase 5 mark stw explicit\n400 phase 5 none\nclose\n",
		   "a process that executes another program leaves no phase open",
		   { MARK, CHILD, 5, 1000, 0 }, { PROBE_EXEC, CHILD, CHILD, 0, NAME_SH },
		   { MARK, CHILD, 5, 1000, 0 }, { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("close\nof another process\n200 attach 701\n"
		   "200 phase 701 mark stw explicit\n300 phase 701 none\n"
		   "400 phase 701 mark stw explicit\n500 detach 701\nclose\n",
		   "a process that the program starts has its own ring until it ends",
		   { PROBE_FORK, OTHER, 700, 0, 0 }, { MARK, OTHER, 701, 1000, 0 },
		   { MARKED, OTHER, 701, RETURNS(1000), 0 }, { MARK, OTHER, 701, 1000, 0 },
		   { PROBE_EXIT, OTHER, 701, 0, 0 }, { PROBE_EXIT, OTHER, 700, 0, 0 });
}

/* Its process may have ended when the recorder looks: what it is called comes with the ring. */
static void names_check(void)
{
	EVENTS_ARE("100 program sh\n300 attach 5\n300 thread sh\n300 phase 5 mark stw explicit\n"
		   "400 thread toy\n500 phase 5 none\nclose\n",
		   "a thread is called as the one that starts it, until it has another name",
		   { PROBE_EXEC, CHILD, CHILD, 0, NAME_SH }, { PROBE_FORK, CHILD, 5, 0, 0 },
		   { MARK, CHILD, 5, 1000, 0 }, { PROBE_NAME, CHILD, 5, 0, NAME_TOY },
		   { MARKED, CHILD, 5, RETURNS(1000), 0 });
	EVENTS_ARE("100 program sh\nclose\nof another process\n600 other toy\n600 attach 700\n"
		   "600 other toy\n600 phase 700 mark stw explicit\n"
		   "700 detach 700\n700 other sixteen letters\nclose\n",
		   "a process is called as the thread that starts it, until it executes a program",
		   { PROBE_EXEC, CHILD, CHILD, 0, NAME_SH }, { PROBE_FORK, CHILD, 5, 0, 0 },
		   { PROBE_NAME, CHILD, 5, 0, NAME_TOY }, { PROBE_FORK, OTHER, OTHER, 0, 5 },
		   { PROBE_NAME, CHILD, 5, 0, NAME_OTHER }, { MARK, OTHER, OTHER, 1000, 0 },
		   { PROBE_EXEC, OTHER, OTHER, 0, NAME_LONG });
	EVENTS_ARE("200 attach 5\n200 phase 5 mark stw explicit\nclose\n",
		   "a name that is not known is not reported", { PROBE_FORK, CHILD, 5, 0, 0 },
		   { MARK, CHILD, 5, 1000, 0 });
}

static bool parse_is(const char *text, const char *why)
{
	struct phase_probe p;
	char reason[256] = "";
	const bool good = phase_probe_parse(text, strlen(text), &p, reason, sizeof(reason));

	if (good == !*why && strstr(reason, why))
		return true;
	printf("# %s: '%s'\n", text, reason);
	return false;
}

static void parse_check(void)
{
	static const char *const all[][2] = {
		{ "mark=lib.so:f", "" },
		{ "mark,stw,explicit=/a b/lib*.so:f(2<-1)", "" },
		{ "?collect,concurrent,urgent=:a:b..c:d", "" },
		{ "collect=:\"a..b=c:d (1=2)\"(6>0x10)..\"e\"", "" },
		{ "mark=lib.so:^f", "" },
		{ "mark=:^\"a:b\"(1=0)..^f", "" },
		{ "mark", "a probe is" },
		{ "mark=lib.so", "a probe is" },
		{ "", "a probe is" },
		{ "none=:f", "none is no phase" },
		{ "marks=:f", "marks is no phase" },
		{ "=:f", " is no phase" },
		{ "mark,stop=:f", "stop is no flag" },
		{ "mark,unknown=:f", "unknown is no flag" },
		{ "mark,=:f", " is no flag" },
		{ "mark=:", "a place is" },
		{ "mark=:a:", "a place is" },
		{ "mark=::a..b", "a place is" },
		{ "mark=:a:b:c..d", "a place is" },
		{ "mark=:\"\"", "a place is" },
		{ "mark=:\"a", "a place is" },
		{ "mark=:^", "a place is" },
		{ "mark=:^^f", "a place is" },
		{ "mark=:^a:b..c", "a place is" },
		{ "mark=:a:b", "does not return" },
		{ "mark=:a:b(1=0)..c", "no arguments" },
		{ "mark=:f(0=1)", "a condition is" },
		{ "mark=:f(7=1)", "a condition is" },
		{ "mark=:f(1!1)", "a condition is" },
		{ "mark=:f(1=)", "a condition is" },
		{ "mark=:f(1=1", "a condition is" },
	};
	char name[300], text[400], why[256];
	struct phase_probe p;
	bool good = true;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		good = parse_is(all[i][0], all[i][1]) && good;
	memset(name, 'a', 299);
	name[299] = '\0';
	snprintf(text, sizeof(text), "mark=:%s", name);
	good = good && parse_is(text, "too long");
	snprintf(text, sizeof(text), "mark=%s:f", name);
	CHECK(good && parse_is(text, "too long"), "a probe that is wrong is reported");
	good = phase_probe_parse(all[3][0], strlen(all[3][0]), &p, why, sizeof(why)) && !*p.file &&
	       !strcmp(p.begin, "\"a..b=c:d (1=2)\"") && !strcmp(p.end, "\"e\"") &&
	       p.argument == 6 && p.operator== '>' && p.value == 16;
	CHECK(good, "a text may contain what separates the parts of a probe");
}

/* Each line of adapters/probes.list. */
static void list_check(void)
{
	struct probe_set set;
	const struct runtime *r;
	const char *last = "";
	char why[512] = "";
	bool good = true;
	size_t nr = 0;

	for (; good && (r = probe_list_at(nr)); nr++) {
		set.nr = 0;
		good = probe_set_add(&set, r->probes, r->name, why, sizeof(why)) && set.nr &&
		       strcmp(last, r->name) < 0 && *r->signs && *r->sees && *r->blind &&
		       runtime_named(r->name) == r;
		if (!good)
			printf("# %s: %s\n", r->name, why);
		last = r->name;
	}
	CHECK(good && nr, "each runtime of the list has probes, in order");
	place_file("probes",
		   "# a comment\nmark=:a\n\nx | X | file:x |\n copy=:b sweep=:c..d | s | b\n");
	set.nr = 0;
	good = probe_set_take(&set, "probes", why, sizeof(why)) && set.nr == 3 &&
	       !strcmp(set.probe[1].begin, "b") && !strcmp(set.probe[2].end, "d") &&
	       !*set.probe[0].runtime && !strcmp(set.probe[2].runtime, "x");
	CHECK(good, "a file has probes, or lines of such a list");
	place_file("wrong", "mark=:a\nmark\n");
	good = !probe_set_take(&set, "wrong", why, sizeof(why)) &&
	       !strcmp(why, "wrong: mark: a probe is PHASE[,stw]=FILE:FUNCTION");
	CHECK(good, "a line that is wrong is reported with its file");
	good = !probe_set_take(&set, "absent", why, sizeof(why)) &&
	       strstr(why, "absent: No such file or directory; --probe takes");
	CHECK(good, "so is a file that is not there");
}

static void refusals_check(void)
{
	static const struct {
		int error;
		const char *why;
	} all[] = {
		{ EPERM, "run it as root" },	    { EACCES, "CAP_SYS_ADMIN" },
		{ ENOENT, "CONFIG_UPROBE_EVENTS" }, { EINVAL, "does not probe such a place" },
		{ EMFILE, "Too many open files" },
	};
	struct phase_probe p;
	char why[512];
	struct watcher *w;
	bool good = true;

	good = phase_probe_parse(probes[0], strlen(probes[0]), &p, why, sizeof(why));
	w = good ? watcher_open(&p, 1, PROGRAM, 0, why, sizeof(why)) : NULL;
	for (size_t i = 0; w && i < sizeof(all) / sizeof(all[0]); i++) {
		refuse = all[i].error;
		good = !watcher_check(w, why, sizeof(why)) && strstr(why, all[i].why) && good;
	}
	refuse = 0;
	if (w)
		watcher_close(w);
	CHECK(w && good, "what the kernel refuses is reported with its reason");
	strcpy(p.begin, "unit_watched_no");
	good = !watcher_open(&p, 1, PROGRAM, 0, why, sizeof(why)) &&
	       !strcmp(why,
		       "unit_watched_no in " PROGRAM ": it has no such function, which may have "
		       "been inlined; nm lists those that it has");
	strcpy(p.file, "libno.so");
	good = good && !watcher_open(&p, 1, PROGRAM, 0, why, sizeof(why)) &&
	       !strncmp(why, "libno.so: no such file", 22);
	good = good && !watcher_open(&p, 1, NULL, getpid(), why, sizeof(why)) &&
	       strstr(why, "has not loaded it");
	CHECK(good, "what is not there is reported with its file");
}

void unit_watcher(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "socket" };
	const int on = 1;
	struct place place;

	if (unit_watched_mark(1) + unit_watched_copy(1) + unit_watched_begin(1) +
		    unit_watched_end(1) !=
	    14)
		abort();
	parse_check();
	if (!place_enter(&place))
		return;
	list_check();
	refusals_check();
	recorder = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(recorder, (const void *)&to, sizeof(to)) ||
	    setsockopt(recorder, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		abort();
	phases_check();
	processes_check();
	names_check();
	close(recorder);
	place_leave(&place);
}
