// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: what surrounds the sources: their table, the board, the daemon's cost, annotations,
 * sockets, the journal and the service manager.
 */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <syslog.h>
#include <unistd.h>

#include "../../daemon/gchintd/service/annotations.h"
#include "../../daemon/gchintd/service/board.h"
#include "../../daemon/gchintd/service/cost.h"
#include "../../daemon/gchintd/service/notify.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/recording/schema.h"
#include "../../daemon/source/local.h"
#include "../../daemon/source/log.h"
#include "../../daemon/version.h"
#include "faults.h"
#include "place.h"
#include "records.h"

static char journal[600];
static int journal_refused;

void __real_log_line(int priority, const char *source, const char *fmt, ...);

/* libsystemd's, with the source location in front. */
int sd_journal_send_with_location(const char *file, const char *line, const char *func,
				  const char *format, ...);
int sd_journal_send_with_location(const char *file, const char *line, const char *func,
				  const char *format, ...)
{
	va_list ap;

	(void)file;
	(void)line;
	(void)func;
	va_start(ap, format);
	/* Each format has its own arguments: a text and a line, a number, none, a text. */
	for (int i = 0; format; format = va_arg(ap, const char *), i++) {
		const size_t at = strlen(journal);

		if (i == 0) {
			const char *source = va_arg(ap, const char *);

			snprintf(journal + at, sizeof(journal) - at, format, source,
				 va_arg(ap, const char *));
		} else if (i == 1) {
			snprintf(journal + at, sizeof(journal) - at, format, va_arg(ap, int));
		} else if (i == 2) {
			snprintf(journal + at, sizeof(journal) - at, "%s", format);
		} else {
			snprintf(journal + at, sizeof(journal) - at, format,
				 va_arg(ap, const char *));
		}
		strcat(journal, "|");
	}
	va_end(ap);
	return journal_refused;
}

static void log_check(void)
{
	int before = dup(STDERR_FILENO);
	int fd = open("log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	char text[200] = "", *stream = getenv("JOURNAL_STREAM");
	FILE *f;

	stream = stream ? strdup(stream) : NULL;
	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	__real_log_line(LOG_INFO, "source", "a %s", "line");
	__real_log_line(LOG_DEBUG, "source", "nothing");
	log_level(LOG_WARNING);
	__real_log_line(LOG_NOTICE, "source", "nothing");
	__real_log_line(LOG_WARNING, "source", "another");
	log_level(LOG_INFO);
	setenv("JOURNAL_STREAM", "1:2", 1);
	__real_log_line(LOG_ERR, "source", "to the journal");
	journal_refused = -1;
	__real_log_line(LOG_INFO, "source", "or not");
	journal_refused = 0;
	dup2(before, STDERR_FILENO);
	close(before);
	close(fd);
	if (stream)
		setenv("JOURNAL_STREAM", stream, 1);
	else
		unsetenv("JOURNAL_STREAM");
	free(stream);
	f = fopen("log", "r");
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	text_is(text,
		"gchintd: source: a line\ngchintd: source: another\ngchintd: source: or not\n",
		"lines of sufficient priority are printed");
	text_is(journal,
		"MESSAGE=source: to the journal|PRIORITY=3|SYSLOG_IDENTIFIER=gchintd|"
		"GCHINT_SOURCE=source|"
		"MESSAGE=source: or not|PRIORITY=6|SYSLOG_IDENTIFIER=gchintd|"
		"GCHINT_SOURCE=source|",
		"lines go to the journal if there is one");
}

static int health_read(void *data)
{
	return *(int *)data;
}

/* All pending notifications to the service manager. */
static const char *notifications_read(int fd)
{
	static char text[400];
	size_t at = 0;
	ssize_t n;

	while ((n = recv(fd, text + at, sizeof(text) - at - 2, MSG_DONTWAIT)) > 0) {
		at += (size_t)n;
		text[at++] = '|';
	}
	text[at] = '\0';
	return text;
}

static void notify_check(struct source_context *context)
{
	struct sockaddr_un addr = { AF_UNIX, "notify" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), well = 1;
	char path[64];

	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || !getcwd(path, sizeof(path) - 8))
		abort();
	strcat(path, "/notify");
	setenv("NOTIFY_SOCKET", path, 1);
	faults.at_ns = 5000999;
	notify_ready();
	notify_reloading();
	notify_status("%d of %s", 3, "all");
	notify_stopping();
	text_is(notifications_read(fd),
		"READY=1|RELOADING=1\nMONOTONIC_USEC=5000|STATUS=3 of all|STOPPING=1|",
		"the service manager is notified of state changes");
	watched_forget();
	unsetenv("WATCHDOG_USEC");
	CHECK(!notify_watchdog(context->loop, health_read, &well) && !watched_count(),
	      "without WATCHDOG_USEC there is no timer");
	setenv("WATCHDOG_USEC", "3000000", 1);
	unit_memory_left(0);
	CHECK(notify_watchdog(context->loop, health_read, &well) == -ENOMEM,
	      "without memory there is no watchdog");
	unit_memory_left(-1);
	CHECK(!notify_watchdog(context->loop, health_read, &well) && watched_count() == 1 &&
		      watched_at(0)->period_ns == 1500000000,
	      "the watchdog is notified at half of its timeout");
	watched_at(0)->fn(watched_at(0)->data, 0);
	well = 0;
	watched_at(0)->fn(watched_at(0)->data, 0);
	text_is(notifications_read(fd), "WATCHDOG=1|", "a healthy daemon notifies the watchdog");
	watch_free(watched_at(0)->watch);
	unsetenv("WATCHDOG_USEC");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	faults.at_ns = 0;
}

static void board_check(struct source_context *context)
{
	char want[1200], clock[200] = "";
	struct utsname u;
	int n;

	uname(&u);
	faults.at_ns = 7000;
	n = snprintf(want, sizeof(want),
		     "meta 'schema' '%d'\n"
		     "meta 'program' 'gchintd " GCHINTD_VERSION "'\n"
		     "meta 'start_ns' '7000'\n"
		     "meta 'board.host' '%s'\n"
		     "meta 'board.machine' '%s'\n"
		     "meta 'board.kernel' '%s'\n"
		     "meta 'board.kernel_version' '%s'\n",
		     SCHEMA_VERSION, u.nodename, u.machine, u.release, u.version);
	/* The clock is fixed for all of them. */
	snprintf(clock, sizeof(clock),
		 "clock 0 1 'realtime' 'CLOCK_REALTIME' 'monotonic minus realtime at the start; "
		 "steps of realtime change it later'\n"
		 "clock 0 0 'recording' 'CLOCK_MONOTONIC' 'the clock of every instant'\n");
	snprintf(want + n, sizeof(want) - (size_t)n, "%s", clock);
	board_describe(context);
	records_are(context->queue, want, "a board without a name");
	place_file("sys/class/dmi/id/product_name", "A machine\n");
	place_file("sys/devices/system/cpu/possible", "0-3\n");
	place_file("proc/sys/kernel/random/boot_id", "1-2-3\n");
	snprintf(want + n, sizeof(want) - (size_t)n,
		 "meta 'board.boot_id' '1-2-3'\n"
		 "meta 'board.model' 'A machine'\n"
		 "meta 'board.cpus' '0-3'\n%s",
		 clock);
	board_describe(context);
	records_are(context->queue, want, "a board named by its firmware");
	place_file("sys/firmware/devicetree/base/model", "\n");
	place_file("sys/firmware/devicetree/base/compatible", "c\n");
	place_file("sys/class/dmi/id/product_name", "M\n");
	place_file("sys/devices/system/cpu/possible", "0\n");
	place_file("proc/sys/kernel/random/boot_id", "1\n");
	snprintf(want + n, sizeof(want) - (size_t)n,
		 "meta 'board.boot_id' '1'\n"
		 "meta 'board.model' 'M'\n"
		 "meta 'board.compatible' 'c'\n"
		 "meta 'board.cpus' '0'\n%s",
		 clock);
	board_describe(context);
	records_are(context->queue, want, "a board whose firmware names differ in case, one empty");
	place_file("sys/firmware/devicetree/base/model", "B\n");
	place_file("sys/firmware/devicetree/base/compatible", "\n");
	place_file("sys/devices/system/cpu/possible", "\n");
	place_file("proc/sys/kernel/random/boot_id", "\n");
	snprintf(want + n, sizeof(want) - (size_t)n, "meta 'board.model' 'B'\n%s", clock);
	board_describe(context);
	records_are(context->queue, want, "a board with one firmware name");
	place_gone("sys/firmware/devicetree/base/model");
	place_file("sys/class/dmi/id/product_name", "\n");
	snprintf(want + n, sizeof(want) - (size_t)n, "%s", clock);
	board_describe(context);
	records_are(context->queue, want, "a board with all firmware names");
	place_file("sys/devices/system/cpu/possible", "0-3\n");
	place_file("proc/sys/kernel/random/boot_id", "1-2-3\n");
	place_file("sys/firmware/devicetree/base/model", "A board\n");
	place_file("sys/firmware/devicetree/base/compatible", "a,b\n");
	strcpy(context->config.label, "a run");
	n = snprintf(want, sizeof(want),
		     "meta 'schema' '%d'\n"
		     "meta 'program' 'gchintd " GCHINTD_VERSION "'\n"
		     "meta 'label' 'a run'\n"
		     "meta 'start_ns' '7000'\n"
		     "meta 'board.host' '%s'\n"
		     "meta 'board.machine' '%s'\n"
		     "meta 'board.kernel' '%s'\n"
		     "meta 'board.kernel_version' '%s'\n",
		     SCHEMA_VERSION, u.nodename, u.machine, u.release, u.version);
	snprintf(want + n, sizeof(want) - (size_t)n,
		 "meta 'board.boot_id' '1-2-3'\n"
		 "meta 'board.model' 'A board'\n"
		 "meta 'board.compatible' 'a,b'\n"
		 "meta 'board.cpus' '0-3'\n%s",
		 clock);
	board_describe(context);
	records_are(context->queue, want, "a board with a device tree, of a labelled run");
	board_end(context);
	records_are(context->queue, "meta 'end_ns' '7000'\n",
		    "the end of the recording is recorded");
	faults.at_ns = 0;
}

static void cost_check(struct source_context *context)
{
	unsigned long long total, resident = 0;
	struct rusage before, after;
	const struct record *r;
	struct cost *c;
	char text[100];

	faults.at_ns = 9000;
	watched_forget();
	getrusage(RUSAGE_SELF, &before);
	c = cost_start(context, NULL);
	getrusage(RUSAGE_SELF, &after);
	CHECK(c && watched_count() == 1 && watched_at(0)->period_ns == 10000000000,
	      "the cost is recorded every ten seconds");
	r = queue_peek(context->queue, 0);
	root_read(text, sizeof(text), "/proc/self/statm");
	CHECK(sscanf(text, "%llu %llu", &total, &resident) == 2 &&
		      queue_fill(context->queue) == 1 && r->type == RECORD_COST && r->t == 9000 &&
		      r->cost.cpu_ns == 9000 && r->cost.wakeups >= (uint64_t)before.ru_nvcsw &&
		      r->cost.wakeups <= (uint64_t)after.ru_nvcsw && !r->cost.records &&
		      !r->cost.bytes && r->cost.rss_kib > resident * 4 / 2 &&
		      r->cost.rss_kib < resident * 4 * 2,
	      "the cost has time and memory");
	watched_at(0)->fn(watched_at(0)->data, 0);
	cost_stop(c);
	CHECK(queue_fill(context->queue) == 3 && !watched_open(),
	      "the cost is recorded at the end");
	queue_consume(context->queue, 3);
	faults.at_ns = 0;
}

static void annotation_send(const char *text)
{
	struct sockaddr_un to = { AF_UNIX, "annotations" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		abort();
	close(fd);
}

static void takes_annotations(struct source_context *context)
{
	char want[300], long_text[ANNOTATION_MAX + 2];
	const int pid = (int)getpid(), uid = (int)geteuid();
	struct annotations *m;
	struct stat st;

	watched_forget();
	m = annotations_start(context, "annotations");
	CHECK(m && watched_at(0)->events == EPOLLIN && !stat("annotations", &st) &&
		      (st.st_mode & 0777) == 0660,
	      "annotations are accepted from the owner and group");
	faults.at_ns = 50000;
	annotation_send("50000 now");
	annotation_send("  0 begin \n");
	annotation_send("12");
	watched_at(0)->fn(watched_at(0)->data, 0);
	snprintf(want, sizeof(want),
		 "annotation %d %d '50000 now'\nannotation %d %d '0 begin'\n"
		 "annotation %d %d '12'\n",
		 pid, uid, pid, uid, pid, uid);
	CHECK(queue_fill(context->queue) == 3 && queue_peek(context->queue, 0)->t == 50000 &&
		      queue_peek(context->queue, 1)->t == 50000,
	      "an annotation has the current instant");
	records_are(context->queue, want, "annotations have their sender");
	memset(long_text, 'x', sizeof(long_text));
	long_text[ANNOTATION_MAX] = '\0';
	annotation_send(long_text);
	long_text[ANNOTATION_MAX] = 'x';
	long_text[ANNOTATION_MAX + 1] = '\0';
	annotation_send(long_text);
	annotations_stop(m);
	CHECK(queue_fill(context->queue) == 3 &&
		      strlen(queue_peek(context->queue, 0)->define->string[0]) == ANNOTATION_MAX,
	      "pending annotations are read at the end, up to a length");
	CHECK(queue_peek(context->queue, 1)->define->kind == DEFINE_NOTE &&
		      queue_peek(context->queue, 2)->type == RECORD_DROP &&
		      queue_peek(context->queue, 2)->drop.count == 1,
	      "a longer one is reported and counted");
	definition_free(queue_peek(context->queue, 0)->define);
	definition_free(queue_peek(context->queue, 1)->define);
	queue_consume(context->queue, 3);
	CHECK(access("annotations", F_OK) && !watched_open(), "the socket is removed at the end");
	annotations_stop(NULL);
	place_file("annotations", "mine");
	CHECK(!annotations_start(context, "annotations"),
	      "a regular file is not replaced by the socket");
	records_are(context->queue,
		    "note 4 'annotations' 'annotations: File exists: no annotations can be added; "
		    "name another "
		    "socket with --annotations'\n",
		    "a socket that is not available is reported");
	place_gone("annotations");
	faults.at_ns = 0;
}

static void socket_check(void)
{
	int lowest = dup(STDOUT_FILENO), next, first, second;
	char path[110];

	close(lowest);
	memset(path, 'x', sizeof(path));
	path[108] = '\0';
	CHECK(local_bind(SOCK_DGRAM, path) == -ENAMETOOLONG, "a path that is too long is refused");
	path[107] = '\0';
	first = local_bind(SOCK_DGRAM, path);
	CHECK(first >= 0, "a path of the maximum length is accepted");
	local_close(first, SOCK_DGRAM, path);
	CHECK(access(path, F_OK), "the socket is removed");
	CHECK(local_bind(SOCK_DGRAM, "none/socket") == -ENOENT, "no directory is created");
	first = local_bind(SOCK_DGRAM, "socket");
	CHECK(first >= 0 && (fcntl(first, F_GETFL) & O_NONBLOCK) &&
		      (fcntl(first, F_GETFD) & FD_CLOEXEC),
	      "the socket is non-blocking and close-on-exec");
	CHECK(local_bind(SOCK_DGRAM, "socket") == -EADDRINUSE, "a socket in use is not replaced");
	close(first);
	second = local_bind(SOCK_DGRAM, "socket");
	CHECK(second >= 0, "a socket without a listener is replaced");
	/* Another file has its name meanwhile. */
	unlink("socket");
	first = local_bind(SOCK_DGRAM, "socket");
	local_close(second, SOCK_DGRAM, "socket");
	CHECK(!access("socket", F_OK), "another program's socket is not removed at the end");
	local_close(first, SOCK_DGRAM, "socket");
	place_file("socket", "mine");
	CHECK(local_bind(SOCK_DGRAM, "socket") == -EEXIST && !strcmp(place_line("socket"), "mine"),
	      "a file in its place is not removed");
	next = dup(STDOUT_FILENO);
	close(next);
	CHECK(next == lowest, "no descriptor stays open");
	place_gone("socket");
}

/* What the table of sources reports for each, selected by these words. */
static void sources_check(struct source_context *context)
{
	struct sources *s;
	struct config old;

	context->feed = "feed";
	for (int i = 0; i < SOURCE_NR; i++) {
		context->config.source[i].enabled = false;
		context->config.source[i].period_ms = 10;
	}
	context->config.source[SOURCE_genl].enabled = true;
	context->config.source[SOURCE_hwmon].enabled = true;
	context->config.source[SOURCE_regulator].enabled = true;
	place_file("sys/class/regulator/regulator.1/microvolts", "5\n");
	faults.at_ns = 3000;
	watched_forget();
	s = sources_start(context);
	CHECK(s && sources_running(s) == 2, "available sources run");
	records_are(
		context->queue,
		"source 10000000 'cpufreq' 'off' 'switched off in the configuration'\n"
		"source 10000000 'cpuidle' 'off' 'switched off in the configuration'\n"
		"clock 0 0 'genl' 'CLOCK_MONOTONIC' 'stamped by the kernel at the edge'\n"
		"source 10000000 'genl' 'running' 'events from the feed feed'\n"
		"note 6 'genl' 'events from the feed feed'\n"
		"source 10000000 'hotplug' 'off' 'switched off in the configuration'\n"
		"source 10000000 'hotspots' 'off' 'switched off in the configuration'\n"
		"source 10000000 'hwmon' 'absent' 'no power, energy, current or voltage channel' "
		"'bind the board's power monitor (see docs/recording.md, rails)'\n"
		"note 5 'hwmon' 'skipped: no power, energy, current or voltage channel; bind the "
		"board's power monitor (see docs/recording.md, rails)'\n"
		"source 10000000 'iio' 'off' 'switched off in the configuration'\n"
		"source 10000000 'library' 'off' 'switched off in the configuration'\n"
		"source 10000000 'perf' 'off' 'switched off in the configuration'\n"
		"source 10000000 'power' 'off' 'switched off in the configuration'\n"
		"source 10000000 'powercap' 'off' 'switched off in the configuration'\n"
		"rail 1 10000000 'regulator.1:regulator.1' 'regulator.1' 'voltage' 'uV' "
		"'regulator' "
		"'sys/class/regulator/regulator.1/microvolts' 'set, not measured'\n"
		"clock 0 'regulator' 'CLOCK_MONOTONIC' 'each read is between two readings of "
		"the clock: samples.error_ns'\n"
		"sample 3000: rail 1 5 +- 1\n"
		"source 10000000 'regulator' 'running' '1 set voltages'\n"
		"note 6 'regulator' '1 set voltages'\n"
		"source 10000000 'sched' 'off' 'switched off in the configuration'\n"
		"source 10000000 'thermal' 'off' 'switched off in the configuration'\n"
		"source 10000000 'trace' 'off' 'switched off in the configuration'\n",
		"each source is recorded with its state");
	/* Nothing changed: running sources continue, others are probed again. */
	old = context->config;
	place_file("sys/class/hwmon/hwmon0/curr1_input", "5\n");
	for (int i = 0; i < SOURCE_NR; i++)
		context->config.source[i].enabled =
			context->config.source[i].enabled && i != SOURCE_genl;
	watched_forget();
	sources_reload(s, &old);
	CHECK(sources_running(s) == 2 && watched_count() == 1 && access("feed", F_OK),
	      "a reload starts new sources, ends disabled ones and keeps the rest");
	old = context->config;
	watched_forget();
	sources_reload(s, &old);
	CHECK(!watched_count(), "a reload without changes does nothing");
	for (int i = 0; i < 5; i++) {
		old = context->config;
		context->config.genl_buffer += i == 0;
		context->config.genl_phases ^= i == 1;
		context->config.hotspots.hz += i == 2;
		context->config.iio_buffered ^= i == 3;
		context->config.trace_buffer += i == 4;
		watched_forget();
		sources_reload(s, &old);
		CHECK(watched_count() == 2 && sources_running(s) == 2,
		      "a global setting restarts all sources");
	}
	old = context->config;
	context->config.source[SOURCE_hwmon].period_ms = 11;
	watched_forget();
	sources_reload(s, &old);
	CHECK(watched_count() == 1 && watched_at(0)->period_ns == 11000000,
	      "a source's setting restarts that source");
	/* One that is found and cannot start. */
	for (size_t i = 0; i < queue_fill(context->queue); i++)
		if (queue_peek(context->queue, i)->type == RECORD_DEFINE)
			definition_free(queue_peek(context->queue, i)->define);
	queue_consume(context->queue, queue_fill(context->queue));
	old = context->config;
	context->config.source[SOURCE_regulator].enabled = false;
	context->config.source[SOURCE_hwmon].enabled = false;
	context->config.source[SOURCE_genl].enabled = true;
	place_file("feed", "mine");
	sources_reload(s, &old);
	CHECK(!sources_running(s) && !watched_open(), "disabled sources do not run");
	for (size_t i = 0; i < queue_fill(context->queue); i++) {
		const struct record *r = queue_peek(context->queue, i);

		if (r->type == RECORD_DEFINE && r->define->kind == DEFINE_NOTE)
			text_is(r->define->string[1], "skipped: cannot start: File exists",
				"a source that cannot start is reported");
		if (r->type == RECORD_DEFINE)
			definition_free(r->define);
	}
	queue_consume(context->queue, queue_fill(context->queue));
	sources_stop(s);
	sources_stop(NULL);
	unit_memory_left(0);
	CHECK(!sources_start(context), "without memory there are no sources");
	unit_memory_left(-1);
	records_are(context->queue, "", "without memory nothing is recorded");
	faults.at_ns = 0;
}

static void notes_check(struct source_context *context)
{
	char want[500], long_note[500];

	faults.said[0] = '\0';
	memset(long_note, 'x', sizeof(long_note));
	long_note[499] = '\0';
	context_note(context, LOG_NOTICE, "here", "%d and %s", 5, "six");
	text_is(faults.said, "5 here: 5 and six\n", "a note is a line of the log");
	faults.said[0] = '\0';
	context_note(context, LOG_NOTICE, "here", "%s", long_note);
	snprintf(want, sizeof(want), "note 5 'here' '5 and six'\nnote 5 'here' '%.399s'\n",
		 long_note);
	records_are(context->queue, want, "a note is in the recording");
	context_clock(context, "a", "b", -5, 6, "c");
	context_clock(context, "a", "b", -5, CLOCK_PER_SAMPLE, "c");
	records_are(context->queue, "clock -5 6 'a' 'b' 'c'\nclock -5 'a' 'b' 'c'\n",
		    "a clock has its error, or each sample has its own");
	faults.said[0] = '\0';
}

void unit_context(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	place_context(&context);
	place_low(true);
	log_check();
	notify_check(&context);
	board_check(&context);
	cost_check(&context);
	takes_annotations(&context);
	socket_check();
	notes_check(&context);
	sources_check(&context);
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
}
